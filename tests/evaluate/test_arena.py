"""The arena: results are credited to the right agent, are fair to equals, and come out as files."""

import csv
import json

import numpy as np
import pytest
from rich.console import Console

import agents
import perudo_env as pe
from perudo_env.engine.actions import DUDO
from perudo_env.policy import UniformPolicy
from train.__main__ import main as command
from train.core.measured import read_measured
from train.core.rollout import play, rotations
from train.evaluate.statistics import ratio_estimate
from train.evaluate.tournament.arena import Arena, measure
from train.evaluate.tournament.lineups import deals_for, draw_lineups, seat_sets
from train.evaluate.tournament.standings import distinct, one_against_rest, per_deal, play_deals, summarise


class Doubter:
    """Says Dudo whenever it may; else opens with the lowest bid."""

    def act(self, observations, masks, rng):
        return np.where(masks[:, DUDO] == 1, DUDO, masks.argmax(axis=1))

    def probs(self, observations, masks):
        return np.eye(masks.shape[1])[self.act(observations, masks, None)]


class Overbidder:
    """Makes the highest legal bid, always."""

    def act(self, observations, masks, rng):
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)

    def probs(self, observations, masks):
        return np.eye(masks.shape[1])[self.act(observations, masks, None)]


def test_equals_share_the_wins():
    """One policy in all seats: each entry's win share is 1/n within its 99% interval."""
    for num_seats in (2, 3, 5):
        entries = [UniformPolicy() for _ in range(num_seats)]
        played = play_deals(entries, draw_lineups(num_seats, num_seats, 400, 1), pe.variant("classic"), 1)
        for number in range(num_seats):
            sat = played.lineups == number
            wins = per_deal((played.wins * sat).sum(axis=1), num_seats)
            assert not ratio_estimate(wins, per_deal(sat.sum(axis=1), num_seats), 0.99).excludes(1 / num_seats)


def test_a_forced_game_is_credited_to_the_right_seat():
    """The overbidder bids 4 sixes of 2 dice, the doubter says Dudo: whoever sits where, the doubter wins."""
    variant = pe.variant("classic", starting_dice=1, max_bid="unbounded")
    lineups = np.array([[0, 1], [1, 0]] * 20)
    played = play([Doubter(), Overbidder()], lineups, variant, np.repeat(np.arange(20), 2))
    opened_by_doubter = played.lineups == 0
    # where the doubter opens with 1x2, the overbidder answers with its highest bid, and is doubted as well
    assert (played.wins == opened_by_doubter).all()
    assert (played.places == np.where(opened_by_doubter, 1, 2)).all()
    assert (played.returns == np.where(opened_by_doubter, 1, -1)).all()
    result = summarise(["doubter", "overbidder"], played)
    assert [s.win_share.value for s in result.standings] == [1, 0]
    assert [s.mean_place.value for s in result.standings] == [1, 2]
    assert (result.pairs[0, 1].value, result.pairs[1, 0].value) == (1, 0)
    rest = one_against_rest([Doubter(), Overbidder()], variant, 2, 40, 3)
    assert (rest[0, 1].value, rest[1, 0].value) == (1, 0)


def test_rotations_of_a_deal_roll_the_same_dice():
    lineups = rotations([[0, 1, 2], [2, 0, 1]])
    assert lineups.tolist() == [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 0, 1], [0, 1, 2], [1, 2, 0]]
    same = play([Doubter()] * 3, lineups, "classic", [5, 5, 5, 6, 6, 6])
    assert (same.places[:3] == same.places[0]).all(), "one policy, one deal: the same game at every rotation"
    assert (same.places[3:] == same.places[3]).all()
    assert (same.rounds[:3] == same.rounds[0]).all()


def test_equal_seeds_give_equal_games_and_others_do_not():
    def places(seed):
        return play([UniformPolicy()] * 3, np.tile([0, 1, 2], (50, 1)), "pascal", np.arange(50), seed=seed).places

    assert (places(1) == places(1)).all()
    assert (places(1) != places(2)).any()


def test_shared_places_share_the_win():
    """In one round of three, the two who lose nothing share the first place."""
    variant = pe.variant("pascal", rounds="one")
    played = play([UniformPolicy()], np.zeros((60, 3), np.int64), variant, np.arange(60))
    assert played.wins.sum(axis=1) == pytest.approx(1)
    assert 0.5 in played.wins
    assert (played.rounds == 1).all()


