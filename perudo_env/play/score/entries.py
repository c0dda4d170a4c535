"""Entries of a score keeper at a table with real dice: one small frozen dataclass per kind of entry, and their JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

from perudo_env.engine.variant import MAX_SEATS, MIN_SEATS, RULE_TEXTS, Variant, parse_variant, variant
from perudo_env.game.files import parse_json
from perudo_env.game.language import N_
from perudo_env.play.language import RefusedError
from perudo_env.play.names import NameRefusedError, beside

SCORINGS = ("places", "wins")


class ScoreError(RefusedError):
    """The entry cannot be made; nothing has changed."""


@dataclass(frozen=True)
class Opened:
    """An evening of ``players`` in seating order, clockwise, won by the sum of ``places`` (S4) or by games won (``wins``)."""

    players: tuple[str, ...]
    variant: str
    scoring: str = "places"


@dataclass(frozen=True)
class Joined:
    """``player`` takes the last seat, or its own again if it had left, from the next game on."""

    player: str


@dataclass(frozen=True)
class GameStarted:
    """A game of ``playing`` (empty: everybody who has not left); ``opener`` bids first, or (empty) whom ``seed`` draws by the variant's rules."""

    playing: tuple[str, ...] = ()
    opener: str = ""
    seed: int = 0


@dataclass(frozen=True)
class Left:
    """``player`` goes home: out of the game that is played, below those still in, and of the next ones until it joins again."""

    player: str


@dataclass(frozen=True)
class Renamed:
    """``player`` is called ``name``, in all games of the evening: a correction."""

    player: str
    name: str


@dataclass(frozen=True)
class Lost:
    """The round ended: ``player`` lost a die, by Dudo or by a wrong Calza."""

    player: str


@dataclass(frozen=True)
class Calza:
    """The round ended: ``player`` said a right Calza."""

    player: str


@dataclass(frozen=True)
class Stopped:
    """The game was cut off; those still in are ranked by their dice."""


@dataclass(frozen=True)
class Undone:
    """The last entry that stood, the evening's own apart, was a mistake and is dropped."""


Entry = Opened | Joined | Left | Renamed | GameStarted | Lost | Calza | Stopped | Undone
KINDS: dict[str, type[Entry]] = {
    "evening": Opened, "join": Joined, "leave": Left, "rename": Renamed, "game": GameStarted, "lost": Lost, "calza": Calza, "stop": Stopped, "undo": Undone,
}  # fmt: skip
_NAMES = {kind: name for name, kind in KINDS.items()}


def kind_of(entry: Entry) -> str:
    """The word for an entry's kind, as it is stored."""
    return _NAMES[type(entry)]


def to_json(entry: Entry) -> str:
    """An entry's values as JSON."""
    return json.dumps(asdict(entry), ensure_ascii=False)


def from_json(kind: str, text: str) -> Entry:
    """The entry that :func:`to_json` wrote; raises ``ScoreError`` for anything else."""
    try:
        made: Any = KINDS[kind]
        values = parse_json(text)
        if not isinstance(values, dict) or set(values) != {f.name for f in fields(made)}:
            raise ValueError
        entry: Entry = made(
            **{key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
        )
        if not all(_is_of(getattr(entry, f.name), str(f.type)) for f in fields(made)):
            raise ValueError
    except (KeyError, TypeError, ValueError) as error:
        raise ScoreError(N_("{kind} with {data} is not an entry of a score"), kind=kind, data=text[:80]) from error
    return entry


def _is_of(value: Any, annotation: str) -> bool:
    if annotation == "tuple[str, ...]":
        return isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    return isinstance(value, {"str": str, "int": int}[annotation]) and not isinstance(value, bool)


def standing_entries(entries: list[Entry]) -> list[Entry]:
    """The entries that no later ``Undone`` drops; raises ``ScoreError`` where there was nothing to undo."""
    standing: list[Entry] = []
    for entry in entries:
        if not isinstance(entry, Undone):
            standing.append(entry)
        elif len(standing) > 1:
            standing.pop()
        else:
            raise ScoreError(N_("there is nothing to undo"))
    return standing


def checked_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Players' names by the rule of all doors (``play/names.py``); raises ``ScoreError`` for those that cannot stand on a sheet."""
    if not MIN_SEATS <= len(names) <= MAX_SEATS:
        raise ScoreError(N_("{n} names: {least} to {most} play"), n=len(names), least=MIN_SEATS, most=MAX_SEATS)
    there: list[str] = []
    for name in names:
        there.append(checked_name(name, there))
    return tuple(there)


def checked_name(name: str, others: Iterable[str]) -> str:
    """The name of a player beside ``others``; raises as :func:`checked_names` does."""
    try:
        return beside(name, others)
    except NameRefusedError as error:
        raise ScoreError(error.message, **error.values) from error


def table_variant(preset: str, dice: int | None = None, calza: bool | None = None) -> Variant:
    """The variant for real dice: a preset of the rule texts, with ``dice`` each, with or without Calza.

    A sheet shows how many dice everybody has, so counts are public. Raises ``ScoreError`` for what is not one.
    """
    if preset not in RULE_TEXTS:
        raise ScoreError(
            N_("{preset} is not a set of rules: use one of {known}"), preset=preset, known=", ".join(RULE_TEXTS)
        )
    base = variant(preset, dice_counts="public")
    changes: dict[str, Any] = {} if dice is None else {"starting_dice": dice}
    if calza is not None and calza != (base.calza != "off"):
        # the box lets anyone say Calza (S2), the others whoever is to act
        changes["calza"] = ("anyone" if preset == "box" else "on_turn") if calza else "off"
    try:
        return variant(base, **changes)
    except ValueError as error:
        raise ScoreError(N_("{n} dice each: use 1 to 6"), n=dice) from error


def read_variant(text: str) -> Variant:
    """The variant of an evening from its text; raises ``ScoreError`` unless whole games are played by it."""
    try:
        read = parse_variant(text)
    except ValueError as error:
        raise ScoreError("{error}", error=error) from error
    if read.rounds == "one":
        raise ScoreError(
            N_("{preset} is not a set of rules: use one of {known}"), preset=text, known=", ".join(RULE_TEXTS)
        )
    return read
