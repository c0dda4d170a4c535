"""The table as text, for one seat or with all dice open."""

from __future__ import annotations

from collections.abc import Callable

from perudo_env.engine.actions import Bid
from perudo_env.game.clauses import LANGUAGES
from perudo_env.game.game import Game
from perudo_env.game.notation import format_hand
from perudo_env.render.scene import Raises, Reveal, Scene, scene

# {..}: what a line is about; pairs of English and French
_WORDS: dict[str, tuple[str, str]] = {
    "head": ("{variant}, round {round}", "{variant}, manche {round}"),
    "palifico": ("palifico", "palifico"),
    "window": ("Calza window", "Calza ?"),
    "revealed": ("all dice shown", "tous les dés montrés"),
    "seat": ("seat {}", "place {}"),
    "out": ("out", "éliminé"),
    "turn": ("to act", "à jouer"),
    "opener": ("opener", "ouvre"),
    "you": ("you", "vous"),
    "bids": ("bids", "enchères"),
    "no bid": ("no bid yet", "pas encore d'enchère"),
    "standing": ("to beat: {bid}, by seat {seat}", "à battre : {bid}, de la place {seat}"),
    "least": ("least raise", "au moins"),
    "least opening": ("may open with", "on peut ouvrir avec"),
    "nothing": ("nothing: the bid is as high as it may be", "rien : l'enchère est au plus haut"),
    "last": ("last round: {}", "manche précédente : {}"),
    "reveal": (
        "seat {bidder} bid {bid}, seat {caller} said {call}, the count is {count}: {end}",
        "place {bidder} a annoncé {bid}, place {caller} a dit {call}, le compte est {count} : {end}",
    ),
    "-1": ("seat {} loses a die", "la place {} perd un dé"),
    "0": ("seat {} has all its dice", "la place {} a tous ses dés"),
    "1": ("seat {} takes a die back", "la place {} reprend un dé"),
    "ranks": ("the game is over; places: {}", "la partie est finie ; classement : {}"),
}


def text(game: Game, viewer: int | None = None, *, reveal: bool = False, language: str = "en") -> str:
    """The table in some lines of text, as ``viewer`` sees it, or (None) with all dice open; see :func:`scene.scene`."""
    return text_of(scene(game, viewer, reveal=reveal), language)


def text_of(sc: Scene, language: str = "en") -> str:
    """A scene in some lines of text; ``language`` is ``en`` or ``fr``."""

    def say(key: str, *args: object, **kwargs: object) -> str:
        return _WORDS[key][LANGUAGES.index(language)].format(*args, **kwargs)

    flags = [say("palifico")] * sc.palifico + [say("window")] * sc.in_calza_window + [say("revealed")] * sc.revealed
    lines = [", ".join([say("head", variant=sc.variant, round=sc.round), *flags])]
    for seat in range(len(sc.dice)):
        marks = (
            [say("you")] * (seat == sc.viewer)
            + [say("opener")] * (seat == sc.opener)
            + [say("turn")] * (seat == sc.seat)
        )
        hand = say("out") if not sc.alive[seat] else _cup(sc.hands[seat], sc.dice[seat])
        arrow = ">" if seat == sc.seat else " "
        lines.append(f"{arrow} {say('seat', seat)}  {hand:<8}{', '.join(marks)}".rstrip())
    said = ", ".join(f"{seat}: {bid}" for seat, bid in sc.bids)
    lines.append(f"{say('bids')}: {said}" if said else say("no bid"))
    if sc.revealed and sc.last is not None:
        lines.append(_decided(sc.last, say))
    elif sc.standing is not None:
        lines.append(say("standing", bid=sc.standing[1], seat=sc.standing[0]))
    if sc.seat is not None:
        lines.append(f"{say('least' if sc.bids else 'least opening')}: {least_raises(sc.raises) or say('nothing')}")
    if sc.last is not None and not sc.revealed and not sc.bids:
        lines.append(say("last", _decided(sc.last, say)))
    if sc.ranks is not None:
        lines.append(say("ranks", " ".join(f"{say('seat', seat)}={place}" for seat, place in enumerate(sc.ranks))))
    return "\n".join(lines)


def least_raises(raises: Raises) -> str:
    """The least bid on each face, ordinary faces first: ``6x2 6x3 4P``."""
    faces = sorted(raises, key=lambda face: (face == 1, face))
    return " ".join(str(Bid(raises[face][0], face)) for face in faces)


def _cup(hand: tuple[int, ...] | None, dice: int | None) -> str:
    """A hand that is seen, or as many question marks as there are dice under the cup; ``(?)`` where that is hidden."""
    if hand is not None:
        return format_hand(hand)
    return "(?)" if dice is None else "?" * dice


def _decided(last: Reveal, say: Callable[..., str]) -> str:
    bidder, bid = last.standing
    end = say(str(last.change), last.seat)
    return say("reveal", bidder=bidder, bid=bid, caller=last.caller, call=last.call, count=last.count, end=end)
