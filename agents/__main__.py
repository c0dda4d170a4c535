"""The commands for people: ``python -m agents --help`` lists them."""

from __future__ import annotations

import sys

from agents.core.command import Command
from perudo_env.game.door import Door

main = Door(
    "python -m agents",
    {
        "play against the agents": {
            "play": Command("agents.people.browser:run", "in the browser"),
            "terminal": Command("agents.people.terminal:run", "in the terminal, on its screen or line by line"),
        }
    },
    extra="play",
)

if __name__ == "__main__":
    sys.exit(main())
