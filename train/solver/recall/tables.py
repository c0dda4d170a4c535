"""Tables for a whole two-seat game: each round exactly where it fits, by recall-limited CFR elsewhere.

    python -m train tables --variant classic --starting-dice 3 --seconds 300 --out runs/classic-3

Writes a checkpoint folder: an agent for every command, and ``values.json``, the value of each round to its opener, paid
with the values of the rounds that may follow. A killed run goes on with the same command. Where all rounds are exact,
``train.solver.exact.match`` certifies the game's value; here a value by recall-limited CFR is that of self-play, an estimate.

    python -m train tables --variant pascal --starting-dice 5 --alone --against inference --out runs/pascal-5

solves each round for itself, but for those that the shipped exact agent has and palifico rounds: a teacher for
``python -m train distil``.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import agents as registry
from agents.tabular.policy import RoundTable, load_tables, table_key
from agents.tabular.public_tree import PublicTree
from agents.tabular.suffixes import suffix_sizes
from perudo_env.engine.variant import Variant, as_variant, variant
from perudo_env.game.files import check_writable, read_json, write_text
from train.core.options import VariantOption
from train.core.run import provenance
from train.solver.exact.match import Values, worth
from train.solver.exact.payoffs import State, check_numbers, pay_table, states_of
from train.solver.exact.rounding import LEVELS, rounded
from train.solver.exact.rounds import BYTES_PER_ENTRY, RoundSolver, capped, print_report
from train.solver.recall.solver import RecallSolver, iterate_for, write_card


@dataclass(frozen=True)
class TablesOptions:
    """A game's tables."""

    out: Path
    """The checkpoint's folder."""
    variant: VariantOption = "classic"
    starting_dice: int = 3
    """Of each seat."""
    seconds: float = 300
    """For each round, at most where it is solved exactly."""
    target: float = 1e-3
    """NashConv at which an exact round is good enough."""
    exact_gib: float = 0.5
    """A round whose exact tables need no more is solved exactly."""
    recall: int = 3
    """How many bids are remembered elsewhere."""
    max_states: int = 0
    """More bids are remembered while a round has no more information states than this."""
    iterations: int | None = None
    """Elsewhere, instead of so many seconds."""
    sweeps: int = 3
    """With Calza: how often all rounds are solved, each time with the values found before."""
    threads: int | None = None
    """By default one per core."""
    alone: bool = False
    """Each round is paid for itself, and those of the exact agent are left out."""
    against: str = ""
    """By recall-limited CFR: an agent who sits in the other seat in a share of the rounds."""
    share: float = 0.2
    """Of those rounds."""


@dataclass(frozen=True)
class Solved:
    """What is known of one round."""

    method: str  # "exact", or "recall M"
    value: float  # to the opener, as paid
    lower: float | None  # the certified interval of an exact round
    upper: float | None
    num_states: int
    iterations: int
    seconds: float


def name_of(s: State) -> str:
    """The name of a round's table."""
    return f"{s.dice[0]}v{s.dice[1]}" + "-palifico" * s.palifico


def solve(o: TablesOptions, v: Variant, s: State, pay: npt.NDArray[np.float64]) -> tuple[RoundTable, Solved]:
    """Solve one round paid by ``pay``."""
    tree, start = PublicTree(v, s.dice, s.palifico), time.monotonic()
    if sum(tree.num_entries) * BYTES_PER_ENTRY <= o.exact_gib * 2**30:
        exact = RoundSolver(tree, pay, o.threads)
        lower, upper = exact.run(o.seconds, o.target, print_report)
        found = Solved(
            "exact", (lower + upper) / 2, lower, upper, tree.num_states, exact.iterations, time.monotonic() - start
        )
        return rounded(RoundTable(tree, exact.sums, (lower, upper)), LEVELS), found
    against = registry.make(o.against, v, 2) if o.against else None
    limited = RecallSolver(tree, pay, recall_of(o, tree), o.threads, against=against, share=o.share)
    if o.iterations is None:
        iterate_for(limited, o.seconds)
    else:
        limited.iterate(o.iterations)
    value, seconds = limited.value(), time.monotonic() - start
    return rounded(limited.table(), 255), Solved(
        f"recall {limited.recall}", value, None, None, limited.num_states, limited.iterations, seconds
    )


def recall_of(o: TablesOptions, tree: PublicTree) -> int:
    """How many bids are remembered in a round: ``o.recall``, or as many more as ``o.max_states`` allows."""
    recall = o.recall
    while recall < tree.graph.quantity.max():
        states = suffix_sizes(tree.graph, recall + 1).states
        if sum(n * hands for n, hands in zip(states, tree.num_hands, strict=True)) > o.max_states:
            break
        recall += 1
    return recall


def plain_pay(v: Variant, s: State) -> npt.NDArray[np.float64]:
    """The pay of the round alone."""
    return pay_table(v, State(s.dice, 0, s.palifico))


def chained(plain: float, pay: npt.NDArray[np.float64]) -> float:
    """The value of a round of two outcomes, paid by ``pay``, from its value where they are worth +1 and -1.

    Raises ``ValueError`` if losing the round is worth more than winning it: then its table would not hold.
    """
    lost, won = pay[0, 0], pay[0, 1]
    if won < lost:
        raise ValueError(
            f"winning a round is worth {won:.4f} and losing it {lost:.4f}: its table does not hold in this game"
        )
    return float((won + lost) / 2 + plain * (won - lost) / 2)


