"""Registration of the environments with Gymnasium and, where it has a registry (from 1.27), PettingZoo.

``import perudo_env`` registers them with whichever of the two is imported, before or after it, and imports neither: the
engine alone is then loaded in half the time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

GYMNASIUM_ID = "perudo/Perudo-v0"
PETTINGZOO_ID = "perudo_v0"


def register_envs() -> None:
    """Register with what is imported already, and see to it that what is imported later is told."""
    for name, register in REGISTER.items():
        if name in sys.modules:
            register(sys.modules[name])
        elif not any(isinstance(finder, _Awaited) and finder.name == name for finder in sys.meta_path):
            sys.meta_path.insert(0, _Awaited(name, register))


def _with_gymnasium(gymnasium: Any) -> None:
    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(
            GYMNASIUM_ID,
            entry_point="perudo_env.envs.single:PerudoEnv",
            vector_entry_point="perudo_env.envs.vector:LearnerVectorEnv",
        )


def _with_pettingzoo(pettingzoo: Any) -> None:
    if PETTINGZOO_ID not in getattr(pettingzoo, "aec_registry", {PETTINGZOO_ID}):
        pettingzoo.register("aec", PETTINGZOO_ID, "perudo_env.perudo_v0:env")
        pettingzoo.register("parallel", PETTINGZOO_ID, "perudo_env.perudo_v0:parallel_env")


REGISTER: dict[str, Callable[[Any], None]] = {"gymnasium": _with_gymnasium, "pettingzoo": _with_pettingzoo}


class _Awaited(MetaPathFinder):
    """A finder that lets the usual one find a package, and calls ``then`` once it is imported."""

    def __init__(self, name: str, then: Callable[[Any], None]) -> None:
        self.name, self.then = name, then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The usual spec of the awaited package; nothing of others."""
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_tell(module: ModuleType) -> None:
                execute(module)
                self.then(module)

            spec.loader.exec_module = execute_and_tell  # type: ignore[method-assign]
        return spec
