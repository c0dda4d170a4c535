"""The browser game in a real browser: by keyboard, in two languages, through refreshes and dropped connections."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page

from agents.learned.neural import RelativePolicy
from perudo_env.game.events import BidMade
from perudo_env.play.archive import Archive
from tests.browser import MY_TURN, SETTLED, Server, choose, play_by_keyboard, press, press_until, speak

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    opened = browser.new_page()
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on(
        "console",
        lambda m: (
            faults.append(m.text)
            if m.type == "error" and not re.search("WebSocket|status of 4(04|22)", m.text)
            else None
        ),
    )
    yield opened
    opened.close()
    browser.clear_cookies()
    assert faults == []


def faults_of(page: Page) -> list[str]:
    found = Axe().run(page)
    return [f"{v['id']}: {n['html'][:160]}" for v in found.response["violations"] for n in v["nodes"]]


def new_table(page: Page, server: Server, **choices: str) -> None:
    page.goto(server.address + "/research")
    page.locator("details").evaluate("e => e.open = true")
    for field, value in {"pace": "none", "kind2": "", "kind3": "", **choices}.items():
        control = page.locator(f"[name={field}]")
        control.select_option(value) if control.evaluate("e => e.tagName") == "SELECT" else control.fill(value)
    page.click("#deal")
    page.wait_for_selector("#told")


@pytest.mark.parametrize(
    ("language", "over", "fair"), [("fr", "gagne la partie", "concordent"), ("en", "wins the game", "agree")]
)
def test_a_whole_game_against_table_by_keyboard_then_its_replay_and_proof(page, server, language, over, fair):
    page.goto(server.address + "/research")
    speak(page, language)
    for field, value in {"kind1": "table", "kind2": "", "kind3": "", "variant": "marquoir"}.items():
        choose(page, f"#{field}", value)
    press_until(page, "summary")
    page.keyboard.press("Enter")
    for field, value in {"sw_starting_dice": "3", "pace": "none"}.items():
        choose(page, f"#{field}", value)
    press_until(page, "#deal")
    page.keyboard.press("Enter")
    page.wait_for_selector("#told")
    table = server.house.rooms.get(page.url.rsplit("/", 1)[1]).table
    # the network itself, and nobody who stands in for it
    assert isinstance(table.policy("table"), RelativePolicy)
    assert str(table.variant) == "marquoir:starting_dice=3"
    commitment = page.text_content("#commitment")
    play_by_keyboard(page)
    assert table.is_over
    assert over in page.text_content("#told h2")
    assert page.locator(".places li").count() == 2
    assert faults_of(page) == []
    for button, wanted in (("#replay", "#verify"), ("#verify", "#verdict")):
        press_until(page, button)
        page.keyboard.press("Enter")
        page.wait_for_selector(wanted)
        assert page.locator(".secret .digest").first.text_content() == commitment
    assert fair in page.text_content("#verdict")
    assert faults_of(page) == []


def too_wide(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth") > 360


def narrow(page: Page, scheme: str) -> None:
    """A small phone, in light or dark."""
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")


@pytest.mark.parametrize(("language", "scheme"), [("fr", "dark"), ("en", "light")])
def test_axe_finds_nothing_on_any_page(page, server, language, scheme):
    narrow(page, scheme)
    page.goto(server.address)
    speak(page, language)
    for path in (*server.pages().values(), "/research?sw_calza=anyone", "/t/none", "/score/x"):
        page.goto(server.address + path)
        if not path.endswith("/sheet"):
            assert page.locator(f"html[lang={language}]").count() == 1, path
        assert faults_of(page) == [], path
        assert not too_wide(page), path


def test_axe_and_the_width_of_a_page_are_looked_at(page, server):
    narrow(page, "light")
    page.goto(server.address)
    page.locator("#deal").evaluate("e => e.insertAdjacentHTML('afterend', '<button class=wide></button>')")
    page.locator("h1").evaluate("e => { e.textContent = 'x'.repeat(200); }")
    assert [fault for fault in faults_of(page) if fault.startswith("button-name")]
    assert too_wide(page)


@pytest.mark.parametrize(("language", "scheme"), [("fr", "light"), ("en", "dark")])
def test_axe_finds_nothing_at_any_stage_of_a_table(page, server, language, scheme):
    narrow(page, scheme)
    path, bo = server.open_table(
        language,
        kind0="browser",
        kind1="me",
        hints="1",
        variant="box",
        sw_calza="anyone",
        sw_first_player="first_seat",
        window="0",
    )
    page.goto(server.address)
    speak(page, language)
    page.goto(server.address + path)
    page.click("#sit")
    page.wait_for_selector(MY_TURN)

    def looks_well() -> None:
        assert faults_of(page) == []
        assert not too_wide(page)

    looks_well()
    press(page, "#least")
    page.wait_for_selector(MY_TURN, state="detached")
    with server.socket_to(path, bo) as other:
        for action in ("pass", "6x2"):
            other.send(server.answer(path, seat=1, action=action))
            while json.loads(other.recv())["type"] != "heard":
                pass
        page.wait_for_selector("[data-act=pass]")
        # help in the window: the chance of the bid, and what the agent would say
        press(page, "#ask-hint")
        page.wait_for_selector("#hint li")
        assert page.locator("#hint p").count() == 2
        assert page.text_content("#told h2") == {"en": "Exactly six 2s?", "fr": "Exactement six 2\u202f?"}[language]
        looks_well()
        press(page, "[data-act=pass]")
        page.wait_for_selector("#dudo:not([aria-disabled])")
        press(page, "#ask-hint")
        page.wait_for_selector("#hint li")
        looks_well()
        press(page, "#dudo:not([aria-disabled])")
        page.wait_for_selector("#next")
        looks_well()


def test_a_refresh_and_a_dropped_connection_come_back_to_the_same_game(page, server):
    new_table(page, server, seed="5", kind1="regular")
    page.wait_for_selector(MY_TURN)
    if not page.query_selector("#dudo:not([aria-disabled])"):
        press(page, "#least")
    page.wait_for_selector("#dudo:not([aria-disabled]), #next")
    told, dice, address = (
        page.locator("#log li").all_text_contents(),
        page.locator(".seat.you .dice").all_text_contents(),
        page.url,
    )
    page.reload()
    page.wait_for_selector("#told")
    assert (
        page.locator("#log li").all_text_contents(),
        page.locator(".seat.you .dice").all_text_contents(),
        page.url,
    ) == (
        told,
        dice,
        address,
    )
    server.drop_sockets()
    page.wait_for_function("() => document.getElementById('notice').textContent !== ''")
    page.wait_for_function("() => document.getElementById('notice').textContent.includes('back')")
    assert page.locator("#log li").all_text_contents() == told
    press(page, "#dudo:not([aria-disabled])" if page.query_selector("#dudo:not([aria-disabled])") else "#next")
    page.wait_for_function("n => document.querySelectorAll('#log li').length > n", arg=len(told))


def test_a_line_that_goes_mute_is_noticed_and_a_press_without_answer_is_told(page, server):
    lines, mute = [], {"is": False}

    def between(line) -> None:
        """A network that may swallow everything and say nothing."""
        lines.append(line)
        there = line.connect_to_server()
        line.on_message(lambda text: None if mute["is"] else there.send(text))
        there.on_message(lambda text: None if mute["is"] else line.send(text))

    def says(text: str) -> None:
        page.wait_for_function("text => document.getElementById('notice').textContent.includes(text)", arg=text)

    page.clock.install()
    page.route_web_socket("**/ws?*", between)
    new_table(page, server, kind1="regular", sw_first_player="first_seat")
    room = server.room(page.url)
    page.wait_for_selector(MY_TURN)
    assert page.context.cookies(page.url)[0]["expires"] > 0  # the seat outlives the browser
    # a beat without an answer, then one that is heard again
    mute["is"] = True
    page.clock.run_for(16_000)
    says("is lost")
    mute["is"] = False
    page.clock.run_for(6_000)
    says("is back")
    assert len(lines) > 1, "another line was opened"
    # back on the network, or back on the page, the line is tried at once
    for wakes in ("dispatchEvent(new Event('online'))", "document.dispatchEvent(new Event('visibilitychange'))"):
        mute["is"] = True
        page.evaluate(wakes)
        page.clock.run_for(5_100)
        says("is lost")
        mute["is"] = False
        page.evaluate(wakes)
        says("is back")
        page.clock.run_for(1_000)
    # a bid that gets no answer is told, and is not made twice
    mute["is"] = True
    page.click("#least")
    page.clock.run_for(5_100)
    says("No answer came")
    page.click("#least")
    says("was not sent")
    mute["is"] = False
    page.clock.run_for(1_000)
    says("did not arrive")
    assert room.table.game.bids == ()
    page.click("#least")
    page.clock.run_for(2_000)
    page.wait_for_selector("#next, #dudo:not([aria-disabled])")
    assert [event.seat for event in room.log if isinstance(event, BidMade)][:1] == [0]


def test_a_press_just_as_the_table_changes_is_not_taken(page, server):
    new_table(
        page, server, variant="box", kind1="odds", kind2="odds", window="0", sw_calza="anyone", sw_first_player="first_seat",
    )  # fmt: skip
    room = server.room(page.url)
    press(page, "#least")
    page.wait_for_selector("#controls [data-act=pass], #next")
    # whatever button comes next is pressed the moment it is there, as by a finger that is already on its way
    page.evaluate("""() => new MutationObserver((_, self) => {
        const button = document.querySelector("[data-act=pass], #next, #least:not([aria-disabled])");
        if (button) self.disconnect();
        button?.click();
    }).observe(document.getElementById("told"), {childList: true, characterData: true, subtree: true})""")
    before = room.position
    press(page, "#controls [data-act=pass], #next")
    page.wait_for_function("() => document.getElementById('notice').textContent.includes('just as the table changed')")
    after = room.position
    assert after != before
    page.wait_for_selector(SETTLED)
    assert room.position == after


def test_two_browsers_at_one_table_and_a_calza_window_with_two_claimants(browser, page, server, tmp_path):
    new_table(
        page, server, variant="box", kind1="browser", kind2="browser", window="0", name0="Ann", name1="Bob", name2="Eve",
        sw_calza="anyone",
    )  # fmt: skip
    assert page.locator("[data-invite]").input_value() == page.url
    room = server.house.rooms.get(page.url.rsplit("/", 1)[1])
    browser_context = browser.browser
    pages = [page]
    others = []
    for name in ("<b>Bob</b>", "Eve"):
        other = (browser_context.new_context() if browser_context else browser).new_page()
        others.append(other)
        other.goto(page.url)
        other.fill("#name", name)
        other.click("#sit")
        pages.append(other)
    for each in pages:
        each.wait_for_function("() => !document.querySelector('[data-invite]')")
        assert "<b>Bob</b>" in each.text_content(".seats")
        assert each.locator(".seats b").count() == 0
    bidder = room.table.game.seat
    pages[bidder].wait_for_selector(MY_TURN)
    press(pages[bidder], "#least")
    first, second = room.table.game.seat, (room.table.game.seat + 1) % 3
    for claimant in (second, first):
        pages[claimant].wait_for_selector("[data-act=pass]")
        press(pages[claimant], ".calza")
    pages[bidder].wait_for_selector("#next")
    spoken = [type(e).__name__ for e in room.log].count("CalzaSaid")
    assert spoken == 1
    assert f"{room.table.players[first].name}: Calza!" in pages[bidder].locator("#log").text_content()
    for other in others:
        other.close()


def test_one_screen_passed_round_shows_one_hand_at_a_time(page, server):
    new_table(page, server, kind1="screen", name0="Ann", name1="Bob")
    page.wait_for_selector("#show")
    assert page.locator(".seats .die.paco, .seats .dice .die").count() == 0
    press(page, "#show")
    page.wait_for_selector(MY_TURN)
    assert page.locator(".seat .dice").count() == 1
    page.wait_for_selector(SETTLED)
    # pressed twice, as Ann does: Bob's dice stay under his cup
    page.evaluate("""() => new MutationObserver(() => document.getElementById("show")?.click())
        .observe(document.getElementById("controls"), {childList: true, subtree: true})""")
    page.click("#least")
    page.wait_for_selector("#show")
    page.wait_for_selector(SETTLED)
    assert page.locator(".seat .dice").count() == 0


def test_a_bid_is_asked_again_only_if_wanted_and_help_tells_chances(page, server):
    page.goto(server.address + "/research?hints=1&confirm=1&pace=none&kind0=me&kind1=novice&seed=5")
    page.click("#deal")
    page.wait_for_selector(MY_TURN)
    press(page, "#ask-hint")
    page.wait_for_selector("#hint li")
    assert "%" in page.text_content("#hint")
    before = page.locator("#log li").count()
    press(page, "#least")
    assert "again" in page.text_content("#bid")
    assert page.locator("#log li").count() == before
    press(page, "#bid")
    page.wait_for_function("n => document.querySelectorAll('#log li').length > n", arg=before)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_six_seats_in_its_width(page, server, scheme):
    narrow(page, scheme)
    new_table(page, server, kind1="regular", kind2="regular", kind3="regular", kind4="regular", kind5="regular")
    page.wait_for_selector(f"{MY_TURN}, #next")
    assert not too_wide(page)
    assert faults_of(page) == []


def test_a_finished_game_steps_by_arrow_keys_with_all_dice_open(page, server):
    path, _ = server.open_table(kind0="regular", kind1="novice", sw_starting_dice="1")
    archive: Archive = server.house.archive
    page.goto(server.address + path)
    page.wait_for_selector("#replay")
    page.click("#replay")
    page.wait_for_selector("#verify")
    assert archive.names()
    assert page.locator(".seats .dice").count() == 2
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**step=2")
    assert page.locator(".choices li").count() >= 1
