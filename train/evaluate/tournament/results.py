"""The results of a tournament in one SQLite file: a task's games enter together or not at all, and only once.

``SELECT variant, seats, agent, avg(place = 1) FROM results GROUP BY 1, 2, 3`` reads it; see the view ``results``.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from perudo_env.engine.variant import is_whole, parse_variant, table_size
from perudo_env.game.files import parse_json
from train.core.rollout import Played
from train.evaluate.tournament.tasks import Finished

APPLICATION = 0x50455255  # "PERU", in the file's header
FORMAT = 1

SCHEMA = f"""
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cells (id INTEGER PRIMARY KEY, variant TEXT NOT NULL, seats INTEGER NOT NULL, agents TEXT NOT NULL, seed INTEGER NOT NULL,
    left_out TEXT NOT NULL, UNIQUE (variant, seats));
CREATE TABLE tasks (id INTEGER PRIMARY KEY, cell INTEGER NOT NULL REFERENCES cells, number INTEGER NOT NULL, games INTEGER NOT NULL,
    decisions INTEGER NOT NULL, seconds REAL NOT NULL, worker TEXT NOT NULL, UNIQUE (cell, number));
CREATE TABLE places (task INTEGER NOT NULL REFERENCES tasks, game INTEGER NOT NULL, seat INTEGER NOT NULL, agent INTEGER NOT NULL,
    place INTEGER NOT NULL, PRIMARY KEY (task, game, seat)) WITHOUT ROWID;
CREATE VIEW results AS SELECT variant, seats, number AS task, game, seat, json_extract(agents, '$[' || agent || ']') AS agent, place
    FROM places JOIN tasks ON tasks.id = places.task JOIN cells ON cells.id = tasks.cell;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
