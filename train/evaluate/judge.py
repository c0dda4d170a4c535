"""The judge of a run: win shares against baselines and exact NashConv of small rounds, measured while a trainer learns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console

import agents as registry
from agents.learned.neural import RelativePolicy
from agents.tabular.public_tree import PublicTree
from perudo_env.engine.variant import Variant, parse_variant
from perudo_env.policy import Policy
from train.core.loop import STATE
from train.core.measured import Estimate, Measured, exact
from train.core.sections import EvaluationSection, RoundSection
from train.core.state import Arrays, module_arrays, prefixed
from train.evaluate.response import learned_responses
from train.evaluate.statistics import difference, mean_of
from train.evaluate.tournament.standings import share_against
from train.selfplay.checkpoint import starting_networks
from train.selfplay.pool import check_agents
from train.selfplay.trainer import SelfPlayTrainer
from train.solver.exact.exploitability import MAX_STATES, judged_tree, nash_conv, refuse_large
from train.solver.exact.payoffs import check_dice


def check_evaluation(evaluation: EvaluationSection) -> None:
    """Raise ``ValueError`` for what :func:`judge_agent` could not measure."""
    if evaluation.keep == "best" and not evaluation.rounds and not (evaluation.tables and evaluation.baselines):
        raise ValueError(
            "evaluation.keep = best, and nothing is measured to choose by: give baselines and tables, or rounds"
        )
    check_agents(
        (*evaluation.baselines, *evaluation.strangers), [(parse_variant(t.variant), t.seats) for t in evaluation.tables]
    )
    for round_ in evaluation.rounds:
        refuse_large(tree_of(round_), MAX_STATES)


def tree_of(round_: RoundSection) -> PublicTree:
    """The public tree on which a round is judged."""
    return judged_tree(parse_variant(round_.variant), check_dice(round_.dice), endgame=round_.endgame)


def judge_agent(make: Callable[[Variant, int], Policy], evaluation: EvaluationSection, seed: int) -> list[Measured]:
    """Exact NashConv of small rounds, win shares against baselines with 95% intervals, and beside them those against strangers
    with the mean gap between the two.

    ``make`` gives the agent for a table of so many seats.
    """
    found = []
    for round_ in evaluation.rounds:
        policy = make(parse_variant(round_.variant), 2)
        gained = nash_conv(policy, round_.variant, round_.dice, endgame=round_.endgame)
        found.append(exact("nash_conv", gained.nash_conv, round_.name))
    for table in evaluation.tables:
        v = parse_variant(table.variant)
        policy = make(v, table.seats)
        where = table.name
        shares: dict[str, list[Estimate]] = {}
        for name, others in (("win_share", evaluation.baselines), ("stranger_share", evaluation.strangers)):
            for other in others:
                opponent = registry.make(other, v, table.seats)
                share = share_against(policy, opponent, v, table.seats, evaluation.games, seed=seed)
                found.append(Measured(name, *share, where, against=other))
                shares.setdefault(name, []).append(share)
        if len(shares) > 1:
            found.append(Measured("stranger_gap", *difference(*map(mean_of, shares.values())), where))
    return found


def judged_run(
    trainer: SelfPlayTrainer, folder: Path, console: Console, more: Callable[[Arrays], list[Measured]] = lambda _: []
) -> list[Measured]:
    """Run a trainer of a network for every table to its end, judged on the way; returns what was measured of the weights kept.

    ``more`` measures more of the weights that would play, at each point.
    """
    config = trainer.config
    if config.run.start_from and not (folder / STATE).exists():  # a run that goes on has all in its folder
        trainer.start_from(starting_networks(Path(config.run.start_from)))

    def judge() -> list[Measured]:
        weights = trainer.weights()
        found = judge_agent(partial(RelativePolicy, weights), config.evaluation, config.run.seed)
        if config.evaluation.response_decisions:
            networks = {n: module_arrays(network) for n, network in trainer.networks.items()}
            found += learned_responses(config, weights, prefixed(networks))
        return found + more(weights)

    return trainer.train(folder, judge, config.evaluation.every, console)
