"""The common parts of agents: features of observations, checkpoint folders, checks of probabilities."""
