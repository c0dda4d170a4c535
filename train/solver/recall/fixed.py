"""A given agent as a player of a recall-limited round: whom a solver may meet in a share of the rounds.

An agent may heed every bid of a round; here it is asked as if nothing but the remembered bids had been said, or, where the
opening or a seat's turn demands more, the lowest before them. So it is the agent itself only after few bids.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.tabular.public_tree import Graph, PublicTree
from agents.tabular.suffixes import ROOT, SuffixGraph
from perudo_env.engine.jit import kernel
from perudo_env.policy import Policy
from train.solver.exact.tabulate import CHUNK, Asker
from train.solver.recall.lanes import LANES

Float32Array = npt.NDArray[np.float32]


@kernel
def shortest_sequences(graph: Graph, suffixes: SuffixGraph, said: np.ndarray, length: np.ndarray) -> None:
    """Write the shortest sequence of bids (action ids) to each node, of several the lowest, and how many they are."""
    length[:] = said.shape[1]
    length[ROOT] = 0
    for node in range(suffixes.bid.size):  # parents come first
        n = length[node]
        for j in range(suffixes.first[node], suffixes.first[node + 1]):
            child = suffixes.children[j]
            if n + 1 < length[child]:
                length[child] = n + 1
                for i in range(n):
                    said[child, i] = said[node, i]
                said[child, n] = graph.action[suffixes.bid[child]]


@kernel
def store_nodes(
    graph: Graph, suffixes: SuffixGraph, nodes: np.ndarray, num_hands: int, probs: np.ndarray, out: np.ndarray
) -> None:
    """Write the probabilities of ``nodes``, a row per hand, into a table ``(groups, rows, LANES)``."""
    for k in range(nodes.size):
        node = nodes[k]
        calls, start = suffixes.calls[node], suffixes.first[node]
        for a in range(calls + suffixes.first[node + 1] - start):
            column = a if a < calls else graph.action[suffixes.bid[suffixes.children[start + a - calls]]]
            for h in range(num_hands):
                out[h // LANES, suffixes.row[node] + a, h % LANES] = probs[k * num_hands + h, column]


def fixed_table(policy: Policy, tree: PublicTree, suffixes: SuffixGraph, seat: int) -> Float32Array:
    """The agent's probabilities at all nodes of a seat, float32 ``(groups, rows, LANES)``.

    Raises ``ValueError``, naming the information state, for probabilities that are no distribution over the legal actions.
    """
    ask, num_hands = Asker(policy, tree, seat), int(tree.num_hands[seat])
    # no sequence is longer than all bids
    said, length = (
        np.zeros((len(suffixes.bid), len(tree.graph.action)), np.int64),
        np.zeros(len(suffixes.bid), np.int64),
    )
    shortest_sequences(tree.graph, suffixes, said, length)
    nodes = np.flatnonzero((suffixes.seat == seat) & (suffixes.calls + np.diff(suffixes.first) > 1))
    out = np.zeros((-(-num_hands // LANES), int(suffixes.num_rows[seat]), LANES), np.float32)
    for part in np.array_split(nodes, max(1, len(nodes) * num_hands // CHUNK)):
        probs = ask(
            said[part],
            length[part],
            np.repeat(np.arange(len(part)), num_hands),
            np.tile(np.arange(num_hands), len(part)),
        )
        store_nodes(tree.graph, suffixes, part, num_hands, probs, out)
    return out
