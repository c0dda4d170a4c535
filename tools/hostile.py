"""Files with wrong bytes and wrong fields, read by whoever reads them: each must end in a ``ValueError``, or be played.

    python -m tools.hostile 10000          # and, if wanted, a seed

says how many were refused and how many were played. What is read is also used, for a wrong number does its harm there.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from safetensors.numpy import save

import agents
import perudo_env as pe
from agents.learned.neural import input_size, save_policy
from agents.tabular.policy import RoundTable, TabularPolicy
from agents.tabular.public_tree import PublicTree
from perudo_env.engine.batch import Batch
from perudo_env.engine.observation import layout
from perudo_env.play.table import Table
from perudo_env.rulebook.fairness import verify
from train.core.config import load_config
from train.core.loop import STATE, resume
from train.core.state import load_state, save_state
from train.evaluate import dataset
from train.selfplay.options import SMOKE, PPOConfig
from train.selfplay.ppo import PPO
from train.solver.exact.payoffs import State, pay_table
from train.solver.exact.rounds import RoundSolver
from train.solver.recall.solver import RecallSolver

Rng = np.random.Generator
TINY = pe.variant("joker", starting_dice=1, num_faces=3)
NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2, 7, 15, 100, 127, 255, 20_000, 2**31, 2**62, -(2**63), np.nan, np.inf, 1e300, -1e-9,
)  # fmt: skip


@dataclass
class Door:
    """A way in: ``write`` makes one hostile file, ``read`` reads and uses it."""

    write: Callable[[Rng], None]
    read: Callable[[], Any]


def spoil_bytes(content: bytes, rng: Rng) -> bytes:
    """Bytes with one to three faults: other bytes, or a piece gone, twice, or cut off."""
    spoilt = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(spoilt) + 1))
        end = at + int(rng.choice([1, 1, 1, 4, 8, 100]))
        piece = bytes(spoilt[at:end])
        match rng.integers(5):
            case 0:
                spoilt[at:end] = rng.bytes(len(piece))
            case 1:
                spoilt[at:end] = rng.choice([b"\x00", b"\xff"]) * len(piece)
            case 2:
                spoilt[at:end] = b""
            case 3:
                spoilt[at:at] = piece * int(rng.integers(1, 50))
            case _:
                spoilt[at:] = b"" if rng.random() < 0.1 else spoilt[at:]
    return bytes(spoilt)


def spoil_array(array: npt.NDArray[Any], rng: Rng) -> npt.NDArray[Any]:
    """An array with wrong numbers, another shape, or another type."""
    spoilt = np.array(array)
    match rng.integers(5):
        case 0 if spoilt.size and spoilt.dtype.kind in "iufb":
            with np.errstate(all="ignore"):
                places = rng.integers(spoilt.size, size=rng.integers(1, 4))
                spoilt.reshape(-1)[places] = np.array(NUMBERS[rng.integers(len(NUMBERS))]).astype(spoilt.dtype)
        case 1 if spoilt.size and spoilt.dtype.kind in "iufb":
            spoilt.reshape(-1).view(np.uint8)[rng.integers(spoilt.nbytes)] ^= np.uint8(1 << rng.integers(8))
        case 2:
            spoilt = spoilt.reshape(-1)[: max(0, spoilt.size + int(rng.integers(-2, 1)))]
        case 3:
            spoilt = np.resize(spoilt, (int(rng.integers(3)), *spoilt.shape))
        case _:
            other = rng.choice(["f2", "f4", "f8", "i1", "i8", "u1", "u2", "u8", "?", ">f4", ">i8"])
            with np.errstate(all="ignore"):
                spoilt = spoilt.astype(other) if spoilt.dtype.kind in "iufb" else np.zeros(3, other)
    return spoilt


def spoil_value(value: Any, rng: Rng) -> Any:
    """A value of JSON with one fault somewhere in it."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = list(value)[rng.integers(len(value))]
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: spoil_value(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = int(rng.integers(len(value)))
        return [*value[:at], spoil_value(value[at], rng), *value[at + 1 :]]
    if isinstance(value, str) and rng.random() < 0.7:
        return spoil_bytes(value.encode(), rng).decode(errors="replace")
    other = (None, True, "x" * 5000, "", [], {}, [[1]], *NUMBERS, 10**30)
    return other[rng.integers(len(other))]


def _spoil_one(arrays: Mapping[str, npt.NDArray[Any]], rng: Rng) -> dict[str, npt.NDArray[Any]]:
    name = list(arrays)[rng.integers(len(arrays))]
    rest = {k: v for k, v in arrays.items() if k != name}
    return rest if rng.random() < 0.05 else {**rest, name: spoil_array(arrays[name], rng)}


def _npz_door(path: Path, read: Callable[[], Any]) -> Door:
    whole = path.read_bytes()
    with np.load(path) as file:
        arrays = dict(file)

    def write(rng: Rng) -> None:
        if rng.random() < 0.5:
            path.write_bytes(spoil_bytes(whole, rng))
        else:
            spoilt: dict[str, Any] = _spoil_one(arrays, rng)
            np.savez(path, **spoilt)

    return Door(write, read)


def table_door(folder: Path, recall: int | None) -> Door:
    """A table, and its policy at the decisions of some games."""
    path, tree = folder / f"table{recall}.npz", PublicTree(TINY, (1, 1))
    if recall is None:
        RoundTable(tree, [np.ones(n, np.float32) for n in tree.num_entries]).save(path)
    else:
        RecallSolver(tree, pay_table(TINY, State((1, 1))), recall, 1).table().save(path)
    batch = Batch(TINY, 2, 32, seed=1)
    batch.play_random(1)

    def read() -> None:
        TabularPolicy([RoundTable.load(path)], TINY, 2).probs(batch.observe(), batch.masks())

    return _npz_door(path, read)


def solver_door(folder: Path, solver: RoundSolver | RecallSolver) -> Door:
    """The state of a solver, which goes on from it."""
    path = folder / f"{type(solver).__name__}.npz"
    solver.iterate()
    solver.save(path)

    def read() -> None:
        solver.load(path)
        solver.iterate()

    return _npz_door(path, read)


def states_door() -> Door:
    """Records of games in mid-round, which are played on."""
    v = pe.variant("evening", calza="anyone")
    batch, at = Batch(v, 3, 4, seed=2), Batch(v, 3, 4, seed=2)
    batch.play_random(5)
    content = batch.states.view(np.uint8).copy()
    now = content.copy()

    def write(rng: Rng) -> None:
        now[:] = content
        names = batch.states.dtype.names or ()
        if rng.random() < 0.3:
            now[rng.integers(now.size)] ^= np.uint8(1 << rng.integers(8))
        else:
            field = now.view(batch.states.dtype)[names[rng.integers(len(names))]]
            with np.errstate(all="ignore"):
                number = np.array(NUMBERS[rng.integers(len(NUMBERS))]).astype(field.dtype)
            field.reshape(-1)[rng.integers(field.size)] = number

    def read() -> None:
        at.restore(now)
        at.play_random(30, observe=True)

    return Door(write, read)


def trainer_door(folder: Path) -> Door:
    """The state of a trainer, which takes a step from it now and then."""
    small = (
        *SMOKE, "tables=[{variants: ['joker:starting_dice=1,num_faces=3'], seats: [2]}]", "play.tables=2", "learn.hidden=[2]",
        "learn.critic_hidden=[2]", "values.hidden=[2]", "pool.scripted=[uniform]", "pool.share=0.5", "evaluation.rounds=[]",
    )  # fmt: skip
    trainer = PPO(load_config(PPOConfig, Path(__file__).parent.parent / "configs" / "ppo.yaml", small))
    trainer.next_snapshot = 0
    trainer.step()
    path = folder / STATE
    arrays, about = trainer.state()
    save_state(path, arrays, {"trainer": about, "seconds": 1.0, "next_point": 1000, "rows": (0, 0)})
    arrays, about = load_state(path)
    whole, count = path.read_bytes(), 0

    def write(rng: Rng) -> None:
        if rng.random() < 0.3:
            path.write_bytes(spoil_bytes(whole, rng))
        elif rng.random() < 0.5:
            save_state(path, arrays, spoil_value(about, rng))
        else:
            save_state(path, _spoil_one(arrays, rng), about)

    def read() -> None:
        nonlocal count
        resume(trainer, path)
        count += 1
        if count % 10 == 0:
            trainer.step()

    return Door(write, read)


def checkpoint_door(folder: Path) -> Door:
    """A network in its folder, at the decisions of some games."""
    lay, rng = layout(2, 2), np.random.default_rng(0)
    sizes = input_size(lay), 3, 15
    weights = {}
    for i in range(2):
        weights[f"layers.{i}.weight"] = rng.normal(size=(sizes[i + 1], sizes[i])).astype(np.float32)
        weights[f"layers.{i}.bias"] = np.zeros(sizes[i + 1], np.float32)
    save_policy(folder / "agent", weights, TINY, 2, {}, "a card")
    about, file = folder / "agent" / "policy.json", folder / "agent" / "weights.safetensors"
    told, content, whole = json.loads(about.read_text()), about.read_bytes(), file.read_bytes()
    batch = Batch(TINY, 2, 32, seed=1)
    unsigned = json.dumps({k: v for k, v in told.items() if k != "sha256"})

    def write(rng: Rng) -> None:
        about.write_bytes(content)
        file.write_bytes(whole)
        match rng.integers(4):
            case 0:
                about.write_text(json.dumps(spoil_value(told, rng)), encoding="utf-8")
            case 1:
                about.write_bytes(spoil_bytes(content, rng))
            case 2:
                about.write_text(unsigned)
                file.write_bytes(spoil_bytes(whole, rng))
            case _:
                about.write_text(unsigned)
                spoilt = _spoil_one(weights, rng)
                native = {k: np.ascontiguousarray(a, a.dtype.newbyteorder("=")) for k, a in spoilt.items()}
                file.write_bytes(save(native))

    def read() -> None:
        with np.errstate(all="ignore"):
            agents.load(folder / "agent", TINY, 2).probs(batch.observe(), batch.masks())

    return Door(write, read)


def record_door() -> Door:
    """A saved game, its record, and its line in a file of games."""
    table = Table(
        "evening:calza=anyone,starting_dice=2", [pe_player("a"), pe_player("b"), pe_player("c")], agents.make, 3
    )
    table.play_agents()
    saved, now = table.saved(), ""
    game = {"variant": str(table.variant), "seats": 3, "agents": ["a", "b", "c"], "record": saved["record"]}

    def write(rng: Rng) -> None:
        nonlocal now
        match rng.integers(3):
            case 0:
                now = json.dumps(spoil_value(saved, rng))
            case 1:
                now = json.dumps(spoil_value(game, rng)) + "\n"
            case _:
                now = spoil_bytes(saved["record"].encode(), rng).decode(errors="replace")

    def read() -> None:
        (dataset._read if now.endswith("\n") else verify)(now)

    return Door(write, read)


def pe_player(name: str) -> Any:
    """A player who chooses at random."""
    from perudo_env.play.table import Player

    return Player(name, "uniform")


def doors(folder: Path) -> dict[str, Door]:
    """All ways in, by name; ``folder`` is theirs."""
    tree, pay = PublicTree(TINY, (1, 1)), pay_table(TINY, State((1, 1)))
    return {
        "tables": table_door(folder, None), "tables of the last bids": table_door(folder, 2), "records": record_door(),
        "solver": solver_door(folder, RoundSolver(tree, pay, 1)), "recall": solver_door(folder, RecallSolver(tree, pay, 2, 1)),
        "games in a state": states_door(), "states": trainer_door(folder), "checkpoints": checkpoint_door(folder),
    }  # fmt: skip


def run(count: int, folder: Path, seed: int = 0) -> Counter[tuple[str, str]]:
    """Try ``count`` hostile files; returns how many were refused and played, by door. Any error but ``ValueError`` comes out."""
    ways, rng, found = list(doors(folder).items()), np.random.default_rng(seed), Counter[tuple[str, str]]()
    for number in range(count):
        name, door = ways[number % len(ways)]
        door.write(rng)
        try:
            door.read()
        except ValueError:
            found[name, "refused"] += 1
        else:
            found[name, "played"] += 1
    return found


def main() -> None:
    """Try as many as the command line says."""
    with TemporaryDirectory() as folder:
        for (name, what), number in sorted(run(int(sys.argv[1]), Path(folder), *map(int, sys.argv[2:])).items()):
            Console().print(f"{name:<26} {what:<8} {number:>7,}", highlight=False)


if __name__ == "__main__":
    main()
