"""Numbers to cite: measured by one command, kept in ``docs/data/numbers.json``, printed in the site and README from there.

    python -m train numbers                   # measure what is not kept yet
    python -m train numbers --only classic    # of that, the items whose names contain this
    python -m train numbers --heavy           # also what takes hours

An item is written as soon as it is measured; a killed run goes on with the same command. ``--again`` measures anew.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

import agents
from agents.tabular.policy import TabularPolicy
from agents.tabular.public_tree import PublicTree
from perudo_env.engine.variant import RULE_TEXTS, VARIANTS, parse_variant, variant
from perudo_env.game.files import check_writable, read_json, write_text
from train.core.progress import progress
from train.core.run import provenance
from train.evaluate.exploitability import find_agent, nash_conv
from train.solver.exact.match import solve_match
from train.solver.exact.payoffs import State, pay_table
from train.solver.exact.rounds import capped, solve_round
from train.solver.recall.solver import RecallSolver

KEPT = Path(__file__).parents[2] / "docs" / "data" / "numbers.json"
Record = dict[str, Any]
Dice = tuple[int, int]
SPLITS: tuple[Dice, ...] = ((1, 1), (2, 1), (1, 2))


@dataclass(frozen=True)
class Item:
    """One number: its name, what it is of, and how it is measured."""

    name: str
    about: Record
    measure: Callable[[], Record]
    heavy: bool = False


def named(kind: str, v: str, dice: Dice, more: str = "") -> str:
    """An item's name, like ``round/classic/2v1``."""
    return f"{kind}/{v}/{dice[0]}v{dice[1]}" + more


def round_item(
    v: str, dice: Dice, palifico: bool = False, seconds: float = 1800, target: float = 1e-4, heavy: bool = False
) -> Item:
    """The value of a round, as a certified interval."""

    def measure() -> Record:
        s = solve_round(parse_variant(v), dice, palifico, seconds, target=target)
        return {"lower": s.lower, "upper": s.upper, "nash_conv": s.nash_conv, "iterations": s.iterations}

    return Item(
        named("round", v, dice, "/palifico" * palifico),
        {"variant": v, "dice": dice, "palifico": palifico},
        measure,
        heavy,
    )


def match_item(v: str, num_dice: int, heavy: bool = False) -> Item:
    """The value of a whole two-seat game, as a certified interval."""

    def measure() -> Record:
        s = solve_match(variant(parse_variant(v), starting_dice=num_dice), seconds=3600 if heavy else 300, target=5e-4)
        return {"lower": s.lower, "upper": s.upper, "nash_conv": s.nash_conv, "cap_may_matter": s.cap_may_matter}

    return Item(named("match", v, (num_dice, num_dice)), {"variant": v, "dice": (num_dice, num_dice)}, measure, heavy)


def agent_item(name: str, v: str, dice: Dice) -> Item:
    """The exact NashConv of an agent in a round, without bids above the dice in play."""

    def measure() -> Record:
        capped_variant = capped(parse_variant(v))
        found = nash_conv(find_agent(name, capped_variant), capped_variant, dice)
        return {
            "nash_conv": found.nash_conv,
            "gains": found.gains,
            "value": found.value,
            "num_states": found.num_states,
        }

    return Item(named("agent", v, dice, f"/{name}"), {"agent": name, "variant": v, "dice": dice}, measure)


def recall_item(v: str, dice: Dice, recall: int, iterations: int, heavy: bool = False) -> Item:
    """A recall-limited table: its exact NashConv where there is one, and its value in self-play."""

    def measure() -> Record:
        tree = PublicTree(capped(parse_variant(v)), dice)
        solver = RecallSolver(tree, pay_table(tree.variant, State(dice)), recall)
        solver.iterate(iterations)
        found: Record = {
            "value_in_self_play": solver.value(),
            "iterations": iterations,
            "num_states": solver.num_states,
            "seed": solver.seed,
        }
        if tree.num_states < 10**8:
            policy = TabularPolicy([solver.table()], tree.variant, 2)
            found["nash_conv"] = nash_conv(policy, tree.variant, dice, max_states=10**8).nash_conv
        return found

    return Item(named("recall", v, dice, f"/{recall}"), {"variant": v, "dice": dice, "recall": recall}, measure, heavy)


