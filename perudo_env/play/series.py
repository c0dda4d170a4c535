"""One game after another at the same table, each kept as soon as it ends: what the terminal and the line mode play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from perudo_env.engine.variant import Variant
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

    def keep(self, table: Table) -> Path:
        """Keep a finished game; returns its file."""
        return self.archive.path(self.archive.save(table.saved()))
