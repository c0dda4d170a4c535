"""What a score keeper is told at a table with real dice: one small frozen dataclass per kind of entry, and their JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from perudo_env.engine.variant import MAX_SEATS, MIN_SEATS, RULE_TEXTS, Variant, parse_variant, variant
from perudo_env.game.files import parse_json

SCORINGS = ("places", "wins")
MOST_LETTERS = 30


def N_(message: str) -> str:
    """Marks a message for the catalogue; whoever shows it translates it."""
    return message


class ScoreError(ValueError):
    """The entry cannot be made; nothing has changed. ``message`` is the catalogue's, with ``values`` to fill in."""

    def __init__(self, message: str, **values: Any) -> None:
        super().__init__(message.format(**values))
        self.message, self.values = message, values


@dataclass(frozen=True)
class Opened:
    """An evening of ``players`` in seating order, clockwise, won by the sum of ``places`` (S4) or by games won (``wins``)."""

    players: tuple[str, ...]
    variant: str
    scoring: str = "places"


@dataclass(frozen=True)
class Joined:
    """``player`` takes the last seat, from the next game on."""

    player: str


@dataclass(frozen=True)
class GameStarted:
    """A game of ``playing`` (empty: everybody); ``opener`` bids first, or (empty) whom ``seed`` draws by the variant's rules."""

    playing: tuple[str, ...] = ()
    opener: str = ""
    seed: int = 0


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


Entry = Opened | Joined | GameStarted | Lost | Calza | Stopped | Undone
KINDS: dict[str, type[Entry]] = {
    "evening": Opened, "join": Joined, "game": GameStarted, "lost": Lost, "calza": Calza, "stop": Stopped, "undo": Undone,
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
    """Players' names without stray blanks; raises ``ScoreError`` for names that cannot stand on a sheet."""
    cleaned = tuple(" ".join(name.split()) for name in names)
    if not MIN_SEATS <= len(cleaned) <= MAX_SEATS:
        raise ScoreError(N_("{n} names: {least} to {most} play"), n=len(cleaned), least=MIN_SEATS, most=MAX_SEATS)
    for name in cleaned:
        if not name or len(name) > MOST_LETTERS or not name.isprintable():
            raise ScoreError(N_("{name} is not a name: use 1 to {most} letters"), name=name[:40], most=MOST_LETTERS)
    folded = [name.casefold() for name in cleaned]
    for i, name in enumerate(cleaned):
        if folded[i] in folded[:i]:
            raise ScoreError(N_("two players are called {name}: tell them apart"), name=name)
    return cleaned


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
