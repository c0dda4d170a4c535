"""A table on the server: who holds which seat by which token, what runs it, and the screens that follow it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256

from perudo_env.engine.actions import PASS, Action
from perudo_env.game.events import Event, Revealed
from perudo_env.game.words import Words
from perudo_env.play.archive import Archive
from perudo_env.play.table import Table

PACES: dict[str, float] = {"none": 0.0, "quick": 0.7, "calm": 1.8}
"""How long an agent takes to answer, in seconds, by name."""
SPEEDS: dict[str, float] = {"single": 1.0, "double": 0.5, "end": 0.0}
"""What the times of a table are multiplied by once only agents play on, by name."""
LEAST_REVEAL = 4.0  # seconds, where nobody says that the dice have been seen

IDLE_SECONDS = 6 * 3600
MOST_ROOMS = 500
_ID_BYTES, _TOKEN_BYTES = 9, 24
_log = logging.getLogger(__name__)
# One thread: agents compute in turn, and the event loop stays free for people.
_THINKING = ThreadPoolExecutor(1, "agents")


class Stage(Enum):
    """What a table is doing."""

    WAITING = "waiting"  # for people to take their seats
    PLAY = "play"
    REVEAL = "reveal"  # a round has ended and its dice are looked at
    OVER = "over"


@dataclass(frozen=True)
class Options:
    """How a table is played, beside its rules."""

    hints: bool = False
    confirm: bool = False  # a bid takes one more press
    pace: str = "quick"
    window_seconds: float = 3.0  # of a Calza window; 0 waits for everybody
    reveal_seconds: float = 45.0  # until the next round begins without those who are not ready, at several screens
    again: str = ""  # the query of the page that offers the same table again


def new_token() -> str:
    """A secret that nobody guesses."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


class Screen:
    """One browser at a table: the seats it holds, and the one that looks at it."""

    def __init__(self, seats: frozenset[int], words: Words) -> None:
        self.seats, self.words = seats, words
        self.shown = next(iter(seats)) if len(seats) == 1 else None
        self.num_told = 0  # events this browser has been told
        self.odds = False  # whether it is shown the chance of the standing bid
        self.dirty = asyncio.Event()
        self.helping: asyncio.Task[None] | None = None  # what works out the help it asked for


