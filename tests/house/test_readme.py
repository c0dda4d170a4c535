"""README's code runs, and its generated parts are up to date."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tools.readme import README, filled

TEXT = README.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
COMMANDS = re.findall(r"^(python -m \S.*?)\s*(?:#.*)?$", TEXT, flags=re.MULTILINE)
# A block whose first line names a file is that file, for the commands.
FILES = {match[1]: block for block in BLOCKS if (match := re.match(r"# (\w+\.py)\n", block))}
# How a command is made short enough for a test.
SHORTER = {
    "arena": ["--games", "20"],
    "tournament": ["--smoke", "--workers", "1"],
    "sb3": ["ppo.total_decisions=2048", "--smoke"],
    "compare": ["--smoke"],
    "nfsp": ["--smoke"],
    "ppo": ["--smoke"],
    "distil": ["--smoke"],
    "exact": ["--seconds", "1"],
    "recall": ["--seconds", "1", "--dice", "1", "1"],
    "tables": ["--seconds", "1", "--starting-dice", "1"],
    "numbers": ["--show"],
    "exploitability": ["--dice", "1", "1"],
    "local-best-response": ["--games", "2", "--effort.raises", "2", "--effort.samples", "2", "--dice", "1", "1", "1"],
    "exploiter": ["--decisions", "50", "--games", "6", "--settings", "play.tables=8", "evaluation.games=4"],
    "benchmark": ["--smoke", "--workers", "1"],
}


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_code_block(code: str) -> None:
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command: str, tmp_path: Path) -> None:
    _, _, package, name, *words = shlex.split(command)
    for file, block in FILES.items():
        (tmp_path / file).write_text(block, encoding="utf-8")
    config = [str(README.parent / w) if w.startswith("configs/") else w for w in words]
    done = subprocess.run(
        [sys.executable, "-m", package, name, *config, *SHORTER.get(name, [])],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_generated_parts_are_up_to_date() -> None:
    assert filled(TEXT) == TEXT, "run python -m tools.readme"


def test_what_readme_names_is_there() -> None:
    for path in re.findall(r"\]\(([\w/.]+)\)|`((?:configs|agents|tests|docs)/[\w/.]+)`", TEXT):
        name = path[0] or path[1]
        assert (README.parent / name).exists(), name
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`?make (\w+)`?", TEXT):
        assert target in ("s",) or re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
