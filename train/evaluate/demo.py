"""What ``make demo`` runs: the quickstart training, and what to do next with its result."""

from __future__ import annotations

import sys
from pathlib import Path

from perudo_env.game.printing import printing
from train.evaluate.training import run_sb3

CONFIG = Path(__file__).parents[2] / "configs" / "quickstart.yaml"


def main() -> int:
    """Train by ``configs/quickstart.yaml``, evaluate, and say where all is."""
    code = run_sb3(CONFIG)
    if code == 0:
        print(
            "\nNext: python -m train.evaluate.arena --agents RUN/checkpoint inference odds --variant marquoir:starting_dice=3 --seats 2"
        )
    return code


if __name__ == "__main__":
    with printing():
        sys.exit(main())
