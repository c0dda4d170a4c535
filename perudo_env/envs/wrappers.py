"""PettingZoo's three wrappers with a straight way to the raw environment's attributes.

PettingZoo's own ask each wrapper in turn for each attribute, which costs four times as much as a step of the game.
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from perudo_env.engine.clauses import action_id


def _straight(name: str) -> property:
    # Before reset() there is no _raw: the AttributeError sends Python to the wrapper's own __getattr__.
    return property(lambda self: getattr(self._raw, name))


class _Straight:
    """From the first reset on, reads the environment's state from the environment itself."""

    agents = _straight("agents")
    agent_selection = _straight("agent_selection")
    rewards = _straight("rewards")
    _cumulative_rewards = _straight("_cumulative_rewards")
    terminations = _straight("terminations")
    truncations = _straight("truncations")
    infos = _straight("infos")

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """As the wrapper does."""
        super().reset(seed=seed, options=options)  # type: ignore[misc]
        self._raw = self.unwrapped  # type: ignore[attr-defined]


class TerminateIllegal(_Straight, TerminateIllegalWrapper):
    """An action that is illegal now ends the game, and whoever chose it loses it."""


class AssertOutOfBounds(_Straight, AssertOutOfBoundsWrapper):
    """What is no id of the action space is an ``IllegalActionError``; a whole number of any kind goes on as an ``int``."""

    def step(self, action: Any) -> None:
        """Check the action of an agent that plays, and hand it on; the environment refuses those of one that is out."""
        agent = self.agent_selection
        if not (self.terminations[agent] or self.truncations[agent]):
            action = action_id(action, int(self.action_space(agent).n))
        self.env.step(action)


class OrderEnforcing(_Straight, OrderEnforcingWrapper):
    """Calls in a wrong order are errors."""
