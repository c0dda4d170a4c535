"""Options that commands share: the folder of a run, its configuration, and where tasks run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from tyro.conf import Positional, arg

from agents import BASELINES, HELD_OUT
from train.core.backends import Backend, Name, open_backend
from train.core.config import Section, describe

Out = Annotated[
    Path | None, arg(help="Run folder, by default runs/NAME-TIME; one that holds an unfinished run is gone on with.")
]
Seed = Annotated[int, arg(help="Fixes the dice and all draws.")]
Smoke = Annotated[bool, arg(help="A few seconds, to see that all works.")]
Workers = Annotated[
    int, arg(help="Processes of the local backend, or CPUs of a Ray started here; the results are the same.")
]
VariantOption = Annotated[str, arg(help="A preset, with switches if need be: box:calza=anyone,starting_dice=3.")]
MemoryOption = Annotated[
    Literal["perfect", "none"],
    arg(help="Whether agents are told dice counts that the variant hides, as who remembers every lost die knows them."),
]
AgentOption = Annotated[
    str,
    arg(
        help=f"A baseline ({', '.join(BASELINES)}), a shipped checkpoint's name, a checkpoint folder, or "
        f"package.module:factory; or a stranger, held out of all training ({', '.join(HELD_OUT)})."
    ),
]


@dataclass(frozen=True, kw_only=True)
class Where:
    """Where tasks run."""

    backend: Name = "local"
    """In processes here, or by Ray."""
    workers: Workers = 1
    address: str | None = None
    """A running Ray cluster, host:port or auto."""

    def open_backend(self) -> Backend:
        """The backend; raises ``ValueError`` for what cannot be meant, ``BackendError`` if Ray is not installed."""
        return open_backend(self.backend, self.workers, self.address)


@dataclass(frozen=True)
class Training:
    """A run that a YAML file configures; ``keys`` are what may stand in it."""

    keys: ClassVar[type[Section]]
    config: Positional[Path]
    """A YAML file."""
    overrides: Positional[tuple[str, ...]] = ()
    """Other values for its keys, like learn.learning_rate=1e-4."""
    out: Out = None
    smoke: Smoke = False

    @classmethod
    def more_help(cls) -> str:
        """The keys of the YAML file, a line each."""
        return keys_in_words(cls.keys)


def keys_in_words(kind: type[Section]) -> str:
    """The keys of a configuration, for the help of a command that takes them."""
    return f"Keys of the YAML file, as overrides with their defaults:\n\n{describe(kind)}"
