"""The commands of agents and train: functions of one dataclass, whose fields are the options."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, get_type_hints


@dataclass(frozen=True)
class Command:
    """A function of one argument, a dataclass whose fields are the options; its module is imported when it is called.

    What the dataclass's ``more_help()``, if it has one, says is printed below the options.
    """

    function: str  # package.module:function
    says: str  # a line for the list of commands

    def found(self) -> tuple[Callable[[Any], int | None], Any]:
        """The function, and the dataclass of its options."""
        module, _, name = self.function.partition(":")
        function = getattr(import_module(module), name)
        (kind,) = (hint for argument, hint in get_type_hints(function).items() if argument != "return")
        return function, kind

    def run(self, prog: str, words: Sequence[str]) -> int:
        """Read the options and call it; returns what it returns, 0 for None."""
        import tyro  # here: the list of commands does without it

        function, kind = self.found()
        about = f"{self.says[:1].upper()}{self.says[1:]}.\n\n{sys.modules[kind.__module__].__doc__}"
        try:
            options = tyro.cli(kind, prog=prog, description=about, args=words)
        except SystemExit as end:
            if not end.code and hasattr(kind, "more_help"):  # after --help
                print(kind.more_help())
            raise
        return function(options) or 0
