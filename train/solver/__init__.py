"""Exact solutions of rounds between two seats."""

from train.solver.exact.rounds import RoundSolution, solve_round

__all__ = ["RoundSolution", "solve_round"]