def test_every_agent_sits_as_often_as_it_should():
    assert seat_sets(3, 2).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert seat_sets(2, 3).tolist() == [[0, 1, 0], [0, 1, 1]]
    assert seat_sets(3, 3).tolist() == [[0, 1, 2]]
    assert seat_sets(1, 4).tolist() == [[0, 0, 0, 0]]
    for num_agents, num_seats in ((5, 3), (2, 3), (4, 6), (3, 3)):
        sets = len(seat_sets(num_agents, num_seats))
        counts = np.bincount(draw_lineups(num_agents, num_seats, 4 * sets, 0).ravel(), minlength=num_agents)
        assert (counts == counts[0]).all()
    assert (deals_for(1, 4), deals_for(8, 4), deals_for(9, 4)) == (1, 2, 3)
    assert distinct(["odds", "runs/odds", "odds", "a.b:c"]) == ["odds", "odds#2", "odds#3", "a.b:c"]


def test_the_command_writes_its_results(tmp_path, capsys):
    folder = tmp_path / "run"
    words = [
        "--agents",
        "odds",
        "uniform",
        "--variant",
        "pascal:starting_dice=2",
        "--seats",
        "3",
        "--games",
        "20",
        "--rest",
    ]
    assert command(["arena", *words, "--out", str(folder)]) == 0
    assert "win share (fair 0.333)" in capsys.readouterr().out
    found = [read_measured(row) for row in csv.DictReader((folder / "results.csv").open())]
    named = {name: [m for m in found if m.name == name] for name in dict.fromkeys(m.name for m in found)}
    assert list(named) == ["seats_held", "win_share", "mean_place", "placed_before", "win_share_of_one", "points"]
    assert {m.table for m in found} == {"pascal:starting_dice=2, 3 seats"}
    shares, seats = named["win_share"], named["seats_held"]
    assert [m.agent for m in shares] == ["odds", "uniform"]
    assert all(0 <= m.low <= m.value <= m.high <= 1 for m in shares)
    assert sum(m.value for m in seats) == 3 * 21, "20 games are 7 deals of 3 rotations"
    assert sum(a.value * b.value for a, b in zip(shares, seats, strict=True)) == pytest.approx(21, abs=1e-3)
    assert sum(m.value for m in named["placed_before"]) == pytest.approx(1, abs=1e-5)
    assert [(m.agent, m.against) for m in named["win_share_of_one"]] == [("odds", "uniform"), ("uniform", "odds")]
    assert (folder / "arena.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "arena.json").read_text())["deals"] == 7


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--agents", "oddz"], "did you mean 'odds'"),
        (["--agents", "odds", "--games", "0"], "games = 0"),
        (["--agents", "odds", "--seats", "9"], "num_seats = 9"),
        (["--agents", "odds", "--seats", "1"], "num_seats = 1"),
        (["--agents", "odds", "--variant", "classik"], "did you mean 'classic'"),
        (["--agents", "odds", "--rest"], "at least two agents"),
        (["--agents", "odds", "--seed", "-1"], "seed = -1"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(words, says, tmp_path, capsys):
    assert command(["arena", *words, "--out", str(tmp_path / "run")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_lineups_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="name policies 0 to 1, but there are 1"):
        play([UniformPolicy()], [[0, 1]], "classic", [1])
    with pytest.raises(ValueError, match="give 1 whole numbers"):
        play([UniformPolicy()], [[0, 0]], "classic", [1, 2])
    with pytest.raises(ValueError, match="lineups of shape"):
        play([UniformPolicy()], [0, 0], "classic", [1, 2])


def test_the_arena_is_reproducible(tmp_path):
    arena = Arena(("inference", "bluffer"), "box", 2, 40, seed=3, out=tmp_path)
    first, again = (measure(arena, arena.checked()[1], Console(quiet=True)) for _ in range(2))
    assert first.result == again.result


@pytest.mark.parametrize("variant", ["classic", "pascal", "box", "marquoir", "evening"])
@pytest.mark.parametrize("num_seats", [2, 3, 4])
def test_inference_beats_odds_which_beats_uniform(variant, num_seats):
    """Win shares of one seat against the rest, with 95% intervals that exclude equality; the seed is fixed."""
    policies = [agents.make(name, variant, num_seats) for name in ("inference", "odds", "uniform")]
    lineups = np.full((300, num_seats), 1)
    lineups[:, 0] = 0
    v = pe.variant(variant)
    assert (
        summarise(["inference", "odds"], play_deals(policies[:2], lineups, v, 7)).standings[0].win_share.low
        > 1 / num_seats
    )
    few = lineups[:60]
    assert (
        summarise(["odds", "uniform"], play_deals(policies[1:], few, v, 7)).standings[0].win_share.low > 1 / num_seats
    )
