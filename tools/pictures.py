"""Pictures of the three ways to play, and the icons of the page, made anew: ``python -m tools.pictures``. It needs Chromium."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from agents.people.levels import lineup
from perudo_env.play.archive import Archive
from perudo_env.play.series import Series
from perudo_env.play.table import Player
from perudo_env.play.terminal.app import PerudoApp
from perudo_env.play.terminal.telling import Manner
from tests.browser import MY_TURN, Server, chromium, press, speak

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs" / "images"
ICONS = ROOT / "perudo_env" / "play" / "static"
BROWSER_SEED, TERMINAL_SEED = 9, 40  # rounds with a few bids, and dice that match


def browser_picture(page: Page, server: Server) -> None:
    """The first reveal of a round among five."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(server.address)
    speak(page, "en")
    names = {"name0": "Chloé", "kind0": "me", "kind1": "regular", "kind2": "expert", "kind3": "master", "kind4": "odds"}
    page.goto(
        f"{server.address}/research?pace=none&seed={BROWSER_SEED}&"
        + "&".join(f"{field}={value}" for field, value in names.items())
    )
    page.click("#deal")
    while page.wait_for_selector(f"#next, {MY_TURN}") and not page.query_selector("#next"):
        before = page.get_attribute("#game", "data-at")
        press(page, "#dudo:not([aria-disabled]), #least")
        page.wait_for_function("before => document.getElementById('game').dataset.at !== before", arg=before)
    page.wait_for_timeout(4000)
    page.screenshot(path=DOCS / "play.png", animations="disabled")


def icons(page: Page) -> None:
    """The die of the page's icon on its felt, for home screens that cut the edges off as they like."""
    die = (ICONS / "die.svg").read_text(encoding="utf-8")
    style = "margin:0;display:grid;place-items:center;height:100vh;background:#234841"
    page.set_content(f'<body style="{style}"><div style="width:62vw">{die}</div></body>')
    for size in (192, 512):
        page.set_viewport_size({"width": size, "height": size})
        page.screenshot(path=ICONS / f"icon-{size}.png")


def score_picture(page: Page, server: Server) -> None:
    """The second game of an evening, on a phone."""
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{server.address}/score/new")
    players = ("Ann", "Bo", "Chloé", "Dan")
    for i, name in enumerate(players):
        page.locator("input[name=player]").nth(i).fill(name)
    page.get_by_role("button", name="Begin", exact=True).click()
    for loses in (("Dan",) * 5 + ("Bo",) * 5 + ("Chloé",) * 5, ("Ann", "Dan", "Bo", "Bo", "Dan", "Chloé", "Bo", "Bo")):
        page.get_by_role("button", name="Start the game", exact=True).click()
        for name in loses:
            page.get_by_role("button", name=f"{name}: −1 die", exact=True).click()
    page.screenshot(path=DOCS / "score.png", full_page=True)


def terminal_svg(games: Path) -> str:
    """The first reveal in the terminal."""
    players = (Player("Ann"), Player("regular", "regular"), Player("expert", "expert"), Player("master", "master"))
    series = Series("classic", players, lineup().policy, TERMINAL_SEED, Archive(games))
    app = PerudoApp(series, Manner(pause=0, settle=0, hint_agent=lineup().adviser))

    async def play() -> str:
        async with app.run_test(size=(100, 32)) as pilot:
            while not app.query_one("#next").display:
                if app._asked is not None:
                    await pilot.press("d" if app.table.game.standing_bid else "enter")
                await pilot.pause(0.1)
            return app.export_screenshot()

    return asyncio.run(play())


def main() -> None:
    """Take all three, and draw the icons."""
    with tempfile.TemporaryDirectory() as folder:
        svg = terminal_svg(Path(folder))
        with Server(Path(folder)) as server, chromium(Path(folder) / "profile") as browser:
            page = browser.new_page()
            browser_picture(page, server)
            score_picture(page, server)
            icons(browser.new_page())
            page = browser.new_page()
            page.set_viewport_size({"width": 940, "height": 640})
            page.set_content(svg)
            page.locator("svg").screenshot(path=DOCS / "terminal.png")
    for name in ("play", "score", "terminal"):
        # a third of the size
        Image.open(DOCS / f"{name}.png").convert("RGB").quantize(256).save(DOCS / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
