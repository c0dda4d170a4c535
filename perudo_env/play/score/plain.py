"""The score keeper as lines in and lines out: for a terminal, a pipe and a screen reader."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from perudo_env.engine.variant import RULE_TEXTS
from perudo_env.game.language import N_
from perudo_env.game.words import Words
from perudo_env.play.names import isolated, looks, tidy
from perudo_env.play.score.csvfile import to_csv
from perudo_env.play.score.entries import (
    SCORINGS,
    Calza,
    Entry,
    GameStarted,
    Joined,
    Left,
    Lost,
    Opened,
    Renamed,
    ScoreError,
    Stopped,
    Undone,
    checked_names,
    table_variant,
)
from perudo_env.play.score.evening import seat_of
from perudo_env.play.score.sheet import sheet_html, write_text
from perudo_env.play.score.store import Kept, MissingError, OutOfDateError, Store
from perudo_env.play.score.words import dice_left, ordinal, say_error, say_gone, say_line, say_next, say_standings

HELP = (
    N_("-NAME: NAME lost a die (Dudo, or a wrong Calza)"),
    N_("+NAME: NAME said a right Calza"),
    N_("game [NAME]: the next game; NAME opens it, or whom chance draws"),
    N_("without NAME, NAME: the next game, those sitting out"),
    N_("undo: drop the last entry"),
    N_("stop: cut the game off; those still in are ranked by their dice"),
    N_("join NAME: one more player, from the next game on"),
    N_("leave NAME: NAME goes home, below those still in; join NAME: NAME is back"),
    N_("rename NAME = NAME: correct a name"),
    N_("delete: the whole evening, after a question"),
    N_("score: where everybody stands"),
    N_("sheet FILE.html, csv FILE.csv: write the evening to a file"),
    N_("quit"),
)
# What is typed, in either language -> the command.
COMMANDS = {
    **dict.fromkeys(("game", "partie"), "game"),
    **dict.fromkeys(("without", "sans"), "without"),
    **dict.fromkeys(("undo", "annuler", "u"), "undo"),
    **dict.fromkeys(("stop", "arret", "arrêt"), "stop"),
    **dict.fromkeys(("join", "arrive", "plus"), "join"),
    **dict.fromkeys(("leave", "part", "partir"), "leave"),
    **dict.fromkeys(("rename", "renommer", "corriger"), "rename"),
    **dict.fromkeys(("delete", "supprimer", "effacer"), "delete"),
    **dict.fromkeys(("score", "scores", "s"), "score"),
    **dict.fromkeys(("sheet", "feuille"), "sheet"),
    "csv": "csv",
    **dict.fromkeys(("help", "aide", "?"), "help"),
    **dict.fromkeys(("quit", "quitter", "q"), "quit"),
}


class Finished(Exception):
    """The lines have ended, or the player wants to stop."""


class Keeper:
    """One evening in line mode; everything entered is in the store before it is answered."""

    def __init__(self, store: Store, words: Words, lines: TextIO = sys.stdin, out: TextIO = sys.stdout) -> None:
        self.store, self.words, self._lines, self._out = store, words, lines, out
        self.kept: Kept | None = None
        self._told = 0  # how many entries the player knows of: others may enter some in a browser

    def say(self, *sentences: str) -> None:
        """Print, at once: whoever reads a pipe waits for it."""
        print(*sentences, sep="\n", file=self._out, flush=True)

    def ask(self, question: str, default: str = "") -> str:
        """A line of the player's; ``default`` for an empty one."""
        print(question + (f" [{default}] " if default else " "), end="", file=self._out, flush=True)
        line = self._lines.readline()
        if not line:
            self.say("")
            raise Finished
        return line.strip() or default

    def run(self, evening: int | None) -> None:
        """Go on with an evening, or begin one, until the lines end."""
        try:
            if evening is None:
                self._open()
            else:
                self.kept = self.store.read(evening)
                self._show()
            while True:
                self._try(lambda: self._command(self.ask(">")))
        except Finished:
            if self.kept is not None:
                self.say(self.words.gettext("Evening {id} is kept in {file}.", id=self.kept.id, file=self.store.file))

    def _is_yes(self, answer: str) -> bool:
        return answer[:1].lower() in ("y", "o")

    def _try(self, attempt: Callable[[], None]) -> bool:
        try:
            attempt()
        except ScoreError as error:
            self.say(self.words.gettext("No: {error}.", error=say_error(error, self.words)))
            return False
        return True

    def _open(self) -> None:
        _ = self.words.gettext
        answers: list[Opened] = []

        def attempt() -> None:
            players = checked_names(
                tuple(self.ask(_("Players, in seating order, clockwise, with commas between:")).split(","))
            )
            preset = self.ask(_("Rules ({known}):", known=", ".join(RULE_TEXTS)), "marquoir")
            dice = self.ask(_("Dice each (3, 5 or 6):"), "5")
            if not re.fullmatch(r"[1-6]", dice):
                raise ScoreError(N_("{n} dice each: use 1 to 6"), n=dice)
            calza = self.ask(_("With Calza? (y/n):"), _("y") if table_variant(preset).calza != "off" else _("n"))
            scoring = self.ask(_("The evening counts (places or wins):"), SCORINGS[0])
            scoring = {"victoires": "wins", "victoire": "wins"}.get(scoring.lower(), scoring)
            opened = Opened(players, str(table_variant(preset, int(dice), self._is_yes(calza))), scoring)
            self.kept = self.store.read(self.store.open(opened))
            self._told = 1
            answers.append(opened)

        while not answers:
            self._try(attempt)
        self._enter(GameStarted(seed=random.getrandbits(62)))

    def _command(self, line: str) -> None:
        if not line:
            return None
        self._look()
        # -Ann, - Ann, -1 Ann, Ann -, Ann -1
        change = re.fullmatch(r"(?P<before>[+\-−])(?:1\s)?(?P<name>.+)|(?P<first>.*\S)\s*(?P<after>[+\-−])1?", line)
        if change is not None:
            name = self._name(change["name"] or change["first"])
            return self._enter(Calza(name) if "+" in (change["before"], change["after"]) else Lost(name))
        word, _, rest = line.partition(" ")
        command = COMMANDS.get(word.lower())
        if command is None:
            raise ScoreError(N_("{word} is no command: help lists them"), word=word[:40])
        getattr(self, f"_do_{command}")(rest.strip())
        return None

    def _do_game(self, rest: str) -> None:
        self._enter(GameStarted((), self._name(rest) if rest else "", random.getrandbits(62)))

    def _do_without(self, rest: str) -> None:
        absent = {self._name(name.strip()) for name in rest.split(",")}
        playing = tuple(p for p in self._kept.evening.players if p not in absent)
        self._enter(GameStarted(playing, "", random.getrandbits(62)))

    def _do_undo(self, rest: str) -> None:
        self._enter(Undone())

    def _do_stop(self, rest: str) -> None:
        self._enter(Stopped())

    def _do_join(self, rest: str) -> None:
        self._enter(Joined(rest))

    def _do_leave(self, rest: str) -> None:
        self._enter(Left(self._name(rest)))

    def _do_rename(self, rest: str) -> None:
        # "=" alone may be part of a name
        old, _, new = rest.partition(" = " if " = " in rest else "=")
        self._enter(Renamed(self._name(old), new))

    def _do_delete(self, rest: str) -> None:
        w, kept = self.words, self._kept
        names = ", ".join(map(isolated, kept.evening.players))
        answer = self.ask(w.gettext("Delete evening {id} ({names}) for good? (y/n):", id=kept.id, names=names), "n")
        if not self._is_yes(answer):
            self.say(w.gettext("Nothing is deleted."))
            return
        self.store.delete(kept.id, len(kept.entries))
        self.kept = None
        self.say(w.gettext("Evening {id} is deleted.", id=kept.id))
        raise Finished

    def _do_score(self, rest: str) -> None:
        self._show()

    def _do_sheet(self, rest: str) -> None:
        self._write(rest, sheet_html(self._kept, self.words))

    def _do_csv(self, rest: str) -> None:
        self._write(rest, to_csv(self._kept.entries))

    def _do_help(self, rest: str) -> None:
        self.say(*(self.words.gettext(line) for line in HELP))

    def _do_quit(self, rest: str) -> None:
        raise Finished

    def _write(self, file: str, text: str) -> None:
        if not file:
            raise ScoreError(N_("name the file to write"))
        write_text(Path(file), text)
        self.say(self.words.gettext("Written: {file}", file=file))

    @property
    def _kept(self) -> Kept:
        assert self.kept is not None
        return self.kept

    def _name(self, text: str) -> str:
        """The player of a name, or of a beginning of it that is nobody else's."""
        players, word = self._kept.evening.players, looks(text)
        whole = [p for p in players if looks(p) == word]
        found = whole or [p for p in players if word and looks(p).startswith(word)]
        return found[0] if len(found) == 1 else players[seat_of(text or "?", players)]

    def _look(self) -> None:
        """Read the evening as it stands; where it has been deleted there is nothing more to do."""
        try:
            self.kept = self.store.read(self._kept.id)
        except MissingError as error:
            self.kept = None
            self.say(self.words.gettext("No: {error}.", error=say_error(error, self.words)))
            raise Finished from error

    def _enter(self, entry: Entry) -> None:
        try:
            self.kept = self.store.append(self._kept.id, entry, self._told)
        except OutOfDateError as error:
            self.say(self.words.gettext("No: {error}.", error=say_error(error, self.words)))
            self._look()
            self._show()
        else:
            self._told = len(self._kept.entries)
            self.say(*self._after(entry))

    def _after(self, entry: Entry) -> Iterator[str]:
        evening, w = self._kept.evening, self.words
        table = evening.table
        if isinstance(entry, Undone):
            yield w.gettext("The last entry is dropped.")
        elif isinstance(entry, Joined):
            yield w.gettext("{name} joins.", name=isolated(tidy(entry.player)))
        elif isinstance(entry, Renamed):
            yield w.gettext("{old} is now {new}.", old=isolated(entry.player), new=isolated(tidy(entry.name)))
        elif isinstance(entry, Left):
            yield say_gone(evening, w)
        if isinstance(entry, Lost | Calza | Left) and table is not None and table.lines:
            line = table.lines[-1]
            # who leaves between two games, or after its last die, adds no line
            if line.left == isinstance(entry, Left) and line.player == tidy(entry.player):
                yield from say_line(line, table, w)
        if table is not None:
            yield from say_next(table, w)
            if table.is_over and not isinstance(entry, Joined | Renamed):
                yield from say_standings(evening, w)

    def _show(self) -> None:
        evening, w = self._kept.evening, self.words
        self._told = len(self._kept.entries)
        table = evening.table
        if table is not None:
            self.say(w.gettext("Game {n}.", n=len(evening.tables)))
            for player, dice, place in zip(table.players, table.dice, table.places, strict=True):
                here = (
                    dice_left(dice, w)
                    if not place
                    else ordinal(place, w)
                    if table.took_part(player)
                    else w.gettext("sits out")
                )
                self.say(f"  {isolated(player)}: {here}")
            self.say(*say_next(table, w))
        if evening.gone:
            self.say(say_gone(evening, w))
        if any(done.is_over for done in evening.tables):
            self.say(w.gettext("The evening:"), *say_standings(evening, w))
