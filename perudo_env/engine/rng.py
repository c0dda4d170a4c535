"""The small random generator of a game: every draw is a hash of the game's seed and of what is drawn.

SplitMix64's output function (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)
over a counter. The dice of seat ``s`` in round ``r`` depend on (seed, r, s) only, so two policies can be compared on
the same dice after their bidding has diverged, and anybody can roll a finished game again from its seed.
"""

from __future__ import annotations

import numpy as np

from perudo_env.engine.jit import inlined, kernel, wrapping_kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_U27, _U30, _U31, _U32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)

# Which kind of draw: rounds count from 1, so the negative numbers are free for everything that is not a round.
FIRST_PLAYER = -1
ROLL_OFF = -2
NEXT_GAME = -3
RANDOM_PLAY = -4


@wrapping_kernel
def mix(word: np.uint64) -> np.uint64:
    """Scramble 64 bits; a bijection."""
    word = (word ^ (word >> _U30)) * _MIX1
    word = (word ^ (word >> _U27)) * _MIX2
    return word ^ (word >> _U31)


@wrapping_kernel
def draw(seed: np.uint64, stream: int, index: int, count: int) -> np.uint64:
    """The ``count``-th word of (stream, index) in the game of ``seed``."""
    word = mix(seed + _GOLDEN * np.uint64(stream + 16))
    word = mix(word + _GOLDEN * np.uint64(index + 1))
    return mix(word + _GOLDEN * np.uint64(count + 1))


@inlined
def below(word: np.uint64, n: int) -> np.int64:
    """A number from 0 to n - 1 out of a random word; its bias is under n / 2**32."""
    return np.int64(((word >> _U32) * np.uint64(n)) >> _U32)


@inlined
def roll_die(seed: np.uint64, round_number: int, seat: int, die: int, num_faces: int) -> np.int64:
    """The face, from 1, of one die of a seat in a round."""
    return 1 + below(draw(seed, round_number, seat, die), num_faces)


@kernel
def roll_off_sum(seed: np.uint64, attempt: int, seat: int) -> np.int64:
    """The sum of the two six-sided dice a seat rolls for the first turn; attempts count from 0."""
    first = below(draw(seed, ROLL_OFF, seat, 2 * attempt), 6)
    second = below(draw(seed, ROLL_OFF, seat, 2 * attempt + 1), 6)
    return 2 + first + second


@kernel
def next_seed(seed: np.uint64) -> np.uint64:
    """The seed of the game that follows a game of ``seed`` at the same table."""
    return draw(seed, NEXT_GAME, 0, 0)
