"""Strangers: scripted players of different temperaments, held out to see whether agents overfit to those they know.

Held out means: never in an opponent pool, never trained or tuned against, never used to choose a setting; only judged
against once all choices are made. They were written from the rules and from how people play; of the other scripted
agents' logic only the rule of ``odds`` was known to their author. Their names begin with ``held_out:`` (``agents.HELD_OUT``).
"""

from agents.scripted.held_out.bold import Bully, Calza, Copycat, Pacos, Raiser
from agents.scripted.held_out.careful import Fraction, Honest, Moody, Nervous

__all__ = ["Bully", "Calza", "Copycat", "Fraction", "Honest", "Moody", "Nervous", "Pacos", "Raiser"]
