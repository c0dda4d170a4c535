"""The public tree of a round between two seats, and the places of its information states in flat tables.

What may follow depends on the standing bid alone, so the tree is never stored: a graph of at most a few dozen bids
stands for it. Its nodes are the sequences of bids, visited in preorder, raises ascending by action id. A node at which
one may choose owns a block of rows, one per action; a row holds one number per hand of the seat to act. Blocks of one
seat lie behind each other in preorder, so a walk needs a cursor and no index.

With two seats a Calza window (calza = anyone) is asked of the seat that acts next anyway: the tree has one decision,
calza, dudo or a raise, where the game asks twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from perudo_env.engine.actions import CALZA, DUDO, FIRST_BID, face_of, num_actions, quantity_of
from perudo_env.engine.batch import starting_dice
from perudo_env.engine.hands import hands
from perudo_env.engine.jit import kernel
from perudo_env.engine.rows import deal_row, mask_row, open_row, start_row
from perudo_env.engine.rules import matches
from perudo_env.engine.state import Phase, new_states
from perudo_env.engine.variant import Variant, check_total

NO_BID = 0  # the index of "nobody has bid yet" in a graph
MANY = 2**62  # counts in a graph stop here


class Graph(NamedTuple):
    """What may follow each standing bid; index 0 stands for no bid. Arrays of one length unless said otherwise."""

    action: np.ndarray  # int64, the bid's action id
    quantity: np.ndarray  # int64
    face: np.ndarray  # int64, 1..6
    first: np.ndarray  # int64 (n + 1,): the raises over i are raises[first[i] : first[i + 1]]
    raises: np.ndarray  # int64, indices of bids
    calls: np.ndarray  # int64, how many calls may answer: dudo, or dudo and calza
    nodes: np.ndarray  # int64, nodes of the subtree below, itself included
    rows: np.ndarray  # int64 (n, 2): rows of the subtree of the seat to act, and of the other
    states: np.ndarray  # int64 (n, 2): nodes of the subtree at which that seat acts


def round_record(
    variant: Variant, dice: Sequence[int], palifico: bool, total: int, spent: Sequence[int] = (0, 0)
) -> np.ndarray:
    """A state array of one record: a round that seat 0 opens, ``total`` dice having been on the table at the start."""
    states = new_states(variant, len(dice), total, 0)
    start_row(states, 0, np.uint64(0), starting_dice(variant, len(dice), dice))
    states[0]["palifico_spent"][: len(dice)] = spent
    open_row(states, 0, 0, palifico)
    return states


def set_bids(record: np.void, bids: Sequence[int], phase: Phase = Phase.BID) -> None:
    """Write a sequence of bids, as action ids, into a record of :func:`round_record`, and who acts after it."""
    n = len(bids)
    record["num_bids"] = n
    record["bids"][:n] = bids
    record["bidders"][:n] = np.arange(n) % 2
    record["bidder"] = (n - 1) % 2 if n else -1
    record["seat"] = n % 2
    record["phase"] = phase


def _answers(states: np.ndarray, bid: int | None, most: int) -> tuple[int, list[int]]:
    """How many calls and which raises the engine allows over a standing bid."""
    mask = np.zeros(num_actions(most), np.int8)
    legal: set[int] = set()
    for phase in (Phase.BID, Phase.WINDOW) if bid is not None else (Phase.BID,):
        set_bids(states[0], [] if bid is None else [bid], phase)
        mask_row(states, 0, mask)
        # without Calza nobody is asked: the engine would never be in a window
        if phase == Phase.BID or states[0]["calza"]:
            legal.update(np.flatnonzero(mask).tolist())
    return len(legal & {DUDO, CALZA}), sorted(a for a in legal if a >= FIRST_BID)


def bid_graph(states: np.ndarray, most: int, doubted_above: int | None = None) -> Graph:
    """The graph of a round, asked of the engine: ``states`` as :func:`round_record` makes them, ``most`` its highest quantity.

    A bid of more than ``doubted_above`` is answered by Dudo alone.
    """
    answers: dict[int | None, tuple[int, list[int]]] = {}
    waiting: list[int | None] = [None]
    while waiting:
        bid = waiting.pop()
        if bid not in answers:
            doubted = doubted_above is not None and bid is not None and quantity_of(bid) > doubted_above
            answers[bid] = (1, []) if doubted else _answers(states, bid, most)
            waiting += answers[bid][1]
    bids = sorted(b for b in answers if b is not None)
    index = {b: i for i, b in enumerate(bids, 1)}
    raises = [[index[b] for b in answers[bid][1]] for bid in [None, *bids]]
    calls = np.array([answers[bid][0] for bid in [None, *bids]])
    action = np.array([-1, *bids])
    sizes = _sizes(raises, calls, forced=doubted_above is None)
    return Graph(
        action, np.where(action < 0, 0, quantity_of(action)), np.where(action < 0, 0, face_of(action)),
        np.cumsum([0, *map(len, raises)]), np.array([b for row in raises for b in row], np.int64), calls, *sizes,
    )  # fmt: skip


def _sizes(raises: list[list[int]], calls: np.ndarray, forced: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes, rows and states of each bid's subtree; with or without the states that leave no choice."""
    # Python's own integers: the largest trees, which nobody walks, have more nodes than int64 can count
    rows: dict[int, tuple[int, int]] = {}
    acts: dict[int, tuple[int, int]] = {}
    nodes: dict[int, int] = {}

    def visit(i: int) -> None:
        choices = int(calls[i]) + len(raises[i])
        row, act, below = [choices if choices > 1 else 0, 0], [int(forced or choices > 1), 0], 1
        for child in raises[i]:
            if child not in rows:
                visit(child)
            for k in range(2):
                row[k] += rows[child][1 - k]
                act[k] += acts[child][1 - k]
            below += nodes[child]
        rows[i], acts[i], nodes[i] = (row[0], row[1]), (act[0], act[1]), below

    visit(NO_BID)
    order = range(len(raises))
    sizes = np.array([min(nodes[i], MANY) for i in order])
    return sizes, *(np.array([[min(n, MANY) for n in table[i]] for i in order]) for table in (rows, acts))  # type: ignore[return-value]


