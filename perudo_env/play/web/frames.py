"""Frames, what one browser is shown of a table: the only place where a table becomes HTML.

Everything comes from ``scene`` for the seat that looks at the screen, so that nothing else can leave the server.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from jinja2 import Environment

from perudo_env.engine.actions import Bid
from perudo_env.game.events import Event, Passed
from perudo_env.game.words import Words
from perudo_env.play.lineup import Lineup
from perudo_env.play.names import isolated
from perudo_env.play.table import Hint
from perudo_env.play.web.bar import bar
from perudo_env.play.web.rooms import Room, Screen, Stage
from perudo_env.render.scene import Scene, scene
from perudo_env.rulebook.chances import Chance, chance


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
    lift: int  # its place among those whose cups are lifted, from the bidder on


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
    first = sc.standing[0] if sc.standing else 0
    shown = []
    for at in range(n):
        seat = (viewer + at) % n
        player = room.table.players[seat]
        shown.append(
            SeatShown(
                seat=seat, place_at_table=at, name=isolated(player.name), agent=labels.get(player.agent, player.agent) if player.agent else None,
                is_you=seat == screen.shown, alive=sc.alive[seat], dice=sc.dice[seat], hand=sc.hands[seat],
                is_turn=seat == sc.seat and room.stage is Stage.PLAY and not sc.in_calza_window, is_opener=seat == sc.opener,
                bid=next((bid for who, bid in reversed(sc.bids) if who == seat), None),
                called=last.call if last and last.caller == seat else None,
                change=last.change if last and last.seat == seat else 0,
                rank=game.ranks[seat] if game.ranks else None,
                lift=(seat - first) % n,
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
        self._proof = environment.get_template("parts/proof.html")

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
            "title": self._title(values),
            "is_asked": bool(values["mine"]) and room.stage is Stage.PLAY,
            "seconds": None if left is None else round(left, 1),
            "window": room.options.window_seconds if sc.in_calza_window else None,
            "table": self._table.render(values),
            "controls": self._controls.render(values),
            "proof": self._proof.render(values),
            "from": start,
            "log": [
                log_line(self.words, room, event) for event in room.log[start:end] if not isinstance(event, Passed)
            ],
        }

    def _title(self, values: dict[str, Any]) -> str:
        """What the tab says."""
        _ = self.words.gettext
        if values["mine"] and values["stage"] == Stage.PLAY.value:
            return _("● Your move") + " · Perudo"
        return "Perudo · " + (_("The game is over") if values["stage"] == Stage.OVER.value else _("Table"))

    def hint(self, at: str, hint: Hint) -> dict[str, Any]:
        """Help on demand, in the position that it was asked for."""
        return {"type": "hint", "at": at, "html": self._hint.render(hint=hint, adviser=self.lineup.adviser)}

    def _values(self, room: Room, screen: Screen, sc: Scene) -> dict[str, Any]:
        waiting, stage = room.waiting_for, room.stage
        mine = sorted(screen.seats & waiting)
        your_turn = stage is Stage.PLAY and not sc.in_calza_window and screen.shown is not None and screen.shown in mine
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
            "bar": bar(room, sc, your_turn, self.words),
            "odds": self._odds(room, screen, sc),
            "acting": sc.seat,
            "waiting": sorted(waiting),
            "still_in": sorted(screen.seats & room.living),
            "winner_names": [
                isolated(room.table.players[s].name) for s, rank in enumerate(sc.ranks or ()) if rank == 1
            ],
            # as long as it stays the same, what somebody has begun to choose stays chosen
            "key": "|".join(
                map(str, (room.position, screen.shown, mine, room.saved_as, bool(room.unsaved), room.is_stuck))
            ),
        }

    def _odds(self, room: Room, screen: Screen, sc: Scene) -> Chance | None:
        """The chance of the standing bid for whoever looks at the screen and wants it told."""
        if not screen.odds or sc.revealed or sc.standing is None or screen.shown is None or not sc.alive[screen.shown]:
            return None
        return chance(room.table.game, screen.shown, sc.standing[1])

    def _pass_screen_round(self, room: Room, screen: Screen) -> None:
        """A screen that several people share shows nobody's dice until the next of them has it."""
        if len(screen.seats) < 2:
            return
        living = sorted(screen.seats & room.living)
        mine = screen.seats & frozenset(room.table.waiting_for)
        if len(living) == 1:
            screen.shown = living[0]
        elif room.stage is not Stage.PLAY or (mine and screen.shown not in mine):
            screen.shown = None
