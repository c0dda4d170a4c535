"""The text door for language models: a prompt out, an answer in; the calls are those that TextArena's users know."""

from __future__ import annotations

from typing import Any

from perudo_env.adapters.prompt import least_raise, prompt, rules_text
from perudo_env.adapters.speech import hear
from perudo_env.engine.actions import ACTIONS, DUDO, PASS, Action
from perudo_env.engine.clauses import action_id
from perudo_env.engine.variant import Variant, as_variant, is_whole
from perudo_env.envs.arguments import one_of
from perudo_env.game.game import Game
from perudo_env.game.language import LANGUAGES
from perudo_env.game.narration import tell
from perudo_env.game.notation import NotationError

FALLBACKS = ("dudo", "least_raise")


class TextEnv:
    """A game of Perudo in words; ``game`` is the game itself, ``game.record()`` keeps it.

    - variant: a preset, ``"box:calza=anyone"``, or a ``Variant``
    - language: ``"en"`` or ``"fr"``, of the prompts; answers are understood in both
    - error_allowance: how many unreadable or illegal answers a turn forgives
    - fallback: what the seat plays at the next one: ``"dudo"`` or ``"least_raise"``, the other where that is illegal, and
      pass where it is only asked for Calza
    - past_rounds: how many earlier rounds a prompt tells; None for all
    - max_rounds: stop the game after so many rounds; None plays to the end

    A prompt shows what a person at the table sees, so where dice counts are hidden it does not tell them: they are to be
    counted from the earlier rounds, each of which says who lost a die. With ``past_rounds`` they cannot be.

    Raises ``ValueError`` for an argument that cannot be.
    """

    def __init__(
        self,
        variant: Variant | str = "classic",
        language: str = "en",
        error_allowance: int = 2,
        fallback: str = "dudo",
        past_rounds: int | None = None,
        max_rounds: int | None = None,
    ) -> None:
        self.variant = as_variant(variant)
        self.language = one_of("language", language, LANGUAGES)
        self.fallback = one_of("fallback", fallback, FALLBACKS)
        self.error_allowance = _from_zero("error_allowance", error_allowance)
        self.past_rounds = None if past_rounds is None else _from_zero("past_rounds", past_rounds)
        self.max_rounds = max_rounds
        self._rules = rules_text(self.variant, self.language)
        self._game: Game | None = None
        self._error: str | None = None  # why the last answer was refused
        self._errors = 0  # refused in this turn

    @property
    def game(self) -> Game:
        """The game being played; raises ``RuntimeError`` before the first reset."""
        if self._game is None:
            raise RuntimeError("no game yet: call reset(num_players) first")
        return self._game

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin a new game of 2 to 8 players; ``seed`` fixes all dice."""
        self._game = Game(self.variant, num_players, seed, max_rounds=self.max_rounds)
        self._errors, self._error = 0, None
        self._info: dict[int, dict[str, Any]] = {
            seat: {"turn_count": 0, "errors": 0, "fallbacks": 0, "invalid_move": False, "place": None}
            for seat in range(num_players)
        }

    def get_observation(self) -> tuple[int, str]:
        """The seat to act and its prompt; raises ``RuntimeError`` once the game is over."""
        rules, past = self._rules, self.past_rounds
        return self._seat(), prompt(self.game, rules, self.language, past_rounds=past, error=self._error)

    def step(self, action: Any) -> tuple[bool, dict[str, Any]]:
        """Play what the seat to act answers; returns whether the game is over, and what came of it.

        The answer is text (None: nothing was said), or an action id, a whole number of any kind; what is neither raises
        ``IllegalActionError``.
        The info holds ``player_id``, ``action`` (what was played, as text like ``5x3``; None where the seat is asked
        again), ``error`` (why the answer was refused, or None), ``fallback`` (whether the game chose for it) and
        ``events``, sentences.
        """
        seat = self._seat()
        said, self._error = self._understood(action)
        self._errors = self._errors + 1 if self._error else 0
        fallback = said is None and self._errors > self.error_allowance
        info: dict[str, Any] = {
            "player_id": seat,
            "action": None,
            "error": self._error,
            "fallback": fallback,
            "events": [],
        }
        told = self._info[seat]
        told["errors"] += said is None
        if fallback:
            said = self._fallback()
            told["fallbacks"] += 1
            told["invalid_move"] = True
        if said is not None:
            told["turn_count"] += 1
            info["action"] = str(said)
            info["events"] = [tell(event, self.language) for event in self.game.act(said)]
            self._errors, self._error = 0, None
        return self.game.is_over, info

    def close(self) -> tuple[dict[int, float], dict[int, dict[str, Any]]]:
        """What each seat is paid (0 while it still plays) and what is known of its game: turns, errors, fallbacks, place."""
        for seat, place in enumerate(self.game.ranks or ()):
            self._info[seat]["place"] = place
        return dict(enumerate(self.game.payoffs())), self._info

    def _seat(self) -> int:
        seat = self.game.seat
        if seat is None:
            raise RuntimeError("the game is over: call close() for the rewards, or reset()")
        return seat

    def _understood(self, answer: Any) -> tuple[Action | None, str | None]:
        """The action that an answer says, or why it cannot be played."""
        try:
            spoken = answer is None or isinstance(answer, str)
            said = hear(answer, self.language) if spoken else ACTIONS[action_id(answer, self.game.num_actions)]
        except NotationError as error:
            return None, str(error)
        why = self.game.why_illegal(said, self.language)
        return (said, None) if why is None else (None, why)

    def _fallback(self) -> Action:
        legal, bid = self.game.legal_actions(), least_raise(self.game)
        if PASS in legal:
            return PASS
        if bid is None or (self.fallback == "dudo" and DUDO in legal):
            return DUDO
        return bid


def _from_zero(name: str, value: int) -> int:
    if not is_whole(value) or value < 0:
        raise ValueError(f"{name} = {value!r} is not a whole number from 0")
    return value
