"""The ground of the browser tests: a server of their own, and the system's Chromium through playwright."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from fastapi.routing import APIRoute
from playwright.sync_api import BrowserContext, Page, sync_playwright
from websockets.sync.client import ClientConnection, connect

import agents
from agents.people.browser import Browser, browser_app, warm_up
from agents.people.levels import lineup
from perudo_env.play.table import Player, Table
from perudo_env.play.web.app import MOST_SOCKET_BYTES
from perudo_env.play.web.rooms import Room

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 60_000  # milliseconds; the machine may be busy
MY_TURN = "#bid-form[data-turn]"
SETTLED = "#controls:not([data-fresh])"  # the buttons have been there for a moment, and take presses
NO_PAGES = {
    "/static",
    "/t/{room_id}/ws",
    "/games/{name}/game.json",
    "/games/{name}/record.txt",
    "/manifest.webmanifest",
    "/sw.js",
    "/score/{evening}/perudo.csv",
}
"""Routes whose answer is not a page."""


class Server:
    """All that ``make play`` serves, on a free port, in a thread."""

    def __init__(self, games: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.app: FastAPI = browser_app(Browser(games=games, port=0, agents=("tests.play.test_analysis:first_legal",)))
        self.app.state.scores = games / "scores.sqlite"
        self.house = self.app.state.house
        self.address = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(
            self.app, port=self.port, log_level="critical", timeout_graceful_shutdown=1, ws_max_size=MOST_SOCKET_BYTES
        )
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

    def socket_to(
        self, path: str, cookies: httpx.Cookies | None = None, language: str = "en", **headers: str
    ) -> ClientConnection:
        """The WebSocket of a table, without a browser."""
        crumbs = "; ".join(f"{name}={value}" for name, value in dict(cookies or {}).items())
        headers = {"Accept-Language": language, **({"Cookie": crumbs} if crumbs else {}), **headers}
        return connect(f"ws://127.0.0.1:{self.port}{path}/ws", additional_headers=headers)

    def room(self, path: str) -> Room:
        """The table at an address."""
        room = self.house.rooms.get(path.rsplit("/", 1)[1])
        assert isinstance(room, Room)
        return room

    def answer(self, path: str, kind: str = "act", **fields: object) -> str:
        """A message of a browser that has been shown what the table asks now."""
        return json.dumps({"type": kind, "at": self.room(path).position, **fields})

    def pages(self) -> dict[str, str]:
        """An address for every page there is, by its route; a route that this does not know is an error."""
        played = Table("marquoir:starting_dice=1", [Player("Ann", "odds"), Player("Bo", "odds")], agents.make, 3)
        played.play_agents()
        game = f"/games/{self.house.archive.save(played.saved())}"
        evening = {"player": ["Ann", "Bo"], "preset": "marquoir", "dice": "3", "calza": "yes", "scoring": "places"}
        score = httpx.post(f"{self.address}/score/new", data=evening).headers["location"]
        join, _ = self.open_table(kind0="browser", kind1="regular")
        found = {
            "/": "/", "/new": "/new", "/research": "/research", "/offline": "/offline",
            "/rules": "/rules?variant=box", "/t/{room_id}": join, "/games": "/games", "/games/{name}": f"{game}?step=2",
            "/score": "/score", "/score/new": "/score/new", "/score/{evening}": score, "/score/{evening}/sheet": f"{score}/sheet",
            "/score/{evening}/delete": f"{score}/delete",
        }  # fmt: skip
        routes = {
            r.path for r in routes_in(self.app.routes) if not isinstance(r, APIRoute) or "GET" in (r.methods or ())
        }
        assert routes == set(found) | NO_PAGES
        return found


def routes_in(routes: Sequence[Any]) -> Iterator[Any]:
    """All routes, with those of included routers, which newer versions of FastAPI keep apart."""
    for route in routes:
        included = getattr(route, "original_router", None)
        yield from [route] if included is None else routes_in(included.routes)


@contextmanager
def chromium(profile: Path) -> Iterator[BrowserContext]:
    """A browser with a fresh profile."""
    assert CHROMIUM is not None, "the browser tests need Chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=ARGUMENTS, headless=True
        )
        context.set_default_timeout(PATIENCE)
        yield context
        context.close()


def speak(page: Page, language: str) -> None:
    """Choose the language by the page's own buttons and the keyboard."""
    press_until(page, f"button[name=language][value={language}]")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"html[lang={language}]")


def choose(page: Page, selector: str, value: str) -> None:
    """Go to a list of choices and through it by keyboard."""
    press_until(page, selector)
    page.keyboard.press("Home")
    for _ in range(page.locator(f"{selector} option").count()):
        if page.input_value(selector) == value:
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"{selector} has no {value}")


def press_until(page: Page, selector: str, key: str = "Tab", most: int = 60) -> None:
    """Press a key until the element has the focus, as somebody without a mouse does."""
    for _ in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector) ?? false", selector):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{most} times {key} do not reach {selector}")


def press(page: Page, selector: str) -> None:
    """Press a button of a table as somebody who has seen it does, not in the moment in which it appears."""
    page.wait_for_selector(selector)
    page.wait_for_selector(SETTLED)
    page.click(selector)


def play_by_keyboard(page: Page) -> None:
    """Play a game to its end with the keyboard alone: doubt what is standing, else bid the least."""
    while True:
        page.wait_for_selector(f"#next, {MY_TURN}, #replay")
        if page.query_selector("#replay"):
            return
        wanted = "#next" if page.query_selector("#next") else "#dudo:not([aria-disabled])"
        before = page.get_attribute("#game", "data-at")
        press_until(page, wanted if page.query_selector(wanted) else "#least")
        page.wait_for_selector(SETTLED)
        page.keyboard.press("Enter")
        page.wait_for_function("before => document.getElementById('game').dataset.at !== before", arg=before)
