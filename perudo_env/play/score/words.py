"""What a score says, in the reader's language: one sentence or two per entry, for the ear as well as for the eye."""

from __future__ import annotations

from gettext import NullTranslations

from perudo_env.play.score.entries import N_, ScoreError
from perudo_env.play.score.evening import Evening, Line, Table

SCORING_NAMES = {"places": N_("sum of places, the lowest wins"), "wins": N_("games won")}


def ordinal(place: int, t: NullTranslations) -> str:
    """``1st``, ``2nd`` ... or ``1re``, ``2e`` ..., for a place."""
    return {1: t.gettext("1st"), 2: t.gettext("2nd"), 3: t.gettext("3rd")}.get(place) or t.gettext("%(n)dth") % {"n": place}


def dice_left(n: int, t: NullTranslations) -> str:
    """``1 die``, ``2 dice``."""
    return t.ngettext("%(n)d die", "%(n)d dice", n) % {"n": n}


def say_error(error: ScoreError, t: NullTranslations) -> str:
    """Why an entry was refused."""
    return t.gettext(error.message) % error.values


def say_line(line: Line, table: Table, t: NullTranslations) -> list[str]:
    """A round of the sheet, as it was entered."""
    name, left = line.player, line.dice[table.players.index(line.player)]
    values = {"name": name, "dice": dice_left(left, t)}
    if line.place is not None:
        values["place"] = ordinal(line.place, t)
        return [t.gettext("%(name)s loses the last die: %(place)s place.") % values]
    if line.change < 0:
        return [t.gettext("%(name)s loses a die: %(dice)s left.") % values]
    if line.change > 0:
        return [t.gettext("%(name)s said a right Calza and takes a die back: %(dice)s.") % values]
    return [t.gettext("%(name)s said a right Calza with a full cup, and gains nothing.") % values]


def say_next(table: Table, t: NullTranslations) -> list[str]:
    """What comes now: who opens, Palifico, or the places at the end."""
    if table.is_over:
        said = [t.gettext("The game was stopped.")] if table.truncated else [t.gettext("The game is over.")]
        order = sorted((p for p in table.players if table.took_part(p)), key=table.place_of)
        places = ", ".join(f"{ordinal(table.place_of(p), t)} {p}" for p in order)
        return [*said, t.gettext("Places: %(places)s.") % {"places": places}]
    said = [t.gettext("Palifico! The face of the opening bid binds everybody, and Pacos are not wild.")] if table.palifico else []
    return [*said, t.gettext("%(name)s opens round %(round)d.") % {"name": table.opener, "round": table.round}]


def say_standings(evening: Evening, t: NullTranslations) -> list[str]:
    """The evening's ranking, a line per player."""
    lines = []
    for s in evening.standings():
        counted = t.ngettext("%(n)d point", "%(n)d points", s.points) if evening.scoring == "places" else t.ngettext("%(n)d win", "%(n)d wins", s.points)
        games = t.ngettext("%(n)d game", "%(n)d games", s.games) % {"n": s.games}
        lines.append(f"{s.rank}. {s.player}: {counted % {'n': s.points}} ({games})")
    return lines
