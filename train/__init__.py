"""Things that make or judge a policy."""
