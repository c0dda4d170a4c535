"""Tables for a whole game: each round of two seats exactly where it fits, by recall-limited CFR elsewhere.

    python -m train tables --variant classic --starting-dice 3 --seconds 300 --out runs/classic-3
    python -m train tables --seats 3 --starting-dice 3 --recall 2 --iterations 1000 --workers 2 --out runs/classic-3x3

Writes a checkpoint folder: an agent for every command, and ``values.json``, what each round is worth to its seats, paid
with the chances to win the game from the rounds that may follow. Without Calza every round takes a die: rounds of fewer
dice come first, and those of equally many are solved side by side, in processes (``--workers``) or on a Ray cluster
(``--backend ray --address HOST:PORT``), to the same tables. A killed run goes on with the same command; what a lost node
was solving, Ray gives to another. Where all rounds are exact, ``train.solver.exact.match`` certifies the game's value; here
a value by recall-limited CFR is that of self-play, an estimate.

    python -m train tables --variant pascal --starting-dice 5 --alone --against inference --out runs/pascal-5

solves each round for itself, but for those that the shipped exact agent has and palifico rounds: a teacher for
``python -m train distil``.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import groupby, product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import agents as registry
from agents.search.lookahead import Ending
from agents.tabular.policy import RoundTable, load_tables, table_key
from agents.tabular.public_tree import PublicTree
from agents.tabular.suffixes import suffix_sizes
from perudo_env.engine.variant import Variant, as_variant, table_size, variant
from perudo_env.game.files import check_writable, read_json, write_text
from train.core.backends import Backend
from train.core.options import VariantOption, Where
from train.core.run import provenance
from train.solver.exact.payoffs import Outcome, State, as_opened, check_numbers, pay_tables, states_of
from train.solver.exact.rounding import LEVELS, rounded
from train.solver.exact.rounds import BYTES_PER_ENTRY, RoundSolver, capped
from train.solver.recall.solve import iterate_for, write_card
from train.solver.recall.solver import RecallSolver

_ELSEWHERE = ("out", "threads", "seconds", "backend", "workers", "address")  # options on which no table depends
FloatArray = npt.NDArray[np.float64]
Values = dict[State, list[float]]  # the chance of each seat to win the game when a round begins


@dataclass(frozen=True)
class TablesOptions(Where):
    """A game's tables; workers solve rounds side by side."""

    out: Path
    """The checkpoint's folder."""
    variant: VariantOption = "classic"
    starting_dice: int = 3
    """Of each seat."""
    seats: int = 2
    """The game's, from whose beginning rounds of fewer follow; with --alone, rounds of so many only."""
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
    least_chance: float = 0.0
    """Bids that are less likely to hold, before any die is seen, are left out by recall-limited CFR."""
    sweeps: int = 3
    """With Calza: how often all rounds are solved, each time with the values found before."""
    threads: int | None = None
    """Of each round; by default one per core, or one where there are several workers."""
    alone: bool = False
    """Each round is paid for itself, and those of the exact agent are left out."""
    against: str = ""
    """By recall-limited CFR: an agent who sits in all other seats in a share of the rounds."""
    share: float = 0.2
    """Of those rounds."""


@dataclass(frozen=True)
class Solved:
    """What is known of one round."""

    method: str  # "exact", or "recall M"
    values: list[float]  # to each seat, the opener first; its worst and best outcome being paid -1 and +1, if not alone
    lower: float | None  # the certified interval of an exact round
    upper: float | None
    num_states: int
    iterations: int
    seconds: float


def name_of(s: State) -> str:
    """The name of a round's table."""
    return "v".join(map(str, s.dice)) + "-palifico" * s.palifico


def solve(task: tuple[State, FloatArray], o: TablesOptions, v: Variant) -> tuple[RoundTable, Solved]:
    """Solve one round, paid by a table as of ``pay_tables``."""
    (s, pay), start = task, time.monotonic()
    threads = 1 if o.threads is None and (o.workers > 1 or o.address) else o.threads
    if len(s.dice) == 2:
        tree = PublicTree(v, s.dice, s.palifico)
        if sum(tree.num_entries) * BYTES_PER_ENTRY <= o.exact_gib * 2**30:
            exact = RoundSolver(tree, pay[:, :, 0], threads)
            lower, upper = exact.run(o.seconds, o.target)
            value, spent = (lower + upper) / 2, time.monotonic() - start
            found = Solved("exact", [value, -value], lower, upper, tree.num_states, exact.iterations, spent)
            return rounded(RoundTable(tree, exact.sums, (lower, upper)), LEVELS), found
    tree = PublicTree(v, s.dice, s.palifico, least_chance=o.least_chance)
    against = registry.make(o.against, v, len(s.dice)) if o.against else None
    limited = RecallSolver(tree, pay, recall_of(o, tree), threads, against=against, share=o.share)
    if o.iterations is None:
        iterate_for(limited, o.seconds)
    else:
        limited.iterate(o.iterations)
    values, spent = limited.values().tolist(), time.monotonic() - start
    found = Solved(f"recall {limited.recall}", values, None, None, limited.num_states, limited.iterations, spent)
    return rounded(limited.table(), 255), found


def recall_of(o: TablesOptions, tree: PublicTree) -> int:
    """How many bids are remembered in a round: ``o.recall``, or as many more as ``o.max_states`` allows."""
    recall = o.recall
    while recall < tree.graph.quantity.max():
        states = suffix_sizes(tree.graph, recall + 1).states
        if sum(n * hands for n, hands in zip(states, tree.num_hands, strict=True)) > o.max_states:
            break
        recall += 1
    return recall


