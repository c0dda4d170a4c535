"""Agents of solved tables, and the public trees that the tables are indexed by."""
