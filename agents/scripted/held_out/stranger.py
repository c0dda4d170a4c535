"""The base of strangers: what a player looks at, and how its taste in bids and its doubts become probabilities.

Arrays of bids are ``(batch, quantities, 6)``, those of tables ``(batch, 1, 1)``, so that they combine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.core.reading import chances_at, read_all
from agents.core.seated import SeatedPolicy, Sight
from perudo_env.engine.actions import CALZA, DUDO, FIRST_BID, PACO, PASS
from perudo_env.engine.variant import MAX_FACES
from perudo_env.policy import Int8Array

FloatArray = npt.NDArray[np.floating[Any]]
BoolArray = npt.NDArray[np.bool_]

FACE = np.arange(1, MAX_FACES + 1, dtype=np.float32)
WEIGHT = np.where(FACE == PACO, np.float32(2), np.float32(1))
"""What one die of a face counts when quantities are compared: Pacos are worth two."""


ROWS = 256  # looked at together: few enough for the processor's cache


class View(NamedTuple):
    """What a player looks at, in float32 or bool for speed; the face and quantity of the standing bid are 0 before the opening bid."""

    legal: BoolArray  # of bids; those on more dice than are in play are left out, as nobody in his senses makes them
    holds: FloatArray  # of bids: the chance that it holds, given the own dice and fair dice elsewhere
    exactly: FloatArray  # of bids: the chance that it is exact
    quantity: FloatArray  # (quantities, 1)
    standing_quantity: FloatArray  # of tables, as all below
    standing_face: FloatArray
    standing_holds: FloatArray  # 1 before the opening bid
    standing_exactly: FloatArray  # 0 before the opening bid
    own_dice: npt.NDArray[np.int64]
    all_dice: npt.NDArray[np.int64]
    bidder_dice: FloatArray  # 0 before the opening bid
    num_alive: FloatArray
    is_full: BoolArray  # the player has lost no die, so that Calza could win none
    own: FloatArray  # (batch, 1, 6): own dice that count for the face
    share: FloatArray  # (batch, 1, 6): of unseen dice, those that count for the face on average

    @property
    def same_face(self) -> BoolArray:
        """Whether a bid is on the standing bid's face, ``(batch, 1, 6)``."""
        return self.standing_face == FACE

    @property
    def average(self) -> FloatArray:
        """The number of dice that count for a face, on average, ``(batch, 1, 6)``."""
        return self.own + self.share * (self.all_dice - self.own_dice)

    def any(self, bids: BoolArray) -> BoolArray:
        """Whether any of ``bids`` is legal, per table."""
        found: BoolArray = np.any(bids & self.legal, axis=(1, 2), keepdims=True)
        return found


def look(observations: Int8Array, masks: Int8Array, at: Sight) -> View:
    """The view of every row."""
    at.check(observations, masks)
    seen, chances = read_all(observations, at), chances_at(observations, at)

    def of_tables(values: npt.NDArray[Any]) -> Any:
        return (values if values.dtype == bool else values.astype(np.float32)).reshape(-1, 1, 1)

    bid = chances.standing - FIRST_BID
    none = bid < 0
    wild = (seen["wild"] == 1)[:, None] & (FACE != PACO)
    own, dice = seen["own"].astype(np.float32), seen["dice"]
    own_dice = own.sum(axis=1)
    all_dice = of_tables(own_dice + seen["num_others"])
    quantity = np.arange(1, min(int(all_dice.max(initial=1)), chances.holds.shape[1]) + 1, dtype=np.float32)[:, None]
    legal = masks[:, FIRST_BID:].reshape(chances.holds.shape)[:, : len(quantity)] == 1
    return View(
        legal=legal & (quantity <= all_dice),
        holds=chances.holds[:, : len(quantity)],
        exactly=chances.exactly[:, : len(quantity)],
        quantity=quantity,
        standing_quantity=of_tables(np.where(none, 0, bid // MAX_FACES + 1)),
        standing_face=of_tables(np.where(none, 0, bid % MAX_FACES + 1)),
        standing_holds=of_tables(chances.standing_holds),
        standing_exactly=of_tables(chances.standing_exactly),
        own_dice=of_tables(own_dice),
        all_dice=all_dice,
        bidder_dice=of_tables(np.where(none, 0, dice[np.arange(len(dice)), seen["bidder"]])),
        num_alive=of_tables(seen["num_alive"]),
        is_full=of_tables(own_dice >= seen["starting_dice"]),
        own=(own + wild * own[:, :1])[:, None, :],
        share=((1 + wild) / seen["num_faces"][:, None]).astype(np.float32)[:, None, :],
    )


class Stranger(SeatedPolicy):
    """A player with a taste in bids, doubts, and a chance of exactness from which it says Calza."""

    opens_at = 0.6  # the opening bid, as a share of what its face has on average
    calza_from = 0.6

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """As :meth:`decide` says, ``ROWS`` at a time."""
        cuts = range(0, max(len(masks), 1), ROWS)
        return np.concatenate([self.decide(observations[i : i + ROWS], masks[i : i + ROWS]) for i in cuts])

    def decide(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """Calza if it likes to; else Dudo as much as it doubts; else the legal bid that is most to its taste."""
        view = look(observations, masks, self.sight)
        batch = len(masks)
        probs = np.zeros(masks.shape)
        calza = (self.calza(view).reshape(batch) * masks[:, CALZA]).astype(float)
        no_bid = ~view.legal.any(axis=(1, 2))
        dudo = np.where(no_bid, 1.0, self.doubt(view).reshape(batch)) * masks[:, DUDO]
        probs[:, CALZA], probs[:, PASS] = calza, (1 - calza) * masks[:, PASS]
        probs[:, DUDO] = (1 - calza) * dudo
        taste, opens = self.taste(view), view.standing_face == 0
        if opens.any():
            taste = np.where(opens, self.opening(view), taste)
        bids = self.among(np.where(view.legal, taste, -np.inf).reshape(batch, -1))
        rest = (1 - calza) * (1 - dudo) * ~no_bid
        np.multiply(bids, rest[:, None], out=probs[:, FIRST_BID : FIRST_BID + bids.shape[1]])
        return probs

    def among(self, taste: FloatArray) -> npt.NDArray[np.float64]:
        """How a choice falls among bids ``(batch, bids)``: all on the best, ties evenly; illegal ones are -inf."""
        best = taste == taste.max(axis=1, keepdims=True)
        shares: npt.NDArray[np.float64] = best / best.sum(axis=1, keepdims=True)
        return shares

    def opening(self, view: View) -> FloatArray:
        """The taste in opening bids: the face of which the hand has most, at ``opens_at`` of its average."""
        target = np.maximum(np.floor(self.opens_at * view.average), 1)
        return view.own - 10 * np.abs(view.quantity - target)

    def taste(self, view: View) -> FloatArray:
        """How much each bid is liked as a raise."""
        raise NotImplementedError

    def doubt(self, view: View) -> FloatArray | BoolArray:
        """The chance of Dudo, per table."""
        raise NotImplementedError

    def calza(self, view: View) -> BoolArray:
        """Whether to say Calza, per table."""
        return view.standing_exactly >= self.calza_from
