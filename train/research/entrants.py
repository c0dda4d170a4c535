"""Entrants of the comparison: the trainers of networks and the solvers, each told its round in its own words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from agents.tabular.policy import TabularPolicy
from agents.tabular.public_tree import PublicTree
from perudo_env.engine.variant import as_variant
from perudo_env.policy import Policy
from train.core.config import Section, load_config
from train.core.sections import RoundSection
from train.core.trainer import NetworkTrainer
from train.evaluate import training
from train.evaluate.exploitability import nash_conv
from train.evaluate.judge import tree_of
from train.research import deep_cfr, nfsp
from train.selfplay import options, ppo
from train.solver.exact.payoffs import State, check_dice, pay_table
from train.solver.exact.rounds import RoundSolver, capped
from train.solver.recall.solve import compile_recall
from train.solver.recall.solver import RecallSolver

CONFIGS = Path(__file__).parents[2] / "configs"


@dataclass(frozen=True)
class Learner:
    """A trainer of a network: the configuration it begins from, and how that is told the round; ``{...}`` are filled in."""

    kind: type[Section]
    make: Callable[[Any], NetworkTrainer]
    train: Callable[..., Any]  # (configuration, folder, console)
    config: str
    overrides: tuple[str, ...]
    smoke: Sequence[str]

    def resolved(
        self, round_: RoundSection, total: int, points: int, seed: int, more: Sequence[str], smoke: bool
    ) -> Section:
        """Its configuration for a run of ``total`` decisions; raises ``ValueError`` where ``more`` overrides are none."""
        told = {
            "variant": round_.variant, "dice": list(round_.dice), "endgame": str(round_.endgame).lower(), "tenth": max(1, total // 10),
        }  # fmt: skip
        overrides = (
            *(self.smoke if smoke else ()), *(text.format(**told) for text in self.overrides), f"run.seed={seed}",
            *(text.format(**told) for text in more), f"learn.total_decisions={total}", f"evaluation.every={-(-total // points)}",
        )  # fmt: skip
        return load_config(self.kind, CONFIGS / self.config, overrides)


ROUND = "{{variant: '{variant}', dice: {dice}, endgame: {endgame}}}"
TABLES = "tables=[{{variants: ['{variant}'], seats: [2], dice: {dice}, endgame: {endgame}}}]"


def _ppo(magnet: str, critic: str = "value") -> Learner:
    weight = "learn.kl=0" if magnet == "none" else "learn.kl=0.3"
    switches = f"learn.magnet={magnet}", weight, f"learn.critic={critic}", "learn.reference_every={tenth}"
    return Learner(
        options.PPOConfig,
        ppo.PPO,
        training.train_ppo,
        "ppo_round.yaml",
        (TABLES, f"evaluation.rounds=[{ROUND}]", *switches),
        options.SMOKE,
    )


LEARNERS = {
    "ppo": _ppo("none"),
    "ppo_last": _ppo("last"),
    "ppo_average": _ppo("average"),
    "ppo_reference": _ppo("reference"),
    "ppo_actions": _ppo("none", "action_values"),
    "ppo_average_actions": _ppo("average", "action_values"),
    "nfsp": Learner(nfsp.NFSPConfig, nfsp.NFSP, nfsp.train, "nfsp.yaml", (f"round={ROUND}",), nfsp.SMOKE),
    "deep_cfr": Learner(
        deep_cfr.DeepCFRConfig, deep_cfr.DeepCFR, deep_cfr.train, "deep_cfr.yaml", (f"round={ROUND}",), deep_cfr.SMOKE
    ),
}


class Solver(Protocol):
    """A solver by iterations."""

    iterations: int

    def iterate(self, count: int = 1) -> None:
        """Update both seats ``count`` times."""
        ...


Solving = tuple[Solver, Callable[[], float]]  # and the exact NashConv of its average


def _dcfr(round_: RoundSection, seed: int) -> Solving:
    """Tabular DCFR on the whole tree; it samples nothing. In an endgame bids that cannot hold are doubted at once."""
    tree = tree_of(round_)
    solver = RoundSolver(tree, pay_table(tree.variant, State(tree.dice), total=tree.total), threads=1)

    def judge() -> float:
        lower, upper = solver.bracket()
        return upper - lower

    return solver, judge


def _recall(recall: int, round_: RoundSection, seed: int) -> Solving:
    """CFR on the own hand and the last bids, sampled; judged in the full game."""
    compile_recall()
    v, pair = as_variant(round_.variant), check_dice(round_.dice)
    solver = RecallSolver(PublicTree(capped(v), pair), pay_table(capped(v), State(pair)), recall, threads=1, seed=seed)
    return solver, lambda: gain(TabularPolicy([solver.table()], v, 2), round_)


SOLVERS: dict[str, Callable[[RoundSection, int], Solving]] = {
    "recall_2": partial(_recall, 2),
    "recall_3": partial(_recall, 3),
    "dcfr": _dcfr,
}


def gain(policy: Policy, round_: RoundSection) -> float:
    """The exact NashConv of a policy in a round."""
    return nash_conv(policy, round_.variant, round_.dice, endgame=round_.endgame).nash_conv
