"""The score of an evening of Perudo with real dice (S3, S4): what was entered, what follows from it, and where it is kept."""

from perudo_env.play.score.entries import ScoreError
from perudo_env.play.score.evening import Evening
from perudo_env.play.score.store import Store

__all__ = ["Evening", "ScoreError", "Store"]
