"""A check of state records that come from outside, a file above all: kernels trust every number in a record."""

from __future__ import annotations

from typing import Any

import numpy as np

from perudo_env.engine.actions import FIRST_BID, PASS, num_actions
from perudo_env.engine.jit import kernel
from perudo_env.engine.rounds import apply, start_round
from perudo_env.engine.rules import Reason, why_illegal
from perudo_env.engine.state import NOBODY, STATE, Phase, RoundEnd, copied
from perudo_env.engine.variant import MAX_FACES, SWITCHES, highest_quantity, switch_values

TABLE = (*SWITCHES, "counts_known", "num_seats", "total_at_start", "max_rounds")
"""The fields that a game never changes."""
_REPLAYED = ("hands", "bidder", "num_bids", "seat", "phase")


class StateError(ValueError):
    """A record is none that a game could come to; the message names it and a field."""


def check_states(states: np.ndarray, table: np.void) -> None:
    """Raise ``StateError`` unless each record, of dtype ``STATE``, is one that a game at the table of ``table`` can come to.

    Ranges are checked field by field; then each round is played again from its seed.
    """
    for name in TABLE:
        _require(states[name] == table[name], name, f"this table has {table[name]}")
    n = int(table["num_seats"])
    _check_ranges(states, n, _most_action(table), int(table["starting_dice"]), int(table["num_faces"]))
    _check_seats(states, n)
    played = copied(states)
    bad = replay_rounds(states, played)
    if bad >= 0:
        raise StateError(
            f"game {bad}: bids = {states['bids'][bad, : states['num_bids'][bad]].tolist()} break the rules"
        )
    over = states["phase"] == Phase.OVER
    for name in _REPLAYED:
        same = (states[name] == played[name]).reshape(len(states), -1).all(axis=1)
        _require(same | (over if name in ("seat", "phase") else False), name, "its seed and its bids lead elsewhere")
    for name in ("bids", "bidders"):
        said = np.arange(states[name].shape[1]) < states["num_bids"][:, None]
        _require((states[name] == played[name]) | ~said, name, "its seed and its bids lead elsewhere")


def _most_action(table: np.void) -> int:
    max_bid = switch_values("max_bid")[table["max_bid"]]
    full = int(table["num_seats"]) * int(table["starting_dice"])
    return num_actions(highest_quantity(max_bid, full)) - 1


def _check_ranges(states: np.ndarray, n: int, most_action: int, cup: int, num_faces: int) -> None:
    ranges = {
        "round": (1, 2**31 - 2), "num_players": (2, n), "dice": (0, cup), "place": (0, n), "palifico_spent": (0, 1),
        "palifico_next": (0, 0), "truncated": (0, 1), "opener": (0, n - 1), "is_palifico": (0, 1), "hands": (0, cup),
        "phase": (0, max(Phase)), "seat": (NOBODY, n - 1), "bidder": (NOBODY, n - 1), "num_bids": (0, most_action - FIRST_BID + 1),
        "bids": (0, most_action), "bidders": (0, n - 1), "last_end": (0, max(RoundEnd)), "last_bid": (0, most_action),
        "last_bidder": (NOBODY, n - 1), "last_caller": (NOBODY, n - 1), "last_count": (0, n * cup), "last_seat": (NOBODY, n - 1),
        "last_change": (-1, 1), "last_hands": (0, cup),
    }  # fmt: skip
    missing = set(STATE.names or ()) - set(ranges) - set(TABLE) - {"seed"}
    assert not missing, missing
    for name, (least, most) in ranges.items():
        _require((states[name] >= least) & (states[name] <= most), name, f"use {least} to {most}")
    for name in ("dice", "place", "palifico_spent", "hands", "last_hands"):
        _require(states[name][:, n:] == 0, name, f"there are {n} seats")
    for name in ("hands", "last_hands"):
        _require(states[name][:, :, num_faces:] == 0, name, f"dice have {num_faces} faces")
        _require(states[name].sum(axis=2) <= cup, name, f"a cup holds {cup} dice")
    said = np.arange(states["bids"].shape[1]) < states["num_bids"][:, None]
    _require((states["bids"] >= FIRST_BID) | ~said, "bids", "a call is no bid")


def _check_seats(states: np.ndarray, n: int) -> None:
    """Who is in, who is out, and who is in the round agree with each other."""
    over, limit = states["phase"] == Phase.OVER, states["max_rounds"]
    _require((limit == 0) | (states["round"] <= limit), "round", "max_rounds is less")
    _require((states["seat"] == NOBODY) == over, "seat", "it acts unless the game is over")
    _require((states["truncated"] == 0) | over, "truncated", "the game goes on")
    alive, placed = states["dice"][:, :n] > 0, states["place"][:, :n] > 0
    _require((placed == ~alive) | (over[:, None] & placed), "place", "seats that still play have none")
    _require((alive.sum(axis=1) >= 2) | over, "dice", "two seats or more play")
    _require(alive.sum(axis=1) <= states["num_players"], "num_players", "more seats play")
    held = states["hands"].sum(axis=2)
    _require((held == states["dice"]) | over[:, None], "hands", "they hold a seat's dice")
    in_round = (held > 0).sum(axis=1)
    _require(in_round >= 2, "hands", "two seats or more play")
    _require(held[np.arange(len(states)), states["opener"]] > 0, "opener", "it has dice")
    revealed = (states["last_hands"].sum(axis=2) > 0).sum(axis=1)
    _require((states["last_end"] == RoundEnd.NONE) | (revealed >= 2), "last_hands", "two seats or more played")
    _require((states["last_end"] != RoundEnd.NONE) | ~over, "last_end", "the game is over")


def _require(right: Any, name: str, why: str) -> None:
    """Raise ``StateError`` for the first record at fault; ``right`` ``(num_games, ...)``."""
    fine = np.asarray(right).reshape(len(right), -1).all(axis=1)
    if not fine.all():
        raise StateError(f"game {int(np.argmin(fine))}: {name} cannot be so ({why})")


@kernel
def replay_rounds(states: np.ndarray, played: np.ndarray) -> int:
    """Play the round of each record from its seed, its hands' sizes and its bids, into ``played``, copies of ``states``.

    Returns the first record with an illegal bid, or -1.
    """
    for i in range(states.size):
        s, p = states[i], played[i]
        for seat in range(s["num_seats"]):
            held = 0
            for face in range(MAX_FACES):
                held += s["hands"][seat, face]
            p["dice"][seat] = held
        p["round"] -= 1
        p["palifico_next"] = s["is_palifico"]
        start_round(p, s["opener"])
        for k in range(s["num_bids"]):
            while p["phase"] == Phase.WINDOW:
                apply(p, PASS)
            if why_illegal(p, s["bids"][k]) != Reason.LEGAL:
                return i
            apply(p, s["bids"][k])
        while p["phase"] == Phase.WINDOW and not (s["phase"] == Phase.WINDOW and p["seat"] == s["seat"]):
            apply(p, PASS)
    return -1