def items() -> list[Item]:
    """All numbers, in the order in which they are measured."""
    rounds = [round_item(v, (1, 1)) for v in (*VARIANTS, "evening:paco_open=always", "joker:pacos_wild=False")]
    # raise rule and opening on Pacos do not matter in a palifico round: one preset without Calza, one with
    rounds += [round_item(v, (1, n), palifico=True) for v in ("classic", "marquoir") for n in range(1, 6)]
    rounds += [round_item(v, dice) for v in ("classic", "box") for dice in SPLITS[1:]]
    rounds += [round_item(v, dice, target=1e-3) for v in ("classic", "box") for dice in ((2, 2), (3, 1), (1, 3))]
    rounds += [round_item(v, dice, target=1e-3) for v in VARIANTS if v not in ("classic", "box") for dice in SPLITS[1:]]
    rounds += [round_item(v, (2, 2), seconds=3600, heavy=True) for v in ("evening", "marquoir")]
    rounds.append(round_item("evening", (3, 1), seconds=3600, heavy=True))
    matches = [match_item(v, 2) for v in ("classic", "box")] + [
        match_item(v, 2, heavy=True) for v in ("evening", "pascal", "marquoir")
    ]
    limited = [recall_item("joker", (1, 1), m, 2000) for m in (2, 3, 4)]
    limited += [recall_item("joker", (2, 1), m, n, heavy=m > 2) for m, n in ((2, 2000), (3, 1000), (4, 300))]
    limited += [recall_item("evening", (2, 1), m, n, heavy=m > 2) for m, n in ((1, 3000), (2, 2000), (3, 1000))]
    limited += [recall_item("classic", (2, 2), m, n) for m, n in ((2, 1000), (3, 500))]
    limited += [recall_item(v, (3, 3), 3, 1000, heavy=True) for v in ("joker", "classic", "marquoir")]
    judged = [agent_item(name, v, dice) for v in RULE_TEXTS for dice in SPLITS for name in agents.names()]
    return rounds + matches + limited + judged


def read(path: Path = KEPT) -> dict[str, Record]:
    """The numbers that are kept, by name."""
    kept: dict[str, Record] = read_json(path) if path.exists() else {}
    if not all(isinstance(record, dict) for record in kept.values()):
        raise ValueError(f"{path} holds what is no record of a number")
    return kept


def keep(path: Path, name: str, record: Record) -> None:
    """Add a number to those kept; a kill while writing loses none."""
    kept = {**read(path), name: record}
    lines = [f"  {json.dumps(k)}: {json.dumps(kept[k])}" for k in sorted(kept)]
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def measure(item: Item) -> Record:
    """The record of an item: what it is of, what was found, the seconds it took (of the clock, of all cores), and the commit."""
    begun, used = time.monotonic(), time.process_time()
    found = item.measure()
    spent = {"seconds": round(time.monotonic() - begun, 1), "cpu_seconds": round(time.process_time() - used, 1)}
    return {**item.about, **found, **spent, "commit": provenance()["commit"]}


def enter(path: Path, name: str, lower: float, upper: float) -> None:
    """Keep the interval of a long run of ``python -m train exact``."""
    about = {i.name: i.about for i in items() if i.name.startswith("round/")}
    if name not in about or not lower <= upper:
        raise ValueError(
            f"--interval {name} {lower} {upper}: name a round of --heavy --show, then its lower and upper end"
        )
    found = {"lower": lower, "upper": upper, "nash_conv": upper - lower, "by": "python -m train exact"}
    keep(path, name, {**about[name], **found})


@dataclass(frozen=True)
class NumbersOptions:
    """Measure the numbers to cite."""

    only: str = ""
    """Items whose names contain this."""
    heavy: bool = False
    """Also what takes hours."""
    again: bool = False
    """Also what is kept."""
    show: bool = False
    """Only print the names."""
    interval: tuple[str, float, float] | None = None
    """Keep what python -m train exact printed: NAME LOWER UPPER."""
    file: Path = KEPT
    """Where the numbers are kept."""


def measure_all(missing: Sequence[Item], path: Path) -> None:
    """Measure and keep what is missing, one after the other; raises ``NotWrittenError`` before any if none could be kept."""
    check_writable(path)
    with progress("numbers", len(missing), Console(stderr=True)) as advance:
        for item in missing:
            try:
                record = measure(item)
            except ValueError as error:  # a network plays only what it was trained for
                print(f"{item.name} cannot be measured: {error}", file=sys.stderr)
            else:
                keep(path, item.name, record)
                print(item.name, json.dumps({k: x for k, x in record.items() if k not in item.about}), flush=True)
            advance(1)


def run(o: NumbersOptions) -> None:
    """What the options ask for; raises ``ValueError`` for numbers that cannot be read or kept."""
    there = read(o.file)
    if o.interval is not None:
        enter(o.file, *o.interval)
        return
    wanted = [i for i in items() if o.only in i.name and (o.heavy or not i.heavy)]
    if not wanted:
        raise ValueError(f"no item has {o.only!r} in its name; --show prints the names")
    missing = [i for i in wanted if o.again or i.name not in there]
    if o.show:
        print("\n".join(f"{i.name}{'' if i in missing else '  (kept)'}" for i in wanted))
        return
    measure_all(missing, o.file)
    print(f"{len(wanted)} numbers in {o.file}; python -m tools.readme and make docs print them")
