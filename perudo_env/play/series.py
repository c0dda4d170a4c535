"""One game after another at the same table, each kept as soon as it ends: what the terminal and the line mode play."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from perudo_env.engine.variant import Variant
from perudo_env.game.words import Words
from perudo_env.play.archive import Archive
from perudo_env.play.table import MakePolicy, Player, Table


@dataclass
class Series:
    """Games of ``players`` under one variant; raises ``ValueError`` for a table that cannot be.

    ``seed`` fixes the first game's dice, the next number the second's, and so on.
    """

    variant: Variant | str
    players: Sequence[Player]
    make: MakePolicy
    seed: int | None
    archive: Archive
    lost: list[str] = field(default_factory=list, init=False)  # what was told of games that no folder took
    _num_dealt: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._next: Table | None = self._table()

    def _table(self) -> Table:
        seed = None if self.seed is None else self.seed + self._num_dealt
        return Table(self.variant, self.players, self.make, seed)

    def deal(self) -> Table:
        """The table of the next game."""
        table, self._next = self._next or self._table(), None
        self._num_dealt += 1
        return table

    def keep(self, table: Table, w: Words) -> str:
        """Keep a finished game; says where, or tells the game itself if nowhere takes it."""
        saved = table.saved()
        try:
            return w.gettext("The game is kept: {file}", file=self.archive.path(self.archive.save(saved)))
        except OSError as error:
            told = w.gettext("The game cannot be kept ({error}); this is its record:", error=error)
            self.lost.append(f"{told}\n{json.dumps(saved, ensure_ascii=False)}")
            return self.lost[-1]
