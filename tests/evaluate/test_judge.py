"""The judge of a run: strangers beside baselines, the gauge of a learned response, the weights that are kept."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import agents
import perudo_env as pe
from tests.helpers import train
from train.core.config import load_config
from train.core.curve import Point, read_curve
from train.core.measured import Estimate, Measured, score
from train.core.sections import EvaluationSection, TableSection
from train.core.trainer import BestWeights
from train.evaluate.divergence import divergence
from train.evaluate.exploitability import nash_conv
from train.evaluate.judge import judge_agent
from train.evaluate.response import learned_responses
from train.evaluate.statistics import difference
from train.selfplay import distil
from train.selfplay.options import SMOKE, PPOConfig
from train.selfplay.ppo import PPO

CONFIG = Path(__file__).parents[2] / "configs" / "ppo.yaml"
TINY = (
    *SMOKE, "tables=[{variants: ['marquoir:starting_dice=2'], seats: [2]}]", "learn.hidden=[16]", "learn.critic_hidden=[16]",
    "evaluation.rounds=[]", "evaluation.tables=[{variant: 'marquoir:starting_dice=2', seats: 2}]", "evaluation.baselines=[uniform]",
    "evaluation.every=300",
)  # fmt: skip


def run(out: Path, *more: str) -> list[Point]:
    assert train("ppo", CONFIG, *TINY, *more, out=out) == 0
    return read_curve(out / "curve.csv")


def metrics(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open(newline="", encoding="utf-8") as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


def test_strangers_stand_beside_the_baselines_with_the_gap() -> None:
    table = TableSection(variant="marquoir:starting_dice=2", seats=2)
    asked = EvaluationSection(games=200, baselines=("odds",), strangers=("uniform",), tables=(table,), rounds=())
    found = {m.name: m for m in judge_agent(lambda v, seats: agents.make("odds", v, seats), asked, 1)}
    share, stranger, gap = found["win_share"], found["stranger_share"], found["stranger_gap"]
    assert (share.against, stranger.against) == ("odds", "uniform")
    assert stranger.value > share.value
    assert gap.value == pytest.approx(share.value - stranger.value)
    assert gap.low < gap.value < gap.high < 0


def test_strangers_choose_nothing() -> None:
    own, other = Measured("win_share", 0.4, 0.3, 0.5), Measured("stranger_share", 0.9, 0.8, 1.0)
    assert score([own, other]) == 0.4
    assert score([other]) is None
    assert score([Measured("nash_conv", 0.5, 0.5, 0.5), Measured("nash_conv", 0.1, 0.1, 0.1)]) == pytest.approx(-0.3)


def test_the_difference_of_estimates() -> None:
    one, other = Estimate(0.5, 0.5 - 0.3, 0.5 + 0.3), Estimate(0.25, 0.25 - 0.4, 0.25 + 0.4)
    assert difference(one, other) == pytest.approx((0.25, 0.25 - 0.5, 0.25 + 0.5))


def test_the_best_point_stays_and_of_equal_ones_the_later() -> None:
    best = BestWeights()
    for decisions, value in ((10, 0.4), (20, 0.6), (30, 0.5), (40, 0.6), (50, 0.1)):
        best.offer([Measured("win_share", value, 0, 1)], decisions, {"w": np.array([decisions])})
    assert (best.decisions, best.points, best.weights["w"].item()) == (40, 5, 40)


def test_the_weights_of_the_best_point_are_the_checkpoint_and_its_card_says_so(tmp_path: Path) -> None:
    points = run(
        tmp_path / "run",
        "evaluation.keep=best",
        "learn.learning_rate=0.05",
        "learn.final_learning_rate=0.05",
        "learn.average=0.01",
    )
    best = max(points, key=lambda point: (point[1].value, point[0]))
    about = json.loads((tmp_path / "run" / "checkpoint" / "policy.json").read_text())
    assert about["best_decisions"] == best[0]
    assert about["evaluation"][0]["value"] == best[1].value
    card = (tmp_path / "run" / "checkpoint" / "README.md").read_text()
    assert f"the best of {len(points)} points of the curve, that after {best[0]:,} decisions" in " ".join(card.split())


def test_the_card_names_whom_it_met(tmp_path: Path) -> None:
    run(tmp_path / "run", "pool.share=0.5", "pool.scripted=[odds, odds, bluffer]", "evaluation.tables=[]")
    assert (
        "Besides itself it met in training, and may have learnt to beat: odds, bluffer."
        in (tmp_path / "run" / "checkpoint" / "README.md").read_text()
    )


def test_a_best_that_nothing_measures_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train("ppo", CONFIG, *TINY, "evaluation.keep=best", "evaluation.tables=[]", out=tmp_path / "run") == 2
    assert "nothing is measured to choose by" in capsys.readouterr().err


def test_the_gauge_of_a_response_is_on_the_curve_and_moves_nothing(tmp_path: Path) -> None:
    points = run(tmp_path / "gauged", "evaluation.response_decisions=300")
    assert run(tmp_path / "plain") == [point for point in points if point[1].name != "response_gain"]
    gains = [m for _, m in points if m.name == "response_gain"]
    assert len(gains) * 2 == len(points)
    assert all(m.low <= m.value <= m.high for m in gains)
    assert metrics(tmp_path / "gauged") == metrics(tmp_path / "plain")


def test_a_response_finds_a_fault(tmp_path: Path) -> None:
    """A network that opens and raises alike, and hardly ever doubts, is beaten by its own response."""
    config = load_config(PPOConfig, CONFIG, (*TINY, "evaluation.response_decisions=12000", "evaluation.games=1000"))
    trainer = PPO(config)
    weights = trainer.weights()
    weights["layers.1.bias"] = weights["layers.1.bias"].copy()
    weights["layers.1.bias"][0] = -5.0  # Dudo
    (gain,) = learned_responses(config, weights, trainer.training_arrays())
    assert gain.low > 0.1


def test_a_policy_diverges_from_itself_by_nothing_and_from_another_by_the_formula() -> None:
    v = pe.variant("marquoir:starting_dice=2")
    odds, uniform = agents.make("odds", v, 2), agents.make("uniform", v, 2)
    assert divergence(odds, odds, v, 2, 20, 0).value == 0
    assert divergence(uniform, odds, v, 2, 50, 0).value > 0.1
    half = divergence(uniform, agents.make("mix:uniform=.5,odds=.5", v, 2), v, 2, 50, 0)
    assert 0 < half.value < np.log(2), "half of the weight is everywhere"


def test_positions_count_by_the_reach_of_the_teacher_in_the_seat_to_act() -> None:
    """The importance of the own earlier actions: 1 before there are any, at most 1 / (1 - share) for each that the teacher wants."""
    words = (
        *distil.SMOKE,
        "tables=[{variants: [joker], seats: [2]}]",
        "learn.hidden=[4]",
        "teacher.agent=odds",
        "evaluation.rounds=[]",
    )

    def counts(*more: str) -> list[np.ndarray]:
        config = load_config(distil.DistilConfig, CONFIG.parent / "duel-distill.yaml", (*words, *more))
        trainer = distil.Distiller(config)
        return [part[-1] for part in trainer._round(trainer.groups[0])]

    own = counts("teacher.uniform=0")
    assert all(part == pytest.approx(1) for part in own)
    mixed = counts("teacher.uniform=0.5")
    assert (mixed[0] == 1).all()
    assert (mixed[1] == 1).all()  # the other seat's first decision
    assert (mixed[2] <= 2).all()
    assert (mixed[2] < 0.5).any(), "an own action that the teacher hardly takes"
    assert all((part == 1).all() for part in counts("teacher.uniform=0.5", "teacher.by_reach=false"))


def test_distil_tells_divergence_and_what_best_responses_gain_against_teacher_and_network(tmp_path: Path) -> None:
    tiny = "joker:starting_dice=1,num_faces=2"
    overrides = (
        *distil.SMOKE, f"tables=[{{variants: ['{tiny}'], seats: [2]}}]", "learn.hidden=[16]", "teacher.agent='mix:uniform=.5,odds=.5'",
        f"evaluation.tables=[{{variant: '{tiny}', seats: 2}}]", f"evaluation.rounds=[{{variant: '{tiny}', dice: [1, 1]}}]",
        "evaluation.baselines=[]",
    )  # fmt: skip
    assert train("distil", CONFIG.parent / "duel-distill.yaml", *overrides, out=tmp_path / "run") == 0
    curve = [m for _, m in read_curve(tmp_path / "run" / "curve.csv") if m.name == "divergence"]
    assert len(curve) == 2
    assert curve[1].value < curve[0].value
    about = json.loads((tmp_path / "run" / "checkpoint" / "policy.json").read_text())
    found = {m["name"]: m["value"] for m in about["evaluation"]}
    mixed = agents.make("mix:uniform=.5,odds=.5", tiny, 2)
    assert found["teacher_nash_conv"] == pytest.approx(nash_conv(mixed, tiny, (1, 1)).nash_conv)
    assert found.keys() == {"nash_conv", "divergence", "teacher_nash_conv"}
