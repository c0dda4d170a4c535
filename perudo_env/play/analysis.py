"""A finished game step by step, with all dice open, and what an agent thinks of each decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perudo_env.engine.actions import Action, Bid
from perudo_env.game.asking import seen_by
from perudo_env.game.game import Game
from perudo_env.game.notation import format_record, parse_record
from perudo_env.play.table import likeliest
from perudo_env.policy import Policy
from perudo_env.rulebook.chances import Chance, chance


@dataclass(frozen=True)
class Step:
    """One decision: the game before it, who decided, and what was done."""

    game: Game
    seat: int
    action: Action

    @property
    def after(self) -> Game:
        """The game after it."""
        game = self.game.copy()
        game.act(self.action)
        return game

    @property
    def standing(self) -> Chance | None:
        """The chance of the bid to beat, given the dice of whoever decides; None before the opening bid."""
        bid = self.game.standing_bid
        return None if bid is None else chance(self.game, self.seat, bid)

    @property
    def made(self) -> Chance | None:
        """The chance of the bid made, given the same dice; None for a call."""
        return chance(self.game, self.seat, self.action) if isinstance(self.action, Bid) else None


@dataclass(frozen=True)
class Opinion:
    """What an agent would have done: its probabilities, likeliest first, and that of what was done; none if it states none."""

    choices: tuple[tuple[Action, float], ...]
    done: float


def steps(record: str) -> Iterator[Step]:
    """The decisions of a game, in order."""
    setting, rounds = parse_record(record)
    for number, told in enumerate(rounds):
        game = Game.replay(format_record(setting, [*rounds[:number], replace(told, actions=[])]))
        for action in told.actions:
            assert game.seat is not None
            yield Step(game.copy(), game.seat, action)
            game.act(action)


def opinion(step: Step, policy: Policy, most: int = 3) -> Opinion:
    """What ``policy`` would have done, its ``most`` likeliest actions."""
    seen, mask = step.game.observation(step.seat)[None], step.game.action_mask()[None]
    choices = likeliest(policy, seen, mask, seen_by(step.game, step.seat))
    return Opinion(choices[:most], dict(choices).get(step.action, 0.0))
