"""The reader of free text as an action: ``I think not. [5x3]``, ``vingt-sept Pacos``, ``je doute``.

The last answer in square brackets counts, whatever it holds; without brackets, the whole text, which may speak of one
action only. What looks like a bid and is none (``-3x2``, ``5x7``, ``a hundred threes``) is refused, never read in part.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress

from perudo_env.engine.actions import Action
from perudo_env.game.notation import NotationError, parse_action
from perudo_env.game.tokens import CALLS, FACES, MOST_WORDS, NUMERALS
from perudo_env.game.words import words

MOST_HEARD = 10_000
"""Of a longer answer only so many characters, the last ones, are heard, and there only what is in brackets."""


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_SCALES = "hundreds?|thousands?|millions?|dozens?|cents?|mille|(?:di|vingt|cent)aines?|douzaines?"
_NUMBER = rf"(?:\d+|(?<!\w)(?:{_any(NUMERALS)})(?!\w))"
_SIGN = "[-+~±−–‐‑‒]"
_GAP = r"[^\w+~±−–‐‑‒-]"  # neither a letter nor a sign
_TOKEN = re.compile("[0-9]+|[a-z]+")
_JOINT = re.compile("(?<=[a-z])[- \n](?=[a-z])")  # between the words of one number
# What may stand between quantity and face: 5x3; 5 dice of face 3; 5 of 3; {"quantity": 5, "face": 3}; or nothing.
_LINK = re.compile(
    r"\s*[x*×]\s*|\s*(?:dice|die|des?)\s+(?:(?:of|de|showing|montrant)\s+(?:face\s+)?|face\s+)"
    rf"|\s+(?:of|de)\s+|{_GAP}+(?:face|value|valeur){_GAP}+|\s*"
)
_NAMES = [word for word in FACES if len(word) > 2]  # "as" and "p" also mean something else
# "As" is a Paco only where nothing follows, and so is a digit after "of" a face: not "five as well", not "2 of 3 seats".
_FACE = re.compile(
    rf"(?P<digits>{_SIGN}?[0-9]+)(?P<s>'?s)?(?!\w)|(?:{_any(f for f in FACES if f != 'as')})(?!\w)|as(?! ?\w)"
)
# Two numbers and nothing between them are a bid only where it says so: ``[Bid: 5, 3]``.
_PAIR = re.compile(rf"(?<!\w)(?:bid|enchere|annonce|mise){_GAP}*(?P<q>[0-9]+)[\s,;]+(?P<f>[0-9]+)(?! ?\w|[\s,;]+[0-9])")
_CALL = re.compile(rf"(?<![\w-])(?P<call>{_any(CALLS)})(?![\w-]|'\w| (?:pas|point|jamais|plus)\b)")
# Asked and answered in the negative: ``dudo? No.``; or a field of JSON that is off: ``"dudo": false``.
_DENIED = re.compile(
    r"\s*\?\s*(?:no|nope|nah|not|never|non|pas|jamais)\b|\"?\s*[:=]\s*\"?(?:false|null|none|no|non|faux|0)\b"
)

# What before a quantity, or after a face, says that it is only a part of something else.
_PART_BEFORE = re.compile(
    rf"(?:{_SIGN}|[−±] ?|[≤≥≈≠√¬]\s*|^\s*{_SIGN}\s*|\d[.,:/'])$"
    rf"|{_NUMBER}(?: ?(?:{_SIGN}|[*/^=,&]) ?| (?:and|or|to|by|times|et|ou|a|sur|fois|point|virgule) | )$"
    rf"|(?<!\w)(?:{_SCALES}|minus|negative|plus|(?<!au )moins|less|than|under|below|above|at most|au plus|twice|thrice|double|triple|half|demie?)[ -](?:(?:and|of|et|de) )?$"
)
_PART_AFTER = re.compile(
    rf"[.,:'][0-9]|\s*(?:{_SIGN}|[*/^=×x])\s*\d|\s*%|[ -](?:{_NUMBER}|(?:{_SCALES}|{_any(_NAMES)})(?!\w))| (?:or|ou|to|a) {_NUMBER}"
)
_NOT = re.compile(
    r"(?:\b(?:not|never|no|cannot|nor|neither|without|ne|pas|jamais|sans|ni|n(?=')|(?:instead|rather) (?:of|than)|plutot que)|n't)"
    r"[^\w.,;:!?\n]+(?:(?!but\b|mais\b)\w+[^\w.,;:!?\n]+){0,2}$"
)
_REACH = 60  # how far back a word may change the meaning of another


def hear(text: str, language: str = "en") -> Action:
    """The action that ``text`` says, in either language.

    Raises ``NotationError`` in ``language`` where it says none, several, or something that is not an action.
    """
    _ = words(language).gettext
    text = text if isinstance(text, str) else ""
    part = _plain(text[-MOST_HEARD:])
    bracketed = [inside for inside in re.findall(r"\[([^\[\]]*)(?:\]|\Z)", part) if inside.strip()]
    if bracketed:
        part = bracketed[-1]
    elif len(text) > MOST_HEARD:
        part = ""
    if not "".join(part.split()).isdigit():  # two numbers say too little
        with suppress(NotationError):
            return parse_action(part)
    found = list(dict.fromkeys(_said(part)))
    if len(found) > 1:
        several = ", ".join(map(str, [*found[:4], *["..."] * (len(found) > 4)]))
        raise NotationError(
            _("the answer says more than one thing ({several}): end with one action in brackets", several=several)
        )
    if not found:
        raise NotationError(_("there is no action in the answer: end with one in brackets, like [5x3], [3P] or [dudo]"))
    if isinstance(found[0], str):
        wrong = repr(found[0][:_REACH])
        raise NotationError(
            _("{typed} is not an action: end with one in brackets, like [5x3], [3P] or [dudo]", typed=wrong)
        )
    return found[0]


def _plain(text: str) -> str:
    """Lower case without accents, so that a tired keyboard is understood; wide letters and digits become plain ones.

    Raised and lowered digits and fractions stay what they are: ``5½`` is not 51/2.
    """
    letters: list[str] = []
    for letter in text.replace("’", "'").lower():
        keep = unicodedata.decomposition(letter).startswith(("<super>", "<sub>", "<fraction>", "<circle>"))
        letters += letter if keep else unicodedata.normalize("NFKD", letter)
    spoken = "".join(c for c in letters if not unicodedata.combining(c) and unicodedata.category(c) != "Cf")
    return re.sub(r"[^\S\n]+", " ", spoken)


def _said(part: str) -> Iterator[Action | str]:
    """The actions that an answer speaks of, and what looks like a bid in it and is none, as it was said."""
    pairs = ((m.start("q"), m.end("f"), m["q"], m["f"]) for m in _PAIR.finditer(part))
    read = 0
    for start, end, quantity, face in (*_bids(part), *pairs):
        if _denied(part, start, end):
            continue
        before = _PART_BEFORE.search(part, max(read, start - _REACH), start)
        after = _PART_AFTER.match(part, end)
        read = end
        if before or after:
            yield part[before.start() if before else start : after.end() if after else end].strip()
            continue
        try:
            yield parse_action(f"{quantity}x{face}")
        except NotationError:
            yield part[start:end]
    for match in _CALL.finditer(part):
        if not _denied(part, *match.span()):
            yield CALLS[match["call"]]


def _denied(part: str, start: int, end: int) -> bool:
    """Whether what stands there is said not to be meant."""
    return bool(_NOT.search(part, max(0, start - _REACH), start) or _DENIED.match(part, end))


def _bids(part: str) -> Iterator[tuple[int, int, str, str]]:
    """What looks like a bid: where it begins and ends, its quantity and its face in digits."""
    tokens = list(_TOKEN.finditer(part))
    past = 0  # what has been read
    for i, token in enumerate(tokens):
        start = token.start()
        end, quantity = _number(part, tokens, i)
        if not quantity or start < past or part[start - 1 : start].isalnum():
            continue
        past = end
        link = _LINK.match(part, end)
        assert link is not None  # it may be empty
        face = _FACE.match(part, link.end())
        if face is None:
            continue
        if face["digits"] and not face["s"]:
            between = link[0].strip()
            if not between or (between in ("of", "de") and re.match(r" ?\w", part[face.end() : face.end() + 2])):
                continue
        past = face.end()
        yield start, past, quantity, face["digits"] or str(FACES[face[0]])


def _number(part: str, tokens: list[re.Match[str]], i: int) -> tuple[int, str]:
    """Where the number that begins with a token ends, and what it is in digits; "" for none. Of several the longest."""
    if tokens[i][0].isdigit():
        return tokens[i].end(), tokens[i][0]
    for last in reversed(tokens[i : i + MOST_WORDS]):
        value = NUMERALS.get(_JOINT.sub("", part[tokens[i].start() : last.end()]))
        if value is not None:
            return last.end(), str(value)
    return 0, ""
