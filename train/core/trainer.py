"""The skeleton of every trainer: its seed, networks with their optimisers, averaged weights, and the state of them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from rich.console import Console
from torch import Tensor, nn
from torch.optim import Optimizer

from perudo_env.engine.variant import is_whole
from train.core.loop import Figures, Judge, Loop
from train.core.measured import Measured, score
from train.core.sections import Keep, RunSection
from train.core.state import (
    Arrays,
    adam_arrays,
    load_adam,
    load_module,
    load_torch_generator,
    module_arrays,
    take_count,
    take_weights,
    torch_generator,
    under_prefix,
    with_prefix,
)

N = TypeVar("N", bound=nn.Module)
Optimizers = Callable[[Iterable[nn.Parameter]], Optimizer]  # such as torch.optim.Adam with its settings


class EMAWeights:
    """The exponential moving average (EMA) of a network's weights, which is what plays.

    Self-play turns around an equilibrium, and its average is nearer to it than its last update. It is the mean of the
    first updates, then an exponential average that reaches back over about as many ``decisions``.
    """

    def __init__(self, current: Callable[[], Arrays], decisions: float) -> None:
        self.current, self.decisions = current, decisions
        self.updates, self.horizon = 0, 0.0  # the second in updates
        self._mean: Arrays = {}

    def add(self, batch: int) -> None:
        """Take in the weights after an update on ``batch`` decisions, the first of which says how many updates are meant."""
        if not self.updates:
            self.horizon = self.decisions / batch
        self.updates += 1
        rate = 1.0 / max(1.0, min(self.updates, self.horizon))
        self._mean = {name: (1 - rate) * self._mean.get(name, w) + rate * w for name, w in self.current().items()}

    def weights(self) -> Arrays:
        """The average, or the network's own weights before its first update."""
        return self._mean or self.current()

    def restore(self, arrays: Arrays, updates: int, horizon: float) -> None:
        """Go on from :meth:`weights` after so many updates; raises ``ValueError`` for what cannot be."""
        if not is_whole(updates) or updates < 0 or not 0 <= horizon < float("inf"):
            raise ValueError(f"average = {updates, horizon}: there are no such updates")
        mean = take_weights(arrays, self.current())
        self.updates, self.horizon, self._mean = updates, horizon, mean if updates else {}


class BestWeights:
    """The weights of the best point of a curve so far, by :func:`train.core.measured.score`."""

    def __init__(self) -> None:
        self.decisions, self.points = 0, 0
        self.found: list[Measured] = []  # what was measured there
        self.weights: Arrays = {}

    def offer(self, found: Sequence[Measured], decisions: int, weights: Arrays) -> None:
        """Take in a point; of equal ones the later stays."""
        new, old = score(found), score(self.found)
        self.points += 1
        if new is not None and (old is None or new >= old):
            self.decisions, self.found, self.weights = decisions, list(found), weights

    def state(self) -> dict[str, Any]:
        """What JSON holds, beside the weights."""
        return {"decisions": self.decisions, "points": self.points, "found": self.found}

    def restore(self, arrays: Arrays, about: Mapping[str, Any], like: Arrays) -> None:
        """Go on from :meth:`state` with the weights; raises ``ValueError`` for what cannot be."""
        found = [
            Measured(str(name), float(value), float(low), float(high), *map(str, where))
            for name, value, low, high, *where in about["found"]
        ]
        decisions, points = take_count(about, "decisions"), take_count(about, "points")
        self.weights = take_weights(arrays, like) if found else {}
        self.decisions, self.points, self.found = decisions, points, found


