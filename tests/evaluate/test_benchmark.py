"""The benchmark and the reports: illegal play is counted, all three forms of an agent are taken, a kill loses nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import perudo_env as pe
from agents.learned import features
from agents.learned.neural import save_policy
from perudo_env.engine.actions import DUDO, FIRST_BID
from train.__main__ import main as command
from train.core.state import module_arrays
from train.evaluate.benchmark import Benchmark, tasks_of
from train.evaluate.benchmark_tasks import OPPONENTS, PARTS, play_digest
from train.evaluate.guard import Guard
from train.report.benchmark import mean_return, run
from train.selfplay.networks import MLP

HERE = __name__


class Sloppy:
    """Half of the time legal; else an id that is masked, negative or far too large. It also writes into its masks."""

    def __init__(self, variant: object, num_seats: int) -> None:
        self.given = 0

    def act(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        actions = masks.argmax(axis=1)
        for row in range(len(masks)):
            self.given += 1
            actions[row] = (actions[row], masks[row].argmin(), -1, 10**9)[self.given % 4]
        masks[:] = 1
        return actions


class Broken(Sloppy):
    """Fails at six seats, or gives what is no array of ids."""

    def act(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.zeros((len(masks), 2))


def checkpoint(folder: Path, seats: tuple[int, ...] = (2,)) -> Path:
    network = MLP(features.NUM_INPUTS, [8], features.NUM_CELLS)
    save_policy(
        folder, module_arrays(network), pe.variant("classic"), seats, {"seed": 1}, "# card\n", inputs="relative"
    )
    return folder


def uniform(variant: pe.Variant, num_seats: int) -> pe.UniformPolicy:
    return pe.UniformPolicy()


def needs_nothing() -> pe.UniformPolicy:
    return pe.UniformPolicy()


def card_of(benchmark: Benchmark) -> dict[str, Any]:
    """What a run of the benchmark writes into its folder."""
    run(benchmark)
    assert benchmark.out is not None
    return json.loads((benchmark.out / "benchmark.json").read_text(encoding="utf-8"))


# ---------------------------------------------------------------------------------------------- agents


def test_the_guard_counts_what_is_illegal_and_plays_on() -> None:
    batch, rng = pe.Batch("classic", 3, 400, seed=1), np.random.default_rng(0)
    guard = Guard(Sloppy(None, 3))
    illegal = 0
    while not batch.is_over.all():
        live = np.flatnonzero(~batch.is_over)
        masks = batch.masks(live)
        before = guard.decisions
        actions = guard.act(batch.observe(live), masks.copy(), rng)
        assert (masks[np.arange(len(live)), actions] == 1).all()
        # of each four: legal, a masked id, -1, 10**9
        illegal += sum((before + 1 + k) % 4 != 0 for k in range(len(live)))
        batch.act(actions, live)
    assert guard.illegal == illegal > 0
    assert guard.seconds > 0


def test_the_guard_names_an_answer_that_is_none() -> None:
    batch = pe.Batch("classic", 2, 3, seed=1)
    with pytest.raises(ValueError, match=r"shape \(3, 2\) and type float64 for 3 positions"):
        Guard(Broken(None, 2)).act(batch.observe(), batch.masks(), np.random.default_rng(0))


def test_an_agent_may_have_no_probs() -> None:
    policy = agents.make(f"{HERE}:Sloppy", "classic", 2)
    batch = pe.Batch("classic", 2, 3, seed=1)
    assert policy.act(batch.observe(), batch.masks(), np.random.default_rng(0)).shape == (3,)
    with pytest.raises(NotImplementedError, match="has no probs"):
        policy.probs(batch.observe(), batch.masks())
    with pytest.raises(ValueError, match=r"calling it with \(variant, num_seats\)"):
        agents.make(f"{HERE}:needs_nothing", "classic", 2)


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An agent in each of its three forms."""
    return {
        "name": "odds",
        "folder": str(checkpoint(tmp_path_factory.mktemp("agent") / "one")),
        "factory": f"{HERE}:uniform",
    }


