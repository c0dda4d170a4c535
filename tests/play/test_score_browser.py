"""The score keeper in a real browser: by keyboard in each language, over a server that is killed in mid-evening."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from perudo_env.play.score import Store
from tests.browser import chromium, press_until, speak

pytestmark = pytest.mark.xdist_group("browser")


class Killable:
    """The score keeper in a process of its own, always at the same address."""

    def __init__(self, file: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self._command = [sys.executable, "-m", "perudo_env", "score", "--file", str(file), "--port", str(self.port)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start, and wait until it answers."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        for _ in range(1200):
            assert self._process.poll() is None
            try:
                httpx.get(f"{self.address}/score/new")
            except httpx.TransportError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError("the server does not answer")

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def press(page: Page, name: str) -> None:
    """Press the button of an accessible name, as somebody without a mouse does."""
    page.get_by_role("button", name=name, exact=True).focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")


def faults(page: Page) -> list[object]:
    """What axe finds, and whether the page is wider than a small phone."""
    found: list[object] = [v["id"] for v in Axe().run(page).response["violations"]]
    return found + ["too wide"] * (page.evaluate("document.documentElement.scrollWidth") > 360)


@pytest.mark.parametrize(
    ("language", "begin", "start", "lost", "undo"),
    [("en", "Begin", "Start the game", "−1 die", "Undo the last entry"),
     ("fr", "Commencer", "Commencer la partie", "−1 dé", "Annuler la dernière saisie")],
)  # fmt: skip
def test_an_evening_goes_on_after_the_server_was_killed(
    tmp_path: Path, language: str, begin: str, start: str, lost: str, undo: str
) -> None:
    file = tmp_path / "scores.sqlite"
    server = Killable(file)
    server.start()
    try:
        with chromium(tmp_path / "profile") as browser:
            page = browser.new_page()
            page.set_viewport_size({"width": 360, "height": 740})
            page.goto(f"{server.address}/score/new")
            speak(page, language)
            assert faults(page) == []
            press_until(page, "input[name=player]")
            page.keyboard.type("Ann")
            page.keyboard.press("Tab")
            page.keyboard.type("Zoé")
            press(page, begin)
            page.locator("select[name=opener]").select_option("Zoé")
            assert faults(page) == []
            press(page, start)
            press(page, f"Zoé: {lost}")
            press(page, f"Ann: {lost}")
            before = page.locator("main").inner_text()
            assert faults(page) == []
            server.kill()
            server.start()
            page.reload()
            assert page.locator("main").inner_text() == before
            # a page that was open all the while goes on as if nothing had been
            server.kill()
            server.start()
            press(page, undo)
            for path in ("/score", "/score/1/sheet"):
                page.goto(server.address + path)
                assert faults(page) == [], path
    finally:
        server.kill()
    table = Store(file).read(1).evening.table
    assert table is not None
    assert (table.dice, table.opener) == ((5, 4), "Zoé")
