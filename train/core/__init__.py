"""The common parts of training: options, run folder, state, loop, progress, games between policies, workers."""
