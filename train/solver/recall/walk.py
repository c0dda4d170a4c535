"""The kernels of recall-limited CFR: one pass over all suffixes for some hands of one seat against deals of the others.

Strategies depend on the last bids only, so the value of a node is a function of all hands and is found once, children
before parents, however many sequences of bids lead there; what reaches a node is the sum over them. Hands are taken in
groups of ``LANES``: tables are float32 ``(groups, rows, LANES)``, and a kernel sees one group, ``(rows, LANES)``. A deal is
one hand for each of the other seats.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.tabular.suffixes import ROOT, SuffixGraph
from perudo_env.engine.jit import inlined, kernel
from perudo_env.engine.rng import draw
from train.solver.recall.lanes import LANES, add_product, add_scaled

TINY = np.float32(1e-20)  # below it a normaliser may be denormal, and its inverse infinite
ONE = np.float32(1)


class Side(NamedTuple):
    """What the pass of one group of hands needs of a round; ``own`` is the seat that is updated."""

    seat: int
    quantity: np.ndarray  # int64 (num_bids,)
    own_counts: np.ndarray  # int64 (num_bids, LANES): matching dice
    pay: np.ndarray  # float32 (num_seats, 4): what an Ending pays the own seat, by the seat that calls


class Sample(NamedTuple):
    """Deals of the others, at most ``LANES`` of them side by side, and how they are played."""

    size: int  # how many
    deal: np.ndarray  # float32 (LANES,): the weight of each
    counts: np.ndarray  # int64 (num_bids, LANES): matching dice of all others
    start: np.ndarray  # int64 (num_seats,): where the rows of each other seat begin in sigma
    sigma: np.ndarray  # float32 (rows of all others, LANES)


class Room(NamedTuple):
    """Room for one thread."""

    sigma: np.ndarray  # float32 (rows, LANES)
    explore: np.ndarray  # float32 (rows, LANES)
    reach: np.ndarray  # float32 (nodes, LANES)
    joint: np.ndarray  # float32 (nodes, deals, LANES)
    values: np.ndarray  # float32 (nodes, deals, LANES)
    called: np.ndarray  # float32 (2, deals, LANES)
    positive: np.ndarray  # float32 (most actions, LANES)


@kernel
def gather(groups: np.ndarray, hands: np.ndarray, out: np.ndarray) -> None:
    """Copy the hands of a table, by their numbers, side by side into one group."""
    lanes = groups.shape[2]
    for row in range(groups.shape[1]):
        for k in range(hands.size):
            out[row, k] = groups[hands[k] // lanes, row, hands[k] % lanes]


@kernel
def match_group(graph: SuffixGraph, seat: int, regrets: np.ndarray, positive: np.ndarray, sigma: np.ndarray) -> None:
    """Regret matching of a group into ``sigma``: the positive part, normalised per hand; uniform where there is none."""
    calls, seats, first, rows = graph.calls, graph.seat, graph.first, graph.row
    flat, part, out = regrets.reshape(-1), positive.reshape(-1), sigma.reshape(-1)
    inverse, even = np.zeros(LANES, np.float32), np.zeros(LANES, np.float32)
    for node in range(seats.size):
        actions = calls[node] + first[node + 1] - first[node]
        if seats[node] != seat or actions < 2:
            continue
        at = rows[node] * LANES
        for i in range(actions * LANES):
            part[i] = max(flat[at + i], np.float32(0))
        inverse[:] = 0
        for a in range(actions):
            add_scaled(inverse, 0, ONE, positive, a * LANES)
        for h in range(LANES):
            known = inverse[h] > TINY
            inverse[h] = ONE / inverse[h] if known else np.float32(0)
            even[h] = np.float32(0) if known else ONE / np.float32(actions)
        for i in range(actions * LANES):
            out[at + i] = 0
        for a in range(actions):
            add_scaled(sigma, at + a * LANES, ONE, even, 0)
            add_product(sigma, at + a * LANES, positive, a * LANES, inverse, 0)


@kernel
def discount(table: np.ndarray, up: float, down: float) -> None:
    """Multiply the positive numbers of a group by ``up`` and the others by ``down``."""
    flat = table.reshape(-1)
    more, less = np.float32(up), np.float32(down)
    for i in range(flat.size):
        flat[i] *= more if flat[i] > 0 else less


@kernel
def spread_reach(graph: SuffixGraph, seat: int, sigma: np.ndarray, reach: np.ndarray) -> None:
    """What a seat's hands contribute to reaching each node, summed over the sequences to it."""
    calls, seats, first, rows, children = graph.calls, graph.seat, graph.first, graph.row, graph.children
    reach[:] = 0
    reach[ROOT] = 1
    for node in range(seats.size):
        acting = seats[node] == seat
        for j in range(first[node], first[node + 1]):
            if acting and calls[node] + first[node + 1] - first[node] > 1:
                row = rows[node] + calls[node] + j - first[node]
                add_product(reach, children[j] * LANES, reach, node * LANES, sigma, row * LANES)
            else:
                add_scaled(reach, children[j] * LANES, ONE, reach, node * LANES)


