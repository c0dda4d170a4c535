"""The scene, all that a drawing of the table may show: the one place that decides it, for text and picture alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perudo_env.engine.actions import FIRST_BID, MAX_FACES, PACO, PASS, Bid, to_id
from perudo_env.engine.rules import matches
from perudo_env.engine.state import new_states
from perudo_env.engine.variant import Variant
from perudo_env.game.events import (
    BidMade,
    CalzaSaid,
    DieLost,
    DieRegained,
    DudoSaid,
    Event,
    Hands,
    Revealed,
    RoundStarted,
)
from perudo_env.game.game import Game

Raises = dict[int, tuple[int, int]]


@dataclass(frozen=True)
class Reveal:
    """How the round that ended last was decided; public from its end on."""

    round: int
    opener: int
    palifico: bool
    bids: tuple[tuple[int, Bid], ...]
    call: str  # dudo or calza
    caller: int
    hands: Hands
    count: int
    seat: int  # whose dice were at stake
    change: int  # -1 lost a die, 0 nothing, +1 took one back

    @property
    def standing(self) -> tuple[int, Bid]:
        """(bidder, bid) that was doubted or called exact."""
        return self.bids[-1]


@dataclass(frozen=True)
class Scene:
    """One table as ``viewer`` sees it, or with all dice open (``viewer`` None)."""

    viewer: int | None
    variant: Variant
    hands: tuple[tuple[int, ...] | None, ...]  # None: under a closed cup
    dice: tuple[int | None, ...]  # dice left per seat; None where the variant hides them
    alive: tuple[bool, ...]
    round: int
    opener: int
    palifico: bool
    bids: tuple[tuple[int, Bid], ...]
    seat: int | None  # seat to act; None: nobody
    in_calza_window: bool
    raises: Raises  # face -> (least, most) quantity that the next bid may have
    last: Reveal | None  # the round before this one, or the last one
    ranks: tuple[int, ...] | None  # once the game is over
    revealed: bool = False  # the round that ended last is shown, with all dice open

    @property
    def standing(self) -> tuple[int, Bid] | None:
        """(bidder, bid) to beat."""
        return self.bids[-1] if self.bids else None

    @property
    def matching(self) -> frozenset[int]:
        """The faces that count for the standing bid; none before the opening bid."""
        return matching_faces(self.variant, self.palifico, self.bids[-1][1]) if self.bids else frozenset()


def scene(game: Game, viewer: int | None = None, *, reveal: bool = False) -> Scene:
    """The table as ``viewer`` sees it; None: all dice open. Once the game is over all dice are open to everybody.

    With ``reveal``, the round that ended last as it was shown, before the dice were rolled again; raises ``ValueError``
    if no round has ended yet.
    """
    last = last_reveal(game)
    if reveal and last is None:
        raise ValueError("reveal = True, but no round of this game has ended yet")
    if last is not None and (reveal or game.is_over):
        return Scene(
            viewer=viewer, variant=game.variant, hands=last.hands, dice=tuple(map(len, last.hands)),
            alive=tuple(len(hand) > 0 for hand in last.hands), round=last.round, opener=last.opener, palifico=last.palifico,
            bids=last.bids, seat=None, in_calza_window=False, raises={}, last=last, ranks=game.ranks, revealed=True,
        )  # fmt: skip
    dice: tuple[int | None, ...] = game.dice if viewer is None else game.view(viewer).dice
    return Scene(
        viewer=viewer, variant=game.variant,
        hands=tuple(game.hand(s) if viewer in (None, s) or game.dice[s] == 0 else None for s in range(game.num_seats)),
        dice=dice, alive=tuple(d > 0 for d in game.dice), round=game.round, opener=game.opener, palifico=game.palifico,
        bids=game.bids, seat=game.seat, in_calza_window=game.in_calza_window, raises=raises(game), last=last, ranks=None,
    )  # fmt: skip


def raises(game: Game) -> Raises:
    """Per face, ordinary ones first, the least and the most quantity that may be bid next; in a Calza window, once all have passed."""
    if game.in_calza_window:
        game = game.copy()
        while game.in_calza_window:
            game.act(PASS)
    legal = game.action_mask()[FIRST_BID:].reshape(-1, MAX_FACES)
    found: Raises = {}
    for face in (*range(2, MAX_FACES + 1), PACO):
        quantities = np.flatnonzero(legal[:, face - 1]) + 1
        if len(quantities):
            found[face] = (int(quantities[0]), int(quantities[-1]))
    return found


def matching_faces(variant: Variant, palifico: bool, bid: Bid) -> frozenset[int]:
    """The faces that count for ``bid`` in an ordinary or a palifico round; the rules decide, one die at a time."""
    state: np.void = new_states(variant, num_seats=2, total_at_start=2, max_rounds=0)[0]
    state["is_palifico"] = palifico
    found = set()
    for face in range(1, variant.num_faces + 1):
        state["hands"][:] = 0
        state["hands"][0, face - 1] = 1
        if matches(state, to_id(bid)) > 0:
            found.add(face)
    return frozenset(found)


def last_reveal(game: Game) -> Reveal | None:
    """The round of ``game`` that ended last; None if none has."""
    events = game.events
    end = next((i for i in reversed(range(len(events))) if isinstance(events[i], Revealed)), None)
    if end is None:
        return None
    begin = next(i for i in reversed(range(end)) if isinstance(events[i], RoundStarted))
    started, called, shown = events[begin], events[end - 1], events[end]
    assert isinstance(started, RoundStarted)
    assert isinstance(called, DudoSaid | CalzaSaid)
    assert isinstance(shown, Revealed)
    moved: Event | None = events[end + 1] if end + 1 < len(events) else None
    change = -1 if isinstance(moved, DieLost) else int(isinstance(moved, DieRegained))
    return Reveal(
        round=started.round, opener=started.opener, palifico=started.palifico,
        bids=tuple((e.seat, e.bid) for e in events[begin:end] if isinstance(e, BidMade)),
        call="dudo" if isinstance(called, DudoSaid) else "calza", caller=called.seat, hands=shown.hands, count=shown.count,
        seat=moved.seat if isinstance(moved, DieLost | DieRegained) else called.seat, change=change,
    )  # fmt: skip
