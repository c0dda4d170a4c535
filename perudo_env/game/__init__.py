"""One game for people: readable values, events, text that reads back, and the clause against an illegal action."""
