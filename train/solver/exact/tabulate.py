"""A policy asked at every information state of a round, its answers checked and kept as flat tables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.tabular.public_tree import Graph, PublicTree, bids_of_node, descend, round_record, set_bids
from perudo_env.engine.actions import Call, num_actions
from perudo_env.engine.hands import hands
from perudo_env.engine.jit import kernel
from perudo_env.engine.observation import encode, encode_switches, layout
from perudo_env.engine.rules import fill_mask
from perudo_env.engine.state import Phase
from perudo_env.game.asking import ask_probs, infostate
from perudo_env.policy import Policy

IntArray = npt.NDArray[np.int64]
CHUNK = 8192  # about how many observations a policy is asked at once


@kernel
def observe_positions(
    states: np.ndarray, said: np.ndarray, length: np.ndarray, at: np.ndarray, seat: int, phase: int, hands: np.ndarray,
    held: np.ndarray, switches: np.ndarray, seats: int, quantities: int, observations: np.ndarray, masks: np.ndarray,
) -> None:  # fmt: skip
    """Write what ``seat`` sees and may do, row after row: after the bids ``said[at[k]]``, with hand number ``held[k]``."""
    s = states[0]
    num_seats = s["num_seats"]
    for k in range(at.size):
        n = length[at[k]]
        for i in range(n):
            s["bids"][i] = said[at[k], i]
            s["bidders"][i] = i % num_seats
        s["num_bids"] = n
        s["bidder"] = (n - 1) % num_seats if n > 0 else -1
        s["seat"] = seat
        s["phase"] = phase
        for face in range(hands.shape[1]):
            s["hands"][seat, face] = hands[held[k], face]
        encode(s, seat, switches, seats, quantities, observations[k])
        fill_mask(s, masks[k])


@kernel
def sequences_of(graph: Graph, nodes: np.ndarray, said: np.ndarray, length: np.ndarray) -> None:
    """Write the bids that lead to each node, by its preorder number, and how many they are."""
    for k in range(nodes.size):
        length[k] = bids_of_node(graph, nodes[k], said[k])


@kernel
def nodes_of(graph: Graph, seat: int, num_nodes: int, bids: np.ndarray) -> np.ndarray:
    """The preorder numbers of the nodes at which ``seat`` has a choice, in order."""
    out = np.empty(num_nodes, np.int64)
    k = 0
    for node in range(num_nodes):
        n = bids_of_node(graph, node, bids)
        if n % 2 == seat:
            at, _, _ = descend(graph, bids, n)
            if graph.calls[at] + graph.first[at + 1] - graph.first[at] > 1:
                out[k] = node
                k += 1
    return out[:k]


@kernel
def store(
    graph: Graph, nodes: np.ndarray, num_hands: int, probs: np.ndarray, table: np.ndarray, start: int, bids: np.ndarray
) -> int:
    """Write the probabilities of ``nodes``, a row per hand, into a table from ``start``; returns where they end."""
    k = 0
    for node in nodes:
        n = bids_of_node(graph, node, bids)
        at, _, _ = descend(graph, bids, n)
        calls = graph.calls[at]
        actions = calls + graph.first[at + 1] - graph.first[at]
        for h in range(num_hands):
            for a in range(actions):
                column = a if a < calls else graph.action[graph.raises[graph.first[at] + a - calls]]
                table[start + a * num_hands + h] = probs[k + h, column]
        k += num_hands
        start += actions * num_hands
    return start


def tabulate(
    policy: Policy, tree: PublicTree, spent: tuple[int, ...] = ()
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """A policy's probabilities at all information states of a round, as flat tables; raises ``ValueError`` naming a bad one."""
    return _tabulate_seat(policy, tree, 0, spent), _tabulate_seat(policy, tree, 1, spent)


def _tabulate_seat(policy: Policy, tree: PublicTree, seat: int, spent: tuple[int, ...]) -> npt.NDArray[np.float64]:
    ask = Asker(policy, tree, seat, spent)
    num_hands = tree.num_hands[seat]
    bids = np.zeros(len(tree.graph.action), np.int64)
    nodes = nodes_of(tree.graph, seat, tree.num_nodes, bids)
    table = np.empty(tree.num_entries[seat])
    start = 0
    for part in np.array_split(nodes, max(1, len(nodes) * num_hands // CHUNK)):
        said, length = np.zeros((len(part), bids.size), np.int64), np.zeros(len(part), np.int64)
        sequences_of(tree.graph, part, said, length)
        probs = ask(said, length, np.repeat(np.arange(len(part)), num_hands), np.tile(np.arange(num_hands), len(part)))
        start = store(tree.graph, part, num_hands, probs, table, start, bids)
    return table


class Asker:
    """Asks a policy at information states of one seat of a round, and checks what it answers."""

    def __init__(self, policy: Policy, tree: PublicTree, seat: int, spent: tuple[int, ...] = ()) -> None:
        self.policy, self.tree, self.seat = policy, tree, seat
        self.states = round_record(tree.variant, tree.dice, tree.palifico, tree.total, spent)
        self.hands, n = hands(tree.dice[seat], tree.variant.num_faces), len(tree.dice)
        self.look, self.switches = layout(n, tree.variant.max_quantity(n)), encode_switches(tree.variant)

    def __call__(self, said: IntArray, length: IntArray, at: IntArray, held: IntArray) -> npt.NDArray[np.float64]:
        """The probabilities ``(rows, num_actions)`` after the bids ``said[at]`` (action ids), with the hands numbered ``held``.

        Where the game asks twice after a bid, Calza or pass and then the rest, both answers are one.
        """
        probs = self._ask(said, length, at, held, Phase.BID)
        asked = np.flatnonzero(length[at] > 0)  # nobody is asked before the opening bid
        if self.tree.variant.calza == "anyone" and asked.size:
            window = self._ask(said, length, at[asked], held[asked], Phase.WINDOW)
            probs[asked] *= window[:, [Call.PASS]]
            probs[asked, Call.CALZA] = window[:, Call.CALZA]
        return probs

    def _ask(
        self, said: IntArray, length: IntArray, at: IntArray, held: IntArray, phase: Phase
    ) -> npt.NDArray[np.float64]:
        observations = np.zeros((at.size, self.look.size), np.int8)
        masks = np.zeros((at.size, num_actions(self.look.max_quantity)), np.int8)
        observe_positions(
            self.states, said, length, at, self.seat, int(phase), self.hands, held, self.switches, self.look.num_seats,
            self.look.max_quantity, observations, masks,
        )  # fmt: skip

        def position(k: int) -> str:
            set_bids(self.states[0], said[at[k], : length[at[k]]].tolist(), phase)
            return f"the information state {infostate(self.tree.variant, self.states[0], self.hands[held[k]])!r}"

        return ask_probs(self.policy, observations, masks, position)
