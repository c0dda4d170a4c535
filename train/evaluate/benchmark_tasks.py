"""The parts of the benchmark: each is measured alone, in any process, with the same result."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console

import agents as registry
from perudo_env.engine.batch import Batch
from perudo_env.engine.variant import RULE_TEXTS
from perudo_env.engine.variant import variant as find_variant
from perudo_env.game.files import make_folder, parse_json, write_text, written
from perudo_env.policy import Policy, UniformPolicy
from train.core.backends import open_backend
from train.core.progress import progress
from train.evaluate.exploitability import nash_conv
from train.evaluate.guard import Guard
from train.evaluate.tournament.standings import share_against

VERSION = "perudo-bench v0"
SEED = 20260101  # part of the version: the same dice and line-ups for everybody
OPPONENTS = {
    "uniform": "2a8925eaa486", "odds": "69769e3d8a56", "threshold": "a110d0a0cd24", "bluffer": "c3226c4ab03d",
    "inference": "376d099254e1",
}  # fmt: skip
"""Who is played against, part of the version as well, whatever agents there come to be: each with the digest of its play.

An agent that plays differently is another opponent: it needs another name, or the benchmark another version.
"""
LATENCY_POSITIONS = 200
PARTS = "parts.jsonl"  # finished parts, to go on from


@dataclass(frozen=True)
class BenchmarkPart:
    """One part: a cell of win shares, the NashConv of a round, or the time of a decision asked alone."""

    kind: str
    variant: str
    seats: int
    baseline: str = ""
    games: int = 0
    dice: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return " ".join(map(str, (self.kind, self.variant, self.seats, self.baseline, self.games, *self.dice)))


def measure(task: BenchmarkPart, agent: str) -> dict[str, Any]:
    """What a part found, or ``unplayed`` (the agent says it is not for that table), or ``error`` (it failed)."""
    cpu = time.process_time()
    found: dict[str, Any] = {"part": task.name, **asdict(task), "dice": list(task.dice)}  # as JSON gives it back
    try:
        policy = registry.make(agent, task.variant, task.seats)
    except ValueError as error:
        return {**found, "unplayed": str(error), "task_cpu_seconds": 0.0}
    try:
        found |= {"nash_conv": _nash_conv, "win_share": _win_share, "latency": _latency}[task.kind](policy, task)
    except NotImplementedError as error:
        found["unplayed"] = str(error) or "the agent states no probabilities"
    except Exception as error:  # whatever the agent's own code raises must not end the whole card
        where = traceback.extract_tb(error.__traceback__)[-1]
        found["error"] = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
    return {**found, "task_cpu_seconds": round(time.process_time() - cpu, 2)}


def _nash_conv(policy: Policy, task: BenchmarkPart) -> dict[str, Any]:
    result = nash_conv(policy, task.variant, task.dice)
    return {
        "value": result.value,
        "nash_conv": result.nash_conv,
        "gains": list(result.gains),
        "states": result.num_states,
    }


def _win_share(policy: Policy, task: BenchmarkPart) -> dict[str, Any]:
    guard, v = Guard(policy), find_variant(task.variant)
    share = share_against(guard, registry.make(task.baseline, v, task.seats), v, task.seats, task.games, SEED)
    return {
        "win_share": share.value, "low": share.low, "high": share.high, "fair": 1 / task.seats, "decisions": guard.decisions,
        "illegal": guard.illegal, "seconds": round(guard.seconds, 4), "cpu_seconds": round(guard.cpu_seconds, 4),
    }  # fmt: skip


def play_digest(agent: str) -> str:
    """A digest of what an agent would do in positions of random play, at tables of every preset.

    Hidden counts stay hidden in it: what a seat is shown belongs to the environment, how it answers to the agent.
    """
    found = sha256()
    for v, seats in ((v, seats) for v in RULE_TEXTS for seats in (2, 4)):
        policy, batch = registry.make(agent, v, seats), Batch(v, seats, 4, SEED, memory="none")
        for _ in range(8):
            rows = np.flatnonzero(~batch.is_over)
            if rows.size:
                # in whole thousandths, the same on every processor
                found.update(
                    (1000 * policy.probs(batch.observe(rows), batch.masks(rows)) + 0.25).astype("<i2").tobytes()
                )
            batch.play_random(1)
    return found.hexdigest()[:12]


def _latency(policy: Policy, task: BenchmarkPart) -> dict[str, Any]:
    """The median time of one decision asked alone, in positions of random play."""
    batch, rng = Batch(task.variant, task.seats, 1, SEED), np.random.default_rng(SEED)
    guard, uniform, times = Guard(policy), UniformPolicy(), []
    for _ in range(LATENCY_POSITIONS):
        if batch.is_over[0]:
            batch.reset()
        seen, masks = batch.observe(), batch.masks()
        before = guard.seconds
        guard.act(seen, masks, rng)
        times.append(guard.seconds - before)
        batch.act(uniform.act(seen, masks, rng))
    return {"milliseconds": round(1000 * median(times), 4), "illegal": guard.illegal, "decisions": guard.decisions}


def run_tasks(
    agent: str, tasks: Sequence[BenchmarkPart], folder: Path, scale: str, workers: int, console: Console
) -> list[dict[str, Any]]:
    """Measure all parts in ``workers`` processes, those apart that ``folder`` holds already; in the order of ``tasks``.

    Raises ``ValueError`` for a folder that holds parts of another agent or scale.
    """
    make_folder(folder)
    head = {"benchmark": VERSION, "agent": agent, "scale": scale}
    done = _read_parts(folder / PARTS, head)
    left = [t for t in tasks if t.name not in done]
    if done:
        console.print(f"going on: {len(done)} of {len(tasks)} parts are in {folder}", highlight=False)
    if workers > 1:
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # for new processes: they share the cores among themselves
    with (
        open_backend("local", workers) as backend,
        written(folder / PARTS, "; the parts in it are kept"),
        (folder / PARTS).open("a", encoding="utf-8") as file,
        progress("parts", len(tasks), console, len(done)) as advance,
    ):
        for _, found, _ in backend.run(measure, left, (agent,)):
            done[found["part"]] = found
            file.write(json.dumps(found) + "\n")
            file.flush()
            advance(1)
    return [done[t.name] for t in tasks]


def _read_parts(path: Path, head: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The parts that are there, begun anew if there are none; a last line that a kill cut short is cut off."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
        there, *parts = [parse_json(line) for line in lines] or [head]
        found = {p["part"]: p for p in parts}
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(f"{path} does not hold parts of a benchmark ({error}): name another folder") from error
    if not all(isinstance(part, dict) and "part" in part for part in parts):
        raise ValueError(f"{path} holds a line that is no part of a benchmark: name another folder")
    if there != head:
        raise ValueError(f"{path.parent} holds the benchmark {there}, not {head}: name another folder")
    write_text(path, "".join(json.dumps(x) + "\n" for x in (head, *parts)))
    return found
