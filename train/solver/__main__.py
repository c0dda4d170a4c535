"""Solve one round from the command line, with progress; a run that was killed goes on with the same command.

python -m train.solver --variant pascal --dice 2 2 --seconds 3600 --resume pascal-2v2.npz
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from agents.tabular.public_tree import PublicTree
from perudo_env.engine.variant import as_variant
from perudo_env.game.files import check_writable
from perudo_env.game.printing import printing
from train.core.progress import progress
from train.solver.exact.payoffs import check_dice, check_numbers
from train.solver.exact.rounds import BYTES_PER_ENTRY, Report, capped, print_report, solve_round


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Solve, and print the interval."""
    parser = argparse.ArgumentParser(prog="python -m train.solver", description=__doc__)
    parser.add_argument("--variant", default="classic", help="a preset, or like box:calza=anyone")
    parser.add_argument("--dice", type=int, nargs=2, default=(2, 1), metavar=("OPENER", "OTHER"))
    parser.add_argument("--palifico", action="store_true", help="a palifico round")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--target", type=float, default=1e-5, help="stop at this NashConv")
    parser.add_argument("--threads", type=int, default=None, help="by default one per core")
    parser.add_argument("--resume", type=Path, help="a file to go on from, if it is there, and to save to")
    parser.add_argument("--save-every", type=float, default=600, metavar="SECONDS")
    parser.add_argument("--out", type=Path, help="write the strategies here, as a table for agents.tabular.policy")
    o = parser.parse_args(arguments)
    try:
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
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    with printing():
        sys.exit(main())
