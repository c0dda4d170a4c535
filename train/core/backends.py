"""Backends that run tasks: in this process, in several, or on a Ray cluster; the same tasks give the same results."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from typing import Any, Literal

from train.core.tasks import AHEAD, Backend, BackendError, R

__all__ = ["Backend", "BackendError", "Local", "Name", "open_backend"]

Name = Literal["local", "ray"]


def open_backend(name: Name, workers: int = 1, address: str | None = None) -> Backend:
    """A backend by name; ``workers`` processes here, or, with ``address``, all of a running Ray cluster.

    Raises ``ValueError`` for what cannot be meant, ``BackendError`` if Ray is not installed.
    """
    if workers < 1:
        raise ValueError(f"workers = {workers} is not a number of processes: use a whole number from 1")
    if name == "local":
        if address is not None:
            raise ValueError(f"address = {address} belongs to --backend ray")
        return Local(workers)
    try:
        from train.core.ray_backend import Ray
    except ImportError as error:
        raise BackendError(f'Ray cannot be imported ({error}): pip install -e ".[ray]"') from error
    return Ray(workers, address)


class Local:
    """This process, or with more than one worker so many others, which live as long as the backend is open."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Local:
        if self.workers > 1:
            # spawned, not forked: numba and torch keep threads
            self._pool = ProcessPoolExecutor(self.workers, multiprocessing.get_context("spawn"), _end_with_parent)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def run(
        self, function: Callable[..., R], tasks: Sequence[Any], common: tuple[Any, ...] = ()
    ) -> Iterator[tuple[int, R, str]]:
        """See :class:`Backend`."""
        if self.workers == 1:
            return ((number, function(task, *common), "local") for number, task in enumerate(tasks))
        if self._pool is None:
            raise RuntimeError("the backend is not open: use it in a with statement")
        return self._spread(self._pool, function, tasks, common)

    def _spread(
        self, pool: ProcessPoolExecutor, function: Callable[..., R], tasks: Sequence[Any], common: tuple[Any, ...]
    ) -> Iterator[tuple[int, R, str]]:
        pending: dict[Future[tuple[R, str]], int] = {}
        left = iter(enumerate(tasks))
        try:
            while True:
                while len(pending) < AHEAD * self.workers and (following := next(left, None)) is not None:
                    pending[pool.submit(_named, function, following[1], common)] = following[0]
                if not pending:
                    return
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    yield pending.pop(future), *future.result()
        except BrokenExecutor as error:
            raise BackendError("a worker process died, perhaps for want of memory: use fewer workers") from error
        finally:
            for future in pending:
                future.cancel()


def _named(function: Callable[..., R], task: Any, common: tuple[Any, ...]) -> tuple[R, str]:
    return function(task, *common), f"process {os.getpid()}"


def _end_with_parent() -> None:
    """End this worker when its parent is killed: it would wait for tasks for ever."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
