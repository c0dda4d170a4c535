"""The bar of bids and calls: what may be done now, and for all that may not, the clause against it, as the engine says it."""

from __future__ import annotations

from dataclasses import dataclass

from perudo_env.engine.actions import CALZA, DUDO, PACO, Action, Bid
from perudo_env.game.words import Words
from perudo_env.play.names import isolated
from perudo_env.play.web.rooms import Room, Stage
from perudo_env.render.scene import Scene


@dataclass(frozen=True)
class FaceOffered:
    """One face: the quantities that may be bid on it, or why none may; and why no fewer and no more."""

    face: int
    least: int = 0
    most: int = 0
    off: str = ""
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class Bar:
    """What the bar offers to a screen. Each ``off`` is empty where the thing may be done."""

    faces: tuple[FaceOffered, ...]
    least: Bid | None  # the least raise
    no_bid: str
    no_dudo: str
    no_calza: str | None  # None: these rules know no Calza

    @property
    def most(self) -> int:
        """The largest quantity that may be bid on any face; 0: none may."""
        return max(f.most for f in self.faces)


def bar(room: Room, sc: Scene, is_your_turn: bool, texts: Words) -> Bar:
    """The bar of a screen whose turn it is, or not."""
    variant = room.table.game.variant
    faces = (*range(2, variant.num_faces + 1), PACO)
    if not is_your_turn:
        off = _not_now(room, texts)
        return Bar(
            tuple(FaceOffered(f, off=off) for f in faces), None, off, off, None if variant.calza == "off" else off
        )

    def against(action: Action) -> str:
        return room.table.game.why_illegal(action, texts.language) or ""

    offered = tuple(_offered(room, sc, face, texts.language) for face in faces)
    allowed = [f for f in offered if not f.off]
    first = min(allowed, key=lambda f: (f.face == PACO, f.least, f.face), default=None)
    return Bar(
        offered,
        None if first is None else Bid(first.least, first.face),
        "" if allowed else texts.gettext("No higher bid is possible."),
        against(DUDO),
        None if variant.calza == "off" else against(CALZA),
    )


def _offered(room: Room, sc: Scene, face: int, language: str) -> FaceOffered:
    def against(quantity: int) -> str:
        return room.table.game.why_illegal(Bid(quantity, face), language) or ""

    if face not in sc.raises:
        return FaceOffered(face, off=against(sc.standing[1].quantity + 1 if sc.standing else 1))
    least, most = sc.raises[face]
    return FaceOffered(face, least, most, low=against(least - 1) if least > 1 else "", high=against(most + 1))


def _not_now(room: Room, texts: Words) -> str:
    """Why somebody whose turn it is not may bid nothing."""
    _ = texts.gettext
    seat = room.table.game.seat
    if room.stage is Stage.REVEAL:
        return _("The dice of the last round lie open: wait for the next one.")
    if room.stage is not Stage.PLAY or seat is None:
        return _("Nobody is to act now.")
    if room.table.game.in_calza_window:
        return _("Before the next bid, anybody may say Calza.")
    return _("It is not your turn: {name} is to act.", name=isolated(room.table.players[seat].name))
