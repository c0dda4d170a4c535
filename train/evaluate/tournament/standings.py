"""Standings that finished games give: win shares, mean places and pairs, with the rotations of a deal as one sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perudo_env.engine.variant import Variant
from perudo_env.policy import Policy
from train.core.measured import Estimate
from train.core.rollout import Played, SeatArray, play
from train.evaluate.statistics import ratio_estimate, share_estimate
from train.evaluate.tournament.lineups import deals_for, games_of, one_seat


@dataclass(frozen=True)
class Standing:
    """How one agent did; shares are per seat it held, so an agent that sat twice at a table counts twice."""

    agent: str
    seats: int  # seats held, over all games
    win_share: Estimate  # fair is 1 / num_seats
    mean_place: Estimate  # 1 is the winner


@dataclass(frozen=True)
class Result:
    """What a tournament measured."""

    agents: tuple[str, ...]
    num_seats: int
    num_games: int
    num_deals: int
    decisions: int
    standings: tuple[Standing, ...]  # in the order of ``agents``
    pairs: dict[tuple[int, int], Estimate]  # (a, b): how often a is placed before b where both sit; ties count half

    @property
    def fair_share(self) -> float:
        """The win share of equals."""
        return 1 / self.num_seats


def distinct(names: Iterable[str]) -> list[str]:
    """Names to show, shortened to the last part of a path; a repeated one is numbered: odds, odds#2."""
    seen: dict[str, int] = {}
    shown = []
    for name in names:
        short = Path(name).name or name
        seen[short] = seen.get(short, 0) + 1
        shown.append(short if seen[short] == 1 else f"{short}#{seen[short]}")
    return shown


def play_deals(
    policies: Sequence[Policy],
    lineups: SeatArray,
    variant: Variant,
    seed: int,
    on_progress: Callable[[int], Any] | None = None,
) -> Played:
    """Play every rotation of each line-up, ``(num_deals, num_seats)``, all rotations of a deal on the same dice."""
    seats, seeds = games_of(lineups, seed)
    return play(policies, seats, variant, seeds, seed=seed, on_progress=on_progress)


def per_deal(values: npt.NDArray[Any], num_seats: int) -> npt.NDArray[np.float64]:
    """The sum over the rotations of each deal: ``(num_games,)`` to ``(num_deals,)``."""
    return np.asarray(values, float).reshape(-1, num_seats).sum(axis=1)


def standing_of(number: int, agent: str, played: Played) -> Standing:
    """Win share and mean place of agent ``number``, the rotations of a deal taken as one sample."""
    num_seats = played.lineups.shape[1]
    sat = played.lineups == number
    seats = per_deal(sat.sum(axis=1), num_seats)
    wins = per_deal((played.wins * sat).sum(axis=1), num_seats)
    places = per_deal((played.places * sat).sum(axis=1), num_seats)
    mean_place = ratio_estimate(places, seats, bounds=(1, num_seats))
    return Standing(agent, int(sat.sum()), share_estimate(wins, seats), mean_place)


def pair_of(a: int, b: int, played: Played) -> Estimate:
    """How often agent ``a`` is placed before agent ``b``, over all pairs of their seats at one table; ties count half."""
    num_seats = played.lineups.shape[1]
    both = (played.lineups == a)[:, :, None] & (played.lineups == b)[:, None, :]
    mine, theirs = played.places[:, :, None], played.places[:, None, :]
    before = (mine < theirs) + 0.5 * (mine == theirs)
    return share_estimate(
        per_deal((before * both).sum(axis=(1, 2)), num_seats), per_deal(both.sum(axis=(1, 2)), num_seats)
    )


def summarise(agents: Sequence[str], played: Played) -> Result:
    """The standings and the matrix of pairs of games played by :func:`play_deals`."""
    num_games, num_seats = played.lineups.shape
    numbers = range(len(agents))
    return Result(
        tuple(agents), num_seats, num_games, num_games // num_seats, played.decisions,
        tuple(standing_of(i, agents[i], played) for i in numbers),
        {(a, b): pair_of(a, b, played) for a in numbers for b in numbers if a != b},
    )  # fmt: skip


def share_against(
    policy: Policy,
    rest: Policy,
    variant: Variant,
    num_seats: int,
    num_games: int,
    seed: int,
    on_progress: Callable[[int], Any] | None = None,
) -> Estimate:
    """The win share of one seat of ``policy`` against ``rest`` in all others, duplicate dice; fair is 1/n."""
    lineups = one_seat(deals_for(num_games, num_seats), num_seats)
    return standing_of(0, "", play_deals([policy, rest], lineups, variant, seed, on_progress)).win_share


def one_against_rest(
    policies: Sequence[Policy],
    variant: Variant,
    num_seats: int,
    num_games: int,
    seed: int,
    on_progress: Callable[[int], Any] | None = None,
) -> dict[tuple[int, int], Estimate]:
    """(a, b): the win share of one seat of agent a against agent b in all others, ``num_games`` games each; fair is 1/n."""
    return {
        (a, b): share_against(policies[a], policies[b], variant, num_seats, num_games, seed, on_progress)
        for a in range(len(policies))
        for b in range(len(policies))
        if a != b
    }
