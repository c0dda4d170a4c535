"""The solver against known values (the first is published: OpenSpiel's liars_dice) and known sizes of trees."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import perudo_env as pe
from agents.tabular.public_tree import PublicTree, descend
from perudo_env.engine.actions import bid_id
from perudo_env.engine.hands import hand_weights, hands
from perudo_env.engine.variant import as_variant
from train.solver import solve_round
from train.solver.exact.match import solve_match
from train.solver.exact.payoffs import Ending, State, pay_table
from train.solver.exact.rounds import RoundSolver

QUANTITY, MONOTONE, ONE_AXIS = (
    pe.variant("evening", raise_rule=r) for r in ("quantity_any_face", "monotone", "one_axis")
)


def dice_in_play(v: pe.Variant) -> pe.Variant:
    return pe.variant(v, max_bid="dice_in_play")


@pytest.mark.parametrize(
    ("v", "dice", "palifico", "value", "tolerance"),
    [
        ("liars_dice", (1, 1), False, -7 / 258, 5e-4),
        (QUANTITY, (1, 1), False, -1 / 18, 2e-5),
        (MONOTONE, (1, 1), False, -1 / 18, 2e-5),
        (ONE_AXIS, (1, 1), False, -1 / 18, 2e-5),
        (pe.variant(QUANTITY, paco_open="always"), (1, 1), False, -1 / 18, 2e-5),
        (pe.variant("joker", pacos_wild=False), (1, 1), False, -1 / 9, 2e-5),
        *(
            (v, (1, n), True, 2 * p - 1, 2e-5)
            for v in (QUANTITY, MONOTONE, ONE_AXIS)
            for n, p in ((1, 5 / 6), (2, 25 / 36), (3, 125 / 216))
        ),
    ],
)
def test_known_values(v: pe.Variant, dice: tuple[int, int], palifico: bool, value: float, tolerance: float) -> None:
    solution = solve_round(v, dice, palifico, seconds=300, target=tolerance)
    assert solution.nash_conv <= tolerance
    # the interval is a proof: the true value lies inside, up to float64's last digits
    assert solution.lower - 1e-12 <= value <= solution.upper + 1e-12
    assert solution.value == pytest.approx(value, abs=tolerance)


def test_two_dice_against_one() -> None:
    solution = solve_round(QUANTITY, (2, 1), seconds=120, target=5e-3)
    assert solution.nash_conv <= 5e-3
    assert solution.lower - 5e-5 <= 0.26036 <= solution.upper + 5e-5


@pytest.mark.parametrize(
    ("v", "sequences"),
    [(QUANTITY, (4_093, 262_013, 16_769_017)), (MONOTONE, (765, 27_773, 317_945)), (ONE_AXIS, (569, 20_149, 174_641))],
)
def test_number_of_bid_sequences(v: pe.Variant, sequences: tuple[int, ...]) -> None:
    assert tuple(PublicTree(dice_in_play(v), dice).num_nodes for dice in ((1, 1), (2, 1), (2, 2))) == sequences


def test_sequences_with_opening_on_pacos_are_all_sets_of_bids() -> None:
    v = pe.variant("pascal", max_bid="dice_in_play")
    assert [PublicTree(v, dice).num_nodes for dice in ((1, 1), (2, 1), (2, 2))] == [2**12, 2**18, 2**24]


def test_number_of_palifico_sequences() -> None:
    v = dice_in_play(MONOTONE)
    assert [PublicTree(v, (1, n), palifico=True).num_nodes for n in (1, 2, 3)] == [19, 43, 91]


def test_number_of_information_states() -> None:
    def count(v: pe.Variant, dice: tuple[int, int]) -> int:
        return PublicTree(dice_in_play(v), dice).num_states

    assert [count(v, (1, 1)) for v in (QUANTITY, MONOTONE, ONE_AXIS)] == [24_558, 4_590, 3_414]
    assert [count(v, (2, 1)) for v in (QUANTITY, MONOTONE, ONE_AXIS)] == pytest.approx([3.5e6, 3.7e5, 2.7e5], rel=0.03)
    assert [count(v, (2, 2)) for v in (QUANTITY, MONOTONE, ONE_AXIS)] == pytest.approx([3.5e8, 6.7e6, 3.7e6], rel=0.03)
    assert [count(v, (5, 5)) for v in (QUANTITY, MONOTONE, ONE_AXIS)] == pytest.approx(
        [2.9e20, 5.7e15, 1.3e15], rel=0.03
    )


def test_hands_have_the_chances_of_all_rolls() -> None:
    rolls = [tuple(roll.count(f) for f in range(6)) for roll in itertools.product(range(6), repeat=3)]
    for hand, weight in zip(hands(3).tolist(), hand_weights(3), strict=True):
        assert weight == pytest.approx(rolls.count(tuple(hand)) / 216)


@pytest.mark.parametrize("v", ["classic", "pascal", "box:calza=anyone", "liars_dice"])
def test_the_tree_allows_what_the_engine_allows(v: str) -> None:
    """Random play of the engine stays in the tree, and has there as many choices as the mask."""
    tree, rng = PublicTree(as_variant(v), (2, 1)), np.random.default_rng(0)
    for seed in range(30):
        game, bids = pe.Game(v, dice=(2, 1), seed=seed), []
        if game.opener != 0:
            continue
        while game.round == 1 and not game.is_over:
            at, _, _ = descend(tree.graph, np.array(bids, np.int64), len(bids))
            legal = set(game.legal_actions())
            if game.in_calza_window:
                game.act(pe.PASS)
                legal |= set(game.legal_actions()) - {pe.PASS}
                legal.discard(pe.PASS)
            assert at >= 0
            assert tree.graph.calls[at] == len(legal & {pe.DUDO, pe.CALZA})
            raises = tree.graph.action[tree.graph.raises[tree.graph.first[at] : tree.graph.first[at + 1]]]
            assert {bid_id(b.quantity, b.face) for b in legal if isinstance(b, pe.Bid)} == set(raises.tolist())
            actions = game.legal_actions()
            action = actions[rng.integers(len(actions))]
            game.act(action)
            if isinstance(action, pe.Bid):
                bids.append(int(bid_id(action.quantity, action.face)))


@pytest.mark.parametrize("palifico", [False, True])
def test_matching_dice_add_up_as_the_engine_counts(palifico: bool) -> None:
    v = pe.variant("classic")
    tree = PublicTree(v, (1, 2), palifico)
    first, second = tree.counts(0), tree.counts(1)
    for i, hand in enumerate(hands(1).tolist()):
        for j, other in enumerate(hands(2).tolist()):
            dealt = [[f + 1 for f in range(6) for _ in range(h[f])] for h in (hand, other)]
            game = pe.Game.from_hands(v, dealt, palifico=palifico, bids=["1x4"], total_at_start=3)
            revealed = next(e for e in game.act("dudo") if hasattr(e, "count"))
            bid = int(np.flatnonzero(tree.graph.action == bid_id(1, 4))[0])
            assert first[bid, i] + second[bid, j] == revealed.count


def test_payoffs_of_a_round_are_the_change_in_own_dice() -> None:
    pay = pay_table(pe.variant("pascal", starting_dice=2), State((2, 1)))
    assert pay[0].tolist() == [-1, 1, -1, 0]  # seat 0 has a full cup: a right Calza gains nothing
    assert pay[1].tolist() == [1, -1, 1, -1]
    assert pay[1, Ending.CALZA_RIGHT] == -1


def test_a_calza_window_of_two_seats_is_worth_as_much_as_calza_on_turn() -> None:
    values = [solve_round(pe.variant("box", calza=c), (1, 1), seconds=300, target=1e-3) for c in ("on_turn", "anyone")]
    assert values[0].value == pytest.approx(values[1].value, abs=1e-3)


def test_threads_do_not_change_the_result() -> None:
    v = pe.variant("classic")
    tree = PublicTree(v, (2, 1))
    brackets = []
    for threads in (1, 2):
        solver = RoundSolver(tree, pay_table(v, State((2, 1))), threads)
        solver.iterate(5)
        brackets.append(solver.bracket())
    assert brackets[0] == pytest.approx(brackets[1], abs=1e-9)


# ---------------------------------------------------------------------------------------------- whole games


@pytest.mark.parametrize("v", ["classic", "evening"])
def test_a_game_from_one_die_is_its_one_round(v: str) -> None:
    match = solve_match(pe.variant(v, starting_dice=1), target=1e-4)
    assert match.lower - 1e-9 <= -1 / 18 <= match.upper + 1e-9
    assert match.nash_conv <= 1e-3


def test_backward_induction_is_the_affine_sum_of_its_rounds() -> None:
    """Without Calza a round has two outcomes: the value is their mean, moved by the round's own value."""
    v = pe.variant("classic", starting_dice=2, num_faces=3)
    match = solve_match(v, target=1e-4)
    values = match.values
    last, middle, whole = (
        values[State((1, 1), palifico=True)],
        values[State((1, 2), palifico=True)],
        values[State((2, 2))],
    )
    kept = [
        solve_round(v, dice, palifico, seconds=300, target=1e-4).value
        for dice, palifico in (((1, 1), True), ((1, 2), True), ((2, 2), False))
    ]
    assert last == pytest.approx(kept[0], abs=1e-3)
    # the opener loses (-1), or the other drops to one die and opens the last round
    assert middle == pytest.approx((-last - 1) / 2 + kept[1] * (-last + 1) / 2, abs=1e-3)
    assert whole == pytest.approx((-middle + middle) / 2 + kept[2] * (-middle - middle) / 2, abs=1e-3)
    assert match.nash_conv < 2e-3


