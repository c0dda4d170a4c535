"""The public tree of a round, and the places of its information states in flat tables.

What may follow depends on the standing bid alone, so the tree is never stored: a graph of at most a few dozen bids
stands for it. Its nodes are the sequences of bids, visited in preorder, raises ascending by action id. A node at which
one may choose owns a block of rows, one per action; a row holds one number per hand of the seat to act. Blocks of one
seat lie behind each other in preorder, so a walk needs a cursor and no index.

With two seats a Calza window (calza = anyone) is asked of the seat that acts next anyway: the tree has one decision,
calza, dudo or a raise, where the game asks twice. With more seats such rounds have no tree here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
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
from perudo_env.engine.variant import MAX_FACES, MAX_SEATS, MIN_SEATS, Variant, check_total

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
    rows: np.ndarray  # int64 (n, num_seats): rows of the subtree of the seat to act, and of those after it, clockwise
    states: np.ndarray  # int64 (n, num_seats): nodes of the subtree at which that seat acts


def round_record(
    variant: Variant, dice: Sequence[int], palifico: bool, total: int, spent: Sequence[int] = ()
) -> np.ndarray:
    """A state array of one record: a round that seat 0 opens, ``total`` dice having been on the table at the start."""
    states = new_states(variant, len(dice), total, 0)
    start_row(states, 0, np.uint64(0), starting_dice(variant, len(dice), dice))
    states[0]["palifico_spent"][: len(spent)] = spent
    open_row(states, 0, 0, palifico)
    return states


def set_bids(record: np.void, bids: Sequence[int], phase: Phase = Phase.BID) -> None:
    """Write a sequence of bids, as action ids, into a record of :func:`round_record`, and who acts after it."""
    n, seats = len(bids), int(record["num_seats"])
    record["num_bids"] = n
    record["bids"][:n] = bids
    record["bidders"][:n] = np.arange(n) % seats
    record["bidder"] = (n - 1) % seats if n else -1
    record["seat"] = n % seats
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


def bid_graph(
    states: np.ndarray, most: int, doubted_above: int | None = None, left_out: frozenset[int] = frozenset()
) -> Graph:
    """The graph of a round, asked of the engine: ``states`` as :func:`round_record` makes them, ``most`` its highest quantity.

    A bid of more than ``doubted_above`` is answered by Dudo alone; nobody makes the bids ``left_out``, action ids.
    """
    answers: dict[int | None, tuple[int, list[int]]] = {}
    waiting: list[int | None] = [None]
    while waiting:
        bid = waiting.pop()
        if bid not in answers:
            doubted = doubted_above is not None and bid is not None and quantity_of(bid) > doubted_above
            num_calls, above = (1, []) if doubted else _answers(states, bid, most)
            answers[bid] = num_calls, [b for b in above if b not in left_out]
            waiting += answers[bid][1]
    bids = sorted(b for b in answers if b is not None)
    index = {b: i for i, b in enumerate(bids, 1)}
    raises = [[index[b] for b in answers[bid][1]] for bid in [None, *bids]]
    calls = np.array([answers[bid][0] for bid in [None, *bids]])
    action = np.array([-1, *bids])
    sizes = _sizes(raises, calls, int(states[0]["num_seats"]), forced=doubted_above is None)
    return Graph(
        action, np.where(action < 0, 0, quantity_of(action)), np.where(action < 0, 0, face_of(action)),
        np.cumsum([0, *map(len, raises)]), np.array([b for row in raises for b in row], np.int64), calls, *sizes,
    )  # fmt: skip


def _sizes(
    raises: list[list[int]], calls: np.ndarray, num_seats: int, forced: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes, rows and states of each bid's subtree; with or without the states that leave no choice."""
    # Python's own integers: the largest trees, which nobody walks, have more nodes than int64 can count
    rows: dict[int, list[int]] = {}
    acts: dict[int, list[int]] = {}
    nodes: dict[int, int] = {}

    def visit(i: int) -> None:
        choices = int(calls[i]) + len(raises[i])
        row, act, below = [0] * num_seats, [0] * num_seats, 1
        row[0], act[0] = choices if choices > 1 else 0, int(forced or choices > 1)
        for child in raises[i]:
            if child not in rows:
                visit(child)
            for k in range(num_seats):  # who acts k seats on acts k - 1 seats after the child's
                row[k] += rows[child][k - 1]
                act[k] += acts[child][k - 1]
            below += nodes[child]
        rows[i], acts[i], nodes[i] = row, act, below

    visit(NO_BID)
    order = range(len(raises))
    sizes = np.array([min(nodes[i], MANY) for i in order])
    return sizes, *(np.array([[min(n, MANY) for n in table[i]] for i in order]) for table in (rows, acts))  # type: ignore[return-value]


