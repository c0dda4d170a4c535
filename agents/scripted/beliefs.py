"""Beliefs about the other seats' dice from their bids: a Bayesian posterior per seat, exact over all its hands.

Dice are independent and bids public, so a belief about the table is one belief per seat, given that each bid depends
on its bidder's hand and on public facts alone. The model of a bidder is simple: it bids what it thinks will hold.
It counts its own matches exactly and other seats' dice as fair. A bid's likelihood, given m own matches, is ``floor``
plus the chance that the bidder sees for it, relative to its best hand, to the power ``trust``; below 1 it tempers the
belief in honest bidding. Raising rather than doubting speaks for the bid raised over in the same way, with the power
``assent``.
"""

from __future__ import annotations

import numpy as np

from agents.core.reading import Seen, chance_of_more
from perudo_env.engine.actions import PACO, face_of, quantity_of
from perudo_env.engine.jit import kernel
from perudo_env.engine.variant import MAX_FACES, MAX_SEATS, MAX_STARTING_DICE


@kernel
def weigh_bid(
    tail: np.ndarray, seen: Seen, seat: int, bid: int, floor: float, power: float, likelihood: np.ndarray
) -> None:
    """Multiply a seat's ``likelihood``, ``(faces, matches)``, by that of its standing up for ``bid``."""
    own, face, quantity = seen["dice"][seat], face_of(bid), quantity_of(bid)
    unseen = seen["num_others"] + seen["dice"][0] - own
    best = chance_of_more(tail, seen, face, unseen, quantity - own)
    if best <= 0.0:
        return
    for m in range(own + 1):
        chance = chance_of_more(tail, seen, face, unseen, quantity - m)
        likelihood[face - 1, m] *= floor + (1.0 - floor) * (chance / best) ** power


@kernel
def weigh_bids(tail: np.ndarray, seen: Seen, model: np.ndarray, likelihood: np.ndarray, spoke: np.ndarray) -> None:
    """Fill ``likelihood`` ``(seats, faces, matches)`` and ``spoke`` ``(seats,)``, who bid, from all bids of the round.

    ``model`` begins with trust, assent, floor.
    """
    trust, assent, floor = model[0], model[1], model[2]
    likelihood[:] = 1.0
    spoke[:] = False
    for i in range(seen["num_bids"]):
        seat = seen["bidders"][i]
        if seat > 0 and seen["dice"][seat] > 0:
            spoke[seat] = True
            weigh_bid(tail, seen, seat, seen["bids"][i], floor, trust, likelihood[seat])
            if i > 0:
                weigh_bid(tail, seen, seat, seen["bids"][i - 1], floor, assent, likelihood[seat])


@kernel
def match_chances(
    hands: np.ndarray,
    chances: np.ndarray,
    first: np.ndarray,
    seen: Seen,
    seat: int,
    likelihood: np.ndarray,
    pmf: np.ndarray,
) -> None:
    """Write P(the seat has m dice that match a face), ``(faces, matches)``: Bayes' rule over all its hands."""
    pmf[:] = 0.0
    dice, faces, wild = seen["dice"][seat], seen["num_faces"], seen["wild"]
    total = 0.0
    for h in range(first[dice], first[dice + 1]):
        weight = chances[faces, h]
        if weight == 0.0:
            continue
        pacos = hands[h, PACO - 1]
        weight *= likelihood[PACO - 1, pacos]
        for face in range(1, faces):
            weight *= likelihood[face, hands[h, face] + pacos * wild]
        total += weight
        pmf[PACO - 1, pacos] += weight
        for face in range(1, faces):
            pmf[face, hands[h, face] + pacos * wild] += weight
    pmf /= total


@kernel
def prior_chances(tail: np.ndarray, seen: Seen, seat: int, pmf: np.ndarray) -> None:
    """Write P(the seat has m dice that match a face), ``(faces, matches)``, for a seat that has said nothing."""
    pmf[:] = 0.0
    dice = seen["dice"][seat]
    for face in range(1, seen["num_faces"] + 1):
        for m in range(dice + 1):
            pmf[face - 1, m] = chance_of_more(tail, seen, face, dice, m) - chance_of_more(tail, seen, face, dice, m + 1)


@kernel
def add_matches(total: np.ndarray, size: int, pmf: np.ndarray, dice: int) -> None:
    """Convolve, in place, the chances ``total[0..size]`` of a sum with those of one more seat, ``pmf[0..dice]``."""
    for k in range(size + dice, -1, -1):
        chance = 0.0
        for m in range(max(0, k - size), min(dice, k) + 1):
            chance += total[k - m] * pmf[m]
        total[k] = chance


@kernel
def believe(
    tail: np.ndarray,
    hands: np.ndarray,
    chances: np.ndarray,
    first: np.ndarray,
    seen: Seen,
    model: np.ndarray,
    pmf: np.ndarray,
) -> None:
    """Write the belief about every other seat: P(it has m dice that match a face), ``pmf`` ``(seats, faces, matches)``."""
    likelihood = np.empty((MAX_SEATS, MAX_FACES, MAX_STARTING_DICE + 1))
    spoke = np.empty(MAX_SEATS, np.bool_)
    weigh_bids(tail, seen, model, likelihood, spoke)
    for seat in range(1, MAX_SEATS):
        if seen["dice"][seat] == 0:
            pmf[seat] = 0.0
        elif spoke[seat]:
            match_chances(hands, chances, first, seen, seat, likelihood[seat], pmf[seat])
        else:
            prior_chances(tail, seen, seat, pmf[seat])
