"""One round solved by discounted CFR, with a certified interval for its value.

DCFR(1.5, 0, 2), alternating updates: Brown and Sandholm, "Solving Imperfect-Information Games via Discounted Regret
Minimization", AAAI 2019. Bids above the dice in play are left out: such a bid never holds, so whoever makes it can
only do as badly as by a wrong Dudo; the value is that of the game with them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from agents.core.npz import Arrays, memory, reading
from agents.tabular.policy import RoundTable, TabularPolicy
from agents.tabular.public_tree import PublicTree
from perudo_env.engine.variant import Variant, as_variant, variant
from perudo_env.game.files import check_writable, writing
from train.solver.exact.payoffs import State, check_dice, check_numbers, pay_table
from train.solver.exact.traverse import Traversal, Weights, compile_walks
from train.solver.exact.walk import Do

ALPHA, GAMMA = 1.5, 2.0
APPROXIMATE = (
    "for larger rounds, lower bounds on a policy's exploitability come from "
    "python -m train local-best-response and python -m train exploiter"
)
BYTES_PER_ENTRY = 8  # a regret and a sum, float32 each
Report = Callable[[int, float, float, float], None]  # iterations, seconds, lower, upper


def capped(v: Variant) -> Variant:
    """The variant in which, with T0 the dice in play, no bid above them is left."""
    return variant(v, max_bid="starting_dice") if v.max_bid == "unbounded" else v


class RoundSolver:
    """The state of a solution: regrets and sums of both seats, and how many iterations made them."""

    def __init__(self, tree: PublicTree, pay: npt.NDArray[np.float64], threads: int | None = None) -> None:
        check_size(tree)
        compile_walks()
        self.tree, self.iterations = tree, 0
        self.update = Traversal(tree, pay, np.float32, threads)
        self.judge = Traversal(tree, pay, np.float64, threads)
        self.regrets, self.sums = self._zeros(), self._zeros()

    def _zeros(self) -> Weights:
        first, second = self.tree.num_entries
        return np.zeros(first, np.float32), np.zeros(second, np.float32)

    def set_pay(self, pay: npt.NDArray[np.float64]) -> None:
        """Go on with another table of payoffs, as to seat 0."""
        self.update.set_pay(pay)
        self.judge.set_pay(pay)

    def restart_average(self) -> None:
        """Forget the average strategy and the age of the regrets, not the regrets."""
        self.iterations = 0
        for s in self.sums:
            s[:] = 0

    def iterate(self, count: int = 1) -> None:
        """Update both seats ``count`` times, one after the other."""
        for _ in range(count):
            self.iterations += 1
            t = self.iterations
            discounts = (t**ALPHA / (t**ALPHA + 1), 0.5, (t / (t + 1)) ** GAMMA)
            for seat in (0, 1):
                self.update.run(seat, Do.UPDATE, self.regrets, self.sums[seat], discounts)

    def bracket(self) -> tuple[float, float]:
        """An interval that holds the value to seat 0: what each average strategy guarantees, by exact best responses."""
        return -self.judge.run(1, Do.BEST, self.sums), self.judge.run(0, Do.BEST, self.sums)

    def run(self, seconds: float, target: float, report: Report | None = None) -> tuple[float, float]:
        """Iterate until the interval is ``target`` wide or the time is over; returns the interval."""
        start = time.monotonic()
        check_at = 8
        while True:
            self.iterate()
            late = time.monotonic() - start >= seconds
            if late or self.iterations >= check_at:
                check_at = max(self.iterations + 8, int(self.iterations * 1.25))
                lower, upper = self.bracket()
                if report:
                    report(self.iterations, time.monotonic() - start, lower, upper)
                if late or upper - lower <= target:
                    return lower, upper

    def save(self, path: Path | str) -> None:
        """Write all to ``path``; a kill while writing leaves the file as it was."""
        with writing(path) as file:
            np.savez(
                file, iterations=np.array(self.iterations), variant=np.array(str(self.tree.variant)),
                dice=np.array(self.tree.dice), palifico=np.array(self.tree.palifico),
                regrets0=self.regrets[0], regrets1=self.regrets[1], sums0=self.sums[0], sums1=self.sums[1],
            )  # fmt: skip

    def load(self, path: Path | str) -> None:
        """Go on from a file of :meth:`save`; raises ``ValueError`` for any other, or one of another round."""
        with reading(path, "the state of a round's solution") as file:
            what = file.text("variant"), tuple(file.read("dice", (2,)).tolist()), bool(file.read("palifico", kinds="b"))
            if what != (str(self.tree.variant), self.tree.dice, self.tree.palifico):
                raise ValueError(
                    f"{path} holds the round {what}, not {(str(self.tree.variant), self.tree.dice, self.tree.palifico)}"
                )
            read_solution(self, file)


def check_size(tree: PublicTree) -> None:
    """Raise ``ValueError`` for a round whose tables do not fit this machine's memory."""
    need = sum(tree.num_entries) * BYTES_PER_ENTRY
    if need > 0.9 * memory():
        raise ValueError(
            f"the round {tree.dice} under {tree.variant} has {tree.num_states:,} information states: its tables need "
            f"{need / 2**30:,.0f} GiB, this machine has {memory() / 2**30:,.0f}. Solve fewer dice; "
            f"{APPROXIMATE}"
        )


