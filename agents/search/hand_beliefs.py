"""Beliefs about hands when the bidder's policy is known: exact over every hand, by Bayes' rule on its ``probs``.

Dice are independent and bids public, so the belief about a table is one belief per seat, and it is the same for
everybody who sees the bids: own dice tell nothing of others'. The policy is asked once for all hands of a seat at a
public position, whatever the number of games that stand there.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from agents.scripted.beliefs import add_matches
from agents.tabular.public_tree import round_record
from perudo_env.engine.actions import bid_id
from perudo_env.engine.batch import Batch
from perudo_env.engine.hands import FIRST_HAND, HAND_CHANCES, HANDS, hand_ids
from perudo_env.engine.jit import kernel
from perudo_env.engine.observation import encode
from perudo_env.engine.rules import fill_mask, matches
from perudo_env.engine.variant import MAX_FACES, MAX_SEATS, MAX_STARTING_DICE, Variant
from perudo_env.game.asking import ask_probs, infostate
from perudo_env.policy import Policy

CHUNK = 16384  # about how many observations a policy is asked at once
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

NUM_HANDS = len(HANDS)


@lru_cache
def match_counts(variant: Variant, palifico: bool) -> IntArray:
    """How many dice of each hand match each face, ``(6, NUM_HANDS)``; asked of the engine."""
    out = np.zeros((MAX_FACES, NUM_HANDS), np.int64)
    count_matches(round_record(variant, (1, 1), palifico, 2), HANDS, out)
    return out


@kernel
def count_matches(states: np.ndarray, hands: np.ndarray, out: np.ndarray) -> None:
    """Write how many dice of each hand match each face in the round of ``states[0]``, whose hands are overwritten."""
    s = states[0]
    s["hands"][:] = 0
    for h in range(hands.shape[0]):
        s["hands"][0] = hands[h]
        for face in range(1, MAX_FACES + 1):
            out[face - 1, h] = matches(s, bid_id(1, face))


@kernel
def observe_hands(
    states: np.ndarray, rows: np.ndarray, dealt: np.ndarray, hands: np.ndarray, switches: np.ndarray, seats: int, quantities: int,
    observations: np.ndarray, masks: np.ndarray,
) -> None:  # fmt: skip
    """Write what the seat to act in each of ``rows`` would see and may do with hand number ``dealt[k]``; -1: with no dice."""
    own = np.empty(hands.shape[1], np.int8)
    for k in range(rows.size):
        s = states[rows[k]]
        seat = s["seat"]
        for face in range(own.size):
            own[face] = s["hands"][seat, face]
            s["hands"][seat, face] = hands[dealt[k], face] if dealt[k] >= 0 else 0
        encode(s, seat, switches, seats, quantities, observations[k])
        fill_mask(s, masks[k])
        for face in range(own.size):
            s["hands"][seat, face] = own[face]


@kernel
def draw_and_learn(
    probs: np.ndarray, first: np.ndarray, dealt: np.ndarray, rows: np.ndarray, seats: np.ndarray, groups: np.ndarray,
    held: np.ndarray, draws: np.ndarray, weights: np.ndarray, actions: np.ndarray,
) -> None:  # fmt: skip
    """Draw an action for each of ``rows`` and weigh its seat's hands by it.

    Group g was asked with the hands ``dealt[first[g] : first[g + 1]]``, which ``probs`` answers row by row. Drawing from
    that same answer, a hand that is held never has weight 0.
    """
    for k in range(rows.size):
        start, end = first[groups[k]], first[groups[k] + 1]
        at = start
        while dealt[at] != held[k]:
            at += 1
        # (0, total]: a draw of 0 would choose a leading action of probability 0
        target = (1.0 - draws[k]) * probs[at].sum()
        action, so_far = 0, probs[at, 0]
        while so_far < target and action < probs.shape[1] - 1:
            action += 1
            so_far += probs[at, action]
        while probs[at, action] <= 0.0:
            action -= 1
        actions[k] = action
        belief = weights[rows[k], seats[k]]
        total = 0.0
        for j in range(start, end):
            belief[dealt[j]] *= probs[j, action]
            total += belief[dealt[j]]
        for j in range(start, end):
            belief[dealt[j]] /= total


@kernel
def add_seats(
    s: np.ndarray, viewer: int, weights: np.ndarray, hands: np.ndarray, first: np.ndarray, counts: np.ndarray, face: int,
    pmf: np.ndarray, total: np.ndarray,
) -> int:  # fmt: skip
    """Write into ``total`` the chances of the number of matches on a face at all seats, the viewer's being known; returns the most."""
    total[:] = 0.0
    own = 0
    for f in range(hands.shape[1]):
        own += s["hands"][viewer, f] * counts[face - 1, first[1] + f]
    total[own] = 1.0
    size = own
    for seat in range(s["num_seats"]):
        dice = s["dice"][seat]
        if seat == viewer or dice == 0:
            continue
        pmf[:] = 0.0
        for h in range(first[dice], first[dice + 1]):
            pmf[counts[face - 1, h]] += weights[seat, h]
        add_matches(total, size, pmf, dice)
        size += dice
    return size


