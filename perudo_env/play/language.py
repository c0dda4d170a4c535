"""Refusals in the reader's language, and the choice of the language a page is read in."""

from __future__ import annotations

import gettext
from typing import Any

from starlette.requests import HTTPConnection

from perudo_env.game.language import LANGUAGES, language_of, translations
from perudo_env.game.words import Words

COOKIE = "language"


class RefusedError(ValueError):
    """What was entered cannot be, and nothing has changed. ``message`` is the catalogue's, with ``values`` to fill in."""

    def __init__(self, message: str, **values: Any) -> None:
        super().__init__(message.format(**values))
        self.message, self.values = message, values


def say_refused(error: RefusedError, w: Words) -> str:
    """Why something was refused, as a sentence: ``No: ... .``"""
    return w.gettext("No: {error}.", error=w.gettext(error.message, **error.values))


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
