"""The prompt for a language model: the rules, what happened, the table from its seat, how to answer."""

from __future__ import annotations

from perudo_env.engine.actions import CALZA, DUDO, PASS, Bid
from perudo_env.engine.variant import Variant
from perudo_env.game.events import RoundStarted
from perudo_env.game.game import Game
from perudo_env.game.narration import tell_rounds
from perudo_env.game.words import Words, words
from perudo_env.render.text import text as table_text
from perudo_env.rulebook.book import rulebook


def rules_text(variant: Variant, language: str = "en") -> str:
    """The rules in force, a line each, without examples and sources."""
    clauses = [(getattr(c.title, language), getattr(c.text, language)) for c in rulebook(variant).clauses]
    colon = ": " if language == "en" else " : "
    return "\n".join(f"- {text if text.startswith(title + colon) else title + colon + text}" for title, text in clauses)


def prompt(
    game: Game, rules: str, language: str = "en", *, past_rounds: int | None = None, error: str | None = None
) -> str:
    """The prompt for the seat to act: nothing in it that a player in that seat does not see.

    ``rules`` is :func:`rules_text`; ``past_rounds`` is how many earlier rounds are told, None for all; ``error`` says
    why the seat's last answer was refused.
    """
    w, seat = words(language, spelled=False), game.seat
    _ = w.gettext
    assert seat is not None
    head = _(
        "You play Perudo (Liar's Dice) at a table of {seats} seats, 0 to {last}. You are seat {seat}.",
        seats=game.num_seats, last=game.num_seats - 1, seat=seat,
    )  # fmt: skip
    parts = [head, "\n".join([_("Rules:"), rules])]
    past = _past(game, language, past_rounds)
    if past:
        parts.append("\n".join([_("Earlier rounds:"), *past]))
    hand = _("Your dice: {hand}", hand=" ".join(map(str, game.hand(seat))))
    parts.append("\n".join([_("This round:"), table_text(game, seat, language=language), hand]))
    asked = _("It is your turn. End your answer with one action in brackets: {actions}.", actions=_actions(game, w))
    said = [_("5x3 means five threes, 3P means three Pacos (ones)."), asked]
    parts.append("\n".join([*said, *([_("Your last answer was not played: {why}.", why=error)] if error else [])]))
    return "\n\n".join(parts)


def _past(game: Game, language: str, past_rounds: int | None) -> list[str]:
    events = game.events
    now = max(i for i, event in enumerate(events) if isinstance(event, RoundStarted))
    lines = tell_rounds(events[:now], language)
    return lines if past_rounds is None else lines[len(lines) - min(past_rounds, len(lines)) :]


def _actions(game: Game, w: Words) -> str:
    """What may be said now, an example for the bids."""
    _, legal, bid = w.gettext, game.legal_actions(), least_raise(game)
    said = (
        []
        if bid is None
        else [_("a higher bid like [{bid}]", bid=bid) if game.bids else _("an opening bid like [{bid}]", bid=bid)]
    )
    calls = {DUDO: "[dudo]", CALZA: "[calza]", PASS: _("[pass]")}
    return _(" or ").join(said + [name for call, name in calls.items() if call in legal])


def least_raise(game: Game) -> Bid | None:
    """The lowest legal bid on an ordinary face, else on Pacos; None where nobody may bid."""
    bids = [action for action in game.legal_actions() if isinstance(action, Bid)]
    return min(bids, key=lambda bid: (bid.face == 1, bid), default=None)
