"""An evening of games with real dice, derived from its entries; dice, places, openers and Palifico are the engine's.

A player may leave in mid-game, of which the texts say nothing. The round under way is then void: nobody else loses a
die by it, and the leaver is out as a seat that loses its last die at that moment, below all who are still in and above
those who went out before. The round is played again among the others, opened by whom it was to be opened by, as
Palifico if it was; where that was the leaver, the next one clockwise opens an ordinary round. Of two the other one has
won. In the games of the evening that follow, a leaver sits out, and so takes the place after the last, until it joins
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from perudo_env.engine.batch import starting_dice
from perudo_env.engine.jit import announce_compilation
from perudo_env.engine.rows import open_row, settle_row, start_row, stop_row
from perudo_env.engine.state import Phase, new_states
from perudo_env.engine.variant import Variant
from perudo_env.game.language import N_
from perudo_env.play.names import isolated, looks, tidy
from perudo_env.play.score.entries import (
    SCORINGS,
    Calza,
    Entry,
    GameStarted,
    Joined,
    Left,
    Lost,
    Opened,
    Renamed,
    ScoreError,
    Stopped,
    Undone,
    checked_name,
    checked_names,
    read_variant,
    standing_entries,
)


@dataclass(frozen=True)
class Line:
    """One round of the sheet: ``player`` lost a die (-1), took one back (+1), said a right Calza with a full cup (0), or left."""

    round: int
    player: str
    change: int
    dice: tuple[int, ...]  # per player, after it
    place: int | None  # of ``player``, if it is out
    opens: str | None  # who opens the next round; None: the game is over
    palifico: bool  # the next round is palifico
    left: bool = False  # ``player`` went home, with ``-change`` dice


@dataclass
class Table:
    """One game of the evening, on a record of the engine."""

    variant: Variant
    players: tuple[str, ...]  # all of the evening when the game began; one who sits out has no dice
    states: np.ndarray = field(repr=False)
    first: str  # who opened the game
    lines: list[Line] = field(default_factory=list)

    @property
    def dice(self) -> tuple[int, ...]:
        """Dice left per player."""
        return tuple(self.states[0]["dice"][: len(self.players)].tolist())

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.states[0]["phase"] == Phase.OVER)

    @property
    def truncated(self) -> bool:
        """Whether the game was cut off."""
        return bool(self.states[0]["truncated"])

    @property
    def palifico(self) -> bool:
        """Whether the round to be played is palifico."""
        return bool(self.states[0]["is_palifico"]) and not self.is_over

    @property
    def opener(self) -> str | None:
        """Who opens the round to be played; None when the game is over."""
        return None if self.is_over else self.players[self.states[0]["opener"]]

    @property
    def round(self) -> int:
        """The number of the round to be played, or of the last one."""
        return int(self.states[0]["round"])

    @property
    def places(self) -> tuple[int, ...]:
        """Final places per player, 1 for the winner; 0: still in. Who sits out has the place after the last."""
        return tuple(self.states[0]["place"][: len(self.players)].tolist())

    @property
    def num_players(self) -> int:
        """How many began this game with dice."""
        return int(self.states[0]["num_players"])

    def place_of(self, player: str) -> int:
        """The place of a player; of one who was not there yet, that of those who sat out."""
        return self.places[self.players.index(player)] if player in self.players else self.num_players + 1

    def took_part(self, player: str) -> bool:
        """Whether a player began this game with dice."""
        return self.place_of(player) <= self.num_players

    def settle(self, player: str, change: int) -> None:
        """End the round: ``player`` lost a die (-1) or said a right Calza (+1)."""
        seat = seat_of(player, self.players)
        if self.is_over:
            raise ScoreError(N_("the game is over: start the next one"))
        if self.dice[seat] == 0:
            raise ScoreError(N_("{name} has no dice left"), name=isolated(player))
        if change > 0 and self.variant.calza == "off":
            raise ScoreError(N_("this evening is played without Calza"))
        number = self.round
        settle_row(self.states, 0, seat, change)
        self._write(number, seat, int(self.states[0]["last_change"]))

    def leave(self, player: str) -> None:
        """End the round without a result: ``player`` goes home, and is out if it is still in."""
        seat = self.players.index(player)
        dice, number, opener, palifico = self.dice[seat], self.round, self.opener, self.palifico
        if dice == 0 or self.is_over:
            return
        # out as by the loss of its last die
        self.states["dice"][0, seat] = 1
        settle_row(self.states, 0, seat, -1)
        if opener is not None and opener != player and not self.is_over:
            open_row(self.states, 0, self.players.index(opener), palifico)
            self.states["round"] = number + 1
        self._write(number, seat, -dice, left=True)

    def _write(self, number: int, seat: int, change: int, *, left: bool = False) -> None:
        place = int(self.states[0]["place"][seat]) if self.dice[seat] == 0 else None
        self.lines.append(Line(number, self.players[seat], change, self.dice, place, self.opener, self.palifico, left))

    def rename(self, player: str, name: str) -> None:
        """Call a player by another name from the first round on."""

        def called(old: str) -> str:
            return name if old == player else old

        self.players = tuple(map(called, self.players))
        self.first = called(self.first)
        self.lines = [
            replace(line, player=called(line.player), opens=line.opens and called(line.opens)) for line in self.lines
        ]


def seat_of(player: str, players: tuple[str, ...]) -> int:
    """The seat of a player; raises ``ScoreError`` for a name that is nobody's."""
    name = tidy(player)
    if name not in players:
        known = ", ".join(map(isolated, players))
        raise ScoreError(N_("{name} does not play: the players are {known}"), name=isolated(name[:40]), known=known)
    return players.index(name)


