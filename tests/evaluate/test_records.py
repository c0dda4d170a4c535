"""Games kept as lines of JSON: what is read back is what was played, on any backend."""

import json

import numpy as np
import pytest

import perudo_env as pe
from train.__main__ import main as command
from train.core import options
from train.core.backends import BackendError, Local
from train.evaluate.tournament.lineups import draw_lineups, games_of
from train.evaluate.tournament.records import RecordsFile
from train.evaluate.tournament.tasks import cut, play_task

WORDS = [
    "--agents",
    "odds",
    "uniform",
    "--variant",
    "marquoir:starting_dice=2",
    "--seats",
    "3",
    "--games",
    "30",
    "--chunk",
    "7",
]


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_record_replays_to_the_result_of_its_game():
    lineups = draw_lineups(2, 3, 12, 4)
    for variant in ("classic", "box:calza=anyone", "evening", "pascal:rounds=one"):
        (task,) = cut(variant, ("odds", "uniform"), lineups, 4, record=True)
        done = play_task(task)
        games = [json.loads(line) for line in done.records]
        for number, game in enumerate(games):
            replayed = pe.Game.replay(game["record"])
            assert replayed.ranks == tuple(done.played.places[number])
            assert replayed.seed == games_of(lineups, 4)[1][number]
            assert game["agents"] == [("odds", "uniform")[a] for a in done.played.lineups[number]]
            assert (game["variant"], game["seats"]) == (variant, 3)
        assert sum(len(g["record"].splitlines()) - 1 for g in games) == done.played.rounds.sum()


def test_the_arena_keeps_all_its_games_in_one_order_on_any_number_of_processes(tmp_path):
    for workers in (1, 2):
        out = ["--out", str(tmp_path / f"run{workers}"), "--records", str(tmp_path / f"{workers}.jsonl")]
        assert command(["arena", *WORDS, *out, "--rest", "--workers", str(workers)]) == 0
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
    assert (tmp_path / "run1" / "results.csv").read_bytes() == (tmp_path / "run2" / "results.csv").read_bytes()
    games = read(tmp_path / "1.jsonl")
    assert len(games) == 30 * 3, "the tournament, and two cells of one against the rest"
    assert all(g["agents"].count("odds") == 1 for g in games[30:60])
    assert not list(tmp_path.glob("*.unfinished"))


def test_parts_are_written_in_order_and_a_failure_keeps_what_is_finished(tmp_path):
    path = tmp_path / "games.jsonl"
    with RecordsFile(path) as file:
        file.add(1, ["b", "c"])
        file.add(0, ["a"])
        assert not path.exists(), "it appears whole"
    assert path.read_text() == "a\nb\nc\n"
    with pytest.raises(KeyError), RecordsFile(path) as file:  # noqa: PT012 - the block that fails is the matter
        file.add(1, ["y", "z"])
        assert "2 finished games are kept in" in file.kept()
        raise KeyError
    assert path.read_text() == "a\nb\nc\n", "what was there stays"
    assert file.unfinished.read_text() == "y\nz\n"


def test_the_command_says_where_finished_games_are_when_workers_fail(tmp_path, capsys, monkeypatch):
    class Failing(Local):
        def run(self, function, tasks):
            yield 0, function(tasks[0]), "local"
            raise BackendError("a worker process died")

    monkeypatch.setattr(options, "open_backend", lambda *_: Failing(1))
    path = tmp_path / "games.jsonl"
    assert command(["arena", *WORDS, "--out", str(tmp_path / "run"), "--records", str(path)]) == 1
    assert f"a worker process died; 7 finished games are kept in {path}.unfinished" in capsys.readouterr().err
    assert len(read(path.with_name("games.jsonl.unfinished"))) == 7
    assert not (tmp_path / "run").exists()


def test_a_checkpoint_folder_is_found_from_elsewhere(tmp_path, monkeypatch):
    import agents

    monkeypatch.chdir(agents.CHECKPOINTS)
    (task,) = cut("classic:starting_dice=1", ("exact", "odds"), draw_lineups(2, 2, 3, 0), 0, record=True)
    monkeypatch.chdir(tmp_path)
    done = play_task(task)
    assert set(json.loads(done.records[0])["agents"]) == {"exact", "odds"}
    assert np.isin(done.played.places, (1, 2)).all()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--chunk", "0"], "chunk = 0"),
        (["--workers", "0"], "workers = 0"),
        (["--address", "auto"], "belongs to --backend ray"),
        (["--records", "."], "is a folder"),
    ],
)
def test_bad_input_is_refused(words, says, tmp_path, capsys):
    assert command(["arena", *WORDS, "--out", str(tmp_path / "run"), *words]) == 2
    assert says in capsys.readouterr().err
