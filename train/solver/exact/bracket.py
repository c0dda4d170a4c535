"""A certified interval for the exploitability of a policy in a round between two seats that is too large to walk whole.

A best response is computed on those histories alone that the dice and the frozen policy reach, the responder doing
its part, with more than a threshold. Where a walk stops, the rest is worth to the responder no less than the better
call, or the worst pay where it has no call, and no more than the best pay. With threshold 0 both ends meet at the exact
number. What lies below matters with its reach alone, so the interval is as wide as the reach that was left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.tabular.public_tree import NO_BID, PublicTree
from perudo_env.engine.hands import hand_weights
from perudo_env.engine.jit import kernel
from perudo_env.engine.variant import Variant, as_variant
from perudo_env.policy import Policy
from train.solver.exact.payoffs import State, check_dice, pay_table
from train.solver.exact.rounds import APPROXIMATE
from train.solver.exact.tabulate import Asker
from train.solver.exact.traverse import Traversal
from train.solver.exact.walk import call_values

CHUNK = 128  # histories of one length that are walked side by side
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Pair = tuple[FloatArray, FloatArray]  # lower and upper values, (histories, own hands)


@dataclass(frozen=True)
class Bracket:
    """What a best response earns against a policy in each seat of a round, as certified intervals."""

    earned: tuple[tuple[float, float], tuple[float, float]]  # as opener, as the other: lower and upper
    num_states: int  # information states at which the policy was asked

    @property
    def nash_conv(self) -> tuple[float, float]:
        """The interval of NashConv; what both seats earn is what they gain, for the policy's own returns sum to zero."""
        (a, b), (c, d) = self.earned
        return a + c, b + d

    @property
    def exploitability(self) -> tuple[float, float]:
        """The interval of half of it."""
        lower, upper = self.nash_conv
        return lower / 2, upper / 2


def bracket(
    policy: Policy, v: Variant | str, dice: Sequence[int] = (2, 1), palifico: bool = False, *, reach: float = 1e-3,
    max_states: int = 8_000_000, on_progress: Callable[[int], Any] | None = None, total: int | None = None, spent: tuple[int, ...] = (),
) -> Bracket:  # fmt: skip
    """The interval for the round of ``Game(v, dice=dice)`` that seat 0 opens; see the module.

    In a game, ``total`` dice were on the table at its start, and ``spent`` says which seats have had their palifico.
    ``on_progress`` is called with the number of information states just asked. Raises ``ValueError`` where more than
    ``max_states`` would be, and for bad probabilities, naming the information state.
    """
    if not 0 <= reach < 1:
        raise ValueError(f"reach = {reach} is not a threshold: use a number from 0 to below 1")
    v, pair = as_variant(v), check_dice(dice)
    tree = PublicTree(v, pair, palifico, total)
    walks = [ReachWalk(policy, tree, seat, reach, max_states, on_progress, spent) for seat in (0, 1)]
    first, second = (w.run() for w in walks)
    return Bracket((first, second), sum(w.asked for w in walks))


@kernel
def add_calls(
    need: np.ndarray, opp_counts: np.ndarray, pay: np.ndarray, bids: np.ndarray, call: int, caller: int, reach: np.ndarray,
    tail: np.ndarray, values: np.ndarray,
) -> None:  # fmt: skip
    """Add to ``values[i, 0]`` my values of a call on the i-th of ``bids``, the opponent's hands having ``reach[i]``."""
    for i in range(bids.size):
        call_values(need, opp_counts, pay, bids[i], call, caller, reach, i, tail, values, 0)


