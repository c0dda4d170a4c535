"""The opponents that people can choose: agents by name, levels for people, and how the levels did against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from perudo_env.play.table import MakePolicy


@dataclass(frozen=True)
class Share:
    """A measured win share with its 95% interval, one ``level`` against ``against`` in all other seats."""

    level: str
    against: str
    share: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Setting:
    """How the shares were measured: ``games`` of each pair, at tables of ``seats``."""

    variant: str
    seats: int
    games: int
    seed: int


@dataclass(frozen=True)
class Lineup:
    """``policy`` makes any of ``agents`` or ``levels`` for a table; ``levels`` maps a name to that of its agent, weakest first."""

    policy: MakePolicy
    agents: Sequence[str]
    levels: Mapping[str, str]
    shares: Sequence[Share] = field(default=())
    setting: Setting | None = None  # of the shares

    @property
    def adviser(self) -> str:
        """The level that gives hints and opinions: the strongest."""
        return list(self.levels)[-1] if self.levels else self.agents[-1]
