"""A teacher for two seats: tables of every round of several variants, and a network for what they leave out.

    python -m train teacher --network runs/duel/checkpoint --out runs/teacher

Rounds that the shipped exact agent has are its own; the others are solved by recall-limited CFR, in a share of the rounds
against another agent (see ``recall``). ``python -m train condense`` makes what ships of it. Hours on one core; a killed run
goes on with the same command, and several may share the work, each with other ``--variants``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import agents as registry
from perudo_env.engine.variant import parse_variant, variant
from train.solver.recall.condense import add_network
from train.solver.recall.tables import TablesOptions, solve_all


@dataclass(frozen=True)
class TeacherOptions:
    """A teacher's tables."""

    out: Path
    """The checkpoint's folder."""
    network: Path
    """A checkpoint that plays where there is no table."""
    variants: tuple[str, ...] = (
        "classic", "box:dice_counts=public", "pascal", "marquoir", "marquoir:calza=off", "pascal:calza=off",
        "classic:calza=on_turn", "joker", "box:dice_counts=public,calza=on_turn", "joker:calza=on_turn",
    )  # fmt: skip
    """The five presets, joker, and each with or without Calza: a table with Calza holds whoever may call it, evening's are
    marquoir's, pascal_round's are pascal's."""
    starting_dice: int = 5
    """Of each seat."""
    iterations: int = 80
    """Of a round."""
    recall: int = 2
    """How many bids are remembered, at least."""
    max_states: int = 700_000
    """More are, while a round has no more information states than this."""
    against: str = "inference"
    """An agent who sits in the other seat in a share of the rounds."""
    share: float = 0.2
    """Of those rounds."""
    threads: int | None = None
    """By default one per core."""


def run(o: TeacherOptions) -> None:
    """Solve what is not yet solved, and write the checkpoint. Raises ``ValueError`` for a network that does not play the variants."""
    for v in o.variants:  # before hours of work
        registry.load(o.network, variant(parse_variant(v), starting_dice=o.starting_dice), 2)
    for v in o.variants:
        print(v, file=sys.stderr)
        folder = o.out / "".join(c if c.isalnum() or c == "_" else "-" for c in v)
        solve_all(
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
    print(f"the teacher is in {o.out}: python -m train condense makes what ships of it")
