"""The bench, the game's speed against its peers as ratios measured in one run: the engine in bulk, and the PettingZoo environments.

    python -m tools.bench          # a minute; the table, and runs/bench.json
    python -m tools.bench --quick  # a few seconds: shows that it runs; its ratios mean little
    python -m tools.bench --training --out runs/bench-training.json  # the trainer instead, some minutes

Both sides of a line play uniform legal actions on one core. They are timed in turn (A B A B ...) in CPU seconds, and
the medians are compared, so neither a drifting machine nor its other work decides. A line without a bar is there to be
seen: the peer in a slower form, or ourselves in one. Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import json
import os
import platform
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

import numpy as np
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
    bar: float | None  # the least ratio, or the most; None: there is none
    at_most: bool  # what the ratio says: how many times as fast we are, or with True how many times as slow
    ours_per_second: float  # median over the rounds
    peer_per_second: float
    ratio: float  # of the two medians
    lowest: float  # ratio of a single round
    highest: float
    passed: bool


@dataclass(frozen=True)
class Contest:
    """What a line compares: who plays, and the ratio that will do; see :class:`Line`."""

    what: str
    ours: str
    peer: str
    bar: float | None
    play_ours: Play
    play_peer: Play
    at_most: bool = False


# ---------------------------------------------------------------------------------------------- the players


def batch_play(games: int, *, observe: bool, variant: str = "liars_dice", seats: int = 2) -> Play:
    """The engine in bulk; as it stands in the corner that OpenSpiel knows: two seats, five dice each, one round."""
    batch = Batch(variant, seats, games, SEED)
    return lambda decisions: batch.play_random(-(-decisions // games), observe=observe)


def driven_play(games: int) -> Play:
    """The same batch driven from Python, as a learner would: masks, observations, a drawn action for each game."""
    batch, rng = Batch("liars_dice", 2, games, SEED), np.random.default_rng(SEED)
    masks, seen = batch.masks(), batch.observe()

    def play(decisions: int) -> int:
        steps = -(-decisions // games)
        for _ in range(steps):
            if (over := batch.is_over).any():
                batch.reset(over)
            batch.masks(out=masks)
            batch.observe(out=seen)
            batch.act(batch.draw(rng))
        return steps * games

    return play


def copy_play(games: int, variant: str, seats: int) -> Play:
    """No play at all: NumPy copies the observations and masks of so many games."""
    batch = Batch(variant, seats, games, SEED)
    arrays = [batch.observe(), batch.masks()]
    copies = [np.empty_like(a) for a in arrays]

    def play(decisions: int) -> int:
        steps = -(-decisions // games)
        for _ in range(steps):
            for array, room in zip(arrays, copies, strict=True):
                np.copyto(room, array)
        return steps * games

    return play


def openspiel_play(*, observe: bool, fair_dice: bool = True) -> Play:
    """A Python loop over OpenSpiel's ``liars_dice(numdice=5)``; chance nodes are not counted.

    Dice are drawn from ``legal_actions()``, by one who knows that they are fair: the fastest form. With ``fair_dice`` False
    from ``chance_outcomes()``, as in OpenSpiel's own example of play, which is half as fast.
    """
    pyspiel = _peer("pyspiel")
    game, rng = pyspiel.load_game("liars_dice(numdice=5)"), Random(SEED)
    choice, random = rng.choice, rng.random

    def play(decisions: int) -> int:
        played = 0
        while played < decisions:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    if fair_dice:
                        state.apply_action(choice(state.legal_actions()))
                    else:
                        outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                        state.apply_action(rng.choices(outcomes, chances)[0])
                    continue
                played += 1
                if observe:
                    state.information_state_tensor()
                    state.legal_actions_mask()
                legal = state.legal_actions()
                state.apply_action(legal[int(random() * len(legal))])
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
    fair, sampled = f"{spiel}, random.choice of fair dice", f"{spiel}, chance_outcomes()"
    perudo, table = "perudo_v0.{}, classic, 4 players", ("classic", 4)
    masks, both = batch_play(games, observe=False), batch_play(games, observe=True)
    peer = openspiel_play(observe=True)
    return [
        Contest("random play, masks", bulk, fair, 60.0, masks, openspiel_play(observe=False)),
        Contest("random play, masks", bulk, sampled, None, masks, openspiel_play(observe=False, fair_dice=False)),
        Contest("random play, masks and observations", bulk, fair, 40.0, both, peer),
        Contest(
            "random play, masks and observations", bulk, sampled, None, both, openspiel_play(observe=True, fair_dice=False)
        ),
        Contest("the same, driven from Python", f"{bulk}: masks, observe, draw, act", fair, None, driven_play(games), peer),
        Contest(
            "a decision with mask and observation costs", f"Batch of {games}, classic, 4 players", "copies of its bytes", 6.0,
            batch_play(games, observe=True, variant=table[0], seats=table[1]), copy_play(games, *table), at_most=True,
        ),
        Contest(
            "PettingZoo, no wrappers", perudo.format("raw_env"), "tictactoe_v3.raw_env", 2.5,
            aec_play(perudo_v0.raw_env()), aec_play(tictactoe.raw_env()),
        ),
        Contest(
            "PettingZoo, wrapped", perudo.format("env"), "tictactoe_v3.env", 2.5,
            aec_play(perudo_v0.env()), aec_play(tictactoe.env()),
        ),
    ]  # fmt: skip


def training_contests() -> list[Contest]:
    """The lines that train. The peer of the last is a limit and no system: at most twice its time."""
    from tools import bench_training as training  # PyTorch takes seconds to import

    ours = f"train.selfplay.ppo, classic, 2 players, {training.WORDS}"
    auto, peer = training.ppo_play(), training.maskable_ppo_play()
    maskable = "MaskablePPO, 8 in DummyVecEnv"
    return [
        Contest("training, end to end", f"{ours}, {training.precision_here()}", maskable, 3.0, auto, peer),
        Contest("training, end to end", f"{ours}, float32", maskable, None, training.ppo_play("float32"), peer),
        Contest(
            "training takes", f"{ours}, {training.precision_here()}", "its networks' forward and backward passes", 2.0,
            auto, training.bare_play(), at_most=True,
        ),
    ]  # fmt: skip


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
    if contest.at_most:
        rates = [rate[::-1] for rate in rates]
    above, below = (median(side) for side in zip(*rates, strict=True))
    ratio, ratios = above / below, [a / b for a, b in rates]
    ours, peer = (below, above) if contest.at_most else (above, below)
    met = contest.bar is None or (ratio <= contest.bar if contest.at_most else ratio >= contest.bar)
    return Line(
        contest.what, contest.ours, contest.peer, contest.bar, contest.at_most, ours, peer, ratio, min(ratios), max(ratios),
        passed=met,
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


def processor() -> str:
    """The name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    said = dict(
        reversed([(key.strip(), value.strip()) for key, colon, value in (x.partition(":") for x in lines) if colon])
    )
    if "model name" not in said:
        return platform.processor() or platform.machine()
    return f"{said['model name']} (family {said.get('cpu family', '?')}, model {said.get('model', '?')})"


def table(lines: Sequence[Line]) -> Table:
    """The result for people."""
    out = Table("line", title=f"Decisions per CPU second, one core of {processor()}", show_lines=True)
    for heading in ("ours", "peer", "ratio", "rounds", "bar", ""):
        out.add_column(heading, justify="right", no_wrap=True)
    for x in lines:
        out.add_row(
            f"{x.what}\n[dim]{x.ours}\n{x.peer}[/dim]", f"{x.ours_per_second:,.0f}", f"{x.peer_per_second:,.0f}",
            f"{x.ratio:.2f}x", f"{x.lowest:.1f}-{x.highest:.1f}", "" if x.bar is None else f"{'<=' if x.at_most else '>='} {x.bar:g}x",
            "" if x.bar is None else "[green]met[/green]" if x.passed else "[red]missed[/red]",
        )  # fmt: skip
    return out


def report(o: Options, lines: Sequence[Line]) -> dict[str, Any]:
    """The result for programs."""
    packages = ("numpy", "numba", "pettingzoo", "gymnasium", "open-spiel")
    return {
        "quick": o.quick,
        "seed": SEED,
        "processor": processor(),
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
