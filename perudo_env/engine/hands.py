"""All hands of some dice with their chances, once for whoever enumerates them; a hand is its face counts.

Hands of one number of dice stand in the order of their sorted faces.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import numpy.typing as npt

from perudo_env.engine.variant import MAX_FACES, MAX_STARTING_DICE

_DIGITS = 7 ** np.arange(
    MAX_FACES
)  # a hand's code has one digit per face: the base is more than the most dice of a seat


@cache
def hands(num_dice: int, num_faces: int = MAX_FACES) -> npt.NDArray[np.int8]:
    """All hands of ``num_dice``, int8 face counts ``(num_hands, 6)``."""
    counts = [
        [hand.count(f) for f in range(MAX_FACES)] for hand in combinations_with_replacement(range(num_faces), num_dice)
    ]
    return np.array(counts, np.int8).reshape(-1, MAX_FACES)


@cache
def hand_weights(num_dice: int, num_faces: int = MAX_FACES) -> npt.NDArray[np.float64]:
    """The probability of each of :func:`hands` (multinomial)."""
    ways = [factorial(num_dice) // prod(map(factorial, counts)) for counts in hands(num_dice, num_faces).tolist()]
    return np.array(ways) / num_faces**num_dice


def hand_codes(counts: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """A number for each hand of ``counts`` ``(..., 6)``, by which tables of places are read."""
    return counts.astype(np.int64) @ _DIGITS


def _places(known: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    places = np.full(7**MAX_FACES, -1)
    places[hand_codes(known)] = np.arange(len(known))
    return places


@cache
def hand_numbers(num_dice: int, num_faces: int = MAX_FACES) -> npt.NDArray[np.int64]:
    """The place of a hand among :func:`hands` by its code; -1 for no such hand."""
    return _places(hands(num_dice, num_faces))


HANDS = np.concatenate([hands(dice) for dice in range(MAX_STARTING_DICE + 1)])
"""The hands of 0 to 6 dice, int8 ``(num_hands, 6)``."""
FIRST_HAND = np.cumsum([0, *(len(hands(dice)) for dice in range(MAX_STARTING_DICE + 1))])
"""The first of ``HANDS`` with each number of dice; then their number."""
HAND_CHANCES = np.zeros((MAX_FACES + 1, len(HANDS)))
"""The chance of each among the hands of as many dice, ``(num_faces, num_hands)``."""
for _faces in range(2, MAX_FACES + 1):
    HAND_CHANCES[_faces, ~HANDS[:, _faces:].any(axis=1)] = np.concatenate(
        [hand_weights(dice, _faces) for dice in range(MAX_STARTING_DICE + 1)]
    )
_ALL_PLACES = _places(HANDS)


def hand_ids(counts: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """The place of each hand of ``counts`` ``(..., 6)`` among ``HANDS``."""
    return _ALL_PLACES[hand_codes(counts)]
