"""The trainers' run folders: small runs, kill -9 and what goes on after it, bad input, a full disk; and that one learns."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from safetensors.numpy import load_file

import agents
import perudo_env as pe
from tests.helpers import train
from train.core.curve import read_curve
from train.core.loop import STATE
from train.core.state import load_state, save_state
from train.research import compare, deep_cfr, nfsp
from train.selfplay import distil, options, sb3

ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / "configs"


class Kind(NamedTuple):
    """The configuration of a trainer's test, and one wrong override with what is said of it."""

    config: Path
    overrides: tuple[str, ...]
    table: str  # the variant that its checkpoint plays
    wrong_type: str
    unknown: str


TINY = "evaluation.every=100000"  # one point, at the end
# whole games of two tables, a pool: all that its state has to hold
PPO = Kind(
    CONFIGS / "ppo.yaml",
    (
        *options.SMOKE, TINY, "tables=[{variants: ['marquoir:starting_dice=2', classic], seats: [2, 3]}]", "play.tables=64",
        "learn.hidden=[16]", "learn.critic_hidden=[16]", "play.groups_per_batch=2", "pool.share=0.5", "pool.scripted=[odds]",
        "evaluation.rounds=[]", "evaluation.tables=[]",
    ),
    "classic", "learn.clip=wide", "learn.klip=1",
)  # fmt: skip


def ppo_with(*switches: str) -> Kind:
    """A variant of PPO."""
    return PPO._replace(overrides=(*PPO.overrides, *switches))


# a command, and of one with switches which
KINDS = {
    "ppo": PPO,
    "ppo last": ppo_with("learn.magnet=last", "learn.kl=0.3", "learn.epochs=2"),
    "ppo average": ppo_with("learn.magnet=average", "learn.kl=0.3", "run.precision=bfloat16"),
    "ppo reference": ppo_with("learn.magnet=reference", "learn.kl=0.3", "learn.reference_every=300", "run.precision=float32"),
    "ppo actions": ppo_with("learn.critic=action_values", "learn.uniform=0.1", "learn.epochs=2", "run.precision=float32"),
    "ppo best": ppo_with(
        "evaluation.every=300", "evaluation.keep=best", "evaluation.baselines=[uniform]", "evaluation.tables=[{variant: classic, seats: 2}]"
    ),
    "ppo games": ppo_with("play.tables=8", "learn.critic=action_values", "play.unit=games", "run.precision=bfloat16"),
    "nfsp": Kind(
        CONFIGS / "nfsp.yaml", (*nfsp.SMOKE, TINY, "learn.hidden=[16]"), "joker:starting_dice=2",
        "learn.tables=2.5", "learn.reservior=3",
    ),
    "deep-cfr": Kind(
        CONFIGS / "deep_cfr.yaml",
        (*deep_cfr.SMOKE, TINY, "learn.hidden=[16]", "learn.walks=5", "learn.total_decisions=3000", "learn.memory=1500"),
        "joker:starting_dice=2", "learn.afresh=perhaps", "learn.walk=3",
    ),
    "distil": Kind(
        CONFIGS / "duel-distill.yaml",
        (
            *distil.SMOKE, TINY, "tables=[{variants: [classic, 'box:starting_dice=2'], seats: [2, 3]}]", "play.groups_per_batch=2",
            "learn.hidden=[16]", "learn.total_decisions=2000", "teacher.agent=odds",
            "evaluation.rounds=[]", "evaluation.tables=[]",
        ),
        "classic", "learn.epochs=many", "teacher.agents=[odds]",
    ),
    "sb3": Kind(
        CONFIGS / "quickstart.yaml", (*sb3.SMOKE, TINY, "ppo.hidden=[16]", "evaluation.baselines=[uniform]", "ppo.num_steps=32"),
        "marquoir:starting_dice=3", "ppo.gamma=all", "ppo.gama=1",
    ),
}  # fmt: skip
each = pytest.mark.parametrize("name", KINDS)

# Runs a trainer whose third save is a kill -9 instead: what was written after the second one is to be forgotten.
KILLED = """
import os, signal, sys
from train.__main__ import main
from train.core.loop import Loop
save, count = Loop.save, 0
def dying(self):
    global count
    count += 1
    if count == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    save(self)
Loop.save = dying
main()
"""


def command_of(name: str) -> str:
    """The command of a kind."""
    return name.partition(" ")[0]


