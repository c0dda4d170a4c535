"""Rounds too large to solve: CFR for two players who remember their own hand and the last bids only.

Histories that such a player cannot tell apart share regrets (Waugh, Zinkevich, Johanson, Kan, Schnizlein and Bowling, "A
practical use of imperfect recall", SARA 2009), updated by discounted CFR as in ``rounds``. In a node that many
histories share, each counts by the chance that both players go there, the updated one exploring a little: weighed by
the opponent's part alone, as where nothing is forgotten, NashConv is about twice as high (quantity_any_face, 2 v 1,
two bids: .15 against .07). All hands of a seat are updated at once, against all or some sampled hands of the other.

    python -m train recall --variant joker --dice 3 3 --recall 3 --seconds 180 --out runs/joker-3v3
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console

import agents as registry
from agents.core.npz import memory, reading
from agents.tabular.policy import RoundTable, TabularPolicy
from agents.tabular.public_tree import PublicTree
from agents.tabular.suffixes import suffix_graph, suffix_sizes
from perudo_env.engine.hands import hand_weights
from perudo_env.engine.variant import as_variant, variant
from perudo_env.game.files import check_writable, write_text, writing
from perudo_env.policy import Policy
from train.core.options import Seed, VariantOption
from train.core.progress import progress
from train.core.run import provenance
from train.core.state import weights_hash
from train.solver.exact.exploitability import MAX_STATES, nash_conv
from train.solver.exact.payoffs import State, check_dice, check_numbers, pay_table, seat_view
from train.solver.exact.rounding import rounded
from train.solver.exact.rounds import ALPHA, GAMMA, capped, read_solution
from train.solver.exact.traverse import thread_count
from train.solver.recall.fixed import fixed_table
from train.solver.recall.lanes import LANES
from train.solver.recall.walk import (
    Room,
    Sample,
    Side,
    begin_update,
    gather,
    group_value,
    match_group,
    update_group,
)

EXPLORATION = 0.2
SAMPLE = 2 * LANES
Float32Array = npt.NDArray[np.float32]


class RecallSolver:
    """The state of a recall-limited solution: regrets and sums of both seats, and how many iterations made them.

    ``pay`` as for ``RoundSolver``. ``recall``: how many bids are remembered. ``sample``: how many hands of the opponent
    an iteration meets, drawn by their chances; all where there are no more. ``against``: an agent who sits in the other
    seat in a ``share`` of the rounds. What is found then is an equilibrium of that game: it earns more from this agent, and
    concedes at most share / (1 - share) of what it could earn beyond (compare Johanson, Zinkevich and Bowling, "Computing
    robust counter-strategies", NIPS 2007). Raises ``ValueError`` for tables beyond memory.
    """

    def __init__(
        self, tree: PublicTree, pay: npt.NDArray[np.float64], recall: int, threads: int | None = None, *,
        sample: int = SAMPLE, exploration: float = EXPLORATION, seed: int = 0, against: Policy | None = None, share: float = 0,
    ) -> None:  # fmt: skip
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
        self.counts = [tree.counts(0), tree.counts(1)]
        self.threads = thread_count(threads)
        self.pool = ThreadPoolExecutor(self.threads)
        self.regrets, self.sums = self._tables(), self._tables()
        self.share = share if against else 0.0
        self.fixed = [fixed_table(against, tree, self.graph, seat) for seat in (0, 1)] if against and share else None
        self.met = (
            f", {self.share} of it against the agent {weights_hash(dict(zip('01', self.fixed, strict=True)))}"
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

    def _tables(self) -> tuple[Float32Array, Float32Array]:
        first, second = (
            np.zeros((g, int(n), LANES), np.float32) for g, n in zip(self.groups, self.graph.num_rows, strict=True)
        )
        return first, second

    @property
    def num_states(self) -> int:
        """Information states of both seats together."""
        return int(self.graph.num_states @ np.array(self.tree.num_hands))

    def set_pay(self, pay: npt.NDArray[np.float64]) -> None:
        """Go on with another table of payoffs, as to seat 0."""
        quantity = self.tree.graph.quantity
        self.sides = [
            [
                Side(
                    seat,
                    quantity,
                    self._lanes(seat, range(g * LANES, (g + 1) * LANES)),
                    np.ascontiguousarray(seat_view(pay, seat), np.float32),
                )
                for g in range(self.groups[seat])
            ]
            for seat in (0, 1)
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

    @cached_property
    def rooms(self) -> SimpleQueue[Room]:
        """Room for every thread."""
        rooms: SimpleQueue[Room] = SimpleQueue()
        rows, nodes = int(self.graph.num_rows.max()), len(self.graph.bid)
        for _ in range(self.threads):
            shapes = (
                [(rows, LANES)] * 2
                + [(nodes, LANES)]
                + [(nodes, LANES, LANES)] * 2
                + [(2, LANES, LANES), self._most_actions]
            )
            rooms.put(Room(*(np.zeros(shape, np.float32) for shape in shapes)))
        return rooms

    @property
    def _most_actions(self) -> tuple[int, int]:
        return int((self.graph.calls + np.diff(self.graph.first)).max()), LANES

    # ------------------------------------------------------------------------------------------ hands of the opponent

    def _draw(self, seat: int, n: int, stream: int = 0) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Hands and their weights: all, or a systematic sample by their chances in random order, a hand at most once or nearly so."""
        deal = self.deal[seat]
        if n >= len(deal):
            return np.arange(len(deal)), deal
        rng = np.random.default_rng((self.seed, self.iterations, seat, stream))
        order = rng.permutation(len(deal))
        points = (np.arange(n) + rng.random()) / n
        chosen = np.searchsorted(np.cumsum(deal[order]), points)
        return order[np.minimum(chosen, len(deal) - 1)], np.full(n, 1 / n)

    def _samples(
        self, seat: int, hands: npt.NDArray[np.int64], weights: npt.NDArray[np.float64], table: Float32Array
    ) -> Iterator[Sample]:
        """Groups of hands of a seat, playing by a table."""
        gathered, positive = np.zeros(table.shape[1:], np.float32), np.zeros(self._most_actions, np.float32)
        for begin in range(0, len(hands), LANES):
            some = hands[begin : begin + LANES]
            deal, sigma = np.zeros(LANES, np.float32), np.zeros_like(gathered)
            deal[: len(some)] = weights[begin : begin + LANES]
            gather(table, some, gathered)
            match_group(self.graph, seat, gathered, positive, sigma)
            yield Sample(len(some), deal, self._lanes(seat, some), sigma)

    # ------------------------------------------------------------------------------------------ iterations

    def iterate(self, count: int = 1) -> None:
        """Update both seats ``count`` times, one after the other."""
        for _ in range(count):
            self.iterations += 1
            t = self.iterations
            discounts = np.array([t**ALPHA / (t**ALPHA + 1), 0.5, (t / (t + 1)) ** GAMMA])
            for seat in (0, 1):
                self._update(seat, discounts)

    def _update(self, seat: int, discounts: npt.NDArray[np.float64]) -> None:
        hands, weights = self._draw(1 - seat, self.sample)
        samples = list(self._samples(1 - seat, hands, weights * (1 - self.share), self.regrets[1 - seat]))
        if self.fixed is not None:
            hands, weights = self._draw(1 - seat, min(self.sample, LANES), 1)
            samples += self._samples(1 - seat, hands, weights * self.share, self.fixed[1 - seat])

        def update(g: int) -> None:
            room = self.rooms.get()
            regrets, sums = self.regrets[seat][g], self.sums[seat][g]
            begin_update(self.graph, seat, self.exploration, discounts, room, regrets, sums)
            for sample in samples:
                update_group(self.graph, self.sides[seat][g], sample, room, regrets)
            self.rooms.put(room)

        list(self.pool.map(update, range(self.groups[seat])))

    def value(self) -> float:
        """What the average strategies earn against each other, to seat 0; exact."""
        hands = np.arange(self.tree.num_hands[1])
        total = np.zeros((self.groups[0], LANES), np.float32)
        for sample in self._samples(1, hands, self.deal[1], self.sums[1]):

            def add(g: int, sample: Sample = sample) -> None:
                room = self.rooms.get()
                group_value(self.graph, self.sides[0][g], sample, room, self.sums[0][g], total[g])
                self.rooms.put(room)

            list(self.pool.map(add, range(self.groups[0])))
        return float(total.reshape(-1)[: len(self.deal[0])].astype(np.float64) @ self.deal[0])

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
        return f"{t.variant}, {t.dice[0]} v {t.dice[1]} dice, palifico {t.palifico}, recall {self.recall}{self.met}"

    def save(self, path: Path | str) -> None:
        """Write all to ``path``; a kill while writing leaves the file as it was."""
        with writing(path) as file:
            np.savez(
                file, iterations=np.array(self.iterations), what=np.array(self.what),
                regrets0=self.regrets[0], regrets1=self.regrets[1], sums0=self.sums[0], sums1=self.sums[1],
            )  # fmt: skip

    def load(self, path: Path | str) -> None:
        """Go on from a file of :meth:`save`; raises ``ValueError`` for any other, or one of another round or recall."""
        with reading(path, "the state of a recall-limited solution") as file:
            what = file.text("what")
            if what != self.what:
                raise ValueError(f"{path} holds {what!r}, not {self.what!r}")
            read_solution(self, file)


@dataclass(frozen=True)
class RecallOptions:
    """One round by recall-limited CFR."""

    out: Path
    """The checkpoint's folder; a run that was killed goes on there."""
    variant: VariantOption = "classic"
    dice: tuple[int, int] = (3, 3)
    """The opener's and the other's."""
    palifico: bool = False
    """A palifico round."""
    recall: int = 3
    """How many bids are remembered."""
    seconds: float = 60
    """How long it is solved."""
    sample: int = SAMPLE
    """Hands of the opponent that an iteration meets."""
    exploration: float = EXPLORATION
    """The share of play that tries all actions alike."""
    seed: Seed = 0
    threads: int | None = None
    """By default one per core."""
    save_every: float = 120
    """Seconds between two saves."""
    levels: int = 255
    """Weights in the table are whole numbers up to this."""
    against: str = ""
    """An agent who sits in the other seat in a share of the rounds."""
    share: float = 0.1
    """Of those rounds."""


def solve(o: RecallOptions) -> dict[str, Any]:
    """Iterate for ``o.seconds`` and write the checkpoint; returns its card."""
    v, dice = capped(as_variant(o.variant)), check_dice(o.dice)
    check_numbers(seconds=o.seconds, save_every=o.save_every, seed=o.seed)
    check_numbers(1, 2**16 - 1, levels=o.levels)
    tree = PublicTree(v, dice, o.palifico)
    solver = RecallSolver(
        tree, pay_table(v, State(dice, 0, o.palifico)), o.recall, o.threads, sample=o.sample, exploration=o.exploration, seed=o.seed,
        against=registry.make(o.against, v, 2) if o.against else None, share=o.share,
    )  # fmt: skip
    kept = o.out / "solver.state"
    check_writable(kept)
    if kept.exists():
        solver.load(kept)
    entries = sum(s.size for s in solver.sums)
    print(
        f"{solver.what}: {solver.num_states:,} information states, tables of {8 * entries / 2**20:,.0f} MB",
        file=sys.stderr,
    )
    spent = iterate_for(solver, o.seconds, kept, o.save_every)
    table = rounded(solver.table(), o.levels)
    table.save(o.out / "table.npz")
    card: dict[str, Any] = {
        "kind": "recall", "fallback": "inference", "what": solver.what, "value_in_self_play": solver.value(),
        "iterations": solver.iterations, "seconds": round(spent), "seed": o.seed, **provenance(),
    }  # fmt: skip
    if tree.num_states <= MAX_STATES:
        card["nash_conv"] = nash_conv(TabularPolicy([table], v, 2), v, dice, o.palifico).nash_conv
    write_card(o.out, card)
    return card


@cache
def compile_recall() -> None:
    """Compile the kernels, once per process, on a tiny round: so that a limit of time is spent on solving."""
    v = variant("classic", num_faces=2, starting_dice=1)
    RecallSolver(PublicTree(v), pay_table(v, State((1, 1))), 1).iterate()


def iterate_for(solver: RecallSolver, seconds: float, kept: Path | None = None, save_every: float = 120) -> float:
    """Iterate for so many seconds, with progress, keeping the state in a file; returns the seconds spent."""
    check_numbers(seconds=seconds, save_every=save_every)
    compile_recall()
    begun = last = time.monotonic()
    with progress("seconds", max(1, round(seconds)), Console(stderr=True)) as advance:
        shown = 0
        while True:
            solver.iterate()
            now = time.monotonic()
            advance(min(int(now - begun), round(seconds)) - shown)
            shown = min(int(now - begun), round(seconds))
            over = now - begun >= seconds
            if kept is not None and (over or now - last >= save_every):
                last = now
                solver.save(kept)
            if over:
                return now - begun


def write_card(folder: Path, card: dict[str, Any]) -> None:
    """Write ``policy.json``, whole or not at all."""
    write_text(folder / "policy.json", json.dumps(card, indent=2) + "\n")


def run(options: RecallOptions) -> None:
    """Solve, write the checkpoint, and say what it is worth."""
    card = solve(options)
    exact = (
        f"NashConv {card['nash_conv']:.4f} (exact)"
        if "nash_conv" in card
        else "NashConv: too large for an exact answer"
    )
    print(
        f"{card['iterations']} iterations in {card['seconds']} s, value in self-play {card['value_in_self_play']:+.5f}, {exact}"
    )
    print(
        f"the agent is in {options.out}: python -m train arena --agents {options.out} inference --variant {options.variant} --seats 2"
    )
