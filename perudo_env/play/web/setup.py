"""The form for a new game, read: every field checked, and an error that names the one at fault."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from perudo_env.engine.variant import (
    RULE_TEXTS,
    SWITCHES,
    VARIANTS,
    ContradictionError,
    Variant,
    switch_values,
    variant,
)
from perudo_env.game.words import Words
from perudo_env.play.language import say_refused
from perudo_env.play.lineup import Lineup
from perudo_env.play.names import NameRefusedError, filled
from perudo_env.play.table import Player, may_choose_seed
from perudo_env.play.web.rooms import PACES, Options
from perudo_env.rulebook.book import value_name
from perudo_env.rulebook.texts import TITLES

MOST_SEATS = 6
ME, SCREEN, BROWSER = "me", "screen", "browser"
# Names for agents that nobody names.
NAMES = ("Pilar", "Diego", "Rosa", "Mateo", "Inés", "Tomás")


class SetupError(ValueError):
    """The table asked for cannot be; the message is in the language of the form."""


@dataclass(frozen=True)
class Setup:
    """A table as asked for."""

    variant: Variant
    players: tuple[Player, ...]
    mine: frozenset[int]  # the seats of the browser that asks
    seed: int | None
    options: Options


def kinds(words: Words) -> list[tuple[str, str]]:
    """Who may take a seat, beside agents."""
    _ = words.gettext
    return [
        ("", _("nobody")),
        (ME, _("me")),
        (SCREEN, _("somebody at this screen")),
        (BROWSER, _("somebody with another screen")),
    ]


def presets(words: Words) -> list[tuple[str, str, str]]:
    """The rule sets that people play: value, name, and what is special about each in a line."""
    _ = words.gettext
    told = {
        "classic": (_("Classic"), _("Raise or doubt. Whoever falls to one die opens a Palifico round.")),
        "pascal": (_("With Calza"), _("Say Calza to an exact bid and take a die back. No Palifico.")),
        "box": (_("Boxed edition"), _("Dice lost are hidden: remember them. Raise the quantity or the face, not both.")),
        "marquoir": (_("Calza and Palifico"), _("Everything there is.")),
        "evening": (_("Palifico once"), _("One Palifico round for each player, and no end to the bids.")),
    }  # fmt: skip
    return [(name, *told[name]) for name in RULE_TEXTS]


def variant_labels(words: Words) -> list[tuple[str, str]]:
    """All rule sets by name, those for research too."""
    known = {value: name for value, name, _ in presets(words)}
    return [(v, known.get(v) or words.gettext("{name}: for research", name=v)) for v in VARIANTS]


def levels(lineup: Lineup, words: Words) -> list[tuple[str, str, str]]:
    """The levels, weakest first: value, name, and how each plays in a line."""
    _ = words.gettext
    plays = {
        "novice": _("Bluffs often, and gets caught."),
        "regular": _("Counts its own dice and the odds, and listens to nobody."),
        "expert": _("Hears in your bids what you may hold."),
        "master": _("Learnt by playing against itself, and bluffs when it pays."),
    }
    return [(level, words.level(level), plays.get(level, "")) for level in lineup.levels]


def paces(words: Words) -> list[tuple[str, str]]:
    """How long agents take to answer."""
    _ = words.gettext
    return [("none", _("at once")), ("quick", _("after a moment")), ("calm", _("at leisure"))]


def switch_choices(words: Words) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Each switch with its title, and its values with a few words on each."""
    language = words.language
    return [
        (s, getattr(TITLES[s], language), [(str(v), value_name(s, v, language)) for v in switch_values(s)])
        for s in SWITCHES
    ]  # fmt: skip


