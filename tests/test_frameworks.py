"""Other frameworks play our games: 1,000 each, no illegal action, everybody paid as by the game itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from perudo_env import Game, IllegalActionError
from tests.frameworks import environment
from tests.frameworks.games import TABLES, check

PAGE = (environment.ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
SNIPPETS = dict(re.findall(r"^## (\w+)\n+```python\n(.*?)```", PAGE, flags=re.MULTILINE | re.DOTALL))


def run(framework: str, *words: str) -> str:
    """Python in the environment of a framework, from the repository; its output."""
    done = subprocess.run(
        [sys.executable if framework == "TorchRL" else environment.python(), "-W", "ignore", *words],
        cwd=environment.ROOT, env={**os.environ, "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_page_has_a_snippet_per_framework():
    assert list(SNIPPETS) == ["TorchRL", "Tianshou", "RLlib"]
    assert sum(games for *_, games in TABLES) == 1000


def test_torchrl_snippet():
    assert "paid" in run("TorchRL", "-c", SNIPPETS["TorchRL"])


def test_torchrl_plays_our_games():
    assert "games 1000" in run("TorchRL", "-m", "tests.frameworks.torchrl_games")


@pytest.mark.slow
def test_tianshou_snippet():
    assert "paid" in run("Tianshou", "-c", SNIPPETS["Tianshou"])


@pytest.mark.slow
def test_tianshou_plays_our_games():
    assert "games 1000" in run("Tianshou", "-m", "tests.frameworks.tianshou_games")


@pytest.mark.slow
def test_rllib_snippet():
    assert "loss" in run("RLlib", "-c", SNIPPETS["RLlib"])


@pytest.mark.slow
def test_rllib_plays_our_games_and_trains():
    said = run("RLlib", "-m", "tests.frameworks.rllib_games")
    assert "games 1000" in said
    assert "games of the trained module 50" in said


def test_the_check_can_fail():
    game = Game("classic:starting_dice=1", 2, seed=7)
    game.act("1x2")
    game.act("dudo")
    actions, returns = [9 - 5, 0], list(game.returns)
    check(game, actions, returns)
    with pytest.raises(AssertionError, match="paid"):
        check(game, actions, returns[::-1])
    with pytest.raises(AssertionError, match="goes on"):
        check(game, actions[:1], returns)
    with pytest.raises(AssertionError):
        check(game, [5, 0], returns)
    with pytest.raises(IllegalActionError):
        check(game, [4, 4, 0], returns)
