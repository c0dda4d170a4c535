"""The large tournament: resumable to the same results, and never on top of anything else."""

import csv
import html.parser
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from rich.console import Console

from perudo_env.policy import UniformPolicy
from train.__main__ import main as command
from train.core import options
from train.core.backends import BackendError, Local
from train.core.config import load_config
from train.core.measured import read_measured
from train.evaluate.tournament import schedule
from train.evaluate.tournament.arena import Arena, measure
from train.evaluate.tournament.overall import judge, overall, ratings
from train.evaluate.tournament.results import FORMAT, ResultsFile
from train.evaluate.tournament.tables import by_seats, in_points
from train.report import tournament as pages

ROOT = Path(__file__).parents[2]
SMALL = {
    "agents": ["odds", "uniform", "threshold"], "variants": ["classic:starting_dice=2", "pascal:rounds=one"],
    "seats": [2, 3], "games": 20, "task": 6, "seed": 5,
}  # fmt: skip
ROWS = "SELECT variant, seats, task, game, seat, agent, place FROM results ORDER BY 1, 2, 3, 4, 5"


class Mortal(UniformPolicy):
    """Kills the process it plays in: the file PERUDO_MORTAL says how often, and after how many of its choices."""

    calls = 0

    def __init__(self, *_):
        pass

    def act(self, observations, masks, rng):
        Mortal.calls += 1
        file = Path(os.environ["PERUDO_MORTAL"])
        lives, after = map(int, file.read_text().split())
        if lives and Mortal.calls == after:
            file.write_text(f"{lives - 1} {after}")
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(observations, masks, rng)


def config(tmp_path, **changes):
    path = tmp_path / "tournament.yaml"
    path.write_text(yaml.safe_dump({**SMALL, **changes}))
    return path


def play(tmp_path, out, *overrides, workers=1, **changes):
    words = [str(config(tmp_path, **changes)), *overrides, "--out", str(tmp_path / out), "--workers", str(workers)]
    return command(["tournament", *words])


