"""A policy after one exact step of search at every information state of a round between two seats.

What ``search:`` does at a decision (``agents.search``), without its samples: action values are exact, both seats playing
the policy, beliefs are Bayes' rule on it, and its probabilities are multiplied by exp(value / temperature). Values are
in search's own units: a lost die's price to the seat, by chances to win the game. That is the unit of returns, but for
seats of unequal dice. The sampled agent also mixes some chance into its beliefs, tries the likeliest raises alone, and
takes the better of two plans.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.search.lookahead import call_pay
from agents.search.policy import pay_under
from agents.tabular.public_tree import PublicTree, round_record, set_bids
from perudo_env.engine.actions import PACO, bid_id
from train.solver.exact.payoffs import check_numbers, seat_view
from train.solver.exact.traverse import Traversal, Weights
from train.solver.exact.walk import Do

LEAST = 0.01  # below it exp(value / temperature) leaves float64


def search_step(tree: PublicTree, tables: Weights, temperature: float, spent: tuple[int, ...] = ()) -> Weights:
    """The flat tables of both seats after the step; ``spent`` says which seats have had their palifico.

    Where the other never comes, a seat has no values, and plays on as it did. Raises ``ValueError`` for a temperature
    below ``LEAST``.
    """
    check_numbers(LEAST, temperature=temperature)
    walk = Traversal(tree, np.zeros((2, 4)), np.float64)

    def stepped(seat: int) -> npt.NDArray[np.float64]:
        walk.set_pay(seat_view(search_pay(tree, seat, spent), seat))
        advantages = np.zeros_like(tables[seat])
        walk.run(seat, Do.ADVANTAGES, tables, advantages)
        # advantages have mean 0 at a node, so that by Jensen's inequality its new weights sum to 1 at least
        return tables[seat] * np.exp(advantages / temperature)

    return stepped(0), stepped(1)


def search_pay(tree: PublicTree, seat: int, spent: tuple[int, ...] = ()) -> npt.NDArray[np.float64]:
    """What search counts each ``Ending`` for to ``seat``, ``(2, 4)``: called by itself in row 0, by the other in row 1."""
    pay, states = pay_under(tree.variant), round_record(tree.variant, tree.dice, tree.palifico, tree.total, spent)
    table = np.zeros((2, 4))
    for row, caller in enumerate((seat, 1 - seat)):
        set_bids(states[0], [int(bid_id(1, PACO))] * (caller or 2))
        table[row] = call_pay(states, lambda ended, _: pay(ended, np.array([seat])))[0]
    return table
