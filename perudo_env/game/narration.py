"""Events at a table without names told in English or French: sentences, and a line per round."""

from __future__ import annotations

from collections.abc import Sequence

from perudo_env.engine.variant import MAX_SEATS
from perudo_env.game.events import Event, Revealed, RoundStarted
from perudo_env.game.notation import format_hand
from perudo_env.game.words import words


def tell(event: Event, language: str = "en") -> str:
    """One event in a sentence or two; ``language`` is ``en`` or ``fr``. Dice stand in it only once all are shown.

    How many dice a seat has left is not told, for some variants hide it.
    """
    w = words(language, spelled=False)
    told = w.event(event, [w.seat(seat) for seat in range(MAX_SEATS)], hidden=True)
    if not isinstance(event, Revealed):
        return told
    hands = [w.labelled(w.seat(seat), format_hand(hand)) for seat, hand in enumerate(event.hands) if hand]
    return " ".join([w.gettext("All dice are shown: {hands}.", hands=", ".join(hands)), told])


def tell_rounds(events: Sequence[Event], language: str = "en") -> list[str]:
    """All that happened, a line per round; the rolls for the first turn stand in a line of their own."""
    lines: list[list[str]] = [[]]
    for event in events:
        if isinstance(event, RoundStarted):
            lines.append([])
        lines[-1].append(tell(event, language))
    return [" ".join(line) for line in lines if line]
