"""The prompt for a language model: the rules, what happened, the table from its seat, how to answer."""

from __future__ import annotations

from perudo_env.engine.actions import CALZA, DUDO, PASS, Bid
from perudo_env.engine.variant import Variant
from perudo_env.game.clauses import LANGUAGES
from perudo_env.game.events import RoundStarted
from perudo_env.game.game import Game
from perudo_env.game.narration import tell_rounds
from perudo_env.render.text import text as table_text
from perudo_env.rulebook.book import rulebook

_WORDS: dict[str, tuple[str, str]] = {
    "head": (
        "You play Perudo (Liar's Dice) at a table of {seats} seats, 0 to {last}. You are seat {seat}.",
        "Vous jouez au Perudo à une table de {seats} places, de 0 à {last}. Vous êtes à la place {seat}.",
    ),
    "rules": ("Rules:", "Règles :"),
    "past": ("Earlier rounds:", "Manches précédentes :"),
    "now": ("This round:", "Cette manche :"),
    "hand": ("Your dice: {hand}", "Vos dés : {hand}"),
    "notation": (
        "5x3 means five threes, 3P means three Pacos (ones).",
        "5x3 veut dire cinq trois, 3P trois Pacos (les as).",
    ),
    "answer": (
        "It is your turn. End your answer with one action in brackets: {actions}.",
        "C'est à vous. Terminez votre réponse par une seule action entre crochets : {actions}.",
    ),
    "or": (" or ", " ou "),
    "bid": ("a higher bid like [{}]", "une enchère plus haute, comme [{}]"),
    "opening": ("an opening bid like [{}]", "une première enchère, comme [{}]"),
    "dudo": ("[dudo]", "[dudo]"),
    "calza": ("[calza]", "[calza]"),
    "pass": ("[pass]", "[passe]"),
    "error": ("Your last answer was not played: {why}.", "Votre dernière réponse n'a pas été jouée : {why}."),
}


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
    index, seat = LANGUAGES.index(language), game.seat
    assert seat is not None

    def say(key: str, **facts: object) -> str:
        return _WORDS[key][index].format(**facts)

    parts = [say("head", seats=game.num_seats, last=game.num_seats - 1, seat=seat), f"{say('rules')}\n{rules}"]
    past = _past(game, language, past_rounds)
    if past:
        parts.append("\n".join([say("past"), *past]))
    hand = say("hand", hand=" ".join(map(str, game.hand(seat))))
    parts.append("\n".join([say("now"), table_text(game, seat, language=language), hand]))
    words = [say("notation"), say("answer", actions=say("or").join(_actions(game, index)))]
    parts.append("\n".join([*words, *([say("error", why=error)] if error else [])]))
    return "\n\n".join(parts)


def _past(game: Game, language: str, past_rounds: int | None) -> list[str]:
    events = game.events
    now = max(i for i, event in enumerate(events) if isinstance(event, RoundStarted))
    lines = tell_rounds(events[:now], language)
    return lines if past_rounds is None else lines[len(lines) - min(past_rounds, len(lines)) :]


def _actions(game: Game, index: int) -> list[str]:
    """What may be said now, an example for the bids."""
    legal = game.legal_actions()
    bid = least_raise(game)
    words = [] if bid is None else [_WORDS["bid" if game.bids else "opening"][index].format(bid)]
    return words + [_WORDS[str(call)][index] for call in (DUDO, CALZA, PASS) if call in legal]


def least_raise(game: Game) -> Bid | None:
    """The lowest legal bid on an ordinary face, else on Pacos; None where nobody may bid."""
    bids = [action for action in game.legal_actions() if isinstance(action, Bid)]
    return min(bids, key=lambda bid: (bid.face == 1, bid), default=None)
