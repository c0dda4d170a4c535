"""MaskablePPO (sb3-contrib) by self-play against a pool of its own snapshots.

    python -m train.ppo_sb3 configs/quickstart.yaml ppo.total_decisions=500000

Writes a run folder: config.yaml (resolved), metrics.csv, TensorBoard events, curve.csv and curve.png (win share against
each baseline while training), evaluation.csv (at the end), and checkpoint/ (weights, card), which is an agent's name in
every other command: ``--agents RUN/checkpoint``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy.typing as npt
import torch
import tyro
from rich.console import Console
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import CSVOutputFormat, Logger, TensorBoardOutputFormat

import agents as registry
from agents.neural import MLPPolicy, save_policy
from perudo_env.envs.vector import LearnerVectorEnv
from perudo_env.variant import parse_variant
from train.config import Section, load_config
from train.evaluate.stats import Estimate
from train.evaluate.tournament import share_against
from train.opponents import Average, SnapshotPool, weights_hash
from train.progress import progress
from train.run import draw_curve, open_run, provenance, write_csv
from train.sb3_door import Sb3Door


class GameSection(Section):
    """The table."""

    variant: str
    num_seats: int


class PPOSection(Section):
    """What MaskablePPO is told."""

    total_decisions: int
    num_envs: int
    num_steps: int
    batch_size: int
    num_epochs: int
    learning_rate: float
    clip_range: float
    entropy: float
    gamma: float
    gae_lambda: float
    hidden: list[int]
    average: float


class PoolSection(Section):
    """Whom the learner plays."""

    every: int
    size: int
    latest_share: float
    scripted: list[str]
    scripted_share: float


class EvaluationSection(Section):
    """How often and how well its strength is measured."""

    every: int
    games: int
    final_games: int
    baselines: list[str]


class RunSection(Section):
    """The run."""

    seed: int
    torch_threads: int


class Quickstart(Section):
    """All of ``configs/quickstart.yaml``."""

    game: GameSection
    ppo: PPOSection
    pool: PoolSection
    evaluation: EvaluationSection
    run: RunSection


SMOKE = (
    "ppo.total_decisions=2048", "ppo.num_envs=8", "ppo.num_steps=64", "ppo.batch_size=128", "pool.every=600",
    "evaluation.every=1000", "evaluation.games=8", "evaluation.final_games=8",
)  # fmt: skip


def actor_weights(model: MaskablePPO) -> dict[str, npt.NDArray[Any]]:
    """The actor of an SB3 policy, as ``agents.neural`` lays networks out."""
    policy: Any = model.policy
    linear = [m for m in policy.mlp_extractor.policy_net if isinstance(m, torch.nn.Linear)]
    weights = {}
    for i, layer in enumerate([*linear, policy.action_net]):
        weights[f"layers.{i}.weight"] = layer.weight.detach().cpu().numpy().copy()
        weights[f"layers.{i}.bias"] = layer.bias.detach().cpu().numpy().copy()
    return weights


class Watch(BaseCallback):
    """Feeds the pool, the learning curve and the progress bar while PPO learns."""

    def __init__(self, config: Quickstart, pool: SnapshotPool, advance: Any, console: Console) -> None:
        super().__init__()
        self.config, self.pool, self.advance, self.console = config, pool, advance, console
        self.curve: list[tuple[int, dict[str, Estimate]]] = []
        self._next_snapshot = config.pool.every
        self._next_point = config.evaluation.every
        self._begun = time.monotonic()
        self.average = Average(config.ppo.average * config.ppo.total_decisions / (config.ppo.num_envs * config.ppo.num_steps))

    def _on_step(self) -> bool:
        self.advance(self.training_env.num_envs)
        return True

    def _on_rollout_end(self) -> None:
        weights = actor_weights(self.model)  # type: ignore[arg-type]
        self.average.add(weights)
        if self.num_timesteps >= self._next_snapshot:
            self._next_snapshot += self.config.pool.every
            self.logger.record("pool/snapshot", self.pool.add(weights))
        if self.num_timesteps >= self._next_point:
            self._next_point += self.config.evaluation.every
            shares = evaluate(self.config, self.average.weights, self.config.evaluation.games)
            self.curve.append((self.num_timesteps, shares))
            for name, share in shares.items():
                self.logger.record(f"win_share/{name}", share.value)
            speed = self.num_timesteps / (time.monotonic() - self._begun)
            words = ", ".join(f"{name} {share.value:.2f}" for name, share in shares.items())
            self.console.print(f"{self.num_timesteps:>9} decisions, {speed:.0f} a second; win share: {words}", highlight=False)


def evaluate(config: Quickstart, weights: Mapping[str, npt.NDArray[Any]], games: int) -> dict[str, Estimate]:
    """The win share of one seat of the network against each baseline in all others, with 95% intervals."""
    variant, seats = parse_variant(config.game.variant), config.game.num_seats
    policy = MLPPolicy(weights)
    return {
        name: share_against(policy, registry.make(name, variant, seats), variant, seats, games, seed=config.run.seed)
        for name in config.evaluation.baselines
    }


def train(config: Quickstart, folder: Path, console: Console) -> dict[str, Estimate]:
    """Train, evaluate and write all results into ``folder``; returns the final win shares."""
    torch.set_num_threads(config.run.torch_threads)
    ppo, variant, seats = config.ppo, parse_variant(config.game.variant), config.game.num_seats
    scripted = [registry.make(name, variant, seats) for name in config.pool.scripted]
    env = LearnerVectorEnv(ppo.num_envs, variant, seats, scripted)
    if not scripted:
        env.opponents.clear()
    pool = SnapshotPool(env, config.pool.size, config.pool.latest_share, config.pool.scripted_share)
    model = MaskablePPO(
        "MlpPolicy", Sb3Door(env), n_steps=ppo.num_steps, batch_size=ppo.batch_size, n_epochs=ppo.num_epochs,
        learning_rate=lambda left: ppo.learning_rate * (0.1 + 0.9 * left), clip_range=ppo.clip_range,
        ent_coef=ppo.entropy, gamma=ppo.gamma, gae_lambda=ppo.gae_lambda, seed=config.run.seed, device="cpu",
        policy_kwargs={"net_arch": {"pi": ppo.hidden, "vf": ppo.hidden}, "activation_fn": torch.nn.ReLU},
    )  # fmt: skip
    pool.add(actor_weights(model))
    outputs = [CSVOutputFormat(str(folder / "metrics.csv")), TensorBoardOutputFormat(str(folder))]
    model.set_logger(Logger(str(folder), outputs))
    with progress("decisions", ppo.total_decisions, console) as advance:
        watch = Watch(config, pool, advance, console)
        model.learn(ppo.total_decisions, callback=watch)
    watch.average.add(actor_weights(model))
    weights = watch.average.weights
    final = evaluate(config, weights, config.evaluation.final_games)
    _write(config, folder, weights, final, [*watch.curve, (model.num_timesteps, final)], pool.hashes)
    return final


def _write(
    config: Quickstart, folder: Path, weights: Mapping[str, npt.NDArray[Any]], final: dict[str, Estimate],
    curve: list[tuple[int, dict[str, Estimate]]], snapshots: list[str],
) -> None:  # fmt: skip
    header = ["baseline", "win_share", "low", "high"]
    write_csv(folder / "evaluation.csv", header, [[name, *share] for name, share in final.items()])
    points = [[decisions, name, *share] for decisions, shares in curve for name, share in shares.items()]
    write_csv(folder / "curve.csv", ["decisions", *header], points)
    shares = {name: [point[name] for _, point in curve] for name in final}
    title = f"{config.game.variant}, {config.game.num_seats} seats"
    draw_curve(folder / "curve.png", title, [d for d, _ in curve], shares, 1 / config.game.num_seats)
    table = "\n".join(f"| {name} | {share} |" for name, share in final.items())
    card = (
        f"# MaskablePPO, {title}\n\nTrained by self-play against its own snapshots for {curve[-1][0]:,} decisions; "
        f"seed {config.run.seed}. It samples from its policy. Weak where no opponent of its pool has punished it: "
        f"self-play by policy gradient gives no bound on exploitability.\n\nWin share of one seat against each baseline in all "
        f"others, {config.evaluation.final_games} games, duplicate dice, 95% interval (fair {1 / config.game.num_seats:.3f}):\n\n"
        f"| against | win share |\n|---|---|\n{table}\n"
    )
    made = {
        "trainer": "train.ppo_sb3", "seed": config.run.seed, "decisions": curve[-1][0], **provenance(),
        "weights_hash": weights_hash(weights), "snapshots": snapshots,
        "evaluation": {name: share._asdict() for name, share in final.items()},
    }  # fmt: skip
    save_policy(folder / "checkpoint", weights, parse_variant(config.game.variant), config.game.num_seats, made, card)


def main(
    config: tyro.conf.Positional[Path] = Path("configs/quickstart.yaml"),
    overrides: tyro.conf.Positional[tuple[str, ...]] = (),
    out: Annotated[Path | None, tyro.conf.arg(help="run folder; by default runs/ppo-TIME")] = None,
    smoke: Annotated[bool, tyro.conf.arg(help="a few seconds, to see that all works")] = False,
) -> int:
    """Train MaskablePPO by self-play: a config, and overrides like ppo.entropy=0.01."""
    console = Console()
    try:
        resolved = load_config(Quickstart, config, (*overrides, *(SMOKE if smoke else ())))
        folder = open_run("ppo", resolved, out)
        console.print(f"training on {resolved.game.variant}, {resolved.game.num_seats} seats; results go to {folder}")
        final = train(resolved, folder, console)
    except ValueError as error:
        print(f"ppo_sb3: {error}", file=sys.stderr)
        return 2
    for name, share in final.items():
        console.print(f"win share against {name:<10} {share}", highlight=False)
    console.print(f"run folder {folder}: checkpoint/, curve.png, metrics.csv, evaluation.csv")
    return 0


if __name__ == "__main__":
    sys.exit(tyro.cli(main, prog="python -m train.ppo_sb3"))
