"""Perudo in a terminal, by keyboard and mouse (Textual); ``plain.py`` is the same game in lines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Footer, Static

from perudo_env.engine.actions import CALZA, DUDO, PASS, Action, Bid
from perudo_env.game.events import Event, Revealed, RoundStarted
from perudo_env.game.words import words
from perudo_env.play.series import Series
from perudo_env.play.table import Hint, Table
from perudo_env.play.terminal.telling import Manner, Teller
from perudo_env.render.scene import Scene, scene
from perudo_env.rulebook.book import format_rulebook, rulebook

_PIPS = {
    1: ("       ", "   ★   ", "       "),
    2: (" ●     ", "       ", "     ● "),
    3: (" ●     ", "   ●   ", "     ● "),
    4: (" ●   ● ", "       ", " ●   ● "),
    5: (" ●   ● ", "   ●   ", " ●   ● "),
    6: (" ●   ● ", " ●   ● ", " ●   ● "),
}


def dice_art(hand: Iterable[int]) -> str:
    """Dice side by side, five lines high."""
    faces = list(hand)
    rows = ["╭───────╮ " * len(faces)]
    rows += ["".join(f"│{_PIPS[face][i]}│ " for face in faces) for i in range(3)]
    rows.append("╰───────╯ " * len(faces))
    return "\n".join(row.rstrip() for row in rows)


class Page(ModalScreen[None]):
    """A text over the table: the rules, or who is to look next. Enter or Escape leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [("enter,escape,q", "leave", "OK")]

    def __init__(self, text: str, settle: float = 0.0) -> None:
        super().__init__()
        self._text, self._from = text, time.monotonic() + settle

    def compose(self) -> ComposeResult:
        """The text, which scrolls, and a button."""
        with VerticalScroll(id="page"):
            yield Static(self._text, markup=False)
        yield Button("OK", id="ok", compact=True)

    def on_mount(self) -> None:
        """The keys scroll the text."""
        self.query_one("#page").focus()

    @on(Button.Pressed, "#ok")
    def action_leave(self) -> None:
        """Back to the table, unless the key was meant for what was there before."""
        if time.monotonic() >= self._from:
            self.dismiss()


