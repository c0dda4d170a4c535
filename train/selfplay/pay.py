"""The pay of a round or a game, in returns, and the value of a call, which is known before it is made once all dice are."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from perudo_env.engine.actions import CALZA, DUDO
from perudo_env.engine.batch import Batch
from perudo_env.engine.state import Phase
from perudo_env.engine.variant import MAX_SEATS
from train.selfplay.values import ContinuationValues, RoundStates

FloatArray = npt.NDArray[np.float64]
Unit = Literal["rounds", "games"]
Lesson = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]
CALLS = (DUDO, CALZA)


class Stakes:
    """What each seat is paid at the end of the round (or game) that a batch stands in when this is made.

    A seat's pay for a round is the change of its return over it, by continuation ``values``, in units of the usual change
    there: scaling a round does not change its equilibria, and lets small and large tables weigh alike. Whole games, and
    variants of one round, are paid with their return.
    """

    def __init__(self, batch: Batch, unit: Unit, values: ContinuationValues | None) -> None:
        self.num_seats, self.variant, self.unit = batch.num_seats, batch.variant, unit
        self.values = None if unit == "games" or batch.variant.rounds == "one" else values
        if self.values is not None:
            self.before = RoundStates(batch.states, batch.num_seats, batch.variant)
            self.was, self.scale = self.values.judge(self.before)
            self.living = self.before.by_seat((self.before.dice > 0).astype(np.float64))

    def settle(self, batch: Batch) -> tuple[FloatArray, Lesson | None]:
        """What each seat is paid, ``(num_games, MAX_SEATS)``, and what continuation values learn from it."""
        rows = np.arange(batch.num_games)
        if self.values is None:
            return self.pay(batch, rows), None
        chances, change = self._change(batch, rows)
        squares = (change**2).sum(axis=1) / self.living.sum(axis=1)
        lesson = self.before.inputs, self.before.by_place(chances).astype(np.float32), squares.astype(np.float32)
        return self._padded(change / self.scale[:, None]), lesson

    def pay(self, batch: Batch, rows: npt.NDArray[np.int64]) -> FloatArray:
        """What each seat is paid, ``(len(rows), MAX_SEATS)``, where game i of ``batch`` began as row ``rows[i]``."""
        if self.values is None:
            return self._padded(batch.returns)
        return self._padded(self._change(batch, rows)[1] / self.scale[rows, None])

    def _change(self, batch: Batch, rows: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Each seat's chance to win now, and its change since the round began."""
        assert self.values is not None
        chances, _ = self.values.judge(RoundStates(batch.states, self.num_seats, self.variant))
        over = batch.states["phase"] == Phase.OVER
        chances[over] = batch.ranks[over] == 1
        return chances, (chances - self.was[rows]) * self.living[rows]

    def _padded(self, by_seat: FloatArray) -> FloatArray:
        out = np.zeros((len(by_seat), MAX_SEATS))
        out[:, : self.num_seats] = by_seat
        return out

    def calls(self, batch: Batch, rows: npt.NDArray[np.int64], masks: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """What each of ``CALLS`` pays the seat to act in ``rows``, float32 ``(len(rows), 2)``: the engine is asked on copies.

        NaN where the call is illegal, or does not end the round (or the game) that is paid.
        """
        out = np.full((rows.size, len(CALLS)), np.nan, np.float32)
        for column, call in enumerate(CALLS):
            may = np.flatnonzero(masks[:, call])
            if not may.size:
                continue
            copies = batch.take(rows[may])
            seats = copies.seat.astype(np.int64)
            ended = copies.act(np.full(may.size, call))
            known = ended if self.unit == "rounds" else copies.is_over
            pay = self.pay(copies, rows[may])[np.arange(may.size), seats]
            out[may, column] = np.where(known, pay, np.nan)
        return out
