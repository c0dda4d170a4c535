"""Files: whole or not at all, tried before the work, one line where they cannot be."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from perudo_env.__main__ import main as perudo
from perudo_env.game.files import NotWrittenError, check_writable, read_json, read_whole, take_place, write_text
from tools import bench, scaling
from train.__main__ import main as command
from train.core.loop import Loop
from train.evaluate.tournament.records import RecordsFile

ROOT = Path(__file__).parents[2]
POSITION = "classic 22344/13566 opener=0 5x4"


@contextmanager
def little_room() -> Iterator[None]:
    """As on a disk that fills up: no file may grow beyond 8,192 bytes."""
    kept = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, kept[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, kept)


def test_what_does_not_fit_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "made" / "file.txt"
    write_text(path, "old")
    with little_room():
        check_writable(path)
        with pytest.raises(NotWrittenError, match=r"file.txt cannot be written \(File too large\)"):
            write_text(path, "new" * 9000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        with pytest.raises(NotWrittenError, match="name another file"):
            check_writable(path)
    assert [p.read_text() for p in path.parent.iterdir()] == ["old"]
    # a device is written to, and not replaced
    check_writable("/dev/null")
    write_text("/dev/null", "gone")
    with pytest.raises(NotWrittenError, match="No space left"):
        write_text("/dev/full", "text")
    assert Path("/dev/full").is_char_device()
    with pytest.raises(NotWrittenError, match=r"file.txt cannot be written \(it is no folder\)"):
        check_writable(path / "below")
    check_writable(tmp_path / "none" / "yet" / "file")
    assert [p.name for p in tmp_path.iterdir()] == ["made"]
    with pytest.raises(NotWrittenError, match="it is a folder"):
        check_writable(tmp_path)


def test_every_command_tries_its_output_before_hours_of_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is asked for more than a lifetime's work, to be written below a file."""
    file = tmp_path / "file"
    file.write_text("{}")
    bad, many = str(file / "below"), str(10**8)
    games = ["--agents", "odds", "uniform", "--seats", "2", "--games", many]
    for main, words in (
        (command, ["arena", *games, "--out", bad]),
        (command, ["arena", *games, "--out", str(tmp_path / "run"), "--records", bad]),
        (command, ["levels", "--games", many, "--out", bad]),
        (command, ["benchmark", "odds", "--out", bad]),
        (command, ["exploiter", "--agent", "odds", "--decisions", many, "--out", bad]),
        (command, ["numbers", "--heavy", "--again", "--file", bad]),
        (command, ["dataset", str(file), f"{bad}.npz"]),
        (bench.main, ["--out", bad]),
        (lambda _: scaling.main(games=10**9, write=Path(bad)), []),
        (command, ["tournament", str(ROOT / "configs/tournament.yaml"), f"games={many}", "--smoke", "--out", bad]),
        (command, ["exact", "--seconds", many, "--out", bad]),
        (perudo, ["picture", POSITION, bad]),
    ):  # fmt: skip
        assert main(words) == 2, words
        error = capsys.readouterr().err
        assert "cannot be written" in error
        assert error.strip().count("\n") == 0, error
    assert file.read_text() == "{}"
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["file"]


def test_a_disk_that_fills_up_ends_in_one_line_and_keeps_what_is_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, records = tmp_path / "run", tmp_path / "games.jsonl"
    games = ["--agents", "odds", "uniform", "--seats", "2", "--games", "60", "--chunk", "20", "--out", str(run)]
    with little_room():
        assert perudo(["picture", POSITION, str(tmp_path / "x.png")]) == 2
        assert not list(tmp_path.iterdir())
        assert command(["arena", *games]) == 2
        assert "arena.png cannot be written" in capsys.readouterr().err
        assert sorted(p.name for p in run.iterdir()) == ["arena.json", "results.csv"]
        assert command(["arena", *games, "--records", str(records)]) == 2
    kept = records.with_name("games.jsonl.unfinished")
    assert f"{kept} cannot be written (File too large); the first" in capsys.readouterr().err
    assert not records.exists()
    whole = kept.read_text(encoding="utf-8").rpartition("\n")[0] + "\n"
    assert whole.count("\n") >= 20
    told = tmp_path / "whole.jsonl"
    told.write_text(whole, encoding="utf-8")
    with little_room():
        assert command(["dataset", str(told), str(tmp_path / "d.npz")]) == 2
    assert "d.npz cannot be written (File too large)" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["games.jsonl.unfinished", "run", "whole.jsonl"]


class Counting:
    """A trainer that learns nothing."""

    decisions = 0

    def weights(self) -> dict[str, Any]:
        return {}

    def step(self) -> dict[str, float]:
        self.decisions += 1
        return {f"figure {i}": 1.0 for i in range(20)}

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {}, {}

    def restore(self, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        raise AssertionError


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_training_run_without_room_raises_one_error_and_no_thread_prints(
    tmp_path: Path,
) -> None:
    loop = Loop(Counting(), tmp_path, 5000, lambda: {"a": 1.0}, 10**6, 1e9, Console(quiet=True))
    with little_room(), pytest.raises(NotWrittenError, match=f"{tmp_path} cannot be written"):
        loop.run()


def test_a_device_stays_one_whoever_writes_to_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with RecordsFile(pipe) as records:
            records.add(0, ["{}"])
        assert os.read(reader, 99) == b"{}\n"
        (tmp_path / "whole").write_bytes(b"columns")
        take_place(tmp_path / "whole", pipe)
        assert os.read(reader, 99) == b"columns"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]


def test_what_has_no_end_is_not_read_to_it() -> None:
    assert perudo(["verify", "/dev/zero"]) == 2
    for read in (read_json, read_whole):
        with pytest.raises(ValueError, match="more than"):
            read("/dev/zero")
