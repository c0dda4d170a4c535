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

from agents.learned.neural import MLPPolicy, RelativePolicy
from perudo_env.engine.variant import parse_variant
from train.core.backends import Backend, BackendError
from train.core.loop import Figures, Loop, Trainer, run_command
from train.core.options import Training, Where
from train.core.run import write_csv
from train.core.sections import EvaluationSection, TableSection
from train.core.state import load_module, under_prefix
from train.evaluate.curve import check_evaluation, judge_agent
from train.selfplay import distil, options, ppo, sb3
from train.selfplay.checkpoint import starting_networks, write_checkpoint
from train.selfplay.options import kinds_of
from train.selfplay.pool import check_agents


@dataclass(frozen=True)
class PpoOptions(Training, Where):
    """A run of PPO or magnetic mirror descent; for ``--workers`` see ``play.parts``."""

    config: Positional[Path] = Path("configs/mmd.yaml")
    """A YAML file."""


@dataclass(frozen=True)
class Sb3Options(Training):
    """A run of MaskablePPO."""

    config: Positional[Path] = Path("configs/quickstart.yaml")
    """A YAML file."""


@dataclass(frozen=True)
class DistilOptions(Training):
    """A run of distilling; its configuration names the teacher."""


def train_ppo(config: options.Config, folder: Path, console: Console, backend: Backend | None = None) -> Figures:
    """Train in ``folder``, going on from the state there, with rollouts on a ``backend``; returns the last evaluation."""
    check_evaluation(config.evaluation)
    if config.pool.share > 0:
        check_agents(config.pool.scripted, kinds_of(config.tables))
    trainer = ppo.MMD(config, backend)
    if config.run.start_from:
        trainer.start_from(starting_networks(Path(config.run.start_from)))
    final = judged_run(trainer, config, folder, console)
    write_checkpoint(
        folder / "checkpoint", "PPO and magnetic mirror descent", kinds_of(config.tables), trainer.weights(),
        "python -m train ppo", config.run.seed, trainer.decisions, final, trainer.pool.hashes, networks=trainer.networks(),
    )  # fmt: skip
    return final


def train_distil(config: distil.Config, folder: Path, console: Console) -> Figures:
    """Distil in ``folder``, going on from the state there; returns the last evaluation."""
    check_evaluation(config.evaluation)
    trainer = distil.Distiller(config)
    if config.run.start_from:
        load_module(trainer.student, under_prefix("average", starting_networks(Path(config.run.start_from))))
    final = judged_run(trainer, config, folder, console)
    write_checkpoint(
        folder / "checkpoint", f"A network taught by {config.teacher.agent}", kinds_of(config.tables), trainer.weights(),
        "python -m train distil", config.run.seed, trainer.decisions, final,
    )  # fmt: skip
    return final


def judged_run(trainer: Trainer, config: options.Config | distil.Config, folder: Path, console: Console) -> Figures:
    """Run a trainer of a network for every table to its end, the average judged on the way; returns the last evaluation."""

    def judge() -> Figures:
        return judge_agent(partial(RelativePolicy, trainer.weights()), config.evaluation, config.run.seed)

    total, every = config.learn.total_decisions, config.evaluation.every
    return Loop(trainer, folder, total, judge, every, config.run.save_every, console).run()


def train_sb3(config: sb3.Quickstart, folder: Path, console: Console) -> Figures:
    """Train in ``folder``, going on from the state there; returns the final win shares."""
    game, evaluation, seed = config.game, config.evaluation, config.run.seed
    variant = parse_variant(game.variant)
    check_agents(evaluation.baselines, [(variant, game.num_seats)])
    trainer = sb3.SB3(config)

    def judge(games: int) -> Figures:
        table = TableSection(variant=game.variant, seats=game.num_seats)
        asked = EvaluationSection(
            every=evaluation.every, games=games, baselines=evaluation.baselines, tables=(table,), rounds=()
        )
        return judge_agent(partial(MLPPolicy, trainer.weights()), asked, seed)

    total, every = config.ppo.total_decisions, evaluation.every
    Loop(trainer, folder, total, lambda: judge(evaluation.games), every, config.run.save_every, console).run()
    final = judge(evaluation.final_games)
    shares = {name.partition("/")[2]: name for name in final if name.count("/") == 1}
    write_csv(
        folder / "evaluation.csv",
        ["against", "win_share", "low", "high"],
        [[against, *(final[f"{name}{end}"] for end in ("", "/low", "/high"))] for against, name in shares.items()],
    )
    write_checkpoint(
        folder / "checkpoint", "MaskablePPO", [(variant, game.num_seats)], trainer.weights(), "python -m train sb3", seed,
        trainer.decisions, final, trainer.pool.hashes, inputs="observation",
    )  # fmt: skip
    return final


def run_ppo(command: PpoOptions) -> None:
    """Train by PPO or magnetic mirror descent."""

    def train_there(resolved: options.Config, folder: Path, console: Console) -> Figures:
        with command.open_backend() as remote:
            # all in this process: no need for plain data in between
            direct = command.backend == "local" and command.workers == resolved.play.parts == 1
            return train_ppo(resolved, folder, console, None if direct else remote)

    try:
        run_command("ppo", options.Config, command, options.SMOKE, train_there)
    except BackendError as error:
        raise BackendError(
            f"{error}; the same command with --out and this run's folder goes on from its last save"
        ) from error


def run_distil(command: DistilOptions) -> None:
    """Teach a network what an agent knows."""
    run_command("distil", distil.Config, command, distil.SMOKE, train_distil)


def run_sb3(command: Sb3Options) -> None:
    """Train MaskablePPO by self-play."""
    run_command("sb3", sb3.Quickstart, command, sb3.SMOKE, train_sb3)
