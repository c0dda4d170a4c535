"""The tables of a server on disk: when it is started anew, people find theirs as they left it, by the same address and token."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from perudo_env.game.files import read_json
from perudo_env.play.archive import Archive
from perudo_env.play.table import MakePolicy, Table
from perudo_env.play.web.rooms import IDLE_SECONDS, Options, Room

_log = logging.getLogger(__name__)


class Shelf:
    """A folder with one JSON file per table, which only this user may read: seed and dice are in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._is_told = False  # that it cannot be written
        self._lock: sqlite3.Connection | None = None

    def claim(self) -> bool:
        """Keep other servers out until :meth:`release` or the end of the process; False: one that runs has the folder.

        Two must not play on at one table. SQLite's lock is held on every system, and ends with a killed process.
        """
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            lock = sqlite3.connect(f"{self.folder}.lock", timeout=0, isolation_level=None, check_same_thread=False)
            self._lock = lock
            lock.execute("BEGIN EXCLUSIVE")
        except (OSError, sqlite3.Error) as error:
            if "locked" in str(error):
                _log.warning(
                    "another server that runs keeps its tables in %s: those of this one end with it", self.folder
                )
                return False
        return True

    def release(self) -> None:
        """Let other servers have the folder."""
        if self._lock is not None:
            self._lock.close()

    def put(self, room: Room) -> None:
        """Write a table as it stands; a full disk is logged once, and the game goes on."""
        data = {
            "id": room.id,
            "table": room.table.state(),
            "options": asdict(room.options),
            "holders": {digest: sorted(seats) for digest, seats in room.holders.items()},
            "num_dealt": room.num_dealt,
            "in_reveal": room.in_reveal,
            "saved_as": room.saved_as,
        }
        unfinished = self.folder / f".{room.id}.tmp"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with os.fdopen(
                os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
            ) as file:
                json.dump(data, file, ensure_ascii=False)
            unfinished.replace(self.folder / f"{room.id}.json")
        except OSError as error:
            if not self._is_told:
                _log.warning("a server started anew will not find its tables: %s", error)
            self._is_told = True

    def take(self, make: MakePolicy, archive: Archive) -> Iterator[Room]:
        """The tables that were put here and are not forgotten yet; a file that is none of them is logged and left."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                if time.time() - path.stat().st_mtime > IDLE_SECONDS:
                    path.unlink()
                    continue
                yield _room(read_json(path), make, archive)
            except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
                _log.warning("%s is not a table that can be taken up again: %s", path, error)


def _room(data: dict[str, Any], make: MakePolicy, archive: Archive) -> Room:
    room = Room(Table.resumed(data["table"], make), Options(**data["options"]), archive)
    room.id = data["id"]
    room.holders = {digest: frozenset(seats) for digest, seats in data["holders"].items()}
    room.num_dealt = data.get("num_dealt", 1)  # what was kept before tables dealt again tells none
    room.in_reveal, room.saved_as = data["in_reveal"], data["saved_as"]
    return room
