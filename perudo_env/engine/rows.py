"""Doors to a single record: kernels that take the array of records and a row.

A jitted call on an array costs a third of one on a lone record. ``Game`` uses them with a batch of one.
"""

from __future__ import annotations

import numpy as np

from perudo_env.engine.actions import quantity_of
from perudo_env.engine.jit import kernel
from perudo_env.engine.observation import encode
from perudo_env.engine.rounds import apply, final_return, settle, start_game, start_round, stop_game
from perudo_env.engine.rules import PALIFICO_ONCE, Reason, fill_mask, why_illegal
from perudo_env.engine.state import Phase


@kernel
def start_row(states: np.ndarray, i: int, seed: np.uint64, dice: np.ndarray) -> None:
    """Begin a new game in row ``i``."""
    start_game(states[i], seed, dice)


@kernel
def open_row(states: np.ndarray, i: int, opener: int, palifico: bool) -> None:
    """Begin row ``i``'s first round again, with this opener, palifico or not."""
    s = states[i]
    s["round"] = 0
    s["palifico_next"] = palifico
    if palifico and s["palifico"] == PALIFICO_ONCE:
        s["palifico_spent"][opener] = 1
    start_round(s, opener)


@kernel
def deal_row(states: np.ndarray, i: int, counts: np.ndarray) -> None:
    """Put given dice, int8 face counts ``(num_seats, 6)``, under the cups of row ``i``."""
    for seat in range(states[i]["num_seats"]):
        for face in range(counts.shape[1]):
            states[i]["hands"][seat, face] = counts[seat, face]


@kernel
def act_row(states: np.ndarray, i: int, action: int) -> int:
    """Play an action in row ``i``: minus its Reason, and nothing changed, if it is illegal; else 1 if it ended the round, 0 if not."""
    reason = why_illegal(states[i], action)
    if reason != Reason.LEGAL:
        return -reason
    return int(apply(states[i], action))


@kernel
def settle_row(states: np.ndarray, i: int, seat: int, change: int) -> None:
    """End row ``i``'s round by its outcome alone, for a table with real dice: ``seat`` lost a die (-1) or said a right Calza (+1)."""
    settle(states[i], seat, change)


@kernel
def stop_row(states: np.ndarray, i: int) -> None:
    """Cut row ``i``'s game off: the seats still in are ranked by their dice."""
    stop_game(states[i])


@kernel
def step_row(states: np.ndarray, i: int, action: int, switches: np.ndarray, mask: np.ndarray, seen: np.ndarray) -> int:
    """:func:`act_row`, and then write the mask and the observation, unpadded, of the next seat to act, if there is one.

    Minus a Reason, or in one number, for fields of a record are slow to read from Python: 64 times the seat that acted,
    4 times the next seat + 1 (0: the game is over), 2 if a seat is out or the game over, 1 if the round has ended.
    """
    acted = states[i]["seat"]
    result = act_row(states, i, action)
    if result < 0:
        return result
    s = states[i]
    if s["phase"] != Phase.OVER:
        fill_mask(s, mask)
        encode(s, s["seat"], switches, s["num_seats"], quantity_of(mask.size - 1), seen)
    someone_left = result == 1 and (s["phase"] == Phase.OVER or s["dice"][s["last_seat"]] == 0)
    return 64 * acted + 4 * (s["seat"] + 1) + 2 * someone_left + result


@kernel
def mask_row(states: np.ndarray, i: int, mask: np.ndarray) -> None:
    """Write the mask of the seat to act in row ``i``."""
    fill_mask(states[i], mask)


@kernel
def observe_row(
    states: np.ndarray, i: int, viewer: int, switches: np.ndarray, seats: int, quantities: int, out: np.ndarray
) -> None:
    """Write what ``viewer`` sees of row ``i``."""
    encode(states[i], viewer, switches, seats, quantities, out)


@kernel
def returns_row(states: np.ndarray, i: int, scheme: int, out: np.ndarray) -> None:
    """Write what each seat of row ``i`` is paid; 0 for a seat without a place yet."""
    for seat in range(states[i]["num_seats"]):
        out[seat] = final_return(states[i], seat, scheme)


@kernel
def reason_row(states: np.ndarray, i: int, action: int) -> int:
    """The Reason why an action is illegal in row ``i``."""
    return why_illegal(states[i], action)
