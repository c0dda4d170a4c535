"""How fast the game is against its peers, as ratios measured in one run: the engine in bulk, and the PettingZoo environments.

    python -m tools.bench          # a minute; the table, and runs/bench.json
    python -m tools.bench --quick  # a few seconds: shows that it runs; its ratios mean little
    python -m tools.bench --training --out runs/bench-training.json  # the trainer instead, some minutes

Both sides of a line play uniform legal actions on one core. They are timed in turn (A B A B ...) in CPU seconds, and
the medians are compared, so neither a drifting machine nor its other work decides. Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import tyro
from rich.console import Console
from rich.table import Table

from perudo_env import Batch, perudo_v0
from perudo_env.game.files import check_writable, write_text
from perudo_env.game.printing import printing
from train.core.progress import progress

SEED = 1
Play = Callable[[int], int]
"""Plays at least so many decisions and returns how many they were."""


class MissingPeer(ImportError):
    """A system to compare with is not installed."""


@dataclass(frozen=True)
class Options:
    """What to measure for how long, and where to write it."""

    rounds: int = 7  # how often each side of a line is timed
    seconds: float = 0.5  # CPU seconds of each timing, about
    games: int = 512  # games side by side in a batch
    training: bool = False  # the lines that train, instead of those that play
    quick: bool = False  # 5 short rounds: a smoke test, which no bar fails
    out: Path = Path("runs/bench.json")  # where the result goes


@dataclass(frozen=True)
class Line:
    """One comparison; rates are decisions per CPU second."""

    what: str
    ours: str
    peer: str
    bar: float  # the least ratio
    ours_per_second: float  # median over the rounds
    peer_per_second: float
    ratio: float  # of the two medians
    lowest: float  # ratio of a single round
    highest: float
    passed: bool


@dataclass(frozen=True)
class Contest:
    """What a line compares: who plays, and the least ratio that will do."""

    what: str
    ours: str
    peer: str
    bar: float
    play_ours: Play
    play_peer: Play


# ---------------------------------------------------------------------------------------------- the players


def batch_play(games: int, *, observe: bool) -> Play:
    """The engine in bulk, in the corner that OpenSpiel knows: two seats, five dice each, one round."""
    batch = Batch("liars_dice", 2, games, SEED)
    return lambda decisions: batch.play_random(-(-decisions // games), observe=observe)


def openspiel_play(*, observe: bool) -> Play:
    """A Python loop over OpenSpiel's ``liars_dice(numdice=5)``, as in OpenSpiel's own example of play.

    Chance nodes are sampled from ``chance_outcomes()`` and not counted. Where one knows that a die is fair, drawing from
    ``legal_actions()`` instead makes this loop about twice as fast; with NumPy's choice it is four times slower.
    """
    pyspiel = _peer("pyspiel")
    game, rng = pyspiel.load_game("liars_dice(numdice=5)"), Random(SEED)

    def play(decisions: int) -> int:
        played = 0
        while played < decisions:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(rng.choices(outcomes, chances)[0])
                    continue
                played += 1
                if observe:
                    state.information_state_tensor()
                    state.legal_actions_mask()
                legal = state.legal_actions()
                state.apply_action(legal[int(rng.random() * len(legal))])
        return played

    return play


def aec_play(env: Any) -> Play:
    """The PettingZoo loop over an AEC environment; the steps of agents that are out are not counted."""
    random = Random(SEED).random

    def play(decisions: int) -> int:
        played = 0
        while played < decisions:
            env.reset()
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                else:
                    legal = observation["action_mask"].nonzero()[0]
                    env.step(int(legal[int(random() * len(legal))]))
                    played += 1
        return played

    return play


def _peer(name: str) -> Any:
    """A module of a system to compare with; raises ``MissingPeer``, naming the extra that brings it."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        with warnings.catch_warnings():
            # PettingZoo 1.27 would have its environments made through its registry
            warnings.filterwarnings("ignore", "The old environment creation API", DeprecationWarning)
            return import_module(name)
    except ImportError as error:
        raise MissingPeer(f"{name} is missing ({error}): pip install -e '.[bench]'") from error


def contests(games: int) -> list[Contest]:
    """The lines of the bench; raises ``MissingPeer``."""
    tictactoe = _peer("pettingzoo.classic.tictactoe_v3")
    spiel, bulk = "OpenSpiel liars_dice(numdice=5)", f"Batch of {games}, liars_dice"
    perudo = "perudo_v0.{}, classic, 4 players"
    return [
        Contest("random play, masks", bulk, spiel, 50.0, batch_play(games, observe=False), openspiel_play(observe=False)),
        Contest(
            "random play, masks and observations", bulk, spiel, 20.0,
            batch_play(games, observe=True), openspiel_play(observe=True),
        ),
        Contest(
            "PettingZoo, no wrappers", perudo.format("raw_env"), "tictactoe_v3.raw_env", 1.5,
            aec_play(perudo_v0.raw_env()), aec_play(tictactoe.raw_env()),
        ),
        Contest(
            "PettingZoo, wrapped", perudo.format("env"), "tictactoe_v3.env", 1.5,
            aec_play(perudo_v0.env()), aec_play(tictactoe.env()),
        ),
    ]  # fmt: skip


