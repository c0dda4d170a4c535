"""The arguments that the environments share, and how they are checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from perudo_env.engine.rules import Reward

REWARDS = {"zero_sum": Reward.ZERO_SUM, "place": Reward.PLACE, "dice": Reward.DICE}
ELIMINATIONS = ("terminate", "wait")
ILLEGAL = ("raise", "terminate")


def one_of(name: str, value: Any, values: Iterable[Any]) -> Any:
    """``value`` if it is among ``values``; else ``ValueError`` that names the argument."""
    known = list(values)
    if value not in known:
        raise ValueError(f"{name} = {value!r} is unknown: use one of {', '.join(map(repr, known))}")
    return value
