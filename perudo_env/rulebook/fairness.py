"""Proof that the dice were fixed before the game: a digest shown before it, seed and salt shown after it.

All dice follow from the seed, so anybody can roll them again: ``python -m perudo_env verify FILE``.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from perudo_env.game.game import Game
from perudo_env.game.notation import HEAD, parse_record


class UnfairError(ValueError):
    """The dice of a game are not those that were promised; the message says where they part."""


@dataclass(frozen=True)
class Secret:
    """What fixes the dice of a game; nobody may see it before the game is over."""

    seed: int
    salt: str

    @classmethod
    def new(cls, seed: int | None = None) -> Secret:
        """A salt, and a seed if none is given, from the system's source of randomness."""
        return cls(secrets.randbits(64) if seed is None else seed, secrets.token_hex(16))

    @property
    def commitment(self) -> str:
        """SHA-256 of ``seed:salt``, in hexadecimal: fit to be shown before the game."""
        return sha256(f"{self.seed}:{self.salt}".encode()).hexdigest()


def roll_again(record: str) -> None:
    """Play a record from its seed alone; raises ``UnfairError`` unless every die falls as it says."""
    setting, rounds = parse_record(record)
    if setting.position or setting.seed is None:
        raise UnfairError("this game did not begin with a fresh deal from a seed: its dice cannot be rolled again")
    dice = tuple(len(hand) for hand in rounds[0].hands)
    game = Game(setting.variant, len(dice), setting.seed, dice=dice, max_rounds=setting.max_rounds)
    for number, told in enumerate(rounds, 1):
        hands = tuple(game.hand(seat) for seat in range(game.num_seats))
        for seat, (rolled, shown) in enumerate(zip(hands, told.hands, strict=True)):
            if rolled != shown:
                raise UnfairError(f"round {number}, seat {seat}: the seed rolls {rolled}, but the record says {shown}")
        for action in told.actions:
            game.act(action)


def verify(text: str) -> str:
    """Check a saved game, or a bare record, and say what was checked in one line; raises ``UnfairError`` or ``NotationError``."""
    if text.lstrip().startswith(HEAD):
        roll_again(text)
        return f"{_rounds(text)} rounds rolled again: every die agrees with the seed (no commitment in a bare record)"
    saved = _saved(text)
    verify_saved(saved)
    return f"{_rounds(saved['record'])} rounds rolled again: every die agrees with the seed, and seed and salt with the commitment"


def verify_saved(saved: Mapping[str, Any]) -> None:
    """The same for a saved game already read; it has ``record``, ``salt`` and ``commitment``."""
    setting, _ = parse_record(saved["record"])
    if setting.seed is None or Secret(setting.seed, saved["salt"]).commitment != saved["commitment"]:
        raise UnfairError(
            f"seed {setting.seed} and salt {saved['salt']} do not give the commitment {saved['commitment']}"
        )
    roll_again(saved["record"])


def _saved(text: str) -> dict[str, Any]:
    try:
        saved = json.loads(text)
    except ValueError as error:
        raise UnfairError(f"this is neither a game record nor a saved game: {error}") from None
    keys = ("record", "salt", "commitment")
    if not isinstance(saved, dict) or not all(isinstance(saved.get(key), str) for key in keys):
        raise UnfairError(f"this is not a saved game: it needs {', '.join(keys)}")
    return saved


def _rounds(record: str) -> int:
    return len(parse_record(record)[1])
