"""The game for OpenSpiel: importing this module registers ``python_perudo``.

    import pyspiel, perudo_env.adapters.openspiel
    game = pyspiel.load_game("python_perudo", {"variant": "box:calza=anyone,starting_dice=3", "players": 3})

Parameters: ``variant`` (a preset, or as above), ``players`` (2 to 8; 0: as ``dice`` say, else 2), ``dice`` (unequal
starting dice per seat, like ``2,1``), ``max_rounds`` (0: no limit) and ``memory`` (``perfect`` or ``none``: whether
observations hold all dice counts where the variant hides them; information states always do). Inside the text of a game, where OpenSpiel keeps
commas and equals signs for itself, write ``;`` and ``:``: ``python_perudo(variant=box:calza:anyone;starting_dice:3,players=3)``.

Chance chooses the first opener, where the variant does, and then, each round, the sorted hand of one seat after the
other. Calza can prolong a game without end, which OpenSpiel has no room for: with Calza and no ``max_rounds``, a game is
cut off after ``CALZA_ROUNDS`` rounds for each die at the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import comb, prod
from typing import Any

import numpy as np

from perudo_env.engine.actions import ACTIONS
from perudo_env.engine.batch import check_max_rounds, starting_dice
from perudo_env.engine.clauses import IllegalActionError, action_id
from perudo_env.engine.hands import hand_weights, hands
from perudo_env.engine.observation import layout
from perudo_env.engine.state import shows_counts
from perudo_env.engine.variant import MAX_SEATS, MAX_STARTING_DICE, MIN_SEATS, Variant, parse_variant, table_size, whole
from perudo_env.game.events import Hands, faces
from perudo_env.game.game import Game

try:
    import pyspiel
except ImportError as error:
    raise ImportError("perudo_env.adapters.openspiel needs OpenSpiel: pip install open-spiel") from error

SHORT_NAME = "python_perudo"
CALZA_ROUNDS = 20  # rounds for each die at the start, after which a game with Calza is cut off by default

GAME_TYPE = pyspiel.GameType(
    short_name=SHORT_NAME,
    long_name="Perudo (Liar's Dice)",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_SEATS,
    min_num_players=MIN_SEATS,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"variant": "liars_dice", "players": 0, "dice": "", "max_rounds": 0, "memory": "perfect"},
)


@dataclass(frozen=True)
class Table:
    """What is fixed before the first chance node."""

    variant: Variant
    dice: tuple[int, ...]  # per seat at the start
    max_rounds: int | None
    memory: str = "perfect"

    @property
    def num_seats(self) -> int:
        """How many seats there are, empty ones as well."""
        return len(self.dice)

    @property
    def rounds(self) -> int:
        """The most rounds a game can have: without Calza, each takes a die off the table, and one at least stays."""
        if self.variant.rounds == "one":
            return 1
        limits = [] if self.max_rounds is None else [self.max_rounds]
        return min(limits + ([sum(self.dice) - 1] if self.variant.calza == "off" else []))

    @property
    def round_length(self) -> int:
        """The most decisions of a round: no bid is made twice; between bids, Calza may be offered; a call ends it."""
        bids = self.variant.num_faces * self.variant.max_quantity(self.num_seats)
        asked = self.num_seats - 1 if self.variant.calza == "anyone" else 0
        return bids * (1 + asked) + 1

    def info(self) -> Any:
        """OpenSpiel's ``GameInfo`` of this table."""
        v, players = self.variant, sum(d > 0 for d in self.dice)
        return pyspiel.GameInfo(
            num_distinct_actions=openings(self)[0].num_actions,
            max_chance_outcomes=max(comb(v.num_faces + v.starting_dice - 1, v.starting_dice), self.num_seats),
            num_players=self.num_seats,
            min_utility=-1.0 if v.rounds == "one" else -1.0 / (players - 1),
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.rounds * self.round_length,
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        return self


@cache
def openings(table: Table) -> tuple[Game, ...]:
    """A game at its start, all cups empty, for each seat that may open the first round, by seat."""
    living = [seat for seat, d in enumerate(table.dice) if d > 0]
    wanted = set(living[:1] if table.variant.first_player == "first_seat" else living)
    found: dict[int, Game] = {}
    seed = 0
    # the seed draws the opener, so a seed is looked for that draws each: records of these games then replay
    while len(found) < len(wanted):
        game = Game(
            table.variant, table.num_seats, seed, dice=table.dice, max_rounds=table.max_rounds, memory=table.memory
        )
        game.deal([()] * table.num_seats)
        found.setdefault(game.opener, game)
        seed += 1
    return tuple(found[seat] for seat in sorted(found))


@cache
def rolls(num_dice: int, num_faces: int) -> tuple[tuple[tuple[int, ...], float], ...]:
    """Every sorted hand of so many dice with its multinomial probability; a chance outcome is a place in this list."""
    chances = hand_weights(num_dice, num_faces).tolist()
    return tuple((faces(h), p) for h, p in zip(hands(num_dice, num_faces), chances, strict=True))


class PerudoGame(pyspiel.Game):
    """One table as an OpenSpiel game; raises ``ValueError`` for parameters that make none."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = dict(params or {})
        self.table = read_table(given)
        for key in ("variant", "dice"):
            if key in given:
                given[key] = given[key].replace(",", ";").replace("=", ":")
        given["players"] = self.table.num_seats
        super().__init__(GAME_TYPE, self.table.info(), given)

    def new_initial_state(self) -> PerudoState:
        """The start of a game: chance to act."""
        return PerudoState(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # OpenSpiel's own pickle of a Python game forgets the Python attributes
        return load, (str(self),)

    def max_chance_nodes_in_history(self) -> int:
        """The choice of the first opener, and a hand per seat and round."""
        return 1 + self.table.rounds * self.table.num_seats

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> PerudoObserver:
        """What writes observations, or information states if perfect recall is asked for."""
        return PerudoObserver(self.table, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)


def read_table(params: dict[str, Any]) -> Table:
    """The table that OpenSpiel's parameters describe; raises ``ValueError`` naming the one at fault."""
    name, colon, rest = str(params.get("variant", "liars_dice")).partition(":")
    variant = parse_variant(name + colon + rest.replace(";", ",").replace(":", "="))
    text = str(params.get("dice", ""))
    if text:
        try:
            dice = [int(word) for word in text.replace(";", ",").split(",")]
        except ValueError:
            raise ValueError(f"dice = {text!r}: give a number of dice per seat, like 2,1") from None
        if params.get("players", 0) not in (0, len(dice)):
            raise ValueError(f"players = {params['players']} contradicts dice = {text!r}, which has {len(dice)} seats")
    num_seats = table_size(len(dice) if text else params.get("players", 0) or 2)
    start = tuple(int(d) for d in starting_dice(variant, num_seats, dice if text else None))
    max_rounds = params.get("max_rounds", 0) or None
    check_max_rounds(max_rounds)
    if max_rounds is None and variant.calza != "off" and variant.rounds != "one":
        max_rounds = CALZA_ROUNDS * sum(start)
    memory = str(params.get("memory", "perfect"))
    shows_counts(variant, memory)
    return Table(variant, start, max_rounds, memory)


def load(text: str, history: Sequence[int] | None = None) -> Any:
    """The game that its text names, or its state after a history of actions: what a pickle holds."""
    game = pyspiel.load_game(text)
    if history is None:
        return game
    state = game.new_initial_state()
    for action in history:
        state.apply_action(action)
    return state


class PerudoState(pyspiel.State):
    """A point of a game: a ``Game`` whose dice chance puts under the cups, seat after seat."""

    def __init__(self, game: PerudoGame) -> None:
        super().__init__(game)
        self.table = game.table
        starts = openings(self.table)
        self.game = starts[0].copy()
        self.chooses_opener = len(starts) > 1
        self.hands: Hands = ((),) * self.table.num_seats  # of this round, as dealt so far

    def __reduce__(self) -> tuple[Any, ...]:
        return load, (str(self.get_game()), self.history())

    def _next_cup(self) -> int | None:
        """The seat whose dice chance rolls now; None when all lie."""
        return next((seat for seat, d in enumerate(self.game.dice) if len(self.hands[seat]) < d), None)

    def current_player(self) -> int:
        """The seat to act, or OpenSpiel's ids for chance and the end."""
        if self.game.is_over:
            return int(pyspiel.PlayerId.TERMINAL)
        if self.chooses_opener or self._next_cup() is not None:
            return int(pyspiel.PlayerId.CHANCE)
        assert self.game.seat is not None
        return self.game.seat

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.game.is_over

    def returns(self) -> list[float]:
        """What each seat is paid; 0 before the end."""
        return list(self.game.returns or (0.0,) * self.table.num_seats)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """(outcome, probability) pairs: seats that may open, or places in :func:`rolls`."""
        if self.chooses_opener:
            starts = openings(self.table)
            return [(start.opener, 1 / len(starts)) for start in starts]
        return [(i, p) for i, (_, p) in enumerate(self._rolls())]

    def _rolls(self) -> tuple[tuple[tuple[int, ...], float], ...]:
        cup = self._next_cup()
        assert cup is not None
        return rolls(self.game.dice[cup], self.table.variant.num_faces)

    def _legal_actions(self, player: int) -> list[int]:
        return [int(action) for action in np.flatnonzero(self.game.action_mask(player))]

    def apply_action(self, action: Any) -> None:
        """Play an action id, or an outcome of chance: a whole number of any kind.

        Raises ``IllegalActionError`` for anything else, and changes nothing; OpenSpiel by itself would play 3.7 as 3.
        """
        if self.is_chance_node():
            number = whole(action)
            if number not in dict(self.chance_outcomes()):
                raise IllegalActionError(f"{action!r} is not an outcome of this chance node: see chance_outcomes()")
        else:
            number = action_id(action, self.game.num_actions)
        super().apply_action(number)

    def _apply_action(self, action: int) -> None:
        if self.chooses_opener:
            self.game = next(start for start in openings(self.table) if start.opener == action).copy()
            self.chooses_opener = False
        elif (cup := self._next_cup()) is not None:
            self.hands = (*self.hands[:cup], self._rolls()[action][0], *self.hands[cup + 1 :])
            self.game.deal(self.hands)
        elif self.game.play(action) and not self.game.is_over:
            self.hands = ((),) * self.table.num_seats
            self.game.deal(self.hands)

    def _action_to_string(self, player: int, action: int) -> str:
        if player != pyspiel.PlayerId.CHANCE:
            return str(ACTIONS[action])
        if self.chooses_opener:
            return f"seat {action} opens"
        return f"seat {self._next_cup()} rolls {''.join(map(str, self._rolls()[action][0]))}"

    def __str__(self) -> str:
        return "the first opener is drawn" if self.chooses_opener else self.game.record()


class PerudoObserver:
    """Writes what a player may see into ``tensor`` (float32; ``dict`` has views of its parts).

    An observation is the player's seat and ``Game.observation``. With perfect recall, who is to act, all dice counts
    (every loss was public, whatever ``memory`` is) and the round are added: with the bids of the round and their bidders that is all that bears
    on the rest of the game, for dice are rolled anew each round. The hands and bids of earlier rounds are in the string alone.
    """

    def __init__(self, table: Table, iig_obs_type: Any, params: Any = None) -> None:
        if params:
            raise ValueError(f"params = {params!r}: this observer has none")
        if not iig_obs_type.public_info or iig_obs_type.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError(f"{iig_obs_type}: only public information with one player's own dice can be observed")
        self.table, self.perfect_recall = table, bool(iig_obs_type.perfect_recall)
        seats = table.num_seats
        shapes: dict[str, Sequence[int]] = {
            "player": (seats,),
            "observation": (layout(seats, table.variant.max_quantity(seats)).size,),
        }
        if self.perfect_recall:
            shapes |= {"to_act": (seats,), "dice": (seats, MAX_STARTING_DICE), "round": (1,)}
        self.tensor = np.zeros(sum(map(prod, shapes.values())), np.float32)
        ends = np.cumsum([prod(shape) for shape in shapes.values()])
        parts = np.split(self.tensor, ends[:-1])
        self.dict = {name: part.reshape(shape) for part, (name, shape) in zip(parts, shapes.items(), strict=True)}

    def set_from(self, state: PerudoState, player: int) -> None:
        """Write what ``player`` sees; ``to_act`` and ``dice`` are by relative seat, ``round`` is its share of the most rounds."""
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        if state.chooses_opener:
            return
        game, seats = state.game, self.table.num_seats
        self.dict["observation"][:] = game.observation(player)
        if not self.perfect_recall:
            return
        if state.current_player() >= 0:
            self.dict["to_act"][(state.current_player() - player) % seats] = 1
        for seat, dice in enumerate(game.dice):
            self.dict["dice"][(seat - player) % seats, :dice] = 1
        self.dict["round"][0] = game.round / self.table.rounds

    def string_from(self, state: PerudoState, player: int) -> str:
        """``Game.infostate_key``, which forgets nothing, or without perfect recall the seat's view of this round.

        The view holds the dice counts that the observation holds.
        """
        if state.chooses_opener:
            return f"seat={player} before the first round"
        game = state.game
        if self.perfect_recall:
            return game.infostate_key(player)
        view = game.view(player)
        known = shows_counts(self.table.variant, self.table.memory)
        return repr(replace(view, dice=game.dice) if known else view)


pyspiel.register_game(GAME_TYPE, PerudoGame)
