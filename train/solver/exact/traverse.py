"""Walks of a whole round for one seat after the other, on several threads where the tree is large."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from os import cpu_count
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.tabular.public_tree import NO_BID, Graph, PublicTree
from perudo_env.engine.hands import hand_weights
from perudo_env.engine.variant import variant
from train.solver.exact.payoffs import seat_view
from train.solver.exact.walk import Do, Part, Scratch, Sides, Tasks, walk, walk_tasks

SMALL = 20_000  # a tree of fewer nodes is walked by one thread
TASKS_PER_TREE = 64  # a task has at most this part of a large tree
_NO_DISCOUNTS = (1.0, 1.0, 1.0)
Weights = tuple[npt.NDArray[Any], npt.NDArray[Any]]


def depth_of(graph: Graph) -> int:
    """The longest sequence of bids."""
    longest: dict[int, int] = {}

    def visit(i: int) -> int:
        if i not in longest:
            children = graph.raises[graph.first[i] : graph.first[i + 1]].tolist()
            longest[i] = max((1 + visit(c) for c in children), default=0)
        return longest[i]

    return visit(NO_BID)


def count_tasks(graph: Graph, largest: int) -> int:
    """How many subtrees of at most ``largest`` nodes hang on larger ones."""

    def visit(i: int) -> int:
        children = graph.raises[graph.first[i] : graph.first[i + 1]].tolist()
        return sum(1 if graph.nodes[c] <= largest else visit(c) for c in children)

    return visit(NO_BID)


@cache
def compile_walks() -> None:
    """Compile the walk, once per process, on a tiny round: so that a limit of time is spent on solving."""
    tree = PublicTree(variant("classic", num_faces=2, starting_dice=1))
    for dtype in (np.float32, np.float64):
        weights = tuple(np.zeros(n, np.float32) for n in tree.num_entries)
        for seat in (0, 1):
            Traversal(tree, np.zeros((2, 4)), dtype, 2, small=0).run(seat, Do.FOLLOW, (weights[0], weights[1]))


MOST_THREADS = 1024  # each has room of its own


def thread_count(threads: int | None) -> int:
    """As many as asked for, by default one per core; raises ``ValueError`` below 1, and for more than any machine has."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"threads = {threads}: use a whole number from 1 to {MOST_THREADS}")
    return threads or cpu_count() or 1


