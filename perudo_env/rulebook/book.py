"""The rules in force under a variant, as data: clauses in English and French, each with its source and checked examples.

A page or a terminal formats what :func:`rulebook` returns; :func:`rulebook` raises rather than return an example that
the engine plays otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from textwrap import fill
from typing import Any

from perudo_env.engine.variant import MAX_SEATS, SWITCHES, VARIANTS, Variant, as_variant, switch_values
from perudo_env.game.game import Game
from perudo_env.game.language import LANGUAGES
from perudo_env.rulebook import texts
from perudo_env.rulebook.examples import Example, Outcome, RulebookError, Sight, check, examples
from perudo_env.rulebook.texts import Words

__all__ = ["Clause", "Rulebook", "RulebookError", "Standing", "format_rulebook", "rulebook"]


@dataclass(frozen=True)
class Standing:
    """What a clause rests on.

    ``kind``: ``stated`` by the preset's source; ``default`` (that source is silent or unclear); ``option`` of that
    source; ``override`` of the preset by the user; ``research`` (no rule text); ``custom`` (no preset).
    ``source`` is the preset's, if it has one; ``stated_by`` are the texts that state this very value.
    """

    kind: str
    source: str | None
    stated_by: tuple[str, ...]
    vague: bool = False  # an option that its source does not settle in full

    @property
    def is_silent(self) -> bool:
        """Whether a default was chosen because the preset's source does not settle the point."""
        return self.kind == "default" or self.vague

    @property
    def words(self) -> Words:
        """The standing in words."""
        by_en, by_fr = _listed(self.stated_by, "and"), _listed(self.stated_by, "et")
        found = (
            Words(f"found in {by_en}", f"se trouve dans {by_fr}")
            if by_en
            else Words("found in none of the five texts", "dans aucun des cinq textes")
        )
        s = self.source
        return {
            "stated": Words(s or by_en, s or by_fr),
            "default": Words(f"{s} is silent or unclear: a default was chosen ({found.en})", f"{s} n'en dit rien de clair : choix par défaut ({found.fr})"),
            "option": Words(f"your choice, an option of {s}", f"votre choix, une option de {s}"),
            "override": Words(f"your choice, not in {s or 'this preset'}; {found.en}", f"votre choix, absent de {s or 'ce préréglage'} ; {found.fr}"),
            "research": Words(f"no rule text ({found.en})", f"sans texte de règle ({found.fr})"),
            "custom": Words(f"your choice; {found.en}", f"votre choix ; {found.fr}"),
        }[self.kind]  # fmt: skip


@dataclass(frozen=True)
class Clause:
    """One rule in force: ``switch`` and ``value`` are None where no switch changes it."""

    key: str
    switch: str | None
    value: Any
    title: Words
    text: Words
    standing: Standing
    remarks: tuple[Words, ...]
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class Rulebook:
    """All clauses of a variant, in reading order."""

    variant: Variant
    clauses: tuple[Clause, ...]


def rulebook(variant: Variant | str) -> Rulebook:
    """The rules in force under ``variant``; raises ``RulebookError`` if an example and the engine disagree."""
    variant = as_variant(variant)
    if variant.name not in VARIANTS:
        variant = replace(variant, name="custom")  # so that its positions read back
    keys = [key for key in texts.TITLES if key != "opener" or variant.rounds != "one"]
    book = Rulebook(variant, tuple(_clause(variant, key) for key in keys))
    for clause in book.clauses:
        for example in clause.examples:
            check(example)
    return book


def _clause(variant: Variant, key: str) -> Clause:
    is_switch = key in SWITCHES
    value = getattr(variant, key) if is_switch else None
    if is_switch:
        by_value = texts.BY_VALUE[key]
        text = by_value.get(value) or by_value[None]
    else:
        text = texts.FIXED[key]
    remarks = [texts.REMARKS[at] for at in ((variant.name, key, value), (None, key, value)) if at in texts.REMARKS]
    return Clause(
        key=key,
        switch=key if is_switch else None,
        value=value,
        title=texts.TITLES[key],
        text=Words(*(t.format(value=value, seats=MAX_SEATS) for t in text)),
        standing=_standing(variant, key, value) if is_switch else Standing("stated", None, texts.ALL),
        remarks=tuple(remarks),
        examples=examples(variant, key),
    )


def _standing(variant: Variant, switch: str, value: Any) -> Standing:
    name, stated_by = variant.name, texts.STATED.get((switch, value), ())
    source = texts.PRESET_SOURCE.get(name)
    if name not in VARIANTS:
        return Standing("custom", None, stated_by)
    at = (name, switch, value)
    if value != getattr(VARIANTS[name], switch):
        kind = "option" if at in texts.OPTIONS else "override"
        return Standing(kind, source, stated_by, vague=at in texts.VAGUE_OPTIONS)
    if source is None:
        return Standing("research", None, stated_by)
    return Standing("default" if switch in texts.SILENT[name] else "stated", source, stated_by)