@kernel
def add_strategy(graph: SuffixGraph, seat: int, sigma: np.ndarray, reach: np.ndarray, sums: np.ndarray) -> None:
    """Add the strategy of a group, by its reach, to its sums."""
    calls, seats, first, rows = graph.calls, graph.seat, graph.first, graph.row
    for node in range(seats.size):
        actions = calls[node] + first[node + 1] - first[node]
        if seats[node] == seat and actions > 1:
            for row in range(rows[node], rows[node] + actions):
                add_product(sums, row * LANES, reach, node * LANES, sigma, row * LANES)


@kernel
def explore_group(graph: SuffixGraph, seat: int, share: float, sigma: np.ndarray, out: np.ndarray) -> None:
    """A group's strategy with every action chosen at random in a ``share`` of the cases."""
    calls, seats, first, rows = graph.calls, graph.seat, graph.first, graph.row
    flat, to = sigma.reshape(-1), out.reshape(-1)
    for node in range(seats.size):
        actions = calls[node] + first[node + 1] - first[node]
        if seats[node] == seat and actions > 1:
            keep, even = np.float32(1 - share), np.float32(share / actions)
            for i in range(rows[node] * LANES, (rows[node] + actions) * LANES):
                to[i] = keep * flat[i] + even


@kernel
def spread_joint(graph: SuffixGraph, seat: int, sample: Sample, own: np.ndarray, joint: np.ndarray) -> None:
    """The chance that own hands, playing by ``own``, and deals come to each node, into ``joint``."""
    calls, seats, first, rows, children = graph.calls, graph.seat, graph.first, graph.row, graph.children
    others, deals = sample.sigma, joint.shape[1]
    joint[:] = 0
    for k in range(sample.size):
        joint[ROOT, k] = sample.deal[k]
    for node in range(seats.size):
        mine, choice = seats[node] == seat, calls[node] + first[node + 1] - first[node] > 1
        begin = rows[node] if mine else sample.start[seats[node]] + rows[node]
        for j in range(first[node], first[node + 1]):
            row = begin + calls[node] + j - first[node]
            for k in range(sample.size):
                at, to = (node * deals + k) * LANES, (children[j] * deals + k) * LANES
                if mine and choice:
                    add_product(joint, to, joint, at, own, row * LANES)
                else:
                    chance = others[row, k] if choice else ONE
                    if chance > 0:
                        add_scaled(joint, to, chance, joint, at)


@kernel
def call_values(side: Side, sample: Sample, bid: int, caller: int, call: int, called: np.ndarray) -> None:
    """Write what a call on a bid is worth to each own hand against each deal of a sample into ``called[call]``."""
    wrong, right = side.pay[caller, 2 * call], side.pay[caller, 2 * call + 1]
    for k in range(sample.size):
        missing = side.quantity[bid] - sample.counts[bid, k]
        for h in range(LANES):
            own = side.own_counts[bid, h]
            if call == 0:
                called[call, k, h] = wrong if own >= missing else right
            else:
                called[call, k, h] = right if own == missing else wrong


