"""Lookahead: the value of each action to one seat at a table of known policies; calls exactly, raises by playing on.

Dudo and Calza end the round: their values follow from the exact belief about the hands. Any other action is tried on
hands drawn from that belief, all other seats playing their policy. Two plans for the own seat are valued at once on the
same games: to go on as the policy would, and to doubt as soon as one may. The better plan's mean is the action's value.
Samples go to the actions that look best, by sequential halving (Karnin, Koren and Somekh, ICML 2013).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from itertools import count

import numpy as np
import numpy.typing as npt

from agents.search.hand_beliefs import FloatArray, HandBeliefs, IntArray
from perudo_env.engine.actions import CALZA, DUDO, PACO, PASS, bid_id
from perudo_env.engine.hands import FIRST_HAND, HANDS
from perudo_env.engine.jit import kernel
from perudo_env.engine.rounds import apply, round_return
from perudo_env.engine.rules import dice_in_play
from perudo_env.engine.state import copied
from perudo_env.game.asking import ask, places
from perudo_env.policy import Policy

CHUNK = 32768  # about how many games are played on at once


class Ending(IntEnum):
    """How a call ends a round for the caller."""

    DUDO_WRONG = 0  # the bid holds
    DUDO_RIGHT = 1
    CALZA_WRONG = 2
    CALZA_RIGHT = 3


@dataclass(frozen=True)
class Effort:
    """How much thought goes into a decision; any number leaves the measured gain an honest lower bound."""

    raises: int = 16
    """Actions besides calls that are tried: those that most likely hold."""
    samples: int = 12
    """Games of a try in each halving; eight times as many for the last one left."""
    longest: int = 1000
    """Actions after which a round that is played on is doubted."""


@kernel
def deal_rows(
    states: np.ndarray,
    rows: np.ndarray,
    viewers: np.ndarray,
    draws: np.ndarray,
    weights: np.ndarray,
    hands: np.ndarray,
    first: np.ndarray,
) -> None:
    """Deal hands out of the belief of game ``rows[k]`` to all seats but the viewer; ``draws`` ``(games, seats)`` in [0, 1)."""
    for k in range(rows.size):
        s = states[k]
        for seat in range(s["num_seats"]):
            dice = s["dice"][seat]
            if seat == viewers[k] or dice == 0:
                continue
            belief = weights[rows[k], seat]
            chosen, left = -1, draws[k, seat]
            for h in range(first[dice], first[dice + 1]):
                if belief[h] > 0.0:
                    chosen = h
                    left -= belief[h]
                    if left < 0.0:
                        break
            for face in range(hands.shape[1]):
                s["hands"][seat, face] = hands[chosen, face]


@kernel
def last_returns(states: np.ndarray, seats: np.ndarray, out: np.ndarray) -> None:
    """Write what the round that ended last paid to one seat of each row."""
    for k in range(states.size):
        out[k] = round_return(states[k], seats[k])


@kernel
def end_by_call(states: np.ndarray, call: int, pacos: bool, all_dice: bool) -> None:
    """Let the seat to act call, if all dice show Pacos or none, on a bid of one Paco or of all dice."""
    for k in range(states.size):
        s = states[k]
        s["hands"][:] = 0
        for seat in range(s["num_seats"]):
            s["hands"][seat, PACO - 1 if pacos else PACO] = s["dice"][seat]
        s["bids"][s["num_bids"] - 1] = bid_id(dice_in_play(s) if all_dice else 1, PACO)
        apply(s, call)


Pay = Callable[[np.ndarray, IntArray], FloatArray]
"""What the round that ended last is worth to one seat of each record: ``(states, seats) -> (rows,)``."""


def round_pay(states: np.ndarray, seats: IntArray) -> FloatArray:
    """The return of the round that ended last."""
    out = np.empty(states.size)
    last_returns(states, seats, out)
    return out


def call_pay(states: np.ndarray, pay: Pay = round_pay) -> FloatArray:
    """What each ``Ending`` of a call pays the seat to act, ``(rows, 4)``; asked of the engine on dealt hands."""
    out = np.zeros((len(Ending), states.size))
    for ending, call, pacos, all_dice in (
        (Ending.DUDO_WRONG, DUDO, True, False), (Ending.DUDO_RIGHT, DUDO, False, False),
        (Ending.CALZA_WRONG, CALZA, False, False), (Ending.CALZA_RIGHT, CALZA, True, True),
    ):  # fmt: skip
        ended = copied(states)
        end_by_call(ended, int(call), pacos, all_dice)
        out[ending] = pay(ended, states["seat"].astype(np.int64))
    return out.T


class Lookahead:
    """Values actions at tables of ``beliefs``, where all other seats play ``policy``, by what the round then ``pay``s."""

    def __init__(
        self, beliefs: HandBeliefs, policy: Policy, effort: Effort | None = None, pay: Pay = round_pay
    ) -> None:
        self.beliefs, self.policy, self.effort, self.pay = beliefs, policy, effort or Effort(), pay

    def act(self, rows: IntArray, rng: np.random.Generator) -> IntArray:
        """The best action found in each of ``rows``, int64."""
        masks = self.beliefs.batch.masks(rows)
        holds, exactly = self.beliefs.chances(rows)
        values = self.call_values(rows, masks, holds, exactly)
        self._value_raises(rows, self._candidates(masks, holds), values, rng)
        return values.argmax(axis=1)

    def call_values(
        self, rows: IntArray, masks: npt.NDArray[np.int8], holds: FloatArray, exactly: FloatArray
    ) -> FloatArray:
        """The exact values of Dudo and Calza where they are legal, given ``beliefs.chances``; minus infinity for all else."""
        batch = self.beliefs.batch
        values = np.full(masks.shape, -np.inf)
        bidden = np.flatnonzero(batch.states["num_bids"][rows] > 0)
        if bidden.size:
            games = rows[bidden]
            pay = call_pay(batch.states[games], self.pay)
            standing = batch.states["bids"][games, batch.states["num_bids"][games] - 1]
            true, exact = holds[bidden, standing], exactly[bidden]
            values[bidden, DUDO] = true * pay[:, Ending.DUDO_WRONG] + (1 - true) * pay[:, Ending.DUDO_RIGHT]
            values[bidden, CALZA] = exact * pay[:, Ending.CALZA_RIGHT] + (1 - exact) * pay[:, Ending.CALZA_WRONG]
        values[masks == 0] = -np.inf
        return values

    def _candidates(self, masks: npt.NDArray[np.int8], holds: FloatArray) -> npt.NDArray[np.bool_]:
        """The actions to try in each row: a pass, and the bids that most likely hold, the higher of equals."""
        score = np.where(masks > 0, holds, -1.0)
        score[:, [DUDO, CALZA]] = -1.0
        score[:, PASS] = np.where(masks[:, PASS] > 0, 2.0, -1.0)
        tied = score + 1e-9 * np.arange(masks.shape[1])
        order = np.argsort(-tied, axis=1)[:, : self.effort.raises]
        tried = np.zeros(masks.shape, np.bool_)
        np.put_along_axis(tried, order, np.take_along_axis(score, order, axis=1) >= 0, axis=1)
        return tried

    def _value_raises(
        self, rows: IntArray, tried: npt.NDArray[np.bool_], values: FloatArray, rng: np.random.Generator
    ) -> None:
        """Halve the candidates of each row until one is left, and write its value, found on games of its own."""
        where, actions = np.nonzero(tried)
        sums, count = np.zeros((where.size, 2)), 0
        while where.size and np.bincount(where).max() > 1:
            sums += self.play_out(rows[where], actions, where, self.effort.samples, rng) * self.effort.samples
            count += self.effort.samples
            score = sums.max(axis=1) / count
            order = np.lexsort((-score, where))
            sizes = np.bincount(where, minlength=len(rows))
            place = np.arange(where.size) - (np.cumsum(sizes) - sizes)[where[order]]
            kept = np.sort(order[place < -(-sizes[where[order]] // 2)])
            where, actions, sums = where[kept], actions[kept], sums[kept]
        if where.size:
            values[where, actions] = self.play_out(rows[where], actions, where, 8 * self.effort.samples, rng).max(
                axis=1
            )

    def play_out(
        self, rows: IntArray, actions: IntArray, groups: IntArray, samples: int, rng: np.random.Generator
    ) -> FloatArray:
        """The mean return of each action under both plans, ``(tries, 2)``; tries of one group meet the same hands."""
        draws = rng.random((groups.max() + 1, samples, self.beliefs.batch.num_seats))
        out = np.zeros((rows.size, 2))
        for part in np.array_split(np.arange(rows.size), -(-rows.size * samples // CHUNK)):
            many = np.repeat(part, samples)
            dealt = draws[groups[part]].reshape(many.size, -1)
            out[part] = self._play_on(rows[many], actions[many], dealt, rng).reshape(part.size, samples, 2).mean(axis=1)
        return out

    def _play_on(self, rows: IntArray, actions: IntArray, draws: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Play each of ``rows`` to the end of its round, after an action, on other seats' hands drawn from the belief."""
        batch = self.beliefs.batch.take(rows)
        me = batch.seat.astype(np.int64)
        deal_rows(batch.states, rows, me, draws, self.beliefs.weights, HANDS, FIRST_HAND)
        batch.states["max_rounds"] = batch.states["round"]
        batch.act(actions)
        doubted = np.full(rows.size, np.nan)
        left = np.flatnonzero(~batch.is_over)
        for played in count():
            if not left.size:
                break
            masks = batch.masks(left)
            mine = (batch.seat[left] == me[left]) & (masks[:, DUDO] == 1) & np.isnan(doubted[left])
            if mine.any():
                games = left[mine]
                doubt = batch.take(games)
                doubt.act(np.full(games.size, int(DUDO)))
                doubted[games] = self.pay(doubt.states, me[games])
            if played < self.effort.longest:
                actions = ask(self.policy, batch.observe(left), masks, rng, places(batch, left))
            else:
                actions = np.where(masks[:, DUDO], DUDO, PASS)
            batch.act(actions, left)
            left = left[~batch.is_over[left]]
        followed = self.pay(batch.states, me)
        return np.stack([followed, np.where(np.isnan(doubted), followed, doubted)], axis=1)
