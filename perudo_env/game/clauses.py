"""Why an action is illegal, in words: the clause behind each Reason, in English and French."""

from __future__ import annotations

from typing import Any

import numpy as np

from perudo_env.engine.actions import ACTIONS, FIRST_BID, Action, face_of, quantity_of
from perudo_env.engine.rules import Reason, max_quantity, why_illegal
from perudo_env.engine.variant import whole

LANGUAGES = ("en", "fr")


class IllegalActionError(ValueError):
    """The action is illegal now; the message names the clause, and the game is unchanged."""


def action_id(action: Any, num_actions: int) -> int:
    """An action id of a table with ``num_actions``, from a whole number of any kind.

    Raises ``IllegalActionError`` for what is none (3.0, a bool, an array of one) and for what is out of range.
    """
    number = action if type(action) is int else whole(action)
    if number is None:
        raise IllegalActionError(f"{action!r} is not an action id: use a whole number from 0 to {num_actions - 1}")
    if not 0 <= number < num_actions:
        raise IllegalActionError(f"{number} is not an action id of this table: use 0 to {num_actions - 1}")
    return number


# {a} the action, {s} the standing bid, {q}/{f} its quantity and face, {n} a number the clause speaks of
_CLAUSES: dict[Reason, tuple[str, str]] = {
    Reason.LEGAL: ("{a} is legal", "{a} est permis"),
    Reason.GAME_OVER: ("{a}: the game is over", "{a} : la partie est finie"),
    Reason.UNKNOWN: ("{a} is not an action id of this table", "{a} n'est pas un numéro d'action de cette table"),
    Reason.NO_STANDING_BID: ("{a} needs a standing bid, and nobody has bid yet", "{a} répond à une enchère, et personne n'a encore parlé"),
    Reason.NO_CALZA: ("this variant has no Calza", "cette variante se joue sans Calza"),
    Reason.CALZA_WINDOW_OVER: (
        "the moment for Calza on {s} is over: raise or say Dudo",
        "le moment de dire Calza sur {s} est passé : surenchérissez ou doutez",
    ),
    Reason.IN_CALZA_WINDOW: (
        "{a}: first every seat may say Calza on {s}: say calza or pass",
        "{a} : chacun peut d'abord dire Calza sur {s} : dites calza ou passez",
    ),
    Reason.NO_CALZA_WINDOW: ("one may pass only when asked for Calza", "on ne passe que lorsqu'un Calza est proposé"),
    Reason.NO_SUCH_FACE: ("{a}: the dice have no face {f}, only 1 to {n}", "{a} : les dés n'ont pas de face {f}, seulement 1 à {n}"),
    Reason.ABOVE_MAXIMUM: ("{a}: at most {n} dice may be bid now", "{a} : on peut annoncer au plus {n} dés"),
    Reason.PACO_OPENING: (
        "{a}: a round opens on Pacos only if it is a palifico round",
        "{a} : on n'ouvre sur les Pacos que dans une manche palifico",
    ),
    Reason.PALIFICO_FACE: (
        "{a} over {s}: in a palifico round the face is fixed by the opening bid",
        "{a} sur {s} : dans une manche palifico, la première enchère fixe la face",
    ),
    Reason.PALIFICO_QUANTITY: (
        "{a} over {s}: in a palifico round the quantity must rise, to {n} at least",
        "{a} sur {s} : dans une manche palifico, la quantité doit monter, à {n} au moins",
    ),
    Reason.NOT_MORE_PACOS: ("{a} over {s}: more Pacos are needed, {n} at least", "{a} sur {s} : il faut plus de Pacos, {n} au moins"),
    Reason.TOO_FEW_PACOS: (
        "{a} over {s}: half as many Pacos are needed, rounded up, {n} at least",
        "{a} sur {s} : il faut la moitié en Pacos, arrondie au-dessus, {n} au moins",
    ),
    Reason.TOO_FEW_AFTER_PACOS: (
        "{a} over {s}: twice as many dice plus one are needed, {n} at least",
        "{a} sur {s} : il faut le double plus un, {n} dés au moins",
    ),
    Reason.NOT_HIGHER: (
        "{a} over {s}: more dice are needed, or as many with a higher face",
        "{a} sur {s} : il faut plus de dés, ou autant avec une face plus haute",
    ),
    Reason.FALLS: (
        "{a} over {s}: quantity and face may not fall, and one of them must rise",
        "{a} sur {s} : ni la quantité ni la face ne descendent, et l'une des deux monte",
    ),
    Reason.NOT_ONE_AXIS: (
        "{a} over {s}: exactly one of quantity and face goes up, and the other stays",
        "{a} sur {s} : la quantité ou la face monte, l'une des deux seulement, et l'autre reste",
    ),
}  # fmt: skip


def explain(states: np.ndarray, row: int, action: int, language: str = "en") -> str:
    """Why an action id is illegal in a row of states, in words; the clause of RULES with its numbers."""
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
    text = _CLAUSES[reason][LANGUAGES.index(language)]
    return text.format(a=shown, s=ACTIONS[standing], f=face, n=least.get(reason, ""))
