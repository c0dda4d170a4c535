"""Playing with people: a table of people and agents, and the terminal and browser that show it."""
