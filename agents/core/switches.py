"""The switches that a network was fed or a table was solved under, so that a switch which comes later retires neither.

Whatever was made before a switch knows the rules at its default alone. There the switch adds nothing: a network's weights
for its bits are 0, and a table holds as it did. At any other value the network or table is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perudo_env.engine.observation import switch_slices
from perudo_env.engine.variant import SWITCHES, Variant, parse_variant, shown, switch_values

Known = Mapping[str, tuple[Any, ...]]
"""Switches with their values, in the order of a network's inputs."""

FIRST: Known = {
    "starting_dice": (1, 2, 3, 4, 5, 6),
    "num_faces": (2, 3, 4, 5, 6),
    "raise_rule": ("one_axis", "monotone", "quantity_any_face"),
    "paco_open": ("palifico_only", "always"),
    "palifico": ("off", "each_drop", "once"),
    "calza": ("off", "on_turn", "anyone"),
    "max_bid": ("dice_in_play", "starting_dice", "unbounded"),
    "dice_counts": ("public", "hidden"),
    "first_player": ("random", "roll_off", "first_seat"),
    "paco_bids": ("halved", "top_face", "low_face"),
    "pacos_wild": (False, True),
    "rounds": ("until_one_left", "one"),
}
"""What whoever does not say it knows: the switches of the time before it was written down. Never changed."""


def known_today() -> Known:
    """The switches of this version, as a checkpoint of today writes them down."""
    return {switch: switch_values(switch) for switch in SWITCHES}


def known_to(about: Mapping[str, Any], where: object) -> Known:
    """The switches that a description knows: its ``switches``, or ``FIRST`` where it has none.

    Raises ``ValueError`` for what is no such list, and for a switch or value that this version does not have.
    """
    told = about.get("switches", FIRST)
    if not isinstance(told, Mapping) or not all(isinstance(v, list | tuple) for v in told.values()):
        raise ValueError(f"{where} has switches {shown(told)}: an object of switches, each with a list, belongs there")
    for switch, values in told.items():
        there = switch_values(switch) if switch in SWITCHES else ()
        gone = [v for v in values if not any(v == t and type(v) is type(t) for t in there)]
        if gone or len(set(values)) != len(values):
            raise ValueError(f"{where} knows {switch} as {shown(values)}: this version has {there or 'no such switch'}")
    return {switch: tuple(values) for switch, values in told.items()}


def num_bits(known: Known) -> int:
    """How many inputs of a network tell the switches."""
    return sum(map(len, known.values()))


def variant_then(text: str, known: Known) -> Variant:
    """The variant of a text as it was written: every switch that came later is at its default."""
    return replace(parse_variant(text), **{s: getattr(Variant(), s) for s in SWITCHES if s not in known})


def unknown_in(variant: Variant, known: Known) -> list[str]:
    """What of a variant is not known, as ``switch=value``; a later switch at its default is nothing new."""
    rules = {s: getattr(variant, s) for s in SWITCHES}
    return [f"{s}={v}" for s, v in rules.items() if v not in known.get(s, (getattr(Variant(), s),))]


def widened(weight: npt.NDArray[Any], start: int, known: Known) -> npt.NDArray[Any]:
    """A first layer's weights ``(out, in)`` for inputs with today's switches from ``start``: 0 for what is not known.

    Raises ``ValueError`` for weights of fewer inputs.
    """
    end = start + num_bits(known)
    if weight.ndim != 2 or weight.shape[1] < end:
        raise ValueError(f"weights {weight.shape} have no columns for switches from {start} to {end}")
    if known == known_today() and tuple(known) == SWITCHES:
        return weight
    slices = switch_slices()
    places = [slices[s].start + switch_values(s).index(v) for s, values in known.items() for v in values]
    block = np.zeros((len(weight), num_bits(known_today())), weight.dtype)
    block[:, places] = weight[:, start:end]
    return np.concatenate([weight[:, :start], block, weight[:, end:]], axis=1)
