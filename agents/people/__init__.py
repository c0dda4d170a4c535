"""Agents for people: named levels, and the command that plays against them."""
