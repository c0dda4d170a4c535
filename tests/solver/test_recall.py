"""Recall-limited CFR: with enough recall it is CFR, with less it is worse; its agent plays what was solved."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import perudo_env as pe
from agents.tabular.policy import RoundTable, TabularPolicy
from agents.tabular.public_tree import PublicTree
from agents.tabular.suffixes import ROOT, follow, suffix_graph
from perudo_env.engine.jit import kernel
from perudo_env.policy import Policy
from train.__main__ import main as command
from train.evaluate.exploitability import nash_conv
from train.solver.exact.exploitability import Exploitability
from train.solver.exact.match import match_exploitability, solve_match
from train.solver.exact.payoffs import State, pay_table
from train.solver.exact.rounding import rounded
from train.solver.exact.tabulate import tabulate
from train.solver.exact.traverse import Traversal
from train.solver.exact.walk import Do
from train.solver.recall import tables, teacher
from train.solver.recall.condense import CondenseOptions, condense
from train.solver.recall.fixed import fixed_table, shortest_sequences
from train.solver.recall.lanes import LANES, add_product, add_product_python, add_scaled, add_scaled_python
from train.solver.recall.solver import RecallSolver


def solver(
    v: pe.Variant | str, dice: tuple[int, int], bids: int, palifico: bool = False, **options: Any
) -> RecallSolver:
    v = pe.variant(v) if isinstance(v, str) else v
    return RecallSolver(PublicTree(v, dice, palifico), pay_table(v, State(dice, 0, palifico)), bids, **options)


def judged(s: RecallSolver) -> Exploitability:
    t = s.tree
    return nash_conv(TabularPolicy([s.table()], t.variant, 2), t.variant, t.dice, t.palifico)


def earned(ours: Policy, theirs: Policy, v: str, dice: tuple[int, int]) -> float:
    """What a policy earns from another in a round, over both seats."""
    tree = PublicTree(pe.variant(v), dice)
    mine, other = tabulate(ours, tree), tabulate(theirs, tree)
    walk = Traversal(tree, pay_table(tree.variant, State(dice, 0, False)), np.float64)
    return walk.run(0, Do.FOLLOW, (mine[0], other[1])) - walk.run(0, Do.FOLLOW, (other[0], mine[1]))


# ---------------------------------------------------------------------------------------------- suffixes


@pytest.mark.parametrize(("dice", "bids"), [((3, 3), 2), ((3, 3), 3), ((5, 5), 2)])
def test_number_of_suffixes(dice: tuple[int, int], bids: int) -> None:
    """Where the bids form one order, a full suffix is a set of bids; the seat is known if it begins with the lowest bid."""
    n = 6 * sum(dice)
    graph = suffix_graph(PublicTree(pe.variant("joker"), dice).graph, bids)
    shorter = sum(comb(n, k) for k in range(bids))
    assert len(graph.bid) == shorter + 2 * comb(n, bids) - comb(n - 1, bids - 1)


@pytest.mark.parametrize(("v", "longest"), [("joker", 12), ("classic", 12), ("box", 12)])
def test_with_enough_recall_a_suffix_is_a_sequence(v: str, longest: int) -> None:
    tree = PublicTree(pe.variant(v), (1, 1))
    graph = suffix_graph(tree.graph, longest)
    assert len(graph.bid) == tree.num_nodes
    assert tuple(graph.num_rows * tree.num_hands) == tree.num_entries


@pytest.mark.parametrize("v", ["classic", "pascal", "box"])
def test_parents_come_first_and_seats_alternate(v: str) -> None:
    for bids in (1, 2, 3):
        graph = suffix_graph(PublicTree(pe.variant(v), (2, 2)).graph, bids)
        parents = np.repeat(np.arange(len(graph.bid)), np.diff(graph.first))
        assert (graph.children > parents).all()
        assert (graph.seat[graph.children] == 1 - graph.seat[parents]).all()
        assert set(graph.children) == set(range(len(graph.bid))) - {ROOT}


@pytest.mark.parametrize("bids", [0, -1, 60])
def test_an_impossible_recall_is_refused(bids: int) -> None:
    with pytest.raises(ValueError, match=f"recall = {bids}"):
        suffix_graph(PublicTree(pe.variant("joker"), (3, 3)).graph, bids)


# ---------------------------------------------------------------------------------------------- kernels


@kernel
def both(out: np.ndarray, weights: np.ndarray, values: np.ndarray) -> None:
    add_product(out, LANES, weights, 0, values, LANES)
    add_scaled(out, 0, np.float32(-2.5), values, LANES)


def test_lanes_are_added_as_numpy_adds_them() -> None:
    rng = np.random.default_rng(0)
    out, weights, values = (rng.normal(size=(3, LANES)).astype(np.float32) for _ in range(3))
    plain = out.copy()
    both(out, weights, values)
    add_product_python(plain, LANES, weights, 0, values, LANES)
    add_scaled_python(plain, 0, np.float32(-2.5), values, LANES)
    np.testing.assert_allclose(out, plain, rtol=1e-6)
    assert out[1] == pytest.approx(plain[1])
    assert not np.allclose(out[0], out[2])


# ---------------------------------------------------------------------------------------------- solutions


@pytest.mark.parametrize(("v", "value"), [("classic", -1 / 18), ("liars_dice", -7 / 258)])
def test_with_enough_recall_it_finds_the_value_of_the_round(v: str, value: float) -> None:
    s = solver(v, (1, 1), 12)
    s.iterate(150)
    assert s.value() == pytest.approx(value, abs=2e-3)
    assert judged(s).nash_conv < 0.01


def test_more_recall_is_harder_to_exploit() -> None:
    found = []
    for bids in (1, 2, 3):
        s = solver("joker", (1, 1), bids)
        s.iterate(200)
        found.append(judged(s).nash_conv)
    assert found[0] > 1.5 * found[1] > 3 * found[2]
    assert found[2] < 0.025


@pytest.mark.parametrize(
    ("v", "dice", "palifico"),
    [("box:calza=anyone", (1, 1), False), ("classic", (1, 2), True), ("pascal", (1, 1), False)],
)
def test_every_kind_of_round_is_played_as_it_was_solved(v: str, dice: tuple[int, int], palifico: bool) -> None:
    s = solver(pe.variant("box", calza="anyone") if ":" in v else v, dice, 2, palifico)
    before = judged(s).nash_conv
    s.iterate(20)
    found = judged(s)
    assert found.value == pytest.approx(s.value(), abs=1e-5)
    assert found.nash_conv < before / 2


def test_sampled_hands_lead_to_the_same_place() -> None:
    s = solver("joker", (1, 1), 3, sample=3, seed=3)
    s.iterate(300)
    assert judged(s).nash_conv < 0.1
    assert s.value() == pytest.approx(-0.0214, abs=0.01)


def test_payoffs_matter_by_their_order_alone_where_a_round_has_two_outcomes() -> None:
    v, tree = pe.variant("classic"), PublicTree(pe.variant("classic"), (1, 1))
    pay = pay_table(v, State((1, 1)))
    plain, moved = RecallSolver(tree, pay, 3), RecallSolver(tree, pay, 3)
    moved.set_pay(0.25 * pay + 0.5)
    for s in (plain, moved):
        s.iterate(30)
    assert moved.value() == pytest.approx(0.25 * plain.value() + 0.5, abs=1e-4)


def test_a_state_goes_on_against_the_same_agent_only(tmp_path: Path) -> None:
    first, same, other = (
        solver("classic", (1, 1), 2, against=agents.make(name, "classic", 2), share=0.4)
        for name in ("inference", "inference", "odds")
    )
    first.save(tmp_path / "kept")
    same.load(tmp_path / "kept")
    with pytest.raises(ValueError, match="against the agent"):
        other.load(tmp_path / "kept")


def test_who_meets_an_agent_in_a_share_of_the_rounds_earns_more_from_it() -> None:
    agent = agents.make("inference", "classic", 2)
    even, lean = (solver("classic", (1, 1), 2, against=agent, share=share) for share in (0.0, 0.4))
    for s in (even, lean):
        s.iterate(60)
    gain = earned(TabularPolicy([lean.table()], "classic", 2), agent, "classic", (1, 1)) - earned(
        TabularPolicy([even.table()], "classic", 2), agent, "classic", (1, 1)
    )
    assert gain > 0.1
    # nobody earns more than 1 in a seat
    assert judged(even).nash_conv < judged(lean).nash_conv < 0.4 / (1 - 0.4) * 2
    with pytest.raises(ValueError, match="below 1"):
        solver("classic", (1, 1), 3, against=agent, share=1.0)


@pytest.mark.parametrize("bids", [1, 2])
def test_a_fixed_agent_is_asked_at_positions_that_can_be(bids: int) -> None:
    """Where a Paco may not open, a seat's turn may demand two bids before those remembered."""
    tree = PublicTree(pe.variant("marquoir"), (1, 1))
    graph = suffix_graph(tree.graph, bids)
    said, length = np.zeros((len(graph.bid), len(tree.graph.action)), np.int64), np.zeros(len(graph.bid), np.int64)
    shortest_sequences(tree.graph, graph, said, length)
    assert length.max() == bids + 2
    for node, n in enumerate(length):
        assert follow(tree.graph, graph, said[node], n) == node


