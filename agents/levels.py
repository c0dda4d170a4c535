"""Levels for people: names anybody understands, each an agent, and how they did against each other.

``python -m train.evaluate.levels`` measures them into ``levels.json``.
"""

from __future__ import annotations

import json
from pathlib import Path

import agents
from perudo_env.play.lineup import Lineup, Setting, Share

LEVELS: dict[str, str] = {"novice": "bluffer", "regular": "odds", "expert": "inference", "master": "exact"}
"""Level -> agent, weakest first; the last one also gives hints."""

MEASURED = Path(__file__).parent / "levels.json"


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
    return Lineup(agents.make, agents.names(), LEVELS, shares, setting)