class ReachWalk:
    """The best response of one seat, on histories above a threshold.

    A group of histories of one length is ``at`` (the graph's index of each standing bid), ``said`` (its bids, a row each)
    and ``reach`` (of each hand of the opponent: its deal times what it did).
    """

    def __init__(
        self, policy: Policy, tree: PublicTree, me: int, threshold: float, max_states: int, on_progress: Callable[[int], Any] | None,
        spent: tuple[int, ...],
    ) -> None:  # fmt: skip
        self.tree, self.graph, self.me, self.threshold = tree, tree.graph, me, threshold
        self.ask = Asker(policy, tree, 1 - me, spent)
        self.asked, self.max_states, self.on_progress = 0, max_states, on_progress
        self.deals = [hand_weights(d, tree.variant.num_faces) for d in (tree.dice[me], tree.dice[1 - me])]
        walk = Traversal(
            tree, pay_table(tree.variant, State(tree.dice, 0, tree.palifico), total=tree.total), np.float64, 1
        )
        side = walk.sides[me]
        self.need, self.opp_counts, self.pay = side.need, side.opp_counts, side.pay
        self.tail, self.depth = np.zeros(tree.dice[1 - me] + 4), walk.depth
        possible = self.pay[:, : 2 if tree.variant.calza == "off" else 4]
        self.worst, self.best = float(possible.min()), float(possible.max())

    def run(self) -> tuple[float, float]:
        """What a best response earns: at least, at most."""
        root = np.array([NO_BID]), np.zeros((1, self.depth), np.int64), self.deals[1][None]
        lower, upper = self._values(*root, 0)
        return float(lower[0] @ self.deals[0]), float(upper[0] @ self.deals[0])

    def _values(self, at: IntArray, said: IntArray, reach: FloatArray, length: int) -> Pair:
        """My values of some histories, ``length`` bids long, in parts small enough for memory."""
        expand = self._mine if length % 2 == self.me else self._theirs
        parts = [
            expand(at[k : k + CHUNK], said[k : k + CHUNK], reach[k : k + CHUNK], length)
            for k in range(0, at.size, CHUNK)
        ]
        return np.concatenate([low for low, _ in parts]), np.concatenate([up for _, up in parts])

    def _mine(self, at: IntArray, said: IntArray, reach: FloatArray, length: int) -> Pair:
        total = reach.sum(axis=1)[:, None]
        lower = np.broadcast_to(self.worst * total, (at.size, self.deals[0].size))
        for call in range(int(self.graph.calls[at].max(initial=0))):
            asked = np.flatnonzero(self.graph.calls[at] > call)
            lower = _raised(lower, asked, self._calls(at[asked], call, 0, reach[asked]))
        upper = np.where(self._num_raises(at)[:, None] > 0, self.best * total, lower)
        going = np.flatnonzero((total[:, 0] > self.threshold) & (self._num_raises(at) > 0))
        if not going.size:
            return lower, upper
        parent, bids = self._raises(at[going])
        parent = going[parent]
        low, up = self._values(bids, self._say(said[parent], bids, length), reach[parent], length + 1)
        starts = np.flatnonzero(np.diff(parent, prepend=-1))
        best = np.where(self.graph.calls[at[going]][:, None] > 0, lower[going], -np.inf)
        lower, upper = np.array(lower), np.array(upper)
        lower[going] = np.maximum(best, np.maximum.reduceat(low, starts, axis=0))
        upper[going] = np.maximum(best, np.maximum.reduceat(up, starts, axis=0))
        return lower, upper

    def _theirs(self, at: IntArray, said: IntArray, reach: FloatArray, length: int) -> Pair:
        probs = self._probs(at, said, reach, length)
        lower = np.zeros((at.size, self.deals[0].size))
        for call in range(int(self.graph.calls[at].max(initial=0))):
            asked = np.flatnonzero(self.graph.calls[at] > call)
            lower[asked] += self._calls(at[asked], call, 1, reach[asked] * probs[asked, :, call])
        upper = lower.copy()
        parent, bids = self._raises(at)
        then = reach[parent] * probs[parent, :, self.graph.action[bids]]
        come = np.flatnonzero(then.sum(axis=1) > 0)
        if come.size:
            low, up = self._values(
                bids[come], self._say(said[parent[come]], bids[come], length), then[come], length + 1
            )
            np.add.at(lower, parent[come], low)
            np.add.at(upper, parent[come], up)
        return lower, upper

    def _probs(self, at: IntArray, said: IntArray, reach: FloatArray, length: int) -> FloatArray:
        """The policy's probabilities, ``(histories, hands, num_actions)``; zeros for hands that do not come here."""
        where, held = np.nonzero(reach > 0)
        self.asked += where.size
        if self.asked > self.max_states:
            raise ValueError(
                f"more than {self.max_states:,} information states are reached with more than {self.threshold:g}: use a larger "
                f"--reach, or raise --max-states; {APPROXIMATE}"
            )
        asked = self.ask(said, np.full(at.size, length), where, held)
        probs = np.zeros((*reach.shape, asked.shape[1]))
        probs[where, held] = asked
        if self.on_progress is not None:
            self.on_progress(where.size)
        return probs

    def _calls(self, bids: IntArray, call: int, caller: int, reach: FloatArray) -> FloatArray:
        values = np.zeros((bids.size, 1, self.deals[0].size))
        add_calls(
            self.need, self.opp_counts, self.pay, bids, call, caller, np.ascontiguousarray(reach), self.tail, values
        )
        return values[:, 0]

    def _num_raises(self, at: IntArray) -> IntArray:
        return self.graph.first[at + 1] - self.graph.first[at]

    def _raises(self, at: IntArray) -> tuple[IntArray, IntArray]:
        """Every raise in every history: which history, and the graph's index of the bid."""
        counts = self._num_raises(at)
        parent = np.repeat(np.arange(at.size), counts)
        return parent, self.graph.raises[
            self.graph.first[at][parent] + np.arange(parent.size) - (np.cumsum(counts) - counts)[parent]
        ]

    def _say(self, said: IntArray, bids: IntArray, length: int) -> IntArray:
        said[:, length] = self.graph.action[bids]
        return said


def _raised(values: FloatArray, rows: IntArray, by: FloatArray) -> FloatArray:
    """``values``, but no less than ``by`` in some rows."""
    out = np.array(values)
    out[rows] = np.maximum(out[rows], by)
    return out
