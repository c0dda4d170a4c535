"""Number words of English and French, 0 to 99: ``twenty-six``, ``vingt et un``, ``quatre-vingt-dix-sept``, ``nonante-sept``."""

from __future__ import annotations

from collections.abc import Iterator

_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_FRENCH = "zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dixsept dixhuit dixneuf"
# the last four as they are said in Switzerland and in Belgium
_DIZAINES = "vingt:20 trente:30 quarante:40 cinquante:50 soixante:60 septante:70 huitante:80 octante:80 nonante:90"


def _english() -> Iterator[tuple[str, int]]:
    units = _ENGLISH.split()
    yield from ((word, n) for n, word in enumerate(units))
    for ten, word in enumerate(_TENS.split(), 2):
        yield from ((word + unit, 10 * ten + n) for n, unit in enumerate(["", *units[1:10]]))


def _french() -> Iterator[tuple[str, int]]:
    units = _FRENCH.split()
    yield from ((word, n) for n, word in enumerate(units))
    yield from (("une", 1), ("quatrevingts", 80))
    for item in (*_DIZAINES.split(), "quatrevingt:80"):
        word, _, ten = item.partition(":")
        below = 20 if word in ("soixante", "quatrevingt") else 10
        for n, unit in enumerate(["", *units[1:below]]):
            yield word + unit, int(ten) + n
            if n in (1, 11):
                yield f"{word}et{unit}", int(ten) + n
        yield from ((f"{word}{et}une", int(ten) + 1) for et in ("", "et"))


NUMERALS: dict[str, int] = {**dict(_english()), **dict(_french())}
"""The value of a number word without its hyphens, spaces and accents."""

MOST_WORDS = 4
"""Of how many words a number may consist, as ``quatre vingt dix sept`` does."""
