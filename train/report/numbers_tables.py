"""The numbers that are kept as tables, for the site."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from agents import BASELINES
from perudo_env.engine.variant import VARIANTS
from train.core.table import Code, Table

Kept = dict[str, dict[str, Any]]
DIGITS = 4


def interval(record: dict[str, Any] | None) -> str | None:
    """A certified interval, rounded outwards."""
    if record is None:
        return None
    unit = 10**DIGITS
    # the ends are proofs up to float64's last digits
    low, high = floor(record["lower"] * unit + 1e-6) / unit, ceil(record["upper"] * unit - 1e-6) / unit
    return f"{low:+.{DIGITS}f} .. {high:+.{DIGITS}f}"


def of_kind(kept: Kept, kind: str) -> list[dict[str, Any]]:
    """The records of a kind."""
    return [record for name, record in kept.items() if name.startswith(f"{kind}/")]


def split(record: dict[str, Any]) -> str:
    """The dice, like ``2 v 1``."""
    return f"{record['dice'][0]} v {record['dice'][1]}"


def by_size(dice: str) -> tuple[int, str]:
    """What splits are sorted by: all dice, then the opener's."""
    return sum(map(int, dice.split(" v "))), dice


def rounds_table(kept: Kept, palifico: bool = False) -> Table:
    """Values of ordinary rounds, a row per preset and a column per split of dice."""
    found = {(r["variant"], split(r)): r for r in of_kind(kept, "round") if r["palifico"] == palifico}
    splits = sorted({s for _, s in found}, key=by_size)
    variants = [*VARIANTS, *sorted({v for v, _ in found} - set(VARIANTS))]
    rows = [(Code(v), *(interval(found.get((v, s))) for s in splits)) for v in variants]
    return Table(("variant", *splits), rows).without_gaps()


def palifico_table(kept: Kept) -> Table:
    """Values of palifico rounds, the opener having one die."""
    return rounds_table(kept, palifico=True)


def matches_table(kept: Kept) -> Table:
    """Values of whole games."""
    rows = [(Code(r["variant"]), split(r), interval(r), f"{r['nash_conv']:.4f}") for r in of_kind(kept, "match")]
    return Table(("variant", "starting dice", "value to the opener", "NashConv"), rows)


def agents_table(kept: Kept) -> Table:
    """Exact NashConv of agents, a row per round and a column per agent."""
    found = {(r["variant"], split(r), r["agent"]): f"{abs(r['nash_conv']):.3f}" for r in of_kind(kept, "agent")}
    strangers = sorted({name for _, _, name in found} - set(BASELINES))
    names = [*(name for name in BASELINES if any(name == n for _, _, n in found)), *strangers]
    rounds = sorted({key[:2] for key in found}, key=lambda k: (list(VARIANTS).index(k[0]), by_size(k[1])))
    rows = [(f"`{v}` {dice}", *(found.get((v, dice, name)) for name in names)) for v, dice in rounds]
    return Table(("variant, dice", *map(Code, names)), rows).without_gaps()


def recall_table(kept: Kept) -> Table:
    """Recall-limited tables."""
    rows = [
        (
            f"`{r['variant']}` {split(r)}", r["recall"], f"{r['num_states']:,}", f"{r['iterations']:,}", f"{r['cpu_seconds']:.0f}",
            f"{r['nash_conv']:.3f}" if "nash_conv" in r else "beyond an exact answer",
        )
        for r in of_kind(kept, "recall")
    ]  # fmt: skip
    header = ("variant, dice", "bids remembered", "information states", "iterations", "CPU seconds", "NashConv")
    return Table(header, rows)
