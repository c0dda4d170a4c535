"""Comfort in the browser: one press to play, keys, cups lifted one by one, and nothing that sounds unasked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page

import agents
from perudo_env.engine.variant import SWITCHES
from tests.browser import MY_TURN, SETTLED, Server, press

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    opened = browser.new_page()
    yield opened
    opened.close()
    browser.clear_cookies()


def new_table(page: Page, server: Server, **choices: str) -> None:
    form = {"pace": "none", "kind0": "me", "sw_first_player": "first_seat", **choices}
    page.goto(f"{server.address}/research?" + "&".join(f"{name}={value}" for name, value in form.items()))
    page.click("#deal")
    page.wait_for_selector(MY_TURN)
    page.wait_for_selector(SETTLED)


def test_play_is_one_press_and_the_next_time_as_before(page, server):
    page.goto(server.address)
    html = page.content()
    assert not any(f">{name}<" in html or f'value="{name}"' in html for name in agents.names())
    assert not any(switch in html for switch in SWITCHES)
    page.click("#deal")
    page.wait_for_selector("#bid-form")
    room = server.room(page.url)
    assert [player.agent for player in room.table.players] == [None, *["regular"] * 3]
    assert (str(room.table.variant), room.options.window_seconds, room.options.hints) == ("classic", 3.0, True)
    page.goto(server.address)
    page.fill("#name0", "Léa")
    page.click("#options summary")
    page.select_option("#opponents", "2")
    for choice in ("#level-master", "#variant-pascal"):
        page.check(choice, force=True)
    page.click("#deal")
    page.wait_for_selector("#bid-form")
    page.goto(server.address)
    assert page.input_value("#name0") == "Léa"
    page.click("#deal")
    page.wait_for_selector("#bid-form")
    table = server.room(page.url).table
    assert (table.players[0].name, table.players[0].agent) == ("Léa", None)
    assert [player.agent for player in table.players[1:]] == ["master"] * 2
    assert str(table.variant) == "pascal"


def test_keys_choose_bid_doubt_and_go_on(page, server):
    new_table(page, server, kind1="regular", variant="pascal")
    room = server.room(page.url)
    assert "● Your move" in page.title()
    for key in ("4", "ArrowUp", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    assert page.locator(".face-choice[aria-pressed=true]").get_attribute("data-face") == "5"
    page.keyboard.press("Enter")
    page.wait_for_selector("#next, #dudo:not([aria-disabled])")
    assert "3x5" in room.table.game.record()
    if not page.query_selector("#next"):
        page.wait_for_selector(SETTLED)
        page.keyboard.press("d")
        page.wait_for_selector("#next")
    page.wait_for_selector(SETTLED)
    page.keyboard.press("Enter")
    page.wait_for_selector("#next", state="detached")
    assert not page.locator("#keys").evaluate("e => e.open")
    page.keyboard.press("?")
    assert page.locator("#keys").evaluate("e => e.open")


def test_cups_are_lifted_one_by_one_while_a_counter_runs(page, server):
    page.emulate_media(reduced_motion="no-preference")
    new_table(page, server, kind1="tests.play.test_analysis:first_legal")  # which doubts
    server.room(page.url).table.game.deal([(1, 2, 2, 4, 4), (2, 3, 3, 4, 6)])
    page.evaluate("""() => {
        window.counted = [];
        new MutationObserver(() => {
            const tally = document.getElementById("tally")?.textContent;
            if (tally && tally !== counted.at(-1)) counted.push(tally);
        }).observe(document.getElementById("table"), {childList: true, subtree: true, characterData: true});
    }""")
    for selector in ("#face-4", "[data-chip='3']", "#bid"):
        press(page, selector)
    page.wait_for_selector(".counting")
    assert page.locator("#count").evaluate("e => getComputedStyle(e).visibility") == "hidden"
    page.wait_for_function("() => !document.querySelector('.counting')")
    # the bidder's first
    assert page.evaluate("counted") == ["0", "3", "4"]
    assert page.locator("#count").evaluate("e => getComputedStyle(e).visibility") == "visible"
    assert page.locator(".seat .die.match").count() == 4


def test_nothing_sounds_shakes_or_notifies_until_it_is_switched_on(page, server):
    page.add_init_script("""window.made = [];
        window.AudioContext = class { constructor() { made.push("sound"); } };
        navigator.vibrate = () => made.push("vibration");
        window.Notification = class { static permission = "granted"; constructor() { made.push("notice"); } };
        Object.defineProperty(document, "hidden", { get: () => true });""")
    new_table(page, server, kind1="regular")
    page.evaluate("localStorage.clear()")
    for on in (False, True):
        if on:
            for name in ("vibration", "notify"):
                page.evaluate("name => localStorage.setItem(`perudo-${name}`, 'on')", name)
        is_next = False
        while not is_next:
            page.wait_for_selector(f"{MY_TURN}, #next:not([aria-disabled])")
            before = page.get_attribute("#game", "data-at")
            press(page, "#next:not([aria-disabled]), #dudo:not([aria-disabled]), #least:not([aria-disabled])")
            page.wait_for_function("at => document.getElementById('game').dataset.at !== at", arg=before)
            page.wait_for_selector(f"{MY_TURN}, #next:not([aria-disabled])")
            is_next = page.locator(MY_TURN).count() > 0
        assert set(page.evaluate("made")) == ({"vibration", "notice"} if on else set())
    page.evaluate("localStorage.clear()")
