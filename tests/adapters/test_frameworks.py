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


@pytest.mark.parametrize(
    ("framework", "said"),
    [
        ("TorchRL", ("games 1000", "paid")),
        pytest.param("Tianshou", ("games 1000", "paid"), marks=pytest.mark.slow),
        pytest.param("RLlib", ("games 1000", "games of the trained module 50", "loss"), marks=pytest.mark.slow),
    ],
)
def test_plays_our_games_and_the_page_s_snippet_runs(framework: str, said: tuple[str, ...]):
    games = f"tests.frameworks.{framework.lower()}_games"
    # in one process: importing a framework takes longer than its games
    heard = run(
        framework, "-c", f"import runpy\nrunpy.run_module({games!r}, run_name='__main__')\n{SNIPPETS[framework]}"
    )
    for words in said:
        assert words in heard


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
