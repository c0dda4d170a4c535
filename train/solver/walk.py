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

from agents.public_tree import Graph
from perudo_env.jit import kernel


class Do(IntEnum):
    """What a walk does at my nodes."""

    UPDATE = 0  # follow regret matching, and update regrets and the average strategy
    BEST = 1  # take the best action of each hand
    FOLLOW = 2  # follow the weights


class Part(IntEnum):
    """Which part of the tree a walk covers."""

    WHOLE = 0
    COLLECT = 1  # stop at small subtrees, and write down what reaches them
    COMBINE = 2  # stop there again, and take their values as found since


class Sides(NamedTuple):
    """What the walk of one seat needs of a round; ``own`` is my side, ``opp`` the opponent's."""

    graph: Graph
    own_counts: np.ndarray  # int64 (num_bids, hands)
    opp_counts: np.ndarray
    pay: np.ndarray  # float (2, 4): what an Ending pays me, called by me [0] and by the opponent [1]


class Scratch(NamedTuple):
    """Room for one thread; the dtype of its arrays is that of the arithmetic. Indexed by depth."""

    bid: np.ndarray  # int64
    child: np.ndarray  # int64, the next raise to visit
    start: np.ndarray  # int64, where the node's block begins in its table
    own_reach: np.ndarray  # (depth, own hands)
    opp_reach: np.ndarray  # (depth, opponent's hands)
    own_probs: np.ndarray  # (depth, actions, own hands)
    opp_probs: np.ndarray  # (depth, actions, opponent's hands)
    values: np.ndarray  # (depth, actions, own hands); of an opponent's node only [0], the sum
    tail: np.ndarray  # (opponent's dice + 4,)
    weighted: np.ndarray  # (opponent's hands,)
    back: np.ndarray  # (own hands,): the values of the subtree left last


class Tasks(NamedTuple):
    """The small subtrees at which a walk of a large tree stops."""

    largest: int  # a subtree of at most so many nodes is a task
    count: np.ndarray  # int64 (1,)
    bid: np.ndarray  # int64 (num_tasks,)
    mine: np.ndarray  # int64, 1: I act at its root
    cursors: np.ndarray  # int64 (num_tasks, 2)
    own_reach: np.ndarray  # (num_tasks, hands)
    opp_reach: np.ndarray
    values: np.ndarray


@kernel
def match_weights(weights: np.ndarray, start: int, actions: int, probs: np.ndarray) -> None:
    """The positive part of a block of weights, normalised per hand; uniform where nothing is positive."""
    hands = probs.shape[1]
    tiny = probs.dtype.type(1e-25)
    total = probs[actions]
    total[:] = 0
    for a in range(actions):
        at = start + a * hands
        for h in range(hands):
            w = weights[at + h]
            w = w if w > 0 else w * 0
            probs[a, h] = w
            total[h] += w
    for h in range(hands):
        # below the clamp a normaliser may be denormal, and its inverse infinite
        total[h] = 1 / total[h] if total[h] > tiny else probs.dtype.type(0)
    even = probs.dtype.type(1.0 / actions)
    for a in range(actions):
        for h in range(hands):
            probs[a, h] = probs[a, h] * total[h] if total[h] > 0 else even


@kernel
def call_values(
    sides: Sides, bid: int, calza: bool, caller: int, reach: np.ndarray, tail: np.ndarray, out: np.ndarray, add: bool
) -> None:
    """My values of a call on a bid, by me (caller 0) or the opponent (1), whose hands come with ``reach``."""
    last = tail.size - 1
    tail[:] = 0
    counts = sides.opp_counts[bid]
    for h in range(reach.size):
        tail[counts[h] + 1] += reach[h]
    # tail[k + 1]: the reach of hands with at least k matching dice, from k = -1
    for k in range(last, 0, -1):
        tail[k - 1] += tail[k]
    quantity = sides.graph.quantity[bid]
    mine = sides.own_counts[bid]
    wrong, right = sides.pay[caller, 2 * calza], sides.pay[caller, 2 * calza + 1]
    low, gain = tail[0] * right, wrong - right
    for h in range(mine.size):
        need = min(max(quantity - mine[h] + 1, 0), last)
        if calza:
            value = tail[0] * wrong - gain * (tail[need] - tail[min(need + 1, last)])
        else:
            value = low + gain * tail[need]
        out[h] = out[h] + value if add else value


