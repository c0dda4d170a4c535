"""Fixtures that the tests of pages and of the score keeper share: a server, a browser, a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from perudo_env.play.score.store import Store
from tests.browser import Server, chromium


# For a module each, not for the session: Playwright's event loop would be in the way of tests that run their own.
@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """All that ``make play`` serves."""
    with Server(tmp_path_factory.mktemp("games")) as running:
        yield running


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A browser with a fresh profile."""
    with chromium(tmp_path_factory.mktemp("profile")) as context:
        yield context


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store in a folder that is not there yet."""
    return Store(tmp_path / "deep" / "scores.sqlite")
