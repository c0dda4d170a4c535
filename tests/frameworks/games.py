"""The check of a framework's games: played again on ``Game``, all actions are legal and all returns the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from perudo_env import Game
from perudo_env.envs.aec import PerudoAEC

# (variant, seats, games): many short games, with eliminations before the end, and some with Calza by anyone
TABLES = (
    ("classic:starting_dice=1", 2, 660),
    ("marquoir:starting_dice=1", 3, 320),
    ("box:calza=anyone,starting_dice=2", 4, 20),
)


class Kept(PerudoAEC):
    """The raw environment, keeping every game it deals in ``dealt``, for the seeds."""

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        self.__dict__.setdefault("dealt", []).append(self.game)

    @property
    def finished(self) -> list[Game]:
        """The games played to the end, in order."""
        return [game for game in self.dealt if game.is_over]


def check(played: Game, actions: Sequence[int], returns: Sequence[float]) -> None:
    """Play ``actions`` on a new game of the seed of ``played``; ``returns`` are what the framework saw paid, per seat.

    Raises ``IllegalActionError`` for an illegal action and ``AssertionError`` for anything else that differs.
    """
    game = Game(played.variant, played.num_seats, played.seed)
    for action in actions:
        game.act(int(action))
    assert game.is_over, f"the game of seed {played.seed} goes on after {len(actions)} actions"
    assert game.record() == played.record()
    assert np.allclose(returns, game.returns), f"paid {returns}, not {game.returns}"
