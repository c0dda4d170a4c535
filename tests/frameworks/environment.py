"""A virtual environment of their own for the frameworks that do not fit constraints.txt: Tianshou and RLlib."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".venv-frameworks"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def python() -> str:
    """Its interpreter; the environment is made on first use, and anew when requirements.txt has changed."""
    pins, installed = REQUIREMENTS.read_text(encoding="utf-8"), FOLDER / "installed.txt"
    interpreter = FOLDER / "bin" / "python"
    with FileLock(f"{FOLDER}.lock"):
        if not installed.exists() or installed.read_text(encoding="utf-8") != pins:
            venv.create(FOLDER, clear=True, with_pip=True)
            # torch first and alone: its pinned CPU build, before anything could ask for another
            for wanted in (["torch"], ["-r", str(REQUIREMENTS)]):
                command = [
                    str(interpreter),
                    "-m",
                    "pip",
                    "install",
                    "-q",
                    "--no-compile",
                    "-c",
                    str(REQUIREMENTS),
                    *wanted,
                ]
                subprocess.run(command, check=True, stdout=sys.stderr)
            installed.write_text(pins, encoding="utf-8")
    return str(interpreter)


if __name__ == "__main__":
    print(python())
