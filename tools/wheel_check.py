"""The check that ``perudo_env`` is whole alone: its wheel, in a clean venv outside the checkout, plays and passes PettingZoo's test.

    python -m tools.wheel_check

Needs ``build`` and a package index; takes a minute. Exits with 1 and says what is wrong.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PROBE = """
import importlib.util
import sys
import warnings
from pathlib import Path

import perudo_env
from perudo_env import Game, perudo_v0

assert Path(perudo_env.__file__).is_relative_to(sys.prefix), f"perudo_env comes from {perudo_env.__file__}, not from the wheel"
game = Game("classic", 3, 7)
while not game.is_over:
    game.act(game.legal_actions()[-1 if game.standing_bid is None else 0])
assert sorted(game.ranks) == [1, 2, 3], game.ranks
assert Game.replay(game.record()).ranks == game.ranks

from pettingzoo.test import api_test

with warnings.catch_warnings():
    # A Dict observation with its mask is not the Box that the test would rather see.
    warnings.filterwarnings("ignore", "Observation")
    for make in (perudo_v0.env, perudo_v0.raw_env):
        api_test(make(), num_cycles=200)

assert "torch" not in sys.modules, "perudo_env has imported torch"
for name in ("agents", "train", "tests"):
    assert importlib.util.find_spec(name) is None, f"{name} can be imported: the wheel should hold perudo_env alone"
print("the game of seed 7 ends with places", game.ranks)
"""


class WheelError(Exception):
    """What is wrong with the wheel."""


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout into ``folder``."""
    _run([sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT], folder, "the wheel cannot be built")
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise WheelError(f"one wheel was to be built, but there are {[w.name for w in wheels]}")
    return wheels[0]


def check_names(names: Sequence[str]) -> None:
    """Raise ``WheelError`` unless the files of a wheel are ``perudo_env`` and its metadata, all of it."""
    tops = {name.split("/")[0] for name in names}
    foreign = sorted(top for top in tops if top != "perudo_env" and not top.endswith(".dist-info"))
    if foreign:
        raise WheelError(f"the wheel holds {', '.join(foreign)}: it should hold perudo_env alone")
    tracked = subprocess.run(["git", "ls-files", "perudo_env"], cwd=ROOT, check=True, capture_output=True, text=True)
    missing = sorted(set(tracked.stdout.split()) - set(names))
    if missing:
        raise WheelError(f"the wheel lacks {', '.join(missing)}")


def check_alone(wheel: Path, folder: Path) -> str:
    """Install a wheel in a new venv in ``folder`` and play there; returns what the probe printed."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel]
    _run(install, folder, "the wheel cannot be installed")
    return _run([python, "-c", PROBE], folder, "perudo_env does not work alone")


def _run(command: Sequence[str | Path], folder: Path, trouble: str) -> str:
    # with PYTHONPATH the checkout would be found after all
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run([str(c) for c in command], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise WheelError(f"{trouble}:\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> int:
    """Build, look inside, install, play."""
    with tempfile.TemporaryDirectory(prefix="wheel-check-") as name:
        folder = Path(name).resolve()
        if folder.is_relative_to(ROOT):
            print(f"error: {folder} lies inside the checkout: point TMPDIR elsewhere", file=sys.stderr)
            return 1
        try:
            wheel = build_wheel(folder)
            with zipfile.ZipFile(wheel) as archive:
                names = archive.namelist()
            check_names(names)
            print(f"{wheel.name}: {len(names)} files")
            print(check_alone(wheel, folder), end="")
        except WheelError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    print("the wheel is whole alone")
    return 0


if __name__ == "__main__":
    sys.exit(main())
