"""Levels for people: names anybody understands, each an agent, and how they did against each other.

``python -m train levels`` measures them into ``levels.json``.
"""

from __future__ import annotations

import json
from pathlib import Path

import agents
from perudo_env.engine.variant import Variant
from perudo_env.play.lineup import Lineup, Setting, Share
from perudo_env.policy import Policy

LEVELS: dict[str, str] = {"novice": "bluffer", "regular": "odds", "expert": "inference", "master": "table"}
"""Level -> agent, weakest first; the last one also gives hints."""
TWO_SEATS: dict[str, str] = {"master": "duel"}
"""Levels that have another agent where only two play."""
SEARCHING = ("search:duel", "search:table")
"""Slower agents that people may pick besides those with a name of their own."""
STAND_IN = "inference"
"""Who plays as a level at a table that its agent was not trained for."""

MEASURED = Path(__file__).parent / "levels.json"


def make(name: str, variant: Variant | str, num_seats: int) -> Policy:
    """The agent of a level or a name for a table; a level whose agent was not trained for such a table has a stand-in."""
    if name not in LEVELS:
        return agents.make(name, variant, num_seats)
    for agent in (TWO_SEATS.get(name) if num_seats == 2 else None, LEVELS[name]):
        try:
            if agent:
                return agents.make(agent, variant, num_seats)
        except ValueError:
            continue
    return agents.make(STAND_IN, variant, num_seats)


def lineup() -> Lineup:
    """All agents and levels, for the terminal and the browser."""
    shares: list[Share] = []
    setting: Setting | None = None
    if MEASURED.exists():
        measured = json.loads(MEASURED.read_text(encoding="utf-8"))
        # a level that has become another agent since has yet to be measured
        current = {level for level, agent in measured["levels"].items() if LEVELS.get(level) == agent}
        shares = [Share(**s) for s in measured["shares"] if {s["level"], s["against"]} <= current]
        setting = Setting(**measured["setting"])
    return Lineup(make, (*agents.names(), *SEARCHING), LEVELS, shares, setting)
