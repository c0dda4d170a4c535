"""A tournament as a whole: its tables with their games, all games rated together, and every agent over all tables it sat at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from train.core.measured import Estimate
from train.core.rollout import Played
from train.evaluate.statistics import mean_of, ratio_estimate
from train.evaluate.tournament.ratings import Ratings, rate
from train.evaluate.tournament.results import Cell, ResultsFile, Work
from train.evaluate.tournament.standings import Result, per_deal, summarise


@dataclass(frozen=True)
class PlayedCell:
    """A cell with its games."""

    cell: Cell
    played: Played
    work: Work

    @cached_property
    def result(self) -> Result:
        """Its standings and pairs."""
        return summarise(self.cell.agents, self.played)

    def relative(self, agent: str) -> Estimate:
        """An agent's win share over the fair share: 1 is average."""
        sat = self.played.lineups == self.cell.agents.index(agent)
        n = self.cell.seats
        wins, seats = per_deal((self.played.wins * sat).sum(axis=1), n), per_deal(sat.sum(axis=1), n)
        return ratio_estimate(n * wins, seats, bounds=(0, n))


@dataclass(frozen=True)
class Overall:
    """An agent over all cells it sat in."""

    agent: str
    cells: int
    relative: Estimate  # mean over the cells of win share over fair share
    points: Estimate | None  # of the ratings of all games together


def judge(results: ResultsFile) -> list[PlayedCell]:
    """The cells that have games."""
    found = ((cell, results.played(i), results.work(i)) for i, cell in results.cells.items())
    return [PlayedCell(cell, played, work) for cell, played, work in found if played is not None]


def ratings(judged: Sequence[PlayedCell]) -> Ratings | str:
    """All games rated together, the last agent at 0; or why they cannot be."""
    agents = list(dict.fromkeys(a for j in judged for a in j.cell.agents))
    numbered = []
    for j in judged:
        numbers = np.array([agents.index(a) for a in j.cell.agents])
        numbered.append(
            Played(numbers[j.played.lineups], j.played.places, j.played.returns, j.played.rounds, j.played.decisions)
        )
    try:
        return rate(agents, numbered, agents[-1] if agents else None, resamples=100)
    except ValueError as error:
        return str(error)


def overall(judged: Sequence[PlayedCell], rated: Ratings | str) -> list[Overall]:
    """Every agent over its cells, best first; cells weigh alike and are independent samples."""
    points = {} if isinstance(rated, str) else dict(zip(rated.agents, rated.points, strict=True))
    rows = []
    for agent in dict.fromkeys(a for j in judged for a in j.cell.agents):
        shares = [j.relative(agent) for j in judged if agent in j.cell.agents]
        shares = [s for s in shares if not np.isnan(s.value)]
        if not shares:
            continue
        rows.append(Overall(agent, len(shares), mean_of(shares), points.get(agent)))
    return sorted(rows, key=lambda row: -row.relative.value)
