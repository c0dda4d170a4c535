"""Ratings from the places of finished games: Bradley-Terry for two seats, Plackett-Luce for more, by maximum likelihood.

Agent i has a strength p_i. The first place of a table goes to i with the chance p_i over the sum of all strengths there,
the second place likewise among the others, and so on (Plackett 1975, Luce 1959; with two seats Bradley and Terry 1952).
Likelihood, the condition for a finite maximum and the MM step: Hunter, "MM algorithms for generalized Bradley-Terry
models", Annals of Statistics 32 (2004).
Where seats share places, all their orders count alike: a game that two share is half a win for each.

Points are Elo-like, 400 log10(p_i / p_anchor): 400 points more are ten times the strength. The intervals are percentiles
of a bootstrap that draws duplicate groups, all games on one deal of dice, together.

A record without exceptions, n deals that all went one way, tells that the chance p of the other way is small, not that
it is 0: p = 1 - u^(1/n) explains it with a chance of u. The resamples share all u evenly, so for two agents the finite end is
Clopper and Pearson's (Biometrika 26, 1934), and the rating itself has u = 1/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from train.core.measured import Estimate
from train.core.rollout import Played

FloatArray = npt.NDArray[np.float64]
POINTS_PER_DECADE = 400.0
STEADY = 1e-3  # points: a rating whose resamples differ by less shows no variance
TOLERANCE, MOST_STEPS = 1e-7, 1000  # of log-strengths


@dataclass(frozen=True)
class Ratings:
    """Points of each agent, with 95% intervals, relative to one of them."""

    agents: tuple[str, ...]
    points: tuple[Estimate, ...]  # in the order of ``agents``; 0 for the anchor
    anchor: str
    model: str  # Bradley-Terry or Plackett-Luce
    num_games: int
    num_groups: int  # of games on one deal, which the bootstrap draws
    resamples: int
    note: str  # what must be said of these numbers; empty if nothing


@dataclass(frozen=True)
class Evidence:
    """What the likelihood needs of games, per duplicate group: who was chosen out of which sets."""

    sets: FloatArray  # (num_sets, num_agents): how many seats each agent has in a set; at least two agents
    asked: FloatArray  # (num_groups, num_sets): how often one was chosen out of that set
    chosen: FloatArray  # (num_groups, num_agents): how often each agent was
    before: FloatArray  # (num_groups, num_agents, num_agents): how often one was placed before another; a shared place is half
    num_games: int
    most_seats: int


def rate(
    agents: Sequence[str], played: Sequence[Played], anchor: str | None = None, *, resamples: int = 400, seed: int = 0
) -> Ratings:
    """Rate ``agents`` on games of ``play_deals``, whose line-ups hold their numbers; tables of all sizes together.

    The anchor is by default the first agent. If somebody won or lost everything against the rest, no finite strengths
    are likeliest: then some deals are added that went the other way (see the module), the end that no game bounds is
    infinite, and the note says so. Raises ``ValueError`` for agents that no chain of games connects, for their difference is arbitrary.
    """
    names = tuple(agents)
    if len(names) < 2 or not played:
        raise ValueError(
            f"ratings of {len(names)} agents on {len(played)} tournaments: give at least two agents, and games"
        )
    anchor = names[0] if anchor is None else anchor
    if anchor not in names:
        raise ValueError(f"anchor {anchor!r} is not among the agents: use one of {', '.join(names)}")
    seen = evidence(played, len(names))
    met = reaches((seen.before.sum(axis=0) + seen.before.sum(axis=0).T) > 0)
    _refuse_strangers(names, met)
    return _rated(names, names.index(anchor), seen, resamples, np.random.default_rng(seed))


def _rated(names: tuple[str, ...], anchor: int, seen: Evidence, resamples: int, rng: np.random.Generator) -> Ratings:
    """The ratings of agents that chains of games connect."""
    groups = len(seen.chosen)
    drawn = rng.multinomial(groups, np.full(groups, 1 / groups), resamples).astype(float)
    weights = np.concatenate([np.ones((1, groups)), drawn])
    before = np.tensordot(weights, seen.before, 1)
    clean = np.array([not reaches(b > 0).all() for b in before])
    # for the ratings themselves the middle of what is possible, for their ends all of it
    chance = np.concatenate([[0.5], rng.permutation(np.arange(resamples) + 0.5) / max(resamples, 1)])
    contrary = np.swapaxes(before[:1], 1, 2) * _odds(seen, chance) * clean[:, None, None]
    points = _points(seen, weights, contrary, anchor)
    low, high = np.quantile(points[1:], [0.025, 0.975], axis=0) if resamples else np.full((2, len(names)), np.nan)
    steady = np.flatnonzero((high - low < STEADY) & (np.arange(len(names)) != anchor))
    for i in steady.tolist():
        low[i], high[i] = _ends_of_steady(seen, i, anchor)
    chains = reaches(before[0] > 0)
    ends = np.where(chains[:, anchor], low, -np.inf), np.where(chains[anchor], high, np.inf)
    return Ratings(
        names, tuple(Estimate(*map(float, p)) for p in zip(points[0], *ends, strict=True)), names[anchor],
        "Bradley-Terry" if seen.most_seats == 2 else "Plackett-Luce", seen.num_games, groups, resamples,
        _note(names, before[0], clean, [names[i] for i in steady]),
    )  # fmt: skip


def _odds(seen: Evidence, chance: FloatArray) -> FloatArray:
    """The odds of deals that went the other way, ``(batch, num_agents, num_agents)``: if they had these, the deals of a
    pair, those of whoever played fewer, would all have gone as they did with ``chance`` ``(batch,)``.
    """
    sat = (seen.before + np.swapaxes(seen.before, 1, 2)).any(axis=2).sum(axis=0)
    return np.asarray(chance[:, None, None] ** (-1 / np.minimum.outer(sat, sat)) - 1)


def _ends_of_steady(seen: Evidence, agent: int, anchor: int) -> FloatArray:
    """The ends of an agent that no resample moves: as many deals lost to all it met, and won, as are unlikely to be missed."""
    before = seen.before.sum(axis=0)
    contrary = np.zeros((2, *before.shape))
    contrary[0, :, agent] = contrary[1, agent] = (before + before.T)[agent]
    contrary *= _odds(seen, np.full(2, 0.025))
    return _points(seen, np.ones((2, len(seen.chosen))), contrary, anchor)[:, agent]


def _points(seen: Evidence, weights: FloatArray, contrary: FloatArray, anchor: int) -> FloatArray:
    """Points ``(batch, num_agents)`` on groups of ``weights`` ``(batch, num_groups)`` and on more pairs, of which agent a is
    placed before b ``contrary[:, a, b]`` times.
    """
    a, b = np.triu_indices(contrary.shape[1], 1)
    pairs = np.eye(contrary.shape[1])[a] + np.eye(contrary.shape[1])[b]
    sets = np.concatenate([seen.sets, pairs])
    asked = np.concatenate([weights @ seen.asked, contrary[:, a, b] + contrary[:, b, a]], axis=1)
    strengths = fit(sets, asked, weights @ seen.chosen + contrary.sum(axis=2))
    return np.asarray(POINTS_PER_DECADE * np.log10(strengths / strengths[:, [anchor]]))


def _note(names: Sequence[str], before: FloatArray, clean: npt.NDArray[np.bool_], steady: Sequence[str]) -> str:
    said = []
    if clean[0]:
        always = [n for i, n in enumerate(names) if before[:, i].sum() == 0]
        never = [n for i, n in enumerate(names) if before[i].sum() == 0]
        why = "; ".join(
            [f"{n} was never placed behind another" for n in always]
            + [f"{n} was never placed before another" for n in never]
        )
        said.append(
            f"No finite strengths are likeliest ({why or 'some agents were always placed before all others'}): regularised, as if so many "
            "deals more had gone the other way that a record without them is as likely as not. An end that no game bounds is open (inf)."
        )
    elif clean.any():
        said.append(
            f"In {int(clean.sum())} of {len(clean) - 1} resamples no finite strengths were likeliest; those were regularised."
        )
    if steady:
        said.append(f"All deals of {', '.join(steady)} went alike: the interval is what so many deals may have missed.")
    return " ".join(said)


def evidence(played: Sequence[Played], num_agents: int) -> Evidence:
    """What games say of ``num_agents`` agents; each run of as many games as seats is a duplicate group."""
    numbers: dict[tuple[int, ...], int] = {}
    parts = [_group_sums(games, num_agents, numbers) for games in played]
    sets = np.array(list(numbers), float).reshape(-1, num_agents)
    asked = np.concatenate([np.pad(a, ((0, 0), (0, len(sets) - a.shape[1]))) for a, _, _ in parts])
    return Evidence(
        sets, asked, np.concatenate([c for _, c, _ in parts]), np.concatenate([b for _, _, b in parts]),
        sum(len(games.places) for games in played), max(games.places.shape[1] for games in played),
    )  # fmt: skip


def _group_sums(
    played: Played, num_agents: int, numbers: dict[tuple[int, ...], int]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The last three arrays of the evidence of one tournament, with new sets numbered in ``numbers``."""
    games, seats = played.lineups.shape
    if games % seats:
        raise ValueError(f"{games} games are not whole duplicate groups of {seats}: rate what play_deals played")
    order = np.lexsort((played.lineups, played.places))
    rows = np.concatenate([np.take_along_axis(a, order, 1) for a in (played.lineups, played.places)], axis=1)
    patterns, kinds = np.unique(rows, axis=0, return_inverse=True)
    stages = [_stages(tuple(p[:seats].tolist()), tuple(p[seats:].tolist()), num_agents) for p in patterns]
    for found, _, _ in stages:
        for members in found:
            numbers.setdefault(members, len(numbers))
    asked = np.zeros((len(patterns), len(numbers)))
    for k, (found, _, _) in enumerate(stages):
        for members, weight in found.items():
            asked[k, numbers[members]] += weight
    counts = np.zeros((games // seats, len(patterns)))
    np.add.at(counts, (np.arange(games) // seats, kinds.reshape(-1)), 1)
    chosen, before = (np.array([s[part] for s in stages]) for part in (1, 2))
    return counts @ asked, counts @ chosen, np.tensordot(counts, before, 1)


def _stages(
    ranked: tuple[int, ...], places: tuple[int, ...], num_agents: int
) -> tuple[dict[tuple[int, ...], float], FloatArray, FloatArray]:
    """The choices of one game, its agents by place: sets with weights, how often each agent was chosen, who was before whom."""
    asked: dict[tuple[int, ...], float] = {}
    chosen, before = np.zeros(num_agents), np.zeros((num_agents, num_agents))
    for at in sorted({places.index(p) for p in places}):
        tied = [a for a, p in zip(ranked, places, strict=True) if p == places[at]]
        behind = list(ranked[at + len(tied) :])
        for a in tied:
            np.add.at(before[a], behind, 1.0)
            np.add.at(before[a], tied, 0.5)
        # over all orders of those who share a place, each part of them is left to choose from equally often
        for size in range(1, len(tied) + 1):
            for part in combinations(tied, size):
                left = np.bincount(behind + list(part), minlength=num_agents)
                if (left > 0).sum() > 1:
                    weight = 1 / comb(len(tied), size)
                    members = tuple(left.tolist())
                    asked[members] = asked.get(members, 0.0) + weight
                    np.add.at(chosen, list(part), weight / size)
    np.fill_diagonal(before, 0)
    return asked, chosen, before


def fit(sets: FloatArray, asked: FloatArray, chosen: FloatArray) -> FloatArray:
    """The likeliest strengths of each of ``batch`` samples, ``(batch, num_agents)``.

    ``asked`` ``(batch, num_sets)`` and ``chosen`` ``(batch, num_agents)`` are sums over games. Newton's steps, and where one
    does not raise the likelihood Hunter's MM step, which always does. Raises ``ValueError`` if there is no limit.
    """
    theta = np.zeros_like(chosen)
    before = _log_likelihood(theta, sets, asked, chosen)
    for _ in range(MOST_STEPS):
        new = _newton(theta, sets, asked, chosen)
        after = _log_likelihood(new, sets, asked, chosen)
        worse = after < before
        if worse.any():
            new[worse] = _hunter(theta[worse], sets, asked[worse], chosen[worse])
            after = _log_likelihood(new, sets, asked, chosen)
        change = np.abs(new - theta).max()
        theta, before = new, after
        if change < TOLERANCE:
            return np.exp(theta)
    raise ValueError(
        f"strengths still change by a factor of {np.exp(change):g} after {MOST_STEPS} steps: some agent hardly ever wins or loses"
    )


def _log_likelihood(theta: FloatArray, sets: FloatArray, asked: FloatArray, chosen: FloatArray) -> FloatArray:
    return np.asarray((chosen * theta).sum(axis=1) - (asked * np.log(np.exp(theta) @ sets.T)).sum(axis=1))


def _newton(theta: FloatArray, sets: FloatArray, asked: FloatArray, chosen: FloatArray) -> FloatArray:
    p = np.exp(theta)
    share = sets * p[:, None, :] / (p @ sets.T)[:, :, None]  # of each set's agents in being chosen
    expected = (asked[:, :, None] * share).sum(axis=1)
    curvature = -np.swapaxes(share * asked[:, :, None], 1, 2) @ share
    diagonal = np.arange(theta.shape[1])
    curvature[:, diagonal, diagonal] += expected
    curvature += 1 / theta.shape[1]  # only ratios matter: the common factor stays as it is
    step = np.linalg.solve(curvature, (chosen - expected)[:, :, None])[:, :, 0]
    return theta + np.clip(step, -2, 2)


def _hunter(theta: FloatArray, sets: FloatArray, asked: FloatArray, chosen: FloatArray) -> FloatArray:
    return np.log(chosen / ((asked / (np.exp(theta) @ sets.T)) @ sets))


def reaches(beats: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Who is before whom along some chain, everybody before themselves.

    The maximum is finite if, and only if, everybody is before everybody else (Hunter, 2004).
    """
    reach = beats | np.eye(len(beats), dtype=bool)
    for _ in range(len(beats).bit_length()):
        reach = reach @ reach
    return reach


def _refuse_strangers(names: Sequence[str], met: npt.NDArray[np.bool_]) -> None:
    if not met.all():
        mine = [n for n, known in zip(names, met[0], strict=True) if known]
        others = [n for n, known in zip(names, met[0], strict=True) if not known]
        raise ValueError(
            f"no chain of games connects {', '.join(mine)} with {', '.join(others)}: let them play each other"
        )
