"""Perudo as lines in and lines out: for pipes, screen readers and terminals without colours."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from perudo_env.engine.actions import PASS
from perudo_env.engine.clauses import IllegalActionError
from perudo_env.game.events import Event
from perudo_env.game.notation import NotationError, parse_action
from perudo_env.game.words import words
from perudo_env.play.series import Series
from perudo_env.play.table import Table
from perudo_env.play.terminal.telling import Manner, Teller
from perudo_env.rulebook.book import format_rulebook, rulebook

# What is typed, in either language -> the command; all else is an action.
COMMANDS = {
    **dict.fromkeys(("?", "help", "aide"), "help"),
    **dict.fromkeys(("hint", "conseil", "h"), "hint"),
    **dict.fromkeys(("rules", "regles", "règles", "r"), "rules"),
    **dict.fromkeys(("table", "t"), "table"),
    **dict.fromkeys(("quit", "quitter", "q"), "quit"),
}
_SCROLL = 60  # lines that hide the last player's dice where a screen is passed on


class LeftError(Exception):
    """The lines have ended, or a player leaves the game."""


def drop_typed(terminal: TextIO) -> None:
    """Forget what has been typed into a terminal and not been read."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        termios.tcflush(terminal, termios.TCIFLUSH)


class PlainGame:
    """One game in line mode, for one person or for several who pass the screen on."""

    def __init__(self, table: Table, manner: Manner, lines: TextIO, out: TextIO) -> None:
        self.table, self.manner, self.words = table, manner, words(manner.language)
        self.teller = Teller(table, manner, self.words)
        self._lines, self._out = lines, out
        self._viewer: int | None = None

    def run(self, *warnings: str) -> bool:
        """Play to the end, after ``warnings``; False if the players leave before."""
        self._say(*warnings, self.teller.promise(), self.words.gettext("Type ? for help."))
        self._say(*self.teller.happened(self.table.game.events))
        try:
            while not self.table.is_over:
                waiting = self.table.waiting_for
                self._say(*self.teller.happened(self._ask(waiting[0]) if waiting else self._agent()))
        except LeftError:
            self._say(self.words.gettext("The game is left unfinished."))
            return False
        self._say(self.teller.proof())
        return True

    def wants_another(self, kept: str) -> bool:
        """Say where the finished game is kept, and ask for a new one; the end of the lines is a no."""
        self._say(kept)
        try:
            return self._read(self.words.gettext("Enter to leave, n for a new game:")).lower() == "n"
        except LeftError:
            return False

    def _agent(self) -> list[Event]:
        if self.manner.pause > 0:
            time.sleep(self.manner.pause)
        return self.table.play_agent()

    def _ask(self, seat: int) -> list[Event]:
        if self._viewer not in (None, seat):
            # in a pipe nobody looks over a shoulder
            self._say(*[""] * (_SCROLL if self._out.isatty() else 0))
            self._read(self.words.gettext("{name} alone looks now: press Enter.", name=self.teller.names[seat]))
        self._viewer = seat
        self._say(*self.teller.status(seat))
        while True:
            text = self._read(self._prompt(seat))
            command = COMMANDS.get(text.lower())
            if command is not None:
                getattr(self, f"_do_{command}")(seat)
                continue
            try:
                events = self._act(seat, text)
                if events is not None:
                    return events
            except (NotationError, IllegalActionError) as error:
                self._say(self.words.gettext("No: {why}.", why=error))

    def _prompt(self, seat: int) -> str:
        bid, game = self.table.game.standing_bid, self.table.game
        if game.in_calza_window and bid is not None:
            return self.words.gettext(
                "{name}, Calza on {bid}? calza, or Enter to pass:",
                name=self.teller.names[seat],
                bid=self.words.bid(bid),
            )
        return f"{self.teller.names[seat]}>"

    def _act(self, seat: int, text: str) -> list[Event] | None:
        if not text and self.table.game.in_calza_window:
            return self.table.act(seat, PASS)
        try:
            action = parse_action(text)
        except NotationError:
            raise NotationError(
                self.words.gettext(
                    "{typed} is not understood; write a bid like 5x3 or 3P, dudo, calza or pass", typed=repr(text[:40])
                )
            ) from None
        why = self.table.why_illegal(seat, action, self.manner.language)
        if why is not None:
            raise IllegalActionError(why)
        if self.manner.confirm and self._read(
            self.words.gettext("{action}? Enter to say it, n to think again:", action=self.words.action(action))
        ):
            return None
        return self.table.act(seat, action)

    def _do_help(self, seat: int) -> None:
        w = self.words
        self._say(
            w.gettext("5x3: five threes; 3P: three Pacos"),
            w.gettext("dudo: the bid is too high; calza: the bid is exact; pass: no Calza"),
            w.gettext("hint: the chance of the bid, and what an agent would do"),
            w.gettext("table: what you know; rules: the rules in force; quit: leave the game"),
        )

    def _do_hint(self, seat: int) -> None:
        self._say(*self.teller.hint(seat))

    def _do_rules(self, seat: int) -> None:
        self._say(format_rulebook(rulebook(self.table.game.variant), (self.manner.language,)))

    def _do_table(self, seat: int) -> None:
        self._say(*self.teller.status(seat))

    def _do_quit(self, seat: int) -> None:
        raise LeftError

    def _say(self, *lines: str) -> None:
        """Print, at once: whoever reads a pipe waits for it."""
        for line in lines:
            print(line, file=self._out)
        self._out.flush()

    def _read(self, prompt: str) -> str:
        if self._lines.isatty():
            # an Enter too many, or one before the question, is no answer to it; a pipe holds all its answers from the start
            time.sleep(self.manner.settle)
            drop_typed(self._lines)
        print(prompt, end=" ", file=self._out, flush=True)
        line = self._lines.readline()
        if not line:
            self._say("")
            raise LeftError
        return line.strip()


def main(series: Series, manner: Manner | None = None, lines: TextIO | None = None, out: TextIO | None = None) -> bool:
    """Play in line mode for as long as a new game is asked for; False if the last one is left before its end."""
    warning = series.archive.warning(words((manner or Manner()).language))
    while True:
        table = series.deal()
        game = PlainGame(table, manner or Manner(), lines or sys.stdin, out or sys.stdout)
        if not game.run(*filter(None, [warning])):
            return False
        if not game.wants_another(series.keep(table, game.words)):
            return True
