"""A mixture of agents: at every decision each answers with its share, so its probabilities are their weighted mean.

mix:exact=.5,table=.5     # as the name of an agent, in every command
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from perudo_env.game.asking import ask_probs
from perudo_env.policy import Int8Array, Policy, SampledPolicy

MIX = "mix:"


class MixturePolicy(SampledPolicy):
    """Agents made for one table, that state ``probs``, each with its share; the shares sum to 1."""

    def __init__(self, parts: Mapping[str, tuple[Policy, float]]) -> None:
        self.parts = dict(parts)

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """The mean of the agents' probabilities, weighted by their shares."""
        out = np.zeros(masks.shape)
        for policy, share in self.parts.values():
            out += share * ask_probs(policy, observations, masks)
        return out


def read_mix(text: str) -> dict[str, float]:
    """The agents of ``mix:NAME=SHARE,NAME=SHARE`` with their shares.

    Raises ``ValueError`` unless each is named once, with a share above 0, and the shares sum to 1.
    """
    shares: dict[str, float] = {}
    for part in text.removeprefix(MIX).split(","):
        name, _, number = part.rpartition("=")
        try:
            share = float(number)
        except ValueError:
            share = 0.0
        if not name or name in shares or name.startswith(MIX) or not 0 < share <= 1:
            raise ValueError(
                f"agent {text!r}: {part!r} is no part of a mix: write mix:exact=.5,table=.5, each agent once"
            )
        shares[name] = share
    if abs(sum(shares.values()) - 1) > 1e-6:
        raise ValueError(f"agent {text!r}: the shares sum to {sum(shares.values()):g}, not 1")
    return shares


def written_mix(shares: Mapping[str, float]) -> str:
    """The name that :func:`read_mix` reads."""
    return MIX + ",".join(f"{name}={share!r}" for name, share in shares.items())
