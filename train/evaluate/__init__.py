"""Judging policies: the arena, intervals, exploitability."""
