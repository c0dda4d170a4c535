"""The parts that all pages share: the templates, the tables, the archive, the agents."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import HTTPConnection

from perudo_env.game.words import Words, words
from perudo_env.play.archive import Archive
from perudo_env.play.language import request_language
from perudo_env.play.lineup import Lineup
from perudo_env.play.names import MOST_LETTERS, isolated
from perudo_env.play.web.frames import Frames
from perudo_env.play.web.rooms import Room, Rooms
from perudo_env.play.web.shelf import Shelf


@cache
def environment(language: str) -> Environment:
    """The templates in a language."""
    texts = words(language)
    env = Environment(
        loader=PackageLoader("perudo_env.play"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.globals.update(_=texts.gettext, ngettext=texts.ngettext, words=texts, level=texts.level, max=max, round=round)
    env.globals["most_letters"] = MOST_LETTERS
    env.filters["isolated"] = isolated
    return env


class House:
    """The state of a server."""

    def __init__(
        self,
        lineup: Lineup,
        archive: Archive,
        extra_links: tuple[tuple[str, str], ...] = (),
        shelf: Shelf | None = None,
        public: str | None = None,
    ) -> None:
        self.lineup, self.archive, self.rooms = lineup, archive, Rooms()
        self.extra_links, self.shelf, self.public = extra_links, shelf, public or ""
        self._frames: dict[str, Frames] = {}

    def open(self, room: Room) -> None:
        """Put up a table, and keep it on the shelf if people sit there; raises ``ValueError`` if the house is full."""
        if self.shelf is not None and room.people:
            room.keep = self.shelf.put
        self.rooms.open(room)

    async def reopen(self) -> None:
        """Put up the tables that were left when the server last stopped."""
        if self.shelf is not None and not self.shelf.claim():
            self.shelf = None
        if self.shelf is not None:
            # making an agent may read files and compile
            for room in await asyncio.to_thread(list, self.shelf.take(self.lineup.policy, self.archive)):
                self.open(room)

    def close(self) -> None:
        """Stop all tables, and leave the shelf to the next server."""
        self.rooms.close()
        if self.shelf is not None:
            self.shelf.release()

    def frames(self, language: str) -> Frames:
        """What makes the frames of a language."""
        if language not in self._frames:
            texts = words(language)
            labels = {level: texts.level(level) for level in self.lineup.levels}
            self._frames[language] = Frames(environment(language), self.lineup, texts, labels, self.public)
        return self._frames[language]

    def page(self, request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page that no cache keeps, in the language of the request."""
        texts = words_of(request)
        _ = texts.gettext
        links = [
            ("/rules", _("Rules")),
            ("/games", _("Games played")),
            *((href, _(label)) for href, label in self.extra_links),
        ]
        path = request.url.path
        here = path + (f"?{request.url.query}" if request.url.query else "") if request.method == "GET" else "/"
        html = environment(texts.language).get_template(template).render(
            links=links, path=path, here=here, **values
        )  # fmt: skip
        return HTMLResponse(html, status, {"Cache-Control": "no-store"})


def house_of(connection: HTTPConnection) -> House:
    """The house that answers a request."""
    house = connection.app.state.house
    assert isinstance(house, House)
    return house


def words_of(connection: HTTPConnection) -> Words:
    """The texts in the language of a request."""
    return words(request_language(connection))
