"""Rules of the house for every file of the repository: masks are never forgotten, files stay small, no machine is named."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tools.wheel_check import WheelError, check_names

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 450
# An absolute path into somebody's machine; a slash after a word or a dot is part of an address or a relative path.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|tmp|home|root|mnt|Users|private|var/folders)/\w|\b[A-Z]:\\Users\\")
# Of stable_baselines3 they choose actions without a mask (sb3-contrib 226); sb3_contrib.common.maskable has better ones.
MASKLESS = ("evaluate_policy", "EvalCallback")


def repository_files() -> list[Path]:
    """All files that are or would be committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [ROOT / name for name in listed if (ROOT / name).is_file()]


def sources(*packages: str) -> list[Path]:
    return [p for p in repository_files() if p.suffix == ".py" and p.relative_to(ROOT).parts[0] in packages]


def maskless_calls(source: str) -> list[str]:
    """Where a source evaluates or predicts without masks, as ``line 3: evaluate_policy``."""
    tree, maskable, faults = ast.parse(source), set(), []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names if alias.name in MASKLESS]
            if (node.module or "").startswith("sb3_contrib.common.maskable"):
                maskable.update(alias.asname or alias.name for alias in node.names)
            else:
                faults += [f"line {node.lineno}: {name} of {node.module}" for name in names]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in MASKLESS and name not in maskable:
            faults.append(f"line {node.lineno}: {name}")
        if name == "predict" and not any(keyword.arg == "action_masks" for keyword in node.keywords):
            faults.append(f"line {node.lineno}: predict without action_masks")
    return faults


def test_no_policy_is_evaluated_without_masks():
    files = sources("agents", "train")
    assert files
    assert {str(p.relative_to(ROOT)): f for p in files if (f := maskless_calls(p.read_text(encoding="utf-8")))} == {}


@pytest.mark.parametrize(
    "source",
    [
        "from stable_baselines3.common.evaluation import evaluate_policy",
        "from stable_baselines3.common.evaluation import evaluate_policy as judge",
        "from stable_baselines3.common.callbacks import EvalCallback",
        "from stable_baselines3.common import evaluation\nevaluation.evaluate_policy(model, env)",
        "action, _ = model.predict(observation)",
        "action, _ = model.predict(observation, deterministic=True)",
    ],
)
def test_forgotten_masks_are_found(source):
    assert len(maskless_calls(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "from sb3_contrib.common.maskable.evaluation import evaluate_policy\nevaluate_policy(model, env)",
        "action, _ = model.predict(observation, action_masks=mask)",
        "from stable_baselines3.common.callbacks import BaseCallback",
    ],
)
def test_masked_calls_are_not_faults(source):
    assert maskless_calls(source) == []


def test_no_file_is_long():
    files = sources("perudo_env", "agents", "train")
    assert files
    lengths = {str(p.relative_to(ROOT)): len(p.read_text(encoding="utf-8").splitlines()) for p in files}
    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}


def test_no_file_names_a_machine():
    files = [p for p in repository_files() if b"\0" not in p.read_bytes()]
    assert ROOT / "pyproject.toml" in files
    found = [
        f"{p.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for p in files
        for number, line in enumerate(p.read_text(encoding="utf-8").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("/" + "home/ann/perudo", True),
        ("saved to '/" + "tmp/x.npz'", True),
        ("C:" + r"\Users\ann", True),
        ("https://example.org/home/page", False),
        ("runs/work/a.json", False),
        ("../tmp/a", False),
    ],
)
def test_paths_into_a_machine_are_recognised(text, named):
    assert bool(MACHINE_PATH.search(text)) is named


def test_a_wheel_holds_all_of_the_game_and_nothing_else():
    """What ``python -m tools.wheel_check`` asks of a wheel it has built."""
    names = [str(p.relative_to(ROOT)) for p in repository_files() if p.is_relative_to(ROOT / "perudo_env")]
    metadata = ["perudo_env-0.1.0.dist-info/METADATA"]
    check_names(names + metadata)
    with pytest.raises(WheelError, match="holds agents, train"):
        check_names([*names, *metadata, "train/__init__.py", "agents/scripted/odds.py"])
    with pytest.raises(WheelError, match=r"lacks perudo_env/__init__\.py"):
        check_names([name for name in names if name != "perudo_env/__init__.py"])
