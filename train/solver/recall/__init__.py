"""Recall-limited CFR: tables of players who remember their hand and the last bids."""