def chances_after(values: Values) -> Callable[[Outcome], list[float]]:
    """Each seat's chance to win the game after an outcome, ``values`` being those at the beginning of each round."""

    def chances(outcome: Outcome) -> list[float]:
        n = len(outcome.game_returns)
        if outcome.next is None:  # the winner has 1, the others -1 / (n - 1)
            return [(paid * (n - 1) + 1) / n for paid in outcome.game_returns]
        after = dict(zip(outcome.next.places(), values[as_opened(outcome.next)], strict=True))
        return [after.get(seat, 0.0) for seat in range(n)]

    return chances


def scaled(pay: FloatArray, calza: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Each seat's payoffs with -1 for its worst and +1 for its best, and the middle and half of its range.

    That changes no best response; of two seats without Calza only winning and losing are left.
    """
    known = pay if calza else pay[:, : Ending.CALZA_WRONG]
    worst, best = known.min(axis=(0, 1)), known.max(axis=(0, 1))
    middle, half = (worst + best) / 2, (best - worst) / 2
    return (pay - middle) / np.where(half > 0, half, 1), middle, half


def _are_solved(rounds: Any) -> bool:
    numbers = ("lower", "upper", "num_states", "seconds")
    return isinstance(rounds, dict) and all(
        isinstance(r, dict)
        and {"method", "values", *numbers} <= r.keys()
        and isinstance(r["values"], list)
        and all(isinstance(value, float) for value in r["values"])
        and all(isinstance(r[n], int | float) or (r[n] is None and n in ("lower", "upper")) for n in numbers)
        for r in rounds.values()
    )


class Folder:
    """The checkpoint in the making: tables, and what is known of each, by sweep and name."""

    def __init__(self, o: TablesOptions) -> None:
        self.path, self.file = o.out, o.out / "values.json"
        check_writable(self.file)
        self.known: dict[str, dict[str, Any]] = {}
        what = {k: x for k, x in asdict(o).items() if k not in _ELSEWHERE}
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
    table_size(o.seats)
    if not o.alone and v.calza != "off" and v.palifico == "once":
        raise ValueError(
            f"{v}: a round with Calza is worth another table for each seat that may still have its palifico"
        )
    folder = Folder(o)
    with o.open_backend() as backend:
        if o.alone:
            solve_alone(o, v, folder, backend)
        else:
            solve_game(o, v, folder, backend)
    alone = {"exact": True} if o.alone else {}
    what = f"{v}, rounds of {o.seats} seats from {o.starting_dice} dice"
    write_card(o.out, {"kind": "recall", "fallback": "inference", "what": what, **alone, **provenance()})
    return folder.all


def solve_side_by_side(
    o: TablesOptions, v: Variant, folder: Folder, backend: Backend, rounds: dict[str, tuple[State, FloatArray]]
) -> None:
    """Solve those of some rounds, by their names, that are not yet known, and keep each as soon as it is solved."""
    keys = [key for key in rounds if key not in folder.known]
    for number, (table, found), worker in backend.run(solve, [rounds[key] for key in keys], (o, v)):
        key = keys[number]
        folder.add(key, name_of(rounds[key][0]), table, found)
        print(f"{key}: {found.method}, {found.iterations} iterations, {found.seconds:.1f} s, {worker}", file=sys.stderr)


def solve_game(o: TablesOptions, v: Variant, folder: Folder, backend: Backend) -> None:
    """Solve all rounds that a game comes to, paid by the chances to win it; fewer dice first."""
    states, calza = states_of(v, o.starting_dice, o.seats), v.calza != "off"
    values: Values = {s: [1 / len(s.dice)] * len(s.dice) for s in states}
    for sweep in range(o.sweeps if calza else 1):
        for _, group in groupby(states, key=lambda s: sum(s.dice)):
            rounds, ranges = {}, {}
            for s in group:
                key = f"sweep {sweep}: {name_of(s)}" if calza else name_of(s)
                pay, *ranges[key] = scaled(pay_tables(v, s, chances_after(values)), calza)
                rounds[key] = s, pay
            solve_side_by_side(o, v, folder, backend, rounds)
            for key, (s, _) in rounds.items():
                middle, half = ranges[key]
                values[s] = (middle + half * folder.known[key]["values"]).tolist()
    n, first = o.seats, states[-1]
    folder.all["game"] = {
        "value": (values[first][0] * n - 1) / (n - 1),
        "chances": {f"{name_of(s)}, palifico spent {s.spent}": values[s] for s in states},
        **provenance(),
    }
    folder.write()


def solve_alone(o: TablesOptions, v: Variant, folder: Folder, backend: Backend) -> None:
    """Solve each round of all seats for itself, small ones first."""
    shipped = {table.key for table in load_tables(variant=v)}
    splits = product(range(1, o.starting_dice + 1), repeat=o.seats)
    rounds = [State(dice) for dice in sorted(splits, key=sum) if table_key(PublicTree(v, dice)) not in shipped]
    solve_side_by_side(o, v, folder, backend, {name_of(s): (s, pay_tables(v, s)) for s in rounds})


def run(options: TablesOptions) -> None:
    """Solve, and print what each round is worth."""
    found = solve_all(options)
    for name, r in found["rounds"].items():
        bracket = f" in [{r['lower']:+.4f}, {r['upper']:+.4f}]" if r["lower"] is not None else ", self-play"
        values = " ".join(f"{value:+.4f}" for value in r["values"])
        print(
            f"{name:24s} {r['method']:10s} values {values}{bracket}, {r['num_states']:,} information states, {r['seconds']:.0f} s"
        )
    if not options.alone:
        print(f"the game is worth {found['game']['value']:+.4f} to the seat that opens it")
    print(f"the agent is in {options.out}")
