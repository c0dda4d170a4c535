"""The tournament and its small door, the arena: line-ups, tasks that are played anywhere, standings, ratings, results kept."""
