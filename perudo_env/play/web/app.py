"""The browser game as an ASGI app."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from perudo_env.play.archive import Archive
from perudo_env.play.lineup import Lineup
from perudo_env.play.web import install, live, reading, tables
from perudo_env.play.web.house import House, house_of, words_of
from perudo_env.play.web.security import LOCAL_HOSTS, SecurityHeaders
from perudo_env.play.web.shelf import Shelf

MOST_SOCKET_BYTES = 65_536  # beyond this the server closes a WebSocket unread (1009)


def create_app(
    lineup: Lineup,
    games: Path | None = None,
    *,
    running: Path | None = None,
    language: str | None = None,
    hosts: Sequence[str] = LOCAL_HOSTS,
    public: str | None = None,
    routers: Sequence[APIRouter] = (),
    links: Sequence[tuple[str, str]] = (),
) -> FastAPI:
    """The app: ``games`` is where finished games are kept, ``running`` where tables outlive the server (None: nowhere).

    ``language`` fixes one for all. ``hosts`` are the names it answers to (``*``: any), ``public`` the origin by
    which others reach it (``https://perudo.example``; None: whatever the browser has). ``routers`` are further pages,
    with ``links`` (address, label) to them.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await house.reopen()
        yield
        house.close()

    app = FastAPI(title="Perudo", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    house = House(lineup, Archive(games), tuple(links), None if running is None else Shelf(running), public)
    app.state.house, app.state.language, app.state.public = house, language, public
    for router in (tables.router, reading.router, live.router, install.router, *routers):
        app.include_router(router)
    app.mount("/static", StaticFiles(packages=[("perudo_env.play", "static")]), "static")
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    app.add_middleware(SecurityHeaders)
    app.add_exception_handler(HTTPException, _say)
    app.add_exception_handler(RequestValidationError, _say_unread)
    return app


async def _say(request: Request, error: Exception) -> Response:
    """An error as a page."""
    assert isinstance(error, HTTPException)
    return house_of(request).page(request, "error.html", error.status_code, detail=error.detail, code=error.status_code)


async def _say_unread(request: Request, error: Exception) -> Response:
    """An address with words where numbers belong."""
    return await _say(request, HTTPException(422, words_of(request).gettext("This address is not understood.")))


def listening(host: str, port: int) -> socket.socket:
    """The socket of a server, taken before anything is prepared; raises ``ValueError`` where another server has it."""
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048
        )
    except (OSError, OverflowError) as error:
        why = str(getattr(error, "strerror", None) or error).partition(" (while")[0]
        raise ValueError(f"nothing can be served at {host}, port {port} ({why}): --port names another") from error


def serve(app: FastAPI, listener: socket.socket) -> None:
    """Serve until interrupted."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws_max_size=MOST_SOCKET_BYTES))
    with listener, suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
