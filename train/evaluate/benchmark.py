"""perudo-bench v0: one card for every agent, so that results of different people compare.

    python -m train benchmark inference --quick
    python -m train benchmark my_agent:MyPolicy --out runs/bench-mine

AGENT is a name (odds, inference, ...), a checkpoint folder, or ``package.module:factory``. Measured, with fixed seeds:

* the win share of one seat against each scripted baseline in all others, in each of the five presets at 2, 3, 4 and 6
  seats, every deal played at all rotations of the seats, with 95% intervals; as *return*, 1 is winning always, 0 is fair;
* exact NashConv of rounds between two seats with 1 v 1, 2 v 1 and 1 v 2 dice, where the agent states ``probs``;
* illegal actions (each is counted, and a legal one drawn uniformly is played instead), and the time of a decision.

``evening`` has no NashConv here: its bids go above the dice in play, which gives over 10**9 information states at 1 v 1.
Results: benchmark.json and benchmark.html in the folder. The same command with --out goes on after a kill.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

import agents as registry
from perudo_env.engine.variant import RULE_TEXTS
from train.core.options import AgentOption, Smoke, Workers
from train.evaluate.benchmark_tasks import OPPONENTS, VERSION, BenchmarkPart

SEATS = (2, 3, 4, 6)
SPLITS = ((1, 1), (2, 1), (1, 2))
QUICK_ROUNDS = (("classic", (2, 1)), ("box", (2, 1)))  # besides 1 v 1 of all
UNBOUNDED = "evening"
GAMES, QUICK_GAMES, SMOKE_GAMES = 1200, 120, 6  # a cell; whole deals at every number of seats, but for the last


@dataclass(frozen=True)
class Benchmark:
    """Measure an agent by perudo-bench v0."""

    agent: tyro.conf.Positional[AgentOption]
    quick: bool = False
    """A tenth of the games and fewer rounds: under three minutes, and intervals three times as wide."""
    smoke: Smoke = False
    out: Path | None = None
    """The folder for the results; by default runs/bench-AGENT-TIME. A folder with an unfinished run is gone on with."""
    workers: Workers = 2

    @property
    def games(self) -> int:
        """Games a cell."""
        return SMOKE_GAMES if self.smoke else QUICK_GAMES if self.quick else GAMES

    @property
    def scale(self) -> str:
        """Which of the three sizes this is."""
        return "smoke" if self.smoke else "quick" if self.quick else "full"


def tasks_of(benchmark: Benchmark) -> list[BenchmarkPart]:
    """All that is measured, the longest first."""
    presets = RULE_TEXTS if not benchmark.smoke else RULE_TEXTS[:1]
    rounds = [(v, dice) for dice in reversed(SPLITS) for v in presets if v != UNBOUNDED]
    if benchmark.scale != "full":
        rounds = [
            (v, dice)
            for v, dice in rounds
            if dice == (1, 1) or (benchmark.scale == "quick" and (v, dice) in QUICK_ROUNDS)
        ]
    seats = SEATS if not benchmark.smoke else SEATS[:1]
    cells = [(v, n, b) for n in reversed(seats) for b in reversed(OPPONENTS) for v in presets]
    return [
        *(BenchmarkPart("nash_conv", v, 2, dice=dice) for v, dice in rounds),
        *(BenchmarkPart("win_share", v, n, baseline=b, games=benchmark.games) for v, n, b in cells),
        *(BenchmarkPart("latency", v, n) for v in presets[:1] for n in seats[:1]),
    ]


def check(benchmark: Benchmark) -> None:
    """Raise ``ValueError`` before any game for what cannot be measured at all."""
    if benchmark.workers < 1:
        raise ValueError(f"workers = {benchmark.workers} is not a number of processes: use 1 or 2")
    if benchmark.out is not None and benchmark.out.exists() and not benchmark.out.is_dir():
        raise ValueError(f"out = {benchmark.out} is a file: name a folder")
    reasons = []
    for variant, seats in dict.fromkeys((t.variant, t.seats) for t in tasks_of(benchmark)):
        try:
            registry.make(benchmark.agent, variant, seats)
            return
        except ValueError as error:
            reasons.append(str(error))
    raise ValueError(f"{benchmark.agent} plays none of the tables of {VERSION}: {reasons[0]}")