@kernel
def add_regrets(
    graph: SuffixGraph, node: int, sample: Sample, room: Room, base: np.ndarray, regrets: np.ndarray
) -> None:
    """Add to the regrets of one node: the values of its actions less its own, by the chance of each hand and deal."""
    values, called, joint, children = room.values, room.called, room.joint, graph.children
    calls, row, start = graph.calls[node], graph.row[node], graph.first[node]
    deals = joint.shape[1]
    here = node * deals * LANES
    base[:] = 0
    for k in range(sample.size):
        add_product(base, 0, joint, here + k * LANES, values, here + k * LANES)
    for call in range(calls):
        add_scaled(regrets, (row + call) * LANES, -ONE, base, 0)
        for k in range(sample.size):
            add_product(regrets, (row + call) * LANES, joint, here + k * LANES, called, (call * deals + k) * LANES)
    for j in range(start, graph.first[node + 1]):
        at = (row + calls + j - start) * LANES
        add_scaled(regrets, at, -ONE, base, 0)
        for k in range(sample.size):
            add_product(regrets, at, joint, here + k * LANES, values, (children[j] * deals + k) * LANES)


@kernel
def fill_values(graph: SuffixGraph, side: Side, sample: Sample, room: Room, regrets: np.ndarray) -> None:
    """The values of all nodes to a group against a sample, into ``room.values``; regrets are updated by ``room.joint``."""
    bids, seats, all_calls = graph.bid, graph.seat, graph.calls
    first, children, rows = graph.first, graph.children, graph.row
    values, called, sigma, others = room.values, room.called, room.sigma, sample.sigma
    deals, base = values.shape[1], np.zeros(LANES, np.float32)
    for node in range(bids.size - 1, -1, -1):
        calls, start, seat = all_calls[node], first[node], seats[node]
        mine, choice = seat == side.seat, calls + first[node + 1] - start > 1
        row = rows[node] if mine else sample.start[seat] + rows[node]
        values[node] = 0
        here = node * deals * LANES
        for call in range(calls):
            call_values(side, sample, bids[node], seat, call, called)
            for k in range(sample.size):
                at, to = (call * deals + k) * LANES, here + k * LANES
                if mine and choice:
                    add_product(values, to, sigma, (row + call) * LANES, called, at)
                else:
                    add_scaled(values, to, others[row + call, k] if choice else ONE, called, at)
        for j in range(start, first[node + 1]):
            there, r = children[j] * deals * LANES, row + calls + j - start
            for k in range(sample.size):
                at, to = there + k * LANES, here + k * LANES
                if mine and choice:
                    add_product(values, to, sigma, r * LANES, values, at)
                else:
                    chance = others[r, k] if choice else ONE
                    if chance > 0:
                        add_scaled(values, to, chance, values, at)
        if mine and choice:
            add_regrets(graph, node, sample, room, base, regrets)


@kernel
def begin_update(
    graph: SuffixGraph,
    seat: int,
    exploration: float,
    discounts: np.ndarray,
    room: Room,
    regrets: np.ndarray,
    sums: np.ndarray,
) -> None:
    """The strategy of a group, from its regrets, into the room and its sums; all discounted (positive regrets, negative, sums)."""
    match_group(graph, seat, regrets, room.positive, room.sigma)
    discount(regrets, discounts[0], discounts[1])
    discount(sums, discounts[2], discounts[2])
    spread_reach(graph, seat, room.sigma, room.reach)
    add_strategy(graph, seat, room.sigma, room.reach, sums)
    explore_group(graph, seat, exploration, room.sigma, room.explore)


