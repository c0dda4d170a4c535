"""The commands that train, solve and judge: ``python -m train --help`` lists them."""

from __future__ import annotations

import sys

from agents.core.command import Command
from perudo_env.game.door import Door
from train.core.tasks import BackendError

main = Door(
    "python -m train",
    {
        "train": {
            "ppo": Command("train.evaluate.training:run_ppo", "self-play by PPO, with a magnet if wanted"),
            "sb3": Command("train.evaluate.training:run_sb3", "self-play by stable-baselines3's MaskablePPO"),
            "distil": Command("train.evaluate.training:run_distil", "a network taught what an agent knows"),
            "nfsp": Command("train.research.nfsp:run", "neural fictitious self-play on a small round"),
            "deep-cfr": Command("train.research.deep_cfr:run", "Deep CFR on a small round"),
            "compare": Command("train.research.compare:run", "the trainers compared by exact NashConv on small rounds"),
            "demo": Command("train.report.demo:run", "an agent trained by self-play in a few minutes"),
            "watch": Command("train.report.watch:run", "a run in the terminal while it goes, and the time left"),
            "ship": Command("train.evaluate.ship:run", "a checkpoint of what a run would play now, measured"),
        },
        "solve": {
            "exact": Command("train.solver.exact.solve:run", "one round between two seats, exactly"),
            "recall": Command("train.solver.recall.solve:run", "one round by recall-limited CFR"),
            "tables": Command("train.solver.recall.tables:run", "every round of a game, of two seats or more"),
            "teacher": Command(
                "train.solver.recall.teacher:run", "every round of several variants, and a network beside them"
            ),
            "condense": Command("train.solver.recall.condense:run", "the agent that ships of a teacher and a network"),
            "ship-exact": Command("train.solver.exact.ship:run", "the tables that the exact agent ships with"),
        },
        "judge": {
            "arena": Command("train.evaluate.tournament.arena:run", "agents against each other at one table"),
            "tournament": Command("train.report.tournament:run", "every agent at every table"),
            "exploitability": Command(
                "train.evaluate.exploitability:run", "exact exploitability in small rounds and games"
            ),
            "local-best-response": Command(
                "train.evaluate.local_best_response:run", "a lower bound at any table, one step ahead"
            ),
            "exploiter": Command("train.evaluate.exploiter:run", "a lower bound by a network trained against an agent"),
            "benchmark": Command("train.report.benchmark:run", "one card for every agent"),
            "levels": Command("train.evaluate.levels:run", "the levels that people play, one against another"),
            "numbers": Command("train.report.numbers:run", "values and exploitabilities to cite"),
            "report": Command("train.report.run:run", "a page about a training run"),
            "tournament-page": Command(
                "train.report.tournament:make_page", "the page of a tournament, from its results"
            ),
            "dataset": Command("train.evaluate.dataset:run", "a file of games as arrays of decisions"),
        },
    },
    extra="train",
    failures=(BackendError,),
)

if __name__ == "__main__":
    sys.exit(main())
