"""Algorithms kept for comparison, and the comparison."""