def _listed(names: Sequence[str], conjunction: str) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {conjunction} {names[-1]}"


# ---------------------------------------------------------------------------------------------- as plain text

_HEAD = Words("Rules in force: {variant}", "Règles en vigueur : {variant}")
_RESEARCH = Words(
    "This preset follows no rule text; it is for comparison with published results.",
    "Ce préréglage ne suit aucun texte de règle ; il sert à comparer à des résultats publiés.",
)
_KEY = Words(
    "* the source does not settle this point and a default was chosen. Each example was just checked by the engine.",
    "* la source ne tranche pas ce point : un choix par défaut a été fait. Chaque exemple vient d'être vérifié par le moteur.",
)
_SOURCES = Words("Sources", "Sources")
VERDICT = {True: Words("legal", "permis"), False: Words("illegal", "interdit")}


def value_name(switch: str, value: Any, language: str = "en") -> str:
    """A value of a switch in a few words, for those who choose among them; raises ``KeyError`` for what is none."""
    named = texts.VALUE_NAMES.get(switch)
    if named is not None:
        return str(getattr(named[value], language))
    if value not in switch_values(switch):
        raise KeyError(value)
    return str(value)


def format_rulebook(book: Rulebook, languages: Sequence[str] = LANGUAGES, width: int = 100) -> str:
    """The rulebook as plain text, one language after the other."""
    return "\n\n".join(_format_in(book, language, width) for language in languages)


def _format_in(book: Rulebook, language: str, width: int) -> str:
    head = getattr(_HEAD, language).format(variant=book.variant)
    lines = [head, "=" * len(head)]
    if book.variant.name in VARIANTS and book.variant.name not in texts.PRESET_SOURCE:
        lines.append(getattr(_RESEARCH, language))
    lines.append(getattr(_KEY, language))
    for clause in book.clauses:
        lines += ["", *_format_clause(clause, language, width)]
    lines += [
        "",
        f"{getattr(_SOURCES, language)}:",
        *(f"  {s}  {getattr(w, language)}" for s, w in texts.SOURCES.items()),
    ]
    return "\n".join(lines)


def _format_clause(clause: Clause, language: str, width: int) -> list[str]:
    def indented(text: str) -> str:
        return fill(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)

    setting = f" ({clause.switch} = {clause.value})" if clause.switch else ""
    star = " *" if clause.standing.is_silent else ""
    lines = [f"{getattr(clause.title, language)}{setting}{star}", indented(getattr(clause.text, language))]
    lines.append(indented(f"[{getattr(clause.standing.words, language)}]"))
    lines += [indented(getattr(remark, language)) for remark in clause.remarks]
    for position, group in groupby(clause.examples, key=lambda e: e.position):
        lines.append(f"    {position}")
        lines += [f"      {format_example(example, language)}" for example in group]
    return lines


def format_example(example: Example, language: str = "en") -> str:
    """What comes of an example, in words; the engine gives the reason where an action is illegal."""
    expect = example.expect
    if isinstance(expect, Sight):
        seen = " ".join("?" if d is None else str(d) for d in expect.dice)
        return (
            f"seat {expect.viewer} sees dice {seen}"
            if language == "en"
            else f"la place {expect.viewer} voit les dés {seen}"
        )
    if isinstance(expect, Outcome):
        return f"{example.action}: {_format_outcome(expect, language)}"
    verdict = f"{example.action}: {getattr(VERDICT[expect], language)}"
    why = Game.from_position(example.position).why_illegal(example.action, language)
    return verdict if why is None else f"{verdict} ({why})"


_OUTCOME: dict[str, Words] = {
    "count": Words("the count is {}", "le compte est {}"),
    "-1": Words("seat {} loses a die", "la place {} perd un dé"),
    "0": Words("seat {} has all its dice and gains nothing", "la place {} a tous ses dés et ne gagne rien"),
    "1": Words("seat {} takes a die back", "la place {} reprend un dé"),
    "opener": Words("seat {} opens the next round", "la place {} ouvre la manche suivante"),
    "palifico": Words("the next round is palifico", "la manche suivante est palifico"),
    "ordinary": Words("the next round is ordinary", "la manche suivante est ordinaire"),
    "over": Words("the game is over", "la partie est finie"),
    "on": Words("the game goes on", "la partie continue"),
}


def _format_outcome(o: Outcome, language: str) -> str:
    said = [("count", o.count)]
    if o.seat is not None:
        said.append((str(o.change), o.seat))
    if o.opener is not None:
        said.append(("opener", o.opener))
    if o.palifico is not None:
        said.append(("palifico" if o.palifico else "ordinary", 0))
    if o.over is not None:
        said.append(("over" if o.over else "on", 0))
    return ", ".join(getattr(_OUTCOME[key], language).format(n) for key, n in said)
