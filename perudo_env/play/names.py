"""Players' names: one rule at every door, for pages, terminal, lines, score sheets and files.

A name is text as people write it: composed (NFC), with single blanks. Joiners (U+200C, U+200D) inside it are letters'
business, as in Persian and in emoji; other invisible format characters, and joiners at its ends, are left out, since
nobody typed them to be seen. What cannot be left out without changing the name is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import chain, count

from perudo_env.game.language import N_
from perudo_env.play.language import RefusedError

MOST_LETTERS = 30
_JOINERS = "\u200c\u200d"
# Drawn as nothing (variation selectors), or as a blank (fillers), though for Unicode they are no format characters.
_NOTHING = re.compile("[\u034f\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_BLANK = re.compile("[\u115f\u1160\u2800\u3164\uffa0]")
# The flags of England, Scotland, Wales: invisible tags are part of the picture.
_TAGGED_FLAG = re.compile("(\U0001f3f4[\U000e0020-\U000e007e]{1,6}\U000e007f)")


class NameRefusedError(RefusedError):
    """This cannot be the name of a player, or not at this table."""


def tidy(text: str) -> str:
    """The text as a name is kept; never refused, so that what was kept before can always be shown."""
    parts = _TAGGED_FLAG.split(unicodedata.normalize("NFC", text))
    kept = "".join(part if i % 2 else _without_format(part) for i, part in enumerate(parts))
    words = (word.strip(_JOINERS) for word in kept.split())
    return " ".join(word for word in words if word)


def _without_format(text: str) -> str:
    return "".join(c for c in text if c in _JOINERS or unicodedata.category(c) != "Cf")


def clean(text: str) -> str:
    """The name that somebody typed; raises ``NameRefusedError`` for one that is empty, too long, or has control characters."""
    name = tidy(text)
    if not any(unicodedata.category(c)[0] not in "ZCM" for c in _BLANK.sub("", name)):
        raise NameRefusedError(N_("a name needs a letter, or another sign that can be seen"))
    shown = "".join(c if _may_stand(c) else "\ufffd" for c in name[:40])
    if not all(map(_may_stand, _TAGGED_FLAG.sub("", name))):
        raise NameRefusedError(N_("{name} holds a character that cannot be shown: leave it out"), name=isolated(shown))
    if len(name) > MOST_LETTERS:
        raise NameRefusedError(
            N_("{name} is too long: a name has at most {most} letters"), name=isolated(shown), most=MOST_LETTERS
        )
    return name


def _may_stand(c: str) -> bool:
    return c.isprintable() or c in _JOINERS


def looks(name: str) -> str:
    """What a name looks like: two names of one table must not share it. Upper and lower case are alike, so are
    compatibility forms (full width, ligatures), and nothing invisible tells names apart.
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    seen = "".join(c for c in _BLANK.sub(" ", _NOTHING.sub("", text)) if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", " ".join(seen.split()))


def beside(text: str, others: Iterable[str]) -> str:
    """The cleaned name of somebody who sits down with ``others``; raises ``NameRefusedError`` also if it looks like one of theirs."""
    name = clean(text)
    if looks(name) in map(looks, others):
        raise NameRefusedError(N_("two players are called {name}: tell them apart"), name=isolated(name))
    return name


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The cleaned names of a table; raises ``NameRefusedError`` for one that cannot be, and for two that look alike."""
    there: list[str] = []
    for name in names:
        there.append(beside(name, there))
    return tuple(there)


def filled(typed: Sequence[str | None], given: Sequence[str]) -> tuple[str, ...]:
    """The names of a table: those ``typed``, and for None those ``given``, with a number where they are taken."""
    taken = iter(distinct(name for name in typed if name is not None))
    names = [None if name is None else next(taken) for name in typed]
    there = {looks(name) for name in names if name is not None}
    made: list[str] = []
    for name, stem in zip(names, given, strict=True):
        if name is None:
            numbered = (f"{stem} {n}" for n in count(2))
            name = next(free for free in chain([stem], numbered) if looks(free) not in there)
            there.add(looks(name))
        made.append(name)
    return tuple(made)


def isolated(name: str) -> str:
    """A name to stand in a sentence: one with right-to-left letters is isolated, so that bids and numbers beside it keep their order."""
    if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in name):
        return f"\u2068{name}\u2069"
    return name
