"""The game in a terminal: full screen by Textual, or line by line."""
