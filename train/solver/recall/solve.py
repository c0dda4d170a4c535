"""One round by recall-limited CFR, as a command.

    python -m train recall --variant joker --dice 3 3 --recall 3 --seconds 180 --out runs/joker-3v3
    python -m train recall --dice 3 3 3 --recall 3 --seconds 60 --out runs/classic-3v3v3

The dice are those of the seats in turn, the opener's first.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

import agents as registry
from agents.tabular.policy import TabularPolicy
from agents.tabular.public_tree import PublicTree
from perudo_env.engine.variant import as_variant, variant
from perudo_env.game.files import check_writable, write_text
from train.core.options import Seed, VariantOption
from train.core.progress import progress
from train.core.run import provenance
from train.solver.exact.exploitability import MAX_STATES, nash_conv
from train.solver.exact.payoffs import State, check_numbers, pay_table, pay_tables
from train.solver.exact.rounding import rounded
from train.solver.exact.rounds import capped
from train.solver.recall.solver import EXPLORATION, RecallSolver


@dataclass(frozen=True)
class RecallOptions:
    """One round by recall-limited CFR."""

    out: Path
    """The checkpoint's folder; a run that was killed goes on there."""
    variant: VariantOption = "classic"
    dice: Annotated[tuple[int, ...], tyro.conf.arg(metavar="DICE DICE [DICE ...]")] = (3, 3)
    """The opener's, and the others' clockwise."""
    palifico: bool = False
    """A palifico round."""
    recall: int = 3
    """How many bids are remembered."""
    seconds: float = 60
    """How long it is solved."""
    least_chance: float = 0.0
    """Bids that are less likely to hold, before any die is seen, are left out."""
    sample: int | None = None
    """Deals of the others that an iteration meets; by default 32 hands of one other seat, 4 deals of several."""
    exploration: float = EXPLORATION
    """The share of play that tries all actions alike."""
    seed: Seed = 0
    threads: int | None = None
    """By default one per core."""
    save_every: float = 120
    """Seconds between two saves."""
    levels: int = 255
    """Weights in the table are whole numbers up to this."""
    against: str = ""
    """An agent who sits in all other seats in a share of the rounds."""
    share: float = 0.1
    """Of those rounds."""


def solve(o: RecallOptions) -> dict[str, Any]:
    """Iterate for ``o.seconds`` and write the checkpoint; returns its card."""
    v = capped(as_variant(o.variant))
    check_numbers(seconds=o.seconds, save_every=o.save_every, seed=o.seed)
    check_numbers(1, 2**16 - 1, levels=o.levels)
    tree = PublicTree(v, o.dice, o.palifico, least_chance=o.least_chance)
    solver = RecallSolver(
        tree, pay_tables(v, State(tree.dice, 0, o.palifico)), o.recall, o.threads, sample=o.sample, exploration=o.exploration,
        seed=o.seed, against=registry.make(o.against, v, len(tree.dice)) if o.against else None, share=o.share,
    )  # fmt: skip
    kept = o.out / "solver.state"
    check_writable(kept)
    if kept.exists():
        solver.load(kept)
    entries = sum(s.size for s in solver.sums)
    print(
        f"{solver.what}: {solver.num_states:,} information states, tables of {8 * entries / 2**20:,.0f} MB",
        file=sys.stderr,
    )
    spent = iterate_for(solver, o.seconds, kept, o.save_every)
    table = rounded(solver.table(), o.levels)
    table.save(o.out / "table.npz")
    card: dict[str, Any] = {
        "kind": "recall", "fallback": "inference", "what": solver.what, "values_in_self_play": solver.values().tolist(),
        "iterations": solver.iterations, "seconds": round(spent), "seed": o.seed, **provenance(),
    }  # fmt: skip
    if len(tree.dice) == 2 and tree.num_states <= MAX_STATES:
        card["nash_conv"] = nash_conv(TabularPolicy([table], v, 2), v, tree.dice, o.palifico).nash_conv
    write_card(o.out, card)
    return card


@cache
def compile_recall() -> None:
    """Compile the kernels, once per process, on a tiny round: so that a limit of time is spent on solving."""
    v = variant("classic", num_faces=2, starting_dice=1)
    RecallSolver(PublicTree(v), pay_table(v, State((1, 1))), 1).iterate()


def iterate_for(solver: RecallSolver, seconds: float, kept: Path | None = None, save_every: float = 120) -> float:
    """Iterate for so many seconds, with progress, keeping the state in a file; returns the seconds spent."""
    check_numbers(seconds=seconds, save_every=save_every)
    compile_recall()
    begun = last = time.monotonic()
    with progress("seconds", max(1, round(seconds)), Console(stderr=True)) as advance:
        shown = 0
        while True:
            solver.iterate()
            now = time.monotonic()
            advance(min(int(now - begun), round(seconds)) - shown)
            shown = min(int(now - begun), round(seconds))
            over = now - begun >= seconds
            if kept is not None and (over or now - last >= save_every):
                last = now
                solver.save(kept)
            if over:
                return now - begun


def write_card(folder: Path, card: dict[str, Any]) -> None:
    """Write ``policy.json``, whole or not at all."""
    write_text(folder / "policy.json", json.dumps(card, indent=2) + "\n")


def run(options: RecallOptions) -> None:
    """Solve, write the checkpoint, and say what it is worth."""
    card = solve(options)
    exact = f"NashConv {card['nash_conv']:.4f} (exact)" if "nash_conv" in card else "too large for an exact NashConv"
    values = " ".join(f"{value:+.5f}" for value in card["values_in_self_play"])
    print(f"{card['iterations']} iterations in {card['seconds']} s, values in self-play {values}, {exact}")
    asked = f"--agent {options.out} --variant {options.variant} --dice {' '.join(map(str, options.dice))}"
    print(f"the agent is in {options.out}: python -m train local-best-response {asked}")
