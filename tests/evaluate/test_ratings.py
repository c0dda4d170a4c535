"""Ratings: closed forms, known strengths found again, what has no finite answer said plainly."""

from __future__ import annotations

import csv
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from train.__main__ import main as command
from train.core.rollout import Played
from train.evaluate.tournament.ratings import Ratings, _hunter, _log_likelihood, evidence, fit, rate, reaches


def games(lineups: object, places: object) -> Played:
    seats, ranks = np.array(lineups, np.int64), np.array(places, np.int8)
    return Played(seats, ranks, np.zeros(seats.shape), np.zeros(len(seats), np.int32), 0)


def simulated(strengths: np.ndarray, num_seats: int, num_groups: int, rng: np.random.Generator) -> Played:
    """Games by the model itself: places in the order of exponential clocks (Plackett-Luce), one line-up per group."""
    seats = np.array([rng.permutation(len(strengths))[:num_seats] for _ in range(num_groups)]).repeat(num_seats, axis=0)
    clocks = rng.exponential(1 / strengths[seats])
    return games(seats, clocks.argsort(axis=1).argsort(axis=1) + 1)


def points(ratings: Ratings) -> list[float]:
    return [p.value for p in ratings.points]


def test_two_players_have_the_odds_of_their_wins() -> None:
    """Bradley-Terry of two: p_a / p_b = wins of a / wins of b; a shared place is half a win for each."""
    won = [[1, 2]] * 30 + [[2, 1]] * 10
    found = rate(["a", "b"], [games([[0, 1]] * 40, won)], anchor="b")
    assert points(found) == pytest.approx([400 * np.log10(3), 0], abs=1e-4)
    assert found.model == "Bradley-Terry"
    assert found.points[1] == (0, 0, 0)
    shared = rate(["a", "b"], [games([[0, 1]] * 44, [*won, [1, 1], [1, 1], [1, 1], [1, 1]])], anchor="b")
    assert points(shared) == pytest.approx([400 * np.log10(32 / 12), 0], abs=1e-4)


def test_expected_wins_equal_wins_at_the_maximum() -> None:
    """The likelihood's gradient is 0: Bradley-Terry of three that met unequally often."""
    wins = np.array([[0, 7, 9], [3, 0, 5], [2, 4, 0]])
    rows = [([a, b], [1, 2]) for a in range(3) for b in range(3) for _ in range(wins[a, b])]
    p = 10 ** (np.array(points(rate("abc", [games([r[0] for r in rows], [r[1] for r in rows])], resamples=0))) / 400)
    expected = (wins + wins.T) * p[:, None] / (p[:, None] + p)
    assert (expected.sum(axis=1) - wins.sum(axis=1)) == pytest.approx(0, abs=1e-6)


def test_three_seats_follow_the_chances_of_all_orders() -> None:
    """Fed every order of three as often as Plackett-Luce says, the fit gives the strengths back."""
    p = np.array([4.0, 2.0, 1.0])
    orders = list(permutations(range(3)))
    chance = np.array([p[a] / 7 * p[b] / (7 - p[a]) for a, b, _ in orders])
    seen = evidence([games(np.repeat(orders, 3, axis=0), [[1, 2, 3]] * 18)], 3)
    strengths = fit(seen.sets, chance[None] @ seen.asked, chance[None] @ seen.chosen)[0]
    assert strengths / strengths[2] == pytest.approx(p, rel=1e-6)


def test_hunters_step_climbs_to_what_newton_finds() -> None:
    seen = evidence([simulated(np.array([1.0, 3.0, 0.5, 20.0]), 3, 300, np.random.default_rng(2))], 4)
    sample = seen.sets, seen.asked.sum(axis=0)[None], seen.chosen.sum(axis=0)[None]
    best = np.log(fit(*sample))
    theta = np.zeros((1, 4))
    likelihoods = []
    for _ in range(400):
        likelihoods.append(float(_log_likelihood(theta, *sample)[0]))
        theta = _hunter(theta, *sample)
    assert (np.diff(likelihoods) > -1e-9).all()
    assert theta - theta[:, :1] == pytest.approx(best - best[:, :1], abs=1e-6)


def test_all_orders_of_those_who_share_a_place_count_alike() -> None:
    shared = evidence([games([[0, 1, 2]] * 3, [[1, 1, 3]] * 3)], 3)
    orders = evidence([games([[0, 1, 2]] * 6, [[1, 2, 3], [2, 1, 3]] * 3)], 3)
    assert dict(zip(map(tuple, shared.sets), 2 * shared.asked.sum(axis=0), strict=True)) == dict(
        zip(map(tuple, orders.sets), orders.asked.sum(axis=0), strict=True)
    )
    assert 2 * shared.chosen.sum(axis=0) == pytest.approx(orders.chosen.sum(axis=0))
    assert 2 * shared.before.sum(axis=0) == pytest.approx(orders.before.sum(axis=0))


def test_two_seats_of_one_agent_are_twice_as_likely_chosen() -> None:
    """One seat of a against two of b, a first in 1 of 3 games and otherwise second in half: equals."""
    places = [[1, 2, 3]] * 2 + [[2, 1, 3]] * 2 + [[3, 1, 2]] * 2
    assert points(rate("ab", [games([[0, 1, 1]] * 6, places)])) == pytest.approx([0, 0], abs=1e-5)


