"""One round solved exactly, with progress; a run that was killed goes on with the same command.

python -m train exact --variant pascal --dice 2 2 --seconds 3600 --resume pascal-2v2.npz
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from agents.tabular.public_tree import PublicTree
from perudo_env.engine.variant import as_variant
from perudo_env.game.files import check_writable
from train.core.options import VariantOption
from train.core.progress import progress
from train.solver.exact.payoffs import check_dice, check_numbers
from train.solver.exact.rounds import BYTES_PER_ENTRY, Report, capped, print_report, solve_round


@dataclass(frozen=True)
class RoundOptions:
    """A round between two seats, and how long it is solved."""

    variant: VariantOption = "classic"
    dice: tuple[int, int] = (2, 1)
    """Of the opener, and of the other."""
    palifico: bool = False
    """A palifico round."""
    seconds: float = 60
    """Stop after so many."""
    target: float = 1e-5
    """Stop at this NashConv."""
    threads: int | None = None
    """By default one per core."""
    resume: Path | None = None
    """A file to go on from, if it is there, and to save to."""
    save_every: float = 600
    """Seconds between two saves."""
    out: Path | None = None
    """Write the strategies here, as a table for agents.tabular.policy."""


@contextmanager
def reporting(limit: float, console: Console) -> Iterator[Report]:
    """Yield what prints a line per report; on a terminal they scroll above a bar of the seconds used, of ``limit``."""
    if not console.is_terminal:
        yield print_report
        return
    with progress("seconds, at most", max(1, round(limit)), console) as advance:
        shown = 0

        def report(iterations: int, seconds: float, lower: float, upper: float) -> None:
            nonlocal shown
            advance(round(seconds) - shown)
            shown = round(seconds)
            print_report(iterations, seconds, lower, upper)

        yield report


def run(o: RoundOptions) -> None:
    """Solve, and print the interval; raises ``ValueError`` for what cannot be solved."""
    v, dice = as_variant(o.variant), check_dice(o.dice)
    check_numbers(seconds=o.seconds)
    if o.out is not None:
        check_writable(o.out)
    tree = PublicTree(capped(v), dice, o.palifico)
    print(
        f"{v}, dice {dice[0]} v {dice[1]}: {tree.num_nodes:,} nodes, {tree.num_states:,} information states, "
        f"tables of {sum(tree.num_entries) * BYTES_PER_ENTRY / 2**30:.2f} GiB",
        file=sys.stderr,
    )
    with reporting(o.seconds, Console(stderr=True)) as report:
        solution = solve_round(
            v, dice, o.palifico, o.seconds, target=o.target, threads=o.threads, resume=o.resume,
            save_every=o.save_every, report=report,
        )  # fmt: skip
    print(
        f"value {solution.value:+.6f} in [{solution.lower:+.6f}, {solution.upper:+.6f}], NashConv {solution.nash_conv:.6f}"
    )
    print(f"{solution.iterations} iterations, {solution.seconds:.0f} s")
    if o.out is not None:
        solution.table.save(o.out)
        print(f"strategies in {o.out}")
