"""inference: reads the other seats' dice from their bids by Bayes, and weighs every option one step ahead.

A belief per seat (``beliefs.py``) gives, by convolution with the own dice, the chance of every bid. The unit of value
is one own die; a die that another seat loses is worth 1/(living others), as it is when all play equally well. Dudo
and Calza end the round, so their values are exact given the belief. A raise is doubted by the next seat with a chance
that falls with what that seat, for each hand it may hold, must think of the bid; if it is not, the round goes on, at
a fixed value. The choice is a softmax over the values, so near-equal options mix; and with ``bluff_rate`` a looser
one, so that a bid never proves a hand.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from agents.core.reading import SEEN, TAIL, Seen, chance_of_more, matches_in, read
from agents.core.seated import SeatedPolicy
from agents.scripted.beliefs import add_matches, believe
from agents.scripted.odds import FloatArray
from perudo_env.engine.actions import CALZA, DUDO, FIRST_BID, PASS, bid_id, face_of, quantity_of
from perudo_env.engine.hands import FIRST_HAND, HAND_CHANCES, HANDS
from perudo_env.engine.jit import kernel
from perudo_env.engine.observation import Layout
from perudo_env.engine.variant import MAX_FACES, MAX_SEATS, MAX_STARTING_DICE, Variant
from perudo_env.policy import Int8Array

_TOTALS = MAX_SEATS * MAX_STARTING_DICE + 2


@dataclass(frozen=True)
class Reading:
    """The numbers of the model; tuned by matches against the other scripted agents, none comes from a rule text."""

    trust: float = 0.9  # power of a bid's likelihood: 0 learns nothing, 1 takes bidders for honest
    assent: float = 0.1  # the same for not doubting the bid before
    floor: float = 0.03  # likelihood of a bid that looks impossible: the share of bluffs
    doubt_at: float = 0.62  # the next seat doubts half the time at this chance of the bid, by its own dice
    doubt_width: float = 0.1  # how quickly its doubt grows below
    round_goes_on: float = 0.4  # value of not being doubted, in dice that another seat loses
    temperature: float = 0.01  # of the softmax over values, in own dice
    bluff_rate: float = 0.03  # share of raises chosen loosely
    bluff_temperature: float = 0.1


_DOUBT_AT, _DOUBT_WIDTH, _GOES_ON, _TEMPERATURE, _BLUFF_RATE, _BLUFF_TEMPERATURE = range(3, 9)


class InferencePolicy(SeatedPolicy):
    """Beliefs about hands from bids, values one step ahead."""

    def __init__(
        self, variant: Variant | str, num_seats: int, layout: Layout | None = None, reading: Reading | None = None
    ) -> None:
        super().__init__(variant, num_seats, layout)
        self.model = np.array(astuple(reading or Reading()))

    def probs(self, observations: Int8Array, masks: Int8Array) -> FloatArray:
        """A softmax over estimated values, with a share of looser raises."""
        self.sight.check(observations, masks)
        out = np.zeros(masks.shape)
        decide_rows(
            observations, masks, *self.sight.places,
            TAIL, HANDS, HAND_CHANCES, FIRST_HAND, self.model, np.zeros(1, SEEN), out,
        )  # fmt: skip
        return out


@kernel
def next_seat(seen: Seen) -> int:
    """The relative seat that answers a raise: the next one clockwise with dice."""
    for seat in range(1, MAX_SEATS):
        if seen["dice"][seat] > 0:
            return seat
    return 0


@kernel
def sum_matches(seen: Seen, pmf: np.ndarray, face: int, without: int, total: np.ndarray) -> int:
    """Write the chances of the number of matches at all other seats but ``without``; returns the most there can be."""
    total[:] = 0.0
    total[0] = 1.0
    size = 0
    for seat in range(1, MAX_SEATS):
        dice = seen["dice"][seat]
        if dice > 0 and seat != without:
            add_matches(total, size, pmf[seat, face - 1], dice)
            size += dice
    return size


@kernel
def value_calls(seen: Seen, pmf: np.ndarray, worth: float, total: np.ndarray, values: np.ndarray) -> None:
    """Write the values of Dudo and Calza against the standing bid, and that of passing."""
    bid = seen["bids"][seen["num_bids"] - 1]
    face = face_of(bid)
    size = sum_matches(seen, pmf, face, 0, total)
    needed = quantity_of(bid) - matches_in(seen["own"], face, seen["wild"])
    holds = 0.0
    for k in range(max(needed, 0), size + 1):
        holds += total[k]
    exact = total[needed] if 0 <= needed <= size else 0.0
    values[DUDO] = (1.0 - holds) * worth - holds
    # a full cup takes no die back, so being right is worth nothing
    values[CALZA] = exact * (seen["dice"][0] < seen["starting_dice"]) - (1.0 - exact)
    values[PASS] = max(0.0, values[DUDO]) if next_seat(seen) == seen["bidder"] else 0.0


@kernel
def value_raises(
    tail: np.ndarray,
    seen: Seen,
    mask: np.ndarray,
    face: int,
    pmf: np.ndarray,
    model: np.ndarray,
    worth: float,
    rest: np.ndarray,
    values: np.ndarray,
) -> None:
    """Write the values of all legal bids on one face."""
    answering = next_seat(seen)
    answering_dice = seen["dice"][answering]
    size = sum_matches(seen, pmf, face, answering, rest)
    for k in range(size - 1, -1, -1):
        rest[k] += rest[k + 1]
    own = matches_in(seen["own"], face, seen["wild"])
    unseen = seen["num_others"] + seen["dice"][0] - answering_dice
    for quantity in range(1, (mask.size - FIRST_BID) // MAX_FACES + 1):
        bid = bid_id(quantity, face)
        if not mask[bid]:
            continue
        value = 0.0
        for m in range(answering_dice + 1):
            chance = pmf[answering, face - 1, m]
            if chance <= 0.0:
                continue
            needed = quantity - own - m
            holds = 1.0 if needed <= 0 else (rest[needed] if needed <= size else 0.0)
            thought = chance_of_more(tail, seen, face, unseen, quantity - m)
            doubt = 1.0 / (1.0 + np.exp((thought - model[_DOUBT_AT]) / model[_DOUBT_WIDTH]))
            doubted = holds * worth - (1.0 - holds)
            value += chance * (doubt * doubted + (1.0 - doubt) * model[_GOES_ON] * worth)
        values[bid] = value


@kernel
def add_softmax(
    values: np.ndarray, mask: np.ndarray, start: int, temperature: float, weight: float, probs: np.ndarray
) -> None:
    """Add ``weight`` times the softmax over the legal actions from ``start`` on."""
    best = -np.inf
    for a in range(start, mask.size):
        if mask[a]:
            best = max(best, values[a])
    total = 0.0
    for a in range(start, mask.size):
        if mask[a]:
            total += np.exp((values[a] - best) / temperature)
    for a in range(start, mask.size):
        if mask[a]:
            probs[a] += weight * np.exp((values[a] - best) / temperature) / total


@kernel
def mix(values: np.ndarray, mask: np.ndarray, model: np.ndarray, probs: np.ndarray) -> None:
    """Write the distribution over actions: a softmax, whose raises are loosened by the bluff rate."""
    add_softmax(values, mask, 0, model[_TEMPERATURE], 1.0, probs)
    raising = 0.0
    for a in range(FIRST_BID, mask.size):
        raising += probs[a]
    if raising > 0.0:
        for a in range(FIRST_BID, mask.size):
            probs[a] *= 1.0 - model[_BLUFF_RATE]
        add_softmax(values, mask, FIRST_BID, model[_BLUFF_TEMPERATURE], model[_BLUFF_RATE] * raising, probs)


@kernel
def decide_rows(
    observations: np.ndarray,
    masks: np.ndarray,
    starts: np.ndarray,
    seats: int,
    quantities: int,
    order: np.ndarray,
    tail: np.ndarray,
    hands: np.ndarray,
    hand_chances: np.ndarray,
    first_hand: np.ndarray,
    model: np.ndarray,
    scratch: np.ndarray,
    probs: np.ndarray,
) -> None:
    """Write the distribution over actions for every row."""
    pmf = np.empty((MAX_SEATS, MAX_FACES, MAX_STARTING_DICE + 1))
    total = np.empty(_TOTALS)
    values = np.empty(masks.shape[1])
    for i in range(observations.shape[0]):
        seen = scratch[0]
        read(observations[i], starts, seats, quantities, order, seen)
        believe(tail, hands, hand_chances, first_hand, seen, model, pmf)
        worth = 1.0 / max(1, seen["num_alive"] - 1)
        values[:] = 0.0
        if seen["num_bids"] > 0:
            value_calls(seen, pmf, worth, total, values)
        if not seen["in_window"]:
            for face in range(1, seen["num_faces"] + 1):
                value_raises(tail, seen, masks[i], face, pmf, model, worth, total, values)
        mix(values, masks[i], model, probs[i])