@kernel
def update_group(graph: SuffixGraph, side: Side, sample: Sample, room: Room, regrets: np.ndarray) -> None:
    """Update the regrets of a group, after :func:`begin_update`, against a sample of deals."""
    spread_joint(graph, side.seat, sample, room.explore, room.joint)
    fill_values(graph, side, sample, room, regrets)


@kernel
def group_endings(
    graph: SuffixGraph, side: Side, sample: Sample, room: Room, weights: np.ndarray, deal: np.ndarray, out: np.ndarray
) -> None:
    """Add to ``out`` ``(num_seats, 4)`` how often each seat's call leads to each Ending, a group playing by ``weights``.

    ``deal``: the weights of the group's hands.
    """
    calls, seats, first, rows, joint = graph.calls, graph.seat, graph.first, graph.row, room.joint
    match_group(graph, side.seat, weights, room.positive, room.sigma)
    spread_joint(graph, side.seat, sample, room.sigma, joint)
    for node in range(seats.size):
        seat, bid = seats[node], graph.bid[node]
        mine, choice = seat == side.seat, calls[node] + first[node + 1] - first[node] > 1
        for call in range(calls[node]):
            row = (rows[node] if mine else sample.start[seat] + rows[node]) + call
            for k in range(sample.size):
                missing = side.quantity[bid] - sample.counts[bid, k]
                for h in range(LANES):
                    chance = ONE
                    if choice:
                        chance = room.sigma[row, h] if mine else sample.sigma[row, k]
                    own = side.own_counts[bid, h]
                    if call == 0:
                        ending = 0 if own >= missing else 1
                    else:
                        ending = 3 if own == missing else 2
                    out[seat, ending] += deal[h] * joint[node, k, h] * chance


@inlined
def unit(word: np.uint64) -> float:
    """A number from 0 to below 1 out of a random word."""
    return float(word >> np.uint64(11)) * 2.0**-53


@kernel
def choose(weights: np.ndarray, h: int, row: int, actions: int, word: np.uint64) -> int:
    """An action of hand ``h`` by the weights of a table, of equal chances where none is positive."""
    group, lane, total = h // LANES, h % LANES, 0.0
    for a in range(actions):
        total += weights[group, row + a, lane]
    left = unit(word) * (total if total > TINY else actions)
    for a in range(actions - 1):
        left -= weights[group, row + a, lane] if total > TINY else 1.0
        if left < 0:
            return a
    return actions - 1


@kernel
def play_rounds(
    graph: SuffixGraph, quantity: np.ndarray, deals: tuple[np.ndarray, ...], counts: tuple[np.ndarray, ...],
    tables: tuple[np.ndarray, ...], seed: np.uint64, rounds: int, out: np.ndarray,
) -> None:  # fmt: skip
    """Play rounds by the tables, and count in ``out`` ``(num_seats, 4)`` how often each seat's call leads to each Ending.

    ``deals``: by seat, the chance of a hand or one before it; ``counts``: matching dice ``(num_bids, hands)``.
    """
    held = np.zeros(len(tables), np.int64)
    for r in range(rounds):
        for seat in range(len(tables)):
            held[seat] = min(np.searchsorted(deals[seat], unit(draw(seed, r, seat, 0))), deals[seat].size - 1)
        node, move = ROOT, 1
        while True:
            seat, calls = graph.seat[node], graph.calls[node]
            start = graph.first[node]
            actions = calls + graph.first[node + 1] - start
            a = 0
            if actions > 1:
                a = choose(tables[seat], held[seat], graph.row[node], actions, draw(seed, r, seat, move))
            if a < calls:
                break
            node, move = graph.children[start + a - calls], move + 1
        found = 0
        for other in range(len(tables)):
            found += counts[other][graph.bid[node], held[other]]
        wanted = quantity[graph.bid[node]]
        if a == 0:
            out[seat, 0 if found >= wanted else 1] += 1
        else:
            out[seat, 3 if found == wanted else 2] += 1
