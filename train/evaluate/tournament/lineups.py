"""Line-ups of a tournament: who sits where, and the games of a deal, one per rotation of its line-up on the same dice."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from train.core.rollout import SeatArray, rotations


def seat_sets(num_agents: int, num_seats: int) -> SeatArray:
    """The sets of agents that sit together, ``(num_sets, num_seats)``: every way to share the seats as evenly as can be.

    With more agents than seats each sits at most once, else all sit equally often and every choice of agents takes
    the seats left over: 3 agents at 2 seats give 01, 02, 12; 2 agents at 3 seats give 010 and 011, up to order.
    """
    everyone, left = divmod(num_seats, num_agents)
    common = tuple(range(num_agents)) * everyone
    return np.array([common + extra for extra in combinations(range(num_agents), left)], np.int64)


def draw_lineups(num_agents: int, num_seats: int, num_deals: int, seed: int) -> SeatArray:
    """One line-up per deal, ``(num_deals, num_seats)``: the seat sets in turn, each in a random order around the table."""
    rng = np.random.default_rng([seed, num_agents, num_seats])
    sets = seat_sets(num_agents, num_seats)
    sets = sets[rng.permutation(len(sets))]
    return rng.permuted(sets[np.arange(num_deals) % len(sets)], axis=1)


def deals_for(num_games: int, num_seats: int) -> int:
    """How many deals ``num_games`` games make, when every deal is played once per rotation; rounded up."""
    return -(-num_games // num_seats)


def games_of(lineups: SeatArray, seed: int) -> tuple[SeatArray, npt.NDArray[np.uint64]]:
    """The games of deals: every rotation of each line-up, and a seed per game, the same for all rotations of a deal.

    More deals of the same seed begin with the same games.
    """
    num_deals, num_seats = lineups.shape
    deal_seeds = np.random.default_rng(seed).integers(0, 2**63, num_deals).astype(np.uint64)
    return rotations(lineups), np.repeat(deal_seeds, num_seats)


def one_seat(num_deals: int, num_seats: int) -> SeatArray:
    """Line-ups of agent 0 in one seat and agent 1 in all others, ``(num_deals, num_seats)``."""
    lineups = np.ones((num_deals, num_seats), np.int64)
    lineups[:, 0] = 0
    return lineups