class Solution(Protocol):
    """What solvers keep: regrets and sums of all seats, and how many iterations made them."""

    @property
    def regrets(self) -> Sequence[npt.NDArray[np.float32]]:
        """Of each seat."""
        ...

    @property
    def sums(self) -> Sequence[npt.NDArray[np.float32]]:
        """Of each seat: weighted sums of its strategies, which averaged are what it plays."""
        ...

    iterations: int


def read_solution(solver: Solution, file: Arrays) -> None:
    """Take over what a file keeps; raises ``ValueError``, and leaves the solver as it was, where it does not fit."""
    names = [f"{kind}{seat}" for kind in ("regrets", "sums") for seat in range(len(solver.sums))]
    kept = (*solver.regrets, *solver.sums)
    found = [file.read(name, array.shape, "f") for name, array in zip(names, kept, strict=True)]
    iterations = int(file.read("iterations"))
    for name, array in zip(names, found, strict=True):
        if array.dtype != np.float32 or not np.isfinite(array).all() or (name.startswith("sums") and (array < 0).any()):
            raise ValueError(f"{name} holds what is no finite number of type float32, or a negative sum")
    if not 0 <= iterations < 2**53:
        raise ValueError(f"{iterations} iterations cannot be")
    for array, there in zip(found, kept, strict=True):
        there[:] = array
    solver.iterations = iterations


@dataclass(frozen=True)
class RoundSolution:
    """A solved round, seen from the seat that opens."""

    value: float  # the middle of the interval
    lower: float  # what the opener's average strategy guarantees
    upper: float  # what the other's average strategy concedes
    table: RoundTable
    iterations: int
    seconds: float

    @property
    def nash_conv(self) -> float:
        """The sum of both seats' gains by a best response: the width of the interval."""
        return self.upper - self.lower

    @property
    def policy(self) -> TabularPolicy:
        """The average strategies of both seats; uniform outside this round."""
        return TabularPolicy([self.table], self.table.tree.variant, 2)


def solve_round(
    v: Variant | str, dice: Sequence[int] = (2, 1), palifico: bool = False, seconds: float = 60, *,
    target: float = 1e-5, threads: int | None = None, resume: Path | str | None = None, save_every: float = 600,
    report: Report | None = None,
) -> RoundSolution:  # fmt: skip
    """Solve one round between two seats that seat 0 opens with ``dice[0]`` dice.

    Stops once NashConv is at most ``target``, or after ``seconds``. The value is the expected return of the round to
    seat 0 (RULES: the change in own dice, zero-sum). ``resume`` names a file to go on from, if it is there, and to save
    to, every ``save_every`` seconds and at the end. Raises ``ValueError`` for a round that cannot be or does not fit.
    """
    v, pair = as_variant(v), check_dice(dice)
    check_numbers(seconds=seconds, target=target, save_every=save_every)
    if resume is not None:
        check_writable(resume)
    tree = PublicTree(capped(v), pair, palifico)
    solver = RoundSolver(tree, pay_table(tree.variant, State(pair, 0, palifico)), threads)
    if resume is not None and Path(resume).exists():
        solver.load(resume)
    start = time.monotonic()
    while True:
        left = seconds - (time.monotonic() - start)
        lower, upper = solver.run(left if resume is None else min(left, save_every), target, report)
        if resume is not None:
            solver.save(resume)
        if upper - lower <= target or time.monotonic() - start >= seconds:
            break
    table = RoundTable(tree, solver.sums, (lower, upper))
    return RoundSolution((lower + upper) / 2, lower, upper, table, solver.iterations, time.monotonic() - start)


def print_report(iterations: int, seconds: float, lower: float, upper: float) -> None:
    """One line of progress."""
    print(
        f"{iterations:6d} iterations {seconds:7.1f} s  value in [{lower:.6f}, {upper:.6f}]  NashConv {upper - lower:.2e}",
        file=sys.stderr,
        flush=True,
    )
