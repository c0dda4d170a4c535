"""What somebody said, read as an action: ``I think not. [5x3]``, ``cinq trois``, ``je doute``.

The last answer in square brackets counts; without brackets, the last line that says anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress

from perudo_env.engine.actions import DUDO, PACO, PASS, Action, Call
from perudo_env.game.clauses import LANGUAGES
from perudo_env.game.notation import NotationError, parse_action

_NUMBERS = (
    "one|un|une two|deux three|trois four|quatre five|cinq six seven|sept eight|huit nine|neuf ten|dix eleven|onze "
    "twelve|douze thirteen|treize fourteen|quatorze fifteen|quinze sixteen|seize seventeen|dix-sept eighteen|dix-huit "
    "nineteen|dix-neuf twenty|vingt"
)
_QUANTITIES = {word: n for n, words in enumerate(_NUMBERS.split(), 1) for word in words.split("|")}
_FACES = {
    **{word: n for word, n in _QUANTITIES.items() if n <= 6},
    **{word: n for n, word in enumerate(("ones", "twos", "threes", "fours", "fives", "sixes"), 1)},
    **dict.fromkeys(("p", "paco", "pacos", "ace", "aces", "as"), PACO),
}  # fmt: skip
_CALLS: dict[str, Call] = {
    **dict.fromkeys(("dudo", "dudu", "doute", "doubt", "liar", "menteur", "menteuse"), DUDO),
    **dict.fromkeys(("calza", "exact", "exactement", "exactly"), Call.CALZA),
    **dict.fromkeys(("pass", "passe"), PASS),
}


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_QUANTITY = rf"(?P<q>\d+(?!\d)|{_any(_QUANTITIES)})"
_FACE = rf"(?P<f>\d+(?:'?s)?|{_any(_FACES)})"
# What may stand between the two: 5x3; 5 dice of face 3; 5 of 3; {"quantity": 5, "face": 3}; or nothing before a word.
_LINK = (
    r"(?P<link>\s*[x*×]\s*|\s*(?:dice|die|des?)\s+(?:(?:of|de|showing|montrant)\s+(?:face\s+)?|face\s+)"
    r"|\s+(?:of|de)\s+|\W+(?:face|value|valeur)\W+|\s*)"
)
_BID = re.compile(rf"(?<!\w)(?<!\d[.,]){_QUANTITY}{_LINK}{_FACE}(?!\w)")
# Two numbers and nothing between them are a bid only where it says so: ``[Bid: 5, 3]``.
_PAIR = re.compile(r"(?:bid|enchere|annonce|mise)\W*(?P<q>\d+)[\s,;]+(?P<f>\d+)(?!\w)")
_CALL = re.compile(rf"(?<!\w)(?P<call>{_any(_CALLS)})(?!\w)")
_NOT = re.compile(r"(?:\bnot|n't|\bnever|\bne|\bn'|\bpas|\bjamais|\bno)\W+(?:\w+\W+){0,2}$")

_UNREADABLE = (
    "there is no action in the answer: end with one in brackets, like [5x3], [3P] or [dudo]",
    "il n'y a pas d'action dans la réponse : terminez par une entre crochets, comme [5x3], [3P] ou [dudo]",
)
_AMBIGUOUS = (
    "the answer says more than one thing ({}): end with one action in brackets",
    "la réponse dit plusieurs choses ({}) : terminez par une seule action entre crochets",
)


def hear(text: str, language: str = "en") -> Action:
    """The action that ``text`` says, in either language.

    Raises ``NotationError`` in ``language`` where it says none, or several.
    """
    index = LANGUAGES.index(language)
    plain = _plain(text) if isinstance(text, str) else ""
    for part in [*reversed(re.findall(r"\[([^\[\]]*)\]", plain)), *reversed(plain.splitlines())]:
        found = _actions(part)
        if len(found) > 1:
            raise NotationError(_AMBIGUOUS[index].format(", ".join(map(str, found))))
        if found:
            return found[0]
    raise NotationError(_UNREADABLE[index])


def _plain(text: str) -> str:
    """Lower case without accents, so that a tired keyboard is understood."""
    letters = unicodedata.normalize("NFKD", text.replace("’", "'").lower())
    return "".join(c for c in letters if not unicodedata.combining(c))


def _actions(part: str) -> list[Action]:
    """The different actions that a part of an answer speaks of."""
    with suppress(NotationError):
        return [parse_action(part)]
    found: list[Action] = []
    bids = [m for m in _BID.finditer(part) if m["link"].strip() or not m["f"].isdigit()]
    for match in [*bids, *_PAIR.finditer(part)]:
        quantity = _QUANTITIES.get(match["q"]) or match["q"]
        face = _FACES.get(match["f"]) or match["f"].rstrip("s'")
        with suppress(NotationError):
            found.append(parse_action(f"{quantity}x{face}"))
    found += [_CALLS[m["call"]] for m in _CALL.finditer(part) if not _NOT.search(part[: m.start()])]
    return list(dict.fromkeys(found))
