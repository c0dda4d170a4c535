"""Perudo (Liar's Dice, Dudo) as a reinforcement-learning environment; ``docs/`` tells the rest."""

from perudo_env.engine.actions import CALZA, DUDO, PASS, Action, Bid, Call
from perudo_env.engine.batch import Batch
from perudo_env.engine.clauses import IllegalActionError
from perudo_env.engine.variant import VARIANTS, Variant, variant
from perudo_env.envs.registration import register_envs
from perudo_env.game.game import Game
from perudo_env.game.notation import NotationError
from perudo_env.policy import Policy, UniformPolicy

register_envs()

__version__ = "0.1.0"

__all__ = [
    "CALZA",
    "DUDO",
    "PASS",
    "VARIANTS",
    "Action",
    "Batch",
    "Bid",
    "Call",
    "Game",
    "IllegalActionError",
    "NotationError",
    "Policy",
    "UniformPolicy",
    "Variant",
    "variant",
]