@pytest.mark.parametrize("form", ["name", "folder", "factory"])
def test_every_command_takes_all_forms_of_an_agent(
    form: str, forms: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = forms[form]
    assert (
        command(
            ["arena", "--agents", agent, "uniform", "--seats", "2", "--games", "10", "--out", str(tmp_path / "arena")]
        )
        == 0
    )
    assert command(["exploitability", "--agent", agent, "--dice", "1", "1"]) == 0
    assert command(["benchmark", agent, "--smoke", "--workers", "1", "--out", str(tmp_path / "bench")]) == 0
    card = json.loads((tmp_path / "bench" / "benchmark.json").read_text(encoding="utf-8"))
    assert card["cells_played"] == card["cells"] == len(card["opponents"]) == 5
    stated = re.search(r"NashConv ([\d.]+)", capsys.readouterr().out)
    assert stated is not None
    assert float(stated[1]) == pytest.approx(card["results"][0]["nash_conv"], abs=1e-6)


def test_exploitability_says_that_it_needs_probs(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["exploitability", "--agent", f"{HERE}:Sloppy", "--dice", "1", "1"]) == 2
    assert "has no probs" in capsys.readouterr().err


# ---------------------------------------------------------------------------------------------- benchmark


def test_the_full_card_is_what_its_version_says() -> None:
    """perudo-bench v0 must not change under its name."""
    full, quick = (tasks_of(Benchmark("odds", quick=q)) for q in (False, True))
    for tasks, games, rounds in ((full, 1200, 12), (quick, 120, 6)):
        cells = [t for t in tasks if t.kind == "win_share"]
        assert {(t.variant, t.seats, t.baseline) for t in cells} == {
            (v, n, b) for v in ("classic", "pascal", "box", "marquoir", "evening") for n in (2, 3, 4, 6)
            for b in ("uniform", "odds", "threshold", "bluffer", "inference")
        }  # fmt: skip
        assert len(cells) == 100
        assert {t.games for t in cells} == {games}
        assert all(games % t.seats == 0 for t in cells)
        assert sum(t.kind == "nash_conv" for t in tasks) == rounds
    assert {t.dice for t in full if t.kind == "nash_conv"} == {(1, 1), (2, 1), (1, 2)}
    assert len({t.name for t in full}) == len(full)


def test_its_opponents_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """New scripted agents do not enter perudo-bench v0, and those in it play as they did."""
    before = tasks_of(Benchmark("odds"))
    monkeypatch.setattr(agents, "BASELINES", {"newcomer": f"{HERE}:uniform", **agents.BASELINES})
    assert tasks_of(Benchmark("odds")) == before
    assert {agent: play_digest(agent) for agent in OPPONENTS} == OPPONENTS


def test_an_agent_that_breaks_the_rules_gets_its_card(tmp_path: Path) -> None:
    card = card_of(Benchmark(f"{HERE}:Sloppy", smoke=True, out=tmp_path, workers=1))
    assert 0.5 < card["illegal_actions"] / card["decisions"] <= 0.8
    assert card["failures"] == []
    assert "has no probs" in (tmp_path / "benchmark.html").read_text(encoding="utf-8")
    assert "nash_conv" not in card["results"][0]


def test_an_agent_that_fails_is_named_and_the_rest_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["benchmark", f"{HERE}:Broken", "--smoke", "--workers", "1", "--out", str(tmp_path)]) == 1
    card = json.loads((tmp_path / "benchmark.json").read_text(encoding="utf-8"))
    assert len(card["failures"]) == 6  # five cells, and the time of a decision
    assert "act gave an array of shape" in card["failures"][0]
    assert card["mean_return"] is None
    assert "failed" in capsys.readouterr().out


def test_the_card_does_not_depend_on_processes_and_a_kill_costs_one_part(tmp_path: Path) -> None:
    timed = ("seconds", "cpu_seconds", "task_cpu_seconds", "milliseconds")

    def figures(card: dict[str, object]) -> list[dict[str, object]]:
        return [{k: v for k, v in r.items() if k not in timed} for r in card["results"]]  # type: ignore[attr-defined]

    whole = card_of(Benchmark("threshold", smoke=True, out=tmp_path / "one", workers=2))
    parts = tmp_path / "one" / PARTS
    kept = parts.read_text(encoding="utf-8").splitlines(keepends=True)
    parts.write_text("".join(kept[:4]) + kept[4][:20], encoding="utf-8")  # killed while it wrote
    again = card_of(Benchmark("threshold", smoke=True, out=tmp_path / "one", workers=1))
    assert figures(again) == figures(whole)
    assert [r["task_cpu_seconds"] for r in again["results"] if f'"{r["part"]}"' in "".join(kept[1:4])] == [
        r["task_cpu_seconds"] for r in whole["results"] if f'"{r["part"]}"' in "".join(kept[1:4])
    ]
    assert len(parts.read_text(encoding="utf-8").splitlines()) == len(kept)
    with pytest.raises(ValueError, match="holds the benchmark"):
        run(Benchmark("odds", smoke=True, out=tmp_path / "one", workers=1))
    parts.write_text("{\n", encoding="utf-8")
    with pytest.raises(ValueError, match="does not hold parts"):
        run(Benchmark("threshold", smoke=True, out=tmp_path / "one", workers=1))


def test_bad_input_is_refused_before_anything_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    six = checkpoint(tmp_path / "six", (5,))
    for words, says in (
        (["oddz"], "did you mean 'odds'"), ([str(six)], "plays none of the tables"), (["odds", "--workers", "0"], "workers = 0"),
        ([f"{HERE}:nothing"], "cannot be imported"),
    ):  # fmt: skip
        assert command(["benchmark", *words, "--smoke", "--out", str(tmp_path / "out")]) == 2
        assert says in capsys.readouterr().err
        assert not (tmp_path / "out").exists()


def test_the_mean_return_adds_independent_errors() -> None:
    cells = [
        {"seats": 2, "fair": 0.5, "win_share": 0.75, "low": 0.7, "high": 0.8},
        {"seats": 3, "fair": 1 / 3, "win_share": 1.0, "low": 0.9, "high": 1.0},
    ]
    found = mean_return(cells)
    assert found.value == pytest.approx((0.5 + 1) / 2)
    assert found.low == pytest.approx(found.value - np.hypot(0.1, 0.15) / 2)
    assert found.high == pytest.approx(found.value + 0.1 / 2)


def test_pages_need_nothing_from_outside(tmp_path: Path) -> None:
    run(Benchmark(f"{HERE}:Caller", smoke=True, out=tmp_path, workers=1))
    html = (tmp_path / "benchmark.html").read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="(?!data:)', html) == []
    assert 'src="data:image/svg+xml;base64,' in html
    assert f"{HERE}:Caller" in html


class Caller:
    """Doubts whatever is bid; opens with the lowest bid."""

    def __init__(self, variant: object, num_seats: int) -> None:
        pass

    def probs(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        chosen = np.where(masks[:, DUDO] == 1, DUDO, masks[:, FIRST_BID:].argmax(axis=1) + FIRST_BID)
        return np.eye(masks.shape[1])[chosen]

    def act(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.probs(observations, masks).argmax(axis=1)