def run(name: str, out: Path, *more: str) -> int:
    kind = KINDS[name]
    return train(command_of(name), kind.config, *kind.overrides, *more, out=out)


def rows_of(path: Path) -> list[dict[str, str]]:
    """A CSV's rows without the column of seconds."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a whole run of a trainer, made on first use."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name) / "run"
            assert run(name, made[name]) == 0
        return made[name]

    return folder


@each
def test_a_small_run_writes_all_it_promises(name: str, finished: Callable[[str], Path]) -> None:
    folder, kind = finished(name), KINDS[name]
    for file in ("config.yaml", "metrics.csv", "curve.csv", STATE, "checkpoint/policy.json", "checkpoint/README.md"):
        assert (folder / file).stat().st_size > 0
    assert list(folder.glob("events.out.tfevents.*"))
    metrics = rows_of(folder / "metrics.csv")
    assert len(metrics) > 3
    assert all(np.isfinite(float(v)) for row in metrics for k, v in row.items() if "rollout" not in k)
    policy = agents.make(str(folder / "checkpoint"), kind.table, 2)
    game = pe.Game(kind.table, num_seats=2, seed=1)
    probs = policy.probs(game.observation(game.seat)[None], game.action_mask()[None])
    assert probs.sum() == pytest.approx(1)
    assert (probs[0][game.action_mask() == 0] == 0).all()


@each
def test_killed_moved_and_gone_on_with_is_as_never_killed(
    name: str, finished: Callable[[str], Path], tmp_path: Path
) -> None:
    """stable-baselines3 1277: resuming restarted counters and lost the generator."""
    whole, kind, out = finished(name), KINDS[name], tmp_path / "run"
    words = [sys.executable, "-c", KILLED, command_of(name), str(kind.config), *kind.overrides, "--out", str(out)]
    killed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert 3 <= len(rows_of(out / "metrics.csv")) < len(rows_of(whole / "metrics.csv"))
    assert not (out / "checkpoint").exists()
    out = out.rename(tmp_path / "moved")
    assert train(command_of(name), out / "config.yaml", out=out) == 0
    assert rows_of(out / "metrics.csv") == rows_of(whole / "metrics.csv")
    assert rows_of(out / "curve.csv") == rows_of(whole / "curve.csv")
    weights, expected = (load_file(f / "checkpoint" / "weights.safetensors") for f in (out, whole))
    assert weights.keys() == expected.keys()
    assert all((weights[k] == expected[k]).all() for k in weights)


@each
def test_bad_configurations_are_refused_naming_the_key(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = KINDS[name]
    for wrong in (kind.wrong_type, kind.unknown):
        assert run(name, tmp_path / "run", wrong) == 2
        assert wrong.partition("=")[0] in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@each
def test_a_folder_of_another_configuration_is_refused_and_kept(
    name: str, finished: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = finished(name)
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert run(name, folder, "run.seed=9") == 2
    assert "another configuration (run differ)" in capsys.readouterr().err
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


@each
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_truncated_state_is_refused_and_nothing_lost(
    name: str, share: float, finished: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for file in ("config.yaml", "metrics.csv", "curve.csv", STATE):
        (folder / file).write_bytes((finished(name) / file).read_bytes())
    whole = (folder / STATE).read_bytes()
    (folder / STATE).write_bytes(whole[: int(len(whole) * share)])
    assert run(name, folder) == 2
    assert "state.safetensors is not the state of a run" in capsys.readouterr().err
    for file in ("metrics.csv", "curve.csv"):
        assert (folder / file).read_bytes() == (finished(name) / file).read_bytes()


def test_a_full_disk_leaves_the_last_state(tmp_path: Path) -> None:
    """The kernel refuses to write beyond a file size, as a full disk would."""
    path, small = tmp_path / STATE, {"a": np.arange(10)}
    save_state(path, small, {"n": 1})
    code = (
        "import resource, signal, sys, numpy as np\n"
        "from pathlib import Path\n"
        "from train.core.state import save_state\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    save_state(Path(sys.argv[1]), {'a': np.arange(100_000)}, {'n': 2})\n"
        "except OSError as error:\n"
        "    print('refused:', error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("refused: ")
    assert str(path) in done.stdout
    arrays, about = load_state(path)
    assert about == {"n": 1}
    assert (arrays["a"] == small["a"]).all()
    assert [p.name for p in tmp_path.iterdir()] == [STATE]


def test_a_round_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("nfsp", tmp_path / "run", "round.variant=classic") == 2
    assert "no single round that seat 0 opens" in capsys.readouterr().err
    assert run("nfsp", tmp_path / "run2", "round.variant=joker", "round.dice=[3, 3]") == 2
    assert "information states" in capsys.readouterr().err


def test_mirror_descent_learns_a_tiny_round(tmp_path: Path) -> None:
    """Exact NashConv of one die each with three faces; uniform play has 1.02."""
    tiny = "joker:starting_dice=1,num_faces=3"
    overrides = (
        f"tables=[{{variants: ['{tiny}'], seats: [2], dice: [1, 1]}}]", f"evaluation.rounds=[{{variant: '{tiny}', dice: [1, 1]}}]",
        "learn.total_decisions=30000", "evaluation.every=1000000", "learn.hidden=[64]", "learn.critic_hidden=[64]",
        "play.tables=128", "learn.minibatch=256", "learn.epochs=4", "run.precision=float32",
    )  # fmt: skip
    assert train("ppo", CONFIGS / "ppo_round.yaml", *overrides, out=tmp_path / "run") == 0
    _, found = read_curve(tmp_path / "run" / "curve.csv")[-1]
    assert (found.name, found.table) == ("nash_conv", f"{tiny} 1v1")
    assert 0 <= found.value < 0.3


def test_the_comparison_runs_all_and_goes_on(tmp_path: Path) -> None:
    """What is done is not done again, and what was killed goes on with the decisions that it was given."""
    tiny = "rounds=[{variant: 'joker:starting_dice=1,num_faces=3', dice: [1, 1]}]"
    overrides = tiny, "trainers=[deep_cfr, ppo_reference, recall_2, dcfr]"
    assert train("compare", CONFIGS / "compare.yaml", *overrides, out=tmp_path, smoke=True) == 0
    points = compare.read_points(tmp_path / "compare.csv")
    assert list(dict.fromkeys(p.trainer for p in points)) == ["deep_cfr", "ppo_reference", "recall_2", "dcfr"]
    assert (tmp_path / "compare.png").stat().st_size > 0
    assert all(p.cpu_seconds > 0 and 0 <= p.nash_conv < 2 for p in points)
    dcfr = [p.nash_conv for p in points if p.trainer == "dcfr"]
    assert dcfr[-1] < 0.01
    (killed,) = tmp_path.glob("ppo_reference-*")
    for path in (tmp_path / "speeds.json", killed / STATE, killed / "curve.csv", killed / "metrics.csv"):
        path.unlink()
    before = points
    assert train("compare", CONFIGS / "compare.yaml", *overrides, out=tmp_path, smoke=True) == 0
    again = compare.read_points(tmp_path / "compare.csv")
    assert [p[:5] + p[6:] for p in again] == [p[:5] + p[6:] for p in before]
    assert [p for p in again if p.trainer != "ppo_reference"] == [p for p in before if p.trainer != "ppo_reference"]


@pytest.mark.parametrize("trainer", ["ppo", "nfsp", "deep_cfr", "recall_2", "dcfr"])
def test_an_endgame_is_played_and_judged_with_the_bids_of_a_whole_game(tmp_path: Path, trainer: str) -> None:
    tiny = "rounds=[{variant: 'classic:rounds=one,first_player=first_seat,num_faces=2,starting_dice=2', dice: [1, 1], endgame: true}]"
    assert train("compare", CONFIGS / "compare.yaml", tiny, f"trainers=[{trainer}]", out=tmp_path, smoke=True) == 0
    points = compare.read_points(tmp_path / "compare.csv")
    assert points[-1].round.endswith("1v1, endgame")
    assert 0 <= points[-1].nash_conv < (0.02 if trainer in ("recall_2", "dcfr") else 2)


def test_the_ends_of_curves_are_told_with_their_spread_and_their_rise() -> None:
    points = [
        compare.Point("ppo", "r", 5.0, seed, step, 1.0, value)
        for seed, curve in ((1, (0.5, 0.2, 0.3)), (2, (0.6, 0.4, 0.4)), (3, (0.9, 0.1, 0.9)))
        for step, value in enumerate(curve)
    ]
    told = compare.last_points(points).markdown()
    assert "| `ppo` | 0.400 (0.300 to 0.900) | 0.100 |" in told
