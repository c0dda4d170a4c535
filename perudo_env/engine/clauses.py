"""The clause against an illegal action, in English: the sentence behind each Reason, with its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from perudo_env.engine.actions import ACTIONS, FIRST_BID, Action, face_of, quantity_of
from perudo_env.engine.rules import Reason, max_quantity, why_illegal
from perudo_env.engine.variant import shown, whole


class IllegalActionError(ValueError):
    """The action is illegal now; the message names the clause, and the game is unchanged."""


def action_id(action: Any, num_actions: int) -> int:
    """An action id of a table with ``num_actions``, from a whole number of any kind.

    Raises ``IllegalActionError`` for what is none (3.0, a bool, an array of one) and for what is out of range.
    """
    number = action if type(action) is int else whole(action)
    if number is None:
        raise IllegalActionError(f"{shown(action)} is not an action id: use a whole number from 0 to {num_actions - 1}")
    if not 0 <= number < num_actions:
        raise IllegalActionError(f"{shown(number)} is not an action id of this table: use 0 to {num_actions - 1}")
    return number


# {a} the action, {s} the standing bid, {q}/{f} its quantity and face, {n} a number the clause speaks of
ENGLISH: dict[Reason, str] = {
    Reason.LEGAL: "{a} is legal",
    Reason.GAME_OVER: "{a}: the game is over",
    Reason.UNKNOWN: "{a} is not an action id of this table",
    Reason.NO_STANDING_BID: "{a} needs a standing bid, and nobody has bid yet",
    Reason.NO_CALZA: "this variant has no Calza",
    Reason.CALZA_WINDOW_OVER: "the moment for Calza on {s} is over: raise or say Dudo",
    Reason.IN_CALZA_WINDOW: "{a}: first every seat may say Calza on {s}: say calza or pass",
    Reason.NO_CALZA_WINDOW: "one may pass only when asked for Calza",
    Reason.NO_SUCH_FACE: "{a}: the dice have no face {f}, only 1 to {n}",
    Reason.ABOVE_MAXIMUM: "{a}: at most {n} dice may be bid now",
    Reason.PACO_OPENING: "{a}: a round opens on Pacos only if it is a palifico round",
    Reason.PALIFICO_FACE: "{a} over {s}: in a palifico round the face is fixed by the opening bid",
    Reason.PALIFICO_QUANTITY: "{a} over {s}: in a palifico round the quantity must rise, to {n} at least",
    Reason.NOT_MORE_PACOS: "{a} over {s}: more Pacos are needed, {n} at least",
    Reason.TOO_FEW_PACOS: "{a} over {s}: half as many Pacos are needed, rounded up, {n} at least",
    Reason.TOO_FEW_AFTER_PACOS: "{a} over {s}: twice as many dice plus one are needed, {n} at least",
    Reason.NOT_HIGHER: "{a} over {s}: more dice are needed, or as many with a higher face",
    Reason.FALLS: "{a} over {s}: quantity and face may not fall, and one of them must rise",
    Reason.NOT_ONE_AXIS: "{a} over {s}: exactly one of quantity and face goes up, and the other stays",
}


def explain(states: np.ndarray, row: int, action: int, clauses: dict[Reason, str] = ENGLISH) -> str:
    """The clause of RULES against an action id in a row of states, with its numbers, in the language of ``clauses``."""
    s = states[row]
    reason = Reason(int(why_illegal(s, action)))
    standing = int(s["bids"][s["num_bids"] - 1]) if s["num_bids"] > 0 else FIRST_BID
    q = int(quantity_of(standing))
    least = {
        Reason.PALIFICO_QUANTITY: q + 1,
        Reason.NOT_MORE_PACOS: q + 1,
        Reason.TOO_FEW_PACOS: (q + 1) // 2,
        Reason.TOO_FEW_AFTER_PACOS: 2 * q + 1,
        Reason.NO_SUCH_FACE: int(s["num_faces"]),
        Reason.ABOVE_MAXIMUM: int(max_quantity(s)),
    }
    shown: Action | int = ACTIONS[action] if 0 <= action < len(ACTIONS) else action
    face = int(face_of(action)) if action >= FIRST_BID else 0
    return clauses[reason].format(a=shown, s=ACTIONS[standing], f=face, n=least.get(reason, ""))
