"""Exact solutions of rounds between two seats: trees, discounted CFR, best responses, matches."""