class PublicTree:
    """The public tree of a round that seat 0 opens with ``dice[0]`` dice against ``dice[1]``.

    ``total`` is T0, by default the dice in play, as ``Game(variant, dice=dice)`` has it. With ``sure_dudo`` a bid above the
    dice in play, which cannot hold, is doubted at once, and the tree ends there. Raises ``ValueError`` for a round that
    cannot be.
    """

    def __init__(
        self, variant: Variant, dice: Sequence[int] = (1, 1), palifico: bool = False, total: int | None = None,
        sure_dudo: bool = False,
    ) -> None:  # fmt: skip
        if len(dice) != 2 or min(dice) < 1:
            raise ValueError(f"dice = {tuple(dice)} is not a round of two seats: name two numbers of dice from 1")
        if palifico and (variant.palifico == "off" or dice[0] != 1):
            raise ValueError(
                f"palifico = True with dice = {tuple(dice)} under {variant}: a palifico round needs a variant that "
                "has them, and its opener has one die"
            )
        starting_dice(variant, 2, dice)
        self.variant, self.dice, self.palifico = variant, (int(dice[0]), int(dice[1])), palifico
        self.total = sum(self.dice) if total is None else check_total(variant, 2, sum(self.dice), total)
        record, cut = round_record(variant, self.dice, palifico, self.total), sum(self.dice) if sure_dudo else None
        self.graph = bid_graph(record, variant.max_quantity(2), cut)
        self.num_hands = tuple(len(hands(d, variant.num_faces)) for d in self.dice)

    @property
    def num_nodes(self) -> int:
        """Sequences of bids, the empty one included."""
        return int(self.graph.nodes[NO_BID])

    @property
    def num_states(self) -> int:
        """Information states of both seats together, forced ones included, but for those of ``sure_dudo``."""
        return sum(int(n) * h for n, h in zip(self.graph.states[NO_BID], self.num_hands, strict=True))

    @property
    def num_entries(self) -> tuple[int, int]:
        """The size of each seat's flat table."""
        rows = self.graph.rows[NO_BID]
        return int(rows[0]) * self.num_hands[0], int(rows[1]) * self.num_hands[1]

    def counts(self, seat: int) -> npt.NDArray[np.int64]:
        """How many dice of each hand of a seat match each bid of the graph, ``(num_bids, num_hands)``; asked of the engine."""
        states = round_record(self.variant, self.dice, self.palifico, self.total)
        out = np.zeros((len(self.graph.action), self.num_hands[seat]), np.int64)
        for h, counts in enumerate(hands(self.dice[seat], self.variant.num_faces)):
            deal_row(states, 0, np.stack([counts, np.zeros_like(counts)]))
            for i, bid in enumerate(self.graph.action[1:], 1):
                out[i, h] = matches(states[0], bid)
        return out


@kernel
def descend(graph: Graph, bids: np.ndarray, num_bids: int) -> tuple[int, int, int]:
    """Where a sequence of bids (action ids) leads: its graph index, first row among its actor's, and preorder number.

    The index is -1 if the sequence is not of this tree.
    """
    at, node = NO_BID, 0
    mine, other = 0, 0  # rows before this node, of the seat to act and of the other
    for k in range(num_bids):
        actions = graph.calls[at] + graph.first[at + 1] - graph.first[at]
        mine += actions if actions > 1 else 0
        node += 1
        found = False
        for j in range(graph.first[at], graph.first[at + 1]):
            child = graph.raises[j]
            if graph.action[child] == bids[k]:
                at, found = child, True
                break
            node += graph.nodes[child]
            mine += graph.rows[child, 1]
            other += graph.rows[child, 0]
        if not found:
            return -1, 0, 0
        mine, other = other, mine
    return at, mine, node


@kernel
def bids_of_node(graph: Graph, node: int, out: np.ndarray) -> int:
    """Write the action ids of the bids that lead to a node, by its preorder number; returns how many."""
    at, length = NO_BID, 0
    while node > 0:
        node -= 1
        for j in range(graph.first[at], graph.first[at + 1]):
            child = graph.raises[j]
            if node < graph.nodes[child]:
                out[length] = graph.action[child]
                length += 1
                at = child
                break
            node -= graph.nodes[child]
    return length
