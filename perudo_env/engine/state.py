"""The record of one game: one NumPy structured dtype that the kernels of ``rules.py`` read and write.

A record is complete: it holds the switches of its variant and the seed of its generator, so that a row of a batch plays
as the same game alone. All rows of a batch are of one variant. Faces are 1..6, but columns of face counts start at
0 (column 0 holds the Pacos). Seats count from 0, clockwise.
"""

from __future__ import annotations

import os
from contextlib import suppress
from enum import IntEnum
from functools import cache
from math import inf
from pathlib import Path

import numpy as np

from perudo_env.engine.actions import MAX_BIDS
from perudo_env.engine.variant import MAX_FACES, MAX_SEATS, SWITCHES, Variant, switch_code

NOBODY = -1
MEMORIES = ("perfect", "none")


class Phase(IntEnum):
    """What the seat to act is asked."""

    BID = 0  # raise, or say Dudo (or Calza on turn)
    WINDOW = 1  # calza = anyone: Calza or pass, before the bid may be raised
    OVER = 2


class RoundEnd(IntEnum):
    """How the last finished round ended."""

    NONE = 0
    DUDO = 1
    CALZA = 2


STATE = np.dtype(
    [
        # the variant, a code per switch (variant.switch_code)
        *((switch, np.int8) for switch in SWITCHES),
        # the table
        ("counts_known", np.int8),  # 1: observations hold the dice counts of all seats (shows_counts)
        ("num_seats", np.int8),  # 2..8
        ("total_at_start", np.int16),  # T0: all dice at the start, 1..48
        ("max_rounds", np.int32),  # the game is cut off after this many rounds; 0: no limit
        ("seed", np.uint64),  # every random draw is a hash of this word (rng.py)
        # the game
        ("round", np.int32),  # number of this round, from 1
        ("num_players", np.int8),  # seats that began with dice; the others have place num_players + 1
        ("dice", np.int8, (MAX_SEATS,)),  # dice left per seat, 0..starting_dice
        ("place", np.int8, (MAX_SEATS,)),  # final place per seat, 1 = winner; 0 while it plays
        ("palifico_spent", np.int8, (MAX_SEATS,)),  # 1: the seat may have no more palifico round (palifico = once)
        ("palifico_next", np.int8),  # 1: the next round is palifico
        ("truncated", np.int8),  # 1: max_rounds stopped the game
        # this round
        ("opener", np.int8),  # seat that opens this round
        ("is_palifico", np.int8),  # 1: a palifico round
        ("hands", np.int8, (MAX_SEATS, MAX_FACES)),  # how many dice of each face a seat holds
        ("phase", np.int8),  # Phase
        ("seat", np.int8),  # seat to act; NOBODY when the game is over
        ("bidder", np.int8),  # seat of the standing bid; NOBODY before the opening bid
        ("num_bids", np.int16),  # bids made in this round
        ("bids", np.int16, (MAX_BIDS,)),  # their action ids, in order
        ("bidders", np.int8, (MAX_BIDS,)),  # the seats that made them
        # the round that ended last, public from its reveal on
        ("last_end", np.int8),  # RoundEnd
        ("last_bid", np.int16),  # action id of the bid that was doubted or called exact
        ("last_bidder", np.int8),
        ("last_caller", np.int8),  # seat that said Dudo or Calza
        ("last_count", np.int16),  # matching dice on the table
        ("last_seat", np.int8),  # seat whose dice were at stake: it loses one, or takes one back
        ("last_change", np.int8),  # -1 lost, +1 taken back, 0 a right Calza with a full cup
        ("last_hands", np.int8, (MAX_SEATS, MAX_FACES)),  # all hands as revealed
    ],
    align=True,
)


def shows_counts(variant: Variant, memory: str) -> bool:
    """Whether observations hold the dice counts of all seats: where they are public, and with ``memory="perfect"``.

    Every lost die is public, so who remembers knows all counts although ``dice_counts = hidden``. ``"none"`` leaves them
    out there, for agents with a memory of their own. Raises ``ValueError`` for any other memory.
    """
    if memory not in MEMORIES:
        raise ValueError(f"memory = {memory!r} is unknown: use one of {', '.join(map(repr, MEMORIES))}")
    return memory == "perfect" or variant.dice_counts == "public"


@cache
def _blank(variant: Variant, num_seats: int, total_at_start: int, max_rounds: int, counts_known: bool) -> bytes:
    record = np.zeros(1, STATE)
    for switch in SWITCHES:
        record[switch] = switch_code(switch, getattr(variant, switch))
    record["counts_known"] = counts_known
    record["num_seats"] = num_seats
    record["total_at_start"] = total_at_start
    record["max_rounds"] = max_rounds
    return record.tobytes()


def new_states(
    variant: Variant,
    num_seats: int,
    total_at_start: int,
    max_rounds: int,
    num_games: int = 1,
    memory: str = "perfect",
) -> np.ndarray:
    """Records of games yet to begin: the switches, the seats, T0, the limit of rounds and what seats remember are written.

    Raises ``ValueError`` for an unknown ``memory``, and for more games than the machine can hold.
    """
    check_memory(num_games, STATE.itemsize)
    blank = _blank(variant, num_seats, total_at_start, max_rounds, shows_counts(variant, memory))
    try:
        return np.frombuffer(bytearray(blank) * num_games, STATE)
    except (MemoryError, OverflowError):
        raise _no_room(num_games, STATE.itemsize, inf) from None


def check_memory(num_games: int, each: int) -> None:
    """Raise ``ValueError`` where the machine has no room for games of ``each`` bytes.

    It is asked first: a system that promises more memory than it has ends the process later.
    """
    if num_games * each > 2**30 and num_games * each > (free := _free_memory()):
        raise _no_room(num_games, each, free)


def _no_room(num_games: int, each: int, free: float) -> ValueError:
    size = num_games * each
    return ValueError(
        f"num_games = {num_games} needs {size // 10**9:,} GB of memory: this machine has room for fewer than "
        f"{int(min(free, size) // each):,} games now"
    )


def _free_memory() -> float:
    """Bytes that are to be had now, as far as the system tells; else infinite."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1])
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return inf


def copied(states: np.ndarray) -> np.ndarray:
    """A copy of records, as bytes: NumPy copies a structured array field by field, ten times slower."""
    return np.frombuffer(bytearray(states.view(np.uint8)), STATE)
