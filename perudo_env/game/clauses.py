"""The clause against an illegal action in the languages people read: English is the engine's, French is here."""

from __future__ import annotations

import numpy as np

from perudo_env.engine import clauses
from perudo_env.engine.rules import Reason

LANGUAGES = ("en", "fr")

FRENCH: dict[Reason, str] = {
    Reason.LEGAL: "{a} est permis",
    Reason.GAME_OVER: "{a} : la partie est finie",
    Reason.UNKNOWN: "{a} n'est pas un numéro d'action de cette table",
    Reason.NO_STANDING_BID: "{a} répond à une enchère, et personne n'a encore parlé",
    Reason.NO_CALZA: "cette variante se joue sans Calza",
    Reason.CALZA_WINDOW_OVER: "le moment de dire Calza sur {s} est passé : surenchérissez ou doutez",
    Reason.IN_CALZA_WINDOW: "{a} : chacun peut d'abord dire Calza sur {s} : dites calza ou passez",
    Reason.NO_CALZA_WINDOW: "on ne passe que lorsqu'un Calza est proposé",
    Reason.NO_SUCH_FACE: "{a} : les dés n'ont pas de face {f}, seulement 1 à {n}",
    Reason.ABOVE_MAXIMUM: "{a} : on peut annoncer au plus {n} dés",
    Reason.PACO_OPENING: "{a} : on n'ouvre sur les Pacos que dans une manche palifico",
    Reason.PALIFICO_FACE: "{a} sur {s} : dans une manche palifico, la première enchère fixe la face",
    Reason.PALIFICO_QUANTITY: "{a} sur {s} : dans une manche palifico, la quantité doit monter, à {n} au moins",
    Reason.NOT_MORE_PACOS: "{a} sur {s} : il faut plus de Pacos, {n} au moins",
    Reason.TOO_FEW_PACOS: "{a} sur {s} : il faut la moitié en Pacos, arrondie au-dessus, {n} au moins",
    Reason.TOO_FEW_AFTER_PACOS: "{a} sur {s} : il faut le double plus un, {n} dés au moins",
    Reason.NOT_HIGHER: "{a} sur {s} : il faut plus de dés, ou autant avec une face plus haute",
    Reason.FALLS: "{a} sur {s} : ni la quantité ni la face ne descendent, et l'une des deux monte",
    Reason.NOT_ONE_AXIS: "{a} sur {s} : la quantité ou la face monte, l'une des deux seulement, et l'autre reste",
}


def explain(states: np.ndarray, row: int, action: int, language: str = "en") -> str:
    """Why an action id is illegal in a row of states, in words; the clause of RULES with its numbers."""
    return clauses.explain(states, row, action, (clauses.ENGLISH, FRENCH)[LANGUAGES.index(language)])