class Room:
    """A table, its people's tokens, and the task that moves it on."""

    def __init__(self, table: Table, options: Options, archive: Archive) -> None:
        self.id = secrets.token_urlsafe(_ID_BYTES)
        self.table, self.options, self.archive = table, options, archive
        self.holders: dict[str, frozenset[int]] = {}  # by the digest of the token
        self.keep: Callable[[Room], None] | None = None  # is told whenever something has moved
        self.screens: set[Screen] = set()
        self.log: list[Event] = list(table.game.events)
        self.num_dealt = 1  # games at this table, this one included
        self.ready: set[int] = set()
        self.declined: set[int] = set()  # seats that want to be asked for Calza no more in this round
        self.speed = "single"
        self.wants_again = False
        self.in_reveal = False
        self.is_stuck = False  # an agent failed, or something else that nobody at the table can help
        self.saved_as: str | None = None
        self.unsaved: str | None = None  # the finished game, where no folder took it
        self.deadline: float | None = None  # of the Calza window or the reveal, by time.monotonic
        self.used_at = time.monotonic()
        self._moved = asyncio.Event()

    # ------------------------------------------------------------------------------------------ seats and tokens

    @property
    def people(self) -> frozenset[int]:
        """The seats of people."""
        return frozenset(s for s in range(len(self.table.players)) if self.table.is_person(s))

    @property
    def living(self) -> frozenset[int]:
        """The seats of people who have dice."""
        return frozenset(s for s in self.people if self.table.game.dice[s] > 0)

    @property
    def all_have_seen(self) -> bool:
        """Whether the open dice may go, since all people who have dice have seen them."""
        return self.stage is Stage.REVEAL and bool(self.living) and not self.waiting_for

    @property
    def free_seats(self) -> list[int]:
        """The seats of people that nobody has taken."""
        return sorted(self.people.difference(*self.holders.values()))

    def give(self, seats: frozenset[int], key: str = "") -> str:
        """Seat somebody; returns the secret token, the ``key`` of a form if it has one. Raises ``ValueError`` unless all seats are free."""
        if not seats <= set(self.free_seats):
            raise ValueError(f"the seats {sorted(seats)} are not all free: {self.free_seats} are")
        token = key if re.fullmatch(r"[\w-]{32}", key, re.ASCII) else new_token()
        self.holders[_digest(token)] = seats
        self.move()
        return token

    def seats_of(self, token: str | None) -> frozenset[int]:
        """The seats that a token holds; none for a wrong one."""
        return self.holders.get(_digest(token or ""), frozenset())

    # ------------------------------------------------------------------------------------------ what happens

    @property
    def stage(self) -> Stage:
        """What the table is doing now."""
        if self.free_seats:
            return Stage.WAITING
        if self.table.is_over:
            return Stage.OVER
        return Stage.REVEAL if self.in_reveal else Stage.PLAY

    @property
    def position(self) -> str:
        """What the table asks now, as each message must name it: one that comes late must not answer another question."""
        game = self.table.game
        return f"{self.num_dealt}-{self.stage.value}-{game.round}-{len(game.bids)}{'-calza' * game.in_calza_window}"

    @property
    def waiting_for(self) -> frozenset[int]:
        """The people whom the table waits for."""
        if self.stage is Stage.REVEAL:
            # who is out of the game need not keep the others waiting, and for agents nobody answers
            return self.living - self.ready
        return frozenset(self.table.waiting_for) if self.stage is Stage.PLAY else frozenset()

    @property
    def seconds_left(self) -> float | None:
        """Until the Calza window or the reveal ends by itself; None: it does not."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def act(self, seat: int, action: str) -> None:
        """Play an action of a person; raises as :meth:`Table.act` does."""
        self.happened(self.table.act(seat, action))

    def get_ready(self, seats: frozenset[int]) -> None:
        """The people at some seats have seen the dice of the last round."""
        if self.in_reveal:
            self.ready |= seats
            self.move()

    def decline(self, seat: int) -> None:
        """Let Calza pass now and for the rest of the round; raises as :meth:`Table.act` does."""
        self.happened(self.table.act(seat, PASS))
        self.declined.add(seat)

    def hurry(self, speed: str) -> None:
        """Play on at a speed of ``SPEEDS``; nothing changes while people have dice."""
        if not self.living:
            self.speed, self.deadline = speed, None
            self.move()

    def ask_again(self) -> None:
        """Deal a new game to the same players, once this one is over and kept."""
        self.wants_again = self.stage is Stage.OVER
        self.move()

    def happened(self, events: list[Event]) -> None:
        """Write down what happened and tell everybody."""
        self.log += events
        for seat in self.declined.intersection(self.table.waiting_for) if self.table.game.in_calza_window else ():
            self.log += self.table.act(seat, PASS)
        if any(isinstance(e, Revealed) for e in events):
            self.in_reveal, self.deadline = True, None
            self.ready.clear()
            self.declined.clear()
        elif not self.table.game.in_calza_window:
            self.deadline = None
        self.move()

    def move(self) -> None:
        """Wake the task and all screens."""
        self.used_at = time.monotonic()
        self._moved.set()
        for screen in self.screens:
            screen.dirty.set()
        if self.keep is not None:
            self.keep(self)

    # ------------------------------------------------------------------------------------------ the task

    async def run(self) -> None:
        """Move the table on until the game is over and saved, and from there to the next one if people ask for it."""
        try:
            while True:
                while self.stage is not Stage.OVER:
                    await self._go_on()
                if self.saved_as is None and self.unsaved is None:
                    await self._save()
                    self.move()
                if not self.people:
                    return
                if not self.wants_again:
                    await self._wait(None)
                if self.wants_again:
                    self._deal(await asyncio.to_thread(self.table.again))
        except Exception:
            _log.exception("table %s", self.id)
            self.is_stuck = True
        self.move()

    def _deal(self, table: Table) -> None:
        """Begin a new game with the same people in the same seats."""
        self.table, self.log = table, list(table.game.events)
        self.num_dealt += 1
        self.wants_again, self.in_reveal, self.speed = False, False, "single"
        self.saved_as = self.unsaved = self.deadline = None
        for screen in self.screens:
            screen.num_told = 0
        self.move()

    async def _save(self) -> None:
        saved = self.table.saved()
        try:
            self.saved_as = await asyncio.to_thread(self.archive.save, saved)
        except OSError as error:
            self.unsaved = json.dumps(saved, ensure_ascii=False)
            _log.error("table %s cannot be kept (%s): %s", self.id, error, self.unsaved)

    async def _go_on(self) -> None:
        if self.stage is Stage.REVEAL:
            await self._wait(self._reveal_seconds())
            if self.all_have_seen or self.seconds_left == 0:
                self.in_reveal, self.deadline = False, None
                self.move()
        elif self.stage is Stage.PLAY and self.table.agent_seat is not None:
            await self._play_agent()
        elif self.stage is Stage.PLAY and self.table.game.in_calza_window:
            await self._wait(self.options.window_seconds or None)
            if self.table.game.in_calza_window and self.table.agent_seat is None and self.seconds_left == 0:
                self.happened(self.table.close_window())
        else:
            await self._wait(None)

    async def _play_agent(self) -> None:
        if not self.table.game.in_calza_window:
            await asyncio.sleep(self._pace)
        decision: Callable[[], Action] = self.table.decision()
        action = await asyncio.get_running_loop().run_in_executor(_THINKING, decision)
        self.happened(self.table.play_agent(action))

    @property
    def _pace(self) -> float:
        return PACES[self.options.pace] * SPEEDS[self.speed]

    def _reveal_seconds(self) -> float | None:
        if not self.living:
            return max(3 * self._pace, LEAST_REVEAL * SPEEDS[self.speed]) if self._pace else 0.0
        # whoever plays alone takes all the time there is
        return self.options.reveal_seconds if len(self.holders) > 1 else None

    async def _wait(self, seconds: float | None) -> None:
        """Wait until something moves, at most until a deadline ``seconds`` after the first such wait."""
        if seconds is not None and self.deadline is None:
            self.deadline = time.monotonic() + seconds
            for screen in self.screens:
                screen.dirty.set()
        self._moved.clear()
        if self.all_have_seen:
            return
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._moved.wait(), self.seconds_left)


class HouseFullError(ValueError):
    """There are ``MOST_ROOMS`` tables already."""


class Rooms:
    """All tables of a server."""

    def __init__(self) -> None:
        self._rooms: dict[str, tuple[Room, asyncio.Task[None]]] = {}

    def open(self, room: Room) -> None:
        """Put up a table; raises ``HouseFullError`` if there are too many."""
        self._sweep()
        if len(self._rooms) >= MOST_ROOMS:
            raise HouseFullError(f"there are {MOST_ROOMS} tables already: come back later")
        self._rooms[room.id] = room, asyncio.get_running_loop().create_task(room.run())

    def get(self, room_id: str) -> Room | None:
        """The table of an id."""
        found = self._rooms.get(room_id)
        return found[0] if found else None

    def __iter__(self) -> Iterator[Room]:
        return iter([room for room, _ in self._rooms.values()])

    def close(self) -> None:
        """Stop all tables."""
        for _, task in self._rooms.values():
            task.cancel()
        self._rooms.clear()

    def _sweep(self) -> None:
        now = time.monotonic()
        for room, task in list(self._rooms.values()):
            if not room.screens and now - room.used_at > IDLE_SECONDS:
                task.cancel()
                del self._rooms[room.id]
