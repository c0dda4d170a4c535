"""The fixture that all tests of the score keeper share."""

from __future__ import annotations

from pathlib import Path

import pytest

from perudo_env.play.score.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "deep" / "scores.sqlite")
