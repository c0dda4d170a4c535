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

from perudo_env.game.files import parse_json
from perudo_env.game.game import Game
from perudo_env.game.notation import HEAD, NotationError, RoundText, parse_record


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
    """Play a record from its seed alone.

    Raises ``UnfairError`` unless every die falls as it says, and ``NotationError`` for a record that breaks the rules.
    """
    setting, rounds = parse_record(record)
    if setting.position or setting.seed is None:
        raise UnfairError("this game did not begin with a fresh deal from a seed: its dice cannot be rolled again")
    dice = tuple(len(hand) for hand in rounds[0].hands)
    try:
        game = Game(setting.variant, len(dice), setting.seed, dice=dice, max_rounds=setting.max_rounds)
        for number, told in enumerate(rounds, 1):
            if game.is_over or (game.round, game.num_seats) != (number, len(told.hands)):
                break
            _compare(game, number, told)
            for action in told.actions:
                game.act(action)
    except UnfairError:
        raise
    except ValueError as error:
        raise NotationError(str(error)) from error
    Game.replay(record)  # all else that a record says: who opened, how many hands there are, what may be bid


def _compare(game: Game, number: int, told: RoundText) -> None:
    for seat, shown in enumerate(told.hands):
        if game.hand(seat) != shown:
            raise UnfairError(
                f"round {number}, seat {seat}: the seed rolls {game.hand(seat)}, but the record says {shown}"
            )


def verify(text: str) -> str:
    """Check a saved game, or a bare record, and say what was checked in one line; raises ``UnfairError`` or ``NotationError``."""
    text = text.removeprefix("\ufeff")  # a byte order mark, as editors on Windows write one
    if text.lstrip().startswith(HEAD):
        roll_again(text)
        return f"{_rounds(text)} rounds rolled again: every die agrees with the seed (no commitment in a bare record)"
    try:
        saved = parse_json(text)
    except ValueError as error:
        raise UnfairError(f"this is neither a game record nor a saved game: {error}") from None
    verify_saved(saved)
    return f"{_rounds(saved['record'])} rounds rolled again: every die agrees with the seed, and seed and salt with the commitment"


def verify_saved(saved: Mapping[str, Any]) -> None:
    """The same for a saved game already read; raises ``UnfairError`` also for what is none (:func:`check_saved`)."""
    check_saved(saved)
    setting, _ = parse_record(saved["record"])
    if setting.seed is None or Secret(setting.seed, saved["salt"]).commitment != saved["commitment"]:
        raise UnfairError(
            f"seed {setting.seed} and salt {saved['salt']} do not give the commitment {saved['commitment']}"
        )
    if str(saved.get("seed", setting.seed)) != str(setting.seed):
        raise UnfairError(f"the saved game names the seed {saved['seed']}, and its record the seed {setting.seed}")
    roll_again(saved["record"])


def check_saved(saved: Any) -> None:
    """Raise ``UnfairError`` unless this can be shown as a saved game: an object with a record and its proof, in whole characters."""
    keys = ("record", "salt", "commitment")
    if not isinstance(saved, dict) or not all(isinstance(saved.get(key), str) for key in keys):
        raise UnfairError(f"this is not a saved game: it needs {', '.join(keys)}")
    try:
        json.dumps(saved, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:  # an escape like \ud800, half of a character
        raise UnfairError(f"this is not a saved game: it holds what is no character ({error.reason})") from None


def _rounds(record: str) -> int:
    return len(parse_record(record)[1])
