"""The tabular agent: it plays its tables, and asks another policy elsewhere."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile

import numpy as np
import pytest

import agents
import perudo_env as pe
from agents.core.forgetful import Forgetful
from agents.tabular.policy import EXACT, RoundTable, TabularPolicy, load_policy, load_tables
from agents.tabular.public_tree import PublicTree
from perudo_env.engine.observation import layout
from perudo_env.policy import Int8Array, SampledPolicy
from train.evaluate.exploitability import nash_conv
from train.solver import solve_round


class Marked(SampledPolicy):
    """A fallback that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def probs(self, observations: Int8Array, masks: Int8Array) -> np.ndarray:
        self.asked += len(masks)
        return pe.UniformPolicy().probs(observations, masks)


@pytest.fixture(scope="module")
def shipped() -> list[RoundTable]:
    return load_tables()


def card_rows() -> dict[str, list[str]]:
    lines = (EXACT / "README.md").read_text(encoding="utf-8").splitlines()
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    return {row[0].strip("`"): row for row in cells}


def test_every_shipped_table_has_a_row_in_the_card() -> None:
    assert set(card_rows()) == {p.name for p in EXACT.glob("*.npz")}


@pytest.mark.parametrize(
    "path",
    [
        *sorted({*EXACT.glob("*1v1*.npz"), *EXACT.glob("*palifico.npz")}),
        EXACT / "classic-2v1.npz",
        EXACT / "box-1v2.npz",
    ],
    ids=lambda p: p.stem,
)
def test_the_card_states_the_exploitability_of_what_is_shipped(path: Path) -> None:
    table = RoundTable.load(path)
    tree = table.tree
    measured = nash_conv(TabularPolicy([table], tree.variant, 2), tree.variant, tree.dice, tree.palifico)
    row = card_rows()[path.name]
    assert f"{abs(measured.nash_conv):.5f}" == row[5]
    assert measured.value == pytest.approx(float(row[4]), abs=6e-6)
    assert measured.nash_conv < 2e-3
    lower, upper = table.bracket or (1, 0)
    assert lower - 1e-3 <= measured.value <= upper + 1e-3


def test_tables_are_found_by_the_variant(shipped: list[RoundTable]) -> None:
    names = [(t.tree.variant.name, t.tree.dice, t.tree.palifico) for t in load_tables(variant=pe.variant("classic"))]
    assert ("classic", (2, 1), False) in names
    assert ("classic", (1, 5), True) in names
    assert {n for n, _, _ in names} == {"classic"}
    assert len(shipped) == len(list(EXACT.glob("*.npz")))


@pytest.mark.parametrize("v", ["classic", "pascal", "marquoir", "evening", "box", "liars_dice"])
@pytest.mark.parametrize("num_seats", [2, 3])
def test_it_plays_whole_games_legally(v: str, num_seats: int, shipped: list[RoundTable]) -> None:
    fallback, rng = Marked(), np.random.default_rng(3)
    policy = TabularPolicy(shipped, v, num_seats, fallback)
    batch, decisions = pe.Batch(v, num_seats=num_seats, num_games=200, seed=0, max_rounds=200), 0
    while not batch.is_over.all():
        rows = np.flatnonzero(~batch.is_over)
        seen, masks = batch.observe(rows), batch.masks(rows)
        probs = policy.probs(seen, masks)
        assert np.allclose(probs.sum(axis=1), 1)
        assert (probs[masks == 0] == 0).all()
        batch.act(policy.act(seen, masks, rng), rows)
        decisions += 2 * len(rows)
    if v in ("classic", "pascal", "marquoir", "evening"):
        assert 0 < fallback.asked < decisions


def test_it_plays_the_same_in_a_padded_layout() -> None:
    v = pe.variant("classic")
    policy, larger = (
        TabularPolicy(load_tables(variant=v), v, 2, Marked(), look) for look in (None, layout(4, v.max_quantity(4)))
    )
    game = pe.Game.from_hands(v, [[2, 3], [4]], bids=["1x3"])
    batch = pe.Batch(v, num_games=1, dice=(2, 1), pad_to=layout(4, v.max_quantity(4)))
    batch.states[0] = game.states[0]
    plain = policy.probs(game.observation(1)[None], game.action_mask()[None])[0]
    padded = larger.probs(batch.observe(), batch.masks())[0]
    assert np.array_equal(plain, padded[: plain.size])
    assert policy.fallback.asked == larger.fallback.asked == 0  # type: ignore[attr-defined]


def test_a_bid_above_the_dice_in_play_is_doubted() -> None:
    policy = TabularPolicy(load_tables(variant=pe.variant("classic")), "classic", 2, Marked())
    game = pe.Game.from_hands("classic", [[2], [4]], bids=["3x3"])
    assert policy.probs(game.observation(1)[None], game.action_mask()[None])[0, pe.DUDO] == 1


