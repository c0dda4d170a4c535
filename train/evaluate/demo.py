"""The demo: the quickstart training, and what to do next with its result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from train.core.options import Out
from train.evaluate.training import Sb3Options, run_sb3

CONFIG = Path(__file__).parents[2] / "configs" / "quickstart.yaml"


@dataclass(frozen=True)
class DemoOptions:
    """Where it goes."""

    out: Out = None


def run(options: DemoOptions) -> None:
    """Train by ``configs/quickstart.yaml``, evaluate, and say where all is."""
    run_sb3(Sb3Options(CONFIG, out=options.out))
    print(
        "\nNext: python -m train arena --agents RUN/checkpoint inference odds --variant marquoir:starting_dice=3 --seats 2"
    )
