"""Self-play trainers, and what they are made of."""
