"""The WebSocket of one browser at one table."""

from __future__ import annotations

import asyncio
import logging

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from perudo_env.engine.clauses import IllegalActionError
from perudo_env.game.language import LANGUAGES
from perudo_env.game.notation import NotationError
from perudo_env.game.words import words
from perudo_env.play.table import NotYourTurnError
from perudo_env.play.web.house import House, house_of, words_of
from perudo_env.play.web.messages import (
    Act,
    Again,
    AskHint,
    BadMessageError,
    Beat,
    Decline,
    Hurry,
    Message,
    Odds,
    RateLimit,
    Ready,
    Show,
    parse,
)
from perudo_env.play.web.rooms import Room, Screen, Stage
from perudo_env.play.web.security import is_same_origin
from perudo_env.play.web.tables import cookie_of

_log = logging.getLogger(__name__)
router = APIRouter()
MOST_REFUSED = 40  # messages over the rate before the connection is closed
POLICY_VIOLATION = 1008


@router.websocket("/t/{room_id}/ws")
async def follow(socket: WebSocket, room_id: str) -> None:
    """Show a table to a browser, and let it act for the seats that its token holds."""
    # its page says in which language it is
    house, asked = house_of(socket), socket.query_params.get("language")
    texts = words(asked) if asked in LANGUAGES else words_of(socket)
    room = house.rooms.get(room_id)
    token = socket.cookies.get(cookie_of(room_id))
    # refused before it is accepted: the browser sees status 403
    if room is None or not is_same_origin(socket) or (token is not None and not room.seats_of(token)):
        await socket.close(POLICY_VIOLATION)
        return
    await socket.accept()
    screen = Screen(room.seats_of(token), texts)
    room.screens.add(screen)
    screen.dirty.set()
    telling = asyncio.create_task(_tell(socket, house, room, screen))
    try:
        await _listen(socket, house, room, screen)
    except WebSocketDisconnect:
        pass
    finally:
        room.screens.discard(screen)
        telling.cancel()
        if screen.helping is not None:
            screen.helping.cancel()


async def _tell(socket: WebSocket, house: House, room: Room, screen: Screen) -> None:
    """Send the table whenever it has moved; what moves while a slow browser takes one frame is told in the next."""
    frames = house.frames(screen.words.language)
    while True:
        await screen.dirty.wait()
        screen.dirty.clear()
        await socket.send_json(frames.state(room, screen))


async def _listen(socket: WebSocket, house: House, room: Room, screen: Screen) -> None:
    """Answer every message: with what is wrong with it, or that it was heard. A browser that gets no answer tries another line."""
    limit, refused = RateLimit(), 0
    while True:
        event = await socket.receive()
        if event["type"] == "websocket.disconnect":
            return
        if not limit.allows():
            refused += 1
            if refused > MOST_REFUSED:
                await socket.close(POLICY_VIOLATION, "too many messages")
                return
            if refused % 10 == 1:
                await _complain(socket, screen.words.gettext("Too many messages: wait a moment."))
            continue
        error = _heed(socket, event.get("text"), house, room, screen)
        if error is not None:
            await _complain(socket, error)
        else:
            await socket.send_json({"type": "heard"})


async def _complain(socket: WebSocket, text: str) -> None:
    await socket.send_json({"type": "error", "text": text})


def _heed(socket: WebSocket, text: str | None, house: House, room: Room, screen: Screen) -> str | None:
    """Do what a message says; returns what is wrong with it, in the language of the browser."""
    _ = screen.words.gettext
    try:
        message = parse("" if text is None else text)
    except BadMessageError as error:
        return _("This message cannot be understood: {why}", why=error)
    if isinstance(message, Beat):
        return None
    if isinstance(message, Odds):
        return _show_odds(message, room, screen)
    if not screen.seats or (not isinstance(message, Ready | Again | Hurry) and message.seat not in screen.seats):
        return _("This seat is not yours.")
    if message.at != room.position:
        return _("This came too late: the table had moved on. Nothing was done; look, and choose again.")
    if isinstance(message, Act | AskHint) and message.seat != screen.shown and not room.table.game.in_calza_window:
        return _("It is not this seat's turn.")
    if isinstance(message, AskHint):
        return _hint(socket, message, house, room, screen)
    return _do(message, room, screen)


def _show_odds(message: Odds, room: Room, screen: Screen) -> str | None:
    if message.on and not room.options.hints:
        return screen.words.gettext("This table plays without help.")
    screen.odds = message.on
    screen.dirty.set()
    return None


def _do(message: Message, room: Room, screen: Screen) -> str | None:
    _ = screen.words.gettext
    match message:
        case Ready():
            room.get_ready(screen.seats)
        case Again():
            room.ask_again()
        case Hurry(speed=speed):
            room.hurry(speed)
        case Show(seat=seat):
            if seat not in room.waiting_for:
                return _("It is not this seat's turn.")
            screen.shown = seat
            screen.dirty.set()
        case Act(seat=seat, action=action):
            return _act(seat, action, room, screen)
        case Decline(seat=seat):
            if not room.table.game.in_calza_window or seat not in room.waiting_for:
                return _("It is not this seat's turn.")
            room.decline(seat)
    return None


def _act(seat: int, action: str, room: Room, screen: Screen) -> str | None:
    _ = screen.words.gettext
    if room.stage is not Stage.PLAY:
        return (
            _("The dice of the last round lie open: wait for the next one.")
            if room.stage is Stage.REVEAL
            else _("Nobody is to act now.")
        )
    try:
        room.act(seat, action)
    except NotYourTurnError:
        return _("It is not this seat's turn.")
    except NotationError:
        return _("“{action}” is neither a bid nor a call.", action=action)
    except IllegalActionError:
        return room.table.why_illegal(seat, action, screen.words.language)
    return None


def _hint(socket: WebSocket, message: AskHint, house: House, room: Room, screen: Screen) -> str | None:
    _ = screen.words.gettext
    if not room.options.hints:
        return _("This table plays without help.")
    if room.stage is not Stage.PLAY or message.seat not in room.table.waiting_for:
        return _("It is not this seat's turn.")
    if screen.helping is None or screen.helping.done():
        advice = room.table.advice(message.seat, house.lineup.adviser)
        frames = house.frames(screen.words.language)

        async def help_when_known() -> None:
            try:
                hint = await asyncio.to_thread(advice)
            except Exception:
                _log.exception("help at table %s", room.id)
                await _complain(socket, _("No help can be had: the server met an error; its log says which."))
            else:
                await socket.send_json(frames.hint(message.at, hint))

        # it may take a while, and the messages after it are heard meanwhile
        screen.helping = asyncio.create_task(help_when_known())
    return None
