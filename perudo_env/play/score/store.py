"""The store of evenings: an SQLite file of entries, one transaction per entry; only whole evenings are ever deleted.

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
from hashlib import sha256
from itertools import chain
from pathlib import Path

from perudo_env.game.language import N_
from perudo_env.play.score.entries import Entry, Opened, ScoreError, from_json, kind_of, to_json
from perudo_env.play.score.evening import Evening

# What makes a file of each version out of one of the version before.
_MIGRATIONS = (
    (
        "CREATE TABLE evening (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL)",
        # numbers run from 0 without gaps
        """CREATE TABLE entry (evening INTEGER NOT NULL REFERENCES evening(id), number INTEGER NOT NULL, at TEXT NOT NULL,
           kind TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (evening, number))""",
    ),
    # a digest of the form that began the evening; and since then, players leave and are renamed
    ("ALTER TABLE evening ADD COLUMN form TEXT", "CREATE UNIQUE INDEX form ON evening (form)"),
)
SCHEMA = len(_MIGRATIONS)


class OutOfDateError(ScoreError):
    """Somebody has made an entry since the sheet was read; nothing was entered."""


class MissingError(ScoreError):
    """There is no evening of this number."""


@dataclass(frozen=True)
class Kept:
    """An evening in the file: its number, when it began, and all entries, undone ones too."""

    id: int
    at: str
    entries: tuple[Entry, ...]
    fault: ScoreError | None = None  # why it cannot be read

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
                if 0 <= version < SCHEMA:
                    for statement in chain(*_MIGRATIONS[version:]):
                        db.execute(statement)
                    db.execute(f"PRAGMA user_version = {SCHEMA}")
        except OSError as error:
            raise ScoreError(N_("{file} cannot hold scores: {error}"), file=self.file, error=error) from error
        if not 0 <= version <= SCHEMA:
            raise ScoreError(N_("{file} was written by a newer program"), file=self.file)

    def evenings(self) -> list[Kept]:
        """All evenings, the newest first; one that cannot be read has a ``fault``, and hides none of the others."""
        found: list[Kept] = []
        with self._transaction() as db:
            for evening, at in db.execute("SELECT id, at FROM evening ORDER BY id DESC").fetchall():
                try:
                    kept = self._read(db, evening)
                    _ = kept.evening
                except ScoreError as error:
                    kept = Kept(evening, at, (), error)
                found.append(kept)
        return found

    def read(self, evening: int) -> Kept:
        """One evening; raises ``ScoreError`` if there is none of this number."""
        with self._transaction() as db:
            return self._read(db, evening)

    def open(self, first: Opened, entries: Sequence[Entry] = (), form: str = "") -> int:
        """Begin an evening, with further ``entries`` when one is read in; returns its number.

        ``form`` names the sheet of paper, so to say, on which it was asked for: the same one with the same players and
        rules, sent twice, begins one evening.
        """
        Evening([first, *entries])
        digest = sha256(f"{form} {to_json(first)}".encode()).hexdigest() if form else None
        with self._transaction() as db:
            known = db.execute("SELECT id FROM evening WHERE form = ?", (digest,)).fetchone()
            if known is not None:
                return int(known[0])
            cursor = db.execute("INSERT INTO evening (at, form) VALUES (?, ?)", (_now(), digest))
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
            self._check(kept, expected)
            after = Kept(kept.id, kept.at, (*kept.entries, entry))
            _ = after.evening
            self._insert(db, evening, len(kept.entries), entry)
        return after

    def delete(self, evening: int, expected: int | None = None) -> None:
        """Delete an evening for good; ``expected`` and what is raised are those of :meth:`append`."""
        with self._transaction() as db:
            if expected is not None:
                self._check(self._read(db, evening), expected)
            _check_number(evening)
            db.execute("DELETE FROM entry WHERE evening = ?", (evening,))
            if db.execute("DELETE FROM evening WHERE id = ?", (evening,)).rowcount == 0:
                raise MissingError(N_("there is no evening {id}"), id=evening)

    def _check(self, kept: Kept, expected: int | None) -> None:
        if expected is not None and expected != len(kept.entries):
            raise OutOfDateError(N_("this sheet was out of date, and nothing was entered: look at it as it stands now"))

    def _read(self, db: sqlite3.Connection, evening: int) -> Kept:
        _check_number(evening)
        head = db.execute("SELECT at FROM evening WHERE id = ?", (evening,)).fetchone()
        if head is None:
            raise MissingError(N_("there is no evening {id}"), id=evening)
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


def _check_number(evening: int) -> None:
    """Raise ``MissingError`` for a number that SQLite cannot even be asked for."""
    if not 0 <= evening < 2**63:
        raise MissingError(N_("there is no evening {id}"), id=evening)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