@kernel
def enter_own(sides: Sides, x: Scratch, d: int, actions: int, weights: np.ndarray, do: int) -> None:
    """Find my strategy at the node of depth ``d``, and what my calls are worth."""
    if actions == 1:
        x.own_probs[d, 0, :] = 1
    elif do != Do.BEST:
        match_weights(weights, x.start[d], actions, x.own_probs[d])
    for call in range(sides.graph.calls[x.bid[d]]):
        call_values(sides, x.bid[d], call == 1, 0, x.opp_reach[d], x.tail, x.values[d, call], False)


@kernel
def enter_opp(sides: Sides, x: Scratch, d: int, actions: int, weights: np.ndarray) -> None:
    """Find the opponent's strategy at the node of depth ``d``, and what its calls are worth to me."""
    x.values[d, 0, :] = 0
    if actions == 1:
        x.opp_probs[d, 0, :] = 1
    else:
        match_weights(weights, x.start[d], actions, x.opp_probs[d])
    for call in range(sides.graph.calls[x.bid[d]]):
        for h in range(x.weighted.size):
            x.weighted[h] = x.opp_reach[d, h] * x.opp_probs[d, call, h]
        call_values(sides, x.bid[d], call == 1, 1, x.weighted, x.tail, x.values[d, 0], True)


@kernel
def scale_reach(reach: np.ndarray, probs: np.ndarray, out: np.ndarray) -> bool:
    """Reach after an action; returns whether any hand comes so far. Tiny reaches become 0: denormals are slow and spoil normalisers."""
    tiny = out.dtype.type(1e-20)
    some = False
    for h in range(out.size):
        r = reach[h] * probs[h]
        r = r if r > tiny else r * 0
        out[h] = r
        some |= r > 0
    return some


@kernel
def step_down(x: Scratch, d: int, mine: bool, action: int) -> bool:
    """Write the reaches of the child after ``action``; returns whether anybody reaches it."""
    if mine:
        some = scale_reach(x.own_reach[d], x.own_probs[d, action], x.own_reach[d + 1])
        x.opp_reach[d + 1, :] = x.opp_reach[d]
        for h in range(x.weighted.size):
            some |= x.opp_reach[d, h] > 0
        return some
    some = scale_reach(x.opp_reach[d], x.opp_probs[d, action], x.opp_reach[d + 1])
    x.own_reach[d + 1, :] = x.own_reach[d]
    for h in range(x.own_reach.shape[1]):
        some |= x.own_reach[d, h] > 0
    return some


@kernel
def update_block(
    x: Scratch, d: int, actions: int, regrets: np.ndarray, sums: np.ndarray, discounts: np.ndarray
) -> None:
    """Discount a block and add this walk's regrets and strategy (DCFR); my value ends up in ``values[d, actions]``."""
    hands = x.own_reach.shape[1]
    tiny = x.values.dtype.type(1e-30)
    up, down, keep = discounts[0], discounts[1], discounts[2]
    mean = x.values[d, actions]
    mean[:] = 0
    for a in range(actions):
        for h in range(hands):
            mean[h] += x.own_probs[d, a, h] * x.values[d, a, h]
    for a in range(actions):
        at = x.start[d] + a * hands
        for h in range(hands):
            r = regrets[at + h]
            r = r * (up if r > 0 else down) + (x.values[d, a, h] - mean[h])
            regrets[at + h] = r if abs(r) > tiny else r * 0
            s = sums[at + h] * keep + x.own_reach[d, h] * x.own_probs[d, a, h]
            sums[at + h] = s if s > tiny else s * 0


