"""The variant, that is the rules in force: one frozen dataclass of switches, and the named presets.

The five French rule texts are cited by short name: S0 a complete guide (``classic``), S1 the app Pascal, S2 the
boxed edition, S3 the score keeper Marquoir, S4 scoring an evening. ``docs/rules.md`` tells the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from operator import index
from typing import Any

import numpy as np

MIN_SEATS, MAX_SEATS = 2, 8
MAX_STARTING_DICE = 6
MAX_FACES = 6


def _switch(default: Any, values: tuple[Any, ...], says: str) -> Any:
    return field(default=default, metadata={"values": values, "says": says})


class ContradictionError(ValueError):
    """Values of ``switches`` that cannot hold together; the message says why, and what would be right."""

    def __init__(self, why: str, switches: dict[str, Any] | None = None) -> None:
        super().__init__(why)
        self.switches = switches or {}


@dataclass(frozen=True)
class Variant:
    """The switches of one game of Perudo; equal variants play by equal rules, whatever their names.

    Raises ``ValueError`` for a value a switch does not have and for switches that contradict each other.
    """

    starting_dice: int = _switch(
        5, tuple(range(1, 7)), "dice per seat at the start, and the most a seat may hold (S3: 3, 5, 6)"
    )
    num_faces: int = _switch(6, tuple(range(2, 7)), "faces of a die; fewer than 6 for small research games")
    raise_rule: str = _switch(
        "monotone",
        ("one_axis", "monotone", "quantity_any_face"),
        "how a bid on an ordinary face may follow another (S2: one_axis, S0: monotone, S1: quantity_any_face)",
    )
    paco_open: str = _switch(
        "palifico_only", ("palifico_only", "always"), "when a round may open with a bid on Pacos (S1: always)"
    )
    palifico: str = _switch(
        "each_drop", ("off", "each_drop", "once"), "the round after a seat drops to one die (S1: off, S4: once)"
    )
    calza: str = _switch(
        "off", ("off", "on_turn", "anyone"), "who may say that the bid is exact (S1: on_turn, S2: anyone)"
    )
    max_bid: str = _switch(
        "starting_dice",
        ("dice_in_play", "starting_dice", "unbounded"),
        "the highest quantity that may be bid (S4: unbounded)",
    )
    dice_counts: str = _switch(
        "public", ("public", "hidden"), "whether one sees how many dice the others hold (S2: hidden)"
    )
    first_player: str = _switch(
        "random", ("random", "roll_off", "first_seat"), "who opens the first round (S0: roll_off)"
    )
    paco_bids: str = _switch(
        "halved",
        ("halved", "top_face", "low_face"),
        "the order of bids on Pacos (all five texts: halved; others for research)",
    )
    pacos_wild: bool = _switch(True, (False, True), "whether ones count for every face (all five texts: yes)")
    rounds: str = _switch("until_one_left", ("until_one_left", "one"), "the whole game, or a single round (research)")
    name: str = field(default="custom", compare=False)

    def __post_init__(self) -> None:
        for switch in SWITCHES:
            value = getattr(self, switch)
            values = switch_values(switch)
            # type as well: True == 1, but a bool is no number of dice
            if not any(value == v and type(value) is type(v) for v in values):
                raise ValueError(
                    f"{switch} = {shown(value)} is not a value of this switch: use one of {', '.join(map(repr, values))}"
                )
        if self.dice_counts == "hidden" and self.max_bid == "dice_in_play":
            raise ContradictionError(
                "dice_counts = 'hidden' contradicts max_bid = 'dice_in_play': the mask would show the number of dice in play; "
                "use max_bid = 'starting_dice' or dice_counts = 'public'",
                {"dice_counts": "hidden", "max_bid": "dice_in_play"},
            )

    def __str__(self) -> str:
        """The variant as one word that :func:`parse_variant` reads back: ``box`` or ``box:calza=anyone,starting_dice=3``.

        A name that is no preset's cannot be read back: such a variant is ``custom``.
        """
        name = self.name if self.name in VARIANTS else "custom"
        base = VARIANTS.get(name, Variant())
        changed = [f"{s}={getattr(self, s)}" for s in SWITCHES if getattr(self, s) != getattr(base, s)]
        return name + (":" + ",".join(changed) if changed else "")

    def total_at_start(self, num_seats: int) -> int:
        """T0, the number of dice of a full table."""
        return num_seats * self.starting_dice

    def max_quantity(self, num_seats: int) -> int:
        """The highest quantity with an action id at a table of ``num_seats`` (RULES: ``unbounded`` is 2 T0 + 1)."""
        return highest_quantity(self.max_bid, self.total_at_start(num_seats))


def highest_quantity(max_bid: str, total_at_start: int) -> int:
    """The highest quantity that may ever be bid in a game that starts with ``total_at_start`` dice."""
    return 2 * total_at_start + 1 if max_bid == "unbounded" else total_at_start


SWITCHES: tuple[str, ...] = tuple(f.name for f in fields(Variant) if f.name != "name")
_SWITCH_FIELDS = {f.name: f for f in fields(Variant)}


def switch_values(switch: str) -> tuple[Any, ...]:
    """The values a switch may have, in the order their codes number them in a state record."""
    return _SWITCH_FIELDS[switch].metadata["values"]


def switch_code(switch: str, value: Any) -> int:
    """How a state record stores a value: a number or a truth as itself, a word as its place among the values."""
    return int(value) if isinstance(value, int) else switch_values(switch).index(value)


VARIANTS: dict[str, Variant] = {}


def _preset(name: str, **switches: Any) -> None:
    VARIANTS[name] = Variant(name=name, **switches)


_ONE_ROUND: dict[str, Any] = {
    "raise_rule": "quantity_any_face",
    "paco_open": "always",
    "palifico": "off",
    "max_bid": "dice_in_play",
    "first_player": "first_seat",
    "rounds": "one",
}
_preset("classic", raise_rule="monotone", palifico="each_drop", calza="off", first_player="roll_off")
_preset("pascal", raise_rule="quantity_any_face", paco_open="always", palifico="off", calza="on_turn")
_preset("box", raise_rule="one_axis", palifico="each_drop", calza="off", dice_counts="hidden")
_preset("marquoir", raise_rule="quantity_any_face", palifico="each_drop", calza="on_turn")
_preset("evening", raise_rule="quantity_any_face", palifico="once", calza="off", max_bid="unbounded")
_preset("liars_dice", paco_bids="top_face", **_ONE_ROUND)
_preset("joker", paco_bids="low_face", **_ONE_ROUND)
_preset(
    "pascal_round", raise_rule="quantity_any_face", paco_open="always", palifico="off", calza="on_turn", rounds="one"
)

RULE_TEXTS = ("classic", "pascal", "box", "marquoir", "evening")


def variant(base: str | Variant = "classic", **overrides: Any) -> Variant:
    """A variant, or the text of one, with switches overridden: ``variant("box:starting_dice=3", calza="anyone")``.

    Raises ``ValueError`` for an unknown preset or switch (with the nearest known name), a value that a switch does
    not have, a text that says a switch twice or says none after a colon, or switches that contradict each other.
    """
    if isinstance(base, str):
        base = parse_variant(base)
    elif not isinstance(base, Variant):
        raise ValueError(f"{shown(base)} is not a variant: use a name ({', '.join(VARIANTS)}) or a Variant")
    for key in overrides:
        if key not in SWITCHES:
            raise ValueError(
                f"unknown switch {shown(key)}{nearest(key, SWITCHES)}: the switches are {', '.join(SWITCHES)}"
            )
    return replace(base, **overrides)


def parse_variant(text: str) -> Variant:
    """Read ``classic`` or ``box:calza=anyone,starting_dice=3``; raises ``ValueError`` like :func:`variant`."""
    name, colon, rest = text.partition(":")
    if name != "custom" and name not in VARIANTS:
        raise ValueError(f"unknown variant {shown(name)}{nearest(name, VARIANTS)}: use one of {', '.join(VARIANTS)}")
    overrides: dict[str, Any] = {}
    for item in rest.split(",") if colon else ():
        key, equals, word = item.partition("=")
        if not equals:
            raise ValueError(f"{shown(item)} in variant {shown(text)} is not of the form switch=value")
        if key in overrides:
            raise ValueError(f"variant {shown(text)} says {key} twice: say it once")
        values = switch_values(key) if key in SWITCHES else ()
        overrides[key] = next((v for v in values if str(v).lower() == word.lower()), word)
    return variant(VARIANTS.get(name, Variant()), **overrides)


def as_variant(value: str | Variant) -> Variant:
    """A ``Variant`` from itself or from its text, for arguments that take either."""
    return value if isinstance(value, Variant) else variant(value)


def shown(value: Any, most: int = 80) -> str:
    """A value as an error shows it: its ``repr``, cut if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of over 4,300 digits
        return "a number too long to write"
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def nearest(word: str, known: Any) -> str:
    """`` (did you mean 'x'?)`` for the known name closest to ``word``, or nothing."""
    close = get_close_matches(str(word), list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number: a Python or NumPy integer, and no bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def whole(value: Any) -> int | None:
    """One whole number of any kind as an ``int``: Python's, NumPy's, or an array or tensor of shape ``()``; else None, for a bool too."""
    kind = str(getattr(value, "dtype", ""))
    if isinstance(value, bool) or "bool" in kind or getattr(value, "shape", ()) != ():
        return None
    try:
        return int(index(value))
    except Exception:  # whatever an object's own __index__ raises: it has no number to give
        return None


def table_size(num_seats: Any) -> int:
    """``num_seats`` checked: raises ``ValueError`` unless it is a whole number from 2 to 8."""
    if not is_whole(num_seats):
        raise ValueError(f"num_seats = {num_seats!r} is not a whole number: use {MIN_SEATS} to {MAX_SEATS}")
    if not MIN_SEATS <= num_seats <= MAX_SEATS:
        raise ValueError(f"num_seats = {num_seats} is out of range: use {MIN_SEATS} to {MAX_SEATS}")
    return int(num_seats)


def check_total(variant: Variant, num_seats: int, in_play: int, total: Any) -> int:
    """``total``, T0 of a game with ``in_play`` dice left, checked: raises ``ValueError`` for one that cannot be."""
    # where some seats began with fewer dice, Calza may have brought more into play than T0
    least, most = in_play if variant.calza == "off" else 2, variant.total_at_start(num_seats)
    if not is_whole(total) or not least <= total <= most:
        raise ValueError(
            f"total_at_start = {total} is impossible with {in_play} dice in play at {num_seats} seats of {variant.starting_dice}"
        )
    return int(total)