def rows(folder):
    with sqlite3.connect(f"file:{folder / schedule.RESULTS}?mode=ro", uri=True) as db:
        return db.execute(ROWS).fetchall()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run from beginning to end."""
    tmp_path = tmp_path_factory.mktemp("whole")
    assert play(tmp_path, "run") == 0
    return tmp_path / "run"


def test_every_cell_has_its_games_and_every_agent_sits_as_often(whole):
    found = rows(whole)
    for variant in SMALL["variants"]:
        for seats in SMALL["seats"]:
            cell = [r for r in found if r[:2] == (variant, seats)]
            assert len(cell) == 24 * seats, "20 games are 4 tasks of 6"
            held = [sum(r[5] == a for r in cell) for a in SMALL["agents"]]
            assert max(held) - min(held) <= 2 * seats
            assert {r[6] for r in cell} <= set(range(1, seats + 1))


def test_two_processes_give_the_same_games(whole, tmp_path):
    assert play(tmp_path, "run", workers=2) == 0
    assert rows(tmp_path / "run") == rows(whole)


def test_killed_at_any_time_it_goes_on_to_the_same_results(tmp_path, monkeypatch):
    """SIGKILL in the middle of a task, twice: finished tasks stay, none counts twice."""
    lives = tmp_path / "lives"
    monkeypatch.setenv("PERUDO_MORTAL", str(lives))
    from tests.evaluate.test_tournament import Mortal  # by the name that the killed process finds it under

    agents = ["odds", "uniform", "tests.evaluate.test_tournament:Mortal"]
    lives.write_text("0 0")
    monkeypatch.setattr(Mortal, "calls", 0)
    assert play(tmp_path, "unharmed", agents=agents) == 0
    lives.write_text(f"2 {Mortal.calls // 4}")
    words = [
        "-m",
        "train",
        "tournament",
        str(config(tmp_path, agents=agents)),
        "--workers",
        "1",
        "--out",
        str(tmp_path / "killed"),
    ]
    done = []
    for _ in range(3):
        ended = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
        done.append(len(rows(tmp_path / "killed")))
    assert ended.returncode == 0, ended.stderr
    assert lives.read_text().startswith("0 ")
    assert 0 < done[0] < done[1] < done[2]
    assert rows(tmp_path / "killed") == rows(tmp_path / "unharmed")


def test_more_games_keep_the_first_and_a_finished_run_plays_nothing(whole, tmp_path, capsys):
    assert play(tmp_path, "run", games=8) == 0
    few = rows(tmp_path / "run")
    assert play(tmp_path, "run") == 0
    assert rows(tmp_path / "run") == rows(whole)
    assert set(few) < set(rows(whole))
    capsys.readouterr()
    assert play(tmp_path, "run") == 0
    assert "96 games in 4 cells, 96 of them done" in capsys.readouterr().out
    assert rows(tmp_path / "run") == rows(whole)


def test_the_arena_plays_the_games_of_a_cell(whole, tmp_path):
    with ResultsFile(whole / schedule.RESULTS) as results:
        judged = judge(results)[1]
    cell = judged.cell
    options = Arena(cell.agents, cell.variant, cell.seats, 24, cell.seed, chunk=6)
    assert measure(options, options.checked()[1], Console(quiet=True)).result == judged.result


def test_one_task_is_never_entered_twice(whole, tmp_path):
    chosen = load_config(schedule.TournamentConfig, config(tmp_path))
    (tmp_path / "run").mkdir()
    with ResultsFile(tmp_path / "run" / schedule.RESULTS, chosen.settings()) as results:
        cell = chosen.cells()[0]
        number = results.enter(cell)
        assert results.enter(cell) == number
        done = schedule.play_task(chosen.tasks(cell)[0])
        results.add(number, 0, done, "here")
        with pytest.raises(ValueError, match="UNIQUE"):
            results.add(number, 0, done, "there")
        assert results.workers() == {"here": 6}
    assert len(rows(tmp_path / "run")) == 12


def test_failing_workers_leave_finished_games(whole, tmp_path, capsys, monkeypatch):
    class Failing(Local):
        def run(self, function, tasks):
            yield from list(super().run(function, tasks[:5]))
            raise BackendError("a node is gone")

    monkeypatch.setattr(options, "open_backend", lambda *_: Failing(1))
    assert play(tmp_path, "run") == 1
    assert "a node is gone; finished games are kept in" in capsys.readouterr().err
    kept = rows(tmp_path / "run")
    assert len({r[:3] for r in kept}) == 5
    assert "30 games at 4 tables" in (tmp_path / "run" / pages.PAGE).read_text()
    monkeypatch.undo()
    assert play(tmp_path, "run") == 0
    assert rows(tmp_path / "run") == rows(whole)


def spoil(path, how):
    """Make a results file bad in one of several ways."""
    data = path.read_bytes()
    if how == "half written":
        path.write_bytes(data[: len(data) // 2 // 4096 * 4096])
    elif how == "text":
        path.write_text("variant,seats\nclassic,2\n")
    else:
        path.unlink() if how == "foreign" else None
        with sqlite3.connect(path) as db:
            statements = {"foreign": "CREATE TABLE notes (text)", "format": f"PRAGMA user_version = {FORMAT + 1}",
                          "made by": "UPDATE about SET value = '\"perudo-env 0.0.9\"' WHERE key = 'made by'"}  # fmt: skip
            db.execute(statements[how])
        db.close()


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("half written", "damaged"),
        ("text", "file is not a database"),
        ("foreign", "not the results of a tournament"),
        ("format", "has format 2, and this version reads 1"),
        ("made by", "made by = perudo-env 0.0.9 there"),
    ],
)
def test_a_bad_results_file_is_refused_and_left_as_it_is(how, says, whole, tmp_path, capsys):
    path = tmp_path / "run" / schedule.RESULTS
    path.parent.mkdir()
    path.write_bytes((whole / schedule.RESULTS).read_bytes())
    spoil(path, how)
    before = path.read_bytes()
    assert play(tmp_path, "run") == 2
    assert says in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"seed": 6}, "seed = 5 there, 6 here"),
        ({"task": 12}, "task = 6 there, 12 here"),
        ({"agents": ["odds", "uniform"]}, "between odds, uniform, threshold, and here between odds, uniform"),
        ({"agents": ["oddz"]}, "did you mean 'odds'"),
        ({"variants": ["clasic"]}, "did you mean 'classic'"),
        ({"seats": [9]}, "seats.0 = 9"),
        ({"games": 0}, "games = 0"),
        ({"round": 0}, "unknown key 'round'"),
    ],
)
def test_another_tournament_or_a_bad_one_is_refused(changes, says, whole, tmp_path, capsys):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / schedule.RESULTS).write_bytes((whole / schedule.RESULTS).read_bytes())
    assert play(tmp_path, "run", **changes) == 2
    assert says in capsys.readouterr().err
    assert rows(tmp_path / "run") == rows(whole)


def test_two_runs_on_one_file_are_refused(tmp_path, capsys):
    (tmp_path / "run").mkdir()
    chosen = load_config(schedule.TournamentConfig, config(tmp_path))
    with ResultsFile(tmp_path / "run" / schedule.RESULTS, chosen.settings()):
        assert play(tmp_path, "run") == 2
    assert "is being written by another run" in capsys.readouterr().err


def test_the_page_is_whole_alone(whole, tmp_path):
    assert command(["tournament-page", str(whole / schedule.RESULTS), str(tmp_path / "page.html")]) == 0
    text = (tmp_path / "page.html").read_text()
    assert text == (whole / pages.PAGE).read_text(), "equal results, equal pages"
    links = []

    class Links(html.parser.HTMLParser):
        def handle_starttag(self, tag, attributes):
            links.extend(v for k, v in attributes if k in ("src", "href") and not v.startswith("data:"))

    Links().feed(text)
    assert links == []
    assert text.count("data:image/svg+xml") == 2
    with ResultsFile(whole / schedule.RESULTS) as results:
        judged = judge(results)
    with (tmp_path / "page.csv").open(newline="") as file:
        shares = [read_measured(row) for row in csv.DictReader(file)]
    in_words = by_seats(shares).markdown()
    rows = overall(judged, ratings(judged))
    for row in rows:
        assert f"<tr><td>{row.agent}</td><td>4</td>" in text
        assert f">{row.relative}</td><td>{in_points(row.points)}</td>" in text
    assert np.mean([r.relative.value for r in rows]) == pytest.approx(1, abs=0.1)
    assert rows[-1].agent == "uniform"
    assert [line.split("`")[1] for line in in_words.splitlines()[2:]] == [row.agent for row in rows]
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    assert command(["tournament-page", str(tmp_path / "nothing.sqlite"), str(tmp_path / "none.html")]) == 2


def test_all_shipped_agents_meet_at_all_presets(tmp_path):
    chosen = load_config(schedule.TournamentConfig, ROOT / "configs/tournament.yaml")
    cells = chosen.cells()
    assert {(c.variant, c.seats) for c in cells} == {(v, n) for v in schedule.VARIANTS for n in range(2, 7)}
    assert len({c.seed for c in cells}) == len(cells)
    for cell in cells:
        out = {line.partition(":")[0] for line in cell.left_out}
        assert set(cell.agents) | out == set(schedule.registry.names())
