"""Tasks on a Ray cluster; only Ray core is needed.

A task that is lost with its node is played again elsewhere, to the same result; each result is taken once.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray

from train.core.sources import fingerprint
from train.core.tasks import AHEAD, BackendError, R

OBJECT_STORE = 200 * 2**20
"""Bytes of shared memory of a cluster started here: tasks and results are small."""

SECONDS_TO_CONNECT = 10.0


class Ray:
    """A Ray cluster: the running one at ``address`` (``host:port``, or ``auto``), or one of ``workers`` CPUs here."""

    def __init__(self, workers: int = 1, address: str | None = None) -> None:
        self.workers, self.address = workers, address
        self.moved = 0  # bytes of tasks, of what they share (once a node) and of results
        self._ours = False

    def __enter__(self) -> Ray:
        if not ray.is_initialized():
            self._connect()
            self._ours = True
        if ray.cluster_resources().get("CPU", 0) < 1:
            raise BackendError(f"the Ray cluster at {self.address} has no CPU to offer: start a node with ray start")
        return self

    def _connect(self) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "include_dashboard": False}
        if self.address is None:
            ray.init(num_cpus=self.workers, object_store_memory=OBJECT_STORE, **quiet)
            return
        _reach(self.address)
        try:
            ray.init(self.address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise BackendError(f"no Ray cluster answers at {self.address}: {error}") from error

    def __exit__(self, *_: Any) -> None:
        if self._ours:
            ray.shutdown()
            self._ours = False

    def run(
        self, function: Callable[..., R], tasks: Sequence[Any], common: tuple[Any, ...] = ()
    ) -> Iterator[tuple[int, R, str]]:
        """See :class:`train.core.tasks.Backend`; a worker's name is its node."""
        remote = ray.remote(num_cpus=1, max_retries=-1, scheduling_strategy="SPREAD")(_carried())
        module, here = function.__module__, fingerprint(function.__module__)
        packed = pickle.dumps(common)
        broadcast = ray.put(packed)
        nodes: set[str] = set()
        pending: dict[Any, int] = {}
        left = iter(enumerate(tasks))
        try:
            while True:
                # asked each time: nodes come and go
                room = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
                while len(pending) < room and (following := next(left, None)) is not None:
                    call = pickle.dumps((function, following[1]))
                    self.moved += len(call)
                    pending[remote.remote(module, here, call, broadcast)] = following[0]
                if not pending:
                    return
                (done, *_), _ = ray.wait(list(pending))
                node, result = _result(done, here)
                self.moved += len(result) + (0 if node in nodes else len(packed))
                nodes.add(node)
                yield pending.pop(done), pickle.loads(result), f"node {node[:8]}"
        finally:
            for reference in pending:
                ray.cancel(reference)


def _result(reference: Any, here: str) -> tuple[str, bytes]:
    """The node that ran a task and its pickled result; ``here`` is the fingerprint that it was to have."""
    try:
        kind, node, said = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        raise BackendError(f"the Ray cluster lost a task: {error}") from error
    if kind == "done":
        return node, said
    if kind == "missing":
        raise BackendError(f"the worker on node {node[:8]} lacks the package ({said}): install this one there ({here})")
    raise BackendError(
        f"the worker on node {node[:8]} has another version: {said} there, {here} here; install the same"
    )


def _carried() -> Callable[[str, str, bytes, bytes], tuple[str, str, Any]]:
    """The function that workers run: nested, so that Ray carries its code, and it can complain without the package."""

    def work(module: str, expected: str, call: bytes, common: bytes) -> tuple[str, str, Any]:
        import ray

        node = ray.get_runtime_context().get_node_id()
        try:
            from train.core import sources, tasks
        except ImportError as error:
            return "missing", node, str(error)
        found = sources.fingerprint(module)
        if found != expected:
            return "other", node, found
        return "done", node, tasks.call_pickled(call, common)

    return work


def _reach(address: str) -> None:
    """Raise ``BackendError`` unless something listens at ``host:port``: Ray itself tries for a minute, then aborts."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon:
        return
    try:
        socket.create_connection((host, int(port)), timeout=SECONDS_TO_CONNECT).close()
    except (OSError, ValueError) as error:
        raise BackendError(
            f"no Ray cluster answers at {address}: {error}; give host:port of ray start --head"
        ) from error
