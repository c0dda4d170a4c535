"""Where evenings are kept: an SQLite file of entries that only grows, one transaction per entry.

An entry that was acknowledged survives a killed process and a power cut: SQLite flushes it to the disk before
``append`` returns.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from perudo_env.play.score.entries import N_, Entry, Opened, ScoreError, from_json, kind_of, to_json
from perudo_env.play.score.evening import Evening

SCHEMA = 1
_TABLES = (
    "CREATE TABLE evening (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL)",
    # numbers run from 0 without gaps
    """CREATE TABLE entry (evening INTEGER NOT NULL REFERENCES evening(id), number INTEGER NOT NULL, at TEXT NOT NULL,
       kind TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (evening, number))""",
)


class OutOfDateError(ScoreError):
    """Somebody has made an entry since the sheet was read; nothing was entered."""


@dataclass(frozen=True)
class Kept:
    """An evening in the file: its number, when it began, and all entries, undone ones too."""

    id: int
    at: str
    entries: tuple[Entry, ...]

    @property
    def evening(self) -> Evening:
        """The evening as it stands."""
        return Evening(self.entries)


def default_file() -> Path:
    """Where scores are kept unless told: ``$PERUDO_SCORES``, or the user's data folder."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(os.environ.get("PERUDO_SCORES") or Path(data) / "perudo" / "scores.sqlite")


class Store:
    """The evenings in an SQLite file, which is made if it is not there; raises ``ScoreError`` for a file that is none."""

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self._transaction() as db:
                version = db.execute("PRAGMA user_version").fetchone()[0]
                if version == 0:
                    for statement in _TABLES:
                        db.execute(statement)
                    db.execute(f"PRAGMA user_version = {SCHEMA}")
        except OSError as error:
            raise ScoreError(N_("{file} cannot hold scores: {error}"), file=self.file, error=error) from error
        if version not in (0, SCHEMA):
            raise ScoreError(N_("{file} was written by a newer program"), file=self.file)

    def evenings(self) -> list[Kept]:
        """All evenings, the newest first."""
        with self._transaction() as db:
            ids = [row[0] for row in db.execute("SELECT id FROM evening ORDER BY id DESC")]
            return [self._read(db, i) for i in ids]

    def read(self, evening: int) -> Kept:
        """One evening; raises ``ScoreError`` if there is none of this number."""
        with self._transaction() as db:
            return self._read(db, evening)

    def open(self, first: Opened, entries: Sequence[Entry] = ()) -> int:
        """Begin an evening, with further ``entries`` when one is read in; returns its number."""
        Evening([first, *entries])
        with self._transaction() as db:
            cursor = db.execute("INSERT INTO evening (at) VALUES (?)", (_now(),))
            evening = cursor.lastrowid
            assert evening is not None
            for number, entry in enumerate([first, *entries]):
                self._insert(db, evening, number, entry)
        return evening

    def append(self, evening: int, entry: Entry, expected: int | None = None) -> Kept:
        """Make an entry, for good once this returns; the evening as it then stands.

        ``expected`` is how many entries the writer has seen: a button pressed twice, or on two phones, counts once.
        Raises ``OutOfDateError`` for another number and ``ScoreError`` for an entry that cannot be; both change nothing.
        """
        with self._transaction() as db:
            kept = self._read(db, evening)
            if expected is not None and expected != len(kept.entries):
                raise OutOfDateError(
                    N_("this sheet was out of date, and nothing was entered: look at it as it stands now")
                )
            after = Kept(kept.id, kept.at, (*kept.entries, entry))
            _ = after.evening
            self._insert(db, evening, len(kept.entries), entry)
        return after

    def _read(self, db: sqlite3.Connection, evening: int) -> Kept:
        head = db.execute("SELECT at FROM evening WHERE id = ?", (evening,)).fetchone()
        if head is None:
            raise ScoreError(N_("there is no evening {id}"), id=evening)
        rows = db.execute("SELECT kind, data FROM entry WHERE evening = ? ORDER BY number", (evening,))
        return Kept(evening, head[0], tuple(from_json(kind, data) for kind, data in rows))

    def _insert(self, db: sqlite3.Connection, evening: int, number: int, entry: Entry) -> None:
        row = (evening, number, _now(), kind_of(entry), to_json(entry))
        db.execute("INSERT INTO entry (evening, number, at, kind, data) VALUES (?, ?, ?, ?, ?)", row)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            db = sqlite3.connect(self.file, timeout=10, isolation_level=None)
        except sqlite3.Error as error:
            raise ScoreError(N_("{file} cannot hold scores: {error}"), file=self.file, error=error) from error
        try:
            # EXTRA: the folder is flushed too, so that a power cut cannot bring back a journal of before
            db.execute("PRAGMA synchronous = EXTRA")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")
        except sqlite3.Error as error:
            raise ScoreError(N_("{file}: nothing was entered: {error}"), file=self.file, error=error) from error
        finally:
            db.close()


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
