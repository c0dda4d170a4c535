"""One walk through the public tree of a round with vectors over hands: the kernel of solver and best response.

A walk takes the side of one seat, ``me``. Down the tree it carries the reach of both seats, a number per hand: mine
that of my strategy, the opponent's that of its strategy and its deal. Up it brings my counterfactual values, a number
per hand of mine. (Vector-form CFR: Johanson et al., "Accelerating best response calculation in large extensive games",
IJCAI 2011.) Strategies are read from weights: their positive part, normalised, is regret matching on regrets and the
average strategy on its sums.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from agents.tabular.public_tree import Graph
from perudo_env.engine.jit import kernel


class Do(IntEnum):
    """What a walk does at my nodes."""

    UPDATE = 0  # follow regret matching, and update regrets and the average strategy
    BEST = 1  # take the best action of each hand
    FOLLOW = 2  # follow the weights
    ADVANTAGES = 3  # follow the weights, and write into the sums what each action is worth above them


class Part(IntEnum):
    """Which part of the tree a walk covers."""

    WHOLE = 0
    COLLECT = 1  # stop at small subtrees, and write down what reaches them
    COMBINE = 2  # stop there again, and take their values as found since


class Sides(NamedTuple):
    """What the walk of one seat needs of a round; ``own`` is my side, ``opp`` the opponent's."""

    graph: Graph
    need: np.ndarray  # int64 (num_bids, own hands): 1 + matching dice the opponent must have for the bid to hold
    opp_counts: np.ndarray  # int64 (num_bids, opponent's hands): its matching dice
    pay: np.ndarray  # float (2, 4): what an Ending pays me, called by me [0] and by the opponent [1]


class Scratch(NamedTuple):
    """Room for one thread; the dtype of its arrays is that of the arithmetic. Indexed by depth."""

    bid: np.ndarray  # int64
    child: np.ndarray  # int64, the next raise to visit; -1 on arrival
    start: np.ndarray  # int64, where the node's block begins in its table
    own_reach: np.ndarray  # (depth, own hands)
    opp_reach: np.ndarray  # (depth, opponent's hands)
    own_probs: np.ndarray  # (depth, actions + 1, own hands)
    opp_probs: np.ndarray  # (depth, actions + 1, opponent's hands)
    values: (
        np.ndarray
    )  # (depth, actions + 1, own hands), the node's own after its actions; of an opponent's node in [0]
    tail: np.ndarray  # (opponent's dice + 4,)
    called: np.ndarray  # (depth, opponent's hands): its reach when it calls


class Tasks(NamedTuple):
    """The small subtrees at which a walk of a large tree stops."""

    largest: int  # a subtree of at most so many nodes is a task
    met: np.ndarray  # int64 (1,): how many this walk has met
    bid: np.ndarray  # int64 (num_tasks,)
    mine: np.ndarray  # int64, 1: I act at its root
    cursors: np.ndarray  # int64 (num_tasks, 2)
    own_reach: np.ndarray  # (num_tasks, hands)
    opp_reach: np.ndarray
    values: np.ndarray


@kernel
def match_weights(weights: np.ndarray, start: int, actions: int, d: int, probs: np.ndarray) -> None:
    """The positive part of a block of weights, normalised per hand, into ``probs[d]``; uniform where nothing is positive."""
    hands = probs.shape[2]
    tiny, even = probs.dtype.type(1e-25), probs.dtype.type(1.0 / actions)
    for h in range(hands):
        probs[d, actions, h] = 0
    for a in range(actions):
        at = start + a * hands
        for h in range(hands):
            w = max(weights[at + h], weights.dtype.type(0))
            probs[d, a, h] = w
            probs[d, actions, h] += w
    for h in range(hands):
        total = probs[d, actions, h]
        # below the clamp a normaliser may be denormal, and its inverse infinite
        probs[d, actions, h] = 1 / total if total > tiny else total * 0
    for a in range(actions):
        for h in range(hands):
            factor = probs[d, actions, h]
            probs[d, a, h] = probs[d, a, h] * factor if factor > 0 else even


@kernel
def call_values(
    need: np.ndarray, opp_counts: np.ndarray, pay: np.ndarray, bid: int, call: int, caller: int,
    reach: np.ndarray, d: int, tail: np.ndarray, values: np.ndarray, row: int,
) -> None:  # fmt: skip
    """Add to ``values[d, row]`` my values of a call on a bid, by me (caller 0) or the opponent (1).

    ``reach[d]`` is that of the opponent's hands, what it did included.
    """
    last = tail.size - 1
    tail[:] = 0
    for h in range(reach.shape[1]):
        tail[opp_counts[bid, h] + 1] += reach[d, h]
    # tail[k + 1]: the reach of hands with at least k matching dice, from k = -1
    for k in range(last, 0, -1):
        tail[k - 1] += tail[k]
    wrong, right = pay[caller, 2 * call], pay[caller, 2 * call + 1]
    if call == 0:
        low, gain = tail[0] * right, wrong - right
        for h in range(need.shape[1]):
            values[d, row, h] += low + gain * tail[need[bid, h]]
    else:
        low, gain = tail[0] * wrong, right - wrong
        for h in range(need.shape[1]):
            k = need[bid, h]
            values[d, row, h] += low + gain * (tail[k] - tail[min(k + 1, last)])


