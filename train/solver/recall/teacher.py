"""A teacher for two seats: tables of every round of several variants, and a network for what they leave out.

    python -m train.solver.recall.teacher --network runs/duel/checkpoint --out runs/teacher

Rounds that the shipped exact agent has are its own; the others are solved by recall-limited CFR, in a share of the rounds
against another agent (see ``recall``). ``train.solver.recall.condense`` makes what ships of it. Hours on one core; a killed run
goes on with the same command, and several may share the work, each with other ``--variants``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

import agents as registry
from perudo_env.engine.variant import parse_variant, variant
from perudo_env.game.printing import printing
from train.solver.recall.condense import add_network
from train.solver.recall.tables import Options as TablesOptions
from train.solver.recall.tables import run


@dataclass
class Options:
    """A teacher's tables."""

    out: Annotated[Path, tyro.conf.arg(help="the checkpoint's folder")]
    network: Annotated[Path, tyro.conf.arg(help="a checkpoint that plays where there is no table")]
    # the five presets, joker, and each with or without Calza; a table with Calza holds whoever may call it, evening's are
    # marquoir's, pascal_round's are pascal's
    variants: tuple[str, ...] = (
        "classic", "box:dice_counts=public", "pascal", "marquoir", "marquoir:calza=off", "pascal:calza=off",
        "classic:calza=on_turn", "joker", "box:dice_counts=public,calza=on_turn", "joker:calza=on_turn",
    )  # fmt: skip
    starting_dice: int = 5  # of each seat
    iterations: int = 80  # of a round
    recall: int = 2  # how many bids are remembered, at least
    max_states: int = 700_000  # more are, while a round has no more information states than this
    against: str = "inference"  # an agent who sits in the other seat in a share of the rounds
    share: float = 0.2  # of those rounds
    threads: int | None = None  # by default one per core


def make(o: Options) -> None:
    """Solve what is not yet solved, and write the checkpoint. Raises ``ValueError`` for a network that does not play the variants."""
    for v in o.variants:  # before hours of work
        registry.load(o.network, variant(parse_variant(v), starting_dice=o.starting_dice), 2)
    for v in o.variants:
        print(v, file=sys.stderr)
        folder = o.out / "".join(c if c.isalnum() or c == "_" else "-" for c in v)
        run(
            TablesOptions(
                folder,
                v,
                o.starting_dice,
                exact_gib=0.0,
                recall=o.recall,
                max_states=o.max_states,
                iterations=o.iterations,
                threads=o.threads,
                alone=True,
                against=o.against,
                share=o.share,
            )
        )
    # others may have solved, or solve now, what lies beside
    solved = sorted(p.parent.name for p in o.out.glob("*/values.json"))
    what = f"rounds from {o.starting_dice} dice, {o.share} of them against {o.against}, under {', '.join(solved)}"
    add_network(o.out, o.network, what)


def main(arguments: list[str] | None = None) -> int:
    """Make the teacher."""
    o = tyro.cli(Options, args=arguments, prog="python -m train.solver.recall.teacher", description=__doc__)
    try:
        make(o)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"the teacher is in {o.out}: python -m train.solver.recall.condense makes what ships of it")
    return 0


if __name__ == "__main__":
    with printing():
        sys.exit(main())
