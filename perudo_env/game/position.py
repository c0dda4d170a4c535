"""A position: one record of the engine with readable values, and what a seat may see of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perudo_env.engine.actions import ACTIONS, Action, Bid, num_actions
from perudo_env.engine.batch import Int8Array, check_max_rounds, starting_dice
from perudo_env.engine.jit import announce_compilation
from perudo_env.engine.observation import encode_switches, layout
from perudo_env.engine.rows import mask_row, observe_row, reason_row, returns_row, start_row
from perudo_env.engine.rules import Reason, Reward
from perudo_env.engine.state import NOBODY, Phase, new_states
from perudo_env.engine.variant import Variant, is_whole
from perudo_env.game.clauses import explain
from perudo_env.game.events import Hands, faces


@dataclass(frozen=True)
class View:
    """What one seat sees on the table, in words: by the variant alone, whatever observations remember."""

    viewer: int
    variant: Variant
    num_seats: int
    hand: tuple[int, ...]
    dice: tuple[int | None, ...]  # dice left per seat; None where the variant hides them
    alive: tuple[bool, ...]
    round: int
    opener: int
    palifico: bool
    bids: tuple[tuple[int, Bid], ...]  # (seat, bid) of this round, in order
    seat: int | None  # seat to act; None when the game is over
    in_calza_window: bool
    legal_actions: tuple[Action, ...]  # of the viewer: empty unless it is to act


class Position:
    """What is the case at a table of ``num_seats``: ``states`` holds its one record, of dtype ``STATE``."""

    def __init__(
        self, variant: Variant, num_seats: int, total: int, max_rounds: int | None, memory: str = "perfect"
    ) -> None:
        announce_compilation(start_row)
        self.variant, self.num_seats, self.memory = variant, num_seats, memory
        self.states = new_states(variant, num_seats, total, check_max_rounds(max_rounds), memory=memory)
        self.layout = layout(num_seats, variant.max_quantity(num_seats))
        self.num_actions = num_actions(self.layout.max_quantity)
        self._switches = encode_switches(variant)

    @property
    def _s(self) -> np.void:
        return self.states[0]

    @property
    def seat(self) -> int | None:
        """The seat to act; None when the game is over."""
        seat = self.states["seat"].item()
        return None if seat == NOBODY else seat

    @property
    def seed(self) -> int:
        """The seed that fixes all dice of the game."""
        return int(self._s["seed"])

    @property
    def standing_bid(self) -> Bid | None:
        """The bid to beat; None before the opening bid."""
        bids = self.bids
        return bids[-1][1] if bids else None

    @property
    def bidder(self) -> int | None:
        """The seat that made the standing bid."""
        bidder = int(self._s["bidder"])
        return None if bidder == NOBODY else bidder

    @property
    def bids(self) -> tuple[tuple[int, Bid], ...]:
        """The (seat, bid) pairs of this round, in order."""
        n = int(self._s["num_bids"])
        return tuple(
            (int(seat), ACTIONS[a]) for seat, a in zip(self._s["bidders"][:n], self._s["bids"][:n], strict=True)
        )

    @property
    def dice(self) -> tuple[int, ...]:
        """Dice left per seat."""
        return tuple(int(d) for d in self._s["dice"][: self.num_seats])

    @property
    def round(self) -> int:
        """The number of this round, from 1."""
        return int(self._s["round"])

    @property
    def opener(self) -> int:
        """The seat that opened this round."""
        return int(self._s["opener"])

    @property
    def palifico(self) -> bool:
        """Whether this is a palifico round."""
        return bool(self._s["is_palifico"])

    @property
    def in_calza_window(self) -> bool:
        """Whether the seat to act is asked for Calza before the bid may be raised (calza = anyone)."""
        return bool(self._s["phase"] == Phase.WINDOW)

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.seat is None

    @property
    def truncated(self) -> bool:
        """Whether ``max_rounds`` stopped the game."""
        return bool(self._s["truncated"])

    @property
    def ranks(self) -> tuple[int, ...] | None:
        """Final places per seat, 1 for the winner; None before the end."""
        return tuple(int(p) for p in self._s["place"][: self.num_seats]) if self.is_over else None

    @property
    def returns(self) -> tuple[float, ...] | None:
        """What each seat is paid: winner +1, others -1/(n-1), or the return of a single round; None before the end."""
        return self.payoffs() if self.is_over else None

    def payoffs(self, scheme: Reward = Reward.ZERO_SUM) -> tuple[float, ...]:
        """What each seat is paid at its end, under ``ZERO_SUM`` or ``PLACE``; 0 while it still plays."""
        out = np.zeros(self.num_seats)
        returns_row(self.states, 0, int(scheme), out)
        return tuple(out.tolist())

    def hand(self, seat: int) -> tuple[int, ...]:
        """The sorted faces of a seat's dice, like ``(1, 3, 3)``."""
        return faces(self._s["hands"][self._check_seat(seat)])

    def action_mask(self, seat: int | None = None) -> Int8Array:
        """Which action ids are legal, int8 ``(num_actions,)``, for the seat to act; all 0 for any other ``seat``."""
        mask = np.zeros(self.num_actions, np.int8)
        if seat is None or self._check_seat(seat) == self.seat:
            mask_row(self.states, 0, mask)
        return mask

    def legal_actions(self) -> tuple[Action, ...]:
        """What the seat to act may do, ascending by id; nothing when the game is over."""
        return tuple(ACTIONS[a] for a in np.flatnonzero(self.action_mask()))

    def view(self, seat: int) -> View:
        """What ``seat`` sees on the table, in words; where dice counts are hidden it does not tell them."""
        seat = self._check_seat(seat)
        hidden = self.variant.dice_counts == "hidden"
        return View(
            viewer=seat, variant=self.variant, num_seats=self.num_seats, hand=self.hand(seat),
            dice=tuple(None if hidden and other != seat else d for other, d in enumerate(self.dice)),
            alive=tuple(d > 0 for d in self.dice), round=self.round, opener=self.opener, palifico=self.palifico,
            bids=self.bids, seat=self.seat, in_calza_window=self.in_calza_window,
            legal_actions=self.legal_actions() if seat == self.seat else (),
        )  # fmt: skip

    def observation(self, seat: int) -> Int8Array:
        """What ``seat`` knows of this round, as 0/1 numbers, int8 ``(layout.size,)``; see ``observation.LAYOUT``.

        With ``memory="perfect"`` it holds all dice counts, under ``dice_counts = hidden`` as well.
        """
        out = np.empty(self.layout.size, np.int8)
        observe_row(
            self.states, 0, self._check_seat(seat), self._switches, self.num_seats, self.layout.max_quantity, out
        )
        return out

    def _clause(self, number: int, language: str) -> str | None:
        if reason_row(self.states, 0, number) == Reason.LEGAL:
            return None
        return explain(self.states, 0, number, language)

    def _check_seat(self, seat: int) -> int:
        if not is_whole(seat) or not 0 <= seat < self.num_seats:
            raise ValueError(f"seat = {seat!r} is not a seat of this table: use 0 to {self.num_seats - 1}")
        return int(seat)


