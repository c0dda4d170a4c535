"""A scene as a picture: a round table with cups, dice, bids and the names of the seats."""

from __future__ import annotations

from math import cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perudo_env.game.files import writing
from perudo_env.game.game import Game
from perudo_env.render.scene import Scene, scene
from perudo_env.render.sprites import (
    AMBER,
    CENTER,
    CREAM,
    INK,
    MIST,
    RED,
    bubble,
    cup,
    die,
    halo,
    lay,
    plate,
    table,
    words,
)

LOSS, GAIN = (226, 92, 82), (128, 204, 132)


def picture(game: Game, viewer: int | None = None, *, reveal: bool = False) -> npt.NDArray[np.uint8]:
    """The table as an RGB picture, uint8 ``(480, 640, 3)``, as ``viewer`` sees it or (None) with all dice open."""
    return np.array(draw(scene(game, viewer, reveal=reveal)))


def write_png(path: Path | str, sc: Scene) -> None:
    """Write the picture of a scene as a PNG file, whole or not at all."""
    with writing(path) as file:
        draw(sc).save(file, format="png")


def _place(seat: int, sc: Scene, rx: float, ry: float) -> tuple[float, float]:
    """Where a seat sits: the viewer (or seat 0) at the bottom, the others clockwise as seen from above."""
    num_seats = len(sc.dice)
    angle = 2 * pi * ((seat - (sc.viewer or 0)) % num_seats) / num_seats
    return CENTER[0] - rx * sin(angle), CENTER[1] + ry * cos(angle)


def draw(sc: Scene) -> Any:
    """The picture of a scene, 640 x 480, RGB."""
    frame = table().copy()
    _paste_left(frame, f"{sc.variant.name} - round {sc.round}", 14, 18)
    if sc.seat is not None:
        x, y = _place(sc.seat, sc, 232, 146)
        lay(frame, halo(), x, y)
    for seat in range(len(sc.dice)):
        _draw_seat(frame, sc, seat)
    latest = dict(sc.bids)
    for seat, bid in latest.items():
        is_standing = sc.standing is not None and sc.standing[0] == seat
        lay(frame, bubble(bid.quantity, bid.face, is_standing), *_place(seat, sc, 134, 75))
    _draw_middle(frame, sc)
    return frame


def _paste_left(frame: Any, text: str, x: float, y: float) -> None:
    """A small line of text that begins at x."""
    sprite = words(text, 11, MIST)
    lay(frame, sprite, x + sprite.width / 2, y)


def _draw_seat(frame: Any, sc: Scene, seat: int) -> None:
    x, y = _place(seat, sc, 232, 146)
    hand, at_bottom = sc.hands[seat], seat == (sc.viewer or 0)
    if not sc.alive[seat]:
        lay(frame, words("out", 13, (120, 150, 138)), x, y - 8)
    elif hand is None:
        lay(frame, cup(), x, y - 14)
        count = sc.dice[seat]
        lay(frame, words("?" if count is None else str(count), 17, CREAM), x, y - 10)
    else:
        _draw_hand(frame, sc, hand, x, y - 10, at_bottom)
    fill, ink, opacity = (20, 34, 32), CREAM, 0.82
    if seat == sc.seat:
        fill, ink, opacity = AMBER, INK, 1.0
    elif not sc.alive[seat]:
        ink = (140, 150, 146)
    last = sc.last if sc.revealed else None
    lay(frame, plate(f"seat {seat}", fill, ink, 12, opacity), x, y + 30)
    if last is not None and last.seat == seat:
        lay(
            frame,
            plate(f"{last.change:+d}" if last.change else "0", GAIN if last.change > 0 else LOSS, INK, 12),
            x + 52,
            y + 30,
        )


def _draw_hand(frame: Any, sc: Scene, hand: tuple[int, ...], x: float, y: float, at_bottom: bool) -> None:
    """Open dice: the viewer's in one row, the others' in two; at a reveal those that count are marked."""
    size, per_row = (31, 6) if at_bottom else (22, 3)
    step = size + 5
    rows = [hand[i : i + per_row] for i in range(0, len(hand), per_row)]
    hits = sc.matching if sc.revealed and sc.last else None
    for r, row in enumerate(rows):
        for d, face in enumerate(row):
            style = "" if hits is None else "hit" if face in hits else "miss"
            dx, dy = (d - (len(row) - 1) / 2) * step, (r - (len(rows) - 1) / 2) * step
            lay(frame, die(face, size, style), x + dx, y + dy)


def _draw_middle(frame: Any, sc: Scene) -> None:
    """The standing bid and its author, or who opens; flags below."""
    x, y = CENTER
    if sc.standing is None:
        lay(frame, words(f"seat {sc.opener} opens", 20, CREAM), x, y - 6)
        if sc.last is not None:
            last = sc.last
            lay(
                frame,
                words(f"{last.call}: {last.count} found, seat {last.seat} {last.change:+d}", 11, MIST),
                x,
                y + 24,
            )
    else:
        bidder, bid = sc.standing
        number = words(f"{bid.quantity}x", 40, CREAM)
        width = number.width + 8 + 50
        lay(frame, number, x - width / 2 + number.width / 2, y + 2)
        lay(frame, die(bid.face, 50), x + width / 2 - 25, y + 2)
        lay(frame, words(f"seat {bidder} bids", 12, MIST), x, y - 38)
    line = _flags(sc)
    if line:
        lay(
            frame,
            plate(line, AMBER if sc.revealed else RED, INK if sc.revealed else CREAM, 12),
            x,
            y + 47,
        )


def _flags(sc: Scene) -> str:
    if sc.ranks is not None and 1 in sc.ranks:
        winners = [str(seat) for seat, rank in enumerate(sc.ranks) if rank == 1]
        found = f", {sc.last.count} found" if sc.last else ""
        return f"seat {' and '.join(winners)} wins{found}"
    if sc.revealed and sc.last is not None:
        return f"{sc.last.call}: {sc.last.count} found"
    return ", ".join(["palifico"] * sc.palifico + ["calza?"] * sc.in_calza_window)
