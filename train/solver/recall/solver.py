"""Rounds too large to solve: CFR for two to eight players who remember their own hand and the last bids only.

Histories that such a player cannot tell apart share regrets (Waugh, Zinkevich, Johanson, Kan, Schnizlein and Bowling, "A
practical use of imperfect recall", SARA 2009), updated by discounted CFR as in ``rounds``. In a node that many
histories share, each counts by the chance that all players go there, the updated one exploring a little: weighed by
the others' part alone, as where nothing is forgotten, NashConv is about twice as high (quantity_any_face, 2 v 1,
two bids: .15 against .07). All hands of a seat are updated at once, against all or some sampled deals of the others.

Between more than two seats no guarantee holds: what is found is judged by what responses gain against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.core.npz import memory, reading
from agents.tabular.policy import RoundTable
from agents.tabular.public_tree import PublicTree
from agents.tabular.suffixes import suffix_graph, suffix_sizes
from perudo_env.engine.hands import hand_weights
from perudo_env.game.files import writing
from perudo_env.policy import Policy
from train.core.state import weights_hash
from train.solver.exact.payoffs import check_numbers
from train.solver.exact.rounds import ALPHA, GAMMA, read_solution
from train.solver.exact.traverse import thread_count
from train.solver.recall.fixed import fixed_table
from train.solver.recall.lanes import LANES
from train.solver.recall.walk import (
    Room,
    Sample,
    Side,
    begin_update,
    gather,
    group_endings,
    match_group,
    play_rounds,
    update_group,
)

EXPLORATION = 0.2
SAMPLE, SAMPLE_OF_MANY = 2 * LANES, 4
"""Deals of the others that an iteration meets: hands of one other seat; of several."""
MOST_DEALS, ROUNDS_PLAYED = 500, 1 << 18
"""Where the others have more deals, how often a round ends how is an estimate, on so many rounds played."""
Float32Array = npt.NDArray[np.float32]


class RecallSolver:
    """The state of a recall-limited solution: regrets and sums of all seats, and how many iterations made them.

    ``pay`` ``(num_seats, 4, num_seats)``: what each ``[caller, Ending]`` pays each seat, as of ``pay_tables``; or, of two
    seats, what it pays seat 0, as for ``RoundSolver``. ``recall``: how many bids are remembered. ``sample``: how many
    deals of the others an iteration meets, drawn by their chances; all where there are no more. ``against``: an agent who
    sits in all other seats in a ``share`` of the rounds. Between two seats, what is found then is an equilibrium of that
    game: it earns more from this agent, and concedes at most share / (1 - share) of what it could earn beyond (compare
    Johanson, Zinkevich and Bowling, "Computing robust counter-strategies", NIPS 2007). Raises ``ValueError`` for tables
    beyond memory.
    """

    def __init__(
        self, tree: PublicTree, pay: npt.NDArray[np.float64], recall: int, threads: int | None = None, *,
        sample: int | None = None, exploration: float = EXPLORATION, seed: int = 0, against: Policy | None = None,
        share: float = 0,
    ) -> None:  # fmt: skip
        self.seats = range(len(tree.dice))
        if sample is None:
            sample = SAMPLE if len(self.seats) == 2 else SAMPLE_OF_MANY
        if not 0 <= share < 1:
            raise ValueError(f"share = {share}: the share of the rounds with another agent is from 0 to below 1")
        check_numbers(1, sample=sample)
        check_numbers(0, 1, exploration=exploration)
        self.tree, self.recall, self.sample, self.exploration, self.seed = tree, recall, sample, exploration, seed
        self.iterations = 0
        self.groups = [-(-n // LANES) for n in tree.num_hands]
        self._check_size()
        self.graph = suffix_graph(tree.graph, recall)
        self.deal = [hand_weights(d, tree.variant.num_faces) for d in tree.dice]
        self.counts = [tree.counts(seat) for seat in self.seats]
        self.threads = thread_count(threads)
        self.pool = ThreadPoolExecutor(self.threads)
        self.regrets, self.sums = self._tables(), self._tables()
        self.share = share if against else 0.0
        self.fixed = (
            [fixed_table(against, tree, self.graph, seat) for seat in self.seats] if against and share else None
        )
        self.met = (
            f", {self.share} of it against the agent {weights_hash(dict(zip(map(str, self.seats), self.fixed, strict=True)))}"
            if self.fixed
            else ""
        )
        self.set_pay(pay)

    def _check_size(self) -> None:
        sizes = suffix_sizes(self.tree.graph, self.recall)
        need = 4 * sum(2 * g * LANES * n for g, n in zip(self.groups, sizes.rows, strict=True))
        if need > 0.9 * memory():
            raise ValueError(
                f"recall = {self.recall}: the tables of {sum(n * h for n, h in zip(sizes.states, self.tree.num_hands, strict=True)):,} information states need {need / 2**30:,.0f} GiB, "
                f"this machine has {memory() / 2**30:,.0f}: remember fewer bids"
            )

    def _tables(self) -> tuple[Float32Array, ...]:
        return tuple(
            np.zeros((g, int(n), LANES), np.float32) for g, n in zip(self.groups, self.graph.num_rows, strict=True)
        )

    @property
    def num_states(self) -> int:
        """Information states of all seats together."""
        return int(self.graph.num_states @ np.array(self.tree.num_hands))

    def set_pay(self, pay: npt.NDArray[np.float64]) -> None:
        """Go on with another table of payoffs."""
        self.pay = np.stack([pay, -pay], axis=2) if pay.ndim == 2 else pay
        quantity = self.tree.graph.quantity
        self.sides = [
            [
                Side(
                    seat,
                    quantity,
                    self._lanes(seat, range(g * LANES, (g + 1) * LANES)),
                    np.ascontiguousarray(self.pay[:, :, seat], np.float32),
                )
                for g in range(self.groups[seat])
            ]
            for seat in self.seats
        ]

    def restart_average(self) -> None:
        """Forget the average strategy and the age of the regrets, not the regrets."""
        self.iterations = 0
        for s in self.sums:
            s[:] = 0

    def _lanes(self, seat: int, hands: Any) -> npt.NDArray[np.int64]:
        """The matching dice of some hands, side by side; 0 beyond the last."""
        known = np.array([h for h in hands if h < self.tree.num_hands[seat]])
        out = np.zeros((len(self.tree.graph.action), LANES), np.int64)
        out[:, : len(known)] = self.counts[seat][:, known]
        return out

    @property
    def deals(self) -> int:
        """How many deals a kernel meets at once."""
        return min(self.sample, LANES)

    @cached_property
    def rooms(self) -> SimpleQueue[Room]:
        """Room for every thread."""
        rooms: SimpleQueue[Room] = SimpleQueue()
        rows, nodes, deals = int(self.graph.num_rows.max()), len(self.graph.bid), self.deals
        for _ in range(self.threads):
            shapes = (
                [(rows, LANES)] * 2
                + [(nodes, LANES)]
                + [(nodes, deals, LANES)] * 2
                + [(2, deals, LANES), self._most_actions]
            )
            rooms.put(Room(*(np.zeros(shape, np.float32) for shape in shapes)))
        return rooms

    @property
    def _most_actions(self) -> tuple[int, int]:
        return int((self.graph.calls + np.diff(self.graph.first)).max()), LANES

    # ------------------------------------------------------------------------------------------ deals of the others

    def _draw(self, seat: int, n: int, stream: int = 0) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Deals of all but a seat, hands ``(deals, others)``, and their weights: all where there are at most ``n``.

        Else of each other seat a systematic sample by their chances in random order, a hand at most once or nearly so.
        """
        others = [s for s in self.seats if s != seat]
        if prod(len(self.deal[s]) for s in others) <= n:
            all_deals = np.array(list(product(*(range(len(self.deal[s])) for s in others))))
            return all_deals, np.prod([self.deal[s][all_deals[:, i]] for i, s in enumerate(others)], axis=0)
        drawn = []
        for s in others:
            rng = np.random.default_rng((self.seed, self.iterations, s, stream))
            order = rng.permutation(len(self.deal[s]))
            points = (np.arange(n) + rng.random()) / n
            chosen = np.searchsorted(np.cumsum(self.deal[s][order]), points)
            hands = order[np.minimum(chosen, len(order) - 1)]
            drawn.append(hands if len(others) == 1 else rng.permutation(hands))
        return np.stack(drawn, axis=1), np.full(n, 1 / n)

    def _samples(
        self, seat: int, drawn: tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]], share: float,
        tables: Sequence[Float32Array],
    ) -> Iterator[Sample]:  # fmt: skip
        """Groups of deals of all but a seat, playing by tables; their weights times ``share``."""
        deals, weights = drawn
        others, positive = [s for s in self.seats if s != seat], np.zeros(self._most_actions, np.float32)
        ends = np.cumsum([tables[s].shape[1] for s in others])
        start = np.zeros(len(self.seats), np.int64)
        start[others] = ends - [tables[s].shape[1] for s in others]
        gathered = np.zeros((int(max(tables[s].shape[1] for s in others)), LANES), np.float32)
        for begin in range(0, len(deals), self.deals):
            some = deals[begin : begin + self.deals]
            deal, sigma = np.zeros(LANES, np.float32), np.zeros((int(ends[-1]), LANES), np.float32)
            deal[: len(some)] = weights[begin : begin + self.deals] * share
            counts = np.zeros((len(self.tree.graph.action), LANES), np.int64)
            for s, end, hands in zip(others, ends, some.T, strict=True):
                gather(tables[s], np.ascontiguousarray(hands), gathered)
                match_group(self.graph, s, gathered, positive, sigma[start[s] : end])
                counts += self._lanes(s, hands)
            yield Sample(len(some), deal, counts, start, sigma)

    # ------------------------------------------------------------------------------------------ iterations

    def iterate(self, count: int = 1) -> None:
        """Update all seats ``count`` times, one after the other."""
        for _ in range(count):
            self.iterations += 1
            t = self.iterations
            discounts = np.array([t**ALPHA / (t**ALPHA + 1), 0.5, (t / (t + 1)) ** GAMMA])
            for seat in self.seats:
                self._update(seat, discounts)

    def _update(self, seat: int, discounts: npt.NDArray[np.float64]) -> None:
        samples = list(self._samples(seat, self._draw(seat, self.sample), 1 - self.share, self.regrets))
        if self.fixed is not None:
            drawn = self._draw(seat, min(self.sample, LANES), 1)
            samples += self._samples(seat, drawn, self.share, self.fixed)

        def update(g: int) -> None:
            room = self.rooms.get()
            regrets, sums = self.regrets[seat][g], self.sums[seat][g]
            begin_update(self.graph, seat, self.exploration, discounts, room, regrets, sums)
            for sample in samples:
                update_group(self.graph, self.sides[seat][g], sample, room, regrets)
            self.rooms.put(room)

        list(self.pool.map(update, range(self.groups[seat])))

    def endings(self) -> npt.NDArray[np.float64]:
        """How often a round of the average strategies ends by each ``[caller, Ending]``, ``(num_seats, 4)``.

        Exact where seat 0 meets at most ``MOST_DEALS`` deals of the others, else counted over ``ROUNDS_PLAYED`` rounds.
        """
        if prod(self.tree.num_hands[1:]) > MOST_DEALS:
            counted = np.zeros(self.pay.shape[:2])
            chances = tuple(map(np.cumsum, self.deal))
            play_rounds(
                self.graph, self.tree.graph.quantity, chances, tuple(self.counts), self.sums, np.uint64(self.seed),
                ROUNDS_PLAYED, counted,
            )  # fmt: skip
            return counted / ROUNDS_PLAYED
        found = np.zeros((self.groups[0], *self.pay.shape[:2]))
        weights = np.zeros((self.groups[0], LANES), np.float32)
        weights.reshape(-1)[: len(self.deal[0])] = self.deal[0]
        for sample in self._samples(0, self._draw(0, MOST_DEALS, 2), 1, self.sums):

            def add(g: int, sample: Sample = sample) -> None:
                room = self.rooms.get()
                group_endings(self.graph, self.sides[0][g], sample, room, self.sums[0][g], weights[g], found[g])
                self.rooms.put(room)

            list(self.pool.map(add, range(self.groups[0])))
        return found.sum(axis=0)

    def values(self) -> npt.NDArray[np.float64]:
        """What the average strategies earn against each other, by seat, ``(num_seats,)``; as exact as :meth:`endings`."""
        return np.einsum("ce,ces->s", self.endings(), self.pay)

    def value(self) -> float:
        """The same to seat 0."""
        return float(self.values()[0])

    # ------------------------------------------------------------------------------------------ files

    def table(self) -> RoundTable:
        """The average strategies."""
        flat = [
            np.moveaxis(s, 0, 1).reshape(s.shape[1], -1)[:, :n].ravel()
            for s, n in zip(self.sums, self.tree.num_hands, strict=True)
        ]
        return RoundTable(self.tree, flat, recall=self.recall)

    @property
    def what(self) -> str:
        """The round, the recall and the agent met, in words."""
        t = self.tree
        without = f", without bids of a chance below {t.least_chance}" if t.least_chance else ""
        return f"{t.variant}, {' v '.join(map(str, t.dice))} dice, palifico {t.palifico}, recall {self.recall}{without}{self.met}"

    def save(self, path: Path | str) -> None:
        """Write all to ``path``; a kill while writing leaves the file as it was."""
        kept = {
            f"{kind}{seat}": table for kind in ("regrets", "sums") for seat, table in enumerate(getattr(self, kind))
        }
        with writing(path) as file:
            np.savez(file, iterations=np.array(self.iterations), what=np.array(self.what), **kept)

    def load(self, path: Path | str) -> None:
        """Go on from a file of :meth:`save`; raises ``ValueError`` for any other, or one of another round or recall."""
        with reading(path, "the state of a recall-limited solution") as file:
            what = file.text("what")
            if what != self.what:
                raise ValueError(f"{path} holds {what!r}, not {self.what!r}")
            read_solution(self, file)
