"""The clause against an illegal action in the languages people read; its English is the engine's."""

from __future__ import annotations

import numpy as np

from perudo_env.engine import clauses
from perudo_env.game.language import translations


def explain(states: np.ndarray, row: int, action: int, language: str = "en") -> str:
    """Why an action id is illegal in a row of states, in words; the clause of RULES with its numbers."""
    said = translations(language).gettext
    return clauses.explain(states, row, action, {reason: said(text) for reason, text in clauses.ENGLISH.items()})