def test_other_positions_are_the_fallback_s() -> None:
    classic, box = (load_tables(variant=pe.variant(v)) for v in ("classic", "box"))
    for game in (
        pe.Game("classic", 2, seed=0),  # ten dice
        pe.Game("classic", 3, dice=(1, 1, 1), seed=0),  # three living seats
        pe.Game("joker", 2, dice=(1, 1), seed=0),  # other rules
        pe.Game.from_hands("box", [[2], [3]], memory="none"),  # 1 v 1 or 1 v 2
    ):
        fallback = Marked()
        policy = TabularPolicy([*classic, *box], game.variant, game.num_seats, fallback)
        assert game.seat is not None
        policy.probs(game.observation(game.seat)[None], game.action_mask()[None])
        assert fallback.asked == 1


def test_of_two_seats_it_does_not_matter_who_may_call_calza() -> None:
    tables = load_tables(variant=pe.variant("pascal"))
    on_turn, anyone, off = (TabularPolicy(tables, f"pascal:calza={c}", 2) for c in ("on_turn", "anyone", "off"))
    gains = [nash_conv(p, p.variant, (1, 1)).nash_conv for p in (on_turn, anyone)]
    assert gains[0] == pytest.approx(gains[1], abs=1e-9)
    assert gains[1] < 1e-3
    assert not off.tables


def test_without_memory_the_only_fitting_table_plays() -> None:
    v = pe.variant("box")
    solution = solve_round(v, (1, 1), seconds=300, target=1e-2)
    blind = Forgetful(solution.policy, v, 2)
    assert nash_conv(blind, v, (1, 1)).nash_conv == pytest.approx(solution.nash_conv, abs=1e-9)


@pytest.mark.parametrize("dice", [(1, 1), (2, 1), (1, 2)])
def test_hidden_counts_that_are_remembered_find_their_table(dice: tuple[int, int]) -> None:
    """The tables were made for counts that are seen; without memory the same agents concede more than 1 of 2."""
    for name in ("exact", "duel"):
        assert nash_conv(agents.make(name, "box", 2), "box", dice).nash_conv <= 0.0012
        assert nash_conv(agents.make(name, "box", 2, memory="none"), "box", dice).nash_conv > 1


@pytest.mark.slow
@pytest.mark.parametrize("dice", [(2, 2), (3, 1), (1, 3)])
def test_and_at_four_dice(dice: tuple[int, int]) -> None:
    assert nash_conv(agents.make("duel", "box", 2), "box", dice, max_states=10**8).nash_conv <= 0.005


def test_a_table_survives_its_file(tmp_path: Path) -> None:
    solution = solve_round("pascal", (1, 1), seconds=300, target=0.05)
    solution.table.save(tmp_path / "t.npz")
    again = RoundTable.load(tmp_path / "t.npz")
    assert again.key == solution.table.key
    assert again.bracket == (solution.lower, solution.upper)
    assert all(np.array_equal(a, b) for a, b in zip(again.weights, solution.table.weights, strict=True))


class Hostile:
    """Would create a file if it were unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.path,))


def test_a_hostile_file_is_refused_and_runs_nothing(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    np.savez(
        tmp_path / "bad.npz",
        first=np.array([Hostile(trap)], dtype=object),
        variant=np.array("classic"),
        dice=np.array([1, 1]),
    )
    (tmp_path / "text.npz").write_text("not a zip")
    good = RoundTable(
        PublicTree(pe.variant("classic"), (1, 1)),
        [np.zeros(n) for n in PublicTree(pe.variant("classic"), (1, 1)).num_entries],
    )
    good.save(tmp_path / "short.npz")
    with np.load(tmp_path / "short.npz") as file:
        contents = dict(file)
    np.savez(tmp_path / "short.npz", **{**contents, "first": contents["first"][:-1]})
    np.savez(tmp_path / "nan.npz", **{**contents, "first": contents["first"] * np.nan})
    np.savez(tmp_path / "total.npz", **{**contents, "total": np.array(np.inf)})
    for method, name in ((ZIP_LZMA, "lzma.npz"), (ZIP_DEFLATED, "deflated.npz")):
        with ZipFile(tmp_path / name, "w", method) as file:
            file.writestr("variant.npy", b"spoilt" * 50)
        content = bytearray((tmp_path / name).read_bytes())
        content[42:60] = b"\xff" * 18
        (tmp_path / name).write_bytes(content)
    for name in ("bad.npz", "text.npz", "short.npz", "nan.npz", "absent.npz", "total.npz", "lzma.npz", "deflated.npz"):
        with pytest.raises(ValueError, match=name):
            RoundTable.load(tmp_path / name)
    assert not trap.exists()


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no \.npz tables"):
        load_tables(tmp_path)


def test_the_folder_names_its_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def make(name: str, variant: object, num_seats: int, layout: object) -> Marked:
        asked.append((name, num_seats))
        return Marked()

    monkeypatch.setattr("agents.make", make, raising=False)
    policy = load_policy(EXACT, "classic", 2)
    assert asked == [("inference", 2)]
    assert isinstance(policy.fallback, Marked)
    assert policy.tables
