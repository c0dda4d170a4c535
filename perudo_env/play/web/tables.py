"""The pages of tables: set one up, sit down, look at it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from perudo_env.game.language import LANGUAGES
from perudo_env.play.language import COOKIE, say_refused
from perudo_env.play.names import NameRefusedError, beside
from perudo_env.play.table import Table, UnseatedError
from perudo_env.play.web import setup
from perudo_env.play.web.house import House, house_of, words_of
from perudo_env.play.web.rooms import MOST_ROOMS, HouseFullError, Room, new_token
from perudo_env.play.web.security import form_of, is_secure

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


SEAT_SECONDS = 30 * 24 * 3600  # a browser that was closed finds its seat again
LAST_SETUP = "setup"  # the cookie with what was chosen on the first page
REMEMBERED = ("level", "opponents", "variant", "name0", "pace", "window", "hints", "confirm")
LAST_TABLE = "table"  # the cookie that names the table at which a browser sat down last; no secret


def cookie_of(room_id: str) -> str:
    """The name of the cookie that holds a browser's token at a table."""
    return f"seat-{room_id}"


def room_of(connection: HTTPConnection, room_id: str) -> Room:
    """The table of an id; 404 if there is none."""
    room = house_of(connection).rooms.get(room_id)
    if room is None:
        raise HTTPException(404, words_of(connection).gettext("There is no such table, or no longer."))
    return room


def seats_held(connection: HTTPConnection, room: Room) -> frozenset[int]:
    """The seats of the browser at a table, by its token."""
    return room.seats_of(connection.cookies.get(cookie_of(room.id)))


@router.get("/")
def home(request: Request) -> Response:
    """One press to play, as last time; everything else is folded."""
    return _form(request, "/", {**_last(request), **request.query_params})


@router.get("/new")
def seat_by_seat(request: Request) -> Response:
    """The form for a table of friends, or of agents of several levels."""
    return _form(request, "/new", dict(request.query_params))


@router.get("/research")
def research(request: Request) -> Response:
    """The form with everything: agents by name, single rules, the seed."""
    return _form(request, "/research", dict(request.query_params))


def _last(request: Request) -> dict[str, str]:
    """What was chosen on the first page last time."""
    return dict(parse_qsl(request.cookies.get(LAST_SETUP, "")[:2000])) or {"hints": "1"}


def _form(request: Request, page: str, form: dict[str, str], error: str | None = None) -> Response:
    house, texts = house_of(request), words_of(request)
    values: defaultdict[str, Any] = defaultdict(str, form)
    table = house.rooms.get(request.cookies.get(LAST_TABLE, ""))
    values["switched"] = any(value for name, value in form.items() if name.startswith("sw_"))
    values["seated"] = any(name.startswith("kind") for name in form)
    return house.page(
        request, "home.html" if page == "/" else "new.html", 200 if error is None else 422,
        values=values, error=error, warning=house.archive.warning(texts), table=None if table is None or table.table.is_over else table,
        for_research=page == "/research", kinds=setup.kinds(texts), agents=house.lineup.agents,
        levels=setup.levels(house.lineup, texts), presets=setup.presets(texts),
        variants=setup.variant_labels(texts), switches=setup.switch_choices(texts), paces=setup.paces(texts),
    )  # fmt: skip


@router.post("/tables")
async def open_table(request: Request) -> Response:
    """Put up a table and seat whoever asked."""
    house, texts, form = house_of(request), words_of(request), await form_of(request)
    try:
        asked = setup.read_setup(form, house.lineup, texts)
        # making an agent may read files and compile
        table = await asyncio.to_thread(Table, asked.variant, asked.players, house.lineup.policy, asked.seed)
        room = Room(table, asked.options, house.archive)
        house.open(room)
    except UnseatedError as error:
        _ = texts.gettext
        return _form(
            request,
            setup.page_of(form, house.lineup),
            form,
            _(
                "{agent} does not play by these rules with so many seats: choose another.",
                agent=texts.level(error.agent),
            ),
        )
    except HouseFullError:
        full = texts.gettext("There are {n} tables already: come back later.", n=MOST_ROOMS)
        return _form(request, setup.page_of(form, house.lineup), form, full)
    except ValueError as error:
        return _form(request, setup.page_of(form, house.lineup), form, str(error))
    answer = RedirectResponse(f"/t/{room.id}", 303)
    if form.get("level"):
        kept = urlencode({name: form[name] for name in REMEMBERED if form.get(name)})
        answer.set_cookie(LAST_SETUP, kept, 365 * 24 * 3600, httponly=True, samesite="lax")
    if asked.mine:
        _remember(request, answer, room, room.give(asked.mine))
    return answer


@router.get("/t/{room_id}")
def look(request: Request, room_id: str) -> Response:
    """A table, for who holds a seat or only looks on; or a free seat to take."""
    house, room = house_of(request), room_of(request, room_id)
    held = seats_held(request, room)
    answer = (
        _join_page(house, request, room)
        if room.free_seats and not held
        else house.page(request, "table.html", room=room)
    )
    if not held and cookie_of(room_id) in request.cookies:
        # a token that holds no seat, or no longer: without it the browser may at least look on
        answer.delete_cookie(cookie_of(room_id), path=f"/t/{room_id}")
    return answer


def _join_page(
    house: House, request: Request, room: Room, error: str | None = None, typed: str = "", wanted: int | None = None
) -> Response:
    free = [(seat, room.table.players[seat].name) for seat in room.free_seats]
    return house.page(
        request,
        "join.html",
        200 if error is None else 409,
        room=room,
        free=free,
        error=error,
        typed=typed,
        wanted=wanted,
        key=new_token(),
    )


@router.post("/t/{room_id}/join")
async def join(request: Request, room_id: str) -> Response:
    """Take a free seat."""
    room, form, _ = room_of(request, room_id), await form_of(request), words_of(request).gettext
    wanted, key = form.get("seat", ""), form.get("key", "")
    answer = RedirectResponse(f"/t/{room.id}", 303)
    if seats_held(request, room):
        return answer
    if room.seats_of(key):
        # pressed twice: of the first press the browser has not waited for the answer, nor has it the cookie
        _remember(request, answer, room, key)
        return answer
    if wanted not in map(str, room.free_seats):
        return _join_page(house_of(request), request, room, _("This seat is not free."))
    seat = int(wanted)
    typed, players = form.get("name", ""), room.table.players
    if typed.strip():
        try:
            room.table.rename(seat, beside(typed, [p.name for s, p in enumerate(players) if s != seat]))
        except NameRefusedError as error:
            return _join_page(house_of(request), request, room, say_refused(error, words_of(request)), typed, seat)
    _remember(request, answer, room, room.give(frozenset({seat}), key))
    return answer


@router.post("/language")
async def choose_language(request: Request) -> Response:
    """Remember the language chosen, and go back to the page."""
    form = await form_of(request)
    back, language = form.get("next", "/"), form.get("language", "en")
    # only to a page of this server
    if not back.startswith("/") or back.startswith(("//", "/\\")):
        back = "/"
    answer = RedirectResponse(back, 303)
    if language in LANGUAGES:
        answer.set_cookie(COOKIE, language, max_age=365 * 24 * 3600, httponly=True, samesite="lax")
    return answer


def _remember(request: Request, answer: Response, room: Room, token: str) -> None:
    secure = is_secure(request)
    for name, value, path in ((cookie_of(room.id), token, f"/t/{room.id}"), (LAST_TABLE, room.id, "/")):
        answer.set_cookie(name, value, SEAT_SECONDS, path=path, secure=secure, httponly=True, samesite="lax")