def _are_solved(rounds: Any) -> bool:
    numbers = ("value", "lower", "upper", "num_states", "seconds")
    return isinstance(rounds, dict) and all(
        isinstance(r, dict)
        and {"method", *numbers} <= r.keys()
        and all(isinstance(r[n], int | float) or (r[n] is None and n in ("lower", "upper")) for n in numbers)
        for r in rounds.values()
    )


class Folder:
    """The checkpoint in the making: tables, and what is known of each, by sweep and name."""

    def __init__(self, o: TablesOptions) -> None:
        self.path, self.file = o.out, o.out / "values.json"
        check_writable(self.file)
        self.known: dict[str, dict[str, Any]] = {}
        what = {k: x for k, x in asdict(o).items() if k not in ("out", "threads", "seconds")}
        self.all: dict[str, Any] = {"options": what, "rounds": self.known}
        if self.file.exists():
            self.all = self._read()
            if self.all["options"] != what:
                raise ValueError(f"{self.file} is of {self.all['options']}, not of {what}: name another folder")
            self.known = self.all["rounds"]

    def _read(self) -> dict[str, Any]:
        try:
            found = read_json(self.file)
        except ValueError as error:
            raise ValueError(f"{error}: name another folder") from error
        if not {"options", "rounds"} <= found.keys() or not _are_solved(found["rounds"]):
            raise ValueError(f"{self.file} is none of this command's: name another folder")
        return found

    def add(self, key: str, name: str, table: RoundTable, found: Solved) -> None:
        """Keep a table and what is known of it."""
        table.save(self.path / f"{name}.npz")
        self.known[key] = asdict(found)
        self.write()

    def write(self) -> None:
        """Write ``values.json``, whole or not at all."""
        write_text(self.file, json.dumps(self.all, indent=2) + "\n")


def solve_all(o: TablesOptions) -> dict[str, Any]:
    """Solve all rounds; returns what ``values.json`` holds."""
    v = capped(variant(as_variant(o.variant), starting_dice=o.starting_dice))
    check_numbers(seconds=o.seconds, target=o.target, exact_gib=o.exact_gib)
    check_numbers(1, recall=o.recall, sweeps=o.sweeps, iterations=1 if o.iterations is None else o.iterations)
    if o.alone:
        return run_alone(o, v)
    if v.calza != "off" and v.palifico == "once":
        raise ValueError(
            f"{v}: a round with Calza is worth another table for each seat that may still have its palifico"
        )
    states, folder = states_of(v, o.starting_dice), Folder(o)
    values: Values = dict.fromkeys(states, 0.0)
    calza = v.calza != "off"
    for sweep in range(o.sweeps if calza else 1):
        for s in states:
            pay, name = pay_table(v, s, worth(values)), name_of(s)
            key = f"sweep {sweep}: {name}" if calza else name
            if key not in folder.known:
                print(key, file=sys.stderr)
                folder.add(key, name, *solve(o, v, s, pay if calza else plain_pay(v, s)))
            value = folder.known[key]["value"]
            values[s] = value if calza else chained(value, pay)
    first = State((o.starting_dice,) * 2)
    folder.all["game"] = {
        "value": values[first], "values": {f"{name_of(s)}, palifico spent {s.spent}": values[s] for s in states}, **provenance()
    }  # fmt: skip
    folder.write()
    write_card(
        o.out, {"kind": "recall", "fallback": "inference", "what": f"{v}, all rounds from {o.starting_dice} dice"}
    )
    return folder.all


def run_alone(o: TablesOptions, v: Variant) -> dict[str, Any]:
    """Solve each round for itself, small ones first; returns what ``values.json`` holds."""
    folder, shipped = Folder(o), {table.key for table in load_tables(variant=v)}
    splits = product(range(1, o.starting_dice + 1), repeat=2)
    for s in (State((first, second)) for first, second in sorted(splits, key=sum)):
        if name_of(s) not in folder.known and table_key(PublicTree(v, s.dice)) not in shipped:
            print(name_of(s), file=sys.stderr)
            folder.add(name_of(s), name_of(s), *solve(o, v, s, plain_pay(v, s)))
    write_card(
        o.out,
        {
            "kind": "recall",
            "fallback": "inference",
            "exact": True,
            "what": f"{v}, rounds from {o.starting_dice} dice",
            **provenance(),
        },
    )
    return folder.all


def run(options: TablesOptions) -> None:
    """Solve, and print what each round is worth."""
    found = solve_all(options)
    for name, r in found["rounds"].items():
        bracket = f" in [{r['lower']:+.4f}, {r['upper']:+.4f}]" if r["lower"] is not None else ", self-play"
        print(
            f"{name:24s} {r['method']:10s} value {r['value']:+.4f}{bracket}, {r['num_states']:,} information states, {r['seconds']:.0f} s"
        )
    if not options.alone:
        print(f"the game is worth {found['game']['value']:+.4f} to the seat that opens it")
    print(f"the agent is in {options.out}")
