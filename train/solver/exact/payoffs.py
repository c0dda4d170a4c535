"""Payoffs of a round: the engine's outcomes, and small tables of what each pays.

A round ends in one of four ways for its caller. What follows does not depend on the hands beyond that, so the engine is
asked once for each way and caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.search.lookahead import Ending
from agents.tabular.public_tree import round_record, set_bids
from perudo_env.engine.actions import CALZA, DUDO, PACO, bid_id
from perudo_env.engine.rounds import apply, final_return, round_return
from perudo_env.engine.rules import Reward
from perudo_env.engine.state import Phase
from perudo_env.engine.variant import Variant


@dataclass(frozen=True)
class State:
    """What a game stands at when a round begins."""

    dice: tuple[int, ...]  # by seat; 0: the seat is out
    opener: int = 0
    palifico: bool = False
    spent: tuple[int, ...] = (0, 0)  # seats that have had their palifico (palifico = once)

    def places(self) -> list[int]:
        """The living seats clockwise, the opener first."""
        n = len(self.dice)
        return [seat for k in range(n) if self.dice[seat := (self.opener + k) % n] > 0]


@dataclass(frozen=True)
class Outcome:
    """What a call led to: the returns of the round, and the next round, or the returns of the game; by seat."""

    round_returns: tuple[float, ...]
    next: State | None
    game_returns: tuple[float, ...]


def outcomes(variant: Variant, state: State, total: int | None = None) -> dict[tuple[int, Ending], Outcome]:
    """The outcome of each call by each seat in a round that seat 0 opens, asked of the engine."""
    found = {}
    for caller in range(len(state.dice)):
        for ending in Ending:
            if ending < Ending.CALZA_WRONG or variant.calza != "off":
                found[caller, ending] = _outcome(variant, state, total or sum(state.dice), caller, ending)
    return found


def _outcome(variant: Variant, state: State, total: int, caller: int, ending: Ending) -> Outcome:
    n = len(state.dice)
    record = round_record(variant, state.dice, state.palifico, total, state.spent)[0]
    # all dice are Pacos, or none: a bid of one Paco, or of exactly all dice
    face = PACO if ending in (Ending.DUDO_WRONG, Ending.CALZA_RIGHT) else PACO + 1
    record["hands"][:] = 0
    record["hands"][:n, face - 1] = state.dice
    quantity = sum(state.dice) if ending == Ending.CALZA_RIGHT else 1
    set_bids(record, [int(bid_id(quantity, PACO))] * (caller or n), Phase.BID)
    apply(record, DUDO if ending < Ending.CALZA_WRONG else CALZA)
    paid = tuple(float(round_return(record, seat)) for seat in range(n))
    if record["phase"] == Phase.OVER:
        return Outcome(paid, None, tuple(float(final_return(record, seat, Reward.ZERO_SUM)) for seat in range(n)))
    after = State(
        tuple(record["dice"][:n].tolist()), int(record["opener"]), bool(record["is_palifico"]),
        tuple(record["palifico_spent"][:n].tolist()),
    )  # fmt: skip
    return Outcome(paid, after, (0.0,) * n)


Value = Callable[[Outcome], float]


def round_value(outcome: Outcome) -> float:
    """The return of the round alone to seat 0: the change in own dice, zero-sum."""
    return outcome.round_returns[0]


def round_values(outcome: Outcome) -> tuple[float, ...]:
    """The same to every seat."""
    return outcome.round_returns


def pay_table(
    variant: Variant, state: State, value: Value = round_value, total: int | None = None
) -> npt.NDArray[np.float64]:
    """What each ``[caller, Ending]`` pays to seat 0, ``(num_seats, 4)``, each outcome being worth ``value``."""
    return pay_tables(variant, state, lambda outcome: (value(outcome),) * len(state.dice), total)[:, :, 0]


def pay_tables(
    variant: Variant,
    state: State,
    values: Callable[[Outcome], Sequence[float]] = round_values,
    total: int | None = None,
) -> npt.NDArray[np.float64]:
    """What each ``[caller, Ending]`` pays to each seat, ``(num_seats, 4, num_seats)``, an outcome being worth ``values``."""
    n = len(state.dice)
    table = np.zeros((n, len(Ending), n))
    for (caller, ending), outcome in outcomes(variant, state, total).items():
        table[caller, ending] = values(outcome)
    return table


def seat_view(table: npt.NDArray[np.float64], seat: int) -> npt.NDArray[np.float64]:
    """The same table as paid to ``seat``, its own calls in row 0."""
    return table if seat == 0 else -table[::-1]


def check_numbers(least: float = 0, most: float = np.inf, **given: float) -> None:
    """Raise ``ValueError`` unless each number is finite, and from ``least`` to ``most``."""
    for name, number in given.items():
        if not (least <= number <= most and number < np.inf):
            upper = f" to {most}" if most < np.inf else ""
            raise ValueError(f"{name} = {number}: give a finite number from {least}{upper}")


def check_dice(dice: Sequence[int]) -> tuple[int, int]:
    """``dice`` as a pair; raises ``ValueError`` for anything else."""
    pair = tuple(dice)
    if len(pair) != 2 or not all(isinstance(d, int | np.integer) and not isinstance(d, bool) and d >= 1 for d in pair):
        raise ValueError(f"dice = {pair} is not a round of two seats: name two numbers of dice from 1")
    return int(pair[0]), int(pair[1])


def as_opened(state: State) -> State:
    """The state as its opener sees it: living seats clockwise, the opener as seat 0."""
    places = state.places()
    return State(
        tuple(state.dice[seat] for seat in places), 0, state.palifico, tuple(state.spent[seat] for seat in places)
    )


def states_of(variant: Variant, num_dice: int, num_seats: int = 2) -> list[State]:
    """All rounds that a game of ``num_seats`` from ``num_dice`` each may come to, as their openers see them; fewer dice first.

    Seats that are out are left out.
    """
    found: set[State] = set()
    waiting = [State((num_dice,) * num_seats, spent=(0,) * num_seats)]
    while waiting:
        state = waiting.pop()
        if state not in found:
            found.add(state)
            waiting += [as_opened(o.next) for o in outcomes(variant, state).values() if o.next is not None]
    return sorted(found, key=lambda s: (sum(s.dice), s.dice, s.palifico, s.spent))
