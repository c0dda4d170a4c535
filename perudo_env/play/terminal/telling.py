"""Lines of text for a seat: the same for the terminal and for the line mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from perudo_env.engine.actions import Bid
from perudo_env.game.events import (
    CalzaSaid,
    DieLost,
    DieRegained,
    DudoSaid,
    Event,
    GameOver,
    Revealed,
)
from perudo_env.game.words import Words
from perudo_env.play.names import filled, isolated
from perudo_env.play.table import Hint, Player, Table
from perudo_env.render.scene import Raises, scene
from perudo_env.rulebook.chances import chance


@dataclass(frozen=True)
class Manner:
    """How a table is shown and asked, in a terminal and in line mode."""

    language: str = "en"
    """``en`` or ``fr``."""
    pause: float = 1.0
    """Seconds an agent takes to answer; 0: none."""
    window: float | None = None
    """Seconds people have to say Calza out of turn; None: as long as they like. Line mode always waits."""
    hints: bool = False
    """Whether help is shown at every turn, and not only on demand."""
    hint_agent: str | None = None
    """The agent whose choice the help tells; None: only chances are told."""
    confirm: bool = False
    """Whether a bid is asked for twice."""
    settle: float = 0.4
    """Seconds in which a key just after a question is not taken for its answer: it was meant for what was asked before."""


class Teller:
    """Turns one table into sentences of one language."""

    def __init__(self, table: Table, manner: Manner, words: Words) -> None:
        self.table, self.manner, self.words = table, manner, words
        self.names = [isolated(player.name) for player in table.players]

    @property
    def num_people(self) -> int:
        """How many people share this screen."""
        return sum(self.table.is_person(seat) for seat in range(len(self.names)))

    # ------------------------------------------------------------------------------------------ what happened

    def happened(self, events: Sequence[Event]) -> Iterator[str]:
        """Sentences for events in order; a reveal shows all dice, the matching ones in brackets."""
        hidden = self.table.game.variant.dice_counts == "hidden"
        call: Event | None = None
        for event in events:
            if isinstance(event, DudoSaid | CalzaSaid):
                call = event
            yield self.words.event(event, self.names, hidden=hidden)
            if isinstance(event, Revealed):
                yield from self._shown(event)
                yield from self._full_cup(call, event, events)
            if isinstance(event, GameOver):
                yield from self.places(event.ranks)

    def _shown(self, revealed: Revealed) -> Iterator[str]:
        last = scene(self.table.game, reveal=True)
        for name, hand in zip(self.names, revealed.hands, strict=True):
            if hand:
                yield "  " + self.words.labelled(name, self.marked(hand, last.matching))

    def _full_cup(self, call: Event | None, revealed: Revealed, events: Sequence[Event]) -> Iterator[str]:
        """A right Calza that gains nothing has no event of its own."""
        moved = any(isinstance(e, DieLost | DieRegained) for e in events)
        if isinstance(call, CalzaSaid) and not moved:
            yield self.words.gettext(
                "{name} is right, has all the dice of the start, and gains nothing.", name=self.names[call.seat]
            )

    def marked(self, hand: Sequence[int], matching: frozenset[int]) -> str:
        """Dice in a list, those that count in brackets: ``[Paco] [3] 4``."""
        return " ".join(f"[{self.words.face(face)}]" if face in matching else self.words.face(face) for face in hand)

    def places(self, ranks: Sequence[int]) -> Iterator[str]:
        """The final ranking, a line per seat."""
        for place, name in sorted(zip(ranks, self.names, strict=True)):
            yield f"  {place}. {name}"

    # ------------------------------------------------------------------------------------------ what is the case

    def dice_left(self, viewer: int) -> str:
        """Dice left per seat, in turn order."""
        view = self.table.game.view(viewer)
        said = []
        for seat, (name, dice) in enumerate(zip(self.names, view.dice, strict=True)):
            if not view.alive[seat]:
                said.append(self.words.gettext("{name} out", name=name))
            elif dice is not None:
                said.append(f"{name} {dice}")
            else:
                said.append(self.words.gettext("{name} in", name=name))
        return self.words.gettext("Dice left: {dice}.", dice=", ".join(said))

    def bids(self) -> str:
        """The bids of the round, in order."""
        w, bids = self.words, self.table.game.bids
        if not bids:
            return w.gettext("No bid yet.")
        return w.gettext("Bids: {bids}.", bids=", ".join(f"{self.names[seat]} {w.bid(bid)}" for seat, bid in bids))

    def to_beat(self) -> str:
        """The standing bid and who made it."""
        game = self.table.game
        if game.standing_bid is None or game.bidder is None:
            return self.words.gettext("You open the round.")
        bid = f"{self.words.bid(game.standing_bid)} ({game.standing_bid})"
        return self.words.gettext("To beat: {bid}, by {name}.", bid=bid, name=self.names[game.bidder])

    def least(self, raises: Raises) -> str:
        """The least bid on each face, ordinary faces first."""
        bids = [Bid(least, face) for face, (least, _) in raises.items()]
        said = ", ".join(f"{self.words.bid(bid)} ({bid})" for bid in bids)
        if not said:
            return self.words.gettext("No bid can be higher.")
        return self.words.gettext("At least: {bids}.", bids=said)

    def status(self, seat: int) -> Iterator[str]:
        """All that ``seat`` should know when it is asked."""
        seen, w = scene(self.table.game, seat), self.words
        yield w.gettext("Your dice: {dice}.", dice=w.hand(self.table.game.hand(seat)))
        yield self.dice_left(seat)
        if seen.palifico:
            yield w.gettext(
                "Palifico: the face of the opening bid binds everybody, and Pacos count for themselves alone."
            )
        yield self.bids()
        yield self.to_beat()
        if not seen.in_calza_window:
            yield self.least(seen.raises)
        if self.manner.hints:
            yield from self.hint(seat)

    # ------------------------------------------------------------------------------------------ help

    def hint(self, seat: int) -> Iterator[str]:
        """The chance that the standing bid holds, and what the agent would do and how sure it is."""
        return self.say_hint(self.advice(seat)())

    def advice(self, seat: int) -> Callable[[], Hint]:
        """What :meth:`hint` tells, as a call that may run in another thread."""
        if self.manner.hint_agent is not None:
            return self.table.advice(seat, self.manner.hint_agent)
        game, bid = self.table.game, self.table.game.standing_bid
        told = Hint(None if bid is None else chance(game, seat, bid), ())
        return lambda: told

    def say_hint(self, told: Hint) -> Iterator[str]:
        """Help in sentences."""
        w = self.words
        if told.standing is not None:
            holds, exactly = map(w.percent, told.standing)
            yield w.gettext(
                "The bid holds with {holds} and is exact with {exactly}, given your dice alone.",
                holds=holds,
                exactly=exactly,
            )
        if told.choices:
            choices = ", ".join(f"{w.action(a)} {w.percent(p)}" for a, p in told.choices[:3])
            yield w.gettext(
                "{agent} would do: {choices}.", agent=w.level(self.manner.hint_agent or ""), choices=choices
            )
        if told.standing is None and not told.choices:
            yield w.gettext("There is no bid to judge yet.")

    def promise(self) -> str:
        """Before the game: the digest that binds the dice, and where their seed comes from."""
        fixed = self.words.gettext(
            "The dice of this game are fixed; their digest (SHA-256): {digest}", digest=self.table.commitment
        )
        return f"{fixed}\n{self.words.seed_origin(self.table.seed_chosen)}".rstrip()

    def proof(self) -> str:
        """After it: what the digest was made of."""
        secret = self.table.secret
        return self.words.gettext(
            "Seed {seed}, salt {salt}: with them anyone can roll the dice again.", seed=secret.seed, salt=secret.salt
        )


def seated(seats: Sequence[str], is_agent: Callable[[str], bool], words: Words) -> tuple[Player, ...]:
    """Players in turn order: a word names an agent, or else a person; raises ``NameRefusedError`` for a name that cannot be."""
    agents = [is_agent(word) for word in seats]
    typed = [None if agent else word for word, agent in zip(seats, agents, strict=True)]
    names = filled(typed, [words.level(word) for word in seats])
    return tuple(Player(name, word if agent else None) for name, word, agent in zip(names, seats, agents, strict=True))