@dataclass(frozen=True)
class Standing:
    """A player's part in an evening: equal ``points`` share a ``rank``."""

    rank: int
    player: str
    points: int  # the sum of places, or games won
    games: int  # finished games that the player took part in
    wins: int


class Evening:
    """All games of an evening; ``entries`` are applied in order, and one that cannot be raises ``ScoreError``."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        standing = standing_entries(list(entries))
        if not standing or not isinstance(standing[0], Opened):
            raise ScoreError(N_("an evening begins with its players"))
        first = standing[0]
        if first.scoring not in SCORINGS:
            raise ScoreError(N_("{scoring} is no way to count: use places or wins"), scoring=first.scoring)
        self.players = checked_names(first.players)
        self.gone: set[str] = set()  # players who have left
        self.scoring = first.scoring
        self.variant = read_variant(first.variant)
        self.tables: list[Table] = []
        self.num_undoable = 0
        for entry in standing[1:]:
            self.apply(entry)

    @property
    def table(self) -> Table | None:
        """The game that is played, or the last one; None before the first."""
        return self.tables[-1] if self.tables else None

    @property
    def is_playing(self) -> bool:
        """Whether a game is under way."""
        return self.table is not None and not self.table.is_over

    def standings(self) -> list[Standing]:
        """The ranking over all finished games: the lowest sum of places first, or the most games won; equals share a rank."""
        done = [table for table in self.tables if table.is_over]
        sums = {p: sum(table.place_of(p) for table in done) for p in self.players}
        wins = {p: sum(table.place_of(p) == 1 for table in done) for p in self.players}
        points = sums if self.scoring == "places" else wins
        order = {p: points[p] if self.scoring == "places" else -points[p] for p in self.players}
        ranked = sorted(self.players, key=lambda p: order[p])
        return [
            Standing(
                1 + sum(order[other] < order[p] for other in self.players), p, points[p],
                sum(table.took_part(p) for table in done), wins[p],
            )
            for p in ranked
        ]  # fmt: skip

    def apply(self, entry: Entry) -> None:
        """Take one more entry that stands; raises ``ScoreError``, and changes nothing, if it cannot be."""
        match entry:
            case Lost(player):
                self._now().settle(player, -1)
            case Calza(player):
                self._now().settle(player, 1)
            case GameStarted():
                self._start(entry)
            case Joined(player):
                self._join(player)
            case Left(player):
                self._leave(self.players[seat_of(player, self.players)])
            case Renamed(player, name):
                self._rename(seat_of(player, self.players), name)
            case Stopped():
                if not self.is_playing:
                    raise ScoreError(N_("no game is being played"))
                stop_row(self._now().states, 0)
            case Opened() | Undone():
                raise ScoreError(N_("an evening begins only once, and what was undone does not stand"))
        self.num_undoable += 1

    def _now(self) -> Table:
        if self.table is None:
            raise ScoreError(N_("no game is being played"))
        return self.table

    def _join(self, player: str) -> None:
        if self.is_playing:
            raise ScoreError(N_("a game is being played: one joins between two games"))
        back = {p for p in self.gone if looks(p) == looks(player)}
        if not back:
            self.players = checked_names((*self.players, player))
        self.gone -= back

    def _leave(self, player: str) -> None:
        if player in self.gone:
            raise ScoreError(N_("{name} has left already"), name=isolated(player))
        if self.table is not None and player in self.table.players:
            self.table.leave(player)
        self.gone.add(player)

    def _rename(self, seat: int, wanted: str) -> None:
        old, before, after = self.players[seat], self.players[:seat], self.players[seat + 1 :]
        name = checked_name(wanted, before + after)
        self.players = (*before, name, *after)
        self.gone = {name if player == old else player for player in self.gone}
        for table in self.tables:
            table.rename(old, name)

    def _start(self, entry: GameStarted) -> None:
        if self.is_playing:
            raise ScoreError(N_("a game is being played: finish it or stop it first"))
        entry = replace(entry, playing=tuple(map(tidy, entry.playing)), opener=tidy(entry.opener))
        playing = entry.playing or tuple(p for p in self.players if p not in self.gone)
        for name in (*playing, *filter(None, [entry.opener])):
            seat_of(name, self.players)
        if entry.opener and entry.opener not in playing:
            raise ScoreError(N_("{name} sits out and cannot open"), name=isolated(entry.opener))
        if len(set(playing)) < 2:
            raise ScoreError(N_("a game needs two players"))
        if not 0 <= entry.seed < 2**63:
            raise ScoreError(N_("{seed} is not a seed: use 0 to 2**63 - 1"), seed=entry.seed)
        self.gone.difference_update(playing)
        num_seats = len(self.players)
        wanted = [self.variant.starting_dice * (name in playing) for name in self.players]
        dice = starting_dice(self.variant, num_seats, wanted)
        announce_compilation(start_row)
        states = new_states(self.variant, num_seats, int(dice.sum()), 0)
        start_row(states, 0, np.uint64(entry.seed), dice)
        if entry.opener:
            open_row(states, 0, self.players.index(entry.opener), False)
        self.tables.append(Table(self.variant, self.players, states, self.players[states[0]["opener"]]))
