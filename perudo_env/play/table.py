"""A table of people and agents at one game: who is awaited, what is done, what each may be told.

The terminal and the browser only show and ask. They see a seat through ``scene(table.game, seat)`` and
``table.game.view(seat)``, never another seat's dice before the reveal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from perudo_env.engine.actions import ACTIONS, CALZA, PASS, Action
from perudo_env.engine.clauses import IllegalActionError
from perudo_env.engine.variant import Variant, as_variant
from perudo_env.game.asking import Place, ask, ask_probs, seen_by
from perudo_env.game.events import CalzaSaid, Event
from perudo_env.game.game import Game
from perudo_env.play.names import tidy
from perudo_env.policy import Policy
from perudo_env.rulebook.chances import Chance, chance
from perudo_env.rulebook.fairness import Secret

MakePolicy = Callable[[str, Variant, int], Policy]
"""Makes the agent of a name for a variant and a number of seats; raises ``ValueError`` for a name it does not know."""


@dataclass(frozen=True)
class Player:
    """Who sits at a seat: a person, or the agent named ``agent``."""

    name: str
    agent: str | None = None


def may_choose_seed(players: Sequence[Player]) -> bool:
    """Whether the seed of a game may be chosen: it tells all dice, so that one person at most may play."""
    return sum(player.agent is None for player in players) <= 1


class NotYourTurnError(IllegalActionError):
    """This seat is not asked for anything now; the message says who is."""


class UnseatedError(ValueError):
    """The agent named ``agent`` cannot sit at this table; the message says why."""

    def __init__(self, agent: str, why: str) -> None:
        super().__init__(why)
        self.agent = agent


@dataclass(frozen=True)
class Hint:
    """Help for a seat: the chance of the standing bid given own dice, and what an agent would do."""

    standing: Chance | None  # None before the opening bid
    choices: tuple[tuple[Action, float], ...]  # what the agent does with which probability, likeliest first


@dataclass
class Table:
    """One game between ``players``, one per seat in turn order; agents are made by ``make``.

    ``seed`` fixes all dice and what agents draw; None draws one. Raises ``ValueError`` for a table that cannot be.
    """

    variant: Variant | str
    players: Sequence[Player]
    make: MakePolicy | None = None
    seed: int | None = None
    max_rounds: int | None = None
    game: Game = field(init=False)
    secret: Secret = field(init=False, repr=False)
    seed_chosen: bool | None = field(
        init=False
    )  # False: drawn at random; None: not known, of a table kept before it was noted

    def __post_init__(self) -> None:
        self.variant = as_variant(self.variant)
        self.players = tuple(self.players)
        self.secret, self.seed_chosen = Secret.new(self.seed), self.seed is not None
        self.game = Game(self.variant, len(self.players), self.secret.seed, max_rounds=self.max_rounds)
        self._made: dict[str, Policy] = {}
        for player in self.players:
            if player.agent is not None:
                self.policy(player.agent)
        self._rng = np.random.default_rng([self.secret.seed, len(self.players)])
        self._answers: dict[int, Action] = {}  # given in a Calza window by seats that are not asked yet

    def policy(self, agent: str) -> Policy:
        """The agent of a name, for this table, made once; raises ``UnseatedError`` for one that does not play here."""
        if agent not in self._made:
            if self.make is None:
                raise UnseatedError(
                    agent, f"agent {agent!r} cannot sit here: this table was given nothing that makes agents"
                )
            assert isinstance(self.variant, Variant)
            try:
                self._made[agent] = self.make(agent, self.variant, len(self.players))
            except ValueError as error:
                raise UnseatedError(agent, str(error)) from error
        return self._made[agent]

    def again(self) -> Table:
        """A new game of the same players by the same rules, with new dice."""
        return Table(self.variant, self.players, self.make, max_rounds=self.max_rounds)

    # ------------------------------------------------------------------------------------------ whose turn it is

    def is_person(self, seat: int) -> bool:
        """Whether a person sits there."""
        return self.players[seat].agent is None

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.game.is_over

    @property
    def agent_seat(self) -> int | None:
        """The seat to act, if an agent sits there: call :meth:`play_agent`; None: a person is awaited, or it is over."""
        seat = self.game.seat
        return None if seat is None or self.is_person(seat) else seat

    @property
    def asked(self) -> tuple[int, ...]:
        """The seats that the open Calza window still asks, in the order in which they are heard; empty outside one."""
        game, seats = self.game.copy(), []
        while game.in_calza_window and game.seat is not None:
            seats.append(game.seat)
            game.act(PASS)
        return tuple(seats)

    @property
    def waiting_for(self) -> tuple[int, ...]:
        """The people who may act now: one of them, or in a Calza window all who have not answered."""
        if self.game.in_calza_window:
            return tuple(s for s in self.asked if self.is_person(s) and s not in self._answers)
        seat = self.game.seat
        return () if seat is None or not self.is_person(seat) else (seat,)

    def rename(self, seat: int, name: str) -> None:
        """Give the player of a seat another name."""
        players = list(self.players)
        players[seat] = replace(players[seat], name=name)
        self.players = tuple(players)

    def answer(self, seat: int) -> Action | None:
        """What ``seat`` has answered ahead of its turn in the open Calza window."""
        return self._answers.get(seat)

    # ------------------------------------------------------------------------------------------ acting

    def act(self, seat: int, action: Any) -> list[Event]:
        """Play an action of a person: a Bid, a call, text or an id; returns what happened.

        In a Calza window people answer in any order and are heard in turn order: an early answer waits, and nothing
        happens yet. Raises ``NotYourTurnError``, or ``IllegalActionError`` with the clause; both change nothing.
        """
        if seat not in self.waiting_for:
            raise NotYourTurnError(self._whose_turn(seat))
        if seat == self.game.seat:
            return self.game.act(action) + self._hear()
        said = self._asking(seat).act(action)[0]
        self._answers[seat] = CALZA if isinstance(said, CalzaSaid) else PASS
        return self._hear()

    def why_illegal(self, seat: int, action: Any, language: str = "en") -> str | None:
        """None if ``seat``, which is awaited, may do this now, else the clause against it, in English or French."""
        return self._asking(seat).why_illegal(action, language)

    def close_window(self) -> list[Event]:
        """End an open Calza window: people who have not answered pass. Agents still asked are yet to be played."""
        for seat in self.waiting_for:
            self._answers[seat] = PASS
        return self._hear()

    def decision(self) -> Callable[[], Action]:
        """What the agent to act is asked, as a call that may run in another thread; give its result to :meth:`play_agent`.

        Nothing but that moves the game on meanwhile. Raises ``ValueError`` if it is not an agent's turn.
        """
        seat = self.agent_seat
        if seat is None:
            raise ValueError("no agent is to act")
        agent = self.players[seat].agent
        assert agent is not None
        policy, rows = self.policy(agent), _rows(self.game, seat)
        # without its hand: people at the table may read it
        where = (
            f"round {self.game.round}, seat {seat}, after {' '.join(str(bid) for _, bid in self.game.bids) or 'no bid'}"
        )
        return lambda: ACTIONS[int(ask(policy, *rows, self._rng, lambda _: where)[0])]

    def play_agent(self, action: Action | None = None) -> list[Event]:
        """Let the agent to act play one action, its own or what :meth:`decision` gave; returns what happened."""
        decision = self.decision()
        return self.game.act(decision() if action is None else action) + self._hear()

    def play_agents(self) -> list[Event]:
        """Let agents play until a person is awaited or the game is over."""
        events: list[Event] = []
        while self.agent_seat is not None:
            events += self.play_agent()
        return events

    def _hear(self) -> list[Event]:
        """Play the answers that wait for their turn."""
        events: list[Event] = []
        while self.game.in_calza_window and self.game.seat in self._answers:
            events += self.game.act(self._answers.pop(self.game.seat))
        if not self.game.in_calza_window:
            self._answers.clear()
        return events

    def _asking(self, seat: int) -> Game:
        """The game when it asks ``seat``: now, or in the open Calza window once those before it have passed."""
        if seat == self.game.seat or not self.game.in_calza_window:
            return self.game
        game = self.game.copy()
        while game.in_calza_window and game.seat != seat:
            game.act(PASS)
        return game

    def _whose_turn(self, seat: int) -> str:
        if self.is_over:
            return "the game is over"
        names = ", ".join(self.players[s].name for s in self.waiting_for or (self.game.seat or 0,))
        return f"it is not the turn of {self.players[seat].name}: {names} is to act"

    # ------------------------------------------------------------------------------------------ help and proof

    def advice(self, seat: int, agent: str) -> Callable[[], Hint]:
        """What :meth:`hint` tells, as a call that may run in another thread."""
        bid, awaited = self.game.standing_bid, seat in self.waiting_for
        standing = None if bid is None else chance(self.game, seat, bid)
        game = self._asking(seat).copy()
        rows, where = _rows(game, seat), seen_by(game, seat)

        def advise() -> Hint:
            return Hint(standing, likeliest(self.policy(agent), *rows, where) if awaited else ())

        return advise

    def hint(self, seat: int, agent: str) -> Hint:
        """Help for ``seat``: the chance of the standing bid, and, if the seat is awaited, what ``agent`` would do."""
        return self.advice(seat, agent)()

    @property
    def commitment(self) -> str:
        """The SHA-256 digest that promises the dice, to be shown before the game; see ``perudo_env.rulebook.fairness``."""
        return self.secret.commitment

    def saved(self) -> dict[str, Any]:
        """The finished game as plain data: record, names, and seed and salt as proof; raises ``ValueError`` before its end."""
        if not self.is_over:
            raise ValueError("the game is not over: its record shows all dice")
        return self.state()

    def state(self) -> dict[str, Any]:
        """The game as it stands as plain data, all dice in it, for :meth:`resumed`; answers ahead of their turn are not kept."""
        return {
            "record": self.game.record(),
            "players": [{"name": p.name, "agent": p.agent} for p in self.players],
            "commitment": self.commitment,
            "seed": str(self.secret.seed),  # as text: beyond what JavaScript's numbers hold
            "salt": self.secret.salt,
            "seed_chosen": self.seed_chosen,
        }

    @classmethod
    def resumed(cls, state: Mapping[str, Any], make: MakePolicy | None = None) -> Table:
        """The table of a :meth:`state`; raises ``ValueError`` or ``KeyError`` for data that are none."""
        game, seed = Game.replay(state["record"]), int(state["seed"])
        players = [Player(tidy(p["name"]), p["agent"]) for p in state["players"]]
        if len(players) != game.num_seats:
            raise ValueError(f"{len(players)} players and hands of {game.num_seats}: each seat needs both")
        table = cls(game.variant, players, make, seed)
        table.game, table.secret = game, Secret(seed, state["salt"])
        table.seed_chosen = state.get("seed_chosen")
        return table


def _rows(game: Game, seat: int) -> tuple[np.ndarray, np.ndarray]:
    """What a policy is given: a batch of one observation and one mask."""
    return game.observation(seat)[None], game.action_mask(seat)[None]


def likeliest(
    policy: Policy, observations: np.ndarray, masks: np.ndarray, position: Place | None = None
) -> tuple[tuple[Action, float], ...]:
    """What a policy does with a batch of one, with probabilities, likeliest first; empty for an agent that states none."""
    try:
        probs = ask_probs(policy, observations, masks, position)[0]
    except NotImplementedError:
        return ()
    return tuple((ACTIONS[a], float(probs[a])) for a in np.argsort(-probs, kind="stable") if probs[a] > 0)
