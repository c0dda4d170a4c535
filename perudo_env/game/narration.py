"""Events told in English or French: a sentence per event, a line per round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from perudo_env.game.clauses import LANGUAGES
from perudo_env.game.events import (
    BidMade,
    CalzaSaid,
    DieLost,
    DieRegained,
    DudoSaid,
    Eliminated,
    Event,
    GameOver,
    Hands,
    Passed,
    Revealed,
    RolledOff,
    RoundStarted,
)
from perudo_env.game.notation import format_hand

# {..}: fields of the event; how many dice a seat has left is not told, for some variants hide it
_SENTENCES: dict[type, tuple[str, str]] = {
    RolledOff: ("rolls for the first turn: {rolls}", "lancers pour ouvrir : {rolls}"),
    RoundStarted: ("Round {round}{palifico}, seat {opener} opens", "Manche {round}{palifico}, la place {opener} ouvre"),
    BidMade: ("seat {seat} bids {bid}", "la place {seat} annonce {bid}"),
    Passed: ("seat {seat} passes", "la place {seat} passe"),
    DudoSaid: ("seat {seat} says Dudo", "la place {seat} dit Dudo"),
    CalzaSaid: ("seat {seat} says Calza", "la place {seat} dit Calza"),
    Revealed: ("all dice are shown: {hands}; the count is {count}", "tous les dés sont montrés : {hands} ; le compte est {count}"),
    DieLost: ("seat {seat} loses a die", "la place {seat} perd un dé"),
    DieRegained: ("seat {seat} takes a die back", "la place {seat} reprend un dé"),
    Eliminated: ("seat {seat} is out", "la place {seat} est éliminée"),
    GameOver: ("the game is over; places by seat: {ranks}", "la partie est finie ; classement par place : {ranks}"),
}  # fmt: skip
_SEAT = ("seat {}: {}", "place {} : {}")


def tell(event: Event, language: str = "en") -> str:
    """One event as a sentence; ``language`` is ``en`` or ``fr``. Dice stand in it only once all are shown."""
    index = LANGUAGES.index(language)

    def by_seat(values: Iterable[tuple[int, object]]) -> str:
        return ", ".join(_SEAT[index].format(seat, value) for seat, value in values)

    facts = asdict(event)
    if isinstance(event, RolledOff):
        facts["rolls"] = by_seat(event.rolls)
    elif isinstance(event, RoundStarted):
        facts["palifico"] = ", palifico" * event.palifico
    elif isinstance(event, BidMade):
        facts["bid"] = event.bid
    elif isinstance(event, Revealed):
        facts["hands"] = by_seat(_shown(event.hands))
    elif isinstance(event, GameOver):
        facts["ranks"] = " ".join(map(str, event.ranks))
    return _SENTENCES[type(event)][index].format(**facts)


def tell_rounds(events: Sequence[Event], language: str = "en") -> list[str]:
    """All that happened, a line per round; the rolls for the first turn stand in a line of their own."""
    lines: list[list[str]] = [[]]
    for event in events:
        if isinstance(event, RoundStarted):
            lines.append([])
        lines[-1].append(tell(event, language))
    mark = "; " if language == "en" else " ; "
    return [mark.join(line) for line in lines if line]


def _shown(hands: Hands) -> list[tuple[int, str]]:
    return [(seat, format_hand(hand)) for seat, hand in enumerate(hands) if hand]