def test_a_game_with_calza_is_certified_over_all_its_rounds() -> None:
    match = solve_match(pe.variant("pascal", starting_dice=2, num_faces=2), target=1e-3, seconds=300)
    assert len(match.values) == 4
    assert match.lower < match.value < match.upper
    assert match.nash_conv < 1e-2


def test_a_game_of_three_seats_is_refused() -> None:
    with pytest.raises(ValueError, match="num_seats = 3"):
        solve_match("classic", 3)


# ---------------------------------------------------------------------------------------------- size, files


def test_a_round_beyond_memory_is_refused_with_its_size() -> None:
    with pytest.raises(ValueError, match=r"information states.*GiB"):
        solve_round("classic", (5, 5))


@pytest.mark.parametrize("dice", [(1,), (0, 2), (1, 2, 3), ("a", 1), (True, 1)])
def test_impossible_dice_are_refused(dice: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="dice = "):
        solve_round("classic", dice)


def test_an_impossible_palifico_round_is_refused() -> None:
    with pytest.raises(ValueError, match="palifico = True"):
        solve_round("pascal", (1, 1), palifico=True)


def test_a_solution_goes_on_from_its_file(tmp_path: Path) -> None:
    v, tree = pe.variant("classic"), PublicTree(pe.variant("classic"), (1, 1))
    pay = pay_table(v, State((1, 1)))
    straight, first, second = (RoundSolver(tree, pay) for _ in range(3))
    straight.iterate(20)
    first.iterate(12)
    first.save(tmp_path / "run.npz")
    second.load(tmp_path / "run.npz")
    second.iterate(8)
    assert second.iterations == 20
    assert all(np.array_equal(a, b) for a, b in zip(straight.sums, second.sums, strict=True))
    other = RoundSolver(PublicTree(v, (2, 1)), pay_table(v, State((2, 1))))
    with pytest.raises(ValueError, match="holds the round"):
        other.load(tmp_path / "run.npz")


