"""Turn a run of ``train.selfplay.ppo``, finished or not, into a checkpoint: what it would play now, measured and with its card.

python -m train.selfplay.ship runs/table-3 agents/checkpoints/table --games 4000
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from agents.learned.neural import RelativePolicy
from perudo_env.game.printing import printing
from train.core.config import load_config
from train.core.loop import STATE, print_figures, resume
from train.evaluate.curve import judge_agent
from train.selfplay.checkpoint import write_checkpoint
from train.selfplay.options import Config, kinds_of
from train.selfplay.ppo import PPO


def ship(run: Path, to: Path, games: int, title: str) -> dict[str, float]:
    """Measure the run's averaged network on ``games`` games a cell and write the folder ``to``; returns the figures.

    Raises ``ValueError`` for a folder that holds no run.
    """
    config = load_config(Config, run / "config.yaml", [f"evaluation.games={games}"])
    trainer = PPO(config)
    resume(trainer, run / STATE)
    # the seed of training is the seed of its curve as well: these games are others
    figures = judge_agent(lambda: RelativePolicy(trainer.weights()), config.evaluation, config.run.seed + 1)
    write_checkpoint(
        to, trainer, title, "python -m train ppo", kinds_of(config.tables), figures, trainer.pool.hashes,
        networks=trainer.training_arrays(),
    )  # fmt: skip
    return figures


def main(
    run: tyro.conf.Positional[Path],
    to: tyro.conf.Positional[Path],
    games: Annotated[int, tyro.conf.arg(help="games of each win share")] = 4000,
    title: Annotated[str, tyro.conf.arg(help="the card's title")] = "PPO and magnetic mirror descent",
) -> int:
    """Measure what a run would play now, and write it as a checkpoint."""
    console = Console()
    try:
        figures = ship(run, to, games, title)
    except (ValueError, OSError) as error:
        print(f"ship: {error}", file=sys.stderr)
        return 2
    print_figures(console, figures)
    console.print(f"written to {to}")
    return 0


if __name__ == "__main__":
    with printing():
        sys.exit(tyro.cli(main, prog="python -m train.selfplay.ship"))
