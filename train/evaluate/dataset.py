"""A file of games as arrays of decisions, for imitation or offline work.

    python -m train dataset games.jsonl decisions.npz

Reads a line of JSON a game, {"variant", "seats", "agents", "record"}. Every decision becomes a row of ``observation``
int8 ``(N, size)``, ``action_mask`` int8 ``(N, num_actions)``, ``action`` int16, ``returns`` float32 (what the acting
seat was paid at the end), ``seat`` int8, ``agent`` int16 (a row of ``agents``, the names) and ``game`` int32 (the line,
from 0). All are written in one layout, ``num_seats`` and ``max_quantity``: that of the first game unless said otherwise.
"""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tyro.conf import Positional

from perudo_env.engine.actions import MAX_QUANTITY, Action, num_actions, to_id
from perudo_env.engine.observation import Layout, encode_switches, layout
from perudo_env.engine.rows import observe_row
from perudo_env.engine.variant import as_variant, table_size
from perudo_env.game.files import check_writable, make_folder, take_place, written
from perudo_env.game.game import Game

MOST_LINE = 10**7  # characters; what is no file, like /dev/zero, may have a line without end
TYPES = {
    "observation": np.int8, "action_mask": np.int8, "action": np.int16, "returns": np.float32, "seat": np.int8,
    "agent": np.int16, "game": np.int32,
}  # fmt: skip


@dataclass(frozen=True)
class DatasetOptions:
    """A file of games, and what is kept of it."""

    games: Positional[Path]
    """A line of JSON a game, as the arena's --records writes."""
    out: Positional[Path]
    """The .npz file to write."""
    agent: str | None = None
    """Keep this agent's decisions alone."""
    seats: int | None = None
    """Write in the layout of so many seats; by default the first game's."""
    max_quantity: int | None = None
    """And of so high bids; by default the first game's."""
    skip_broken: bool = False
    """Leave unreadable lines out and say so, instead of stopping there."""


@dataclass
class Written:
    """What was written: decisions, games, and the lines that were left out, with the reason."""

    decisions: int = 0
    games: int = 0
    broken: list[str] = field(default_factory=list)


def convert(o: DatasetOptions) -> Written:
    """Write the arrays, with memory for one game at a time.

    Raises ``ValueError`` naming the first line that cannot be read, after the games before it have been written; with
    ``skip_broken`` such lines are left out and listed.
    """
    if o.out.suffix != ".npz":
        raise ValueError(f"out = {o.out}: name a file that ends in .npz")
    if o.seats is not None:
        table_size(o.seats)
    if o.max_quantity is not None and not 1 <= o.max_quantity <= MAX_QUANTITY:
        raise ValueError(f"max_quantity = {o.max_quantity} is out of range: use 1 to {MAX_QUANTITY}")
    result = Written()
    check_writable(o.out)
    make_folder(o.out.parent)
    with (
        written(o.out),
        TemporaryDirectory(prefix=f".{o.out.name}.", dir=o.out.parent) as folder,
        Columns(Path(folder)) as columns,
    ):
        _fill(columns, o, result)
        if o.agent is not None and o.agent not in columns.names and not result.broken:
            raise ValueError(f"agent = {o.agent!r} plays in none of the games: use one of {', '.join(columns.names)}")
        if result.games:
            columns.pack(o.out)
    if result.broken and not o.skip_broken:
        kept = f"; {result.games} games before it are kept in {o.out}" if result.games else ""
        raise ValueError(f"{result.broken[0]}{kept}. --skip-broken leaves such lines out")
    if not result.games:
        raise ValueError("; ".join([f"games = {o.games} holds no game", *result.broken[:1]]))
    return result


