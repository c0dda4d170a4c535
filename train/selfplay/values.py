"""Continuation values: the value of a game to each seat when a round begins, over dice vectors.

A round is paid with the change of these values that it causes, so that training sees single rounds. A table over dice
vectors would have 23,430 rows for six seats of five dice, and one for each variant; a small network over the dice
vector, seen from the opener, learns all of them at once from the rounds of self-play (one-step temporal differences).
Its answer is a distribution over who wins: values are returns in which the winner has +1 and the others -1/(n-1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from perudo_env.engine.observation import encode_switches
from perudo_env.engine.variant import MAX_SEATS, MAX_STARTING_DICE, Variant
from train.selfplay.networks import MLP

FloatArray = npt.NDArray[np.float64]
_SWITCHES = encode_switches(Variant()).size
NUM_INPUTS = MAX_SEATS * (MAX_STARTING_DICE + 1) + 1 + MAX_SEATS + _SWITCHES
SWITCHES_AT = NUM_INPUTS - _SWITCHES  # where the bits of the switches begin
_OUT = -1e9


class RoundStates:
    """The rounds that a batch of records stands in, as their openers see them: living seats clockwise, the opener first."""

    def __init__(self, states: npt.NDArray[Any], num_seats: int, variant: Variant) -> None:
        batch = len(states)
        self.num_seats = num_seats
        self.num_players = states["num_players"].astype(np.int64)
        turned = (states["opener"].astype(np.int64)[:, None] + np.arange(num_seats)) % num_seats
        dice = np.take_along_axis(states["dice"], turned, axis=1)
        living = np.argsort(dice == 0, axis=1, kind="stable")  # those out go to the end
        self.seats = np.take_along_axis(turned, living, axis=1)  # (batch, num_seats): the seat of each place
        self.dice = np.take_along_axis(dice, living, axis=1)
        spent = np.take_along_axis(states["palifico_spent"], self.seats, axis=1) * (self.dice > 0)
        inputs = np.zeros((batch, NUM_INPUTS), np.float32)
        cups = inputs[:, : MAX_SEATS * MAX_STARTING_DICE].reshape(batch, MAX_SEATS, MAX_STARTING_DICE)
        cups[:, :num_seats] = self.dice[:, :, None] > np.arange(MAX_STARTING_DICE)
        at = MAX_SEATS * MAX_STARTING_DICE
        inputs[:, at : at + num_seats] = spent
        inputs[:, at + MAX_SEATS] = states["is_palifico"]
        alive = (self.dice > 0).sum(axis=1)
        inputs[np.arange(batch), at + MAX_SEATS + alive] = 1
        inputs[:, SWITCHES_AT:] = encode_switches(variant)
        self.inputs = inputs

    def by_seat(self, by_place: FloatArray) -> FloatArray:
        """Numbers per place as numbers per seat, ``(batch, num_seats)``."""
        out = np.zeros((len(by_place), self.num_seats))
        np.put_along_axis(out, self.seats, by_place[:, : self.num_seats], axis=1)
        return out

    def by_place(self, by_seat: FloatArray) -> FloatArray:
        """Numbers per seat as numbers per place, padded with 0 to ``(batch, MAX_SEATS)``."""
        out = np.zeros((len(by_seat), MAX_SEATS))
        out[:, : self.num_seats] = np.take_along_axis(by_seat, self.seats, axis=1)
        return out


class ContinuationValues(torch.nn.Module):
    """Win chances and the spread of their change over a round, from a :class:`RoundStates`."""

    def __init__(self, hidden: Sequence[int], learning_rate: float) -> None:
        super().__init__()
        self.network = MLP(NUM_INPUTS, hidden, MAX_SEATS + 1)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=learning_rate, eps=1e-6)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Log win chances by place, ``(batch, MAX_SEATS)``, and the log mean square of a round's change, ``(batch,)``."""
        out = self.network(inputs)
        dice = inputs[:, : MAX_SEATS * MAX_STARTING_DICE].reshape(-1, MAX_SEATS, MAX_STARTING_DICE).sum(dim=2)
        # before anything is learnt, chances go as dice
        logits = torch.where(dice > 0, out[:, :MAX_SEATS] + torch.log(dice.clamp(min=1)), _OUT)
        return torch.log_softmax(logits, dim=1), out[:, MAX_SEATS] - 2.0

    @torch.no_grad()
    def judge(self, states: RoundStates) -> tuple[FloatArray, FloatArray]:
        """The chance of each seat to win, ``(batch, num_seats)``, and the root mean square of the change of a living seat's
        chance over the round, ``(batch,)``."""
        log_chances, log_square = self(torch.from_numpy(states.inputs))
        return states.by_seat(log_chances.exp().double().numpy()), np.exp(0.5 * log_square.double().numpy())

    def learn(self, inputs: Tensor, targets: Tensor, squares: Tensor, minibatch: int) -> float:
        """One pass over finished rounds: chances after them by place, and the mean square change; returns the mean loss."""
        total = 0.0
        for rows in torch.randperm(len(inputs)).split(minibatch):
            log_chances, log_square = self(inputs[rows])
            cross_entropy = -(targets[rows] * log_chances.clamp(min=-60.0)).sum(dim=1)
            likelihood = 0.5 * (squares[rows] * torch.exp(-log_square) + log_square)
            loss = cross_entropy.mean() + 0.1 * likelihood.mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += float(loss.detach()) * len(rows)
        return total / len(inputs)