def read_setup(form: Mapping[str, str], lineup: Lineup, words: Words) -> Setup:
    """Read the form; raises ``SetupError``."""
    _ = words.gettext
    asked, form = form, _seated(form, words)
    taken = [i for i in range(MOST_SEATS) if form.get(f"kind{i}")]
    kinds = [form[f"kind{i}"] for i in taken]
    for i, kind in zip(taken, kinds, strict=True):
        if kind not in (ME, SCREEN, BROWSER, *lineup.levels, *lineup.agents):
            raise SetupError(_("Seat {n}: there is no agent of this name.", n=i + 1))
    people = [kind in (ME, SCREEN, BROWSER) for kind in kinds]
    given = [_("Player {n}", n=seat + 1) if people[seat] else NAMES[i] for seat, i in enumerate(taken)]
    try:
        names = filled([form.get(f"name{i}", "").strip() or None for i in taken], given)
    except NameRefusedError as error:
        raise SetupError(say_refused(error, words)) from None
    players = tuple(
        Player(name, None if person else kind) for name, person, kind in zip(names, people, kinds, strict=True)
    )
    mine = frozenset(seat for seat, kind in enumerate(kinds) if kind in (ME, SCREEN))
    if len(players) < 2:
        raise SetupError(_("A game needs two players at least."))
    options = Options(
        hints=form.get("hints") == "1",
        confirm=form.get("confirm") == "1",
        pace=form.get("pace", "quick") if form.get("pace", "quick") in PACES else "quick",
        window_seconds=_number(form.get("window") or "3", 0, 120, _("Seconds to say Calza"), words),
        again=f"{page_of(asked, lineup)}?{urlencode({k: v for k, v in asked.items() if v})}",
    )
    seed = form.get("seed", "").strip()
    others = [seat for seat, player in enumerate(players) if player.agent is None and seat not in mine]
    if seed and (others or not may_choose_seed(players)):
        raise SetupError(
            _(
                "Seed: it tells all dice, so only a person who plays alone may choose it. Leave it empty to have one drawn."
            )
        )
    return Setup(
        _variant(form, words), players, mine,
        _number(seed, 0, 2**64 - 1, _("Seed"), words) if seed else None, options,
    )  # fmt: skip


def page_of(form: Mapping[str, str], lineup: Lineup) -> str:
    """The page whose form this is: the first one, that of a table seat by seat, or that for research."""
    if not _has_seats(form):
        return "/"
    people = {"", ME, SCREEN, BROWSER, *lineup.levels}
    known = all(form.get(f"kind{i}", "") in people for i in range(MOST_SEATS))
    plain = not form.get("seed") and not any(v for k, v in form.items() if k.startswith("sw_"))
    return "/new" if known and plain and form.get("variant", "classic") in RULE_TEXTS else "/research"


def _has_seats(form: Mapping[str, str]) -> bool:
    return any(form.get(f"kind{i}") for i in range(MOST_SEATS))


def _seated(form: Mapping[str, str], words: Words) -> dict[str, str]:
    """The form seat by seat; the first page asks only for the level and the number of the opponents."""
    if _has_seats(form) or not form.get("level"):
        return dict(form)
    others = _number(form.get("opponents") or "3", 1, MOST_SEATS - 1, words.gettext("Opponents"), words)
    return {**form, "kind0": ME, **{f"kind{i}": form["level"] for i in range(1, others + 1)}}


def _variant(form: Mapping[str, str], words: Words) -> Variant:
    overrides: dict[str, Any] = {}
    for switch in SWITCHES:
        text = form.get(f"sw_{switch}", "")
        if text:
            overrides[switch] = next((v for v in switch_values(switch) if str(v) == text), text)
    try:
        return variant(form.get("variant", "classic"), **overrides)
    except ContradictionError as error:
        named = (
            words.gettext(
                "“{title}: {value}”", title=getattr(TITLES[s], words.language), value=value_name(s, v, words.language)
            )
            for s, v in error.switches.items()
        )
        raise SetupError(words.gettext("These do not go together: {switches}.", switches=", ".join(named))) from None
    except ValueError as error:
        raise SetupError(words.gettext("These rules cannot be: {why}", why=error)) from None


def _number(text: str, least: int, most: int, what: str, words: Words) -> int:
    if not re.fullmatch(r"[0-9]{1,20}", text.strip()) or not least <= int(text) <= most:
        raise SetupError(
            words.gettext("{what}: give a whole number from {least} to {most}.", what=what, least=least, most=most)
        )
    return int(text)