def test_a_fixed_agent_is_itself_where_all_bids_are_remembered() -> None:
    tree, policy = PublicTree(pe.variant("classic"), (1, 1)), agents.make("odds", "classic", 2)
    graph = suffix_graph(tree.graph, 12)
    asked = tabulate(policy, tree)
    for seat in (0, 1):
        table = fixed_table(policy, tree, graph, seat)
        assert np.allclose(np.sort(table[0, :, : tree.num_hands[seat]].ravel()), np.sort(asked[seat]))


def test_a_solution_goes_on_from_its_file_on_any_number_of_threads(tmp_path: Path) -> None:
    straight, first, second = (solver("classic", (2, 1), 2, threads=t, sample=8) for t in (2, 1, 2))
    straight.iterate(6)
    first.iterate(4)
    first.save(tmp_path / "kept")
    second.load(tmp_path / "kept")
    second.iterate(2)
    assert all(np.array_equal(a, b) for a, b in zip(straight.sums, second.sums, strict=True))
    with pytest.raises(ValueError, match="recall 2"):
        solver("classic", (2, 1), 3).load(tmp_path / "kept")


# ---------------------------------------------------------------------------------------------- agents


def test_a_rounded_table_plays_from_its_file(tmp_path: Path) -> None:
    s = solver("joker", (1, 1), 3)
    s.iterate(200)
    table = rounded(s.table(), 255)
    table.save(tmp_path / "t.npz")
    read = RoundTable.load(tmp_path / "t.npz")
    assert read.recall == 3
    assert all(a.dtype == np.uint8 and np.array_equal(a, b) for a, b in zip(read.weights, table.weights, strict=True))
    exact = judged(s)
    assert nash_conv(TabularPolicy([read], "joker", 2), "joker", (1, 1)).nash_conv == pytest.approx(
        exact.nash_conv, abs=0.01
    )
    with pytest.raises(ValueError, match="do not fit"):
        RoundTable(read.tree, read.weights, recall=2)


