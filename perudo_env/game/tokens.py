"""Words for numbers, faces and calls in English and French, in lower case without accents: all that a reader of bids knows."""

from __future__ import annotations

from collections.abc import Iterator

from perudo_env.engine.actions import CALZA, DUDO, PACO, PASS, Call

_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_FRENCH = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
    "dix-neuf vingt"
)
SPELLED = {"en": _ENGLISH.split(), "fr": _FRENCH.split()}
"""Numbers from 0 as they are written."""

_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
# the last four as they are said in Switzerland and in Belgium
_DIZAINES = "vingt:20 trente:30 quarante:40 cinquante:50 soixante:60 septante:70 huitante:80 octante:80 nonante:90"


def _english() -> Iterator[tuple[str, int]]:
    units = SPELLED["en"][:20]
    yield from ((word, n) for n, word in enumerate(units))
    for ten, word in enumerate(_TENS.split(), 2):
        yield from ((word + unit, 10 * ten + n) for n, unit in enumerate(["", *units[1:10]]))


def _french() -> Iterator[tuple[str, int]]:
    units = [word.replace("é", "e").replace("-", "") for word in SPELLED["fr"][:20]]
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
"""Numbers from 0 to 99, without hyphens and spaces: ``twentysix``, ``vingtetun``, ``quatrevingtdixsept``, ``nonantesept``."""

MOST_WORDS = 4
"""Of how many words a number may consist, as ``quatre vingt dix sept`` does."""

PACOS = ("p", "paco", "pacos", "ace", "aces", "as")

FACES: dict[str, int] = {
    **{word: n for word, n in NUMERALS.items() if 1 <= n <= 6},
    **{word: n for n, word in enumerate(("ones", "twos", "threes", "fours", "fives", "sixes"), 1)},
    **dict.fromkeys(PACOS, PACO),
}  # fmt: skip

CALLS: dict[str, Call] = {
    **dict.fromkeys(("dudo", "dudu", "doute", "doubt", "liar", "menteur", "menteuse"), DUDO),
    **dict.fromkeys(("calza", "exact", "exactement", "exactly"), CALZA),
    **dict.fromkeys(("pass", "passe"), PASS),
}

LETTERS: dict[str, Call] = {"d": DUDO, "c": CALZA}
"""What stands for a call where nothing else is said."""
