"""Training runs: a trainer that is judged while it learns, and the checkpoint it leaves; the commands ppo, distil and sb3."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from agents.learned.neural import MLPPolicy
from perudo_env.engine.variant import parse_variant
from train.core.backends import Backend, BackendError, Name, open_backend
from train.core.loop import Figures, run_command
from train.core.run import write_csv
from train.core.sections import EvaluationSection, TableSection
from train.evaluate.curve import check_evaluation, judge_agent, judged_run
from train.selfplay import distil, options, ppo, sb3
from train.selfplay.checkpoint import write_checkpoint
from train.selfplay.options import kinds_of
from train.selfplay.pool import check_agents

Out = Annotated[Path | None, tyro.conf.arg(help="run folder; one that holds an unfinished run is gone on with")]
Smoke = Annotated[bool, tyro.conf.arg(help="a few seconds, to see that all works")]
Overrides = tyro.conf.Positional[tuple[str, ...]]
ConfigFile = tyro.conf.Positional[Path]


def train_ppo(config: options.Config, folder: Path, console: Console, backend: Backend | None = None) -> Figures:
    """Train in ``folder``, going on from the state there, with rollouts on a ``backend``; returns the last evaluation."""
    check_evaluation(config.evaluation)
    if config.pool.share > 0:
        check_agents(config.pool.scripted, kinds_of(config.tables))
    trainer = ppo.PPO(config, backend)
    final = judged_run(trainer, folder, console)
    write_checkpoint(
        folder / "checkpoint", trainer, "PPO and magnetic mirror descent", "python -m train ppo", kinds_of(config.tables),
        final, trainer.pool.hashes, networks=trainer.training_arrays(),
    )  # fmt: skip
    return final


def train_distil(config: distil.Config, folder: Path, console: Console) -> Figures:
    """Distil in ``folder``, going on from the state there; returns the last evaluation."""
    check_evaluation(config.evaluation)
    trainer = distil.Distiller(config)
    final = judged_run(trainer, folder, console)
    title = f"A network taught by {config.teacher.agent}"
    write_checkpoint(folder / "checkpoint", trainer, title, "python -m train distil", kinds_of(config.tables), final)
    return final


def train_sb3(config: sb3.Quickstart, folder: Path, console: Console) -> Figures:
    """Train in ``folder``, going on from the state there; returns the final win shares."""
    game, evaluation = config.game, config.evaluation
    variant = parse_variant(game.variant)
    check_agents(evaluation.baselines, [(variant, game.num_seats)])
    trainer = sb3.SB3(config)

    def judge(games: int) -> Figures:
        table = TableSection(variant=game.variant, seats=game.num_seats)
        asked = EvaluationSection(
            every=evaluation.every, games=games, baselines=evaluation.baselines, tables=(table,), rounds=()
        )
        return judge_agent(lambda: MLPPolicy(trainer.weights()), asked, config.run.seed)

    trainer.train(folder, lambda: judge(evaluation.games), evaluation.every, console)
    final = judge(evaluation.final_games)
    shares = {name.partition("/")[2]: name for name in final if name.count("/") == 1}
    write_csv(
        folder / "evaluation.csv",
        ["against", "win_share", "low", "high"],
        [[against, *(final[f"{name}{end}"] for end in ("", "/low", "/high"))] for against, name in shares.items()],
    )
    write_checkpoint(
        folder / "checkpoint", trainer, "MaskablePPO", "python -m train sb3", [(variant, game.num_seats)],
        final, trainer.pool.hashes, inputs="observation",
    )  # fmt: skip
    return final


def run_ppo(
    config: ConfigFile = Path("configs/mmd.yaml"),
    overrides: Overrides = (),
    out: Out = None,
    smoke: Smoke = False,
    backend: Annotated[Name, tyro.conf.arg(help="where tables are played; see play.parts")] = "local",
    workers: Annotated[int, tyro.conf.arg(help="processes of the local backend, or CPUs of a Ray started here")] = 1,
    address: Annotated[str | None, tyro.conf.arg(help="a running Ray cluster, host:port or auto")] = None,
) -> int:
    """Train by PPO or magnetic mirror descent: a config, and overrides like learn.kl=0.1."""

    def train_there(resolved: options.Config, folder: Path, console: Console) -> Figures:
        with open_backend(backend, workers, address) as remote:
            # all in this process: no need for plain data in between
            direct = backend == "local" and workers == resolved.play.parts == 1
            return train_ppo(resolved, folder, console, None if direct else remote)

    try:
        return run_command(
            "ppo", options.Config, config, (*(options.SMOKE if smoke else ()), *overrides), out, train_there
        )
    except BackendError as error:
        print(
            f"ppo: {error}; the same command with --out and this run's folder goes on from its last save",
            file=sys.stderr,
        )
        return 1


def run_distil(config: ConfigFile, overrides: Overrides = (), out: Out = None, smoke: Smoke = False) -> int:
    """Teach a network what an agent knows: a config, and overrides like teacher.agent=exact."""
    words = (*(distil.SMOKE if smoke else ()), *overrides)
    return run_command("distil", distil.Config, config, words, out, train_distil)


def run_sb3(
    config: ConfigFile = Path("configs/quickstart.yaml"),
    overrides: Overrides = (),
    out: Out = None,
    smoke: Smoke = False,
) -> int:
    """Train MaskablePPO by self-play: a config, and overrides like ppo.entropy=0.01."""
    words = (*(sb3.SMOKE if smoke else ()), *overrides)
    return run_command("sb3", sb3.Quickstart, config, words, out, train_sb3)
