"""The door of a package: its commands by kind, errors in one line, and the code to exit with."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from perudo_env.engine.variant import nearest
from perudo_env.game.printing import printing


class Command(Protocol):
    """What a door opens to."""

    @property
    def says(self) -> str:
        """A line for the list of commands."""
        ...

    def run(self, prog: str, words: Sequence[str]) -> int:
        """Read the options and do it; returns the code to exit with."""
        ...


@dataclass(frozen=True)
class Door:
    """The commands of a package by kind and name: ``python -m PACKAGE NAME OPTIONS``."""

    prog: str
    kinds: Mapping[str, Mapping[str, Command]]
    extra: str = ""  # of pip, which installs what all the commands need
    failures: tuple[type[Exception], ...] = ()  # what goes wrong elsewhere, and is not the fault of what was asked for

    def __call__(self, words: Sequence[str] | None = None) -> int:
        """Run the command line: 0, 2 for what cannot be done, 1 for what failed elsewhere, 130 if interrupted."""
        name, *rest = (sys.argv[1:] if words is None else words) or ["--help"]
        with printing():
            if name in ("--help", "-h"):
                print(self.help())
                return 0
            return self._run(name, rest)
        return 0  # nobody reads any more

    def help(self) -> str:
        """All commands by kind, a line each."""
        width = max(len(name) for commands in self.kinds.values() for name in commands)
        lines = [f"usage: {self.prog} COMMAND ...     ({self.prog} COMMAND --help lists a command's options)"]
        for kind, commands in self.kinds.items():
            lines += ["", kind, *(f"  {name:<{width}}  {command.says}" for name, command in commands.items())]
        return "\n".join(lines)

    def _run(self, name: str, words: Sequence[str]) -> int:
        commands = {n: c for of_a_kind in self.kinds.values() for n, c in of_a_kind.items()}
        code = 2
        try:
            if name not in commands:
                raise ValueError(f"it is no command{nearest(name, commands)}: {self.prog} --help lists them")
            return commands[name].run(f"{self.prog} {name}", words)
        except BrokenPipeError:
            raise
        except ImportError as error:
            said = f'{error}: pip install -e ".[{self.extra}]"' if self.extra else str(error)
        except (ValueError, OSError, MemoryError, NotImplementedError) as error:
            said = str(error)
        except KeyboardInterrupt as stopped:
            said, code = "; ".join(["stopped", *map(str, stopped.args)]), 130
        except self.failures as error:
            said, code = str(error), 1
        print(f"{name}: {said}", file=sys.stderr)
        return code
