"""Drawings of a table, as text and as a picture."""
