"""One server and one Chromium for all tests of the browser game; those of their group run in one process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext

from tests.browser import Server, chromium


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """All that ``make play`` serves."""
    with Server(tmp_path_factory.mktemp("games")) as running:
        yield running


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A browser with a fresh profile."""
    with chromium(tmp_path_factory.mktemp("profile")) as context:
        yield context
