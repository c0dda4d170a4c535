"""The Gymnasium environment: one learning seat, drawn anew each game, among policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from perudo_env.engine.clauses import IllegalActionError, action_id
from perudo_env.engine.variant import Variant, as_variant, table_size
from perudo_env.envs.arguments import ILLEGAL, one_of
from perudo_env.envs.window import Canvas
from perudo_env.game.asking import ask, seen_by
from perudo_env.game.game import Game
from perudo_env.policy import Policy, UniformPolicy

Int8Array = npt.NDArray[np.int8]


class PerudoEnv(gymnasium.Env[Int8Array, np.int64]):
    """A game of Perudo seen from one seat; the other seats play by ``opponents``.

    Each game draws the learner's seat, and for each other seat one of ``opponents`` (by default uniform legal play),
    which it keeps. An observation is int8 ``(layout.size,)``, its mask stands in ``info["action_mask"]`` and
    :meth:`action_masks`. The episode ends when the learner is out or has won, with reward +1 for the win and
    -1/(n-1) for any other place (or the return of the round in a one-round variant).
    Under hidden dice counts an observation holds them all (``memory="perfect"``) or the own one (``"none"``).
    An action is an id, a whole number of any kind (an array or tensor of shape ``()`` too). One that is illegal now ends
    the episode with -1, or raises ``IllegalActionError`` with ``illegal="raise"``. What is no id of the action space
    raises it whatever ``illegal`` says, and changes nothing.
    """

    metadata = {"render_modes": ["ansi", "rgb_array", "human"], "render_fps": 2}  # noqa: RUF012 - Gymnasium's convention

    def __init__(
        self,
        variant: Variant | str = "classic",
        num_players: int = 2,
        opponents: Sequence[Policy] = (),
        max_rounds: int | None = None,
        illegal: str = "terminate",
        render_mode: str | None = None,
        memory: str = "perfect",
    ) -> None:
        self.variant = as_variant(variant)
        self.num_players = table_size(num_players)
        self.opponents: list[Policy] = list(opponents) or [UniformPolicy()]
        self.max_rounds, self.memory = max_rounds, memory
        self.illegal = one_of("illegal", illegal, ILLEGAL)
        self._canvas = Canvas(render_mode, self.metadata)
        self.render_mode = render_mode
        self.game = self._new_game(None)
        self.learner = 0
        self._drawn: list[Policy] = []
        self._done = True
        self.observation_space = spaces.Box(0, 1, (self.game.layout.size,), np.int8)
        self.action_space = spaces.Discrete(self.game.num_actions)

    def _new_game(self, seed: int | None) -> Game:
        return Game(self.variant, self.num_players, seed, max_rounds=self.max_rounds, memory=self.memory)

    def action_masks(self) -> Int8Array:
        """Which action ids the learner may choose, int8 ``(num_actions,)``; all 0 when it is not to act any more."""
        return self.game.action_mask(self.learner)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Int8Array, dict[str, Any]]:
        """Deal a game and play up to the learner's first turn."""
        super().reset(seed=seed)
        while True:
            self.game = self._new_game(int(self.np_random.integers(2**63)))
            self.learner = int(self.np_random.integers(self.num_players))
            self._drawn = [
                self.opponents[i] for i in self.np_random.integers(len(self.opponents), size=self.num_players)
            ]
            self._play_others()
            if self.game.seat == self.learner:
                break
            # A single round, or one of one die each, may end before the learner has had a turn: nothing to learn from.
        self._done = False
        if self.render_mode == "human":
            self.render()
        return self.game.observation(self.learner), self._info()

    def step(self, action: Any) -> tuple[Int8Array, float, bool, bool, dict[str, Any]]:
        """Play the learner's action id, then the others up to its next turn."""
        if self._done:
            raise RuntimeError("the episode is over: call reset() before step()")
        number = action_id(action, self.game.num_actions)
        try:
            self.game.play(number)
        except IllegalActionError as error:
            if self.illegal == "raise":
                raise
            self._done = True
            return (
                self.game.observation(self.learner),
                -1.0,
                True,
                False,
                {**self._info(), "illegal_action": str(error)},
            )
        self._play_others()
        self._done = self._is_out or self.game.is_over
        reward = self.game.payoffs()[self.learner] if self._done else 0.0
        truncated = self.game.truncated and not self._is_out
        if self.render_mode == "human":
            self.render()
        return self.game.observation(self.learner), reward, self._done and not truncated, truncated, self._info()

    @property
    def _is_out(self) -> bool:
        return self.game.dice[self.learner] == 0

    def _play_others(self) -> None:
        while not self._is_out and self.game.seat not in (None, self.learner):
            seat = self.game.seat
            observation, mask = self.game.observation(seat)[None], self.game.action_mask()[None]
            self.game.play(int(ask(self._drawn[seat], observation, mask, self.np_random, seen_by(self.game, seat))[0]))

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "seat": self.learner}

    def render(self) -> Any:
        """What the learner sees, or the open table after the end, as text, picture or window."""
        return self._canvas.draw(self.game, None if self.game.is_over else self.learner)

    def close(self) -> None:
        """Close the window, if one is open."""
        self._canvas.close()
