"""Finished games in a folder: one JSON file each, with the record and the proof of its dice."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from perudo_env.game.files import read_json
from perudo_env.game.notation import parse_record

_NAME = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")


def default_folder() -> Path:
    """Where games are kept unless told: ``$PERUDO_GAMES``, or the user's data folder."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(os.environ.get("PERUDO_GAMES") or Path(data) / "perudo" / "games")


@dataclass(frozen=True)
class SavedGame:
    """One finished game: its name in the archive, and what ``Table.saved`` gave."""

    name: str
    data: dict[str, Any]

    @property
    def record(self) -> str:
        """The game as text."""
        return str(self.data["record"])

    @property
    def names(self) -> list[str]:
        """The players' names by seat."""
        return [str(p["name"]) for p in self.data["players"]]


class Archive:
    """The games of a folder, which is made when the first one is saved."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        self._rolled: dict[str, Counter[int]] = {}  # files never change, so each is counted once

    def save(self, data: dict[str, Any]) -> str:
        """Keep a game; returns its name. The file appears whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        unfinished = self.folder / f".{name}.tmp"
        unfinished.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(self.path(name))
        return name

    def path(self, name: str) -> Path:
        """The file of a game; raises ``KeyError`` for what is no name of one."""
        if not _NAME.fullmatch(name):
            raise KeyError(name)
        return self.folder / f"{name}.json"

    def names(self) -> list[str]:
        """The games there are, the latest first."""
        found = (path.stem for path in self.folder.glob("*.json")) if self.folder.is_dir() else ()
        return sorted((name for name in found if _NAME.fullmatch(name)), reverse=True)

    def read(self, name: str) -> SavedGame:
        """A game; raises ``KeyError`` if there is none of this name, ``ValueError`` for a file that is not a saved game."""
        path = self.path(name)
        if not path.exists():
            raise KeyError(name)
        data = read_json(path)
        record, players = data.get("record"), data.get("players")
        if not isinstance(record, str) or not isinstance(players, list):
            raise ValueError(f"{path} is not a saved game")
        if not all(isinstance(p, dict) and isinstance(p.get("name"), str) for p in players):
            raise ValueError(f"{path} has players without names")
        seats = len(parse_record(record)[1][0].hands)
        if len(players) != seats:
            raise ValueError(f"{path} has {len(players)} players, and hands of {seats}")
        return SavedGame(name, data)

    def readable(self, most: int | None = None) -> list[SavedGame]:
        """The games whose files are whole, the latest first."""
        games: list[SavedGame] = []
        for name in self.names()[:most]:
            try:
                games.append(self.read(name))
            except (KeyError, ValueError):
                continue
        return games

    def dice_rolled(self) -> Counter[int]:
        """How often each face was rolled in all games kept."""
        for name in self.names():
            if name not in self._rolled:
                try:
                    self._rolled[name] = faces_in(self.read(name).record)
                except (KeyError, ValueError):
                    self._rolled[name] = Counter()
        return sum(self._rolled.values(), Counter())


def faces_in(record: str) -> Counter[int]:
    """How often each face was rolled in one game."""
    return Counter(face for round_text in parse_record(record)[1] for hand in round_text.hands for face in hand)
