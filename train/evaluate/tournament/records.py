"""Records of whole games as text: one line of JSON a game, with a record that ``Game.replay`` reads.

A line holds ``variant``, ``seats`` (their number), ``agents`` (a name per seat) and ``record``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perudo_env.engine.variant import Variant
from perudo_env.game.files import is_device, make_folder, written
from perudo_env.game.game import Game
from train.core.rollout import SeatArray


class Trace:
    """The actions of games played side by side; they and the seeds are the games, for dice depend on nothing else."""

    def __init__(self) -> None:
        self._steps: list[tuple[SeatArray, SeatArray]] = []

    def add(self, rows: SeatArray, actions: SeatArray) -> None:
        """Note one decision in each of some games; both ``(num_acting,)``."""
        self._steps.append((rows, actions))

    def records(self, variant: Variant, num_seats: int, seeds: npt.NDArray[np.uint64]) -> list[str]:
        """The record of each game, in the order of ``seeds`` ``(num_games,)``."""
        rows = np.concatenate([rows for rows, _ in self._steps])
        actions = np.concatenate([actions for _, actions in self._steps])
        # stable: the decisions of one game stay in order
        by_game = np.split(actions[np.argsort(rows, kind="stable")], np.cumsum(np.bincount(rows))[:-1])
        return [_replayed(variant, num_seats, int(s), a) for s, a in zip(seeds, by_game, strict=True)]


def _replayed(variant: Variant, num_seats: int, seed: int, actions: npt.NDArray[np.int64]) -> str:
    game = Game(variant, num_seats, seed)
    for action in actions.tolist():
        game.play(action)
    return game.record()


def lines(variant: str, agents: Sequence[str], lineups: SeatArray, records: Iterable[str]) -> list[str]:
    """One line of JSON a game, without its end of line; ``lineups`` ``(num_games, num_seats)`` number the agents."""
    return [
        json.dumps({"variant": variant, "seats": len(row), "agents": [agents[a] for a in row], "record": record})
        for row, record in zip(lineups.tolist(), records, strict=True)
    ]


class RecordsFile:
    """A file of games that appears whole: parts go, in order, to ``FILE.unfinished``, which a clean end renames.

    A device, as /dev/null, is written to as it stands. Parts may arrive in any order and are written in that of their numbers, from 0, as soon as those before them are.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.unfinished = path, path if is_device(path) else path.with_name(path.name + ".unfinished")
        make_folder(path.parent)
        with written(self.unfinished):
            self._file = self.unfinished.open("w", encoding="utf-8")
        self._waiting: dict[int, Sequence[str]] = {}
        self._next = 0
        self.games = 0

    def add(self, number: int, games: Sequence[str]) -> None:
        """Take the lines of part ``number``."""
        self._waiting[number] = games
        with written(self.unfinished, f"; the first {self.games} games are kept in it"):
            while self._next in self._waiting:
                self._write(self._waiting.pop(self._next))
                self._next += 1
            self._file.flush()

    def kept(self) -> str:
        """Where the finished games are, for the message of an error."""
        return f"; {self.games + sum(map(len, self._waiting.values()))} finished games are kept in {self.unfinished}"

    def _write(self, games: Sequence[str]) -> None:
        self._file.writelines(line + "\n" for line in games)
        self.games += len(games)

    def __enter__(self) -> RecordsFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        # after an error the finished games are kept, also those that a missing part held up, as far as there is room
        with suppress(OSError) if kind else written(self.path, f"; its games are in {self.unfinished}"):
            for number in sorted(self._waiting):
                self._write(self._waiting[number])
            self._file.close()
            if kind is None and self.unfinished != self.path:
                os.replace(self.unfinished, self.path)
