"""The tables that the exact agent ships with: solve, round to small integers, judge what is shipped.

python -m train ship-exact --out agents/checkpoints/exact
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.tabular.policy import EXACT
from perudo_env.engine.variant import parse_variant
from perudo_env.game.files import write_text
from train.solver.exact.exploitability import Exploitability, judge
from train.solver.exact.rounding import LEVELS, rounded
from train.solver.exact.rounds import print_report, solve_round


@dataclass(frozen=True)
class Item:
    """One table to ship."""

    variant: str
    dice: tuple[int, int]
    palifico: bool = False
    target: float = 1e-4  # NashConv at which it is good enough
    levels: int = LEVELS  # its weights are whole numbers up to this

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        word = self.variant.replace(":", "-").replace("=", "_").replace(",", "-")
        return f"{word}-{self.dice[0]}v{self.dice[1]}" + "-palifico" * self.palifico


SPLITS = ((1, 1), (2, 1), (1, 2))
# a table holds whoever may call Calza, and in every variant whose rounds have the same raises, openings and Pacos:
# pascal's also in pascal_round
SMALL = (
    "classic", "classic:calza=on_turn", "pascal", "pascal:calza=off", "box", "box:calza=on_turn", "marquoir", "evening",
    "joker", "joker:calza=on_turn",
)  # fmt: skip
# where a bid leaves few raises, four dice fit: solved and written less finely
LARGER = ("classic", "classic:calza=on_turn", "box", "box:calza=on_turn")
ITEMS = (
    *(Item(v, dice) for v in SMALL for dice in SPLITS),
    *(Item(v, dice, target=1e-3, levels=255) for v in LARGER for dice in ((2, 2), (3, 1), (1, 3))),
    # raise rule and opening on Pacos do not matter in a palifico round: one set without Calza, one with
    *(Item(v, (1, n), palifico=True) for v in ("classic", "marquoir") for n in range(1, 6)),
    Item("liars_dice", (1, 1)),
)


def make(item: Item, folder: Path, seconds: float) -> tuple[Exploitability, int]:
    """Solve and write one table; returns what the shipped one is worth, and its bytes."""
    solution = solve_round(item.variant, item.dice, item.palifico, seconds, target=item.target, report=print_report)
    table = rounded(solution.table, item.levels)
    shipped = judge(table.tree, (table.weights[0].astype(np.float64), table.weights[1].astype(np.float64)))
    path = folder / f"{item.name}.npz"
    table.save(path)
    return shipped, path.stat().st_size


def write_card(folder: Path, new: Mapping[str, str]) -> None:
    """The model card of the folder: the lines of the tables that it had, and new ones by their files' names."""
    path = folder / "README.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    known = {line.split("`")[1].removesuffix(".npz"): line for line in lines if line.startswith("| `")}
    known.update(new)
    write_text(path, CARD.replace("{rows}", "\n".join(known[i.name] for i in ITEMS if i.name in known)))


CARD = """# The exact agent's tables

Strategies of both seats for small rounds between two seats, found by discounted CFR (`train/solver/`) and rounded to
whole numbers up to 4095, those of four dice up to 255. Made by `python -m train ship-exact`; played by `agents.tabular.policy.TabularPolicy`, which reads
them as plain numbers and asks another policy for positions they lack (more dice, more than two living seats, and
positions that only its own deviation from the table could reach).

A value is the expected return of the round to its opener: the loser of a die -1, the other +1; a right Calza +1 to a caller
who takes a die back. NashConv is exact, and that of the rounded table as shipped: the sum of what a best response
gains on either side. Without Calza a round has two outcomes, so its table holds in a whole two-seat game as well; with Calza
the table plays for the round alone. Bids above the dice in play are never made, and are doubted.

| table | variant | dice, opener first | palifico | value | NashConv | KB |
|---|---|---|---|---|---|---|
{rows}

Limits: two living seats, at most 3 dice in ordinary rounds (4 where raises are `monotone` or `one_axis`) and 6 in
palifico rounds. Of two seats only one may ever call Calza, so tables with Calza hold for `on_turn` and for `anyone`.
`box` hides the dice counts; who remembers every lost die knows them, and its tables are those of public counts. With
`memory="none"` no table is used there.
"""


@dataclass(frozen=True)
class ShipExactOptions:
    """Which tables are made, and where."""

    out: Path = EXACT
    """The checkpoint's folder."""
    seconds: float = 600
    """At most, for one table."""
    only: str = ""
    """Those whose names contain this."""


def run(options: ShipExactOptions) -> None:
    """Solve and write all tables and the card."""
    options.out.mkdir(parents=True, exist_ok=True)
    for item in ITEMS:
        if options.only in item.name:
            print(item.name, file=sys.stderr)
            shipped, size = make(item, options.out, options.seconds)
            dice = f"{item.dice[0]} v {item.dice[1]}"
            calls = parse_variant(item.variant).calza
            line = (
                f"| `{item.name}.npz` | {item.variant} (Calza {calls}) | {dice} | {'yes' if item.palifico else 'no'} | "
                f"{round(shipped.value, 5) + 0.0:+.5f} | {abs(shipped.nash_conv):.5f} | {size / 1024:.0f} |"
            )
            print(line, file=sys.stderr)
            write_card(options.out, {item.name: line})
