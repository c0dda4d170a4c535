"""The protocol of backends, which run tasks somewhere to the same results."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol, TypeVar

R = TypeVar("R")

AHEAD = 2
"""Tasks handed out per worker before the first of them is done: no worker waits, and little is lost with one."""


class BackendError(RuntimeError):
    """Work cannot go on: no cluster, a worker that lacks the package or has another version, a worker that died."""


class Backend(Protocol):
    """Runs tasks somewhere; a context manager."""

    def run(
        self, function: Callable[..., R], tasks: Sequence[Any], common: tuple[Any, ...] = ()
    ) -> Iterator[tuple[int, R, str]]:
        """Yield (number of the task, ``function(task, *common)``, name of the worker) for every task, once each, in any order.

        ``function`` is a function of a module; ``common`` travels once to each node. Raises ``BackendError`` if the work
        cannot go on; what the function raises, it raises here.
        """
        ...

    def __enter__(self) -> Backend: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def call_pickled(call: bytes, common: bytes) -> bytes:
    """Run a pickled (function, task) with pickled further arguments, and pickle what comes of it.

    For workers that may lack the package: nothing is unpickled before they know.
    """
    function, task = pickle.loads(call)
    return pickle.dumps(function(task, *pickle.loads(common)))
