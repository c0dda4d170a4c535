"""The checkpoint of a run of ppo, finished or not: what it would play now, measured and with its card.

python -m train ship runs/table-3 agents/checkpoints/table --games 4000
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from tyro.conf import Positional

from agents.learned.neural import RelativePolicy
from train.core.config import load_config
from train.core.loop import STATE, resume
from train.core.measured import Measured, measured_table
from train.evaluate.judge import judge_agent
from train.selfplay.checkpoint import write_checkpoint
from train.selfplay.options import PPOConfig, kinds_of
from train.selfplay.ppo import PPO, title_of


def ship(run: Path, to: Path, games: int, title: str) -> list[Measured]:
    """Measure the run's averaged network, the best where the run keeps that, on ``games`` games a cell and write the folder ``to``; returns what was measured.

    Raises ``ValueError`` for a folder that holds no run.
    """
    config = load_config(PPOConfig, run / "config.yaml", [f"evaluation.games={games}"])
    trainer = PPO(config)
    resume(trainer, run / STATE)
    # the seed of training is the seed of its curve as well: these games are others
    figures = judge_agent(partial(RelativePolicy, trainer.kept_weights()), config.evaluation, config.run.seed + 1)
    write_checkpoint(
        to, trainer, title or title_of(config.learn), "python -m train ppo", kinds_of(config.tables), figures, trainer.pool.hashes,
        met=config.pool.met, networks=trainer.training_arrays(),
    )  # fmt: skip
    return figures


@dataclass(frozen=True)
class ShipOptions:
    """A run, and the checkpoint that is made of it."""

    run: Positional[Path]
    """The folder of a run of ppo, finished or not."""
    to: Positional[Path]
    """The checkpoint's folder."""
    games: int = 4000
    """Games of each win share."""
    title: str = ""
    """The card's title; by default what the algorithm is called."""


def run(options: ShipOptions) -> None:
    """Measure what a run would play now, and write it as a checkpoint."""
    console = Console()
    console.print(measured_table(ship(options.run, options.to, options.games, options.title)).rich())
    console.print(f"written to {options.to}")
