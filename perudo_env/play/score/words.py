"""Sentences of the score keeper, in the reader's language: one sentence or two per entry, for the ear as well as for the eye."""

from __future__ import annotations

from perudo_env.game.language import N_
from perudo_env.game.words import Words
from perudo_env.play.names import isolated
from perudo_env.play.score.entries import ScoreError
from perudo_env.play.score.evening import Evening, Line, Table

SCORING_NAMES = {"places": N_("sum of places, the lowest wins"), "wins": N_("games won")}


def ordinal(place: int, w: Words) -> str:
    """``1st``, ``2nd`` ... or ``1re``, ``2e`` ..., for a place."""
    return {1: w.gettext("1st"), 2: w.gettext("2nd"), 3: w.gettext("3rd")}.get(place) or w.gettext("{n}th", n=place)


def dice_left(n: int, w: Words) -> str:
    """``1 die``, ``2 dice``."""
    return w.ngettext("{n} die", "{n} dice", n)


def say_error(error: ScoreError, w: Words) -> str:
    """Why an entry was refused."""
    values = {key: say_error(v, w) if isinstance(v, ScoreError) else v for key, v in error.values.items()}
    return w.gettext(error.message, **values)


def say_line(line: Line, table: Table, w: Words) -> list[str]:
    """A round of the sheet, as it was entered."""
    name, left = line.player, line.dice[table.players.index(line.player)]
    values: dict[str, object] = {"name": isolated(name), "dice": dice_left(left, w)}
    if line.place is not None:
        values["place"] = ordinal(line.place, w)
        if line.left:
            return [w.gettext("{name} leaves the game: {place} place.", **values)]
        return [w.gettext("{name} loses the last die: {place} place.", **values)]
    if line.change < 0:
        return [w.gettext("{name} loses a die: {dice} left.", **values)]
    if line.change > 0:
        return [w.gettext("{name} said a right Calza and takes a die back: {dice}.", **values)]
    return [w.gettext("{name} said a right Calza with a full cup, and gains nothing.", **values)]


def say_next(table: Table, w: Words) -> list[str]:
    """What comes now: who opens, Palifico, or the places at the end."""
    if table.is_over:
        said = [w.gettext("The game was stopped.")] if table.truncated else [w.gettext("The game is over.")]
        order = sorted((p for p in table.players if table.took_part(p)), key=table.place_of)
        places = ", ".join(f"{ordinal(table.place_of(p), w)} {isolated(p)}" for p in order)
        return [*said, w.gettext("Places: {places}.", places=places)]
    said = (
        [w.gettext("Palifico! The face of the opening bid binds everybody, and Pacos are not wild.")]
        if table.palifico
        else []
    )
    opener = isolated(table.opener or "")
    return [*said, w.gettext("{name} opens round {round}.", name=opener, round=table.round)]


def say_gone(evening: Evening, w: Words) -> str:
    """Who has left, in a sentence."""
    names = ", ".join(isolated(p) for p in evening.players if p in evening.gone)
    return w.gettext("Left: {names}. Who joins again plays the next game.", names=names)


def say_standings(evening: Evening, w: Words) -> list[str]:
    """The evening's ranking, a line per player."""
    lines = []
    for s in evening.standings():
        counted = (
            w.ngettext("{n} point", "{n} points", s.points)
            if evening.scoring == "places"
            else w.ngettext("{n} win", "{n} wins", s.points)
        )
        games = w.ngettext("{n} game", "{n} games", s.games)
        lines.append(f"{s.rank}. {isolated(s.player)}: {counted} ({games})")
    return lines
