"""An evening as one HTML page without scripts, to be read, printed and kept."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from perudo_env.game import files
from perudo_env.game.language import N_
from perudo_env.game.words import Words, words
from perudo_env.play.names import isolated
from perudo_env.play.score.entries import ScoreError
from perudo_env.play.score.store import Kept
from perudo_env.play.score.words import SCORING_NAMES


@cache
def _template(language: str) -> Template:
    texts = words(language)
    env = Environment(
        loader=PackageLoader("perudo_env.play"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.globals.update(_=texts.gettext, words=texts)
    env.filters["isolated"] = isolated
    return env.get_template("score/sheet.html")


def day(at: str) -> str:
    """The date of a stored time, where the reader is, as 2026-11-30."""
    return datetime.fromisoformat(at).astimezone().date().isoformat()


def sheet_html(kept: Kept, w: Words) -> str:
    """The page of an evening: every game round by round, and the ranking."""
    scoring = w.gettext(SCORING_NAMES[kept.evening.scoring])
    return _template(w.language).render(kept=kept, evening=kept.evening, date=day(kept.at), scoring=scoring)


def write_text(file: Path, text: str) -> None:
    """Write a file whole or not at all; raises ``ScoreError`` where it cannot be."""
    try:
        files.write_text(file, text)
    except (OSError, ValueError) as error:
        raise ScoreError(N_("{file} cannot be written: {error}"), file=file, error=error) from error