class Traversal:
    """Walks of one round, paid by ``pay`` (see ``payoffs.pay_table``), in the arithmetic of ``dtype``.

    ``threads`` walk at once, by default one per core; a tree of fewer than ``small`` nodes is walked by one alone.
    """

    def __init__(
        self, tree: PublicTree, pay: npt.NDArray[np.float64], dtype: Any = np.float32, threads: int | None = None,
        small: int = SMALL,
    ) -> None:  # fmt: skip
        self.tree, self.dtype = tree, np.dtype(dtype)
        self.deal = [hand_weights(d, tree.variant.num_faces) for d in tree.dice]
        self.counts = [tree.counts(0), tree.counts(1)]
        self.threads = thread_count(threads)
        self.largest = 0
        if tree.num_nodes >= small and self.threads > 1:
            self.largest = tree.num_nodes // TASKS_PER_TREE
        self.pool = ThreadPoolExecutor(self.threads)
        self.depth = depth_of(tree.graph) + 2
        graph = tree.graph
        self.most_actions = int((graph.calls + np.diff(graph.first)).max()) + 1
        num_tasks = count_tasks(graph, self.largest) if self.largest else 0
        self.tasks = [self._room_for_tasks(seat, num_tasks) for seat in (0, 1)]
        self.scratch: list[SimpleQueue[Scratch]] = [SimpleQueue(), SimpleQueue()]
        for seat in (0, 1):
            for _ in range(self.threads + 1):
                self.scratch[seat].put(self._scratch(seat))
        self.set_pay(pay)

    def set_pay(self, pay: npt.NDArray[np.float64]) -> None:
        """Pay the endings by another table, ``(2, 4)``, as to seat 0."""
        self.sides = [
            Sides(
                self.tree.graph,
                self.need(seat),
                self.counts[1 - seat],
                np.ascontiguousarray(seat_view(pay, seat), self.dtype),
            )
            for seat in (0, 1)
        ]

    def need(self, seat: int) -> npt.NDArray[np.int64]:
        """1 + how many matching dice the other needs for each bid to hold, by own hand, from 0 (it holds anyway) to its dice + 2."""
        missing = self.tree.graph.quantity[:, None] - self.counts[seat]
        return np.clip(missing + 1, 0, self.tree.dice[1 - seat] + 2)

    def _hands(self, seat: int) -> tuple[int, int]:
        return self.tree.num_hands[seat], self.tree.num_hands[1 - seat]

    def _room_for_tasks(self, seat: int, n: int) -> Tasks:
        own, opp = self._hands(seat)
        return Tasks(
            largest=self.largest, met=np.zeros(1, np.int64), bid=np.zeros(n, np.int64), mine=np.zeros(n, np.int64),
            cursors=np.zeros((n, 2), np.int64), own_reach=np.zeros((n, own), self.dtype),
            opp_reach=np.zeros((n, opp), self.dtype), values=np.zeros((n, own), self.dtype),
        )  # fmt: skip

    def _scratch(self, seat: int) -> Scratch:
        d, a, (own, opp), t = self.depth, self.most_actions, self._hands(seat), self.dtype
        return Scratch(
            bid=np.zeros(d, np.int64), child=np.zeros(d, np.int64), start=np.zeros(d, np.int64),
            own_reach=np.zeros((d, own), t), opp_reach=np.zeros((d, opp), t),
            own_probs=np.zeros((d, a, own), t), opp_probs=np.zeros((d, a, opp), t), values=np.zeros((d, a, own), t),
            tail=np.zeros(self.tree.dice[1 - seat] + 4, t), called=np.zeros((d, opp), t),
        )  # fmt: skip

    def run(
        self, seat: int, do: Do, weights: Weights, sums: npt.NDArray[Any] | None = None, discounts: Any = _NO_DISCOUNTS
    ) -> float:
        """Walk for ``seat`` against the other; returns the value to ``seat``. ``Do.UPDATE`` changes weights and sums.

        ``Do.ADVANTAGES`` writes returns into the sums, and leaves them where the other never comes.
        """
        arguments = (
            weights[seat],
            weights[1 - seat],
            weights[seat] if sums is None else sums,
            np.array(discounts, self.dtype),
        )
        # own reach matters to the average strategy alone; without it a walk stops where the opponent never comes
        own = np.ones(self.tree.num_hands[seat]) if do == Do.UPDATE else np.zeros(self.tree.num_hands[seat])
        root = (NO_BID, seat == 0, 0, 0)
        x, out = self.scratch[seat].get(), np.zeros(self.tree.num_hands[seat], self.dtype)

        def go(part: Part, do: Do) -> None:
            x.own_reach[0], x.opp_reach[0] = own, self.deal[1 - seat]
            self.tasks[seat].met[0] = 0
            walk(self.sides[seat], x, *root, int(do), int(part), self.tasks[seat], *arguments, out)

        if not self.largest:
            go(Part.WHOLE, do)
        else:
            go(Part.COLLECT, Do.FOLLOW if do == Do.UPDATE else do)
            self._run_tasks(seat, do, arguments)
            go(Part.COMBINE, do)
        value = float(out.astype(np.float64) @ self.deal[seat])
        self.scratch[seat].put(x)
        return value

    def _run_tasks(self, seat: int, do: Do, arguments: tuple[Any, ...]) -> None:
        tasks = self.tasks[seat]

        def some(chosen: npt.NDArray[np.int64]) -> None:
            x = self.scratch[seat].get()
            walk_tasks(self.sides[seat], x, chosen, int(do), tasks, *arguments)
            self.scratch[seat].put(x)

        # every share has large and small ones; more shares than threads, so that none waits long for another
        order = np.argsort(-self.tree.graph.nodes[tasks.bid[: tasks.met[0]]], kind="stable")
        shares = 8 * self.threads
        list(self.pool.map(some, [order[k::shares] for k in range(shares)]))