def test_the_command_writes_an_agent_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        *["recall", "--variant", "classic", "--dice", "1", "1", "--recall", "2", "--seconds", "0.1", "--out"],
        str(tmp_path),
    ]
    assert command(words) == 0
    card = json.loads((tmp_path / "policy.json").read_text(encoding="utf-8"))
    assert f"NashConv {card['nash_conv']:.4f} (exact)" in capsys.readouterr().out
    policy = agents.load(tmp_path, "classic", 2)
    assert nash_conv(policy, "classic", (1, 1)).nash_conv == pytest.approx(card["nash_conv"])
    assert command(words) == 0
    assert json.loads((tmp_path / "policy.json").read_text(encoding="utf-8"))["iterations"] > card["iterations"]
    assert command([*words, "--recall", "0"]) == 2


def test_tables_of_a_whole_game(tmp_path: Path) -> None:
    """Exact or recall-limited, the game is worth what solving it says, and the agent is hard to exploit over it."""
    v = pe.variant("classic", num_faces=2, starting_dice=2)
    known = solve_match(v, target=5e-3)
    for name, gib in (("exact", 1.0), ("limited", 0.0)):
        o = tables.TablesOptions(tmp_path / name, str(v), 2, target=5e-3, exact_gib=gib, recall=2, iterations=60)
        found = tables.solve_all(o)
        assert {r["method"] for r in found["rounds"].values()} == {"exact" if gib else "recall 2"}
        assert found["game"]["value"] == pytest.approx(known.value, abs=0.03)
        assert match_exploitability(agents.load(o.out, v, 2), v).nash_conv < (0.03 if gib else 0.2)
        assert tables.solve_all(o)["rounds"] == found["rounds"]  # nothing is solved again
    with pytest.raises(ValueError, match="name another folder"):
        tables.solve_all(tables.TablesOptions(tmp_path / "exact", str(v), 2, recall=3))


