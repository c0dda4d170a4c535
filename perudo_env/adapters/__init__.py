"""Doors to other frameworks: OpenSpiel, RLlib, Stable-Baselines3, language models; each imports its own framework."""
