"""Golden playthroughs, one per preset: a seeded random game as record, events and returns.

``python -m tests.golden`` writes them anew; look at the diff before you commit it.
"""