def listed(name: str, given: Any) -> Sequence[Any]:
    """What is given for an argument as a list; raises ``ValueError`` for what is none."""
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str | bytes):
        raise ValueError(f"{name} = {given!r} is not a list: give one, like [] or [x, y]")
    return list(given)


def as_hands(hands: Sequence[Sequence[int]]) -> Hands:
    """The faces of each seat as tuples; raises ``ValueError`` for what is no list of lists."""
    try:
        return tuple(tuple(hand) for hand in hands)
    except TypeError:
        raise ValueError(f"hands = {hands!r}: give the faces of each seat, like [[3, 3, 1], [2, 6]]") from None


def check_faces(variant: Variant, hands: Hands) -> None:
    """Raise ``ValueError`` for faces that the variant's dice lack."""
    for seat, hand in enumerate(hands):
        for face in hand:
            if not is_whole(face) or not 1 <= face <= variant.num_faces:
                raise ValueError(f"hands[{seat}] = {list(hand)}: {face!r} is not a face: use 1 to {variant.num_faces}")


def check_position(variant: Variant, hands: Hands, opener: int, palifico: bool, palifico_spent: Sequence[int]) -> None:
    """Raise ``ValueError`` for a position that no game of the variant can reach."""
    starting_dice(variant, len(hands), [len(hand) for hand in hands])
    check_faces(variant, hands)
    if not is_whole(opener) or not 0 <= opener < len(hands) or not hands[opener]:
        living = ", ".join(str(s) for s, hand in enumerate(hands) if hand)
        raise ValueError(f"opener = {opener!r} is not a seat with dice: use one of {living}")
    if not isinstance(palifico, bool | np.bool_):
        raise ValueError(f"palifico = {palifico!r} is neither True nor False")
    if palifico and variant.palifico == "off":
        raise ValueError(
            f"palifico = True, but variant {variant} has no palifico rounds: override palifico, or leave it False"
        )
    if palifico and len(hands[opener]) != 1:
        raise ValueError(
            f"palifico = True, but the opener, seat {opener}, has {len(hands[opener])} dice: a palifico round is opened by a seat with one"
        )
    for seat in listed("palifico_spent", palifico_spent):
        if not is_whole(seat) or not 0 <= seat < len(hands) or variant.palifico != "once":
            raise ValueError(
                f"palifico_spent = {tuple(palifico_spent)}: name seats 0 to {len(hands) - 1}, and only where palifico = 'once'"
            )
