"""Critics, which see all dice in training: one says what a state is worth, the other what each action is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from agents.learned.features import NUM_CELLS
from train.selfplay.collector import Decisions, played
from train.selfplay.estimates import advantages, expected_sarsa
from train.selfplay.pay import CALLS


class Estimates(NamedTuple):
    """What a critic makes of n decisions; advantages are in units of their usual size."""

    targets: Tensor  # (n,): what the critic is to answer
    drawn: Tensor  # (n,): the log-probability with which the action taken was drawn
    gains: Tensor  # (n,): the advantage of the action taken, or what of it is missing in ``advantages``
    advantages: Tensor | None  # (n, NUM_CELLS): of every action, where the critic tells them apart
    learns: Tensor | None  # (n,): 1 where the critic learns, 0 where the value is known; None: everywhere
    explained: float  # the share of the targets' variance that the critic knew

    def rows(self, rows: Tensor) -> Estimates:
        """Some of the decisions, in this order."""
        return self._each(lambda x: x.index_select(0, rows))

    def to(self, device: torch.device) -> Estimates:
        """All of them on a device."""
        return self._each(lambda x: x.to(device))

    def _each(self, change: Callable[[Tensor], Tensor]) -> Estimates:
        tensors: dict[str, Any] = {k: change(x) for k, x in self._asdict().items() if isinstance(x, Tensor)}
        return self._replace(**tensors)


class Critic(Protocol):
    """How a critic's network is read and taught."""

    num_outputs: int

    def estimate(self, outputs: npt.NDArray[np.float32], d: Decisions, trace: float, uniform: float) -> Estimates:
        """What decisions are worth by the ``(n, num_outputs)`` of the network."""
        ...

    def loss(self, outputs: Tensor, chosen: Tensor, targets: Tensor, learns: Tensor | None) -> Tensor:
        """The squared error of some rows."""
        ...


class ValueCritic:
    """The value of a state; the generalised advantage (GAE) of the action taken."""

    num_outputs = 1

    def estimate(self, outputs: npt.NDArray[np.float32], d: Decisions, trace: float, uniform: float) -> Estimates:
        """See :class:`Critic`; decisions are all the policy's own."""
        before, gains = outputs[:, 0].astype(np.float64), np.empty(len(outputs))
        advantages(before, d.who, d.pay, trace, gains)
        drawn = d.log_probs[np.arange(len(outputs)), d.chosen]
        scaled = (gains - gains.mean()) / (gains.std() + 1e-8)
        return Estimates(
            _tensor(gains + before), _tensor(drawn), _tensor(scaled), None, None, _explained(gains, before)
        )

    def loss(self, outputs: Tensor, chosen: Tensor, targets: Tensor, learns: Tensor | None) -> Tensor:
        """See :class:`Critic`."""
        return mse_loss(outputs[:, 0], targets)


class ActionCritic:
    """The value of every action, with that of a call, which is known once all dice are, filled in; Expected SARSA(lambda)."""

    num_outputs = NUM_CELLS

    def estimate(self, outputs: npt.NDArray[np.float32], d: Decisions, trace: float, uniform: float) -> Estimates:
        """See :class:`Critic`; the share ``uniform`` of decisions is not the policy's own."""
        at, policy, told = np.arange(len(outputs)), np.exp(d.log_probs), outputs.copy()
        known = np.isfinite(d.calls)
        told[:, : len(CALLS)] = np.where(known, d.calls, told[:, : len(CALLS)])
        values = (policy * told).sum(axis=1, dtype=np.float64)
        chosen, drawn = told[at, d.chosen].astype(np.float64), played(d.log_probs, d.sizes, uniform)[at, d.chosen]
        targets, cuts = np.empty(len(outputs)), np.minimum(1.0, policy[at, d.chosen] / drawn)
        expected_sarsa(values, chosen, cuts, d.who, d.pay, trace, targets)
        usual = (targets - values).std() + 1e-8
        learns = ~(known[at, np.minimum(d.chosen, len(CALLS) - 1)] & (d.chosen < len(CALLS)))
        return Estimates(
            _tensor(targets), _tensor(np.log(drawn)), _tensor((targets - chosen) / usual),
            _tensor((told - values[:, None]) / usual), _tensor(learns), _explained(targets - chosen, chosen),
        )  # fmt: skip

    def loss(self, outputs: Tensor, chosen: Tensor, targets: Tensor, learns: Tensor | None) -> Tensor:
        """See :class:`Critic`."""
        assert learns is not None
        errors = outputs.gather(1, chosen[:, None])[:, 0] - targets
        return (errors.square() * learns).sum() / learns.sum().clamp(min=1)


CRITICS: dict[str, Critic] = {"value": ValueCritic(), "action_values": ActionCritic()}


def _tensor(array: npt.NDArray[Any]) -> Tensor:
    return torch.from_numpy(array.astype(np.float32))


def _explained(errors: npt.NDArray[np.float64], before: npt.NDArray[np.float64]) -> float:
    return 1.0 - float(np.var(errors)) / max(float(np.var(errors + before)), 1e-12)
