"""The kernels of a batch: the only loops over state records, and the arrays they fill."""

from __future__ import annotations

import numpy as np

from perudo_env.engine.bid_tables import LegalBids, count_legal, nth_action, read_mask
from perudo_env.engine.draw import choose, rank_of_draw
from perudo_env.engine.jit import kernel
from perudo_env.engine.observation import encode
from perudo_env.engine.rng import below, mix, next_seed
from perudo_env.engine.rounds import apply, final_return, start_game
from perudo_env.engine.rules import Reason, why_illegal
from perudo_env.engine.state import Phase


@kernel
def start_rows(states: np.ndarray, rows: np.ndarray, seeds: np.ndarray, dice: np.ndarray) -> None:
    """Begin a new game in each of ``rows``, with its row of ``dice``."""
    for k in range(rows.size):
        start_game(states[rows[k]], seeds[k], dice[k])


@kernel
def following_seeds(states: np.ndarray, rows: np.ndarray, seeds: np.ndarray) -> None:
    """Write the seed that follows that of each of ``rows``."""
    for k in range(rows.size):
        seeds[k] = next_seed(states[rows[k]]["seed"])


@kernel
def masks_rows(states: np.ndarray, rows: np.ndarray, legal: LegalBids, masks: np.ndarray) -> None:
    """Write the mask of the seat to act in each of ``rows``."""
    tables, counts = legal.masks, legal.counts
    for k in range(rows.size):
        read_mask(states[rows[k]], tables, counts, masks[k])


@kernel
def draw_rows(states: np.ndarray, rows: np.ndarray, legal: LegalBids, draws: np.ndarray, actions: np.ndarray) -> None:
    """Write a legal action of each of ``rows``, all equally likely; 0 where the game is over."""
    ids, counts = legal.ids, legal.counts
    for k in range(rows.size):
        s = states[rows[k]]
        count = count_legal(s, counts)
        actions[k] = nth_action(s, ids, rank_of_draw(draws[k], count)) if count > 0 else 0


@kernel
def weighed_rows(
    states: np.ndarray,
    rows: np.ndarray,
    legal: LegalBids,
    probs: np.ndarray,
    draws: np.ndarray,
    mask: np.ndarray,
    weights: np.ndarray,
    actions: np.ndarray,
) -> int:
    """Write an action of each of ``rows`` in proportion to its float64 ``probs`` among the legal; 0 where the game is over.

    Returns the place in ``rows`` of the first whose legal actions are not numbers from 0 with one above, or -1. ``mask``
    and ``weights`` ``(num_actions,)`` are scratch.
    """
    for k in range(rows.size):
        actions[k] = 0
        if read_mask(states[rows[k]], legal.masks, legal.counts, mask) == 0:
            continue
        total, least = 0.0, 0.0
        for action in range(mask.size):
            weights[action] = probs[k, action] if mask[action] else 0.0
            total += weights[action]
            least = min(least, weights[action])
        if not (least >= 0.0 and 0.0 < total < np.inf):
            return k
        actions[k] = choose(weights, draws[k])
    return -1


@kernel
def observe_rows(
    states: np.ndarray,
    rows: np.ndarray,
    viewers: np.ndarray,
    switches: np.ndarray,
    seats: int,
    quantities: int,
    out: np.ndarray,
) -> None:
    """Write what the viewer of each of ``rows`` sees; zeros where there is none (negative)."""
    for k in range(rows.size):
        if viewers[k] < 0:
            out[k] = 0
        else:
            encode(states[rows[k]], viewers[k], switches, seats, quantities, out[k])


@kernel
def act_rows(states: np.ndarray, rows: np.ndarray, actions: np.ndarray, round_ended: np.ndarray) -> int:
    """Play an action in each of ``rows`` that is not over; an illegal one stops all, before any change.

    Returns the place in ``rows`` of the first illegal action, or -1.
    """
    for k in range(rows.size):
        s = states[rows[k]]
        if s["phase"] != Phase.OVER and why_illegal(s, actions[k]) != Reason.LEGAL:
            return k
    for k in range(rows.size):
        s = states[rows[k]]
        round_ended[k] = s["phase"] != Phase.OVER and apply(s, actions[k])
    return -1


@kernel
def returns_rows(states: np.ndarray, scheme: int, out: np.ndarray) -> None:
    """Write what each seat of each row is paid."""
    for i in range(states.size):
        for seat in range(states[i]["num_seats"]):
            out[i, seat] = final_return(states[i], seat, scheme)


@kernel
def play_rows(
    states: np.ndarray,
    steps: int,
    word: np.uint64,
    dice: np.ndarray,
    legal: LegalBids,
    masks: np.ndarray,
    switches: np.ndarray,
    seats: int,
    quantities: int,
    observations: np.ndarray,
) -> np.uint64:
    """Uniform legal play in every row for ``steps`` decisions, new games following on finished ones.

    Masks, and observations where the array has columns, are written at each decision as a learner would read them.
    """
    # out of the tuple once: taking an array costs a count of references
    tables, ids, counts = legal.masks, legal.ids, legal.counts
    for _ in range(steps):
        for i in range(states.size):
            if states[i]["phase"] == Phase.OVER:
                start_game(states[i], next_seed(states[i]["seed"]), dice)
            count = read_mask(states[i], tables, counts, masks[i])
            if observations.shape[1] > 0:
                encode(states[i], states[i]["seat"], switches, seats, quantities, observations[i])
            word = mix(word + np.uint64(1))
            apply(states[i], nth_action(states[i], ids, below(word, count)))
    return word
