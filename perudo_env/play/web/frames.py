"""Frames, what one browser is shown of a table: the only place where a table becomes HTML.

Everything comes from ``scene`` for the seat that looks at the screen, so that nothing else can leave the server.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from jinja2 import Environment

from perudo_env.engine.actions import CALZA, DUDO, Bid
from perudo_env.game.events import Event
from perudo_env.game.words import Words
from perudo_env.play.lineup import Lineup
from perudo_env.play.names import isolated
from perudo_env.play.table import Hint
from perudo_env.play.web.rooms import Room, Screen, Stage
from perudo_env.render.scene import Scene, scene


@dataclass(frozen=True)
class SeatShown:
    """One seat as a screen shows it."""

    seat: int
    place_at_table: int  # clockwise from the viewer, who is 0
    name: str
    agent: str | None
    is_you: bool
    alive: bool
    dice: int | None
    hand: tuple[int, ...] | None
    is_turn: bool
    is_opener: bool
    bid: Bid | None
    called: str | None  # dudo or calza, at the reveal
    change: int  # of its dice, at the reveal
    rank: int | None


def scene_for(room: Room, shown: int | None) -> Scene:
    """The table as the seat that looks at a screen sees it; None: as somebody sees it who holds no cup."""
    game = room.table.game
    reveal = room.stage in (Stage.REVEAL, Stage.OVER)
    if reveal or shown is not None:
        return scene(game, shown if shown is not None else 0, reveal=reveal)
    sc = scene(game, 0)
    closed = tuple(None if alive else () for alive in sc.alive)
    return replace(sc, viewer=None, hands=closed, dice=(None, *sc.dice[1:]) if None in sc.dice else sc.dice)


def seats_shown(room: Room, sc: Scene, screen: Screen, labels: dict[str, str]) -> list[SeatShown]:
    """All seats, in turn order from the viewer's."""
    n, game = len(sc.dice), room.table.game
    viewer = screen.shown if screen.shown is not None else min(screen.seats, default=0)
    last = sc.last if sc.revealed else None
    shown = []
    for at in range(n):
        seat = (viewer + at) % n
        player = room.table.players[seat]
        shown.append(
            SeatShown(
                seat=seat, place_at_table=at, name=isolated(player.name), agent=labels.get(player.agent, player.agent) if player.agent else None,
                is_you=seat == screen.shown, alive=sc.alive[seat], dice=sc.dice[seat], hand=sc.hands[seat],
                is_turn=seat == sc.seat and room.stage is Stage.PLAY, is_opener=seat == sc.opener,
                bid=next((bid for who, bid in reversed(sc.bids) if who == seat), None),
                called=last.call if last and last.caller == seat else None,
                change=last.change if last and last.seat == seat else 0,
                rank=game.ranks[seat] if game.ranks else None,
            )
        )  # fmt: skip
    return shown


def log_line(words: Words, room: Room, event: Event) -> str:
    """One event as a sentence; not escaped."""
    game = room.table.game
    return words.event(
        event, [isolated(p.name) for p in room.table.players], hidden=game.variant.dice_counts == "hidden"
    )


class Frames:
    """Makes frames with the templates of one language."""

    def __init__(
        self, environment: Environment, lineup: Lineup, words: Words, labels: dict[str, str], public: str = ""
    ) -> None:
        self.words, self.lineup, self.labels, self.public = words, lineup, labels, public
        self._table = environment.get_template("parts/table.html")
        self._controls = environment.get_template("parts/controls.html")
        self._hint = environment.get_template("parts/hint.html")

    def state(self, room: Room, screen: Screen) -> dict[str, Any]:
        """All that a screen shows now, with the log lines it does not have yet."""
        self._pass_screen_round(room, screen)
        sc = scene_for(room, screen.shown)
        values = self._values(room, screen, sc)
        # the next round is announced once the dice of the last one have been looked at
        end = len(room.log) - (room.stage is Stage.REVEAL)
        start, screen.num_told = screen.num_told, max(end, screen.num_told)
        left = room.seconds_left
        return {
            "type": "state",
            "key": values["key"],
            "at": room.position,
            "seconds": None if left is None else round(left, 1),
            "table": self._table.render(values),
            "controls": self._controls.render(values),
            "from": start,
            "log": [log_line(self.words, room, event) for event in room.log[start:end]],
        }

    def hint(self, at: str, hint: Hint) -> dict[str, Any]:
        """Help on demand, in the position that it was asked for."""
        return {"type": "hint", "at": at, "html": self._hint.render(hint=hint, adviser=self.lineup.adviser)}

    def _values(self, room: Room, screen: Screen, sc: Scene) -> dict[str, Any]:
        waiting, stage = room.waiting_for, room.stage
        mine = sorted(screen.seats & waiting)
        your_turn = stage is Stage.PLAY and not sc.in_calza_window and screen.shown is not None and screen.shown in mine
        calls = room.table.game.legal_actions() if your_turn else ()
        return {
            "room": room,
            "public": self.public,
            "scene": sc,
            "screen": screen,
            "stage": stage.value,
            "seats": seats_shown(room, sc, screen, self.labels),
            "players": [replace(p, name=isolated(p.name)) for p in room.table.players],
            "mine": mine,
            "your_turn": your_turn,
            "can_doubt": DUDO in calls,
            "can_calza": CALZA in calls,
            "acting": sc.seat,
            "waiting": sorted(waiting),
            "still_in": sorted(s for s in screen.seats if sc.alive[s]),
            # as long as it stays the same, what somebody has begun to enter stays on the screen
            "key": "|".join(
                map(str, (room.position, screen.shown, mine, room.saved_as, bool(room.unsaved), room.is_stuck))
            ),
        }

    def _pass_screen_round(self, room: Room, screen: Screen) -> None:
        """A screen that several people share shows nobody's dice until the next of them has it."""
        if len(screen.seats) < 2:
            return
        living = [seat for seat in screen.seats if room.table.game.dice[seat] > 0]
        mine = screen.seats & frozenset(room.table.waiting_for)
        if len(living) == 1:
            screen.shown = living[0]
        elif room.stage is not Stage.PLAY or (mine and screen.shown not in mine):
            screen.shown = None