@kernel
def chance_rows(
    states: np.ndarray, rows: np.ndarray, weights: np.ndarray, hands: np.ndarray, first: np.ndarray, counts: np.ndarray,
    holds: np.ndarray, exactly: np.ndarray,
) -> None:  # fmt: skip
    """Write the chance that each bid (action id) holds, and that the standing bid is exact, as the seat to act knows them."""
    pmf = np.empty(MAX_STARTING_DICE + 1)
    total = np.empty(MAX_SEATS * MAX_STARTING_DICE + 1)
    holds[:], exactly[:] = 0.0, 0.0
    for k in range(rows.size):
        s = states[rows[k]]
        standing = s["bids"][s["num_bids"] - 1] if s["num_bids"] > 0 else -1
        for face in range(1, s["num_faces"] + 1):
            size = add_seats(s, s["seat"], weights[rows[k]], hands, first, counts[s["is_palifico"]], face, pmf, total)
            more = 0.0
            for quantity in range(size, 0, -1):
                more += total[quantity]
                bid = bid_id(quantity, face)
                if bid < holds.shape[1]:
                    holds[k, bid] = more
                if bid == standing:
                    exactly[k] = total[quantity]


class HandBeliefs:
    """The exact belief about every seat's hand at every table of ``batch``, all seats taken to play ``policy``.

    ``weights`` ``(num_games, num_seats, NUM_HANDS)``: the chance of each of ``perudo_env.engine.hands.HANDS``, given the bids of
    the round and nothing else.
    """

    def __init__(self, batch: Batch, policy: Policy) -> None:
        self.batch, self.policy = batch, policy
        # a hand of the table's belief is one of the dealt number of dice: the start is multinomial
        self.priors = np.zeros((MAX_STARTING_DICE + 1, NUM_HANDS))
        for d in range(MAX_STARTING_DICE + 1):
            of = slice(FIRST_HAND[d], FIRST_HAND[d + 1])
            self.priors[d, of] = HAND_CHANCES[batch.variant.num_faces, of]
        self.counts = np.stack([match_counts(batch.variant, p) for p in (False, True)])
        self.weights = np.zeros((batch.num_games, batch.num_seats, NUM_HANDS))
        self.begin(np.arange(batch.num_games))

    def begin(self, rows: IntArray) -> None:
        """Forget all in ``rows``: new dice were rolled."""
        self.weights[rows] = self.priors[self.batch.dice[rows]]

    def chances(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """What the seats to act know: that each bid holds ``(rows, num_actions)``, that the standing one is exact ``(rows,)``."""
        holds, exactly = np.empty((rows.size, self.batch.num_actions)), np.empty(rows.size)
        chance_rows(self.batch.states, rows, self.weights, HANDS, FIRST_HAND, self.counts, holds, exactly)
        return holds, exactly

    def act(self, rows: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw the policy's actions in ``rows``, and learn from them; the batch is left to play them."""
        public = self._observe(rows, np.full(rows.size, -1))[0]
        as_words = np.ascontiguousarray(public).view(np.dtype((np.void, public.shape[1]))).reshape(-1)
        _, examples, groups = np.unique(as_words, return_index=True, return_inverse=True)
        groups = groups.reshape(-1)
        seats = self.batch.seat[rows].astype(np.int64)
        possible = self.weights[rows[examples], seats[examples]] > 0
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(np.bincount(groups))
        actions, draws = np.zeros(rows.size, np.int64), rng.random(rows.size)
        asked = np.cumsum(possible.sum(axis=1)) // CHUNK
        for part in np.unique(asked):
            here = np.flatnonzero(asked == part)
            games = order[(ends[here[0] - 1] if here[0] else 0) : ends[here[-1]]]
            actions[games] = self._act(
                rows[games], seats[games], groups[games] - here[0], rows[examples[here]], possible[here], draws[games]
            )
        return actions

    def learn(self, rows: IntArray, actions: IntArray, slip: float = 0.0) -> None:
        """Learn from given actions, one a row, before they are played; each is a uniform legal one with chance ``slip``.

        An action that no hand of the policy's would take tells nothing.
        """
        seats = self.batch.seat[rows].astype(np.int64)
        which, dealt = np.nonzero(self.weights[rows, seats] > 0)
        probs, masks = self._ask(rows[which], dealt)
        of = np.arange(which.size), actions[which]
        likelihood = np.zeros((rows.size, NUM_HANDS))
        likelihood[which, dealt] = (1 - slip) * probs[of] + slip * masks[of] / masks.sum(axis=1)
        learnt = self.weights[rows, seats] * likelihood
        total = learnt.sum(axis=1, keepdims=True)
        self.weights[rows, seats] = np.divide(learnt, total, out=self.weights[rows, seats], where=total > 0)

    def _act(
        self,
        rows: IntArray,
        seats: IntArray,
        groups: IntArray,
        examples: IntArray,
        possible: npt.NDArray[np.bool_],
        draws: FloatArray,
    ) -> IntArray:
        which, dealt = np.nonzero(possible)
        probs, _ = self._ask(examples[which], dealt)
        first = np.concatenate([[0], np.cumsum(possible.sum(axis=1))])
        actions = np.zeros(rows.size, np.int64)
        held = hand_ids(self.batch.states["hands"][rows, seats])
        draw_and_learn(probs, first, dealt, rows, seats, groups, held, draws, self.weights, actions)
        return actions

    def _ask(self, rows: IntArray, dealt: IntArray) -> tuple[FloatArray, npt.NDArray[np.int8]]:
        """The policy's probabilities for the seat to act in each row with hand number ``dealt``, checked, and the masks."""
        seen, masks = self._observe(rows, dealt)

        def position(k: int) -> str:
            return (
                f"the information state {infostate(self.batch.variant, self.batch.states[rows[k]], HANDS[dealt[k]])!r}"
            )

        return ask_probs(self.policy, seen, masks, position), masks

    def _observe(self, rows: IntArray, dealt: IntArray) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        b = self.batch
        seen, masks = np.empty((rows.size, b.layout.size), np.int8), np.empty((rows.size, b.num_actions), np.int8)
        observe_hands(b.states, rows, dealt, HANDS, b.switches, b.layout.num_seats, b.layout.max_quantity, seen, masks)
        return seen, masks
