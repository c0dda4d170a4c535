"""Bold strangers: those who go on bidding as long as they can."""

from __future__ import annotations

import numpy as np

from agents.scripted.held_out.stranger import FACE, WEIGHT, BoolArray, FloatArray, Stranger, View
from perudo_env.engine.actions import PACO


class Raiser(Stranger):
    """One who says one more of the same face for as long as that may hold, and then doubts."""

    opens_at = 0.5
    may_hold = 0.25

    def one_more(self, view: View) -> BoolArray:
        """The standing bid and one more, where that may hold."""
        return view.same_face & (view.quantity == view.standing_quantity + 1) & (view.holds >= self.may_hold)

    def taste(self, view: View) -> FloatArray:
        """One more; else the likeliest bid."""
        return view.holds + self.one_more(view)

    def doubt(self, view: View) -> BoolArray:
        """Where one more is too much, unless the standing bid is likely."""
        return ~view.any(self.one_more(view)) & (view.standing_holds < 0.5)


class Pacos(Stranger):
    """One who loves Pacos: opens on them where that is allowed, and flees to them from other faces."""

    fair = 0.4

    def opening(self, view: View) -> FloatArray:
        """Pacos if the hand has any."""
        return super().opening(view) + 100 * ((FACE == PACO) & (view.own > 0))

    def taste(self, view: View) -> FloatArray:
        """The fewest Pacos that have a fair chance; else the likeliest bid."""
        return view.holds + self.fair_pacos(view)

    def fair_pacos(self, view: View) -> BoolArray:
        """Bids on Pacos with a fair chance."""
        return (FACE == PACO) & (view.holds >= self.fair)

    def doubt(self, view: View) -> BoolArray:
        """What is unlikely, where there is no flight to Pacos."""
        return (view.standing_holds < 0.45) & ~view.any(self.fair_pacos(view))


class Bully(Stranger):
    """One who jumps as high as his nerve allows, so that the next seat is in trouble; bolder with many dice."""

    opens_at = 0.85

    def dares(self, view: View) -> BoolArray:
        """Bids that the nerve allows."""
        leads = view.own_dice * view.num_alive >= view.all_dice
        return view.holds >= np.where(leads, np.float32(0.45), np.float32(0.55))

    def taste(self, view: View) -> FloatArray:
        """The highest bid that is dared, on the face of which the hand has most."""
        return np.where(self.dares(view), 10 * WEIGHT * view.quantity + view.own, view.holds)

    def doubt(self, view: View) -> BoolArray:
        """Only where no bid is dared."""
        return ~view.any(self.dares(view)) & (view.standing_holds < 0.6)


class Copycat(Stranger):
    """One who takes the last bidder at his word, as if half of his dice matched, and bids on the same face."""

    trust = 0.5

    def trusted(self, view: View) -> FloatArray:
        """The chance that each bid holds, where bids on the standing face are helped by the bidder's hand."""
        face = np.maximum(view.standing_face - 1, 0).astype(np.int64)
        usual = np.take_along_axis(view.share, face, axis=2) * view.bidder_dice
        helped = np.round(np.maximum(self.trust * view.bidder_dice - usual, 0))
        needed = np.maximum(view.quantity - helped, 1).astype(np.int64)
        easier = np.take_along_axis(np.take_along_axis(view.holds, face, axis=2), needed - 1, axis=1)
        return np.where(view.same_face & (view.holds > 0), easier, view.holds)

    def taste(self, view: View) -> FloatArray:
        """The least raise of the same face that seems likely; else what seems likeliest."""
        trusted = self.trusted(view)
        return trusted + (view.same_face & (trusted >= 0.4))

    def doubt(self, view: View) -> BoolArray:
        """What even trust does not make likely."""
        stands = view.same_face & (view.quantity == view.standing_quantity)
        believed = (stands * self.trusted(view)).max(axis=(1, 2), keepdims=True)
        return (view.standing_face > 0) & (believed < 0.45)


class Calza(Stranger):
    """One who aims at the exact number: bids what is likeliest exact, and says Calza eagerly for a lost die."""

    opens_at = 0.9
    calza_from = 0.33

    def taste(self, view: View) -> FloatArray:
        """The likeliest exact number among bids that are fair; else the likeliest bid."""
        return np.where(view.holds >= 0.45, 1 + view.exactly, view.holds)

    def doubt(self, view: View) -> BoolArray:
        """What is unlikely."""
        return (view.standing_holds < 0.45) & ~view.any(view.holds >= 0.55)

    def calza(self, view: View) -> BoolArray:
        """Where exact is likely, and wins a die."""
        return super().calza(view) & ~view.is_full
