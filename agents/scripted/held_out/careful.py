"""Careful strangers: those who bid little, doubt early, or play by a rule of thumb."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.scripted.held_out.stranger import WEIGHT, BoolArray, FloatArray, Stranger, View


class Honest(Stranger):
    """One who bids only what his own hand supports, and doubts as soon as it supports no more."""

    opens_at = 0.8

    def supported(self, view: View) -> BoolArray:
        """Bids on a face in the hand, up to a little less than its average."""
        return (view.own > 0) & (view.quantity <= view.own + 0.8 * (view.average - view.own))

    def taste(self, view: View) -> FloatArray:
        """The face of which the hand has most, low; else the likeliest bid."""
        return np.where(self.supported(view), 100 + 10 * view.own - view.quantity, view.holds)

    def doubt(self, view: View) -> BoolArray:
        """Where nothing is supported, unless the standing bid is quite likely."""
        return ~view.any(self.supported(view)) & (view.standing_holds < 0.6)


class Nervous(Stranger):
    """One who makes the least raise there is, and doubts the sooner the less likely a bid is."""

    opens_at = 0.3

    def taste(self, view: View) -> FloatArray:
        """The lowest of likely bids; else the likeliest bid."""
        return np.where(view.holds >= 0.5, 100 - WEIGHT * view.quantity + view.holds, view.holds)

    def doubt(self, view: View) -> FloatArray:
        """Never of what has 8 chances in 10, always of what has 2, evenly between."""
        return np.clip((0.8 - view.standing_holds) / 0.6, 0.0, 1.0)


class Fraction(Stranger):
    """One who knows no chances, only a rule of thumb: how many of all dice a bid may claim."""

    opens_at = 0.7
    limit = 1.15  # of the share that fair dice have

    def fits(self, view: View) -> BoolArray:
        """Bids within the rule of thumb."""
        return view.quantity <= np.maximum(self.limit * view.share * view.all_dice, view.own)

    def taste(self, view: View) -> FloatArray:
        """What fits, on the face of which the hand has most; else the bid that exceeds the rule least."""
        excess = view.quantity / view.share
        return np.where(self.fits(view), 1000 * (1 + view.own), 0) - excess

    def doubt(self, view: View) -> BoolArray:
        """A standing bid that does not fit, or that only its own rule stands in the way of raising."""
        stands = view.same_face & (view.quantity == view.standing_quantity)
        fits = (stands & self.fits(view)).any(axis=(1, 2), keepdims=True)
        return (view.standing_face > 0) & ~(fits | view.any(self.fits(view)))


class Moody(Stranger):
    """One who plays by mood: any sensible raise, the likelier the more often, and doubts by mood as well."""

    mood = 0.15  # the temperature: differences in chance of this size matter

    def taste(self, view: View) -> FloatArray:
        """The chance to hold."""
        return view.holds

    def opening(self, view: View) -> FloatArray:
        """Any quantity about half of the average or a little more, rather on faces in the hand."""
        return 0.1 * view.own - 0.3 * np.abs(view.quantity - 0.6 * view.average)

    def among(self, taste: FloatArray) -> npt.NDArray[np.float64]:
        """A softmax over what is at most 0.3 worse than the best."""
        best = taste.max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            gap = np.where(np.isfinite(taste), taste - best, -np.inf).astype(float)
        weights = np.where(gap >= -0.3, np.exp(gap / self.mood), 0.0)
        shares: npt.NDArray[np.float64] = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        return shares

    def doubt(self, view: View) -> FloatArray:
        """Even where a bid is as likely as not as the best raise; sure of what is impossible or certain."""
        best = (view.legal * view.holds).max(axis=(1, 2), keepdims=True)
        wrong = 1 - view.standing_holds
        return wrong**4 / np.maximum(wrong**4 + best**4, 1e-30)
