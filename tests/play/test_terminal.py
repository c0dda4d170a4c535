"""The terminal through Textual's pilot, and the line mode through a pipe, in both languages."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine
from io import StringIO, TextIOWrapper
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Static

import agents
from agents.people import levels
from perudo_env import Bid
from perudo_env.game.words import words
from perudo_env.play.archive import Archive
from perudo_env.play.series import Series
from perudo_env.play.table import Player, Table
from perudo_env.play.terminal import plain
from perudo_env.play.terminal.app import Page, PerudoApp, dice_art
from perudo_env.play.terminal.telling import Manner, Teller, seated

ANN, BO, REX = Player("Ann"), Player("Bo"), Player("Rex", "odds")
SHORT = "marquoir:starting_dice=2"


def table(variant: str, *players: Player, seed: int = 4) -> Table:
    return Table(variant, players or (ANN, REX), agents.make, seed)


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """Where the games of a test are kept."""
    monkeypatch.setenv("PERUDO_GAMES", str(tmp_path))
    return Archive()


def series(first: Table) -> Series:
    """Games of which the first one is given; the next ones have seeds 6, 7..."""
    games = Series(first.variant, first.players, agents.make, 5, Archive())
    games._next = first
    return games


# ------------------------------------------------------------------------------------------------ line mode


def played(at: Table, text: str, **manner: Any) -> str:
    out = StringIO()
    plain.main(series(at), Manner(pause=0, **manner), StringIO(text), out)
    return out.getvalue()


def test_a_whole_game_in_lines_says_all_that_a_player_needs() -> None:
    at = table(SHORT)
    # every turn: doubt what stands, or else the least bids
    out = played(at, "dudo\n1x2\n2x2\n" * 60)
    assert at.is_over
    assert at.game.ranks is not None
    for needed in ("SHA-256", "Round 1: ", "Your dice: ", "Dice left: Ann 2, Rex 2.", "To beat: ", "At least: ", "Dudo!", "[", "the count is",
                   "loses a die and has 1 left", "Palifico", "wins the game", "Seed 4, salt "):  # fmt: skip
        assert needed in out, needed
    winner = ("Ann", "Rex")[at.game.ranks.index(1)]
    assert f"\n  1. {winner}\n  2. " in out
    assert "\x1b" not in out


def test_the_other_dice_are_not_shown_before_the_reveal() -> None:
    at = table("classic")
    at.play_agents()
    out = played(at, "")
    assert f"Your dice: {words('en').hand(at.game.hand(0))}." in out
    assert words("en").hand(at.game.hand(1)) not in out
    hidden = "\n".join(Teller(table("box"), Manner(), words("en")).status(0))
    assert "Dice left: Ann 5, Rex in." in hidden


def test_what_is_no_action_is_explained_and_asked_again() -> None:
    at = table("classic", ANN, BO)
    out = played(at, "fly\n9x9\n40x2\n1P\n?\nhint\ntable\nrules\n", language="fr")
    assert at.game.bids == ()
    assert out.count("Non :") == 4
    assert "on n’ouvre sur les Pacos que dans une manche palifico" in out
    assert "La partie reste inachevée." in out


def test_anyone_may_say_calza_before_the_bid_is_answered() -> None:
    at = table("box:calza=anyone", ANN, BO, Player("Cy"))
    first = at.game.seat
    # the bid; then each of the others takes the screen, and one passes
    out = played(at, "1x6\n" + "\n\n" + "\ncalza\n")
    assert first is not None
    names = ["Ann", "Bo", "Cy"]
    assert f"{names[(first + 1) % 3]} lets Calza pass." in out
    assert f"{names[(first + 2) % 3]}: Calza!" in out
    assert at.game.round == 2


def test_a_right_calza_with_a_full_cup_is_told() -> None:
    at = table("pascal", ANN, BO)
    seat = at.game.seat
    assert seat is not None
    at.game.deal([[2, 3, 4, 5, 6], [2, 3, 4, 5, 6]])
    at.act(seat, "2x6")
    out = "\n".join(Teller(at, Manner(), words("en")).happened(at.act(1 - seat, "calza")))
    assert f"{('Ann', 'Bo')[1 - seat]} is right, has all the dice of the start, and gains nothing." in out
    assert "  Ann: 2 3 4 5 [6]" in out


def test_several_people_pass_the_screen_and_a_bid_is_confirmed_if_they_ask_for_it() -> None:
    at = table("classic", ANN, BO)
    first = at.game.seat
    assert first is not None
    out = played(at, "2x3\nno\n2x3\n\n\n", confirm=True)
    assert at.game.bids == ((first, Bid(2, 3)),)
    assert out.count("two 3s? Enter to say it") == 2
    assert f"{('Ann', 'Bo')[1 - first]} alone looks now" in out


def test_french_numbers_and_plurals() -> None:
    french = words("fr")
    assert [french.bid(Bid(q, f)) for q, f in ((1, 1), (2, 1), (3, 4), (1, 4), (27, 6))] == [
        "un Paco",
        "deux Pacos",
        "trois 4",
        "un 4",
        "27 6",
    ]


def test_a_new_game_has_the_same_players_and_new_dice(kept: Archive) -> None:
    at = table("classic:starting_dice=1", seed=4)
    moves, ends = cycle(["dudo\n", "1x2\n", "2x2\n"]), iter(["n\n", ""])

    class Typed(StringIO):
        def readline(self, *_: object) -> str:
            return next(ends if at.is_over else moves)

    heard = StringIO()
    assert not plain.main(series(at), Manner(pause=0), Typed(), heard)
    out = heard.getvalue()
    assert out.count("Enter to leave, n for a new game:") == 1
    assert out.count("Round 1: ") == 2
    assert out.count("(SHA-256)") == 2
    assert out.rstrip().endswith("The game is left unfinished.")
    (name,) = kept.names()
    assert f"The game is kept: {kept.path(name)}" in out


def test_levels_have_their_names_in_the_language_of_the_game() -> None:
    players = seated(["Ann", "regular", "regular", "odds"], {"regular", "odds"}.__contains__, words("fr"))
    assert players == (ANN, Player("habitué", "regular"), Player("habitué 2", "regular"), Player("odds", "odds"))
    at = Table("classic", (ANN, BO), levels.make, 4)
    assert at.game.seat is not None
    assert "habitué ferait : " in "\n".join(
        Teller(at, Manner("fr", hint_agent="regular"), words("fr")).hint(at.game.seat)
    )
    with pytest.raises(ValueError, match="two players are called Ann"):
        seated(["Ann", "Ann"], {"odds"}.__contains__, words("en"))


@pytest.mark.parametrize(("language", "ends"), [("en", "wins the game."), ("fr", "gagne la partie.")])
def test_a_whole_game_through_a_pipe(language: str, ends: str, tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "agents", "terminal", "--plain", "--lang", language, "--variant", SHORT, "--seed", "4",
        "--seats", "Ann", "odds", "--pause", "0", "--games", str(tmp_path),
    ]  # fmt: skip
    done = subprocess.run(command, input="dudo\n1x2\n2x2\n" * 60, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ends in done.stdout
    (saved,) = Archive(tmp_path).names()
    assert str(Archive(tmp_path).path(saved)) in done.stdout
    assert "\x1b" not in done.stdout
    assert "Traceback" not in done.stderr


# ------------------------------------------------------------------------------------------------ the screen


def run(at: Table, script: Callable[[PerudoApp, Pilot[bool]], Coroutine[Any, Any, None]], **manner: Any) -> PerudoApp:
    """A script of key presses and clicks against the app, on a screen of 100 by 32."""
    app = PerudoApp(series(at), Manner(**{"pause": 0, "settle": 0, **manner}))

    async def through() -> None:
        async with app.run_test(size=(100, 32)) as pilot:
            await script(app, pilot)

    asyncio.run(through())
    return app


async def until(pilot: Pilot[bool], holds: Callable[[], bool]) -> None:
    """Let the app work until something holds."""
    for _ in range(2000):
        if holds():
            return
        await pilot.pause(0.01)
    raise AssertionError("the app waits for something else")


def awaits(app: PerudoApp) -> bool:
    """Whether the app waits for a person: an action, a look at the reveal, or the end."""
    return app.table.is_over or app._asked is not None or app.query_one("#next", Button).display


def offered(app: PerudoApp) -> set[str]:
    """The keys of the bar at the foot of the screen."""
    return {key for key, binding in app.screen.active_bindings.items() if binding.binding.show and binding.enabled}


def shown(app: PerudoApp, name: str) -> str:
    return str(app.query_one(f"#{name}", Static).content)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_whole_game_by_keyboard_and_then_another(language: str, kept: Archive) -> None:
    at = table(SHORT)

    async def script(app: PerudoApp, pilot: Pilot[bool]) -> None:
        reveals = 0
        while True:
            await until(pilot, lambda: awaits(app))
            if at.is_over:
                break
            if app._asked is None:
                assert "[" in shown(app, "seats")
                reveals += 1
                await pilot.press("enter")
                await until(pilot, lambda: not app.query_one("#next", Button).display)
                continue
            assert dice_art(at.game.hand(0)) == shown(app, "hand")
            standing = at.game.standing_bid
            if standing is not None:
                assert words(language).bid(standing) in shown(app, "bid")
                assert "Rex" in shown(app, "bid")
            asked = len(app._lines)
            await pilot.press("h", "d" if standing is not None else "enter")
            await until(pilot, lambda asked=asked: len(app._lines) > asked + 1)
        assert reveals >= 1
        await until(pilot, lambda: app.query_one("#again", Button).display)
        assert shown(app, "least") == words(language).gettext("The game is over. n: new game, q: quit.")
        assert offered(app) == {"n", "r", "q"}
        await pilot.press("n")
        await until(pilot, lambda: app.table is not at and awaits(app))
        # the variant has Calza, but not out of turn
        assert offered(app) == {"enter", "d", "c", "up", "down", "right", "h", "r", "q"}
        assert not app.query_one("#again", Button).display
        assert app.table.secret.seed == 6
        second = app.table
        await pilot.press("n")  # not before the end
        await pilot.pause()
        assert app.table is second

    app = run(at, script, language=language)
    assert at.is_over
    said = "\n".join(app._lines)
    for needed in {"en": ("wins the game.", "Palifico", "Seed 4"), "fr": ("gagne la partie.", "Palifico", "Graine 4")}[
        language
    ]:
        assert needed in said, needed


def test_the_mouse_the_bar_and_the_rules() -> None:
    at = table("classic", ANN, BO)

    async def script(app: PerudoApp, pilot: Pilot[bool]) -> None:
        await until(pilot, lambda: len(app.screen_stack) > 1 or app._asked is not None)
        if len(app.screen_stack) > 1:
            await pilot.press("enter")
        await until(pilot, lambda: app._asked is not None)
        seat = app._asked
        await pilot.pause()
        await pilot.click("#face-4")
        await pilot.click("#more")
        await pilot.press("up", "up", "down", "right")
        assert app._bid == Bid(1, 5)
        await pilot.press("4", "up", "up")
        assert app._bid == Bid(3, 4)
        assert shown(app, "chosen") == "three 4s"
        await pilot.press("1")  # no round opens on Pacos
        assert app._bid == Bid(3, 4)
        await pilot.press("r")
        await until(pilot, lambda: len(app.screen_stack) > 1)
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert not app.query_one("#dudo", Button).display
        await pilot.press("d")
        assert "nobody has bid yet" in app._lines[-1]
        await pilot.click("#say")
        await until(pilot, lambda: at.game.standing_bid is not None and len(app.screen_stack) > 1)
        assert at.game.bids == ((seat, Bid(3, 4)),)
        # the next player's dice stay covered until it looks
        assert shown(app, "hand") == "No dice."
        await pilot.press("enter")
        await until(pilot, lambda: app._asked == 1 - seat)  # type: ignore[operator]
        assert dice_art(at.game.hand(1 - seat)) == shown(app, "hand")  # type: ignore[operator]
        await pilot.press("q")

    run(at, script)
    assert not at.is_over


def test_a_key_pressed_twice_does_not_answer_the_next_question() -> None:
    at = table("box:calza=anyone,first_player=first_seat", ANN, BO)

    async def script(app: PerudoApp, pilot: Pilot[bool]) -> None:
        def later() -> None:
            """As if the people had looked at the screen for a while."""
            app._settled_at = 0.0
            if isinstance(app.screen, Page):
                app.screen._from = 0.0

        await until(pilot, lambda: app._asked == 0)
        await pilot.press("enter", "enter")
        assert app._lines[-1] == "La table changeait au moment où vous avez appuyé : rien n’a été fait."
        assert app._confirmed is None
        later()
        # the bid is asked for twice, and two quick presses are one
        await pilot.press("enter", "enter")
        assert at.game.bids == ()
        later()
        await pilot.press("enter", "enter")
        await until(pilot, lambda: len(at.game.bids) == 1 and len(app.screen_stack) > 1)
        # and Bo's dice are not shown to Ann by an Enter too many
        await pilot.press("enter", "p", "c")
        assert len(app.screen_stack) > 1
        later()
        await pilot.press("enter")
        await until(pilot, lambda: app._asked == 1)
        later()
        await pilot.press("p", "p", "d")
        await until(pilot, lambda: not at.game.in_calza_window and app._asked == 1)
        await pilot.press("d")
        assert len(at.game.bids) == 1
        later()
        await pilot.press("d", "enter")
        await until(pilot, lambda: app.query_one("#next", Button).display)
        # the dice stay on the screen until somebody has seen them
        await pilot.press("enter")
        await pilot.pause(0.05)
        assert app.query_one("#next", Button).display
        later()
        await pilot.press("enter")
        await until(pilot, lambda: not app.query_one("#next", Button).display)

    run(at, script, language="fr", confirm=True, settle=60.0)


def test_in_lines_on_a_terminal_an_enter_too_many_passes_nothing() -> None:
    import pty

    at = table("box:calza=anyone", ANN, BO)
    at.act(at.waiting_for[0], "2x3")
    keyboard, screen = pty.openpty()
    out = StringIO()
    with open(screen, "r+b", buffering=0) as device, TextIOWrapper(device, write_through=True) as terminal:
        game = plain.PlainGame(at, Manner(settle=0.05), terminal, out)
        os.write(keyboard, b"\n\n")  # before the question
        asked = out.getvalue

        class Late(StringIO):
            """Somebody who answers once the prompt is there."""

            def write(self, text: str) -> int:
                if "Enter to pass" in text:
                    os.write(keyboard, b"calza\n")
                return super().write(text)

        game._out = Late()
        game._ask(at.waiting_for[0])
    os.close(keyboard)
    assert [type(e).__name__ for e in at.game.events].count("Passed") == 0
    assert "CalzaSaid" in [type(e).__name__ for e in at.game.events]
    assert asked() == ""


@pytest.mark.parametrize("colourless", [True, False])
def test_no_color_is_respected(colourless: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1") if colourless else monkeypatch.delenv("NO_COLOR", raising=False)
    shades: set[str] = set()

    async def script(app: PerudoApp, pilot: Pilot[bool]) -> None:
        await until(pilot, lambda: awaits(app) or len(app.screen_stack) > 1)
        picture = app.export_screenshot()
        shades.update(re.findall(r"#([0-9a-f]{6})\b", picture.split("clip-path=", 1)[1]))

    run(table("classic", ANN, REX), script)
    assert shades
    assert all(s[:2] == s[2:4] == s[4:] for s in shades) is colourless


def test_the_calza_window_closes_by_itself_and_hears_who_speaks() -> None:
    at = table("box:calza=anyone", Player("Odi", "odds"), REX, ANN, seed=1)

    async def script(app: PerudoApp, pilot: Pilot[bool]) -> None:
        in_window = lambda: app._asked is not None and at.game.in_calza_window  # noqa: E731
        await until(pilot, in_window)
        bid = at.game.standing_bid
        # nobody presses anything
        await until(pilot, lambda: any("Ann lets Calza pass" in line for line in app._lines))
        app.manner = Manner(pause=0, settle=0)
        for _ in range(50):
            await until(pilot, lambda: awaits(app))
            if in_window() and at.game.standing_bid != bid:
                break
            await pilot.press("enter")
        await pilot.pause()
        assert app.query_one("#calza", Button).display
        assert not app.query_one("#dudo", Button).display
        await pilot.click("#calza")
        await until(pilot, lambda: "Ann: Calza!" in app._lines)

    run(at, script, window=0.3)
