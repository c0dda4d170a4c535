"""One game for people: a batch of one, with readable values, events, text and copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from perudo_env.engine.actions import ACTIONS, FIRST_BID, PASS, Action, Bid, to_id
from perudo_env.engine.batch import Int8Array, seeds_from, starting_dice
from perudo_env.engine.clauses import IllegalActionError, action_id
from perudo_env.engine.jit import direct
from perudo_env.engine.observation import encode_switches
from perudo_env.engine.rows import act_row, deal_row, open_row, start_row, step_row
from perudo_env.engine.state import NOBODY, STATE, copied
from perudo_env.engine.variant import Variant, as_variant, check_total, shown, table_size, whole
from perudo_env.game import notation
from perudo_env.game.events import Event, Hands, all_faces, roll_offs, round_end, round_started, said
from perudo_env.game.notation import NotationError, RoundText, Setting
from perudo_env.game.position import Position, as_hands, check_faces, check_position, listed

_INT8 = np.dtype(np.int8)  # an array is made sooner of a dtype than of its name

# The next seat to act (-1: the game is over), whether a seat is out or the game over, whether the round has ended, and
# the mask and the observation of the next seat, int8 (num_actions,) and (layout.size,), unless the game is over.
Step = tuple[int, bool, bool, Int8Array, Int8Array]


@cache
def _step_row() -> Callable[..., int]:
    mask = np.empty(1, _INT8)
    return direct(step_row, np.zeros(1, STATE), 0, 0, encode_switches(Variant()), mask, mask)


class Game(Position):
    """One game of Perudo at a table of ``num_seats``.

    ``seed`` (0 to 2**64 - 1) fixes all dice; None draws one. ``dice`` are unequal starting dice per seat, 0 for a seat
    that is out. ``max_rounds`` stops the game after so many rounds. ``memory`` (``"perfect"`` or ``"none"``) is what
    observations hold under hidden dice counts, see ``state.shows_counts``. Raises ``ValueError`` for a table that cannot be.
    """

    def __init__(
        self,
        variant: Variant | str = "classic",
        num_seats: int | None = None,
        seed: int | None = None,
        *,
        dice: Sequence[int] | None = None,
        max_rounds: int | None = None,
        memory: str = "perfect",
    ) -> None:
        if num_seats is None:
            num_seats = len(dice) if isinstance(dice, Sequence | np.ndarray) else 2
        variant, num_seats = as_variant(variant), table_size(num_seats)
        start = starting_dice(variant, num_seats, dice)
        self._set_up(variant, num_seats, sum(start.tolist()), max_rounds, memory)
        first_seed = seeds_from(seed, 1)[0]
        start_row(self.states, 0, first_seed, start)
        self._setting = Setting(variant, seed=int(first_seed), max_rounds=max_rounds)
        self._begin_round()

    def _set_up(self, variant: Variant, num_seats: int, total: int, max_rounds: int | None, memory: str) -> None:
        Position.__init__(self, variant, num_seats, total, max_rounds, memory)
        # The history: the record as each round began (after the last one: as it ended), and the (seat, action id) pairs of each.
        self._starts: list[bytes] = []
        self._played: list[list[tuple[int, int]]] = []

    @classmethod
    def from_hands(
        cls,
        variant: Variant | str,
        hands: Sequence[Sequence[int]],
        *,
        opener: int = 0,
        palifico: bool = False,
        bids: Sequence[Any] = (),
        seed: int | None = None,
        total_at_start: int | None = None,
        palifico_spent: Sequence[int] = (),
        max_rounds: int | None = None,
        memory: str = "perfect",
    ) -> Game:
        """A position: the faces each seat holds (none: it is out), who opened, and the bids so far.

        Calza windows before the last bid's count as passed. ``total_at_start`` is T0 of its game, by default that of a
        full table. Raises ``ValueError`` for a position that cannot be and ``IllegalActionError`` for an illegal bid.
        """
        variant = as_variant(variant)
        given = as_hands(hands)
        num_seats = table_size(len(given))
        check_position(variant, given, opener, palifico, palifico_spent)
        sorted_hands: Hands = tuple(tuple(sorted(hand)) for hand in given)
        full = variant.total_at_start(num_seats)
        total = check_total(
            variant, num_seats, sum(map(len, given)), full if total_at_start is None else total_at_start
        )
        game = cls.__new__(cls)
        game._set_up(variant, num_seats, total, max_rounds, memory)
        first_seed = seeds_from(seed, 1)[0]
        game._setting = Setting(
            variant, position=True, seed=int(first_seed), spent=tuple(palifico_spent), max_rounds=max_rounds,
            total=None if total == full else total,
        )  # fmt: skip
        start_row(game.states, 0, first_seed, np.array(list(map(len, given)), np.int8))
        game._s["palifico_spent"][list(palifico_spent)] = 1
        open_row(game.states, 0, opener, palifico)
        game._begin_round()
        game._deal(sorted_hands)
        for bid in listed("bids", bids):
            made = game._id(Bid(*bid) if isinstance(bid, tuple | list) and len(bid) == 2 else bid)
            if made < FIRST_BID:
                raise ValueError(f"bids = {bids!r}: {bid!r} is no bid; play what answers them with act()")
            while game.in_calza_window:
                game.act(PASS)
            game.act(made)
        return game

    @classmethod
    def from_position(cls, text: str) -> Game:
        """The game that :attr:`position` printed; raises ``NotationError`` for text that is not one."""
        setting, first = notation.parse_position(text)
        return cls._from_text(setting, [first], fresh=False)

    @classmethod
    def replay(cls, text: str, watch: Callable[[Game, Action], None] | None = None) -> Game:
        """Play a game record again, as :meth:`record` printed it; ``watch`` sees the game before each action, and the action.

        Raises ``NotationError`` for text that is not a record or contradicts the rules, naming the round at fault.
        """
        setting, rounds = notation.parse_record(text)
        return cls._from_text(setting, rounds, fresh=not setting.position, watch=watch)

    @classmethod
    def _from_text(
        cls,
        setting: Setting,
        rounds: list[RoundText],
        *,
        fresh: bool,
        watch: Callable[[Game, Action], None] | None = None,
    ) -> Game:
        game: Game | None = None
        for number, text in enumerate(rounds, 1):
            try:
                game = cls._open(setting, text, fresh=fresh) if game is None else game._go_on(number, text)
                for action in text.actions:
                    if game.round != number or game.is_over:
                        raise NotationError(f"{action} comes after the end of the round")
                    if watch is not None:
                        watch(game, action)
                    game.act(action)
            except ValueError as error:
                raise NotationError(f"round {number}: {error}") from error
        assert game is not None
        return game

    @classmethod
    def _open(cls, setting: Setting, first: RoundText, *, fresh: bool) -> Game:
        if not fresh:
            return cls.from_hands(
                setting.variant, first.hands, opener=first.opener, palifico=first.palifico, seed=setting.seed,
                total_at_start=setting.total, palifico_spent=setting.spent, max_rounds=setting.max_rounds,
            )  # fmt: skip
        dice = [len(hand) for hand in first.hands]
        game = cls(setting.variant, len(dice), setting.seed, dice=dice, max_rounds=setting.max_rounds)
        game._redeal(first)
        return game

    def _go_on(self, number: int, text: RoundText) -> Game:
        if self.is_over or self.round != number:
            raise NotationError(
                "the game is over before it" if self.is_over else f"round {self.round} has not ended before it"
            )
        self._redeal(text)
        return self

    # ------------------------------------------------------------------------------------------ acting

    def why_illegal(self, action: Any, language: str = "en") -> str | None:
        """None if the seat to act may do this now, else the clause against it, in English (``en``) or French (``fr``)."""
        return self._clause(self._id(action), language)

    def act(self, action: Any) -> list[Event]:
        """Play an action for the seat to act: a Bid, a call, text or an id; returns what happened.

        Raises ``IllegalActionError`` with the clause, and changes nothing.
        """
        number, seat = self._id(action), self.seat
        if number >= self.num_actions:  # a bid beyond the table's ids: the clause says how many dice may be bid
            raise IllegalActionError(self._clause(number, "en"))
        ended = self.play(number)
        assert seat is not None
        word = said(seat, ACTIONS[number])
        return [word, *round_end(_record(self._starts[-1]))] if ended else [word]

    def play(self, action: int) -> bool:
        """:meth:`act` for programs: an action id in, whether it ended the round out."""
        number, seat = action_id(action, self.num_actions), self.states["seat"].item()
        result = act_row(self.states, 0, number)
        if result < 0:
            raise IllegalActionError(self._clause(number, "en"))
        self._played[-1].append((seat, number))
        if result == 1:
            self._begin_round()
        return result == 1

    def step(self, action: int) -> Step:
        """:meth:`play` for loops, which also want to know who is next and what that seat may do and sees."""
        in_range = type(action) is int and 0 <= action < self.num_actions  # the usual case is asked nothing more
        number = action if in_range else action_id(action, self.num_actions)
        mask, seen = np.empty(self.num_actions, _INT8), np.empty(self.layout.size, _INT8)
        told = _step_row()(self.states, 0, number, self._switches, mask, seen)
        if told < 0:
            raise IllegalActionError(self._clause(number, "en"))
        self._played[-1].append((told >> 6, number))
        seat = (told >> 2 & 15) - 1
        if not told & 1:
            return seat, False, False, mask, seen
        self._begin_round()
        return seat, told & 2 > 0, True, mask, seen

    def _id(self, action: Any) -> int:
        if isinstance(action, str):
            action = notation.parse_action(action)
        if isinstance(action, Bid):
            quantity, face = map(whole, action)
            if quantity is not None and face is not None and 1 <= quantity < 2**31 and 1 <= face <= 6:
                return to_id(Bid(quantity, face))
        elif whole(action) is not None:
            return action_id(action, self.num_actions)
        raise IllegalActionError(
            f"{shown(action)} is not an action: give a Bid, DUDO, CALZA, PASS, text like '5x3', or an id from 0 to {self.num_actions - 1}"
        )

    # ------------------------------------------------------------------------------------------ the history

    @property
    def events(self) -> tuple[Event, ...]:
        """All that has happened since the start, in order."""
        events: list[Event] = [] if self._setting.position else roll_offs(_record(self._starts[0]))
        events.append(round_started(_record(self._starts[0])))
        for number, played in enumerate(self._played):
            events += [said(seat, ACTIONS[action]) for seat, action in played]
            if number + 1 < len(self._starts):
                events += round_end(_record(self._starts[number + 1]))
        return tuple(events)

    def _begin_round(self) -> None:
        self._starts.append(self.states.tobytes())
        if self.states["seat"].item() != NOBODY:
            self._played.append([])

    def _rounds(self) -> list[RoundText]:
        return [
            RoundText(
                all_faces(start, "hands"),
                int(start["opener"]),
                bool(start["is_palifico"]),
                [ACTIONS[a] for _, a in played],
            )
            for start, played in zip(map(_record, self._starts), self._played, strict=False)
        ]

    def deal(self, hands: Sequence[Sequence[int]]) -> None:
        """Put given dice under the cups of the round that has just begun, in place of those rolled from the seed.

        ``hands`` are the faces of each seat: as many as it has dice, or none yet. Raises ``ValueError`` for other hands,
        after the first action of a round, and when the game is over.
        """
        if self.is_over or self._played[-1]:
            raise ValueError(
                "the game is over" if self.is_over else "the dice lie: deal before the first action of a round"
            )
        given = as_hands(hands)
        if len(given) != self.num_seats or any(
            len(hand) not in (0, d) for hand, d in zip(given, self.dice, strict=True)
        ):
            raise ValueError(
                f"hands = {hands!r}: the seats hold {self.dice} dice; give the faces of all of them, or none, per seat"
            )
        check_faces(self.variant, given)
        self._deal(tuple(tuple(sorted(hand)) for hand in given))

    def _deal(self, hands: Hands) -> None:
        """Put given dice under the cups of the round that has just begun."""
        counts = np.zeros((self.num_seats, 6), np.int8)
        for seat, hand in enumerate(hands):
            for face in hand:
                counts[seat, face - 1] += 1
        deal_row(self.states, 0, counts)
        self._starts[-1] = self.states.tobytes()

    def _redeal(self, text: RoundText) -> None:
        """Put the dice of a record under the cups, if the record agrees with the rules on all else."""
        if (text.opener, text.palifico) != (self.opener, self.palifico):
            raise NotationError(
                f"opener={text.opener}{' palifico' * text.palifico}, but by the rules it is opener={self.opener}{' palifico' * self.palifico}"
            )
        if tuple(map(len, text.hands)) != self.dice:
            raise NotationError(
                f"the hands have {tuple(map(len, text.hands))} dice, but by the rules the seats hold {self.dice}"
            )
        check_faces(self.variant, text.hands)
        self._deal(text.hands)

    # ------------------------------------------------------------------------------------------ seen from outside

    def infostate_key(self, seat: int) -> str:
        """All that ``seat`` has seen since the start, forgetting nothing; equal keys are the same information state.

        Every lost die was seen, so it holds all dice counts, whatever the variant hides and ``memory`` leaves out of
        observations: where keys are equal, observations are.
        """
        seat = self._check_seat(seat)
        *past, now = self._rounds()
        if not self.is_over:
            hidden = tuple(hand if s == seat else ("?",) * len(hand) for s, hand in enumerate(now.hands))
            now = RoundText(hidden, now.opener, now.palifico, now.actions)  # type: ignore[arg-type]
        # The seed would tell the dice.
        seen = Setting(
            self.variant,
            self._setting.position,
            None,
            self._setting.total,
            self._setting.spent,
            self._setting.max_rounds,
        )
        return f"seat={seat} " + notation.format_record(seen, [*past, now])

    @property
    def position(self) -> str:
        """This round as text that :meth:`from_position` reads back; it shows all dice."""
        s, n = self._s, self.num_seats
        total = int(s["total_at_start"])
        setting = Setting(
            self.variant,
            total=None if total == self.variant.total_at_start(n) else total,
            spent=tuple(int(i) for i in np.flatnonzero(s["palifico_spent"][:n])),
        )
        return notation.format_position(setting, self._rounds()[-1])

    def record(self) -> str:
        """The whole game as text that :meth:`replay` reads back; it shows all dice."""
        return notation.format_record(self._setting, self._rounds())

    def copy(self) -> Game:
        """An independent copy; it will roll the same dice."""
        twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        twin.states = copied(self.states)
        twin._starts = list(self._starts)
        twin._played = [list(played) for played in self._played]
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self.copy()

    def __repr__(self) -> str:
        state = f"ranks={self.ranks}" if self.is_over else f"round {self.round}, seat {self.seat} to act"
        return f"<Game {self.variant}, {self.num_seats} seats, dice {self.dice}, {state}>"


def _record(content: bytes) -> np.void:
    """A state record from its bytes."""
    return np.frombuffer(content, STATE)[0]
