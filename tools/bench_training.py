"""The lines of the bench that train: our trainer beside stable-baselines3, and beside the bare passes of its networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import perudo_env  # noqa: F401 - registers perudo/Perudo-v0 with Gymnasium
from agents.learned import features
from train.core.config import load_config
from train.selfplay import critic_features
from train.selfplay.networks import MLP, entropy, log_probs, mixed, precision
from train.selfplay.options import PPOConfig
from train.selfplay.ppo import PPO

HIDDEN, EPOCHS, MINIBATCH = [256, 256], 4, 4096
WORDS = f"{HIDDEN}, {EPOCHS} epochs of {MINIBATCH}"


def config(wanted: str = "auto") -> PPOConfig:
    """Our trainer on the game of the bench, actor and critic of the same widths as the peer's."""
    return load_config(
        PPOConfig, Path("configs/ppo.yaml"),
        [
            "tables=[{variants: [classic], seats: [2]}]", f"learn.hidden={HIDDEN}", f"learn.critic_hidden={HIDDEN}",
            f"learn.epochs={EPOCHS}", f"learn.minibatch={MINIBATCH}", "play.unit=games", "play.tables=1024", "play.any_dice=0",
            f"run.precision={wanted}",
        ],
    )  # fmt: skip


def precision_here() -> str:
    """What ``precision: auto`` stands for on this machine."""
    return str(precision("auto", torch.device("cpu"))).removeprefix("torch.")


def ppo_play(wanted: str = "auto") -> Any:
    """``train.selfplay.ppo`` end to end: play, learn, average."""
    trainer = PPO(config(wanted))

    def play(decisions: int) -> int:
        before = trainer.decisions
        while trainer.decisions < before + decisions:
            trainer.step()
        return trainer.decisions - before

    return play


def maskable_ppo_play() -> Any:
    """MaskablePPO on 8 copies of our Gymnasium environment in a DummyVecEnv, uniform opponents."""
    env = DummyVecEnv([lambda: gymnasium.make("perudo/Perudo-v0", variant="classic", num_players=2)] * 8)
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=512, batch_size=MINIBATCH, n_epochs=EPOCHS, device="cpu", seed=1,
        policy_kwargs={"net_arch": {"pi": HIDDEN, "vf": HIDDEN}, "activation_fn": torch.nn.ReLU},
    )  # fmt: skip

    def play(decisions: int) -> int:
        model.learn(decisions)
        return int(model.num_timesteps)

    return play


def bare_play() -> Any:
    """The passes that no trainer of these networks can do without, on batches as large as ours: one forward pass of both to
    play, and ``EPOCHS`` forward and backward passes of both in minibatches."""
    trainer = PPO(config())
    trainer.step()
    batch = trainer.decisions
    inputs = torch.rand(batch, features.NUM_INPUTS + critic_features.NUM_INPUTS).to(trainer.precision)
    sizes = torch.zeros(batch, features.NUM_CELLS)

    def actor_loss(actor: MLP, rows: slice) -> torch.Tensor:
        return entropy(log_probs(actor(inputs[rows, : features.NUM_INPUTS]), sizes[rows])).mean()

    def passes() -> None:
        with torch.no_grad(), mixed(trainer.device, trainer.precision):
            trainer.actor(inputs[:, : features.NUM_INPUTS])
            trainer.critic(inputs)
        for _ in range(EPOCHS):
            for at in range(0, batch, MINIBATCH):
                rows = slice(at, at + MINIBATCH)
                with mixed(trainer.device, trainer.precision):
                    losses = actor_loss(trainer.actor, rows), trainer.critic(inputs[rows]).square().mean()
                for loss in losses:
                    loss.backward()

    def play(decisions: int) -> int:
        played = 0
        while played < decisions:
            passes()
            played += batch
        return played

    return play