class PerudoApp(App[bool]):
    """Games at a table, one after another; its result is whether the last one was played to the end."""

    AUTO_FOCUS = None  # Enter says the bid until somebody tabs to a button
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #middle { height: 1fr; }
    #seats { width: 1fr; padding: 0 1; }
    #log { width: 1fr; border-left: solid $secondary; padding: 0 1; }
    #bid { height: auto; padding: 0 1; text-style: bold; }
    #least { height: auto; padding: 0 1; }
    #hand { height: 5; padding: 0 1; }
    #bar, #calls { height: 1; margin: 0 1; }
    Button { min-width: 5; margin-right: 1; }
    Button.chosen { text-style: reverse bold; }
    #chosen { width: auto; min-width: 14; margin-right: 1; }
    Page { align: center middle; }
    #page { width: 90%; height: 85%; border: round $primary; background: $surface; padding: 0 1; }
    """

    def __init__(self, series: Series, manner: Manner) -> None:
        super().__init__()
        self.series, self.manner, self.texts = series, manner, words(manner.language)
        self._lines: list[str] = []
        self._deal()
        self._asked: int | None = None  # the seat that is asked now
        self._action: asyncio.Future[Action] | None = None
        self._go_on = asyncio.Event()
        self._bid: Bid | None = None  # what the bar holds
        self._confirmed: Bid | None = None
        self._settled_at = 0.0  # by time.monotonic: from when on keys answer what is asked now
        self.title = f"Perudo, {self.table.game.variant}"
        _ = self.texts.gettext
        for key, action, label in (
            ("enter", "say_bid", _("Bid / go on")), ("d", "call('dudo')", _("Dudo")), ("c", "call('calza')", _("Calza")),
            ("p", "call('pass')", _("Pass")), ("up", "quantity(1)", _("More")), ("down", "quantity(-1)", _("Fewer")),
            ("left", "face(-1)", ""), ("right", "face(1)", _("Face")), ("h", "hint", _("Hint")), ("r", "rules", _("Rules")),
            ("n", "new_game", _("New game")), ("q", "leave", _("Quit")),
        ):  # fmt: skip
            self._bindings.bind(key, action, label, show=bool(label))
        for face in range(1, self.table.game.variant.num_faces + 1):
            self._bindings.bind(str(face), f"choose({face})", "", show=False)
        self._bindings.bind("pageup", "scroll(-1)", "", show=False)
        self._bindings.bind("pagedown", "scroll(1)", "", show=False)

    def _deal(self) -> None:
        """Put up the next game."""
        self.table: Table = self.series.deal()
        self.teller = Teller(self.table, self.manner, self.texts)
        self._viewer = next((s for s in range(len(self.table.players)) if self.table.is_person(s)), None)
        self._is_kept = False

    # ------------------------------------------------------------------------------------------ the screen

    def compose(self) -> ComposeResult:
        """Seats and log, the standing bid, own dice, the bar of the next bid, the calls."""
        _ = self.texts.gettext
        with Horizontal(id="middle"):
            yield Static(id="seats", markup=False)
            with VerticalScroll(id="log", can_focus=False):
                yield Static(id="lines", markup=False)
        yield Static(id="bid", markup=False)
        yield Static(id="least", markup=False)
        yield Static(id="hand", markup=False)
        with Horizontal(id="bar"):
            for face in (*range(2, self.table.game.variant.num_faces + 1), 1):
                yield Button(self.texts.face(face), id=f"face-{face}", compact=True)
            yield Button("-", id="fewer", compact=True)
            yield Static(id="chosen", markup=False)
            yield Button("+", id="more", compact=True)
        with Horizontal(id="calls"):
            for name, label in (("say", _("Bid")), ("dudo", _("Dudo")), ("calza", _("Calza")), ("pass", _("Pass")), ("next", _("Go on")),
                                ("again", _("New game")), ("hint", _("Hint")), ("rules", _("Rules"))):  # fmt: skip
                yield Button(label, id=name, compact=True)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Begin."""
        self.play()

    def _show(self, *, reveal: bool = False) -> None:
        """Bring the whole screen up to date."""
        viewer = 0 if self._viewer is None else self._viewer
        # where agents alone play, nobody's dice are anybody's
        seen = scene(self.table.game, viewer, reveal=reveal)
        self.query_one("#seats", Static).update("\n".join(self._seat_lines(seen)))
        own = seen.hands[viewer] if self._viewer is not None else None
        self.query_one("#hand", Static).update(dice_art(own) if own else self.texts.gettext("No dice."))
        standing = self.texts.gettext("No bid yet.")
        if seen.standing is not None:
            bid = f"{self.texts.bid(seen.standing[1])} ({seen.standing[1]})"
            standing = self.texts.gettext(
                "To beat: {bid}, by {name}.", bid=bid, name=self.teller.names[seen.standing[0]]
            )
        if seen.revealed and seen.last is not None:
            standing = self.texts.gettext(
                "Bid: {bid}. Count: {count}.", bid=self.texts.bid(seen.last.standing[1]), count=seen.last.count
            )
        self.query_one("#bid", Static).update(standing)
        asked = self._asked is not None and not reveal
        self.query_one("#least", Static).update(
            self.teller.least(seen.raises) if asked and not seen.in_calza_window else self._waits(seen)
        )
        self._show_bar(seen, asked)

    def _waits(self, seen: Scene) -> str:
        _ = self.texts.gettext
        if seen.revealed:
            return _("Enter: go on.") if not self.table.is_over else _("The game is over. n: new game, q: quit.")
        if seen.in_calza_window and self._asked is not None:
            return _("{name}: Calza or pass?", name=self.teller.names[self._asked])
        return _("{name} is thinking.", name=self.teller.names[seen.seat]) if seen.seat is not None else ""

    def _seat_lines(self, seen: Scene) -> Iterable[str]:
        _, names = self.texts.gettext, self.teller.names
        flags = [_("Palifico")] * seen.palifico
        yield ", ".join([_("Round {round}", round=seen.round), *flags])
        said = dict(seen.bids)  # the last bid of each seat
        for seat, name in enumerate(names):
            arrow = ">" if seat == (self._asked if self._asked is not None else seen.seat) else " "
            marks = [_("you")] * (seat == self._viewer and self.teller.num_people > 0) + [_("opens")] * (
                seat == seen.opener
            )
            label = name + (f" ({', '.join(marks)})" if marks else "")
            bid = f"  {self.texts.bid(said[seat])}" if seat in said and not seen.revealed else ""
            yield f"{arrow} {self.texts.labelled(label, self._cup(seen, seat))}{bid}"

    def _cup(self, seen: Scene, seat: int) -> str:
        hand, dice = seen.hands[seat], seen.dice[seat]
        if not seen.alive[seat]:
            return self.texts.gettext("out")
        if seen.revealed and hand is not None:
            return self.teller.marked(hand, seen.matching)
        return "■" * dice + f" {dice}" if dice is not None else "■ ?"

    def _show_bar(self, seen: Scene, asked: bool) -> None:
        may_bid = asked and not seen.in_calza_window and bool(seen.raises)
        if not may_bid:
            self._bid = None
        elif self._bid is None or not self._may(self._bid):
            face = min(seen.raises, key=lambda f: seen.raises[f][0])
            self._bid = Bid(seen.raises[face][0], face)
        for face in range(1, self.table.game.variant.num_faces + 1):
            button = self.query_one(f"#face-{face}", Button)
            button.disabled = not may_bid or face not in seen.raises
            button.set_class(self._bid is not None and self._bid.face == face, "chosen")
        for name in ("fewer", "more", "say"):
            self.query_one(f"#{name}", Button).disabled = not may_bid
        legal = self._legal_calls() if asked else ()
        for name, call in (("dudo", DUDO), ("calza", CALZA), ("pass", PASS)):
            self.query_one(f"#{name}", Button).display = call in legal
        self.query_one("#next", Button).display = not asked and seen.revealed and not self.table.is_over
        self.query_one("#again", Button).display = self._is_kept
        self.query_one("#chosen", Static).update(self.texts.bid(self._bid) if self._bid is not None else "")

    def _legal_calls(self) -> tuple[Action, ...]:
        seat = self._asked
        return () if seat is None else tuple(c for c in (DUDO, CALZA, PASS) if self.table.why_illegal(seat, c) is None)

    def _may(self, bid: Bid) -> bool:
        return self._asked is not None and self.table.why_illegal(self._asked, bid) is None

    def _say(self, *lines: str) -> None:
        self._lines = [*self._lines, *lines][-400:]
        self.query_one("#lines", Static).update("\n".join(self._lines))
        self.query_one("#log", VerticalScroll).scroll_end(animate=False)

    # ------------------------------------------------------------------------------------------ the game

    def _settle(self) -> None:
        """Something is asked anew: a key pressed at this moment, or twice, was meant for what was asked before."""
        self._settled_at = time.monotonic() + self.manner.settle

    def _is_too_soon(self) -> bool:
        too_soon = time.monotonic() < self._settled_at
        if too_soon:
            self._say(self.texts.gettext("That key came just as the table changed, and was not taken."))
        return too_soon

    @work(exclusive=True)
    async def play(self) -> None:
        """Drive the table to the end of the game, and keep it."""
        self._show()
        self._say(*filter(None, [self.series.archive.warning(self.texts)]), self.teller.promise())
        await self._tell(list(self.table.game.events))
        while not self.table.is_over:
            waiting = self.table.waiting_for
            if waiting:
                events = await self._ask(waiting[0])
            else:
                self._show()
                await asyncio.sleep(self.manner.pause)
                # the search mode thinks for a while, and the screen must answer meanwhile
                events = await asyncio.to_thread(self.table.play_agent)
            await self._tell(events)
        self._say(self.teller.proof(), self.series.keep(self.table, self.texts))
        self._is_kept = True
        self._show(reveal=True)
        self.refresh_bindings()

    async def _ask(self, seat: int) -> list[Event]:
        if self._viewer != seat:
            self._viewer = None
            self._show()
            await self.push_screen_wait(
                Page(
                    self.texts.gettext("{name} alone looks now: press Enter.", name=self.teller.names[seat]),
                    self.manner.settle,
                )
            )
        self._viewer = self._asked = seat
        self._action = asyncio.get_running_loop().create_future()
        self._settle()
        self._show()
        if self.manner.hints:
            self.action_hint()
        in_window = self.table.game.in_calza_window
        try:
            action = await asyncio.wait_for(self._action, self.manner.window if in_window else None)
        except asyncio.TimeoutError:
            return self.table.close_window()
        finally:
            self._asked = self._action = self._bid = self._confirmed = None
        return self.table.act(seat, action)

    async def _tell(self, events: list[Event]) -> None:
        """Write what happened; a reveal stays until a person has seen it."""
        shown = next((i for i, e in enumerate(events) if isinstance(e, Revealed)), None)
        if shown is None:
            self._say(*self.teller.happened(events))
            return
        upto = next((i for i, e in enumerate(events) if i > shown and isinstance(e, RoundStarted)), len(events))
        self._say(*self.teller.happened(events[:upto]))
        self._show(reveal=True)
        if not self.table.is_over:
            await self._seen()
        self._say(*self.teller.happened(events[upto:]))

    async def _seen(self) -> None:
        people = any(self.table.is_person(s) and d > 0 for s, d in enumerate(self.table.game.dice))
        if people:
            self._go_on.clear()
            self._settle()
            await self._go_on.wait()
        else:
            await asyncio.sleep(self.manner.pause)

    def _choose(self, action: Action) -> None:
        """An action of whoever is asked; one that is illegal is explained."""
        if self._action is None or self._action.done() or self._asked is None or self._is_too_soon():
            return
        why = self.table.why_illegal(self._asked, action, self.manner.language)
        if why is not None:
            self._say(self.texts.gettext("No: {why}.", why=why))
        elif self.manner.confirm and isinstance(action, Bid) and self._confirmed != action:
            self._confirmed = action
            self._settle()
            self._say(self.texts.gettext("{bid}? Once more to say it.", bid=self.texts.bid(action)))
        else:
            self._action.set_result(action)

    # ------------------------------------------------------------------------------------------ keys and buttons

    def action_say_bid(self) -> None:
        """Enter: the bid of the bar, or on with the game after a reveal."""
        if self._bid is not None:
            self._choose(self._bid)
        elif self._asked is None and not self._is_too_soon():
            self._go_on.set()

    def action_call(self, word: str) -> None:
        """Dudo, Calza or pass."""
        self._choose({"dudo": DUDO, "calza": CALZA, "pass": PASS}[word])

    def action_quantity(self, by: int) -> None:
        """More or fewer dice in the bar's bid, as far as the rules allow."""
        if self._bid is not None:
            self._take(Bid(self._bid.quantity + by, self._bid.face))

    def action_face(self, by: int) -> None:
        """The next face that may be bid, at its least."""
        if self._bid is None:
            return
        raises = scene(self.table.game, self._asked).raises
        faces = list(raises)
        face = faces[(faces.index(self._bid.face) + by) % len(faces)]
        self._take(Bid(raises[face][0], face))

    def action_choose(self, face: int) -> None:
        """A face, at the least quantity that may be bid."""
        raises = scene(self.table.game, self._asked).raises if self._bid is not None else {}
        if face in raises:
            self._take(Bid(raises[face][0], face))

    def _take(self, bid: Bid) -> None:
        if bid.quantity > 0 and self._may(bid):
            self._bid = bid
            self._show()

    def action_hint(self) -> None:
        """Help for whoever is asked."""
        if self._asked is not None:
            self._help(self.teller.advice(self._asked))

    @work
    async def _help(self, advice: Callable[[], Hint]) -> None:
        """Say what an agent that may think for a while advises."""
        self._say(*self.teller.say_hint(await asyncio.to_thread(advice)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys that the footer offers: those of the variant while a game goes on, a new game after it."""
        if self._is_kept:
            return action not in ("say_bid", "call", "quantity", "face", "choose", "hint")
        calza = self.table.game.variant.calza
        played = {"calza": calza != "off", "pass": calza == "anyone"}
        return action != "new_game" and played.get(str(*parameters[:1]), True)

    def action_new_game(self) -> None:
        """The same players again, with new dice."""
        if self._is_kept:
            self._deal()
            self._say("")
            self.refresh_bindings()
            self.play()

    def action_rules(self) -> None:
        """The rules in force."""
        self.push_screen(Page(format_rulebook(rulebook(self.table.game.variant), (self.manner.language,))))

    def action_scroll(self, by: int) -> None:
        """Through what has been said."""
        self.query_one("#log", VerticalScroll).scroll_relative(y=8 * by, animate=False)

    def action_leave(self) -> None:
        """End, in mid-game or after it."""
        self.exit(self.table.is_over)

    @on(Button.Pressed)
    def pressed(self, event: Button.Pressed) -> None:
        """A button does what its key does."""
        name = event.button.id or ""
        if name.startswith("face-"):
            self.action_choose(int(name[-1]))
        elif name in ("fewer", "more"):
            self.action_quantity(1 if name == "more" else -1)
        elif name in ("say", "next"):
            self.action_say_bid()
        elif name in ("dudo", "calza", "pass"):
            self.action_call(name)
        elif name == "hint":
            self.action_hint()
        elif name == "rules":
            self.action_rules()
        elif name == "again":
            self.action_new_game()


def main(series: Series, manner: Manner | None = None) -> bool:
    """Play in the terminal; False if the last game is left before its end."""
    finished = bool(PerudoApp(series, manner or Manner()).run())
    # the screen is gone, and with it the only copy
    print(*series.lost, sep="\n", end="\n" if series.lost else "")
    return finished
