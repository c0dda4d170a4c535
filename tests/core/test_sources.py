"""The fingerprint of a task: it covers what decides how games and training go, and nothing else."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from train.core import sources
from train.core.backends import Local
from train.core.config import load_config
from train.evaluate.tournament import schedule, tasks
from train.evaluate.tournament.lineups import draw_lineups
from train.selfplay import ppo, rollouts
from train.selfplay.options import SMOKE, PPOConfig

GAMES, LEARNING = tasks.__name__, rollouts.__name__
BOTH, NEITHER = {GAMES, LEARNING}, set()


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources, and a shipped agent."""
    root = tmp_path_factory.mktemp("copy")
    for package in ("perudo_env", "agents", "train"):
        kinds = shutil.ignore_patterns("__pycache__", "static", "checkpoints")
        shutil.copytree(sources.ROOT / package, root / package, ignore=kinds)
    for name in ("policy.json", "weights.safetensors", "training.safetensors", "README.md", "small/classic-2v3.npz"):
        path = root / "agents/checkpoints/solved" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"some")
    return root


def changed(root: Path, name: str) -> set[str]:
    """The tasks that have another fingerprint after an edit of a file, which is then taken back."""
    path = root / name
    before, was = prints(root), path.read_bytes()
    path.write_bytes(was + b"\n# another\n")
    after = prints(root)
    path.write_bytes(was)
    return {task for task in after if after[task] != before[task]}


def prints(root: Path) -> dict[str, str]:
    return {task: sources.digest(root, sources.files_of(sources.closure(task, root), root)) for task in BOTH}


def test_what_decides_changes_it_and_what_does_not_leaves_it(copy: Path) -> None:
    engine = ("actions", "variant", "state", "rng", "jit", "rules", "observation", "batch")
    players = (
        "scripted/odds",
        "scripted/inference",
        "learned/neural",
        "learned/features",
        "search/policy",
        "tabular/policy",
    )
    learners = ("rollouts", "collector", "networks", "values", "critic_features", "pool", "options")
    expected: dict[str, set[str]] = {
        **{f"perudo_env/engine/{name}.py": BOTH for name in engine},
        "perudo_env/policy.py": BOTH,
        **{f"agents/{name}.py": BOTH for name in ("__init__", *players)},
        **{f"train/selfplay/{name}.py": {LEARNING} for name in learners},
        **{
            f"train/{name}.py": {GAMES}
            for name in ("core/rollout", "evaluate/tournament/tasks", "evaluate/tournament/lineups")
        },
        "agents/checkpoints/solved/policy.json": BOTH,
        "agents/checkpoints/solved/weights.safetensors": BOTH,
        "agents/checkpoints/solved/small/classic-2v3.npz": BOTH,
    }
    for name in (
        "perudo_env/rulebook/texts.py", "perudo_env/game/clauses.py", "perudo_env/game/narration.py", "perudo_env/__init__.py",
        "perudo_env/locale/fr/LC_MESSAGES/perudo.po", "perudo_env/envs/vector.py", "agents/people/levels.py", "train/core/loop.py",
        "train/selfplay/checkpoint.py", "train/evaluate/tournament/schedule.py", "train/evaluate/tournament/results.py", "train/evaluate/tournament/standings.py", "train/report/tournament.py", "train/core/backends.py",
        "agents/checkpoints/solved/README.md", "agents/checkpoints/solved/training.safetensors",
    ):  # fmt: skip
        expected[name] = NEITHER
    assert {name: changed(copy, name) for name in expected} == expected


def test_what_a_module_begins_to_import_is_covered_from_then_on(copy: Path) -> None:
    (copy / "agents" / "guess.py").write_text("LUCK = 1\n")
    odds = (copy / "agents/scripted/odds.py").read_text()
    ways = {
        "from agents.guess import LUCK\nLUCK += 1": BOTH,
        "def late():\n    from agents import guess\n    return guess.LUCK": BOTH,
        "import agents.guess\nagents.guess.LUCK": BOTH,
        "KIND = 'agents.guess:LUCK'": BOTH,
        "from agents.guess import LUCK\ndef told(luck: LUCK) -> LUCK: ...": NEITHER,
        "if __name__ == '__main__':\n    from agents.guess import LUCK\n    print(LUCK)": NEITHER,
    }
    for way, expected in ways.items():
        (copy / "agents/scripted/odds.py").write_text(f"{odds}\n{way}\n")
        assert changed(copy, "agents/guess.py") == expected, way
    (copy / "agents/scripted/odds.py").write_text(odds)


def test_all_code_that_tasks_run_is_covered() -> None:
    """Python's profiler names the files whose functions run: one of ours that the fingerprint misses would be a hole."""
    ran: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if frame.f_code.co_name != "<module>":
            ran.add(frame.f_code.co_filename)

    names = ("odds", "bluffer", "threshold", "inference", "uniform", "exact", "table", "search:odds")
    lineup = draw_lineups(len(names), 2, len(names), seed=1)
    (task,) = tasks.cut("classic", names, lineup, seed=1, record=True)
    config = load_config(
        PPOConfig,
        sources.ROOT / "configs/ppo.yaml",
        (*SMOKE, "play.tables=4", "pool.share=0.5", "pool.scripted=[odds]"),
    )
    trainer = ppo.PPO(config, Local(1))
    sent = [rollouts.networks_of(config, trainer.precision, trainer.actor, trainer.values, trainer.pool)]
    group = trainer.groups[0]
    part = rollouts.Part(
        (0,), (group.batch.states,), (group.lineups,), dict(np.random.default_rng(1).bit_generator.state)
    )
    for module, run in ((GAMES, lambda: tasks.play_task(task)), (LEARNING, lambda: rollouts.play_part(part, *sent))):
        run()  # what has to be compiled is compiled before anybody watches: that is slow
        tasks._policy.cache_clear()
        ran.clear()
        sys.setprofile(note)
        try:
            run()
        finally:
            sys.setprofile(None)
        ours = {
            p
            for p in map(Path, ran)
            if p.is_relative_to(sources.ROOT) and "tests" not in p.parts and ".venv" not in p.parts
        }
        assert len(ours) > 10
        assert ours <= set(sources.files_of(sources.closure(module)))


def test_it_names_the_versions_of_what_computes() -> None:
    assert sources.fingerprint(GAMES).split(", ")[1:] == [
        f"numpy {np.__version__}",
        f"numba {sys.modules['numba'].__version__}",
    ]
    assert f", torch {sys.modules['torch'].__version__}" in sources.fingerprint(LEARNING)
    assert schedule.TournamentConfig(seats=(2,), games=1, task=1, seed=1).settings()["made by"] == sources.fingerprint(
        GAMES
    )
