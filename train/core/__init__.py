"""The common parts of training: options, run folder, state, loop, progress, measured values and tables of them, games between policies, workers."""