@kernel
def scale_reach(reach: np.ndarray, probs: np.ndarray, action: int, d: int, into: int, out: np.ndarray) -> bool:
    """Write into ``out[into]`` the reach at depth ``d`` after an action; returns whether any hand comes so far.

    Tiny reaches become 0: denormals are slow and spoil normalisers.
    """
    tiny, most = out.dtype.type(1e-20), out.dtype.type(0)
    for h in range(out.shape[1]):
        r = reach[d, h] * probs[d, action, h]
        r = r if r > tiny else r * 0
        out[into, h] = r
        most = max(most, r)
    return most > 0


@kernel
def copy_reach(reach: np.ndarray, d: int) -> bool:
    """Hand the reach of the seat that did not act down to depth ``d + 1``; returns whether any hand comes so far."""
    most = reach.dtype.type(0)
    for h in range(reach.shape[1]):
        reach[d + 1, h] = reach[d, h]
        most = max(most, reach[d, h])
    return most > 0


@kernel
def update_block(
    values: np.ndarray, probs: np.ndarray, reach: np.ndarray, d: int, start: int, actions: int,
    regrets: np.ndarray, sums: np.ndarray, discounts: np.ndarray,
) -> None:  # fmt: skip
    """Discount a block and add this walk's regrets and strategy (DCFR); ``values[d, actions]`` holds the node's values."""
    hands = reach.shape[1]
    tiny, zero = values.dtype.type(1e-30), values.dtype.type(0)
    up, down, keep = discounts[0], discounts[1], discounts[2]
    for a in range(actions):
        at = start + a * hands
        for h in range(hands):
            r = regrets[at + h]
            r = r * (up if r > 0 else down) + (values[d, a, h] - values[d, actions, h])
            regrets[at + h] = r if abs(r) > tiny else zero
        for h in range(hands):
            s = sums[at + h] * keep + reach[d, h] * probs[d, a, h]
            sums[at + h] = s if s > tiny else zero


@kernel
def mix_values(values: np.ndarray, probs: np.ndarray, d: int, actions: int) -> None:
    """The mean of the actions' values under ``probs[d]``, into ``values[d, actions]``."""
    for h in range(values.shape[2]):
        values[d, actions, h] = 0
    for a in range(actions):
        for h in range(values.shape[2]):
            values[d, actions, h] += probs[d, a, h] * values[d, a, h]


@kernel
def write_advantages(
    values: np.ndarray, opp_reach: np.ndarray, d: int, start: int, actions: int, out: np.ndarray
) -> None:
    """What each action is worth above the node's own value to a hand that stands there, into a block of a flat table.

    Values are counterfactual: over the reach of the opponent's hands they are returns.
    """
    reach = opp_reach[d].sum()
    if reach > 0:
        for a in range(actions):
            for h in range(values.shape[2]):
                out[start + a * values.shape[2] + h] = (values[d, a, h] - values[d, actions, h]) / reach


@kernel
def best_values(values: np.ndarray, d: int, actions: int) -> None:
    """The best of the actions' values, hand by hand, into ``values[d, actions]``."""
    for h in range(values.shape[2]):
        values[d, actions, h] = values[d, 0, h]
    for a in range(1, actions):
        for h in range(values.shape[2]):
            values[d, actions, h] = max(values[d, actions, h], values[d, a, h])


@kernel
def meet_task(x: Scratch, d: int, bid: int, mine: bool, own: int, opp: int, part: int, tasks: Tasks, row: int) -> None:
    """At the root of a task, depth ``d + 1``: write it down, or take its values into ``row`` of its parent."""
    k = tasks.met[0]
    tasks.met[0] += 1
    if part == Part.COMBINE:
        x.values[d, row] += tasks.values[k]
        return
    tasks.bid[k], tasks.mine[k] = bid, mine
    tasks.cursors[k, 0], tasks.cursors[k, 1] = own, opp
    tasks.own_reach[k] = x.own_reach[d + 1]
    tasks.opp_reach[k] = x.opp_reach[d + 1]


