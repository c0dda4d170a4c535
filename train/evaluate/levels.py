"""Measurement of the levels that people play against, one against another: ``python -m train levels`` writes the
numbers that the rules page shows, ``agents/people/levels.json``. One seat of the row against the column in all others, every
rotation on the same dice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from agents.people.levels import LEVELS, MEASURED, make
from perudo_env.engine.variant import as_variant, table_size
from perudo_env.game.files import check_writable, write_text
from train.core.options import Seed, VariantOption
from train.core.progress import progress
from train.evaluate.tournament.standings import one_against_rest


@dataclass(frozen=True)
class Levels:
    """What is measured, and where it is written."""

    variant: VariantOption = "classic"
    seats: int = 4
    """Seats of the table."""
    games: int = 1200
    """Games of each pair of levels."""
    seed: Seed = 2024
    out: Path = MEASURED
    """File to write."""


def run(levels: Levels) -> None:
    """Play all pairs and write the file; raises ``ValueError`` for a table that cannot be."""
    variant, seats = as_variant(levels.variant), table_size(levels.seats)
    check_writable(levels.out)
    names = list(LEVELS)
    policies = [make(level, variant, seats) for level in LEVELS]
    with progress("games", len(names) * (len(names) - 1) * levels.games) as advance:
        found = one_against_rest(policies, variant, seats, levels.games, levels.seed, advance)
    shares = [
        {
            "level": names[a], "against": names[b], "share": round(e.value, 4),
            "lower": round(e.low, 4), "upper": round(e.high, 4),
        }
        for (a, b), e in found.items()
    ]  # fmt: skip
    setting = {"variant": str(variant), "seats": seats, "games": levels.games, "seed": levels.seed}
    text = json.dumps({"setting": setting, "levels": LEVELS, "shares": shares}, indent=1) + "\n"
    write_text(levels.out, text)
    print(f"results in {levels.out}")
