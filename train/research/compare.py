"""Exact NashConv over decisions: every trainer, and tabular DCFR, on the same small rounds.

    python -m train compare configs/compare.yaml seeds=[1,2,3] --out runs/compare

A decision is one that a learning seat takes (ppo, nfsp), one met on a walk (deep_cfr), or an information state
touched by a walk of the whole tree (dcfr: all of both seats, twice an iteration). The same command goes on after a kill.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field
from rich.console import Console
from tyro.conf import Positional

from agents.tabular.public_tree import PublicTree
from perudo_env.engine.variant import as_variant, nearest, parse_variant
from perudo_env.game.files import check_writable
from perudo_env.policy import UniformPolicy
from train.core.config import Count, Pair, Section, Seed, VariantText, load_config
from train.core.curve import read_curve
from train.core.options import Training
from train.core.run import open_run, read_csv, write_csv, write_png
from train.core.sections import RoundSection
from train.core.table import Code, Table
from train.evaluate import training
from train.evaluate.exploitability import nash_conv
from train.research import deep_cfr, nfsp
from train.research.small_round import SmallRound
from train.selfplay import options
from train.solver.exact.payoffs import State, check_dice, pay_table
from train.solver.exact.rounds import RoundSolver

CONFIGS = Path(__file__).parents[2] / "configs"


class Config(Section):
    """All of ``configs/compare.yaml``."""

    variant: VariantText = "joker:starting_dice=2"
    """A one-round variant that seat 0 opens."""
    rounds: tuple[Pair, ...] = Field(default=((1, 1), (2, 1)), min_length=1)
    """Dice of seat 0 and seat 1."""
    seeds: tuple[Seed, ...] = Field(default=(1, 2, 3), min_length=1)
    """Each trainer runs once per seed."""
    algorithms: tuple[str, ...] = Field(default=("ppo", "ppo_last", "nfsp", "deep_cfr", "dcfr"), min_length=1)
    """Those to run."""
    decisions: Count = 300_000
    """Decisions of each trainer."""
    points: Count = 4
    """Points of each curve."""
    overrides: dict[str, tuple[str, ...]] = Field(default={})
    """Of a trainer's configuration, everywhere (nfsp: [...]) or in one round (nfsp 2v1: [...])."""
    dcfr_iterations: Count = 32
    """Iterations of the tabular reference."""
    table: str = ""
    """Where the numbers go; "": the run folder."""
    figure: str = ""
    """Where the figure goes; "": the run folder."""


SMOKE = (
    "rounds=[[1, 1]]",
    "seeds=[1]",
    "decisions=1500",
    "points=1",
    "dcfr_iterations=2",
    "overrides={}",
    "table=''",
    "figure=''",
)


@dataclass(frozen=True)
class Entrant:
    """A trainer, the configuration it begins from, and how that is told the round."""

    kind: type[Section]
    train: Callable[[Any, Path, Console], Any]
    config: str
    round: str  # overrides, one a line; {variant} and {dice} are filled in
    smoke: Sequence[str]


_TABLES = "tables=[{{variants: ['{variant}'], seats: [2], dice: {dice}}}]\nevaluation.rounds=[{{variant: '{variant}', dice: {dice}}}]"
_ROUND = "round={{variant: '{variant}', dice: {dice}}}"
ENTRANTS = {
    "ppo_last": Entrant(options.Config, training.train_ppo, "ppo_round.yaml", _TABLES, options.SMOKE),
    "ppo": Entrant(
        options.Config, training.train_ppo, "ppo_round.yaml", _TABLES + "\nlearn.magnet=none\nlearn.kl=0", options.SMOKE
    ),
    "nfsp": Entrant(nfsp.Config, nfsp.train, "nfsp.yaml", _ROUND, nfsp.SMOKE),
    "deep_cfr": Entrant(deep_cfr.Config, deep_cfr.train, "deep_cfr.yaml", _ROUND, deep_cfr.SMOKE),
}
DCFR = "dcfr"  # has no seed: it samples nothing
Point = tuple[str, str, int, int, float]  # algorithm, round, seed, decisions, NashConv


def config_of(config: Config, name: str, dice: Sequence[int], seed: int, smoke: bool) -> Section:
    """The configuration of one entrant on one round; raises ``ValueError`` where its overrides are none."""
    entrant = ENTRANTS[name]
    overrides = [
        *(entrant.smoke if smoke else ()), *entrant.round.format(variant=config.variant, dice=list(dice)).splitlines(), f"run.seed={seed}",
        f"learn.total_decisions={config.decisions}", f"evaluation.every={-(-config.decisions // config.points)}",
        *config.overrides.get(name, ()), *config.overrides.get(f"{name} {in_words(dice)}", ()),
    ]  # fmt: skip
    return load_config(entrant.kind, CONFIGS / entrant.config, overrides)


def run_entrant(
    name: str, dice: Sequence[int], seed: int, resolved: Section, folder: Path, console: Console
) -> list[Point]:
    """Train one entrant on one round, and read its curve."""
    console.print(f"{name} {in_words(dice)} seed {seed}", highlight=False)
    ENTRANTS[name].train(resolved, open_run(name, resolved, folder, resume=True), console)
    points = read_curve(folder / "curve.csv")
    return [(name, in_words(dice), seed, at, m.value) for at, m in points if m.name == "nash_conv"]