def training_contests() -> list[Contest]:
    """The lines that train. The peer of the second is a limit and no system: at most twice its time is half its rate."""
    from tools import bench_training as training  # PyTorch takes seconds to import

    ours = f"train.selfplay.ppo, classic, 2 players, {training.WORDS}"
    return [
        Contest(
            "training, end to end",
            ours,
            "MaskablePPO, 8 in DummyVecEnv",
            5.0,
            training.mmd_play(),
            training.maskable_ppo_play(),
        ),
        Contest(
            "training, beside its networks alone",
            ours,
            "forward and backward passes",
            0.5,
            training.mmd_play(),
            training.bare_play(),
        ),
    ]


# ---------------------------------------------------------------------------------------------- the clock


def timed(play: Play, decisions: int) -> float:
    """Decisions per CPU second of one timing."""
    begun = time.process_time()
    played = play(decisions)
    return played / (time.process_time() - begun)


def enough(play: Play, seconds: float) -> int:
    """How many decisions take about so many CPU seconds; also warms up."""
    play(1)
    decisions, rate = 256, timed(play, 256)
    while decisions < rate * seconds / 4:
        decisions *= 4
        rate = timed(play, decisions)
    return max(1, int(rate * seconds))


def measure(contest: Contest, rounds: int, seconds: float) -> Line:
    """Time both sides in turn, ``rounds`` times each."""
    sides = [(play, enough(play, seconds)) for play in (contest.play_ours, contest.play_peer)]
    rates = [[timed(play, decisions) for play, decisions in sides] for _ in range(rounds)]
    ours, peer = (median(side) for side in zip(*rates, strict=True))
    ratios = [a / b for a, b in rates]
    return Line(
        contest.what, contest.ours, contest.peer, contest.bar, ours, peer, ours / peer, min(ratios), max(ratios),
        passed=ours / peer >= contest.bar,
    )  # fmt: skip


def run(o: Options, console: Console) -> list[Line]:
    """Measure every line; raises ``MissingPeer`` before anything is measured."""
    if o.rounds < 5 or o.seconds <= 0 or o.games < 1:
        raise ValueError(
            f"rounds = {o.rounds}, seconds = {o.seconds}, games = {o.games}: use 5 rounds or more, and positive numbers"
        )
    lines = training_contests() if o.training else contests(o.games)
    return list(_measured(lines, *((5, 0.01) if o.quick else (o.rounds, o.seconds)), console))


def _measured(all_contests: Sequence[Contest], rounds: int, seconds: float, console: Console) -> Iterator[Line]:
    with progress("lines of the bench", len(all_contests), console) as advance:
        for contest in all_contests:
            yield measure(contest, rounds, seconds)
            advance(1)


# ---------------------------------------------------------------------------------------------- the report


def table(lines: Sequence[Line]) -> Table:
    """The result for people."""
    out = Table("line", title="Decisions per CPU second, one core", show_lines=True)
    for heading in ("ours", "peer", "ratio", "rounds", "bar", ""):
        out.add_column(heading, justify="right", no_wrap=True)
    for x in lines:
        out.add_row(
            f"{x.what}\n[dim]{x.ours}\n{x.peer}[/dim]", f"{x.ours_per_second:,.0f}", f"{x.peer_per_second:,.0f}",
            f"{x.ratio:.2f}x", f"{x.lowest:.1f}-{x.highest:.1f}", f"{x.bar:g}x",
            "[green]met[/green]" if x.passed else "[red]missed[/red]",
        )  # fmt: skip
    return out


def report(o: Options, lines: Sequence[Line]) -> dict[str, Any]:
    """The result for programs."""
    packages = ("numpy", "numba", "pettingzoo", "gymnasium", "open-spiel")
    return {
        "quick": o.quick,
        "seed": SEED,
        "versions": {"python": sys.version.split()[0]} | {p: version(p) for p in packages},
        "lines": [asdict(line) for line in lines],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    o = tyro.cli(Options, args=arguments, prog="python -m tools.bench", description=__doc__)
    console = Console()
    try:
        check_writable(o.out)
        lines = run(o, console)
        console.print(table(lines))
        write_text(o.out, json.dumps(report(o, lines), indent=2) + "\n")
    except (MissingPeer, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    console.print(f"written to {o.out}", highlight=False)
    return 0 if o.quick or all(line.passed for line in lines) else 1


if __name__ == "__main__":
    with printing():
        sys.exit(main())
