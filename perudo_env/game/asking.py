"""Questions to agents: what a policy answers is checked before anybody plays it or counts with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perudo_env.engine.actions import ACTIONS, PASS
from perudo_env.engine.batch import Batch
from perudo_env.engine.jit import kernel
from perudo_env.engine.state import Phase
from perudo_env.engine.variant import Variant
from perudo_env.game.events import faces
from perudo_env.game.game import Game

if TYPE_CHECKING:
    from perudo_env.policy import Policy

TOLERANCE = 1e-6  # how far from 1 a row of probabilities may sum (float32 policies)

Int8Array = npt.NDArray[np.int8]
Place = Callable[[int], str]
"""Tells the information state of a row of what was asked."""


class AnswerError(ValueError):
    """An agent's answer that is no legal action, or no distribution over them: whose it is, its fault, and where it was asked."""

    def __init__(self, agent: str, fault: str, row: int) -> None:
        super().__init__(agent, fault, row)  # the arguments, so that another process can send it
        self.agent, self.fault, self.row = agent, fault, row
        self.position: str | None = None

    def __str__(self) -> str:
        where = f"row {self.row} of what it was asked" if self.position is None else self.position
        return f"agent {self.agent!r}: {self.fault} at {where}"


def ask(
    policy: Policy,
    observations: Int8Array,
    masks: Int8Array,
    rng: np.random.Generator,
    position: Place | None = None,
) -> npt.NDArray[np.int64]:
    """What ``policy`` chooses, int64 ``(batch,)``; raises ``AnswerError`` unless each is a legal action id."""
    shown = masks.copy()  # the agent may write into its own
    try:
        actions = action_ids(policy.act(observations, shown, rng), len(masks), policy)
        known = (actions >= 0) & (actions < masks.shape[1])
        bad = np.flatnonzero(~known | (masks[np.arange(len(masks)), np.where(known, actions, 0)] == 0))
        if bad.size:
            chosen = int(actions[bad[0]])
            said = f"{chosen} ({ACTIONS[chosen]})" if known[bad[0]] else f"{chosen}"
            raise AnswerError(name_of(policy), f"it chose action {said}, which is illegal", int(bad[0]))
    except AnswerError as error:
        raise _placed(error, position) from None
    return actions


def ask_probs(
    policy: Policy, observations: Int8Array, masks: Int8Array, position: Place | None = None
) -> npt.NDArray[np.float64]:
    """What ``policy`` states, float64 ``(batch, num_actions)``.

    Raises ``AnswerError`` unless each row is a distribution over its legal actions.
    """
    try:
        if not callable(getattr(policy, "probs", None)):
            raise AnswerError(name_of(policy), "it has no probs, and its probabilities are asked for", 0)
        # the agent may write into its own masks
        given = _array(policy.probs(observations, masks.copy()), "its probs", policy)
        if given.shape != masks.shape or given.dtype.kind not in "biuf":
            fault = f"its probs have shape {given.shape} and type {given.dtype}, not {masks.shape} and float"
            raise AnswerError(name_of(policy), fault, 0)
        probs = np.ascontiguousarray(given, np.float64)
        row = _first_bad_row(probs, np.ascontiguousarray(masks, np.int8))
        if row >= 0:
            raise AnswerError(name_of(policy), _fault(probs[row], masks[row]), row)
    except AnswerError as error:
        raise _placed(error, position) from None
    return probs


def action_ids(given: Any, count: int, policy: Policy) -> npt.NDArray[np.int64]:
    """What ``act`` gave as int64 ``(count,)``; raises ``AnswerError`` unless it is one whole number per position."""
    ids = _array(given, "what act gave", policy)
    if ids.shape != (count,) or ids.dtype.kind not in "iu":
        raise AnswerError(
            name_of(policy),
            f"act gave an array of shape {ids.shape} and type {ids.dtype} for {count} positions: give one action id, a whole "
            "number, for each",
            0,
        )
    return ids.astype(np.int64)


def _array(given: Any, what: str, policy: Policy) -> npt.NDArray[Any]:
    try:
        return np.asarray(given)
    except Exception as error:  # rows of several lengths; a tensor that has a gradient or a type of its own
        raise AnswerError(name_of(policy), f"{what} cannot be read as an array ({error})", 0) from error


def name_of(policy: Any) -> str:
    """What an agent is called: the ``name`` it was made by, or where its class is."""
    return str(getattr(policy, "name", "") or f"{type(policy).__module__}:{type(policy).__qualname__}")


@kernel
def _first_bad_row(probs: npt.NDArray[np.float64], masks: Int8Array) -> int:
    """The first row that is no distribution over what its mask allows, or -1."""
    for k in range(probs.shape[0]):
        total = 0.0
        for a in range(probs.shape[1]):
            p = probs[k, a]
            # in this sense nan is refused as well
            if not p >= 0.0 or (p > 0.0 and masks[k, a] == 0):
                return k
            total += p
        if not abs(total - 1.0) <= TOLERANCE:
            return k
    return -1


def _fault(probs: npt.NDArray[np.float64], mask: Int8Array) -> str:
    if not np.isfinite(probs).all():
        return "its probabilities are not finite"
    wrong = np.flatnonzero((probs < 0) | ((probs != 0) & (mask == 0)))
    if wrong.size:
        action = int(wrong[0])
        word = "negative" if mask[action] else "illegal here"
        return f"it gives {ACTIONS[action]} probability {probs[action]:g}, which is {word}"
    return f"its probabilities sum to {probs.sum():.9g}, not 1"


def _placed(error: AnswerError, position: Place | None) -> AnswerError:
    """The error with its place; who was asked inside of another question knows it best."""
    if error.position is None and position is not None:
        error.position = position(error.row)
    return error


def places(batch: Batch, rows: npt.NDArray[Any]) -> Place:
    """The position of each of ``rows`` of a batch, for :func:`ask`."""
    return lambda k: f"the information state {infostate(batch.variant, batch.states[rows[k]])!r}"


def seen_by(game: Game, seat: int) -> Place:
    """The position of a seat of a game, for :func:`ask`."""
    return lambda _: f"the information state {game.infostate_key(seat)!r}"


def infostate(variant: Variant, s: np.void, hand: Int8Array | None = None) -> str:
    """The information state of the seat to act in a record, as ``Game.infostate_key`` prints it; as if it held ``hand``, face counts."""
    seat, n = int(s["seat"]), int(s["num_seats"])
    dealt = [(1,) * int(d) for d in s["dice"][:n]]
    dealt[seat] = faces(s["hands"][seat] if hand is None else hand)
    game = Game.from_hands(
        variant, dealt, opener=int(s["opener"]), palifico=bool(s["is_palifico"]), total_at_start=int(s["total_at_start"]),
        bids=[int(b) for b in s["bids"][: s["num_bids"]]], palifico_spent=np.flatnonzero(s["palifico_spent"][:n]).tolist(),
    )  # fmt: skip
    while game.in_calza_window and (game.seat != seat or s["phase"] == Phase.BID):
        game.act(PASS)
    return game.infostate_key(seat)
