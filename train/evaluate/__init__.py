"""Measures of a policy."""