def implausible(states: np.ndarray, most: int, least_chance: float, num_faces: int) -> frozenset[int]:
    """The bids whose chance to hold, to one who has seen no die, is below ``least_chance``; action ids."""
    dice, found, one = int(states[0]["dice"].sum()), set(), np.zeros((int(states[0]["num_seats"]), MAX_FACES), np.int8)
    for bid in range(FIRST_BID, num_actions(most)):
        match = 0
        for face in range(num_faces):
            one[0] = np.arange(MAX_FACES) == face
            deal_row(states, 0, one)
            match += matches(states[0], bid)
        p = match / num_faces
        holds = sum(comb(dice, k) * p**k * (1 - p) ** (dice - k) for k in range(quantity_of(bid), dice + 1))
        if holds < least_chance:
            found.add(bid)
    return frozenset(found)


class PublicTree:
    """The public tree of a round that seat 0 opens; ``dice[seat]`` dice a seat.

    ``total`` is T0, by default the dice in play, as ``Game(variant, dice=dice)`` has it. With ``sure_dudo`` a bid above the
    dice in play, which cannot hold, is doubted at once, and the tree ends there. Bids less likely to hold than
    ``least_chance``, before any die is seen, are left out. Raises ``ValueError`` for a round that cannot be.
    """

    def __init__(
        self, variant: Variant, dice: Sequence[int] = (1, 1), palifico: bool = False, total: int | None = None,
        sure_dudo: bool = False, least_chance: float = 0.0,
    ) -> None:  # fmt: skip
        n = len(dice)
        if not MIN_SEATS <= n <= MAX_SEATS or min(dice) < 1:
            raise ValueError(
                f"dice = {tuple(dice)} is not a round: name {MIN_SEATS} to {MAX_SEATS} numbers of dice from 1, one a seat"
            )
        if palifico and (variant.palifico == "off" or dice[0] != 1):
            raise ValueError(
                f"palifico = True with dice = {tuple(dice)} under {variant}: a palifico round needs a variant that "
                "has them, and its opener has one die"
            )
        if n > 2 and variant.calza == "anyone":
            raise ValueError(
                f"dice = {tuple(dice)} under {variant}: where all others are asked for Calza, rounds are solved between two "
                "seats; use calza=on_turn"
            )
        if not 0 <= least_chance < 1:
            raise ValueError(f"least_chance = {least_chance}: a chance from 0 to below 1 belongs there")
        starting_dice(variant, n, dice)
        self.variant, self.dice, self.palifico = variant, tuple(map(int, dice)), palifico
        self.total = sum(self.dice) if total is None else check_total(variant, n, sum(self.dice), total)
        self.least_chance = float(least_chance)
        record, cut = round_record(variant, self.dice, palifico, self.total), sum(self.dice) if sure_dudo else None
        most = variant.max_quantity(n)
        self.left_out = implausible(record, most, least_chance, variant.num_faces)
        self.graph = bid_graph(record, most, cut, self.left_out)
        self.num_hands = tuple(len(hands(d, variant.num_faces)) for d in self.dice)

    @property
    def num_nodes(self) -> int:
        """Sequences of bids, the empty one included."""
        return int(self.graph.nodes[NO_BID])

    @property
    def num_states(self) -> int:
        """Information states of all seats together, forced ones included, but for those of ``sure_dudo``."""
        return sum(int(n) * h for n, h in zip(self.graph.states[NO_BID], self.num_hands, strict=True))

    @property
    def num_entries(self) -> tuple[int, ...]:
        """The size of each seat's flat table."""
        return tuple(int(rows) * n for rows, n in zip(self.graph.rows[NO_BID], self.num_hands, strict=True))

    def counts(self, seat: int) -> npt.NDArray[np.int64]:
        """How many dice of each hand of a seat match each bid of the graph, ``(num_bids, num_hands)``; asked of the engine."""
        states = round_record(self.variant, self.dice, self.palifico, self.total)
        out = np.zeros((len(self.graph.action), self.num_hands[seat]), np.int64)
        for h, counts in enumerate(hands(self.dice[seat], self.variant.num_faces)):
            deal_row(states, 0, np.stack([counts] + [np.zeros_like(counts)] * (len(self.dice) - 1)))
            for i, bid in enumerate(self.graph.action[1:], 1):
                out[i, h] = matches(states[0], bid)
        return out


@kernel
def descend(graph: Graph, bids: np.ndarray, num_bids: int) -> tuple[int, int, int]:
    """Where a sequence of bids (action ids) between two seats leads: its graph index, first row among its actor's, and
    preorder number.

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
