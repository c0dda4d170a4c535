"""One screen: at every size, with few and many seats, in both languages, all of a table is visible together at each moment of a game."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page

from tests.browser import MY_TURN, SETTLED, Server, press, speak
from tests.lines import sit_down

pytestmark = pytest.mark.xdist_group("browser")
SIZES = [(1280, 800), (1024, 600), (390, 844), (360, 640), (844, 390), (640, 400)]  # the last: a laptop at 200%
LONG = "Maximilienne-Alexandrine"

# Everything there is to see and to press lies inside the window, inside what holds it, uncovered, and with its whole label.
FAULTS = """() => {
  const faults = [], at = (e) => e.getBoundingClientRect();
  const inside = (e, box, what) => {
    const r = at(e);
    if (r.width < 4 || r.height < 4) faults.push(what + " is not shown");
    else if (r.left < box.left - 1 || r.top < box.top - 1 || r.right > box.right + 1 || r.bottom > box.bottom + 1)
      faults.push(`${what} sticks out: ${[r.left, r.top, r.right, r.bottom].map(Math.round)} of ${[box.left, box.top, box.right, box.bottom].map(Math.round)}`);
  };
  const name = (e) => e.id || e.className || e.tagName;
  const all = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const page = document.documentElement;
  if (page.scrollHeight > innerHeight || page.scrollWidth > innerWidth || document.body.scrollHeight > innerHeight) faults.push("the page scrolls");
  const felt = document.getElementById("felt");
  for (const e of [felt, document.getElementById("told"), ...document.querySelectorAll(".top button")]) if (e.offsetParent) inside(e, all, name(e));
  for (const e of document.querySelectorAll("#standing, .by, .count, .seat")) inside(e, at(felt), name(e));
  for (const seat of document.querySelectorAll(".seat")) {
    for (const e of seat.querySelectorAll(".name, .dice .die, .said .bid, .said .call, .lost")) inside(e, at(seat), `${name(e)} of ${seat.id}`);
  }
  const notice = document.getElementById("notice");
  if (notice.textContent) inside(notice, all, "notice");
  if (notice.scrollHeight > notice.clientHeight + 1) faults.push("the notice is cut");
  const seen = (e) => { const r = at(e), top = document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2); return e === top || e.contains(top); };
  for (const e of document.querySelectorAll("#controls button, #controls a, #controls input")) {
    inside(e, all, name(e));
    if (!seen(e)) faults.push(name(e) + " is covered");
    if (e.tagName !== "INPUT" && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)) faults.push(`${name(e)} is cut: ${e.textContent}`);
  }
  for (const e of document.querySelectorAll(".seat.you .die, #standing, .choose > *")) if (!seen(e)) faults.push(name(e) + " is covered");
  return faults;
}"""


def look(page: Page, moment: str, wanted: str = "#bid-form") -> None:
    """Look at a moment at every size."""
    page.wait_for_selector(wanted)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(FAULTS) == [], f"{moment} at {width}x{height}"


class Others:
    """The people at the other seats, who act by messages alone."""

    def __init__(self, server: Server, path: str, seats: int) -> None:
        self.server, self.path = server, path
        self.cookies = {seat: sit_down(server, path, seat, f"{LONG} {seat}") for seat in range(1, seats)}

    def say(self, seat: int, kind: str = "act", **fields: object) -> None:
        with self.server.socket_to(self.path, self.cookies[seat]) as socket:
            who = {} if kind == "ready" else {"seat": seat}
            socket.send(self.server.answer(self.path, kind, **who, **fields))
            while (answer := json.loads(socket.recv(timeout=60)))["type"] not in ("heard", "error"):
                pass
        assert answer["type"] == "heard", answer


@pytest.mark.parametrize("seats", [2, 6])
@pytest.mark.parametrize("language", ["fr", "en"])
def test_all_of_a_table_is_visible_together_at_every_moment(browser, server, language, seats):
    page = browser.new_page()
    page.emulate_media(reduced_motion="reduce")
    page.goto(server.address + "/research?hints=1&confirm=&window=0&pace=none&variant=marquoir&sw_calza=anyone&sw_first_player=first_seat&"
              f"name0={LONG}&kind0=me&" + "&".join(f"kind{seat}=browser" for seat in range(1, seats)))  # fmt: skip
    speak(page, language)
    page.evaluate("localStorage.clear()")
    page.click("#deal")
    look(page, "waiting for people", "#invite")
    others = Others(server, server_path(page), seats)
    look(page, "an opening bid", MY_TURN)
    page.click("#odds-switch")
    # nobody has a four: whoever bids last will lose a die
    room = server.room(page.url)
    room.table.game.deal([(1, 2, 2, 3, 6), *[(2, 2, 3, 5, 6)] * (seats - 1)])
    # Pacos may not open: they are off, and touched, they say why
    page.wait_for_selector(SETTLED)
    page.click("#face-1", force=True)
    page.wait_for_function("() => document.getElementById('notice').textContent.includes('1P')")
    look(page, "a face that may not be bid")
    press(page, "#face-4")
    press(page, "[data-chip='2']")
    look(page, "a bid chosen")
    assert page.text_content("#chosen .sr") == "4"
    press(page, "#bid")
    look(page, "the others' Calza", ".asking:not(:has([data-act=pass]))")
    assert room.table.game.bids[-1][1].quantity == 3
    for seat in range(1, seats):
        others.say(seat, "decline")
    look(page, "somebody else's turn", "#told h2:has-text('Maximilienne')")
    for seat in range(1, seats):
        others.say(seat, action=f"{3 + seat}x4")
        if seat == 1:
            look(page, "one's own Calza", "#decline")
            press(page, "#decline")
            page.wait_for_selector("#decline", state="detached")
    look(page, "a bid to answer", f"{MY_TURN}:has(#dudo:not([aria-disabled]))")
    assert page.locator("#odds").count() == 1
    press(page, "#dudo")
    look(page, "the dice lie open", "#next")
    assert page.locator(".seat .dice").count() == seats
    press(page, "#next")
    look(page, "the others look at the dice", "#next[aria-disabled]")
    page.close()


@pytest.mark.parametrize("seats", [2, 6])
def test_the_end_is_one_screen_too_and_deals_again_by_one_press(browser, server, seats):
    page = browser.new_page()
    page.emulate_media(reduced_motion="reduce")
    agents = "&".join(f"kind{seat}=tests.play.test_analysis:first_legal" for seat in range(1, seats))
    page.goto(f"{server.address}/research?pace=calm&sw_starting_dice=1&sw_first_player=first_seat&sw_max_bid=dice_in_play&kind0=me&{agents}")  # fmt: skip
    speak(page, "fr")
    page.click("#deal")
    page.wait_for_selector(MY_TURN)
    # every die shows a six: nobody at these tables has as many
    room = server.room(page.url)
    room.table.game.deal([(2,)] * seats)
    press(page, "#face-6")
    press(page, "#bid")
    if seats > 2:
        # only agents play on: watched twice as fast, or to the end
        look(page, "out of the game", "#watch")
        press(page, "#speed-double")
        page.wait_for_selector("#speed-double[aria-pressed=true]")
        assert room.speed == "double"
        press(page, "#speed-end")
    look(page, "the end", "#again")
    assert "gagne" in page.text_content("#told h2")
    kept, address, before = server.house.archive.names()[0], page.url, room.table.commitment
    press(page, "#again")
    look(page, "a new game", MY_TURN)
    assert page.url == address
    assert kept in server.house.archive.names()
    assert (room.num_dealt, room.table.game.round, len(room.table.players)) == (2, 1, seats)
    assert page.text_content("#commitment") == room.table.commitment != before
    page.close()


def server_path(page: Page) -> str:
    return "/t/" + page.url.rsplit("/", 1)[1]
