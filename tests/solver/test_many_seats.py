"""Rounds of more than two seats by recall-limited CFR: judged by an independent best response, played where they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import agents
import perudo_env as pe
from agents.tabular.policy import RoundTable, TabularPolicy
from agents.tabular.public_tree import PublicTree
from agents.tabular.suffixes import ROOT, follow, suffix_graph, suffix_sizes
from perudo_env.engine.actions import bid_id
from perudo_env.policy import Policy
from train.__main__ import main as command
from train.solver.exact.payoffs import State, pay_tables
from train.solver.recall import solver as recall
from train.solver.recall import tables
from train.solver.recall.fixed import fixed_table
from train.solver.recall.solver import RecallSolver

TINY = pe.variant("classic", num_faces=2, starting_dice=2, rounds="one", first_player="first_seat")
Dice = tuple[int, ...]


def solver(v: pe.Variant, dice: Dice, bids: int, palifico: bool = False, **options: Any) -> RecallSolver:
    tree = PublicTree(v, dice, palifico, least_chance=options.pop("least_chance", 0.0))
    return RecallSolver(tree, pay_tables(v, State(dice, 0, palifico)), bids, 1, **options)


def asked(policy: Policy, game: pe.Game) -> dict[int, float]:
    """The probability of each legal action at a position, by action id."""
    probs = policy.probs(game.observation(game.seat)[None], game.action_mask()[None])[0]
    return {int(a): float(probs[a]) for a in np.flatnonzero(game.action_mask())}


def judged(policy: Policy, v: pe.Variant, dice: Dice, seat: int, best: bool) -> float:
    """What a seat earns in the round against the policy in all others, by a best response or by the policy itself.

    Written from the game alone: all deals of the others are played through every sequence of bids by ``pe.Game``.
    """

    def value(games: list[pe.Game], weights: npt.NDArray[np.float64]) -> float:
        if games[0].is_over:
            return float(weights @ [game.returns[seat] for game in games])
        mover, mask = games[0].seat, games[0].action_mask()
        seen = np.stack([game.observation(mover) for game in games])
        chances = policy.probs(seen, np.tile(mask, (len(games), 1)))
        if best and mover == seat:
            chances = np.ones_like(chances)
        below = []
        for action in np.flatnonzero(mask):
            after = [game.copy() for game in games]
            for game in after:
                game.act(int(action))
            reach = weights * chances[:, action]
            below.append(value(after, reach) if reach.any() else 0.0)
        return max(below) if best and mover == seat else sum(below)

    faces, total = range(1, v.num_faces + 1), 0.0
    rolls = Counter(
        tuple(tuple(sorted(hand)) for hand in deal) for deal in product(*(product(faces, repeat=d) for d in dice))
    )
    for own in {deal[seat] for deal in rolls}:
        mine = [deal for deal in rolls if deal[seat] == own]
        games = [pe.Game.from_hands(v, [list(hand) for hand in deal], opener=0) for deal in mine]
        total += value(games, np.array([rolls[deal] for deal in mine]) / rolls.total())
    return total


# ---------------------------------------------------------------------------------------------- the graph


@pytest.mark.parametrize("seats", [3, 4, 6])
def test_seats_follow_one_another_and_parents_come_first(seats: int) -> None:
    tree = PublicTree(pe.variant("classic", starting_dice=1), (1,) * seats)
    for bids in (1, 2):
        graph, sizes = suffix_graph(tree.graph, bids), suffix_sizes(tree.graph, bids)
        parents = np.repeat(np.arange(len(graph.bid)), np.diff(graph.first))
        assert (graph.children > parents).all()
        assert (graph.seat[graph.children] == (graph.seat[parents] + 1) % seats).all()
        assert set(graph.children) == set(range(len(graph.bid))) - {ROOT}
        assert (sizes.rows, sizes.states) == (tuple(graph.num_rows), tuple(graph.num_states))


def test_with_enough_recall_a_suffix_is_a_sequence() -> None:
    tree = PublicTree(pe.variant(TINY, starting_dice=1), (1, 1, 1))
    graph = suffix_graph(tree.graph, 6)
    assert len(graph.bid) == tree.num_nodes
    assert tuple(graph.num_rows * tree.num_hands) == tree.num_entries
    with pytest.raises(ValueError, match="only two seats remember all bids"):
        RoundTable(tree, [np.zeros(n) for n in tree.num_entries])


def test_who_may_say_calza_out_of_turn_has_no_tree_of_many_seats() -> None:
    with pytest.raises(ValueError, match="use calza=on_turn"):
        PublicTree(pe.variant("pascal", calza="anyone"), (1, 1, 1))


# ---------------------------------------------------------------------------------------------- solutions


@pytest.mark.parametrize(
    ("calza", "dice", "seats"),
    [("off", (1, 1, 1), [0, 1, 2]), ("on_turn", (1, 1, 1), [0, 1, 2]), ("off", (1, 1, 1, 1), [3])],
)
def test_a_best_response_gains_little_and_values_are_those_of_the_game(
    calza: str, dice: Dice, seats: list[int]
) -> None:
    v = pe.variant(TINY, calza=calza)
    s = solver(v, dice, 4)
    begun = TabularPolicy([s.table()], v, len(dice))
    s.iterate(400)
    policy = TabularPolicy([s.table()], v, len(dice))
    own, best, first = (
        np.array([judged(p, v, dice, seat, respond) for seat in seats])
        for p, respond in ((policy, False), (policy, True), (begun, True))
    )
    assert own == pytest.approx(s.values()[seats], abs=1e-5)
    assert (best - own > -1e-9).all()
    assert (best - own).max() < 0.01 < 0.1 < (first - own).max()


def test_rounds_that_are_played_end_as_often_as_the_exact_pass_says(monkeypatch: pytest.MonkeyPatch) -> None:
    s = solver(pe.variant("classic", starting_dice=2), (2, 1, 1), 2)
    s.iterate(30)
    exact = s.endings()
    monkeypatch.setattr(recall, "MOST_DEALS", 0)
    assert exact.sum() == pytest.approx(1, abs=1e-5)
    assert np.abs(exact - s.endings()).max() < 5 * 0.5 / np.sqrt(recall.ROUNDS_PLAYED)


def test_a_fixed_agent_is_asked_in_every_seat() -> None:
    v = pe.variant("classic", starting_dice=1)
    tree, policy = PublicTree(v, (1, 1, 1)), agents.make("odds", v, 3)
    graph = suffix_graph(tree.graph, 2)
    game = pe.Game.from_hands(v, [[2], [3], [5]], opener=0, bids=["1x2", "1x4"])
    wanted, table = asked(policy, game), fixed_table(policy, tree, graph, 2)
    row = graph.row[follow(tree.graph, graph, np.array([bid_id(1, 2), bid_id(1, 4)]), 2)]
    assert table[0, row : row + len(wanted), 4] == pytest.approx(list(wanted.values()))  # five is the fifth hand


# ---------------------------------------------------------------------------------------------- bids left out


def test_bids_that_hardly_hold_are_left_out_and_doubted(tmp_path: Path) -> None:
    v = pe.variant("classic", starting_dice=3)
    whole, few = solver(v, (3, 3, 3), 1), solver(v, (3, 3, 3), 1, least_chance=0.01)
    left = set(few.tree.left_out)
    assert {bid_id(8, 5), bid_id(6, 1)} <= left
    assert not left & {bid_id(6, 5), bid_id(4, 1)}
    assert set(few.tree.graph.action) == set(whole.tree.graph.action) - left
    few.iterate(2)
    few.table().save(tmp_path / "t.npz")
    policy = TabularPolicy([RoundTable.load(tmp_path / "t.npz")], v, 3)
    hands = [[6, 6, 6], [2, 3, 4], [6, 6, 6]]
    strange = pe.Game.from_hands(v, hands, opener=0, bids=["2x3", "8x6"])
    assert asked(policy, strange)[int(pe.DUDO)] == 1
    sane = asked(policy, pe.Game.from_hands(v, hands, opener=0, bids=["2x3", "3x6"]))
    assert sum(sane.values()) == pytest.approx(1)
    assert all(p == 0 for a, p in sane.items() if a in left)


# ---------------------------------------------------------------------------------------------- a real table


@pytest.mark.parametrize("opener", [0, 2, 3])
def test_a_table_is_played_wherever_its_seats_are_left(opener: int) -> None:
    """Of four seats the second is out; whoever opens is the first of the table."""
    v = pe.variant("classic", starting_dice=2)
    living = [seat for k in range(4) if (seat := (opener + k) % 4) != 1]
    hands = {0: [2], 1: [], 2: [3, 5], 3: [4, 4]}
    s = solver(v, tuple(len(hands[seat]) for seat in living), 2)
    s.iterate(5)
    policy, small = TabularPolicy([s.table()], v, 4), TabularPolicy([s.table()], v, 3)
    for bids in ([], ["1x3"], ["1x3", "2x4"], ["1x3", "1x4", "2x5"]):
        there = pe.Game.from_hands(v, [hands[k] for k in range(4)], opener=opener, bids=bids)
        alone = pe.Game.from_hands(v, [hands[k] for k in living], opener=0, bids=bids)
        wanted = asked(small, alone)
        assert asked(policy, there) == pytest.approx(wanted | {a: 0.0 for a in asked(policy, there) if a not in wanted})
        assert max(wanted.values()) != pytest.approx(min(wanted.values()))  # not the fallback, which is uniform


# ---------------------------------------------------------------------------------------------- all rounds of a game


def options(out: Path, **changed: Any) -> tables.TablesOptions:
    return tables.TablesOptions(
        out, "classic:num_faces=2,starting_dice=2", 2, 3, exact_gib=0.0, recall=2, iterations=20, **changed
    )


def weights_in(folder: Path) -> dict[str, list[Any]]:
    return {p.stem: [w.tolist() for w in RoundTable.load(p).weights] for p in sorted(folder.glob("*.npz"))}


def test_all_rounds_are_solved_alike_by_any_number_of_workers_and_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight = tables.solve_all(options(tmp_path / "straight"))
    several = tables.solve_all(options(tmp_path / "several", workers=2))
    chances = straight["game"]["chances"]
    assert chances == several["game"]["chances"]
    assert weights_in(tmp_path / "straight") == weights_in(tmp_path / "several")
    assert all(sum(c) == pytest.approx(1, abs=1e-4) for c in chances.values())

    solve: Callable[..., Any] = tables.solve
    begun = []

    def solve_until_killed(*args: Any) -> Any:
        begun.append(args)
        if len(begun) == 6:
            raise KeyboardInterrupt
        return solve(*args)

    monkeypatch.setattr(tables, "solve", solve_until_killed)
    with pytest.raises(KeyboardInterrupt):
        tables.solve_all(options(tmp_path / "killed"))
    found = tables.solve_all(options(tmp_path / "killed"))
    assert len(begun) == len(straight["rounds"]) + 1  # only what was cut off is solved again
    assert found["game"]["chances"] == chances
    assert weights_in(tmp_path / "killed") == weights_in(tmp_path / "straight")


def test_an_agent_of_all_rounds_plays_whole_games(tmp_path: Path) -> None:
    tables.solve_all(options(tmp_path))
    v = pe.variant("classic", num_faces=2, starting_dice=2)
    policy, rng = agents.load(tmp_path, v, 3), np.random.default_rng(0)
    policy.fallback = None  # every position is one of a table
    batch = pe.Batch(v, 3, 64, seed=0)
    while (rows := np.flatnonzero(~batch.is_over)).size:
        batch.act(policy.act(batch.observe(rows), batch.masks(rows), rng), rows)
    assert batch.is_over.all()


def test_the_command_solves_a_round_of_three_seats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "recall",
        "--variant",
        "classic:starting_dice=1",
        "--dice",
        "1",
        "1",
        "1",
        "--recall",
        "2",
        "--seconds",
        "0.1",
    ]
    assert command([*words, "--out", str(tmp_path)]) == 0
    assert "local-best-response" in capsys.readouterr().out
    policy = agents.load(tmp_path, pe.variant("classic", starting_dice=1), 3)
    assert len(policy.tables) == 1
    assert command([*words, "--dice", "1", "--out", str(tmp_path)]) == 2
    assert "is not a round" in capsys.readouterr().err
