"""Self-play of one batch on a backend: parts of it are pure functions of plain data, so any worker may play them.

The driver keeps the tables, the generator and the networks; a part takes its tables along and gives them back as they
are then. A part that is lost with its worker is played again, to the same decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from agents.learned import features
from train.core.backends import Backend
from train.core.state import Arrays, load_module, module_arrays
from train.selfplay.collector import Actor, Collector, Decisions, Opponents, Rounds, Tables
from train.selfplay.networks import MLP, log_probs, log_sizes, mixed, reads_sparse
from train.selfplay.options import PPOConfig, empty_groups
from train.selfplay.pool import Pool
from train.selfplay.sparse import SparseRows, all_of, joined, spread
from train.selfplay.values import ContinuationValues


@dataclass(frozen=True)
class Networks:
    """What all parts of a batch share."""

    config: PPOConfig
    precision: torch.dtype
    actor: Arrays
    values: Arrays | None  # None: whole games, paid with what they return
    snapshots: Arrays  # of the pool; none where it is not played


@dataclass(frozen=True)
class Part:
    """Some kinds of tables, as they stand."""

    numbers: tuple[int, ...]  # of the kinds, in the order of the configuration
    states: tuple[npt.NDArray[Any], ...]  # of their games, per kind
    lineups: tuple[npt.NDArray[np.int64], ...]
    rng: dict[str, Any]  # the generator's state


@dataclass(frozen=True)
class Collected:
    """What came of a part."""

    part: Part  # its tables and generator, afterwards
    decisions: Decisions
    rounds: Rounds | None


def torch_actor(network: MLP, device: torch.device, precision: torch.dtype) -> Actor:
    """A network as what :class:`train.selfplay.collector.Collector` asks: log-probabilities of the cells."""

    sparse, own = reads_sparse(device, precision), np.arange(features.NUM_INPUTS)

    @torch.no_grad()
    def act(inputs: SparseRows, sizes: npt.NDArray[np.int16]) -> npt.NDArray[np.float32]:
        n = log_sizes(torch.from_numpy(sizes).float()).to(device)
        rows = all_of(inputs)
        x = rows if sparse else torch.from_numpy(spread(rows, own)).to(device, precision)
        with mixed(device, precision):
            return log_probs(network(x), n).cpu().numpy()

    return act


def collector_of(config: PPOConfig, actor: Actor, opponents: Opponents, rng: np.random.Generator) -> Collector:
    """What plays the tables of a configuration."""
    learn = config.learn
    return Collector(actor, opponents, rng, uniform=learn.uniform, calls=learn.critic == "action_values")


def collect(
    backend: Backend, networks: Networks, groups: Sequence[Tables], chosen: Sequence[int], rng: np.random.Generator
) -> tuple[Decisions, Rounds | None]:
    """Play one round (or game) at the tables of the ``chosen`` kinds, in ``play.parts`` parts; moves tables and ``rng`` on.

    One part draws from ``rng`` itself, as :meth:`train.selfplay.collector.Collector.collect` would; several have generators of
    their own, seeded from it. So the decisions depend on the number of parts, and on nothing else.
    """
    shares = [
        share.tolist() for share in np.array_split(np.asarray(chosen), min(networks.config.play.parts, len(chosen)))
    ]
    states = [dict(rng.bit_generator.state)]
    if len(shares) > 1:
        states = [dict(np.random.default_rng(s).bit_generator.state) for s in rng.integers(2**63, size=len(shares))]
    parts = [
        Part(tuple(share), tuple(groups[i].batch.states for i in share), tuple(groups[i].lineups for i in share), state)
        for share, state in zip(shares, states, strict=True)
    ]
    # all before any is taken over: an error leaves the tables as they were
    found = {number: result for number, result, _ in backend.run(play_part, parts, (networks,))}
    collected = [found[number] for number in range(len(parts))]
    for done in collected:
        for number, after, lineups in zip(done.part.numbers, done.part.states, done.part.lineups, strict=True):
            groups[number].batch.states[:] = after
            groups[number].lineups[:] = lineups
    if len(parts) == 1:
        rng.bit_generator.state = collected[0].part.rng
    return _joined(collected)


def play_part(part: Part, networks: Networks) -> Collected:
    """Play a part, anywhere."""
    config = networks.config
    torch.set_num_threads(config.run.torch_threads)
    rng = np.random.default_rng()
    rng.bit_generator.state = part.rng
    actor, values, pool = _built(networks)
    groups = empty_groups(config.tables, config.play, rng, config.pool, part.numbers)
    for tables, states, lineups in zip(groups, part.states, part.lineups, strict=True):
        tables.batch.states[:], tables.lineups[:] = states, lineups
        tables.pool_weights = pool.weights()
    decisions, rounds = collector_of(config, actor, pool.policy, rng).collect(groups, config.play.unit, values)
    after = replace(
        part,
        states=tuple(t.batch.states for t in groups),
        lineups=tuple(t.lineups for t in groups),
        rng=rng.bit_generator.state,
    )
    return Collected(after, decisions, rounds)


def _built(networks: Networks) -> tuple[Actor, ContinuationValues | None, Pool]:
    config, values = networks.config, None
    # first weights are drawn, then overwritten; in the driver's own process its generator must not notice
    with torch.random.fork_rng(devices=[]):
        actor = MLP(features.NUM_INPUTS, config.learn.hidden, features.NUM_CELLS)
        load_module(actor, networks.actor)
        if networks.values is not None:
            values = ContinuationValues(config.values.hidden, config.values.learning_rate)
            load_module(values, networks.values)
    pool = Pool(config.pool.scripted, config.pool.scripted_share, config.pool.size)
    pool.restore(networks.snapshots, networks.actor)
    return torch_actor(actor, torch.device("cpu"), networks.precision), values, pool


def networks_of(
    config: PPOConfig, precision: torch.dtype, actor: MLP, values: ContinuationValues, pool: Pool
) -> Networks:
    """What a batch is played with, as plain data."""
    paid = module_arrays(values) if config.play.unit == "rounds" else None
    return Networks(config, precision, module_arrays(actor), paid, pool.arrays() if config.pool.share > 0 else {})


def _joined(collected: Sequence[Collected]) -> tuple[Decisions, Rounds | None]:
    """Parts as one batch: seats are numbered on over its tables."""
    parts = [done.decisions for done in collected]
    offsets = np.cumsum([0, *(len(d.pay) for d in parts[:-1])])
    columns = {
        name: np.concatenate([getattr(d, name) for d in parts])
        for name in ("sizes", "log_probs", "chosen", "pay", "calls")
    }
    who = np.concatenate([d.who + offset for d, offset in zip(parts, offsets, strict=True)])
    lessons = [done.rounds for done in collected if done.rounds is not None]
    rounds = (
        Rounds(*(np.concatenate([getattr(r, n) for r in lessons]) for n in ("inputs", "targets", "squares")))
        if lessons
        else None
    )
    inputs = joined([d.inputs for d in parts])
    return Decisions(inputs, **columns, who=who, finished=sum(d.finished for d in parts)), rounds
