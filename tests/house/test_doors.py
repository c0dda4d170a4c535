"""The doors of the packages: every command is listed, imported when it is called, and ends in one line where it cannot be."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass

import pytest

from agents.__main__ import main as agents
from agents.core.command import Command
from perudo_env.__main__ import main as perudo
from perudo_env.game.door import Door
from train.__main__ import main as train
from train.core.tasks import BackendError


@dataclass(frozen=True)
class Fault:
    """What a command is to end with."""

    kind: str = ""
    """The name of an exception."""


FAULTS = {
    "ValueError": (ValueError("seats = 9"), 2),
    "OSError": (PermissionError(13, "denied"), 2),
    "MemoryError": (MemoryError("too much"), 2),
    "NotImplementedError": (NotImplementedError("no probs"), 2),
    "ImportError": (ModuleNotFoundError("No module named 'torch'"), 2),
    "BackendError": (BackendError("a worker died"), 1),
    "KeyboardInterrupt": (KeyboardInterrupt("what is finished is kept"), 130),
}


def fail(options: Fault) -> int:
    """A command that goes wrong as it is told, or ends with 7."""
    if options.kind:
        raise FAULTS[options.kind][0]
    return 7


DOOR = Door(
    "python -m test", {"all": {"fail": Command(f"{__name__}:fail", "a command that fails")}}, "train", (BackendError,)
)


def test_what_goes_wrong_is_one_line_and_a_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert DOOR(["fail"]) == 7
    for kind, (error, code) in FAULTS.items():
        assert DOOR(["fail", "--kind", kind]) == code
        said = capsys.readouterr().err
        assert said.startswith("fail: ")
        assert str(error.args[-1]) in said
        assert said.count("\n") == 1
    assert DOOR(["fial"]) == 2
    assert (
        capsys.readouterr().err == "fial: it is no command (did you mean 'fail'?): python -m test --help lists them\n"
    )
    with pytest.raises(SystemExit, match="2"):
        DOOR(["fail", "--sort", "x"])


def test_every_command_is_listed_and_every_option_has_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    for door in (train, agents, perudo):
        assert door([]) == door(["--help"]) == 0
        listed = capsys.readouterr().out
        for name, command in (pair for commands in door.kinds.values() for pair in commands.items()):
            assert f"\n  {name} " in listed
            with pytest.raises(SystemExit, match="0"):
                door([name, "--help"])
            printed = capsys.readouterr().out
            shown = " ".join(printed.replace("│", " ").split())
            assert command.says[1:] in shown
            assert all(line.count(f"{door.prog} ") <= 1 for line in printed.splitlines()), (
                f"{name}: examples run together"
            )
            for option in re.findall(r"(?<= )(?:--|\[*[A-Z]+)[^│]*?\((?:default|required)", shown.partition("─ ")[2]):
                assert re.search(r"[a-z]+ [a-z]+.* \(\w+$", option), f"{name}: {option}"


def test_the_help_of_a_trainer_tells_the_keys_of_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    for name, key in (
        ("ppo", "learn.clip=0.2"), ("sb3", "ppo.num_steps="), ("distil", "teacher.agent="), ("nfsp", "round.dice="),
        ("deep-cfr", "learn.total_decisions="), ("compare", "trial_seconds=10.0"), ("tournament", "games=2000"), ("exploiter", "learn.clip=0.2"),
    ):  # fmt: skip
        with pytest.raises(SystemExit, match="0"):
            train([name, "--help"])
        assert f"\n{key}" in capsys.readouterr().out, name
    assert train(["ppo", "nofile.yaml"]) == 2
    assert capsys.readouterr().err.startswith("ppo: nofile.yaml does not exist: name a YAML file")


def test_the_list_loads_none_of_what_is_listed() -> None:
    code = "import sys; from train.__main__ import main; main(['--help']); print([m for m in ('torch', 'tyro', 'rich', 'pydantic') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