class Columns:
    """The arrays while they grow, each in a raw file of ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.rows = folder, 0
        self.names: dict[str, int] = {}  # of the agents, in order of appearance
        self.layout: Layout | None = None

    def __enter__(self) -> Columns:
        self._open = ExitStack()
        self._files = {name: self._open.enter_context((self.folder / name).open("wb")) for name in TYPES}
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def add(self, row: dict[str, Any]) -> None:
        """Append one decision."""
        for name, dtype in TYPES.items():
            self._files[name].write(np.asarray(row[name], dtype).tobytes())
        self.rows += 1

    def pack(self, out: Path) -> None:
        """Join the columns to an ``.npz``, which appears whole."""
        self._open.close()
        assert self.layout is not None
        quantity = self.layout.max_quantity
        widths = {"observation": (self.layout.size,), "action_mask": (num_actions(quantity),)}
        rest = {"agents": list(self.names), "num_seats": self.layout.num_seats, "max_quantity": quantity}
        with zipfile.ZipFile(self.folder / "npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
            for name, dtype in TYPES.items():
                header = {
                    "descr": np.dtype(dtype).str,
                    "fortran_order": False,
                    "shape": (self.rows, *widths.get(name, ())),
                }
                with (
                    packed.open(f"{name}.npy", "w", force_zip64=True) as column,
                    (self.folder / name).open("rb") as raw,
                ):
                    np.lib.format.write_array_header_2_0(column, header)
                    shutil.copyfileobj(raw, column)
            for name, value in rest.items():
                with packed.open(f"{name}.npy", "w") as column:
                    np.lib.format.write_array(column, np.asarray(value), allow_pickle=False)
        take_place(self.folder / "npz", out)


def _fill(columns: Columns, o: DatasetOptions, result: Written) -> None:
    """Read the games up to the end, or to the first broken line."""
    for number, line in _lines(o.games):
        try:
            told = _read(line)
            columns.layout = columns.layout or _layout(o, told["game"])
            rows = _decisions(told, columns.layout)
        except (ValueError, RecursionError) as error:
            result.broken.append(f"{o.games}, line {number + 1}: {error}")
            if o.skip_broken:
                continue
            return
        agents = [columns.names.setdefault(name, len(columns.names)) for name in told["agents"]]
        for row in rows:
            if o.agent in (None, told["agents"][row["seat"]]):
                columns.add(row | {"agent": agents[row["seat"]], "game": number})
        result.decisions, result.games = columns.rows, result.games + 1


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = iter(lambda: file.readline(MOST_LINE), "")
            yield from ((number, line) for number, line in enumerate(lines) if line.strip())
    except OSError as error:
        raise ValueError(f"games = {path} cannot be read: {error.strerror}") from error


def _read(line: str) -> dict[str, Any]:
    """One game: its agents, the finished ``game``, and the ``steps`` to it: copies before each action, with the action."""
    if not line.endswith("\n"):
        raise ValueError("the line is half written: it has no end of line")
    try:
        told = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from None
    missing = [key for key in ("variant", "seats", "agents", "record") if not isinstance(told, dict) or key not in told]
    if missing:
        raise ValueError(f"no {', '.join(missing)}: a line is an object of variant, seats, agents and record")
    steps: list[tuple[Game, Action]] = []
    game = Game.replay(told["record"], lambda before, action: steps.append((before.copy(), action)))
    if not game.is_over:
        raise ValueError(f"the game is not over after round {game.round}")
    agents = told["agents"]
    if not isinstance(agents, list) or not all(isinstance(name, str) for name in agents):
        raise ValueError(f"agents = {agents!r}: name an agent per seat")
    if not len(agents) == told["seats"] == game.num_seats or as_variant(told["variant"]) != game.variant:
        raise ValueError(
            f"variant = {told['variant']}, seats = {told['seats']} and {len(agents)} agents, but the record is of {game.variant} with {game.num_seats} seats"
        )
    return {"agents": agents, "game": game, "steps": steps}


def _layout(o: DatasetOptions, first: Game) -> Layout:
    return layout(o.seats or first.num_seats, o.max_quantity or first.layout.max_quantity)


def _decisions(told: dict[str, Any], shape: Layout) -> list[dict[str, Any]]:
    """The rows of one game, in the layout ``shape``; raises ``ValueError`` where its table is larger."""
    game: Game = told["game"]
    if game.num_seats > shape.num_seats or game.layout.max_quantity > shape.max_quantity:
        raise ValueError(
            f"a table of {game.num_seats} seats and bids up to {game.layout.max_quantity} does not fit the layout of {shape.num_seats} seats "
            f"and {shape.max_quantity}: say --seats and --max-quantity"
        )
    switches, rows = encode_switches(game.variant), []
    for before, action in told["steps"]:
        seen = np.empty(shape.size, np.int8)
        observe_row(before.states, 0, before.seat, switches, shape.num_seats, shape.max_quantity, seen)
        mask = np.zeros(num_actions(shape.max_quantity), np.int8)
        mask[: before.num_actions] = before.action_mask()
        paid = game.payoffs()[before.seat]
        rows.append(
            {"observation": seen, "action_mask": mask, "action": to_id(action), "returns": paid, "seat": before.seat}
        )
    return rows


def run(options: DatasetOptions) -> None:
    """Write the arrays, and say what was left out."""
    result = convert(options)
    for why in result.broken:
        print(f"left out: {why}", file=sys.stderr)
    print(f"{result.decisions:,} decisions of {result.games:,} games in {options.out}")