@pytest.mark.parametrize("num_seats", [2, 4])
def test_known_strengths_are_found_within_their_intervals(num_seats: int) -> None:
    true = np.array([1.0, 2.0, 0.5, 4.0, 1.0])
    rng = np.random.default_rng(3)
    held = []
    for _ in range(30):
        found = rate("abcde", [simulated(true, num_seats, 120, rng)], resamples=200)
        held += [not p.excludes(400 * np.log10(t)) for p, t in zip(found.points[1:], true[1:], strict=True)]
    assert 0.88 < np.mean(held) <= 1
    big = rate("abcde", [simulated(true, num_seats, 3000, rng)], resamples=50)
    assert points(big) == pytest.approx(400 * np.log10(true), abs=25)


def test_a_group_of_equal_games_is_one_sample() -> None:
    rng = np.random.default_rng(0)
    lineups = np.tile([0, 1], (200, 1))
    single = rng.permuted(np.tile([1, 2], (200, 1)), axis=1)
    copied = np.repeat(single, 2, axis=0)
    apart = np.stack([single, single[rng.permutation(200)]], axis=1).reshape(-1, 2)
    together, independent = (
        rate("ab", [games(np.tile([0, 1], (400, 1)), places)]).points[1] for places in (copied, apart)
    )
    assert len(lineups) == 200
    assert together.value == pytest.approx(independent.value)
    assert (together.high - together.low) / (independent.high - independent.low) == pytest.approx(2**0.5, rel=0.25)


def test_tables_of_several_sizes_are_rated_together() -> None:
    true, rng = np.array([1.0, 3.0, 1.0]), np.random.default_rng(1)
    found = rate("abc", [simulated(true, 2, 1500, rng), simulated(true, 3, 1000, rng)], resamples=20)
    assert points(found) == pytest.approx(400 * np.log10(true), abs=25)
    assert (found.model, found.num_games, found.num_groups, found.note) == ("Plackett-Luce", 6000, 2500, "")


def test_who_won_everything_is_regularised_and_said_so() -> None:
    lineups, places = [[0, 1]] * 20 + [[1, 2]] * 20, [[1, 2]] * 20 + [[1, 2], [2, 1]] * 10
    found = rate(["a", "b", "c"], [games(lineups, places)], anchor="b")
    assert "a was never placed behind another" in found.note
    assert "regularised" in found.note
    assert "All deals of c went alike" in found.note
    assert np.isfinite(points(found)).all()
    assert found.points[0].value > 400
    assert found.points[0].low < 200
    assert found.points[0].high == np.inf
    # 20 deals lost, of two games each: 95% of what one may have missed is Clopper and Pearson's 0.168 of the wins
    lost = rate("ab", [games([[0, 1], [1, 0]] * 20, [[1, 2], [2, 1]] * 20)], resamples=4000).points[1]
    assert lost.low == -np.inf
    assert lost.high == pytest.approx(400 * np.log10(0.1684 / 0.8316), abs=10)
    assert lost.value == pytest.approx(-581, abs=1)
    rare = rate(["a", "b"], [games([[0, 1]] * 40, [[1, 2]] * 39 + [[2, 1]])])
    assert "resamples no finite strengths" in rare.note


def test_strangers_are_not_compared() -> None:
    with pytest.raises(ValueError, match="no chain of games connects a, b with c, d"):
        rate("abcd", [games([[0, 1], [0, 1], [2, 3], [2, 3]], [[1, 2], [2, 1]] * 2)])
    with pytest.raises(ValueError, match="anchor 'x'"):
        rate("ab", [games([[0, 1]] * 2, [[1, 2]] * 2)], anchor="x")
    with pytest.raises(ValueError, match="at least two agents"):
        rate("a", [games([[0, 0]] * 2, [[1, 2]] * 2)])
    with pytest.raises(ValueError, match="whole duplicate groups"):
        rate("ab", [games([[0, 1]], [[1, 2]])])
    assert not reaches(np.array([[0, 1, 1], [0, 0, 1], [0, 1, 0]], bool)).all()
    assert reaches(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], bool)).all()


def test_the_arena_rates_its_agents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "--agents",
        "threshold",
        "odds",
        "uniform",
        "--variant",
        "marquoir:starting_dice=2",
        "--seats",
        "3",
        "--games",
        "60",
    ]
    assert command(["arena", *words, "--anchor", "odds", "--out", str(tmp_path / "run")]) == 0
    shown = capsys.readouterr().out
    assert "Plackett-Luce" in shown
    assert "odds = 0" in shown
    rows = {r["agent"]: r for r in csv.DictReader((tmp_path / "run" / "results.csv").open()) if r["name"] == "points"}
    assert float(rows["odds"]["value"]) == 0
    assert float(rows["uniform"]["high"]) < 0
    assert command(["arena", *words, "--anchor", "odd", "--out", str(tmp_path / "other")]) == 2
    assert "anchor 'odd'" in capsys.readouterr().err