"""


@dataclass(frozen=True)
class Cell:
    """One table of a tournament: a variant, a number of seats, and the agents that take turns there."""

    variant: str
    seats: int
    agents: tuple[str, ...]
    seed: int  # of its dice, line-ups and draws: the arena's --seed that plays the same games
    left_out: tuple[str, ...] = ()  # agents that cannot sit here, each with the reason


@dataclass(frozen=True)
class Work:
    """What the tasks of a cell took, in all."""

    tasks: int
    decisions: int
    seconds: float  # of the workers' clocks


class ResultsFile:
    """An open results file. Raises ``ValueError`` for a file that is damaged, of another kind, format or tournament.

    ``settings`` are those that all games of a file share. Without them the file is only read.
    """

    def __init__(self, path: Path, settings: dict[str, Any] | None = None) -> None:
        self.path = path
        self._db: sqlite3.Connection = sqlite3.connect(":memory:")
        try:
            self._open(path, settings)
        except BaseException:
            self.close()
            raise

    def _open(self, path: Path, settings: dict[str, Any] | None) -> None:
        with self._explained():
            if settings is None:
                if not path.is_file():
                    raise ValueError(f"{path} is not there: name a results file of a tournament")
                self._db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
                self._check()
                return
            self._db = sqlite3.connect(path, timeout=1.0, isolation_level=None)
            # held to the end: two runs on one file would play the same games
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("BEGIN EXCLUSIVE")
            if self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                self._create(settings)
            self._db.execute("COMMIT")
            self._check()
            self._check_settings(settings)

    def _create(self, settings: dict[str, Any]) -> None:
        # one by one: executescript would commit what is only half there
        for statement in filter(str.strip, SCHEMA.split(";\n")):
            self._db.execute(statement)
        self._db.executemany("INSERT INTO about VALUES (?, ?)", [(k, json.dumps(v)) for k, v in settings.items()])

    def _check(self) -> None:
        application = self._db.execute("PRAGMA application_id").fetchone()[0]
        if application != APPLICATION:
            raise ValueError(f"{self.path} is a SQLite file, but not the results of a tournament: name another file")
        found = self._db.execute("PRAGMA user_version").fetchone()[0]
        if found != FORMAT:
            raise ValueError(f"{self.path} has format {found}, and this version reads {FORMAT}; it was left as it is")
        faults = [row[0] for row in self._db.execute("PRAGMA quick_check")]
        if faults != ["ok"]:
            raise sqlite3.DatabaseError(faults[0])

    def _check_settings(self, settings: dict[str, Any]) -> None:
        for key, value in self.about.items():
            if settings.get(key) != value:
                raise ValueError(
                    f"{self.path} holds games of another tournament: {key} = {value} there, {settings.get(key)} here; "
                    "it was left as it is: use that, or name another folder"
                )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise ValueError(
                    f"{self.path} is being written by another run: wait for it, or name another folder"
                ) from error
            raise ValueError(f"{self.path} cannot be used as a results file: {error}; it was left as it is") from error
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"{self.path} is not a results file, or is damaged ({error}); it was left as it is: "
                "move it away to begin anew, or try sqlite3's .recover on a copy"
            ) from error

    @property
    def about(self) -> dict[str, Any]:
        """The settings that all games share."""
        with self._explained():
            rows = self._db.execute("SELECT key, value FROM about").fetchall()
        return {key: parse_json(value) for key, value in rows}

    @property
    def cells(self) -> dict[int, Cell]:
        """The cells, by their number in the file."""
        with self._explained():
            rows = self._db.execute(
                "SELECT id, variant, seats, agents, seed, left_out FROM cells ORDER BY id"
            ).fetchall()
        return {i: self._cell(*row) for i, *row in rows}

    def _cell(self, variant: Any, seats: Any, agents: Any, seed: Any, left_out: Any) -> Cell:
        """A row of ``cells``, checked: SQLite keeps anything in any column."""
        try:
            parse_variant(variant)
            sitting, out = (tuple(parse_json(text)) for text in (agents, left_out))
            if not is_whole(seed) or not all(isinstance(name, str) for name in (*sitting, *out)):
                raise ValueError(f"agents = {agents}, left_out = {left_out}, seed = {seed}")
            return Cell(variant, table_size(seats), sitting, seed, out)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"{self.path} holds what is no cell of a tournament: {error}") from error

    def enter(self, cell: Cell) -> int:
        """The number of a cell, which is entered unless it is there; ``ValueError`` if others play in it there."""
        for number, known in self.cells.items():
            if (known.variant, known.seats) == (cell.variant, cell.seats):
                if known != cell:
                    raise ValueError(
                        f"{self.path} holds games of another tournament: at {cell.variant}, {cell.seats} seats, it is between "
                        f"{', '.join(known.agents)}, and here between {', '.join(cell.agents)}; name another folder"
                    )
                return number
        row = cell.variant, cell.seats, json.dumps(cell.agents), cell.seed, json.dumps(cell.left_out)
        with self._explained():
            entered = self._db.execute(
                "INSERT INTO cells (variant, seats, agents, seed, left_out) VALUES (?, ?, ?, ?, ?)", row
            ).lastrowid
        assert entered is not None
        return entered

    def finished(self, cell: int) -> set[int]:
        """The numbers of the tasks of a cell that are done."""
        with self._explained():
            return {row[0] for row in self._db.execute("SELECT number FROM tasks WHERE cell = ?", (cell,))}

    def add(self, cell: int, number: int, done: Finished, worker: str) -> None:
        """Enter the games of a task, all or none; ``ValueError`` if they are there already."""
        played = done.played
        row = cell, number, len(played.lineups), played.decisions, done.seconds, worker
        self._db.execute("BEGIN")
        try:
            task = self._db.execute(
                "INSERT INTO tasks (cell, number, games, decisions, seconds, worker) VALUES (?, ?, ?, ?, ?, ?)", row
            ).lastrowid
            games, seats = np.indices(played.lineups.shape)
            columns = (games, seats, played.lineups, played.places)
            rows = zip(*(c.ravel().tolist() for c in columns), strict=True)
            self._db.executemany(f"INSERT INTO places VALUES ({task}, ?, ?, ?, ?)", rows)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise ValueError(
                f"{self.path}: task {number} of cell {cell} cannot be entered ({error}); what is in it is kept"
            ) from error

    def work(self, cell: int) -> Work:
        """What the tasks of a cell took."""
        sums = "SELECT count(*), coalesce(sum(decisions), 0), coalesce(sum(seconds), 0) FROM tasks WHERE cell = ?"
        with self._explained():
            return Work(*self._db.execute(sums, (cell,)).fetchone())

    def workers(self) -> dict[str, int]:
        """How many games each worker played."""
        with self._explained():
            return dict(self._db.execute("SELECT worker, sum(games) FROM tasks GROUP BY worker"))

    def played(self, cell: int) -> Played | None:
        """The games of a cell in the order of its tasks, None if there are none; without returns and rounds: not kept."""
        query = (
            "SELECT agent, place FROM places JOIN tasks ON tasks.id = task WHERE cell = ? ORDER BY number, game, seat"
        )
        with self._explained():
            found = self._db.execute(query, (cell,)).fetchall()
        if not found:
            return None
        about = self.cells[cell]
        seats = about.seats
        try:
            rows = np.array(found, np.int64)
            lineups, places = (rows[:, i].reshape(-1, seats) for i in (0, 1))
            if not (
                lineups.min() >= 0 and lineups.max() < len(about.agents) and places.min() >= 1 and places.max() <= seats
            ):
                raise ValueError(f"agents are 0 to {len(about.agents) - 1}, places 1 to {seats}")
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"{self.path} holds games that cannot be, in cell {cell}: {error}") from error
        unknown = np.full(places.shape, np.nan)
        return Played(
            lineups, places.astype(np.int8), unknown, np.zeros(len(places), np.int32), self.work(cell).decisions
        )

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; what a task was entering is not in it."""
        self._db.close()
