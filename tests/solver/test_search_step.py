"""One exact step of search: against brute force on single games, at its ends, and what it does to a shipped agent."""

from __future__ import annotations

import numpy as np
import pytest

import agents
import perudo_env as pe
from agents.tabular.public_tree import PublicTree, descend
from perudo_env.engine.actions import bid_id
from perudo_env.engine.hands import hand_weights, hands
from tests.agents.test_search import faces_of, share
from tests.evaluate.test_exploitability import HandPolicy
from train.__main__ import main as command
from train.evaluate.exploitability import nash_conv
from train.solver.exact.search_step import search_step
from train.solver.exact.tabulate import tabulate

POLICY = HandPolicy()
TINY = pe.variant("classic", starting_dice=2, num_faces=2)
BIDS = [int(bid_id(*bid)) for bid in ((1, 2), (2, 2), (1, 1))]


def probs_of(game: pe.Game) -> np.ndarray:
    return POLICY.probs(game.observation(game.seat)[None], game.action_mask()[None])[0]


def worth(game: pe.Game, seat: int) -> float:
    """What the first round of a game comes to for a seat, in lost dice of its own, the policy in both seats."""
    if game.round == 1 and not game.is_over:
        probs = probs_of(game)
        return sum(probs[a] * worth(after(game, int(a)), seat) for a in np.flatnonzero(probs))
    before, lost = (2, 1), [2, 1]
    lost[seat] -= 1
    now, then, worst = (share(tuple(dice), seat) for dice in (game.dice, before, lost))
    return (now - then) / (then - worst)


def after(game: pe.Game, action: int) -> pe.Game:
    copy = game.copy()
    copy.act(action)
    return copy


@pytest.mark.parametrize("v", [TINY, pe.variant(TINY, calza="on_turn")])
@pytest.mark.parametrize("num_bids", [0, 1, 2, 3])
def test_probabilities_are_tilted_by_values_that_brute_force_finds(v: pe.Variant, num_bids: int) -> None:
    tree, bids, temperature = PublicTree(v, (2, 1)), BIDS[:num_bids], 0.3
    seat, tables = num_bids % 2, tabulate(POLICY, tree)
    stepped = search_step(tree, tables, temperature)[seat]
    mine, theirs = (hands(dice, 2) for dice in (tree.dice[seat], tree.dice[1 - seat]))
    at, row, _ = descend(tree.graph, np.array([*bids, 0]), num_bids)
    raises = tree.graph.raises[tree.graph.first[at] : tree.graph.first[at + 1]]
    actions = [int(pe.DUDO), int(pe.CALZA)][: tree.graph.calls[at]] + tree.graph.action[raises].tolist()
    assert len(actions) > 1
    block = stepped[row * len(mine) :][: len(actions) * len(mine)].reshape(len(actions), len(mine))
    for h, own in enumerate(mine):
        belief, values = np.zeros(len(theirs)), np.zeros((len(theirs), len(actions)))
        for k, other in enumerate(theirs):
            dealt = [faces_of(own), faces_of(other)] if seat == 0 else [faces_of(other), faces_of(own)]
            game, belief[k] = pe.Game.from_hands(v, dealt, total_at_start=3), hand_weights(tree.dice[1 - seat], 2)[k]
            for bid in bids:
                belief[k] *= probs_of(game)[bid] if game.seat != seat else 1
                game.act(bid)
            values[k] = [worth(after(game, a), seat) for a in actions]
        expected = probs_of(game)[actions] * np.exp(belief @ values / belief.sum() / temperature)
        assert block[:, h] / block[:, h].sum() == pytest.approx(expected / expected.sum(), abs=1e-9)


def test_a_hot_step_changes_nothing_and_a_cold_one_takes_the_best_action() -> None:
    base = nash_conv(POLICY, TINY, (2, 1))
    assert nash_conv(POLICY, TINY, (2, 1), step=1e9).nash_conv == pytest.approx(base.nash_conv, abs=1e-6)
    tree = PublicTree(TINY, (2, 1))
    cold = search_step(tree, tabulate(POLICY, tree), 0.01)
    assert all(np.isfinite(table).all() and (table >= 0).all() for table in cold)
    assert abs(nash_conv(POLICY, TINY, (2, 1), step=0.01).nash_conv - base.nash_conv) > 0.05


def test_the_shipped_temperature_does_no_harm_where_a_tenth_of_it_does() -> None:
    table = agents.make("table", "classic", 2)
    base, shipped, cold = (nash_conv(table, "classic", (1, 1), step=t).nash_conv for t in (None, 0.5, 0.05))
    assert (base, shipped, cold) == pytest.approx((0.638, 0.591, 1.075), abs=5e-4)


def test_the_command_says_what_was_judged_and_refuses_what_it_cannot(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "exploitability",
        "--agent",
        "uniform",
        "--variant",
        "classic:starting_dice=2,num_faces=2",
        "--dice",
        "1",
        "1",
    ]
    assert command([*words, "--step", "0.5"]) == 0
    out = capsys.readouterr().out
    assert "uniform after a step of search at 0.5 under" in out
    stepped = nash_conv(pe.UniformPolicy(), TINY, (1, 1), step=0.5)
    assert f"NashConv {stepped.nash_conv:.6f}" in out
    for more, why in (
        (["--step", "0"], "temperature = 0.0: give a finite number from 0.01"),
        (["--step", "0.5", "--match"], "--step with --match or --reach"),
        (["--step", "0.5", "--reach", "0.1"], "--step with --match or --reach"),
    ):  # fmt: skip
        assert command([*words, *more]) == 2
        assert why in capsys.readouterr().err
