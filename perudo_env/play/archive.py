"""Finished games in a folder: one JSON file each, with the record and the proof of its dice."""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import tempfile
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

from perudo_env.game.files import check_writable, read_json, write_text
from perudo_env.game.notation import parse_record
from perudo_env.game.words import Words
from perudo_env.play.names import tidy
from perudo_env.rulebook.fairness import check_saved

_log = logging.getLogger(__name__)
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
        return [tidy(str(p["name"])) for p in self.data["players"]]


class Archive:
    """The games of a folder, which is made when it is needed.

    Where it cannot be written, or no longer, games are kept in a temporary folder of this user, ``spare``.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        self.spare: Path | None = None
        self._rolled: dict[str, Counter[int]] = {}  # files never change, so each is counted once

    @cached_property
    def trouble(self) -> str | None:
        """Why games cannot be kept in the folder, tried once, to be told before play; None: they can."""
        try:
            check_writable(self.folder / "game.json")
        except ValueError as error:
            return str(error.__cause__)
        return None

    def warning(self, w: Words) -> str | None:
        """What people are told before they play where games cannot be kept in the folder."""
        if self.trouble is None:
            return None
        return w.gettext(
            "Finished games cannot be kept in {folder} ({error}): they go to a temporary folder. --games or PERUDO_GAMES names another.",
            folder=self.folder,
            error=self.trouble,
        )

    def save(self, data: dict[str, Any]) -> str:
        """Keep a game; returns its name. The file appears whole or not at all. Raises ``OSError`` where no folder takes it."""
        name = f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
        try:
            write_text(self.folder / f"{name}.json", text)
        except OSError as error:
            if self.spare is None:
                self.spare = Path(tempfile.mkdtemp(prefix="perudo-games-"))
            write_text(self.spare / f"{name}.json", text)
            _log.warning("%s cannot be written (%s): the game is kept in %s", self.folder, error, self.spare)
        return name

    @property
    def _folders(self) -> list[Path]:
        return [self.folder] if self.spare is None else [self.folder, self.spare]

    def path(self, name: str) -> Path:
        """The file of a game; raises ``KeyError`` for what is no name of one."""
        if not _NAME.fullmatch(name):
            raise KeyError(name)
        paths = [folder / f"{name}.json" for folder in self._folders]
        return next((path for path in paths if os.path.isfile(path)), paths[0])

    def names(self) -> list[str]:
        """The games there are, the latest first."""
        found = (path.stem for folder in self._folders if os.path.isdir(folder) for path in folder.glob("*.json"))
        return sorted((name for name in found if _NAME.fullmatch(name)), reverse=True)

    def read(self, name: str) -> SavedGame:
        """A game; raises ``KeyError`` if there is none of this name, ``ValueError`` for a file that is not a saved game."""
        path = self.path(name)
        if not os.path.isfile(path):
            raise KeyError(name)
        data = read_json(path)
        try:
            check_saved(data)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        record, players = data["record"], data.get("players")
        if not isinstance(players, list) or not isinstance(data.get("seed"), str | int):
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
