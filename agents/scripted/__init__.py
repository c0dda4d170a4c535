"""Scripted agents: a rule each, no training."""
