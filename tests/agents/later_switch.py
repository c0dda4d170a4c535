"""A process in which the game has a switch more: run with a file of games as they were played without, it plays them again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

SHIPPED = Path(__file__).parents[2] / "agents" / "checkpoints"
GAMES: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("exact", "classic", (2, 2)),
    ("duel", "marquoir:calza=off", (2, 2)),
    ("duel/network", "pascal", (2, 2)),
    ("table", "pascal", (2, 1, 2)),
    ("table", "box:calza=anyone", (2, 1, 1, 1, 1, 1)),  # its specialist of six seats plays
)
"""Shipped checkpoints, each with a table and the dice that a game begins with."""


def play(agent: str, variant: str, dice: tuple[int, ...]) -> Iterator[tuple[int, np.ndarray]]:
    """One game by an agent in all seats: what it does at every decision, and the probabilities that it states."""
    import agents
    from perudo_env import Game

    policy, game = agents.load(SHIPPED / agent, variant, len(dice)), Game(variant, len(dice), 5, dice=dice)
    rng = np.random.default_rng(6)
    while not game.is_over:
        probs = policy.probs(game.observation(game.seat)[None], game.action_mask()[None])[0]
        action = int(rng.choice(probs.size, p=probs))
        game.act(action)
        yield action, probs


def add_switch() -> None:
    """Let the module of variants be one with a switch more, amid the others, and a preset that has it on."""
    path = Path(__file__).parents[2] / "perudo_env" / "engine" / "variant.py"
    source = path.read_text(encoding="utf-8")
    for old, new in (
        ("    calza: str =", '    stake: int = _switch(1, (1, 2), "dice that a seat loses at once")\n    calza: str ='),
        ('("random", "roll_off", ', '("random", "youngest", "roll_off", '),
        ('_preset("evening", ', '_preset("evening", stake=2, '),
    ):
        assert source.count(old) == 1
        source = source.replace(old, new)
    name = "perudo_env.engine.variant"
    module: Any = ModuleType(name)
    sys.modules[name] = module
    exec(compile(source, str(path), "exec"), module.__dict__)


def refusal(agent: str, variant: str) -> str:
    """What a checkpoint says that does not play a table of two seats."""
    import agents

    try:
        agents.load(SHIPPED / agent, variant, 2)
    except ValueError as error:
        return str(error)
    raise AssertionError(f"{agent} plays {variant}")


def main(path: str) -> None:
    """Play the games of a file again and see what is refused."""
    add_switch()
    from agents.tabular.policy import load_tables
    from perudo_env.engine.observation import layout
    from perudo_env.engine.variant import parse_variant

    assert layout(2, 10).shapes["switches"] == (40,), "a switch of two values, and a value more"
    with np.load(path) as before:
        for g, (agent, variant, dice) in enumerate(GAMES):
            actions, probs = zip(*play(agent, variant, dice), strict=True)
            assert list(actions) == before[f"{g}.actions"].tolist(), (agent, variant)
            assert np.abs(np.array(probs) - before[f"{g}.probs"]).max() < 1e-5, (agent, variant)
    for agent in ("table", "duel/network"):
        assert "before there was stake=2" in refusal(agent, "classic:stake=2")
        assert "before there was stake=2" in refusal(agent, "evening"), "the preset is another game now"
        assert "before there was first_player=youngest" in refusal(agent, "classic:first_player=youngest")
    assert load_tables(variant=parse_variant("evening:stake=1"))
    assert not load_tables(variant=parse_variant("evening")), "tables of another game"


if __name__ == "__main__":
    main(sys.argv[1])