def test_tables_of_rounds_alone_leave_out_what_the_exact_agent_has(tmp_path: Path) -> None:
    o = tables.TablesOptions(
        tmp_path,
        "classic",
        3,
        recall=2,
        max_states=170_000,
        exact_gib=0.0,
        iterations=2,
        alone=True,
        against="inference",
    )
    assert {n: r["method"] for n, r in tables.solve_all(o)["rounds"].items()} == {
        "2v3": "recall 3",
        "3v2": "recall 3",
        "3v3": "recall 2",
    }
    policy = agents.load(tmp_path, "classic", 2)
    assert {t.tree.dice for t in policy.tables.values() if not t.tree.palifico} >= {(1, 1), (2, 2), (3, 3)}


def test_a_teacher_becomes_what_ships(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = agents.CHECKPOINTS / "table"
    teacher.run(
        teacher.TeacherOptions(tmp_path / "t", network, ("classic",), 3, iterations=4, max_states=0, against="")
    )
    size = condense(CondenseOptions(tmp_path / "t", network, tmp_path / "c", ("classic",)))
    names = ["2v3.npz", "3v2.npz", "3v3.npz"]
    assert sorted(p.name for p in (tmp_path / "c" / "classic").iterdir()) == names
    assert size < sum((tmp_path / "t" / "classic" / n).stat().st_size for n in names)
    played = [agents.load(tmp_path / f, "classic", 2) for f in "tc"]
    seen = pe.Game.from_hands("classic", [[2, 3, 3], [4, 4]])
    whole, few = (p.probs(seen.observation(0)[None], seen.action_mask()[None])[0] for p in played)
    kept = few > 0
    assert (few[kept] >= few.max() / 14).all()
    assert np.allclose(few[kept], whole[kept] / whole[kept].sum(), atol=0.08)
    assert command(["condense", str(tmp_path / "t"), str(network), str(tmp_path / "d"), "--only", "clasic"]) == 2
    assert "its folders are classic" in capsys.readouterr().err


def test_tables_of_a_game_with_calza_go_over_the_rounds_again(tmp_path: Path) -> None:
    v = pe.variant("pascal", num_faces=2, starting_dice=1)
    found = tables.solve_all(
        tables.TablesOptions(tmp_path, str(v), 1, exact_gib=0.0, recall=2, sweeps=2, iterations=30)
    )
    assert list(found["rounds"]) == ["sweep 0: 1v1", "sweep 1: 1v1"]
    with pytest.raises(ValueError, match="still have its palifico"):
        tables.solve_all(tables.TablesOptions(tmp_path / "b", "evening:calza=on_turn", 1))


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04" + b"\0" * 64, b"text"])
def test_a_foreign_state_is_refused_by_name(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "solver.state"
    kept.write_bytes(content)
    assert command(["exact", "--dice", "1", "1", "--resume", str(kept)]) == 2
    assert f"{kept} is not the state of a round's solution" in capsys.readouterr().err
    assert command(["recall", "--dice", "1", "1", "--out", str(tmp_path)]) == 2
    assert f"{kept} is not the state of a recall-limited solution" in capsys.readouterr().err
    assert kept.read_bytes() == content


def test_what_cannot_be_written_or_does_not_end_is_told_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("{}")
    for words, said in (
        (["exact", "--out", str(tmp_path)], "cannot be written"),
        (["exact", "--resume", str(file / "x.npz")], "cannot be written"),
        (["exact", "--seconds", "nan"], "seconds = nan"),
        (["exact", "--threads", "0"], "threads = 0"),
        (["recall", "--out", str(file)], "cannot be written"),
        (["recall", "--out", str(tmp_path), "--threads", "-1"], "threads = -1"),
        (["recall", "--out", str(tmp_path), "--seconds", "nan"], "seconds = nan"),
        (["tables", "--starting-dice", "2", "--out", str(file)], "cannot be written"),
    ):
        assert command([*words, *(["--dice", "1", "1"] if words[0] != "tables" else [])]) == 2
        assert said in capsys.readouterr().err
    for text in (
        "",
        "{",
        "{}",
        "[" * 100_000,
        '{"options": {}, "rounds": {"1v1": {"value": 0.5}}}',
        '{"options": {}, "rounds": [3]}',
    ):
        (tmp_path / "values.json").write_text(text)
        assert command(["tables", "--starting-dice", "2", "--out", str(tmp_path)]) == 2
        assert "name another folder" in capsys.readouterr().err
        assert (tmp_path / "values.json").read_text() == text
    with pytest.raises(ValueError, match="is the teacher itself"):
        condense(CondenseOptions(tmp_path, tmp_path, tmp_path))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "values.json"]