@kernel
def walk(
    sides: Sides, x: Scratch, root: int, mine: bool, own: int, opp: int, do: int, part: int, tasks: Tasks,
    weights: np.ndarray, opp_weights: np.ndarray, sums: np.ndarray, discounts: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Walk the subtree of bid ``root``; writes my values, per hand, into ``out``.

    ``mine``: I act at the root. ``own`` and ``opp`` are the cursors of both tables there, ``x.own_reach[0]`` and
    ``x.opp_reach[0]`` what reaches it. ``weights`` and ``sums`` are my flat tables, ``opp_weights`` the opponent's;
    with ``Do.UPDATE`` mine are changed, by ``discounts`` (positive regrets, negative regrets, sums); with
    ``Do.ADVANTAGES`` my sums alone.
    """
    # One long function on purpose: taken out of their tuples inside the loop, or handed on to more helpers, arrays
    # count references, over which threads fight; that made the walk two to eight times slower.
    calls, first, raises, nodes, rows = (
        sides.graph.calls,
        sides.graph.first,
        sides.graph.raises,
        sides.graph.nodes,
        sides.graph.rows,
    )
    need, opp_counts, pay = sides.need, sides.opp_counts, sides.pay
    x_bid, x_child, x_start, tail, called = x.bid, x.child, x.start, x.tail, x.called
    own_reach, opp_reach, own_probs, opp_probs, values = x.own_reach, x.opp_reach, x.own_probs, x.opp_probs, x.values
    own_hands, opp_hands = own_reach.shape[1], opp_reach.shape[1]
    d = 0
    x_bid[0], x_child[0] = root, -1
    while True:
        bid = x_bid[d]
        acting = (d % 2 == 0) == mine
        actions = calls[bid] + first[bid + 1] - first[bid]
        if x_child[d] < 0:
            x_child[d] = 0
            if acting:
                x_start[d] = own
                if actions > 1:
                    own += own_hands * actions
                    if do != Do.BEST:
                        match_weights(weights, x_start[d], actions, d, own_probs)
                for a in range(actions):
                    for h in range(own_hands):
                        values[d, a, h] = 0
                for call in range(calls[bid]):
                    call_values(need, opp_counts, pay, bid, call, 0, opp_reach, d, tail, values, call)
            else:
                x_start[d] = opp
                if actions > 1:
                    opp += opp_hands * actions
                    match_weights(opp_weights, x_start[d], actions, d, opp_probs)
                for h in range(own_hands):
                    values[d, 0, h] = 0
                for call in range(calls[bid]):
                    if actions > 1:
                        scale_reach(opp_reach, opp_probs, call, d, d, called)
                        call_values(need, opp_counts, pay, bid, call, 1, called, d, tail, values, 0)
                    else:
                        call_values(need, opp_counts, pay, bid, call, 1, opp_reach, d, tail, values, 0)
        j = first[bid] + x_child[d]
        if j < first[bid + 1]:
            child, action = raises[j], calls[bid] + x_child[d]
            x_child[d] += 1
            if acting:
                reached = scale_reach(own_reach, own_probs, action, d, d + 1, own_reach)
                reached |= copy_reach(opp_reach, d)
            else:
                reached = scale_reach(opp_reach, opp_probs, action, d, d + 1, opp_reach)
                reached |= copy_reach(own_reach, d)
            if reached and (part == Part.WHOLE or nodes[child] > tasks.largest):
                d += 1
                x_bid[d], x_child[d] = child, -1
                continue
            if reached:
                meet_task(x, d, child, not acting, own, opp, part, tasks, action if acting else 0)
            own += own_hands * rows[child, int(acting)]
            opp += opp_hands * rows[child, int(not acting)]
            continue
        row = 0
        if acting and actions > 1:
            row = actions
            if do == Do.BEST:
                best_values(values, d, actions)
            else:
                mix_values(values, own_probs, d, actions)
            if do == Do.UPDATE:
                update_block(values, own_probs, own_reach, d, x_start[d], actions, weights, sums, discounts)
            elif do == Do.ADVANTAGES:
                write_advantages(values, opp_reach, d, x_start[d], actions, sums)
        if d == 0:
            break
        into = 0 if acting else calls[x_bid[d - 1]] + x_child[d - 1] - 1
        for h in range(own_hands):
            values[d - 1, into, h] += values[d, row, h]
        d -= 1
    for h in range(own_hands):
        out[h] = values[0, row, h]


@kernel
def walk_tasks(
    sides: Sides, x: Scratch, chosen: np.ndarray, do: int, tasks: Tasks,
    weights: np.ndarray, opp_weights: np.ndarray, sums: np.ndarray, discounts: np.ndarray,
) -> None:  # fmt: skip
    """Walk the ``chosen`` tasks one after the other, and leave their values in ``tasks.values``."""
    for k in chosen:
        x.own_reach[0], x.opp_reach[0] = tasks.own_reach[k], tasks.opp_reach[k]
        own, opp = tasks.cursors[k, 0], tasks.cursors[k, 1]
        walk(sides, x, tasks.bid[k], tasks.mine[k] == 1, own, opp, do, Part.WHOLE, tasks,
             weights, opp_weights, sums, discounts, tasks.values[k])  # fmt: skip
