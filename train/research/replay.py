"""A replay buffer: rows that a trainer learns from again, the newest or an equal sample of all that ever came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.learned.neural import are_finite
from train.core.state import Arrays, take


class ReplayBuffer:
    """At most ``size`` rows in columns of equal length, each of a width and a dtype; ``most`` bounds those from 0 to a number.

    A ring keeps the newest rows. A ``reservoir`` keeps a sample in which every row that ever came is equally likely to
    be (Vitter, "Random Sampling with a Reservoir", 1985): averages over it are averages over the whole past.
    """

    def __init__(
        self,
        size: int,
        columns: Mapping[str, tuple[int, Any]],
        *,
        reservoir: bool,
        most: Mapping[str, int] | None = None,
    ) -> None:
        self.size, self.reservoir, self.most = size, reservoir, most or {}
        self.seen = 0  # rows that ever came
        self.columns = {name: np.zeros((size, width), dtype) for name, (width, dtype) in columns.items()}

    def __len__(self) -> int:
        return min(self.seen, self.size)

    def add(self, rng: np.random.Generator, **rows: npt.NDArray[Any]) -> None:
        """Take in rows, given by column."""
        count = len(next(iter(rows.values())))
        number = self.seen + np.arange(count)
        place = rng.integers(0, number + 1) if self.reservoir and count else number % self.size
        if self.reservoir:
            place = np.where(number < self.size, number, place)
        kept = np.flatnonzero(place < self.size)
        for name, column in self.columns.items():
            column[place[kept]] = rows[name][kept].reshape(kept.size, column.shape[1])
        self.seen += count

    def sample(self, rng: np.random.Generator, count: int) -> Arrays:
        """``count`` rows drawn with replacement, by column."""
        rows = rng.integers(0, len(self), count)
        return {name: column[rows] for name, column in self.columns.items()}

    def arrays(self) -> Arrays:
        """All rows, for the state of a run."""
        return {"seen": np.array([self.seen]), **{name: column[: len(self)] for name, column in self.columns.items()}}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take the rows of :meth:`arrays` back.

        Raises ``ValueError`` for rows that do not fit, numbers that are not finite or out of bounds.
        """
        self.seen = int(take(arrays, "seen", np.zeros(1, np.int64), 0, 2**53)[0])
        for name, column in self.columns.items():
            rows = take(arrays, name, column[: len(self)], 0 if name in self.most else None, self.most.get(name))
            if column.dtype.kind == "f" and not are_finite(rows):
                raise ValueError(f"{name} holds numbers that are not finite")
            column[: len(self)] = rows
