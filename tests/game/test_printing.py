"""Printing of commands where not everything can be printed, or nobody reads."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agents.__main__ import main as command
from perudo_env.__main__ import main as perudo
from perudo_env.game.printing import printing

ROOT = Path(__file__).parents[2]


def test_what_an_encoding_lacks_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {}
    for encoding in ("utf-8", "cp1252", "ascii", "cp437", "cp932"):
        printed = io.TextIOWrapper(io.BytesIO(), encoding)
        typed = io.TextIOWrapper(io.BytesIO("Zoé, Łukasz 点\n".encode()), encoding)
        monkeypatch.setattr(sys, "stdout", printed)
        monkeypatch.setattr(sys, "stdin", typed)
        assert perudo(["rules"]) == 0
        with printing():
            assert typed.readline()
            print("Łukasz ≤ 点")
        said[encoding] = printed.buffer.getvalue().decode(encoding)
        assert said[encoding] == said["utf-8"].encode(encoding, "replace").decode(encoding)
        assert "?" in said[encoding] or encoding == "utf-8"


def test_another_pipe_that_breaks_is_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BrokenPipeError), printing():
        raise BrokenPipeError("a worker's")


def test_an_output_that_takes_nothing_ends_in_a_line() -> None:
    """A full disk as stdout, found at the last flush."""
    begin = "import sys; from perudo_env.game.printing import printing\n"
    with open("/dev/full", "w") as full:
        code = begin + "with printing():\n    print('hello'); sys.exit(0)"
        found = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert found.returncode == 2
    assert found.stderr.startswith("what was to be printed could not be written")
    assert found.stderr.count("\n") == 1


def test_streams_that_the_shell_has_closed_are_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stdout", None)
    with printing():
        print("hello", file=sys.stdout, flush=True)
        assert sys.stdin.readline() == ""


def test_only_the_doors_are_commands() -> None:
    """They print by it; no other module is run with ``python -m``, reads options by hand, or ends the process."""
    for folder in ("perudo_env", "agents", "train"):
        doors = {
            path.relative_to(ROOT / folder)
            for path in (ROOT / folder).rglob("*.py")
            if re.search(
                r"__name__ == .__main__.|sys\.exit\(|argparse\.ArgumentParser\(", path.read_text(encoding="utf-8")
            )
        }
        assert doors == {Path("__main__.py")}, folder


def test_the_terminal_needs_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["terminal"]) == 2
    assert "--plain" in capsys.readouterr().err
