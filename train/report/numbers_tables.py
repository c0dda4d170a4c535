"""The numbers that are kept as tables in Markdown, for README."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor
from typing import Any

from agents import BASELINES
from perudo_env.engine.variant import VARIANTS

Kept = dict[str, dict[str, Any]]
DIGITS = 4
NOT_KEPT = "-"


def interval(record: dict[str, Any] | None) -> str:
    """A certified interval, rounded outwards."""
    if record is None:
        return NOT_KEPT
    unit = 10**DIGITS
    # the ends are proofs up to float64's last digits
    low, high = floor(record["lower"] * unit + 1e-6) / unit, ceil(record["upper"] * unit - 1e-6) / unit
    return f"{low:+.{DIGITS}f} .. {high:+.{DIGITS}f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; rows of nothing but gaps are left out."""
    shown = [row for row in rows if any(cell != NOT_KEPT for cell in row[1:])]
    if not shown:
        return "Not measured yet."
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *shown])


def of_kind(kept: Kept, kind: str) -> list[dict[str, Any]]:
    """The records of a kind."""
    return [record for name, record in kept.items() if name.startswith(f"{kind}/")]


def split(record: dict[str, Any]) -> str:
    """The dice, like ``2 v 1``."""
    return f"{record['dice'][0]} v {record['dice'][1]}"


def rounds_table(kept: Kept) -> str:
    """Values of ordinary rounds, a row per dice split and a column per preset."""
    found = {(r["variant"], split(r)): r for r in of_kind(kept, "round") if not r["palifico"]}
    splits = sorted({s for _, s in found}, key=lambda s: (sum(map(int, s.split(" v "))), s))
    variants = [*VARIANTS, *sorted({v for v, _ in found} - set(VARIANTS))]
    return table(["variant", *splits], [[f"`{v}`", *(interval(found.get((v, s))) for s in splits)] for v in variants])


def palifico_table(kept: Kept) -> str:
    """Values of palifico rounds, the opener having one die."""
    found = {(r["variant"], split(r)): r for r in of_kind(kept, "round") if r["palifico"]}
    splits, variants = sorted({s for _, s in found}), [v for v in VARIANTS if any(v == w for w, _ in found)]
    return table(["variant", *splits], [[f"`{v}`", *(interval(found.get((v, s))) for s in splits)] for v in variants])


def matches_table(kept: Kept) -> str:
    """Values of whole games."""
    rows = [[f"`{r['variant']}`", split(r), interval(r), f"{r['nash_conv']:.4f}"] for r in of_kind(kept, "match")]
    return table(["variant", "starting dice", "value to the opener", "NashConv"], rows)


def agents_table(kept: Kept) -> str:
    """Exact NashConv of agents, a row per round and a column per agent."""
    found = {(r["variant"], split(r), r["agent"]): r for r in of_kind(kept, "agent")}
    names = sorted(
        {name for _, _, name in found},
        key=lambda n: (n not in BASELINES, list(BASELINES).index(n) if n in BASELINES else 0, n),
    )
    rounds = sorted(
        {key[:2] for key in found}, key=lambda k: (list(VARIANTS).index(k[0]), sum(map(int, k[1].split(" v "))), k[1])
    )

    def cell(v: str, dice: str, name: str) -> str:
        return f"{abs(found[v, dice, name]['nash_conv']):.3f}" if (v, dice, name) in found else NOT_KEPT

    return table(
        ["variant, dice", *(f"`{n}`" for n in names)],
        [[f"`{v}` {s}", *(cell(v, s, n) for n in names)] for v, s in rounds],
    )


def recall_table(kept: Kept) -> str:
    """Recall-limited tables."""
    rows = [
        [
            f"`{r['variant']}` {split(r)}", str(r["recall"]), f"{r['num_states']:,}", f"{r['iterations']:,}", f"{r['cpu_seconds']:.0f}",
            f"{r['nash_conv']:.3f}" if "nash_conv" in r else "beyond an exact answer",
        ]
        for r in of_kind(kept, "recall")
    ]  # fmt: skip
    return table(
        ["variant, dice", "bids remembered", "information states", "iterations", "CPU seconds", "NashConv"], rows
    )
