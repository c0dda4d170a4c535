"""Tasks on this machine: each result once, errors told, no worker outlives its parent."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from train.core.backends import BackendError, Local, open_backend


def power(x, exponent=1):
    if x < 0:
        raise ValueError(f"{x} is negative")
    return x**exponent


def die(x):
    os._exit(3)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_task_gives_one_result(workers):
    with Local(workers) as backend:
        found = list(backend.run(power, list(range(9)), (2,)))
        assert sorted((number, result) for number, result, _ in found) == [(x, x * x) for x in range(9)]
        assert list(backend.run(power, [])) == []
        with pytest.raises(ValueError, match="-1 is negative"):
            list(backend.run(power, [1, -1, 2]))
        assert [result for _, result, _ in backend.run(power, [3])] == [3], "an error in a task leaves the workers"


def test_a_worker_that_dies_is_an_error_that_says_so():
    with Local(2) as backend, pytest.raises(BackendError, match="a worker process died"):
        list(backend.run(die, [1, 2]))
    with pytest.raises(RuntimeError, match="not open"):
        backend.run(die, [1])


PARENT = """
import os, time
from train.core.backends import Local

def work(x):
    print(os.getpid(), flush=True)
    time.sleep(60)

if __name__ == "__main__":
    with Local(2) as backend:
        list(backend.run(work, [1, 2]))
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked up in /proc")
def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    root = str(Path(__file__).parents[2])
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": root}
    )
    workers = [int(parent.stdout.readline()) for _ in range(2)]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    ends = time.monotonic() + 20
    while left := [w for w in workers if Path(f"/proc/{w}").exists()]:
        assert time.monotonic() < ends, f"{left} still run"
        time.sleep(0.05)


def test_ray_missing_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "train.core.ray_backend", None)
    with pytest.raises(BackendError, match="pip install"):
        open_backend("ray")
