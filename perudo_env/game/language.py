"""Languages that people read, and the catalogue of texts in them: gettext, with English as its own key.

``python -m tools.catalogue`` collects the texts of the whole package into ``perudo_env/locale/`` and compiles them. One
place is not in it: the rulebook, whose texts stand in both languages beside each other and beside their sources.
"""

from __future__ import annotations

import gettext
import os
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "fr")
LOCALE = Path(__file__).parents[1] / "locale"
DOMAIN = "perudo"


def N_(message: str) -> str:
    """Marks a message for the catalogue; whoever shows it translates it."""
    return message


@cache
def translations(language: str) -> gettext.NullTranslations:
    """The texts of ``fr``, or English ones for anything else."""
    if language == "fr":
        return gettext.translation(DOMAIN, LOCALE, ["fr"])
    return gettext.NullTranslations()


def language_of(tag: str | None = None) -> str:
    """``fr`` or ``en`` for a tag like ``fr_CA.UTF-8`` or a list like an HTTP Accept-Language; None: that of the system.

    The first known language counts; English where none is.
    """
    if tag is None:
        tag = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    wanted = []
    for i, part in enumerate(tag.split(",")):
        name, _, quality = part.partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=") or 1)
        except ValueError:
            weight = 0.0
        wanted.append((-weight, i, name.strip().lower()[:2]))
    return next((name for _, _, name in sorted(wanted) if name in LANGUAGES), "en")
