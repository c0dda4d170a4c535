"""Ray: work lands on all nodes of a cluster, to the figures of one process; nodes may go, workers may be wrong."""

import os
import socket
import time
from pathlib import Path

import pytest
from rich.console import Console

ray = pytest.importorskip("ray", reason="pip install -e .[ray]")

from ray.cluster_utils import Cluster  # noqa: E402 - only where Ray is

from tests.evaluate.test_tournament import config, play, rows  # noqa: E402
from tests.selfplay.test_rollouts import figures, same, tiny  # noqa: E402
from train.__main__ import main as command  # noqa: E402
from train.core.backends import BackendError, Local  # noqa: E402
from train.core.config import load_config  # noqa: E402
from train.core.ray_backend import Ray  # noqa: E402
from train.evaluate.tournament import schedule  # noqa: E402
from train.evaluate.tournament.results import ResultsFile  # noqa: E402
from train.report.tournament import hold  # noqa: E402

pytestmark = pytest.mark.xdist_group("ray")  # one cluster for all
NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
# a node that was killed is found out in seconds; workers are not put behind whatever else the machine does
SYSTEM = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_failure_threshold": 5,
    "worker_niceness": 0,
}


def refuse(x):
    raise ValueError(f"{x} is refused")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A head of one CPU; tests add nodes, and take them away. Its workers find the package by PYTHONPATH alone."""
    before, here = os.environ.get("PYTHONPATH"), Path.cwd()
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])
    os.chdir(tmp_path_factory.mktemp("elsewhere"))
    made = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False, "_system_config": SYSTEM})
    with Ray(address=made.address):
        yield made
    made.shutdown()
    os.chdir(here)
    os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)


def test_the_arena_gives_the_figures_of_one_process(cluster, tmp_path):
    words = [
        "--agents",
        "odds",
        "uniform",
        "--variant",
        "pascal:starting_dice=2",
        "--seats",
        "3",
        "--games",
        "40",
        "--chunk",
        "9",
        "--rest",
    ]
    for name, more in (("local", []), ("ray", ["--backend", "ray", "--address", cluster.address])):
        out = ["--out", str(tmp_path / name), "--records", str(tmp_path / f"{name}.jsonl")]
        assert command(["arena", *words, *out, *more]) == 0
    assert (tmp_path / "local" / "results.csv").read_bytes() == (tmp_path / "ray" / "results.csv").read_bytes()
    assert (tmp_path / "local.jsonl").read_bytes() == (tmp_path / "ray.jsonl").read_bytes()
    from tests.core.test_ray import refuse  # by the name that the workers find it under

    with Ray(address=cluster.address) as backend, pytest.raises(ValueError, match="3 is refused"):
        list(backend.run(refuse, [3]))


class Losing(Ray):
    """Loses a node after its first result that comes from there, while the next are on their way."""

    def __init__(self, cluster, node, stop_after=None):
        super().__init__(address=cluster.address)
        self.cluster, self.node, self.stop_after = cluster, node, stop_after

    def run(self, function, tasks, common=()):
        for number, result, worker in super().run(function, tasks, common):
            yield number, result, worker
            if self.node is not None and worker == f"node {self.node.node_id[:8]}":
                self.cluster.remove_node(self.node, allow_graceful=False)
                self.node = None
            if self.node is None and self.stop_after is not None:
                self.stop_after -= 1
                if self.stop_after < 0:
                    raise BackendError("stopped")


def warm(cluster, node, function=time.sleep, tasks=(0.2,) * 4):
    """Wait until a new node has done such work, and give the name of its worker: the head, warm, would do it all alone."""
    name = f"node {node.node_id[:8]}"
    with Ray(address=cluster.address) as backend:
        ends = time.monotonic() + 300
        while name not in {worker for _, _, worker in backend.run(function, tasks)}:
            assert time.monotonic() < ends
    return name


def test_a_tournament_loses_a_node_and_goes_on_with_the_rest(cluster, tmp_path):
    """Begun on two nodes of which one goes, stopped, and finished on one: the results of one process."""
    chosen = load_config(schedule.TournamentConfig, config(tmp_path, games=60))
    node = cluster.add_node(**NODE)
    second = warm(cluster, node, schedule.play_task, chosen.tasks(chosen.cells()[0])[:4])
    with pytest.raises(BackendError, match="stopped"):
        hold(chosen, tmp_path / "ray", Losing(cluster, node, stop_after=3), Console())
    kept = rows(tmp_path / "ray")
    with ResultsFile(tmp_path / "ray" / schedule.RESULTS) as results:
        workers = results.workers()
    assert len(workers) == 2, "work lands on both nodes"
    assert second in workers
    hold(chosen, tmp_path / "ray", Ray(address=cluster.address), Console())
    hold(chosen, tmp_path / "local", Local(1), Console())
    assert set(kept) < set(rows(tmp_path / "local"))
    assert rows(tmp_path / "ray") == rows(tmp_path / "local")


def test_training_loses_a_node_and_no_update(cluster):
    """Updates on two nodes of which one goes: figures, weights and tables of the trainer in one process."""
    node = cluster.add_node(**NODE)
    warm(cluster, node)
    config = tiny("play.parts=4")
    alone, trainer = figures(config, Local(1), 3)
    with Losing(cluster, node) as backend:
        spread, other = figures(config, backend, 3)
    assert backend.node is None, "the node has played, and is gone"
    assert spread == alone
    assert same(trainer, other)
    assert backend.moved > 0


@pytest.mark.parametrize(
    ("package", "says"),
    [
        ("", "lacks the package"),
        ("def fingerprint(module):\n    return 'sources 0123'\n", "another version: sources 0123 there"),
    ],
)
def test_a_worker_without_the_package_or_with_another_is_told(package, says, cluster, tmp_path, capsys):
    core = tmp_path / "train" / "core"
    core.mkdir(parents=True)
    (core.parent / "__init__.py").touch()
    if package:
        (core / "__init__.py").touch()
        (core / "tasks.py").touch()
        (core / "sources.py").write_text(package)
    node = cluster.add_node(**NODE, env_vars={"PYTHONPATH": str(tmp_path)})
    overrides = ["--backend", "ray", "--address", cluster.address]
    words = [
        "--agents",
        "odds",
        "uniform",
        "--seats",
        "2",
        "--games",
        "40000",
        "--chunk",
        "40",
        "--out",
        str(tmp_path / "run"),
    ]
    assert command(["arena", *words, *overrides, "--records", str(tmp_path / "games.jsonl")]) == 1
    said = capsys.readouterr().err
    assert says in said
    kept = (tmp_path / "games.jsonl.unfinished").read_text().splitlines()
    assert f"{len(kept)} finished games are kept" in said
    cluster.remove_node(node, allow_graceful=False)


def test_an_unreachable_cluster_is_told_and_results_are_kept(tmp_path, capsys):
    assert play(tmp_path, "run", games=6) == 0
    kept = rows(tmp_path / "run")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(BackendError, match="no Ray cluster answers"):
            Ray(address=address)._connect()
        if not ray.is_initialized():
            assert (
                command(
                    [
                        "tournament",
                        str(config(tmp_path)),
                        "--out",
                        str(tmp_path / "run"),
                        "--backend",
                        "ray",
                        "--address",
                        address,
                    ]
                )
                == 1
            )
            assert f"no Ray cluster answers at {address}" in capsys.readouterr().err
    assert rows(tmp_path / "run") == kept
