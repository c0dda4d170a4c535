"""What the browser tests share: a server of their own, and the system's Chromium through playwright."""

from __future__ import annotations

import asyncio
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import BrowserContext, Page, sync_playwright

from agents.levels import lineup
from agents.play import warm_up
from perudo_env.play.web import create_app
from perudo_env.play.web.app import MOST_SOCKET_BYTES

CHROMIUM = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 60_000  # milliseconds; the machine may be busy


class Server:
    """The app on a free port, in a thread."""

    def __init__(self, games: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.app: FastAPI = create_app(lineup(), games)
        self.house = self.app.state.house
        self.address = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(self.app, port=self.port, log_level="critical", timeout_graceful_shutdown=1, ws_max_size=MOST_SOCKET_BYTES)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def __enter__(self) -> Server:
        # compiling may take longer than a page waits
        warm_up(lineup())
        self._thread.start()
        while not self._server.started:
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(20)

    def drop_sockets(self) -> None:
        """Cut all connections, as a bad network would."""
        for connection in list(self._server.server_state.connections):
            loop: asyncio.AbstractEventLoop = connection.loop
            loop.call_soon_threadsafe(connection.transport.abort)

    def open_table(self, language: str = "en", **form: str) -> tuple[str, httpx.Cookies]:
        """Put up a table by its form; returns its path and the cookies of whoever did."""
        with httpx.Client(base_url=self.address, headers={"Accept-Language": language}) as client:
            answer = client.post("/tables", data={"pace": "none", **form})
            assert answer.status_code == 303, answer.text
            return answer.headers["location"], client.cookies


@contextmanager
def chromium(profile: Path) -> Iterator[BrowserContext]:
    """A browser with a fresh profile."""
    assert CHROMIUM is not None, "the browser tests need Chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(profile, executable_path=CHROMIUM, args=ARGUMENTS, headless=True)
        context.set_default_timeout(PATIENCE)
        yield context
        context.close()


def speak(page: Page, language: str) -> None:
    """Choose the language by the page's own buttons."""
    page.locator(f"button[name=language][value={language}]").click()
    page.wait_for_selector(f"html[lang={language}]")


def press_until(page: Page, selector: str, key: str = "Tab", most: int = 60) -> None:
    """Press a key until the element has the focus, as somebody without a mouse does."""
    for _ in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector) ?? false", selector):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{most} times {key} do not reach {selector}")


def play_by_keyboard(page: Page) -> None:
    """Play a game to its end with the keyboard alone: doubt what is standing, else bid the least."""
    while True:
        page.wait_for_selector("#next, #bid-form, #dudo, #replay")
        if page.query_selector("#replay"):
            return
        wanted = next(s for s in ("#next", "#dudo", "#bid") if page.query_selector(s))
        before = page.locator("#controls").inner_html()
        press_until(page, wanted)
        page.keyboard.press("Enter")
        page.wait_for_function("before => document.getElementById('controls').innerHTML !== before", arg=before)
