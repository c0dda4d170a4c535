"""Strategies as small whole numbers: what a table is shipped as."""

from __future__ import annotations

import numpy as np

from agents.tabular.policy import RoundTable
from agents.tabular.public_tree import Graph
from agents.tabular.suffixes import ROOT, SuffixGraph
from perudo_env.engine.jit import kernel
from train.solver.exact.traverse import depth_of

LEVELS = 4095  # a shipped weight is a whole number up to this


@kernel
def round_block(
    weights: np.ndarray, start: int, actions: int, hands: int, h: int, levels: int, out: np.ndarray
) -> None:
    """Write the weights of one hand in one block as whole numbers up to ``levels``, in proportion to their largest."""
    most = 0.0
    for a in range(actions):
        most = max(most, weights[start + a * hands + h])
    for a in range(actions):
        share = weights[start + a * hands + h] / most if most > 0 else 0.0
        out[start + a * hands + h] = np.uint16(share * levels + 0.5)


@kernel
def round_table(
    graph: Graph, depth: int, acts_first: bool, hands: int, weights: np.ndarray, levels: int, out: np.ndarray
) -> None:
    """Round a seat's flat table into ``out``; blocks that its rounded strategy never reaches stay 0.

    Leaving them out changes nothing that an opponent could gain: it cannot bring the seat there either.
    """
    bid, child, start = np.zeros(depth, np.int64), np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    reach = np.ones((depth, hands), np.bool_)
    d, cursor = 0, 0
    child[0] = -1
    while d >= 0:
        b = bid[d]
        acting = (d % 2 == 0) == acts_first
        actions = graph.calls[b] + graph.first[b + 1] - graph.first[b]
        if child[d] < 0:
            child[d], start[d] = 0, cursor
            if acting and actions > 1:
                cursor += actions * hands
                for h in range(hands):
                    if reach[d, h]:
                        round_block(weights, start[d], actions, hands, h, levels, out)
        if graph.first[b] + child[d] == graph.first[b + 1]:
            d -= 1
            continue
        action, following = graph.calls[b] + child[d], graph.raises[graph.first[b] + child[d]]
        child[d] += 1
        some = False
        for h in range(hands):
            reach[d + 1, h] = reach[d, h] and (not acting or actions == 1 or out[start[d] + action * hands + h] > 0)
            some |= reach[d + 1, h]
        if some:
            d += 1
            bid[d], child[d] = following, -1
        else:
            cursor += graph.rows[following, int(acting)] * hands


@kernel
def round_suffixes(
    graph: SuffixGraph, seat: int, hands: int, weights: np.ndarray, levels: int, out: np.ndarray
) -> None:
    """The same for rows as of the suffixes of a recall-limited table."""
    reach = np.zeros((graph.bid.size, hands), np.bool_)
    reach[ROOT] = True
    for node in range(graph.bid.size):  # parents come first
        calls, start, row = graph.calls[node], graph.first[node], graph.row[node]
        actions = calls + graph.first[node + 1] - start
        choice = graph.seat[node] == seat and actions > 1
        for h in range(hands):
            if choice and reach[node, h]:
                round_block(weights, row * hands, actions, hands, h, levels, out)
        for j in range(start, graph.first[node + 1]):
            for h in range(hands):
                if reach[node, h] and (not choice or out[(row + calls + j - start) * hands + h] > 0):
                    reach[graph.children[j], h] = True


def rounded(table: RoundTable, levels: int = LEVELS) -> RoundTable:
    """The table with its weights as small integers, see :func:`round_table`. With few levels, what is unlikely is not played at all."""
    tree, weights = table.tree, []
    for seat in range(len(tree.dice)):
        out = np.zeros(table.weights[seat].size, np.uint16 if levels > 255 else np.uint8)
        if table.suffixes is None:
            round_table(
                tree.graph, depth_of(tree.graph) + 2, seat == 0, tree.num_hands[seat], table.weights[seat], levels, out
            )
        else:
            round_suffixes(table.suffixes, seat, tree.num_hands[seat], table.weights[seat], levels, out)
        weights.append(out)
    return RoundTable(tree, weights, table.bracket, table.recall)