@kernel
def leave_own(
    x: Scratch, d: int, actions: int, do: int, regrets: np.ndarray, sums: np.ndarray, discounts: np.ndarray
) -> None:
    """My values at the node of depth ``d`` from those of its actions, into ``back``."""
    out = x.back
    if do == Do.UPDATE and actions > 1:
        update_block(x, d, actions, regrets, sums, discounts)
        out[:] = x.values[d, actions]
        return
    out[:] = x.values[d, 0]
    if do == Do.BEST:
        for a in range(1, actions):
            for h in range(out.size):
                out[h] = max(out[h], x.values[d, a, h])
    elif actions > 1:
        for h in range(out.size):
            out[h] *= x.own_probs[d, 0, h]
        for a in range(1, actions):
            for h in range(out.size):
                out[h] += x.own_probs[d, a, h] * x.values[d, a, h]


@kernel
def absorb(x: Scratch, d: int, acting: bool, action: int) -> None:
    """Take the values ``back`` of a child into its parent at depth ``d``."""
    if acting:
        x.values[d, action] = x.back
    else:
        x.values[d, 0] += x.back


@kernel
def meet_task(x: Scratch, d: int, bid: int, mine: bool, own: int, opp: int, part: int, tasks: Tasks) -> None:
    """At the root of a task: write it down, or take its values."""
    k = tasks.count[0]
    tasks.count[0] += 1
    if part == Part.COMBINE:
        x.back[:] = tasks.values[k]
        return
    x.back[:] = 0
    tasks.bid[k], tasks.mine[k] = bid, mine
    tasks.cursors[k, 0], tasks.cursors[k, 1] = own, opp
    tasks.own_reach[k] = x.own_reach[d]
    tasks.opp_reach[k] = x.opp_reach[d]


@kernel
def walk(
    sides: Sides, x: Scratch, root: int, mine: bool, own: int, opp: int, do: int, part: int, tasks: Tasks,
    weights: np.ndarray, opp_weights: np.ndarray, sums: np.ndarray, discounts: np.ndarray,
) -> None:  # fmt: skip
    """Walk the subtree of bid ``root``; my values, per hand, end up in ``x.back``.

    ``mine``: I act at the root. ``own`` and ``opp`` are the cursors of both tables there, ``x.own_reach[0]`` and
    ``x.opp_reach[0]`` what reaches it. ``weights`` and ``sums`` are my flat tables, ``opp_weights`` the opponent's;
    with ``Do.UPDATE`` mine are changed, by ``discounts`` (positive regrets, negative regrets, sums).
    """
    g = sides.graph
    d = 0
    x.bid[0], x.child[0] = root, -1
    while d >= 0:
        acting = (d % 2 == 0) == mine
        raises = g.first[x.bid[d] + 1] - g.first[x.bid[d]]
        actions = g.calls[x.bid[d]] + raises
        if x.child[d] < 0:
            x.child[d] = 0
            x.start[d] = own if acting else opp
            if acting:
                own += x.back.size * actions if actions > 1 else 0
                enter_own(sides, x, d, actions, weights, do)
            else:
                opp += x.weighted.size * actions if actions > 1 else 0
                enter_opp(sides, x, d, actions, opp_weights)
        if x.child[d] < raises:
            child, action = g.raises[g.first[x.bid[d]] + x.child[d]], g.calls[x.bid[d]] + x.child[d]
            x.child[d] += 1
            reached = step_down(x, d, acting, action)
            if reached and (part == Part.WHOLE or g.nodes[child] > tasks.largest):
                d += 1
                x.bid[d], x.child[d] = child, -1
                continue
            if reached:
                meet_task(x, d + 1, child, not acting, own, opp, part, tasks)
            else:
                x.back[:] = 0
            own += x.back.size * g.rows[child, int(acting)]
            opp += x.weighted.size * g.rows[child, int(not acting)]
            absorb(x, d, acting, action)
            continue
        if acting:
            leave_own(x, d, actions, do, weights, sums, discounts)
        else:
            x.back[:] = x.values[d, 0]
        d -= 1
        if d >= 0:
            absorb(x, d, not acting, g.calls[x.bid[d]] + x.child[d] - 1)
