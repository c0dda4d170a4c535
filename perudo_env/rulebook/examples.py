"""The worked examples of the rulebook: positions, an action, and what must come of it; the engine is asked each time.

What an example expects is written down here by hand, not taken from the engine: :func:`check` compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perudo_env.engine.actions import PASS
from perudo_env.engine.variant import Variant
from perudo_env.game.events import DieLost, DieRegained, Event, GameOver, Revealed, RoundStarted
from perudo_env.game.game import Game


class RulebookError(AssertionError):
    """An example of the rulebook and the engine disagree; the message names the position, the action and both."""


@dataclass(frozen=True)
class Outcome:
    """How a Dudo or a Calza ends; None where an example makes no claim."""

    count: int  # matching dice on the whole table
    seat: int | None = None  # whose dice are at stake
    change: int = -1  # -1 a die lost, 0 nothing, +1 a die taken back
    opener: int | None = None  # of the next round
    palifico: bool | None = None  # whether the next round is palifico
    over: bool | None = None  # whether the game ends


@dataclass(frozen=True)
class Sight:
    """The dice counts that ``viewer`` sees, by seat; None for one it does not see."""

    viewer: int
    dice: tuple[int | None, ...]


@dataclass(frozen=True)
class Example:
    """A position as text, an action in it (none for a Sight), and what to expect: legal or not, an Outcome, a Sight."""

    position: str
    action: str
    expect: bool | Outcome | Sight


def check(example: Example) -> None:
    """Ask the engine; raises ``RulebookError`` unless it agrees with the example."""
    game = Game.from_position(example.position)
    found: object
    if isinstance(example.expect, Sight):
        found = Sight(example.expect.viewer, game.view(example.expect.viewer).dice)
    elif isinstance(example.expect, Outcome):
        found = _claimed(example.expect, outcome(game, example.action))
    else:
        found = game.why_illegal(example.action) is None
    if found != example.expect:
        raise RulebookError(
            f"{example.position}: {example.action or 'the view'} should be {example.expect}, the engine says {found}"
        )


def outcome(game: Game, action: str) -> Outcome:
    """What the engine makes of a legal Dudo or Calza that ends the round; ``game`` is left alone."""
    caller = game.seat
    events = game.copy().act(action)

    def only(kind: type) -> Event | None:
        return next((e for e in events if isinstance(e, kind)), None)

    revealed, lost, regained, started = only(Revealed), only(DieLost), only(DieRegained), only(RoundStarted)
    assert isinstance(revealed, Revealed)
    moved = lost or regained
    return Outcome(
        count=revealed.count,
        seat=moved.seat if isinstance(moved, DieLost | DieRegained) else caller,
        change=-1 if lost else int(regained is not None),
        opener=started.opener if isinstance(started, RoundStarted) else None,
        palifico=started.palifico if isinstance(started, RoundStarted) else None,
        over=only(GameOver) is not None,
    )


def _claimed(expected: Outcome, found: Outcome) -> Outcome:
    """The outcome found, without what the example makes no claim about."""
    return Outcome(**{k: None if v is None else getattr(found, k) for k, v in vars(expected).items()})  # type: ignore[arg-type]


def _position(
    v: Variant,
    hands: str,
    bids: str = "",
    *,
    palifico: bool = False,
    spent: Sequence[int] = (),
    window: bool = False,
) -> str:
    """A position of ``v`` as text, every Calza window passed but, with ``window``, the last."""
    dealt = [tuple(map(int, hand)) for hand in hands.split("/")]
    game = Game.from_hands(v, dealt, palifico=palifico, palifico_spent=spent)
    words = bids.split()
    for i, bid in enumerate(words):
        game.act(bid)
        while game.in_calza_window and not (window and i == len(words) - 1):
            game.act(PASS)
    return game.position


def _table(v: Variant, least_dice: int = 8) -> str:
    """The hands of a full table of three seats, or of as many as it takes for ``least_dice``."""
    seats = max(3, -(-least_dice // v.starting_dice))
    faces = "223441356623456124551123663345"
    return "/".join(
        "".join(
            sorted(str((int(faces[(5 * s + d) % len(faces)]) - 1) % v.num_faces + 1) for d in range(v.starting_dice))
        )
        for s in range(seats)
    )


def _verdicts(v: Variant, position: str, legal: str = "", illegal: str = "") -> list[Example]:
    """Examples from lists of actions; those on faces that the dice of ``v`` do not have are left out."""
    pairs = [(w, True) for w in legal.split()] + [(w, False) for w in illegal.split()]
    return [Example(position, w, expect) for w, expect in pairs if "x" not in w or int(w[-1]) <= v.num_faces]


def _calls(v: Variant) -> list[Example]:
    return _verdicts(v, _position(v, _table(v)), "1x2 3x2", "dudo")


def _dudo(v: Variant) -> list[Example]:
    found = [Example(_position(v, "2/2/2", "3x2"), "dudo", Outcome(3, seat=1))]
    if v.num_faces > 2:
        found.append(Example(_position(v, "2/3/2", "3x2"), "dudo", Outcome(2, seat=0)))
    return found


def _opener(v: Variant) -> list[Example]:
    if v.rounds == "one":
        return []
    found = [Example(_position(v, "2/2/2", "3x2"), "dudo", Outcome(3, seat=1, opener=2))]
    if v.starting_dice > 1:
        found.append(Example(_position(v, "2/22/2", "3x2"), "dudo", Outcome(4, seat=1, opener=1)))
    return found


def _raise_rule(v: Variant) -> list[Example]:
    if v.num_faces < 3:
        return _verdicts(v, _position(v, _table(v), "3x2"), "4x2 5x2", "3x2 2x2")
    legal, illegal = {
        "one_axis": ("5x3 3x4 3x6", "4x4 4x2 3x2 2x6"),
        "monotone": ("5x3 3x5 5x5", "4x2 3x2 2x6 3x3"),
        "quantity_any_face": ("5x3 3x5 4x2 5x5", "3x2 2x6 3x3"),
    }[v.raise_rule]
    return _verdicts(v, _position(v, _table(v), "3x3"), legal, illegal)


def _paco_bids(v: Variant) -> list[Example]:
    table = _table(v)
    if v.paco_bids == "halved":
        found = _verdicts(v, _position(v, table, "5x2"), "3P 4P", "2P")
        return found + _verdicts(v, _position(v, table, "5x2 3P"), "7x2 7x6 4P", "6x6 3P")
    any_face = v.raise_rule == "quantity_any_face"
    if v.paco_bids == "top_face":
        found = _verdicts(v, _position(v, table, "3x2"), "3P", "2P")
        after = _position(v, table, "3x2 3P")
        return found + _verdicts(v, after, "4P 4x2" if any_face else "4P", "3x6" if any_face else "3x6 4x2")
    found = _verdicts(v, _position(v, table, "3x2"), "4P" if any_face else "", "3P" if any_face else "3P 4P")
    if v.paco_open == "always":
        found += _verdicts(v, _position(v, table, "3P"), "3x2 4P", "3P")
    return found


def _paco_open(v: Variant) -> list[Example]:
    opening = _position(v, _table(v))
    if v.paco_open == "always":
        return _verdicts(v, opening, "1P 2P 1x2")
    found = _verdicts(v, opening, "1x2", "1P 2P")
    if v.palifico != "off":
        found += _verdicts(v, _position(v, "2/2/2", palifico=True), "1P")
    return found


def _palifico(v: Variant) -> list[Example]:
    drops = v.starting_dice > 1 and v.rounds != "one"
    found = []
    if drops:
        expect = Outcome(4, seat=1, opener=1, palifico=v.palifico != "off")
        found.append(Example(_position(v, "2/22/2", "4x2"), "dudo", expect))
    if drops and v.palifico == "once":
        expect = Outcome(4, seat=1, opener=1, palifico=False)
        found.append(Example(_position(v, "2/22/2", "4x2", spent=[1]), "dudo", expect))
    if v.palifico != "off":
        found += _verdicts(v, _position(v, "2/2/2", "1x2", palifico=True), "2x2 3x2", "1x3 2x3 1P 2P 1x2")
        found.append(Example(_position(v, "2/1/2", "3x2", palifico=True), "dudo", Outcome(2, seat=0)))
    return found


def _calza(v: Variant) -> list[Example]:
    if v.calza == "off":
        return _verdicts(v, _position(v, _table(v), "3x2"), "dudo", "calza pass")
    found = _verdicts(v, _position(v, _table(v)), "", "calza")
    if v.calza == "on_turn":
        found += _verdicts(v, _position(v, _table(v), "3x2"), "calza dudo 4x2", "pass")
    else:
        found += _verdicts(v, _position(v, _table(v), "3x2", window=True), "calza pass", "dudo 4x2")
        found += _verdicts(v, _position(v, _table(v), "3x2"), "dudo 4x2", "calza pass")
    full = "2" * v.starting_dice
    found.append(Example(_position(v, f"2/{full}/2", "1x2", window=True), "calza", Outcome(len(full) + 2, seat=1)))
    held = _position(v, f"2/{full}/2", f"{len(full) + 2}x2", window=True)
    found.append(Example(held, "calza", Outcome(len(full) + 2, seat=1, change=0)))
    if v.starting_dice > 1:
        opener = None if v.rounds == "one" else 1
        expect = Outcome(3, seat=1, change=1, opener=opener)
        found.append(Example(_position(v, "2/2/2", "3x2", window=True), "calza", expect))
    return found


def _max_bid(v: Variant) -> list[Example]:
    # the rule bites where dice are gone: fourteen of fifteen where there are five a seat
    hands = _table(v, 0).split("/")
    hands[0] = hands[0][1:] or hands[0]
    total, left = 3 * v.starting_dice, sum(map(len, hands))
    most = {"dice_in_play": left, "starting_dice": total, "unbounded": 2 * total + 1}[v.max_bid]
    position = _position(v, "/".join(hands))
    return _verdicts(v, position, f"{most}x2", f"{most + 1}x2")


def _dice_counts(v: Variant) -> list[Example]:
    hands = _table(v, 0)
    own = v.starting_dice
    others = None if v.dice_counts == "hidden" else own
    return [Example(_position(v, hands), "", Sight(0, (own, others, others)))]


def _pacos_wild(v: Variant) -> list[Example]:
    expect = Outcome(3, seat=1) if v.pacos_wild else Outcome(2, seat=0)
    found = [Example(_position(v, "1/2/2", "3x2"), "dudo", expect)]
    if v.paco_bids != "low_face":
        found.append(Example(_position(v, "1/2/2", "2x2 2P"), "dudo", Outcome(1, seat=1)))
    return found


def _rounds(v: Variant) -> list[Example]:
    one = v.rounds == "one"
    return [
        Example(_position(v, "2/2/2", "3x2"), "dudo", Outcome(3, seat=1, over=one)),
        Example(_position(v, "2/2", "2x2"), "dudo", Outcome(2, seat=1, over=True)),
    ]


def _num_faces(v: Variant) -> list[Example]:
    found = [Example(_position(v, _table(v)), f"1x{v.num_faces}", True)]
    if v.num_faces < 6:
        found.append(Example(found[0].position, f"1x{v.num_faces + 1}", False))
    return found


_EXAMPLES: dict[str, Callable[[Variant], list[Example]]] = {
    "calls": _calls,
    "dudo": _dudo,
    "opener": _opener,
    "num_faces": _num_faces,
    "raise_rule": _raise_rule,
    "paco_bids": _paco_bids,
    "paco_open": _paco_open,
    "pacos_wild": _pacos_wild,
    "palifico": _palifico,
    "calza": _calza,
    "max_bid": _max_bid,
    "dice_counts": _dice_counts,
    "rounds": _rounds,
}


def examples(variant: Variant, key: str) -> tuple[Example, ...]:
    """The examples of a clause (a switch, or ``calls``, ``dudo``, ``opener``) under ``variant``; none for some clauses."""
    return tuple(_EXAMPLES[key](variant)) if key in _EXAMPLES else ()
