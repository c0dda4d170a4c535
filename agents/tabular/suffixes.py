"""The abstract game of players who remember the last bids only: its nodes are the suffixes of the sequences of bids.

Two sequences with the same last ``recall`` bids and the same seat to act are one node; a shorter sequence is a node of
its own. So the public tree of a round (see ``public_tree``) shrinks to an acyclic graph that fits in memory at 5 v 5 dice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.tabular.public_tree import NO_BID, Graph
from perudo_env.engine.jit import kernel

ROOT = 0  # the node at which nobody has bid


class SuffixGraph(NamedTuple):
    """The nodes, parents before children. A node at which one may choose owns a row per action: calls, then raises."""

    bid: np.ndarray  # int64 (num_nodes,), the standing bid's index in the round's Graph
    seat: np.ndarray  # int64 (num_nodes,), who acts
    calls: np.ndarray  # int64 (num_nodes,), how many calls may answer
    first: np.ndarray  # int64 (num_nodes + 1,): the raises lead to children[first[i] : first[i + 1]]
    children: np.ndarray  # int64, nodes
    row: np.ndarray  # int64 (num_nodes,), the first row among those of its seat
    num_rows: np.ndarray  # int64 (num_seats,)
    num_states: np.ndarray  # int64 (num_seats,), nodes by seat


def suffix_graph(graph: Graph, recall: int) -> SuffixGraph:
    """The suffixes of ``recall`` bids of a round. Raises ``ValueError`` for a recall below 1 or too long to number."""
    _check_recall(graph, recall)
    base = len(graph.action) + 1  # a bid's digit is its index, 0 where there is none
    suffixes, seats = _nodes(graph, recall)
    rank = bid_ranks(graph)
    last = suffixes[:, -1]
    # children next to each other, and behind their parents: the rank of the bid that they have in common rises
    common = rank[suffixes[:, -2]] if recall > 1 else rank[last]
    common[last == NO_BID] = -1
    order = np.lexsort((last, seats, *suffixes[:, :-1].T, common))
    suffixes, seats = suffixes[order], seats[order]
    powers = base ** np.arange(recall - 1, -1, -1)
    num_seats = graph.rows.shape[1]
    codes = suffixes @ powers * num_seats + seats
    by_code = np.argsort(codes)
    last = suffixes[:, -1]
    parents, raised = _extend(graph, last)
    behind = suffixes[parents] @ powers % base ** (recall - 1) * base + raised
    follow = behind * num_seats + (seats[parents] + 1) % num_seats
    children = by_code[np.searchsorted(codes[by_code], follow)]
    calls, raises = graph.calls[last], np.diff(graph.first)[last]
    rows = np.where(calls + raises > 1, calls + raises, 0)
    row = np.zeros(len(last), np.int64)
    for seat in range(num_seats):
        own = seats == seat
        row[own] = np.cumsum(rows[own]) - rows[own]
    return SuffixGraph(
        last, seats, calls, np.concatenate([[0], np.cumsum(raises)]), children, row,
        np.bincount(seats, rows, num_seats).astype(np.int64), np.bincount(seats, minlength=num_seats),
    )  # fmt: skip


class SuffixSizes(NamedTuple):
    """How large a graph of suffixes is, known without making it; by seat."""

    rows: tuple[int, ...]
    states: tuple[int, ...]


def suffix_sizes(graph: Graph, recall: int) -> SuffixSizes:
    """The ``num_rows`` and ``num_states`` that :func:`suffix_graph` would have; raises ``ValueError`` as it does."""
    _check_recall(graph, recall)
    choices = graph.calls + np.diff(graph.first)
    choices[choices == 1] = 0
    above = np.repeat(np.arange(len(graph.action)), np.diff(graph.first))
    num_seats = graph.rows.shape[1]
    rows, states = [0] * num_seats, [0] * num_seats

    def count(paths: npt.NDArray[Any], seat: int) -> None:
        rows[seat] += int(paths @ choices)
        states[seat] += int(paths.sum())

    def extended(paths: npt.NDArray[Any]) -> npt.NDArray[Any]:
        longer = np.zeros_like(paths)
        np.add.at(longer, graph.raises, paths[above])
        return longer

    # how many sequences end with each bid, in Python's own integers: there may be very many
    paths = np.zeros(len(graph.action), object)
    paths[NO_BID] = 1
    for length in range(recall):
        count(paths, length % num_seats)
        paths = extended(paths)
    for seat, first in enumerate(_may_begin(graph)):
        paths = first.astype(int).astype(object)
        for _ in range(recall - 1):
            paths = extended(paths)
        count(paths, (seat + recall) % num_seats)
    return SuffixSizes(tuple(rows), tuple(states))


def _check_recall(graph: Graph, recall: int) -> None:
    base, num_seats = len(graph.action) + 1, graph.rows.shape[1]
    most = int(
        (62 - np.log2(num_seats)) / np.log2(base)
    )  # a node's number, seats times a power of the base, fits in int64
    if not 1 <= recall <= most:
        raise ValueError(f"recall = {recall}: remember from 1 to {most} bids in a round of {base - 2} bids")


def bid_ranks(graph: Graph) -> npt.NDArray[np.int64]:
    """The length of the longest sequence that ends with each bid: it rises along every sequence."""
    rank = np.zeros(len(graph.action), np.int64)
    for _ in rank:
        before = rank.copy()
        np.maximum.at(rank, graph.raises, np.repeat(rank, np.diff(graph.first)) + 1)
        if (before == rank).all():
            break
    return rank


def _extend(graph: Graph, last: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Every raise over the bids ``last``: the places of those in the list, and the bids raised to."""
    counts = np.diff(graph.first)[last]
    parents = np.repeat(np.arange(len(last)), counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return parents, graph.raises[graph.first[last][parents] + offsets]


def _may_begin(graph: Graph) -> npt.NDArray[np.bool_]:
    """Whether a seat may make a bid, ``(num_seats, num_bids)``."""
    may_be = np.zeros((graph.rows.shape[1], len(graph.action)), bool)
    may_be[0, graph.raises[graph.first[NO_BID] : graph.first[NO_BID + 1]]] = True
    for bid in np.argsort(bid_ranks(graph)):
        if bid != NO_BID:
            above = graph.raises[graph.first[bid] : graph.first[bid + 1]]
            may_be[:, above] |= np.roll(may_be[:, [bid]], 1, axis=0)
    return may_be


def _nodes(graph: Graph, recall: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """All suffixes, ``(num_nodes, recall)`` bids with 0 before the first, and the seat to act after each."""
    may_be = _may_begin(graph)
    num_seats = len(may_be)
    suffixes, seats = [], []
    paths = np.zeros((1, recall), np.int64)
    for length in range(recall):
        suffixes.append(paths)
        seats.append(np.full(len(paths), length % num_seats))
        parents, raised = _extend(graph, paths[:, -1])
        paths = np.concatenate([paths[parents, 1:], raised[:, None]], axis=1)
    # the first bid of a full suffix may come after others
    paths = np.arange(1, len(graph.action))[:, None]
    for _ in range(recall - 1):
        parents, raised = _extend(graph, paths[:, -1])
        paths = np.concatenate([paths[parents], raised[:, None]], axis=1)
    for seat in range(num_seats):
        some = paths[may_be[seat][paths[:, 0]]]
        suffixes.append(some)
        seats.append(np.full(len(some), (seat + recall) % num_seats))
    return np.concatenate(suffixes), np.concatenate(seats)


@kernel
def follow(graph: Graph, suffixes: SuffixGraph, bids: np.ndarray, num_bids: int) -> int:
    """The node to which a sequence of bids (action ids) leads; -1 if it is not of this round."""
    node = ROOT
    for k in range(num_bids):
        bid = suffixes.bid[node]
        at = -1
        for j in range(graph.first[bid], graph.first[bid + 1]):
            if graph.action[graph.raises[j]] == bids[k]:
                at = suffixes.children[suffixes.first[node] + j - graph.first[bid]]
                break
        if at < 0:
            return -1
        node = at
    return node
