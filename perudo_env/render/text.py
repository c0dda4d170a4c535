"""The table as text, for one seat or with all dice open."""

from __future__ import annotations

from perudo_env.engine.actions import Bid
from perudo_env.game.game import Game
from perudo_env.game.notation import format_hand
from perudo_env.game.words import Words, words
from perudo_env.render.scene import Raises, Reveal, Scene, scene


def text(game: Game, viewer: int | None = None, *, reveal: bool = False, language: str = "en") -> str:
    """The table in some lines of text, as ``viewer`` sees it, or (None) with all dice open; see :func:`scene.scene`."""
    return text_of(scene(game, viewer, reveal=reveal), language)


def text_of(sc: Scene, language: str = "en") -> str:
    """A scene in some lines of text; ``language`` is ``en`` or ``fr``."""
    w = words(language, spelled=False)
    _ = w.gettext
    flags = [_("palifico")] * sc.palifico + [_("Calza window")] * sc.in_calza_window
    flags += [_("all dice shown")] * sc.revealed
    lines = [", ".join([_("{variant}, round {round}", variant=sc.variant, round=sc.round), *flags])]
    for seat in range(len(sc.dice)):
        marks = [_("you")] * (seat == sc.viewer) + [_("opener")] * (seat == sc.opener)
        marks += [_("to act")] * (seat == sc.seat)
        hand = _("out") if not sc.alive[seat] else _cup(sc.hands[seat], sc.dice[seat])
        arrow = ">" if seat == sc.seat else " "
        lines.append(f"{arrow} {w.seat(seat)}  {hand:<8}{', '.join(marks)}".rstrip())
    said = ", ".join(f"{seat}: {bid}" for seat, bid in sc.bids)
    lines.append(_("bids: {bids}", bids=said) if said else _("no bid yet"))
    if sc.revealed and sc.last is not None:
        lines.append(_decided(sc.last, w))
    elif sc.standing is not None:
        lines.append(_("to beat: {bid}, by seat {seat}", bid=sc.standing[1], seat=sc.standing[0]))
    if sc.seat is not None:
        least = least_raises(sc.raises) or _("nothing: the bid is as high as it may be")
        lines.append(_("least raise: {bids}", bids=least) if sc.bids else _("may open with: {bids}", bids=least))
    if sc.last is not None and not sc.revealed and not sc.bids:
        lines.append(_("last round: {what}", what=_decided(sc.last, w)))
    if sc.ranks is not None:
        places = " ".join(f"{w.seat(seat)}={place}" for seat, place in enumerate(sc.ranks))
        lines.append(_("the game is over; places: {places}", places=places))
    return "\n".join(lines)


def least_raises(raises: Raises) -> str:
    """The least bid on each face, ordinary faces first: ``6x2 6x3 4P``."""
    return " ".join(str(Bid(least, face)) for face, (least, _) in raises.items())


def _cup(hand: tuple[int, ...] | None, dice: int | None) -> str:
    """A hand that is seen, or as many question marks as there are dice under the cup; ``(?)`` where that is hidden."""
    if hand is not None:
        return format_hand(hand)
    return "(?)" if dice is None else "?" * dice


def _decided(last: Reveal, w: Words) -> str:
    _, (bidder, bid) = w.gettext, last.standing
    if last.change == 0:
        end = _("seat {seat} has all its dice", seat=last.seat)
    elif last.change < 0:
        end = _("seat {seat} loses a die", seat=last.seat)
    else:
        end = _("seat {seat} takes a die back", seat=last.seat)
    return _(
        "seat {bidder} bid {bid}, seat {caller} said {call}, the count is {count}: {end}",
        bidder=bidder, bid=bid, caller=last.caller, call=last.call, count=last.count, end=end,
    )  # fmt: skip