def test_a_killed_run_resumes(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    command = [sys.executable, "-m", "train", "exact", "--variant", "classic", "--dice", "1", "1", "--target", "0"]
    command += ["--resume", str(file), "--save-every", "0.2", "--threads", "1"]
    child = subprocess.Popen([*command, "--seconds", "60"], stderr=subprocess.DEVNULL, env=os.environ)
    deadline = time.monotonic() + 40
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(0.5)
    child.send_signal(signal.SIGKILL)
    child.wait()
    with np.load(file) as saved:
        before = int(saved["iterations"])
    assert before > 0
    subprocess.run([*command, "--seconds", "0.3"], check=True, capture_output=True, env=os.environ)
    with np.load(file) as saved:
        assert int(saved["iterations"]) > before


def test_on_a_terminal_reports_scroll_above_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    from io import StringIO

    from rich.console import Console

    from train.solver.exact.solve import reporting

    screen = StringIO()
    with reporting(10, Console(file=screen, force_terminal=True, width=100)) as report:
        report(8, 4.2, -0.1, 0.1)
    assert "seconds, at most" in screen.getvalue()
    assert "4/10" in screen.getvalue()
    with reporting(10, Console(file=StringIO())) as report:
        report(8, 4.2, -0.1, 0.1)
    assert "NashConv 2.00e-01" in capsys.readouterr().err
