"""A policy asked at every information state of a round, its answers checked and kept as flat tables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.public_tree import Graph, PublicTree, bids_of_node, descend, hands, round_record
from perudo_env.actions import ACTIONS, Call, num_actions
from perudo_env.game import Game
from perudo_env.jit import kernel
from perudo_env.observation import encode, encode_switches, layout
from perudo_env.policy import Policy
from perudo_env.rules import fill_mask
from perudo_env.state import Phase
from train.evaluate.probs import check_probs

CHUNK = 8192  # about how many observations a policy is asked at once


@kernel
def observe_nodes(
    states: np.ndarray, graph: Graph, nodes: np.ndarray, seat: int, phase: int, dealt: np.ndarray, switches: np.ndarray,
    seats: int, quantities: int, observations: np.ndarray, masks: np.ndarray,
) -> None:  # fmt: skip
    """Write what ``seat`` sees and may do at each of ``nodes`` with each hand of ``dealt``, row after row."""
    s = states[0]
    k = 0
    for node in nodes:
        n = bids_of_node(graph, node, s["bids"])
        for i in range(n):
            s["bidders"][i] = i % 2
        s["num_bids"] = n
        s["bidder"] = (n - 1) % 2 if n > 0 else -1
        s["seat"] = seat
        s["phase"] = phase
        for h in range(dealt.shape[0]):
            for face in range(dealt.shape[1]):
                s["hands"][seat, face] = dealt[h, face]
            encode(s, seat, switches, seats, quantities, observations[k])
            fill_mask(s, masks[k])
            k += 1


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
def store(graph: Graph, nodes: np.ndarray, num_hands: int, probs: np.ndarray, table: np.ndarray, start: int, bids: np.ndarray) -> int:
    """Write the probabilities of ``nodes``, rows as :func:`observe_nodes` has them, into a table from ``start``; returns where they end."""
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
    policy: Policy, tree: PublicTree, spent: tuple[int, int] = (0, 0)
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """A policy's probabilities at all information states of a round, as flat tables; raises ``ValueError`` naming a bad one."""
    return _tabulate_seat(policy, tree, 0, spent), _tabulate_seat(policy, tree, 1, spent)


def _tabulate_seat(policy: Policy, tree: PublicTree, seat: int, spent: tuple[int, int]) -> npt.NDArray[np.float64]:
    states = round_record(tree.variant, tree.dice, tree.palifico, tree.total, spent)
    dealt = hands(tree.dice[seat], tree.variant.num_faces)
    bids = np.zeros(len(tree.graph.action), np.int64)
    nodes = nodes_of(tree.graph, seat, tree.num_nodes, bids)
    table = np.empty(tree.num_entries[seat])
    at = 0
    for part in np.array_split(nodes, max(1, len(nodes) * len(dealt) // CHUNK)):
        probs = _ask(policy, tree, states, seat, part, dealt, Phase.BID)
        if tree.variant.calza == "anyone":
            probs = _with_window(policy, tree, states, seat, part, dealt, probs)
        at = store(tree.graph, part, len(dealt), probs, table, at, bids)
    return table


def _ask(
    policy: Policy, tree: PublicTree, states: np.ndarray, seat: int, nodes: np.ndarray, dealt: np.ndarray, phase: Phase
) -> npt.NDArray[np.float64]:
    look = layout(2, tree.variant.max_quantity(2))
    observations = np.zeros((len(nodes) * len(dealt), look.size), np.int8)
    masks = np.zeros((len(observations), num_actions(look.max_quantity)), np.int8)
    switches = encode_switches(tree.variant)
    observe_nodes(
        states, tree.graph, nodes, seat, int(phase), dealt, switches, look.num_seats, look.max_quantity, observations, masks
    )  # fmt: skip
    probs = np.asarray(policy.probs(observations, masks), np.float64)
    check_probs(probs, masks, lambda k: infostate(tree, seat, int(nodes[k // len(dealt)]), dealt[k % len(dealt)], phase))
    return probs


def _with_window(
    policy: Policy, tree: PublicTree, states: np.ndarray, seat: int, nodes: np.ndarray, dealt: np.ndarray, probs: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Both decisions of a seat after a bid, Calza or pass and then the rest, as one."""
    asked = nodes[nodes > 0]  # nobody is asked before the opening bid
    if not asked.size:
        return probs
    window = _ask(policy, tree, states, seat, asked, dealt, Phase.WINDOW)
    rows = np.repeat(nodes > 0, len(dealt))
    probs[rows] *= window[:, [Call.PASS]]
    probs[rows, Call.CALZA] = window[:, Call.CALZA]
    return probs


def infostate(tree: PublicTree, seat: int, node: int, hand: npt.NDArray[np.int8], phase: Phase = Phase.BID) -> str:
    """The information state of a seat with a hand, face counts, at a node, as ``Game.infostate_key`` prints it."""
    bids = np.zeros(len(tree.graph.action), np.int64)
    n = bids_of_node(tree.graph, node, bids)
    dealt = [[1] * d for d in tree.dice]
    dealt[seat] = [f + 1 for f in range(len(hand)) for _ in range(hand[f])]
    game = Game.from_hands(tree.variant, dealt, palifico=tree.palifico, total_at_start=tree.total, bids=[ACTIONS[int(b)] for b in bids[:n]])
    while game.in_calza_window and phase == Phase.BID:
        game.act(Call.PASS)
    return game.infostate_key(seat)