def run_dcfr(config: Config, dice: Sequence[int], console: Console) -> list[Point]:
    """The tabular reference, judged after each doubling of its iterations."""
    pair = check_dice(dice)
    tree = PublicTree(as_variant(config.variant), pair)
    solver = RoundSolver(tree, pay_table(tree.variant, State(pair, 0, False)), threads=1)
    points, check_at = [], 1
    while solver.iterations < config.dcfr_iterations:
        solver.iterate(min(check_at, config.dcfr_iterations) - solver.iterations)
        lower, upper = solver.bracket()
        # an iteration walks the whole tree for each of the two seats
        points.append((DCFR, in_words(dice), 0, 2 * tree.num_states * solver.iterations, upper - lower))
        check_at *= 2
    console.print(
        f"{DCFR} {in_words(dice)}: NashConv {points[-1][-1]:.2e} after {solver.iterations} iterations", highlight=False
    )
    return points


def in_words(dice: Sequence[int]) -> str:
    """How a round is called: 2v1."""
    return "v".join(map(str, dice))


def last_points(rows: Sequence[Point]) -> Table:
    """The last point of every curve: the mean over seeds, and the lowest and highest where they differ."""
    rounds, names = (list(dict.fromkeys(r[k] for r in rows)) for k in (1, 0))
    lines = []
    for name in names:
        cells: list[object] = [Code(name)]
        for round_ in rounds:
            # rows of one seed are in the order of their decisions, so the last of each stays
            last = {seed: (decisions, found) for n, r, seed, decisions, found in rows if (n, r) == (name, round_)}
            decisions, found = zip(*last.values(), strict=True) if last else ((), ())
            spread = f" ({min(found):.3f} to {max(found):.3f})" if len(found) > 1 else ""
            mean = f"{sum(found) / len(found):.3f}{spread}" if last else None
            cells += [mean, f"{sum(decisions) / len(last):,.0f}" if last else None]
        lines.append(cells)
    return Table(("", *(head for r in rounds for head in (f"{r}, NashConv", "decisions"))), lines)


def read_points(path: Path) -> list[Point]:
    """The points of a table that :func:`compare` wrote."""
    return [
        (r["algorithm"], r["round"], int(r["seed"]), int(r["decisions"]), float(r["nash_conv"]))
        for r in read_csv(path)[1]
    ]


def draw_comparison(path: Path, title: str, points: Sequence[Point], uniform: Mapping[str, float]) -> None:
    """NashConv over decisions, log-log, a panel per round and a line per algorithm and seed.

    ``uniform`` is the NashConv of uniform play by round.
    """
    from matplotlib.figure import Figure

    algorithms = list(dict.fromkeys(p[0] for p in points))
    figure = Figure(figsize=(5 * len(uniform), 4.2), layout="constrained")
    for axis, (round_, level) in zip(figure.subplots(1, len(uniform), squeeze=False)[0], uniform.items(), strict=True):
        axis.axhline(level, color="grey", linewidth=0.8, linestyle="--", label="uniform")
        for k, name in enumerate(algorithms):
            for seed in dict.fromkeys(p[2] for p in points if p[:2] == (name, round_)):
                line = [(p[3], p[4]) for p in points if p[:3] == (name, round_, seed)]
                label = None if axis.lines and any(x.get_label() == name for x in axis.lines) else name
                axis.plot(*zip(*line, strict=True), marker="o", markersize=3, color=f"C{k}", label=label)
        axis.set(xscale="log", yscale="log", xlabel="decisions", ylabel="exact NashConv", title=f"{title}, {round_}")
        axis.legend(fontsize=8)
    write_png(path, figure, 130)


def compare(config: Config, folder: Path, console: Console, smoke: bool) -> tuple[Path, Path]:
    """Run all, write the table and the figure; returns where they are."""
    known = [*ENTRANTS, DCFR]
    for key in (*config.algorithms, *(word.partition(" ")[0] for word in config.overrides)):
        if key not in known:
            raise ValueError(f"{key!r} is no algorithm{nearest(key, known)}: use {', '.join(known)}")
    table, figure = Path(config.table or folder / "compare.csv"), Path(config.figure or folder / "compare.png")
    for path in (table, figure):
        check_writable(path)
    for dice in config.rounds:
        SmallRound(RoundSection(variant=config.variant, dice=dice))  # refuses what cannot be judged
    runs = [(name, dice) for dice in config.rounds for name in config.algorithms]
    # all of them first: a wrong override is told now, not after hours
    resolved = {
        (name, in_words(dice), seed): config_of(config, name, dice, seed, smoke)
        for name, dice in runs
        if name != DCFR
        for seed in config.seeds
    }
    points: list[Point] = []
    for name, dice in runs:
        if name == DCFR:
            points += run_dcfr(config, dice, console)
            continue
        for seed in config.seeds:
            words = in_words(dice)
            points += run_entrant(
                name, dice, seed, resolved[name, words, seed], folder / f"{name}-{words}-{seed}", console
            )
    write_csv(
        table, ["algorithm", "round", "seed", "decisions", "nash_conv"], [[*p[:-1], f"{p[-1]:.6g}"] for p in points]
    )
    uniform = {
        in_words(d): nash_conv(UniformPolicy(), parse_variant(config.variant), d).nash_conv for d in config.rounds
    }
    draw_comparison(figure, config.variant, points, uniform)
    return table, figure


@dataclass(frozen=True)
class CompareOptions(Training):
    """A comparison."""

    config: Positional[Path] = CONFIGS / "compare.yaml"
    """A YAML file."""


def run(options: CompareOptions) -> None:
    """Compare the trainers by exact NashConv."""
    console, out = Console(), options.out or Path("runs/compare")
    resolved = load_config(Config, options.config, (*(SMOKE if options.smoke else ()), *options.overrides))
    table, figure = compare(resolved, out, console, options.smoke)
    console.print(last_points(read_points(table)).rich())
    console.print(f"{table}, {figure}; runs in {out}", highlight=False, soft_wrap=True)
