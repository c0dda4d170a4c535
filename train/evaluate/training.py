"""Training runs: a trainer that is judged while it learns, and the checkpoint it leaves; the commands ppo, sb3 and distil.

    python -m train ppo configs/duel.yaml learn.total_decisions=2000000 --out runs/duel
    python -m train sb3 configs/quickstart.yaml ppo.entropy=0.01
    python -m train distil configs/duel-distill.yaml teacher.agent=exact

A run that was killed goes on with the same command and its folder as ``--out``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from tyro.conf import Positional

import agents
from agents.learned.neural import MLPPolicy, RelativePolicy
from perudo_env.engine.variant import parse_variant
from train.core.backends import Backend, BackendError
from train.core.loop import run_command
from train.core.measured import Measured, exact, write_measured
from train.core.options import Training, Where
from train.core.sections import EvaluationSection, TableSection
from train.core.state import Arrays
from train.evaluate.divergence import divergence
from train.evaluate.judge import check_evaluation, judge_agent, judged_run
from train.selfplay import distil, options, ppo, sb3
from train.selfplay.checkpoint import write_checkpoint
from train.selfplay.options import kinds_of
from train.selfplay.pool import check_agents
from train.solver.exact.exploitability import nash_conv


@dataclass(frozen=True)
class PpoOptions(Training, Where):
    """A run of PPO, whose magnet and critic are switches; for ``--workers`` see ``play.parts``."""

    keys = options.PPOConfig

    config: Positional[Path] = Path("configs/ppo.yaml")
    """A YAML file."""


@dataclass(frozen=True)
class Sb3Options(Training):
    """A run of MaskablePPO."""

    keys = sb3.SB3Config

    config: Positional[Path] = Path("configs/quickstart.yaml")
    """A YAML file."""


@dataclass(frozen=True)
class DistilOptions(Training):
    """A run of distilling; its configuration names the teacher."""

    keys = distil.DistilConfig


def train_ppo(
    config: options.PPOConfig, folder: Path, console: Console, backend: Backend | None = None
) -> list[Measured]:
    """Train in ``folder``, going on from the state there, with rollouts on a ``backend``; returns the last evaluation."""
    check_evaluation(config.evaluation)
    if config.pool.share > 0:
        check_agents(config.pool.scripted, kinds_of(config.tables))
    trainer = ppo.PPO(config, backend)
    final = judged_run(trainer, folder, console)
    write_checkpoint(
        folder / "checkpoint", trainer, ppo.title_of(config.learn), "python -m train ppo", kinds_of(config.tables),
        final, trainer.pool.hashes, met=config.pool.met, networks=trainer.training_arrays(),
    )  # fmt: skip
    return final


def train_distil(config: distil.DistilConfig, folder: Path, console: Console) -> list[Measured]:
    """Distil in ``folder``, going on from the state there; returns the last evaluation."""
    check_evaluation(config.evaluation)
    trainer, name, evaluation = distil.Distiller(config), config.teacher.agent, config.evaluation

    def diverges(weights: Arrays) -> list[Measured]:
        found = []
        for table in evaluation.tables:
            v, seats = parse_variant(table.variant), table.seats
            teacher, student = agents.make(name, v, seats), RelativePolicy(weights, v, seats)
            apart = divergence(teacher, student, v, seats, evaluation.games, config.run.seed)
            found.append(Measured("divergence", *apart, table.name))
        return found

    final = judged_run(trainer, folder, console, diverges)
    for round_ in evaluation.rounds:  # beside the network's own, which is on the curve
        v = parse_variant(round_.variant)
        taught_by = nash_conv(agents.make(name, v, 2), v, round_.dice, endgame=round_.endgame)
        final.append(exact("teacher_nash_conv", taught_by.nash_conv, round_.name))
    title = f"A network taught by {config.teacher.agent}"
    write_checkpoint(folder / "checkpoint", trainer, title, "python -m train distil", kinds_of(config.tables), final)
    return final


def train_sb3(config: sb3.SB3Config, folder: Path, console: Console) -> list[Measured]:
    """Train in ``folder``, going on from the state there; returns the final win shares."""
    game, evaluation = config.game, config.evaluation
    variant = parse_variant(game.variant)
    check_agents(evaluation.baselines, [(variant, game.num_seats)])
    trainer = sb3.SB3(config)

    def judge(games: int, weights: Arrays, seed: int) -> list[Measured]:
        table = TableSection(variant=game.variant, seats=game.num_seats)
        asked = EvaluationSection(
            every=evaluation.every, games=games, baselines=evaluation.baselines, tables=(table,), rounds=()
        )
        return judge_agent(partial(MLPPolicy, weights), asked, seed)

    trainer.train(
        folder, lambda: judge(evaluation.games, trainer.weights(), config.run.seed), evaluation.every, console
    )
    # other games than those of the curve, which may have chosen the weights
    final = judge(evaluation.final_games, trainer.kept_weights(), config.run.seed + 1)
    write_measured(folder / "evaluation.csv", final)
    write_checkpoint(
        folder / "checkpoint", trainer, "MaskablePPO", "python -m train sb3", [(variant, game.num_seats)],
        final, trainer.pool.hashes, inputs="observation", met=config.pool.scripted,
    )  # fmt: skip
    return final


def run_ppo(command: PpoOptions) -> None:
    """Train by PPO."""

    def train_there(resolved: options.PPOConfig, folder: Path, console: Console) -> list[Measured]:
        with command.open_backend() as remote:
            # all in this process: no need for plain data in between
            direct = command.backend == "local" and command.workers == resolved.play.parts == 1
            return train_ppo(resolved, folder, console, None if direct else remote)

    try:
        run_command("ppo", options.PPOConfig, command, options.SMOKE, train_there)
    except BackendError as error:
        raise BackendError(
            f"{error}; the same command with --out and this run's folder goes on from its last save"
        ) from error


def run_distil(command: DistilOptions) -> None:
    """Teach a network what an agent knows."""
    run_command("distil", distil.DistilConfig, command, distil.SMOKE, train_distil)


def run_sb3(command: Sb3Options) -> None:
    """Train MaskablePPO by self-play."""
    run_command("sb3", sb3.SB3Config, command, sb3.SMOKE, train_sb3)
