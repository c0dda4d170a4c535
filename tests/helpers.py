"""Helpers of several test files: reading a game's state, translating events, and random play that is not dull."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from perudo_env import Bid, Game, Variant, variant
from perudo_env.engine.variant import RULE_TEXTS, SWITCHES, VARIANTS, switch_values
from perudo_env.game import events as ev

PRESETS = tuple(VARIANTS)
RULE_PRESETS = RULE_TEXTS
HALVED_PRESETS = (*RULE_TEXTS, "pascal_round")  # Pacos are bid by halving and doubling


def switches_of(v: Variant) -> dict[str, Any]:
    """Every switch of a variant by name."""
    return {switch: getattr(v, switch) for switch in SWITCHES}


def single_overrides(preset: str) -> Iterator[tuple[str, Any, Variant]]:
    """Each value of each switch on top of a preset; the one pair that RULES refuses is left out."""
    for switch in SWITCHES:
        for value in switch_values(switch):
            together = switches_of(VARIANTS[preset]) | {switch: value}
            if (together["dice_counts"], together["max_bid"]) != ("hidden", "dice_in_play"):
                yield switch, value, variant(preset, **{switch: value})


def content(states: np.ndarray) -> bytes:
    """The bytes of state records field by field: the padding between fields says nothing, and copies need not keep it."""
    return b"".join(states[name].tobytes() for name in states.dtype.names or ())


def state_of(game: Game) -> tuple[Any, ...]:
    """All a game says about itself, hands and the record's own bytes included."""
    hands = tuple(game.hand(seat) for seat in range(game.num_seats))
    return (
        game.variant, game.num_seats, game.seat, game.round, game.opener, game.palifico, game.standing_bid, game.bidder,
        game.dice, hands, game.bids, game.in_calza_window, game.is_over, game.truncated, game.ranks, game.returns,
        game.legal_actions(), game.events, game.record(), content(game.states),
    )  # fmt: skip


def as_tuple(event: ev.Event) -> tuple[Any, ...]:
    """An engine event as the reference referee would write it."""
    match event:
        case ev.RoundStarted(number, opener, palifico):
            return ("round", number, opener, palifico)
        case ev.BidMade(seat, (quantity, face)):
            return ("bid", seat, quantity, face)
        case ev.Passed(seat):
            return ("pass", seat)
        case ev.DudoSaid(seat):
            return ("dudo", seat)
        case ev.CalzaSaid(seat):
            return ("calza", seat)
        case ev.Revealed(bidder, (quantity, face), hands, count):
            return ("reveal", bidder, quantity, face, hands, count)
        case ev.DieLost(seat, left):
            return ("lose", seat, left)
        case ev.DieRegained(seat, left):
            return ("gain", seat, left)
        case ev.Eliminated(seat, place):
            return ("out", seat, place)
        case ev.GameOver(ranks, truncated):
            return ("over", ranks, truncated)
    raise AssertionError(f"the referee has no such event: {event}")


class Chooser:
    """Random legal ids in one style a game: how often it calls, and how high above the least bid it goes.

    Uniform play would jump to high bids at once and see only short rounds.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.calls = rng.choice((0.05, 0.15, 0.3, 0.6))
        self.reach = rng.choice((1, 3, 8, None))

    def __call__(self, legal: list[int]) -> int:
        calls = [a for a in legal if a < 3]
        bids = [a for a in legal if a >= 3]
        if calls and (not bids or self.rng.random() < self.calls):
            return self.rng.choice(calls)
        return self.rng.choice(bids[: self.reach])


def legal_ids(game: Game) -> list[int]:
    """The legal action ids, ascending."""
    return np.flatnonzero(game.action_mask()).tolist()


def legal_bids(game: Game) -> set[Bid]:
    """The legal bids."""
    return {a for a in game.legal_actions() if isinstance(a, Bid)}


def play_out(game: Game, rng: random.Random, steps: int | None = None) -> Game:
    """Play random legal actions, to the end or for so many steps."""
    choose = Chooser(rng)
    while not game.is_over and steps != 0:
        game.act(choose(legal_ids(game)))
        steps = None if steps is None else steps - 1
    return game


def random_variant(rng: random.Random) -> Variant:
    """Any legal mixture of switches."""
    while True:
        mixture = {switch: rng.choice(switch_values(switch)) for switch in SWITCHES}
        if (mixture["dice_counts"], mixture["max_bid"]) != ("hidden", "dice_in_play"):
            return variant("classic", **mixture)


def random_dice(v: Variant, num_seats: int, rng: random.Random) -> list[int]:
    """Unequal starting dice; some seats may be out, two at least play."""
    while True:
        dice = [rng.randint(0, v.starting_dice) for _ in range(num_seats)]
        if sum(d > 0 for d in dice) >= 2:
            return dice


def train(name: str, config: Path, *overrides: str, out: Path, smoke: bool = False) -> int:
    """A trainer's command, in this process; returns its exit code."""
    from train.__main__ import main  # here: the tests of the game do without

    return main([name, str(config), *overrides, "--out", str(out), *(["--smoke"] if smoke else [])])
