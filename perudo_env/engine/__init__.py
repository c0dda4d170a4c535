"""The rules: actions, switches, the record of a game, and the kernels that play it; nothing here knows of people or envs."""