class NetworkTrainer:
    """What a trainer begins with; see :class:`train.core.loop.Trainer`.

    A trainer adds its networks (:meth:`add_network`), says which of them plays (:meth:`plays`), and with :meth:`keep` what
    else has a state, in the order in which it is restored; ``counts`` names its attributes that are counts. What is left
    to write is its ``step``.
    """

    counts: tuple[str, ...] = ("decisions",)
    ema: EMAWeights

    def __init__(self, run: RunSection, total: int, keep: Keep = "last") -> None:
        torch.manual_seed(run.seed)
        torch.set_num_threads(run.torch_threads)
        self.run, self.total, self.decisions = run, total, 0
        self.rng = np.random.default_rng(run.seed)
        self.networks: dict[str, nn.Module] = {}
        self.optimizers: dict[str, Optimizer] = {}
        self.best = BestWeights() if keep == "best" else None
        self._kept: dict[str, tuple[Callable[[], Arrays], Callable[[Arrays], Any]]] = {}

    def step(self) -> Figures:
        """One iteration: play, then learn; returns its figures."""
        raise NotImplementedError

    def keep(self, name: str, arrays: Callable[[], Arrays], restore: Callable[[Arrays], Any]) -> None:
        """Have in the state, under ``name``, what ``arrays`` gives and ``restore`` takes back."""
        self._kept[name] = arrays, restore

    def add_network(self, name: str, network: N, optimizer: Optimizers | None = None) -> N:
        """Have a network, and the optimiser of its weights, in the state; returns it."""
        self.networks[name] = network
        self.keep(
            name, lambda: module_arrays(self.networks[name]), lambda arrays: load_module(self.networks[name], arrays)
        )
        if optimizer is not None:
            adam = self.optimizers[name] = optimizer(network.parameters())
            self.keep(f"{name}_adam", lambda: adam_arrays(adam), lambda arrays: load_adam(adam, arrays))
        return network

    def plays(self, name: str, share: float = 0.0) -> None:
        """Let a network play: the average of its weights that reaches back over a ``share`` of the run, once ``ema`` has any."""
        self.ema = EMAWeights(lambda: module_arrays(self.networks[name]), share * self.total)

    def optimizer_step(self, name: str, loss: Tensor) -> float:
        """One step of a network's optimiser down ``loss``, the gradient's norm limited to 1; returns the loss."""
        optimizer = self.optimizers[name]
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.networks[name].parameters(), 1.0)
        optimizer.step()
        return loss.item()

    def weights(self) -> Arrays:
        """The network that would play now."""
        return self.ema.weights()

    def kept_weights(self) -> Arrays:
        """The network that is kept: of the best point of the curve, where it is looked for, or the last."""
        return self.best.weights if self.best and self.best.weights else self.weights()

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """All that a later process needs to go on to the same curve: arrays, and what JSON holds."""
        arrays, about = torch_generator(), {name: getattr(self, name) for name in self.counts}
        for name, (kept, _) in self._kept.items():
            arrays |= with_prefix(name, kept())
        arrays |= with_prefix("average", self.ema.weights())
        if self.best:
            arrays |= with_prefix("best", self.best.weights)
            about["best"] = self.best.state()
        return arrays, {
            **about, "average": (self.ema.updates, self.ema.horizon), "rng": self.rng.bit_generator.state,
        }  # fmt: skip

    def restore(self, arrays: Arrays, about: Mapping[str, Any]) -> None:
        """Go on from :meth:`state`."""
        for name, (_, restore) in self._kept.items():
            restore(under_prefix(name, arrays))
        self.ema.restore(under_prefix("average", arrays), *about["average"])
        if self.best and "best" in about:
            self.best.restore(under_prefix("best", arrays), about["best"], self.weights())
        for name in self.counts:
            setattr(self, name, take_count(about, name))
        self.rng.bit_generator.state = about["rng"]
        load_torch_generator(arrays)

    def train(self, folder: Path, judge: Judge, every: int, console: Console) -> list[Measured]:
        """Run to the end in ``folder``, going on from the state there, judged ``every`` so many decisions; returns what was
        measured of the weights that are kept, the last or the best."""

        def judged() -> list[Measured]:
            found = judge()
            if self.best:
                self.best.offer(found, self.decisions, self.weights())
            return found

        last = Loop(self, folder, self.total, judged, every, self.run.save_every, console).run()
        return self.best.found if self.best else last
