"""The contents of a golden file."""

from __future__ import annotations

import random
from pathlib import Path

import perudo_env as pe
from tests.helpers import legal_ids

FOLDER = Path(__file__).parent
SEATS, SEED = 3, 2024


def playthrough(preset: str) -> str:
    """A whole seeded game: record, information state at the end, legal actions met, events, ranks and returns."""
    one_round = pe.VARIANTS[preset].rounds == "one"
    game = pe.Game(preset, 2 if one_round else SEATS, SEED)
    rng = random.Random(SEED)
    choices = []
    while not game.is_over:
        legal = legal_ids(game)
        choices.append(f"round {game.round} seat {game.seat} {len(legal)} legal from {legal[0]} to {legal[-1]}")
        bids = [a for a in legal if a >= 3]
        may_call = len(bids) < len(legal)
        # Random.random() gives the same numbers in every version of Python; choice() need not.
        call = may_call and (not bids or rng.random() < 0.3)
        few = [a for a in legal if a < 3] if call else bids[:6]
        game.act(few[int(rng.random() * len(few))])
    assert game.returns is not None
    returns = " ".join(f"{x:+.4f}" for x in game.returns)
    parts = [
        game.record(),
        "\n".join(choices),
        "\n".join(map(repr, game.events)),
        f"ranks {game.ranks}\nreturns {returns}",
    ]
    return "\n\n".join(parts) + "\n"
