"""Many games at once."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from perudo_env.engine.actions import num_actions
from perudo_env.engine.bid_tables import legal_bids
from perudo_env.engine.bulk import (
    act_rows,
    draw_rows,
    following_seeds,
    masks_rows,
    observe_rows,
    play_rows,
    returns_rows,
    start_rows,
    weighed_rows,
)
from perudo_env.engine.checks import check_states
from perudo_env.engine.clauses import IllegalActionError, action_id, explain
from perudo_env.engine.jit import announce_compilation
from perudo_env.engine.observation import Layout, encode_switches, table_layout
from perudo_env.engine.rules import (
    Reward,
)
from perudo_env.engine.state import Phase, copied, new_states
from perudo_env.engine.variant import Variant, as_variant, is_whole, table_size

Int8Array = npt.NDArray[np.int8]


def seeds_from(seed: Any, num_games: int) -> npt.NDArray[np.uint64]:
    """A seed per game, uint64 ``(num_games,)``: game i of one ``seed`` has seed + i; an array is taken as it is.

    None draws from the operating system. Raises ``ValueError`` for anything else than numbers from 0 to 2**64 - 1.
    """
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if is_whole(seed):
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed = {seed} is out of range: use 0 to 2**64 - 1")
        # arrays wrap around in silence
        return np.uint64(int(seed)) + np.arange(num_games, dtype=np.uint64)
    seeds = np.asarray(seed)
    if seeds.shape != (num_games,) or seeds.dtype.kind not in "ui" or (seeds < 0).any():
        raise ValueError(
            f"seed = {seed!r} is not a seed: use None, a number from 0 to 2**64 - 1, or {num_games} of them"
        )
    return seeds.astype(np.uint64)


def starting_dice(variant: Variant, num_seats: int, dice: Sequence[int] | None) -> Int8Array:
    """The dice per seat at the start, int8 ``(num_seats,)``, checked.

    Raises ``ValueError`` unless each number is from 0 (the seat is out) to ``variant.starting_dice`` and two seats play.
    """
    if dice is None:
        return np.array([variant.starting_dice] * num_seats, np.int8)
    if not isinstance(dice, Sequence | np.ndarray) or isinstance(dice, str):
        raise ValueError(f"dice = {dice!r}: give a number of dice per seat, like (5, 3)")
    counts = list(dice)
    if len(counts) != num_seats:
        raise ValueError(f"dice = {tuple(counts)} has {len(counts)} numbers for {num_seats} seats")
    for d in counts:
        if not is_whole(d) or not 0 <= d <= variant.starting_dice:
            raise ValueError(
                f"dice = {tuple(counts)}: {d!r} is not a number of dice: use 0 to starting_dice = {variant.starting_dice}"
            )
    if sum(d > 0 for d in counts) < 2:
        raise ValueError(f"dice = {tuple(counts)}: at least two seats need dice")
    return np.array(counts, np.int8)


def check_max_rounds(max_rounds: Any) -> int:
    """``max_rounds`` as the record holds it, 0 for None; raises ``ValueError`` unless it is None or at least 1."""
    if max_rounds is None:
        return 0
    if not is_whole(max_rounds) or not 1 <= max_rounds < 2**31:
        raise ValueError(f"max_rounds = {max_rounds!r} is not a limit: use None or a whole number from 1")
    return int(max_rounds)


def _room(out: Int8Array | None, num_rows: int, width: int) -> Int8Array:
    """``out``, or a new int8 array; raises ``ValueError`` for one that cannot be written, since the kernels check no bounds."""
    if out is None:
        return np.empty((num_rows, width), np.int8)
    if not isinstance(out, np.ndarray) or out.dtype != np.int8:
        raise ValueError(f"out is {getattr(out, 'dtype', type(out).__name__)}: give an int8 array")
    if not out.flags.writeable:
        raise ValueError("out is read-only: give an array that may be written")
    if out.shape != (num_rows, width):
        raise ValueError(f"out has shape {out.shape}: this table needs {(num_rows, width)}")
    return out


class Batch:
    """``num_games`` games of one variant at tables of ``num_seats``; row i plays as ``Game`` with seed ``seed + i``.

    ``seed`` may also be an array of ``num_games`` seeds. ``dice`` are the starting dice per seat, by default
    ``variant.starting_dice`` each; ``pad_to`` is a larger ``Layout`` to write observations and masks in.
    ``memory`` (``"perfect"`` or ``"none"``) is what observations hold under hidden dice counts, see ``state.shows_counts``.
    Raises ``ValueError`` for a table that cannot be.
    """

    def __init__(
        self,
        variant: Variant | str = "classic",
        num_seats: int = 2,
        num_games: int = 1,
        seed: Any = None,
        *,
        dice: Sequence[int] | None = None,
        max_rounds: int | None = None,
        pad_to: Layout | None = None,
        memory: str = "perfect",
    ) -> None:
        announce_compilation(start_rows)
        self.variant = as_variant(variant)
        self.num_seats = table_size(num_seats)
        if not is_whole(num_games) or num_games < 1:
            raise ValueError(f"num_games = {num_games!r} is not a number of games: use a whole number from 1")
        self.num_games = int(num_games)
        self.start = starting_dice(self.variant, self.num_seats, dice)
        self.layout = table_layout(self.variant, self.num_seats, pad_to)
        self.num_actions = num_actions(self.layout.max_quantity)
        self.memory = memory
        self.switches = encode_switches(self.variant)
        self.states = new_states(
            self.variant, self.num_seats, int(self.start.sum()), check_max_rounds(max_rounds), self.num_games, memory
        )
        self._legal = legal_bids(self.variant, self.num_seats)
        self._all = np.arange(self.num_games)
        self._word = np.uint64(0)
        self.reset(seeds=seed)

    def reset(self, rows: npt.ArrayLike | None = None, seeds: Any = None, dice: npt.ArrayLike | None = None) -> None:
        """Begin a new game in every row, or in ``rows``: their numbers, or a truth per game.

        Without ``seeds`` a row goes on to the seed that follows its own; the first time, to one from the system.
        ``dice`` ``(num_rows, num_seats)`` begins each game as one in which so many are left; the highest bid of the
        variant stays that of the full table.
        """
        where = self._where(rows)
        counts = np.repeat(self.start[None], where.size, axis=0) if dice is None else self._counts(where.size, dice)
        if seeds is None and self.states["round"].any():
            new = np.empty(where.size, np.uint64)
            following_seeds(self.states, where, new)
        else:
            new = seeds_from(seeds, where.size)
        start_rows(self.states, where, new, counts)

    def _counts(self, num_rows: int, dice: npt.ArrayLike) -> Int8Array:
        counts = np.asarray(dice)
        if counts.shape != (num_rows, self.num_seats) or counts.dtype.kind not in "ui":
            raise ValueError(
                f"dice of shape {counts.shape} and type {counts.dtype}: give whole numbers, {(num_rows, self.num_seats)}"
            )
        for row in np.unique(counts, axis=0):
            starting_dice(self.variant, self.num_seats, row)
        return counts.astype(np.int8)

    def restore(self, content: npt.NDArray[Any]) -> None:
        """Go on from the bytes of the ``states`` of such a batch, uint8 ``(num_bytes,)``, as a file has kept them.

        Raises ``ValueError``, and changes nothing, for bytes that are no games of this table.
        """
        if content.shape != (self.states.nbytes,) or content.dtype != np.uint8:
            raise ValueError(
                f"states of shape {content.shape} and type {content.dtype}: these tables have uint8 ({self.states.nbytes},)"
            )
        states = copied(content)
        check_states(states, self.states[0])
        self.states[:] = states

    def take(self, rows: npt.ArrayLike) -> Batch:
        """A batch of copies of these games, in this order; one may be named more than once. Copies go their own ways."""
        where = self._where(rows)
        taken = copy(self)
        taken.num_games, taken._all = where.size, np.arange(where.size)
        # as bytes: NumPy copies a structured array field by field, ten times slower
        whole = self.states.view(np.dtype((np.void, self.states.dtype.itemsize)))
        taken.states = whole[where].view(self.states.dtype)
        return taken

    @property
    def seat(self) -> Int8Array:
        """The seat to act per game, int8 ``(num_games,)``; -1 where the game is over."""
        return self.states["seat"]

    @property
    def is_over(self) -> npt.NDArray[np.bool_]:
        """Which games are over, bool ``(num_games,)``."""
        return self.states["phase"] == Phase.OVER

    @property
    def truncated(self) -> npt.NDArray[np.bool_]:
        """Which games ``max_rounds`` has stopped, bool ``(num_games,)``."""
        return self.states["truncated"] == 1

    @property
    def dice(self) -> Int8Array:
        """Dice left, int8 ``(num_games, num_seats)``."""
        return self.states["dice"][:, : self.num_seats]

    @property
    def ranks(self) -> Int8Array:
        """Final places, int8 ``(num_games, num_seats)``: 1 for the winner, 0 for a seat that still plays."""
        return self.states["place"][:, : self.num_seats]

    @property
    def returns(self) -> npt.NDArray[np.float64]:
        """What each seat is paid, ``(num_games, num_seats)``: winner +1, others -1/(n-1); 0 while it still plays."""
        return self.payoffs()

    def payoffs(self, scheme: Reward = Reward.ZERO_SUM) -> npt.NDArray[np.float64]:
        """What each seat is paid at its end, ``(num_games, num_seats)``, under ``ZERO_SUM`` or ``PLACE``."""
        out = np.zeros((self.num_games, self.num_seats))
        returns_rows(self.states, int(scheme), out)
        return out

    def masks(self, rows: npt.ArrayLike | None = None, *, out: Int8Array | None = None) -> Int8Array:
        """The mask of the seat to act, int8 ``(num_games, num_actions)``, or one per row of ``rows``; all 0 where over."""
        where = self._where(rows)
        out = _room(out, where.size, self.num_actions)
        masks_rows(self.states, where, self._legal, out)
        return out

    def observe(
        self, rows: npt.ArrayLike | None = None, *, viewers: npt.ArrayLike | None = None, out: Int8Array | None = None
    ) -> Int8Array:
        """What each row's viewer knows, int8 ``(num_games, layout.size)``, or one per row of ``rows``.

        ``viewers`` is a seat, or a seat per row; by default the seat to act (zeros where the game is over).
        """
        where = self._where(rows)
        out = _room(out, where.size, self.layout.size)
        seats = np.broadcast_to(self.seat[where] if viewers is None else np.asarray(viewers), where.shape)
        if seats.dtype.kind not in "ui" or (seats >= self.num_seats).any():
            raise ValueError(f"viewers = {viewers!r} are not seats of this table: use 0 to {self.num_seats - 1}")
        observe_rows(
            self.states,
            where,
            seats.astype(np.int64),
            self.switches,
            self.layout.num_seats,
            self.layout.max_quantity,
            out,
        )
        return out

    def draw(
        self, rng: np.random.Generator, rows: npt.ArrayLike | None = None, *, probs: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.int64]:
        """A random legal action id per game, or per row of ``rows``, int64; 0 where the game is over.

        All legal actions are equally likely, or in proportion to ``probs`` ``(num_rows, num_actions)``, of which those of
        illegal ones do not count. One number of ``rng`` goes into each. Raises ``ValueError``, naming the first game at
        fault, where no legal action has a probability above 0 or one is negative or no number.
        """
        where = self._where(rows)
        draws, actions = rng.random(where.size), np.empty(where.size, np.int64)
        if probs is None:
            draw_rows(self.states, where, self._legal, draws, actions)
            return actions
        chances = np.ascontiguousarray(probs, np.float64)
        if chances.shape != (where.size, self.num_actions):
            raise ValueError(f"probs of shape {chances.shape}: this table needs {(where.size, self.num_actions)}")
        mask, weights = np.empty(self.num_actions, np.int8), np.empty(self.num_actions)
        bad = weighed_rows(self.states, where, self._legal, chances, draws, mask, weights, actions)
        if bad >= 0:
            raise ValueError(
                f"game {where[bad]}: probs of its legal actions are no distribution: give numbers from 0, one of them above"
            )
        return actions

    def act(self, actions: npt.ArrayLike, rows: npt.ArrayLike | None = None) -> npt.NDArray[np.bool_]:
        """Play one action id per game, or per row of ``rows``; returns which rounds that ended. Finished games stand still.

        An array of integers, or a sequence of whole numbers of any kind. Raises ``IllegalActionError``, naming the first
        game at fault, and changes nothing.
        """
        where = self._where(rows)
        ids = self._ids(actions, where)
        if ids.shape != where.shape or ids.dtype.kind not in "ui":
            raise IllegalActionError(
                f"actions of shape {ids.shape} and type {ids.dtype}: give {where.size} whole numbers, one action id per game"
            )
        if rows is not None and np.unique(where).size < where.size:
            raise ValueError(f"rows = {where.tolist()} name a game twice: it can play one action at a time")
        ended = np.zeros(where.size, np.bool_)
        bad = act_rows(self.states, where, ids.astype(np.int64), ended)
        if bad >= 0:
            known = 0 <= ids[bad] < self.num_actions
            why = (
                explain(self.states, where[bad], int(ids[bad]))
                if known
                else f"{ids[bad]} is not an action id of this table: use 0 to {self.num_actions - 1}"
            )
            raise IllegalActionError(f"game {where[bad]}: {why}")
        return ended

    def _ids(self, actions: npt.ArrayLike, where: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Actions as an array; those of a list are asked one by one, since NumPy would make one type of them all."""
        if not isinstance(actions, list | tuple) or len(actions) != where.size:
            return np.asarray(actions)
        ids, over = np.zeros(where.size, np.int64), self.is_over[where]
        for k, action in enumerate(actions):
            try:
                ids[k] = 0 if over[k] else action_id(action, self.num_actions)
            except IllegalActionError as error:
                raise IllegalActionError(f"game {where[k]}: {error}") from None
        return ids

    def _where(self, rows: npt.ArrayLike | None) -> npt.NDArray[np.int64]:
        if rows is None:
            return self._all
        given = np.asarray(rows).reshape(-1)
        if given.dtype == np.bool_ and given.size == self.num_games:
            return np.flatnonzero(given)
        if given.size and given.dtype.kind not in "ui":
            raise ValueError(f"rows = {rows!r}: give numbers of games, or a truth for each of the {self.num_games}")
        where = given.astype(np.int64)
        if where.size and not (where.min() >= 0 and where.max() < self.num_games):
            raise ValueError(f"rows from {where.min()} to {where.max()}: the games are 0 to {self.num_games - 1}")
        return where

    def play_random(self, steps: int, *, observe: bool = False) -> int:
        """Play ``steps`` uniform legal decisions in every game, starting new games as they end; returns how many.

        Masks, and with ``observe`` observations, are computed for each, as a measure of the engine's speed.
        """
        masks = np.empty((self.num_games, self.num_actions), np.int8)
        seen = np.empty((self.num_games, self.layout.size if observe else 0), np.int8)
        word = play_rows(
            self.states, steps, self._word, self.start, self._legal, masks, self.switches,
            self.layout.num_seats, self.layout.max_quantity, seen,
        )  # fmt: skip
        self._word = np.uint64(word)
        return steps * self.num_games
