"""A whole game between two seats: its value, and what a best response gains against a policy.

Dice are rolled anew each round, so a game is a Markov game over its rounds (Shapley, "Stochastic games", 1953). A round
is a zero-sum game paid with the values of the rounds that may follow. Without Calza dice only go, and the values follow
from the last round backwards; with Calza they are iterated until they stand still.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.tabular.policy import RoundTable
from agents.tabular.public_tree import PublicTree
from perudo_env.engine.variant import Variant, as_variant
from perudo_env.policy import Policy
from train.solver.exact.bracket import Bracket, bracket
from train.solver.exact.exploitability import Exploitability, refuse_large
from train.solver.exact.payoffs import Ending, Outcome, State, as_opened, outcomes, pay_table, states_of
from train.solver.exact.rounds import RoundSolver, capped
from train.solver.exact.tabulate import tabulate
from train.solver.exact.traverse import Traversal
from train.solver.exact.walk import Do

STILL = 1e-9  # an iteration over rounds ends when no value moves more
MAX_SWEEPS = 10_000
Values = dict[State, float]  # the return of the whole game to the seat that opens a round; the opener is seat 0


def worth(values: Values) -> Callable[[Outcome], float]:
    """What an outcome is worth to seat 0, the next round being worth ``values`` to its opener."""

    def value(outcome: Outcome) -> float:
        if outcome.next is None:
            return outcome.game_returns[0]
        return values[as_opened(outcome.next)] * (1 if outcome.next.opener == 0 else -1)

    return value


@dataclass(frozen=True)
class MatchSolution:
    """A solved game between two seats."""

    value: float  # to the seat that opens the first round, winner +1, loser -1
    lower: float  # what the strategies found guarantee to that seat
    upper: float  # and what they concede
    values: Values  # of each round, to its opener
    tables: dict[State, RoundTable]
    cap_may_matter: bool  # the value is certified for the game without bids above the dice in play only
    seconds: float

    @property
    def nash_conv(self) -> float:
        """The width of the interval: what best responses in both seats gain together, the opener being known."""
        return self.upper - self.lower


def solve_match(
    v: Variant | str, num_seats: int = 2, *, num_dice: int | None = None, seconds: float = 60, target: float = 1e-4,
    sweeps: int = 30, threads: int | None = None,
) -> MatchSolution:  # fmt: skip
    """Solve a game that both seats begin with ``num_dice`` (by default the variant's).

    Each round is solved to ``target``, in at most ``seconds`` a sweep; with Calza at most ``sweeps`` go over all rounds.
    The interval is exact for the strategies found: they are judged by best responses over the whole game. Raises
    ``ValueError`` if there are not two seats, or a round is too large for memory.
    """
    if num_seats != 2:
        raise ValueError(f"num_seats = {num_seats}: a game is solved for 2 seats only")
    v = capped(as_variant(v))
    start = time.monotonic()
    states = states_of(v, num_dice or v.starting_dice)
    trees = {s: PublicTree(v, s.dice, s.palifico) for s in states}
    values: Values = dict.fromkeys(states, 0.0)
    solvers = {s: RoundSolver(trees[s], pay_table(v, s, worth(values)), threads) for s in reversed(states)}
    for _ in range(1 if v.calza == "off" else sweeps):
        moved = 0.0
        for s in states:
            solvers[s].set_pay(pay_table(v, s, worth(values)))
            solvers[s].restart_average()
            lower, upper = solvers[s].run(seconds, target)
            moved = max(moved, abs((lower + upper) / 2 - values[s]))
            values[s] = (lower + upper) / 2
        if moved <= target:
            break
    tables = {s: RoundTable(trees[s], solvers[s].sums) for s in states}
    first = State((num_dice or v.starting_dice,) * 2)
    weights = {s: solvers[s].sums for s in states}
    lower = -best_response_values(v, trees, weights, as_opener=False)[first]
    upper = best_response_values(v, trees, weights, as_opener=True)[first]
    return MatchSolution(
        (lower + upper) / 2, lower, upper, values, tables, cap_may_matter(v, values), time.monotonic() - start
    )


def cap_may_matter(v: Variant, values: Values) -> bool:
    """Whether leaving out bids above the dice in play could have changed the value of a game.

    Such a bid is lost if doubted. That is no better than any other end of a round, unless losing a die oneself were
    better than the other taking one back.
    """
    if v.max_bid == "dice_in_play":
        return False
    for s in values:
        paid = pay_table(v, s, worth(values))[:, : 2 if v.calza == "off" else 4]
        # a seat's bid, doubted by the other, does not hold: ending 1
        if (paid < paid[1, 1] - STILL).any() or (paid > paid[0, 1] + STILL).any():
            return True
    return False


# ---------------------------------------------------------------------------------------------- best responses

Weights = dict[State, tuple[np.ndarray, np.ndarray]]


def best_response_values(v: Variant, trees: dict[State, PublicTree], weights: Weights, *, as_opener: bool) -> Values:
    """What a best response to ``weights`` in all rounds earns in the whole game, by the round at hand.

    ``weights[state]`` are both seats' tables, the opener's first. The responder opens that round, or does not.
    The responder's values are iterated from a lost game, so that a game without end is worth nothing to it.
    """
    return _iterate(v, trees, weights, Do.BEST, Do.BEST)[0 if as_opener else 1]


def _iterate(v: Variant, trees: dict[State, PublicTree], weights: Weights, *does: Do) -> tuple[Values, Values]:
    """Values to a seat that, when it opens a round, does the first, and otherwise the second."""
    opening: Values = dict.fromkeys(trees, -1.0)
    other: Values = dict.fromkeys(trees, -1.0)
    table = {s: outcomes(v, s) for s in trees}
    walks = {s: Traversal(trees[s], np.zeros((2, 4)), np.float64) for s in trees}

    def paid(s: State, me: int) -> np.ndarray:
        pay = np.zeros((2, 4))
        for (caller, ending), outcome in table[s].items():
            if outcome.next is None:
                mine = outcome.game_returns[0] * (1 if me == 0 else -1)
            else:
                mine = (opening if outcome.next.opener == me else other)[as_opened(outcome.next)]
            pay[caller, ending] = mine * (1 if me == 0 else -1)
        return pay

    for _ in range(MAX_SWEEPS):
        moved = 0.0
        for s in trees:
            for me, known in ((0, opening), (1, other)):
                walks[s].set_pay(paid(s, me))
                value = walks[s].run(me, does[me], weights[s])
                moved = max(moved, abs(value - known[s]))
                known[s] = value
        if moved <= STILL:
            return opening, other
    raise RuntimeError(f"the values of the rounds still move by {moved:g} after {MAX_SWEEPS} sweeps")


class MatchExploitability(Exploitability):
    """The same for a whole game: winner +1, loser -1; the value and the first gain are those of the seat that opens it."""


def match_exploitability(
    policy: Policy, v: Variant | str, num_dice: int | None = None, max_states: int = 30_000_000
) -> MatchExploitability:
    """The exact exploitability of a policy in a whole two-seat game from ``num_dice`` each (by default the variant's).

    Bids are those of the variant, with T0 twice ``num_dice``. Raises ``ValueError`` at once for a game whose rounds have more
    than ``max_states`` information states, and for bad probabilities.
    """
    v = as_variant(v)
    trees = refuse_large_match(v, num_dice or v.starting_dice, max_states)
    weights = {s: tabulate(policy, tree, s.spent) for s, tree in trees.items()}
    first = State((num_dice or v.starting_dice,) * 2)
    best = _iterate(v, trees, weights, Do.BEST, Do.BEST)
    value = _iterate(v, trees, weights, Do.FOLLOW, Do.FOLLOW)[0][first]
    gains = best[0][first] - value, best[1][first] + value
    return MatchExploitability(value, gains, sum(t.num_states for t in trees.values()))


def match_bracket(
    policy: Policy, v: Variant | str, num_dice: int | None = None, *, reach: float = 1e-3, max_states: int = 8_000_000,
    on_progress: Callable[[int], Any] | None = None,
) -> Bracket:  # fmt: skip
    """A certified interval for the exploitability of a policy in a whole two-seat game without Calza.

    A round then has two outcomes, and whoever wins it more often does better: the intervals of the rounds, each as
    :func:`bracket` finds it, chain from the last round backwards. Raises ``ValueError`` with Calza, where the intervals are
    too wide to say that winning a round is better than losing it, and as :func:`bracket` does.
    """
    v = as_variant(v)
    if v.calza != "off":
        raise ValueError(
            f"calza = {v.calza!r}: a round with Calza has more than two outcomes, and its interval does not chain; use calza=off"
        )
    n = num_dice or v.starting_dice
    # what a best response earns in the rest of the game, at least and at most, where it opens the round and where it does not
    earned: dict[tuple[State, int], tuple[float, float]] = {}
    asked = 0
    for s in states_of(v, n):
        found = bracket(
            policy,
            v,
            s.dice,
            s.palifico,
            reach=reach,
            max_states=max_states,
            on_progress=on_progress,
            total=2 * n,
            spent=s.spent,
        )
        asked += found.num_states
        for me in (0, 1):
            won, lost = (_after(outcomes(v, s, 2 * n), me, earned, sign) for sign in (1, -1))
            if won[0] < lost[1]:
                raise ValueError(
                    f"in the round {s.dice} winning is worth {won} and losing {lost}: the intervals overlap, use a smaller reach"
                )
            low, high = ((1 + r) / 2 for r in found.earned[me])
            earned[s, me] = low * won[0] + (1 - low) * lost[0], high * won[1] + (1 - high) * lost[1]
    first = State((n, n))
    return Bracket((earned[first, 0], earned[first, 1]), asked)


def _after(
    found: dict[tuple[int, Ending], Outcome], me: int, earned: dict[tuple[State, int], tuple[float, float]], sign: int
) -> tuple[float, float]:
    """What a round is worth to seat ``me`` that it has won (sign +1) or lost, at least and at most."""
    (outcome,) = {o for o in found.values() if o.round_returns[0] * (1 if me == 0 else -1) * sign > 0}
    if outcome.next is None:
        return (outcome.game_returns[0] * (1 if me == 0 else -1),) * 2
    return earned[as_opened(outcome.next), 0 if outcome.next.opener == me else 1]


def refuse_large_match(v: Variant, num_dice: int, max_states: int) -> dict[State, PublicTree]:
    """The trees of all rounds of a game; raises ``ValueError`` if one has more than ``max_states`` information states."""
    trees = {}
    # the largest first: to be refused at once
    for s in reversed(states_of(v, num_dice)):
        trees[s] = PublicTree(v, s.dice, s.palifico, 2 * num_dice)
        refuse_large(trees[s], max_states)
    return dict(reversed(trees.items()))
