"""An evening as one HTML page without scripts, to be read, printed and kept."""

from __future__ import annotations

import os
from datetime import datetime
from functools import cache
from gettext import NullTranslations
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from perudo_env.play.language import language_of
from perudo_env.play.score.entries import N_, ScoreError
from perudo_env.play.score.store import Kept
from perudo_env.play.score.words import SCORING_NAMES, dice_left, ordinal, say_line, say_next
from perudo_env.rulebook_texts import PRESET_SOURCE, SOURCES


@cache
def environment(t: NullTranslations) -> Environment:
    """The templates of the score keeper in a language."""
    lang = language_of(t)
    env = Environment(
        loader=PackageLoader("perudo_env.play"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.i18n"],
    )  # fmt: skip
    env.install_gettext_translations(t, newstyle=True)  # type: ignore[attr-defined]
    env.globals.update(
        ordinal=lambda place: ordinal(place, t),
        dice_left=lambda n: dice_left(n, t),
        say_line=lambda line, table: say_line(line, table, t),
        say_next=lambda table: say_next(table, t),
        scoring_names={key: t.gettext(name) for key, name in SCORING_NAMES.items()},
        preset_names={preset: f"{preset}: {getattr(SOURCES[s], lang)}" for preset, s in PRESET_SOURCE.items()},
        lang=lang,
        day=day,
    )
    return env


def day(at: str) -> str:
    """The date of a stored time, where the reader is, as 2026-11-30."""
    return datetime.fromisoformat(at).astimezone().date().isoformat()


def sheet_html(kept: Kept, t: NullTranslations) -> str:
    """The page of an evening: every game round by round, and the ranking."""
    return environment(t).get_template("score/sheet.html").render(kept=kept, evening=kept.evening)


def write_text(file: Path, text: str) -> None:
    """Write a file whole or not at all; raises ``ScoreError`` where it cannot be."""
    draft = file.with_name(file.name + ".part")
    try:
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, file)
    except OSError as error:
        draft.unlink(missing_ok=True) if file.parent.is_dir() else None
        raise ScoreError(N_("%(file)s cannot be written: %(error)s"), file=file, error=error) from error
