"""A walk through all presets at all tables, and what agents, the critic and solvers make of it, as named arrays.

``python -m tests.jit_walk FILE.npz`` writes them: with and without ``NUMBA_DISABLE_JIT=1`` they are to be the same.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import numpy as np

import agents
import perudo_env as pe
from agents.tabular.public_tree import PublicTree
from perudo_env.engine.variant import MAX_SEATS, MIN_SEATS
from tests.helpers import PRESETS, Chooser, content
from train.evaluate.exploitability import nash_conv
from train.selfplay.critic_features import all_dice
from train.solver.exact.payoffs import State, pay_table
from train.solver.exact.rounding import rounded
from train.solver.exact.rounds import RoundSolver
from train.solver.recall.solver import RecallSolver

Arrays = dict[str, np.ndarray]

STEPS = 20  # at each table, new games following on finished ones
ASKED = (("classic", 2), ("joker", 3), ("evening", 8), ("box", 4))  # where agents are asked
TINY = pe.variant("joker", num_faces=3)


def table(preset: str, seats: int) -> Arrays:
    """States, masks, observations, all dice and returns of two games, step by step."""
    rng = random.Random(f"{preset} {seats}")
    batch, choosers = pe.Batch(preset, seats, 2, seed=seats), (Chooser(rng), Chooser(rng))
    choosers[1].reach = None  # at high bids counts are large
    steps: list[Arrays] = []
    for _ in range(STEPS):
        step = {
            "states": np.frombuffer(content(batch.states), np.uint8),
            "masks": batch.masks(),
            "observations": batch.observe(),
            "dice": all_dice(batch, np.arange(batch.num_games)),
        }
        legal = [np.flatnonzero(mask).tolist() for mask in step["masks"]]
        batch.act([choose(ids) for choose, ids in zip(choosers, legal, strict=True)])
        steps.append({**step, "returns": batch.returns})
        batch.reset(batch.is_over)
    return {name: np.array([step[name] for step in steps]) for name in steps[0]}


def probs(seen: Arrays, preset: str, seats: int) -> Arrays:
    """What agents answer on some of what was seen at a table."""
    observations, masks = seen["observations"][::3, 0], seen["masks"][::3, 0]
    names = ("odds", "inference", "duel") if seats == 2 else ("odds", "inference")
    return {name: agents.make(name, preset, seats).probs(observations, masks) for name in names}


def solutions() -> Arrays:
    """A few iterations of both solvers on a tiny round, their tables in small integers, and how an agent is judged there."""
    tree, pay = PublicTree(TINY, (1, 1)), pay_table(TINY, State((1, 1)))
    solvers = {"exact": RoundSolver(tree, pay, 1), "recall": RecallSolver(tree, pay, 2, 1)}
    found: Arrays = {"gains": np.array(nash_conv(agents.make("inference", TINY, 2), TINY, (1, 1)).gains)}
    for name, solver in solvers.items():
        solver.iterate(3)
        found |= {f"{name} {k}": regrets for k, regrets in enumerate(solver.regrets)}
    found |= {f"small {k}": weights for k, weights in enumerate(rounded(solvers["recall"].table()).weights)}
    return found


def walk() -> Iterator[tuple[str, np.ndarray]]:
    """Everything, by name."""
    for preset in PRESETS:
        for seats in range(MIN_SEATS, MAX_SEATS + 1):
            seen = table(preset, seats)
            asked = probs(seen, preset, seats) if (preset, seats) in ASKED else {}
            yield from ((f"{preset}, {seats} seats: {name}", array) for name, array in {**seen, **asked}.items())
    yield from ((f"solved: {name}", array) for name, array in solutions().items())


if __name__ == "__main__":
    np.savez(sys.argv[1], **dict(walk()))
