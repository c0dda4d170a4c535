"""What a trainer measures of what would play now, and the checkpoint it leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy.typing as npt

import agents as registry
from agents.learned.neural import save_policy
from agents.tabular.public_tree import PublicTree
from perudo_env.engine.variant import Variant, parse_variant
from perudo_env.policy import Policy
from train.core.run import provenance
from train.core.sections import EvaluationSection
from train.core.state import Arrays, save_state
from train.evaluate.exploitability import MAX_STATES, nash_conv, refuse_large
from train.evaluate.standings import share_against
from train.selfplay.pool import weights_hash
from train.solver.exact.payoffs import check_dice


def check_agents(names: Sequence[str], kinds: Sequence[tuple[Variant, int]]) -> None:
    """Raise ``ValueError`` for an agent that cannot be had at one of these tables: now, not when it is first asked."""
    for name, (v, seats) in product(dict.fromkeys(names), kinds):
        registry.make(name, v, seats)


def check_evaluation(evaluation: EvaluationSection) -> None:
    """Raise ``ValueError`` for what :func:`judge_agent` could not measure."""
    check_agents(evaluation.baselines, [(parse_variant(t.variant), t.seats) for t in evaluation.tables])
    for round_ in evaluation.rounds:
        refuse_large(PublicTree(parse_variant(round_.variant), check_dice(round_.dice)), MAX_STATES)


def judge_agent(make: Callable[[], Policy], evaluation: EvaluationSection, seed: int) -> dict[str, float]:
    """Win shares against baselines with 95% intervals, and exact NashConv of small rounds, by the names of ``curve.csv``."""
    policy, found = make(), {}
    for round_ in evaluation.rounds:
        name = f"nash_conv/{round_.variant} {'v'.join(map(str, round_.dice))}"
        found[name] = nash_conv(policy, round_.variant, round_.dice).nash_conv
    for table in evaluation.tables:
        v = parse_variant(table.variant)
        for baseline in evaluation.baselines:
            opponent = registry.make(baseline, v, table.seats)
            share = share_against(policy, opponent, v, table.seats, evaluation.games, seed=seed)
            name = f"win_share/{baseline} {table.variant} {table.seats}"
            found |= {name: share.value, f"{name}/low": share.low, f"{name}/high": share.high}
    return found


def write_checkpoint(
    folder: Path, title: str, kinds: Sequence[tuple[Variant, int]], weights: Mapping[str, npt.NDArray[Any]],
    trainer: str, seed: int, decisions: int, final: Mapping[str, float], snapshots: Sequence[str] = (), *,
    inputs: str = "relative", networks: Arrays | None = None,
) -> None:  # fmt: skip
    """Write the checkpoint ``folder`` with its card: how it was made and what was measured.

    ``networks`` are all that a later run needs to begin with (``run.start_from``), the critic among them.
    """
    variants, seats = list(dict.fromkeys(v for v, _ in kinds)), sorted({n for _, n in kinds})
    rows = [(k, v) for k, v in final.items() if k.count("/") == 1]
    intervals = {k: f" [{final[k + '/low']:.3f}, {final[k + '/high']:.3f}]" for k, _ in rows if f"{k}/low" in final}
    table = "\n".join(f"| {k} | {v:.3f}{intervals.get(k, '')} |" for k, v in rows)
    card = (
        f"# {title}\n\nTrained by `{trainer}` for {decisions:,} decisions of self-play, seed {seed}; the average "
        f"plays, and samples. Self-play by networks gives no bound on exploitability: where NashConv is listed, it was "
        f"computed exactly.\n\nPlays {', '.join(map(str, variants))} with {', '.join(map(str, seats))} seats.\n\n"
        f"| measured at the end of training | value, 95% interval |\n|---|---|\n{table}\n"
    )
    made = {
        "trainer": trainer, "seed": seed, "decisions": decisions, **provenance(),
        "weights_hash": weights_hash(weights), "snapshots": list(snapshots), "evaluation": dict(final),
    }  # fmt: skip
    save_policy(folder, weights, variants, seats, made, card, inputs=inputs)
    if networks is not None:
        save_state(folder / "training.safetensors", networks, {"decisions": decisions})
