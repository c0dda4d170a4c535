"""Rollouts on a backend: the same figures as in one process, whoever plays the parts."""

import csv
from pathlib import Path

import numpy as np
import pytest

from train.__main__ import main as command
from train.core.backends import BackendError, Local
from train.core.config import load_config
from train.selfplay import ppo
from train.selfplay.options import PPOConfig

ROOT = Path(__file__).parents[2]
TINY = (
    "tables=[{variants: [classic, pascal], seats: [2, 3], starting_dice: [2]}]", "play.tables=32", "play.groups_per_batch=4",
    "learn.hidden=[16]", "learn.critic_hidden=[16]", "learn.minibatch=128", "learn.total_decisions=600", "values.hidden=[8]",
    "pool.share=0.3", "pool.every=150", "pool.scripted=[odds]", "pool.scripted_share=0.5",
    "evaluation={every: 600, games: 4, baselines: [odds], tables: [{variant: classic, seats: 2}], rounds: []}", "run.save_every=0",
)  # fmt: skip


def tiny(*overrides):
    return load_config(PPOConfig, ROOT / "configs/ppo.yaml", (*TINY, *overrides))


def figures(config, backend, steps=4):
    trainer = ppo.PPO(config, backend)
    return [trainer.step() for _ in range(steps)], trainer


def same(a, b):
    arrays, others = a.state()[0], b.state()[0]
    return a.state()[1] == b.state()[1] and all(np.array_equal(arrays[k], others[k]) for k in arrays)


@pytest.mark.parametrize("unit", ["rounds", "games"])
def test_one_part_gives_the_figures_of_the_trainer_alone(unit):
    alone, trainer = figures(tiny(f"play.unit={unit}"), None)
    apart, other = figures(tiny(f"play.unit={unit}"), Local(1))
    assert alone == apart
    assert same(trainer, other)


def test_parts_give_the_same_figures_on_any_number_of_workers():
    config = tiny("play.parts=3")
    one, trainer = figures(config, Local(1), 2)
    with Local(2) as backend:
        two, other = figures(config, backend, 2)
    assert one == two
    assert same(trainer, other)


def test_parts_make_one_batch():
    """Each seat is paid once: the parts' decisions name different seats, and the pay of a table sums to what it should."""
    trainer = ppo.PPO(tiny("play.parts=3", "play.unit=games"), Local(1))
    decisions, rounds = trainer.collect(np.arange(4))
    assert rounds is None
    assert decisions.pay.size == 4 * 8 * 8
    assert decisions.finished == 32
    assert decisions.pay.reshape(-1, 8).sum(axis=1) == pytest.approx(0)
    paid = np.unique(decisions.who // 8)
    assert paid.max() >= 24, "tables of the last part are named after those of the first"
    assert (np.abs(decisions.pay[decisions.who]) > 0).all()


def test_lost_workers_cost_no_update(tmp_path):
    """A backend that fails leaves tables and generator as they were: the next try gives the same figures."""

    class Flaky(Local):
        fails = True

        def run(self, function, tasks, common=()):
            for number, result in enumerate(super().run(function, tasks, common)):
                yield result
                if number == 0 and self.fails:
                    raise BackendError("a node is gone")

    config, backend = tiny("play.parts=2"), Flaky(1)
    trainer = ppo.PPO(config, backend)
    before = [t.batch.states.copy() for t in trainer.groups]
    with pytest.raises(BackendError):
        trainer.collect(np.arange(4))
    assert all(np.array_equal(a, t.batch.states) for a, t in zip(before, trainer.groups, strict=True))
    assert trainer.decisions == 0


def test_the_command_goes_on_with_other_workers(tmp_path):
    words = (*TINY, "play.parts=2", "learn.average=1.0")
    for name, workers in (("whole", "1"), ("parts", "2")):
        out = ["--out", str(tmp_path / name), "--workers", workers]
        assert command(["ppo", str(ROOT / "configs/ppo.yaml"), *words, *out]) == 0

    def curve(name):
        with (tmp_path / name / "metrics.csv").open() as file:
            return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]

    assert curve("whole") == curve("parts")
    weights = "checkpoint/weights.safetensors"
    assert (tmp_path / "whole" / weights).read_bytes() == (tmp_path / "parts" / weights).read_bytes()
