"""The language that people read, and its catalogue of texts: gettext, with English as its own key.

``python -m tools.catalogue`` collects the texts of everything in this folder into ``locale/`` and compiles them.
"""

from __future__ import annotations

import gettext
import os
from functools import cache
from pathlib import Path
from typing import Any

from starlette.requests import HTTPConnection

from perudo_env.game.clauses import LANGUAGES

LOCALE = Path(__file__).parent / "locale"
DOMAIN = "perudo"
COOKIE = "language"


def N_(message: str) -> str:
    """Marks a message for the catalogue; whoever shows it translates it."""
    return message


class RefusedError(ValueError):
    """What was entered cannot be, and nothing has changed. ``message`` is the catalogue's, with ``values`` to fill in."""

    def __init__(self, message: str, **values: Any) -> None:
        super().__init__(message.format(**values))
        self.message, self.values = message, values


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


def request_language(request: HTTPConnection) -> str:
    """The language of a page: chosen on a page before, fixed for the server, or what the browser asks for."""
    chosen = request.cookies.get(COOKIE)
    if chosen in LANGUAGES:
        return chosen
    fixed = getattr(request.app.state, "language", None)
    return fixed or language_of(request.headers.get("accept-language", ""))


def request_translations(request: HTTPConnection) -> gettext.NullTranslations:
    """The catalogue for a page."""
    return translations(request_language(request))
