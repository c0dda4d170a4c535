"""Text for actions, positions and whole game records; what is printed reads back to the same, and prints the same.

An action: ``5x3`` five threes, ``3P`` three Pacos, ``dudo``, ``calza``, ``pass``; :func:`parse_action` also reads what people
type for them.
A round: hands by seat, then what happened: ``22344/13566/- opener=0 palifico 5x4 9x4 dudo`` (``-``: the seat is out).
A position: a variant and a round that goes on: ``classic 22344/13566 opener=0 5x4``; ``seed=``, ``total=`` (dice at the
start of its game, where not all seats began with the variant's number) and ``spent=`` (seats that have had their
palifico, where each has only one) may stand before the hands.
A record: a head line, then a line per round: ``perudo/1 box seed=7`` or, for a game that began from a position,
``perudo/1 box position seed=7``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from perudo_env.engine.actions import MAX_QUANTITY, PACO, Action, Bid
from perudo_env.engine.variant import MAX_FACES, MAX_SEATS, Variant, parse_variant
from perudo_env.game.tokens import CALLS, LETTERS, PACOS

HEAD = "perudo/1"
_BID = re.compile(rf"(\d{{1,3}})(?:\s*[x*]\s*|\s+)([1-6])|(\d{{1,3}})\s*(?:{'|'.join(PACOS)})", re.ASCII)
_HANDS = re.compile(r"(-|[1-6]+)(/(-|[1-6]+))*")


class NotationError(ValueError):
    """The text is not of the form; the message names the bad token and what would be right."""


def parse_action(text: str) -> Action:
    """Read an action alone, as people type it: ``5x3`` or ``5 3``, ``3P`` or ``3 pacos``, a call or its letter, in any case."""
    if not isinstance(text, str):
        raise NotationError(f"{text!r} is not text: write a bid like 5x3 or 3P, dudo, calza or pass")
    word = text.strip().lower().replace("×", "x")
    call = CALLS.get(word, LETTERS.get(word))
    if call is not None:
        return call
    match = _BID.fullmatch(word)
    if match is None:
        raise NotationError(f"{text!r} is not an action: write a bid like 5x3 or 3P, dudo, calza or pass")
    quantity = int(match[1] or match[3])
    if not 1 <= quantity <= MAX_QUANTITY:
        raise NotationError(f"{text!r}: a bid has a quantity from 1 to {MAX_QUANTITY}")
    return Bid(quantity, int(match[2] or PACO))


def format_hand(hand: Sequence[int]) -> str:
    """``(1, 3, 3)`` as ``133``, an empty hand as ``-``."""
    return "".join(map(str, hand)) or "-"


def parse_hands(text: str) -> tuple[tuple[int, ...], ...]:
    """Read ``133/26/-``: the sorted faces of each seat."""
    if not (text.isascii() and _HANDS.fullmatch(text)):
        raise NotationError(
            f"{text!r} is not the hands of a table: write the faces of each seat, like 133/26, and - for a seat that is out"
        )
    return tuple(tuple(sorted(map(int, hand.strip("-")))) for hand in text.split("/"))


@dataclass
class RoundText:
    """One round: the hands, who opened, and the actions in order."""

    hands: tuple[tuple[int, ...], ...]
    opener: int
    palifico: bool = False
    actions: list[Action] = field(default_factory=list)

    def __str__(self) -> str:
        words = ["/".join(map(format_hand, self.hands)), f"opener={self.opener}", *["palifico"] * self.palifico]
        return " ".join([*words, *map(str, self.actions)])


@dataclass(frozen=True)
class Setting:
    """What is said before the first round: the variant, and what a game needs beyond it."""

    variant: Variant
    position: bool = False  # it began from a position, not with a fresh deal
    seed: int | None = None
    total: int | None = None
    spent: tuple[int, ...] = ()
    max_rounds: int | None = None

    def words(self) -> list[str]:
        """The setting as words, the variant first."""
        options = {
            "seed": self.seed,
            "total": self.total,
            "spent": ",".join(map(str, self.spent)) or None,
            "max_rounds": self.max_rounds,
        }
        return [
            str(self.variant),
            *["position"] * self.position,
            *(f"{k}={v}" for k, v in options.items() if v is not None),
        ]


def _number(word: str, least: int, most: int) -> int:
    key, _, digits = word.partition("=")
    # few enough digits: int() itself refuses thousands of them, with another error
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20 and least <= int(digits) <= most):
        raise NotationError(f"{word[:60]!r}: {key} is a whole number from {least} to {most}")
    return int(digits)


def parse_round(text: str) -> RoundText:
    """Read one line of a record: hands, ``opener=``, perhaps ``palifico``, actions."""
    words = text.split()
    if not words:
        raise NotationError(
            "an empty line is not a round: write hands, an opener and actions, like 133/26 opener=0 2x3"
        )
    hands = parse_hands(words[0])
    opener, rest = 0, words[1:]
    if rest and rest[0].startswith("opener="):
        opener, rest = _number(rest[0], 0, MAX_SEATS - 1), rest[1:]
    palifico = bool(rest) and rest[0] == "palifico"
    return RoundText(hands, opener, palifico, [parse_action(w) for w in rest[palifico:]])


_RANGES: dict[str, tuple[int, int]] = {
    "seed": (0, 2**64 - 1),
    "total": (1, MAX_SEATS * MAX_FACES),
    "max_rounds": (1, 2**31 - 1),
}


def parse_setting(words: Sequence[str]) -> Setting:
    """Read a variant and the options after it."""
    if not words:
        raise NotationError("the variant is missing: begin with one like classic or box:calza=anyone")
    try:
        variant = parse_variant(words[0])
    except ValueError as error:
        raise NotationError(str(error)) from None
    position = len(words) > 1 and words[1] == "position"
    options: dict[str, Any] = {}
    for word in words[1 + position :]:
        key, _, value = word.partition("=")
        if key in options:
            raise NotationError(f"{word!r}: {key} is said twice")
        if key == "spent":
            options[key] = tuple(_number(f"spent={v}", 0, MAX_SEATS - 1) for v in value.split(","))
        elif key in _RANGES:
            options[key] = _number(word, *_RANGES[key])
        else:
            raise NotationError(f"{word!r} is not known here: write seed=, total=, spent= or max_rounds=")
    return Setting(variant, position, **options)


def parse_position(text: str) -> tuple[Setting, RoundText]:
    """Read a position, like ``classic 22344/13566 opener=0 5x4``."""
    if not isinstance(text, str):
        raise NotationError(f"{text!r} is not a position: write one like classic 22344/13566 opener=0 5x4")
    words = text.split()
    at = next((i for i, w in enumerate(words) if i > 0 and _HANDS.fullmatch(w)), None)
    if at is None:
        raise NotationError(f"{text!r} has no hands: write a position like classic 22344/13566 opener=0 5x4")
    return parse_setting(words[:at]), parse_round(" ".join(words[at:]))


def format_position(setting: Setting, round_text: RoundText) -> str:
    """The text that :func:`parse_position` reads back."""
    return " ".join([*setting.words(), str(round_text)])


def parse_record(text: str) -> tuple[Setting, list[RoundText]]:
    """Read a whole game record."""
    lines = [line for line in text.splitlines() if line.strip()] if isinstance(text, str) else []
    head = lines[0].split() if lines else []
    if not head or head[0] != HEAD:
        raise NotationError(f"{' '.join(head[:1])!r} does not begin a game record: its first line begins with {HEAD}")
    if len(lines) < 2:
        raise NotationError("the record has no round: write a line with hands, an opener and actions for each")
    setting = parse_setting(head[1:])
    for option in ("total", "spent"):
        if getattr(setting, option) and not setting.position:
            raise NotationError(
                f"{option}= belongs to a game that began from a position: write position after the variant, or leave {option}= out"
            )
    return setting, [parse_round(line) for line in lines[1:]]


def format_record(setting: Setting, rounds: Sequence[RoundText]) -> str:
    """The text that :func:`parse_record` reads back."""
    return "\n".join([" ".join([HEAD, *setting.words()]), *map(str, rounds)])
