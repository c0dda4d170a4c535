"""A scene as a picture: a round table with cups, dice, bids and the names of the seats."""

from __future__ import annotations

from functools import cache, lru_cache
from math import cos, pi, sin

import numpy as np

from perudo_env.render.canvas import Color, Frame, Sprite, box, circle, ellipse, paste, ring, text_sprite
from perudo_env.render.scene import Reveal, Scene

WIDTH, HEIGHT = 640, 480
CENTER = (320.0, 238.0)

NIGHT, NIGHT_EDGE = (38, 41, 50), (22, 24, 30)
FELT, FELT_EDGE = (38, 104, 84), (22, 68, 56)
WOOD, WOOD_LIGHT = (92, 58, 38), (146, 99, 66)
IVORY, IVORY_LOW = (252, 248, 236), (226, 216, 194)
INK, RED = (40, 40, 46), (190, 40, 44)
AMBER, CREAM, MIST = (255, 196, 84), (244, 238, 222), (166, 176, 178)
LEATHER, LEATHER_LIGHT = (96, 52, 34), (170, 104, 66)
LOSS, GAIN = (226, 92, 82), (128, 204, 132)

_PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


@cache
def _table() -> Frame:
    """The empty table, drawn once."""
    s = Sprite(WIDTH, HEIGHT)
    s.y = s.y + np.float32(HEIGHT / 2 - CENTER[1])
    far = np.clip(np.hypot(s.x / 400, s.y / 300), 0, 1)[..., None] ** 2
    s.fill(np.full(far.shape[:2], -9, np.float32), np.asarray(NIGHT) * (1 - far) + np.asarray(NIGHT_EDGE) * far)
    s.fill(ellipse(s, 304, 222, 0, 8), (8, 9, 12), 0.7, soft=14)
    light = np.clip(0.5 - s.y / 440 - s.x / 1400, 0, 1)[..., None]
    s.fill(ellipse(s, 306, 220), np.asarray(WOOD) * (1 - light) + np.asarray(WOOD_LIGHT) * light)
    s.fill(ring(ellipse(s, 304, 218), 1.6), (190, 140, 98), 0.45)
    s.fill(ellipse(s, 289, 203), (16, 40, 34))
    glow = np.clip(np.hypot(s.x / 300, (s.y + 20) / 215), 0, 1)[..., None] ** 1.7
    s.fill(ellipse(s, 287, 201), np.asarray(FELT) * (1 - glow) + np.asarray(FELT_EDGE) * glow)
    s.fill(ring(ellipse(s, 277, 191), 1.2), (120, 180, 150), 0.22)
    return (s.pixels[..., :3] + 0.5).astype(np.uint8)


@lru_cache(maxsize=128)
def _die(face: int, size: int, style: str = "") -> Sprite:
    """One die; ``style``: ``hit`` for one that counts, ``miss`` for one that does not, ``small`` inside a bid."""
    s = Sprite(size + 10, size + 12)
    if style != "small":
        s.fill(box(s, size, size, size * 0.24, 0, 2), (0, 0, 0), 0.4, soft=3)
    if style == "hit":
        s.fill(box(s, size + 6, size + 6, size * 0.3), AMBER, 0.95)
    s.fill(box(s, size, size, size * 0.22), s.ramp(IVORY, IVORY_LOW))
    s.fill(ring(box(s, size - 1, size - 1, size * 0.21), 1), (150, 138, 116), 0.5)
    radius, color = (size * 0.17, RED) if face == 1 else (size * 0.095, INK)
    for dx, dy in _PIPS[face]:
        s.fill(circle(s, dx * size * 0.255, dy * size * 0.255, radius), color)
    if style == "miss":
        s.pixels[..., :3] *= np.float32(0.55)
    return s


@cache
def _cup() -> Sprite:
    """A leather cup, upside down."""
    s = Sprite(70, 68)
    s.fill(ellipse(s, 31, 7, 2, 25), (0, 0, 0), 0.45, soft=3)
    half = 19 + (s.y + 27) * np.float32(7 / 50)
    sides = np.maximum(np.abs(s.x) - half, np.maximum(-26 - s.y, s.y - 20))
    wall = np.minimum(sides, ellipse(s, 26, 7, 0, 20))
    top = ellipse(s, 19, 4.5, 0, -26)
    light = np.clip(0.62 - np.abs(s.x + 8) / 30, 0, 1)[..., None]
    hide = np.asarray(LEATHER) * (1 - light) + np.asarray(LEATHER_LIGHT) * light
    s.fill(np.minimum(wall, top), hide)
    s.fill(top, (128, 80, 54))
    for y in (-18.0, 13.0):
        band = np.maximum(
            np.abs(s.y - y - 4 * np.sqrt(np.clip(1 - (s.x / 27) ** 2, 0, 1))) - 0.9, np.abs(s.x) - half + 0.5
        )
        s.fill(band, (222, 176, 120), 0.55)
    return s


@lru_cache(maxsize=128)
def _plate(text: str, fill: Color, ink: Color, size: float = 12.0, opacity: float = 1.0) -> Sprite:
    """Text on a pill."""
    words = text_sprite(text, size, ink)
    width, height = words.pixels.shape[1] + size * 1.1, size * 1.9
    s = Sprite(int(width) + 8, int(height) + 10)
    s.fill(box(s, width, height, height / 2, 0, 1.5), (0, 0, 0), 0.35, soft=2.5)
    s.fill(box(s, width, height, height / 2), fill, opacity)
    return _join(s, words)


@lru_cache(maxsize=256)
def _bubble(quantity: int, face: int, is_standing: bool) -> Sprite:
    """A bid as a small card: a number, a cross and a die."""
    number = text_sprite(f"{quantity}×", 13, INK if is_standing else CREAM)
    width = number.pixels.shape[1] + 34
    s = Sprite(width + 8, 38)
    s.fill(box(s, width, 27, 9, 0, 1.5), (0, 0, 0), 0.3, soft=2.5)
    s.fill(box(s, width, 27, 9), AMBER if is_standing else (14, 44, 37), 1.0 if is_standing else 0.8)
    _join(s, number, dx=-13)
    return _join(s, _die(face, 18, "small"), dx=width / 2 - 16)


@lru_cache(maxsize=16)
def _halo() -> Sprite:
    """The light around the seat to act."""
    s = Sprite(150, 150)
    return s.fill(circle(s, 0, 0, 38), AMBER, 0.42, soft=36)


def _join(under: Sprite, over: Sprite, dx: float = 0.0) -> Sprite:
    """Lay one sprite over the middle of another, ``dx`` pixels to the right."""
    height, width = over.pixels.shape[:2]
    left, top = round(under.pixels.shape[1] / 2 + dx - width / 2), round((under.pixels.shape[0] - height) / 2)
    y0, x0 = max(top, 0), max(left, 0)
    piece = over.pixels[y0 - top : under.pixels.shape[0] - top, x0 - left : under.pixels.shape[1] - left]
    target = under.pixels[y0 : y0 + piece.shape[0], x0 : x0 + piece.shape[1]]
    target *= 1 - piece[..., 3:]
    target += piece
    return under


def _place(seat: int, scene: Scene, rx: float, ry: float) -> tuple[float, float]:
    """Where a seat sits: the viewer (or seat 0) at the bottom, the others clockwise as seen from above."""
    num_seats = len(scene.dice)
    angle = 2 * pi * ((seat - (scene.viewer or 0)) % num_seats) / num_seats
    return CENTER[0] - rx * sin(angle), CENTER[1] + ry * cos(angle)


def draw(scene: Scene) -> Frame:
    """The picture of a scene, uint8 ``(480, 640, 3)``."""
    frame = _table().copy()
    _paste_left(frame, f"{scene.variant.name} - round {scene.round}", 14, 18)
    if scene.seat is not None:
        x, y = _place(scene.seat, scene, 232, 146)
        paste(frame, _halo(), x, y)
    for seat in range(len(scene.dice)):
        _draw_seat(frame, scene, seat)
    latest = dict(scene.bids)
    for seat, bid in latest.items():
        is_standing = scene.standing is not None and scene.standing[0] == seat
        paste(frame, _bubble(bid.quantity, bid.face, is_standing), *_place(seat, scene, 134, 75))
    _draw_middle(frame, scene)
    return frame


def _paste_left(frame: Frame, text: str, x: float, y: float) -> None:
    """A small line of text that begins at x."""
    sprite = text_sprite(text, 11, MIST)
    paste(frame, sprite, x + sprite.pixels.shape[1] / 2, y)


def _draw_seat(frame: Frame, scene: Scene, seat: int) -> None:
    x, y = _place(seat, scene, 232, 146)
    hand, at_bottom = scene.hands[seat], seat == (scene.viewer or 0)
    if not scene.alive[seat]:
        paste(frame, text_sprite("out", 13, (120, 150, 138)), x, y - 8)
    elif hand is None:
        paste(frame, _cup(), x, y - 14)
        count = scene.dice[seat]
        paste(frame, text_sprite("?" if count is None else str(count), 17, CREAM, 0.14), x, y - 10)
    else:
        _draw_hand(frame, scene, hand, x, y - 10, at_bottom)
    fill, ink, opacity = (20, 34, 32), CREAM, 0.82
    if seat == scene.seat:
        fill, ink, opacity = AMBER, INK, 1.0
    elif not scene.alive[seat]:
        ink = (140, 150, 146)
    last = scene.last if scene.revealed else None
    paste(frame, _plate(f"seat {seat}", fill, ink, 12, opacity), x, y + 30)
    if last is not None and last.seat == seat:
        paste(
            frame,
            _plate(f"{last.change:+d}" if last.change else "0", GAIN if last.change > 0 else LOSS, INK, 12),
            x + 52,
            y + 30,
        )


def _draw_hand(frame: Frame, scene: Scene, hand: tuple[int, ...], x: float, y: float, at_bottom: bool) -> None:
    """Open dice: the viewer's in one row, the others' in two; at a reveal those that count are marked."""
    size, per_row = (31, 6) if at_bottom else (22, 3)
    step = size + 5
    rows = [hand[i : i + per_row] for i in range(0, len(hand), per_row)]
    hits = _counted_faces(scene.last) if scene.revealed and scene.last else None
    for r, row in enumerate(rows):
        for d, face in enumerate(row):
            style = "" if hits is None else "hit" if face in hits else "miss"
            dx, dy = (d - (len(row) - 1) / 2) * step, (r - (len(rows) - 1) / 2) * step
            paste(frame, _die(face, size, style), x + dx, y + dy)


def _counted_faces(last: Reveal) -> tuple[int, ...]:
    """The faces whose dice make up the count of a reveal: the bid's own and, if that falls short, the Pacos."""
    face = last.standing[1].face
    plain = sum(hand.count(face) for hand in last.hands)
    return (face,) if last.count == plain else (face, 1)


def _draw_middle(frame: Frame, scene: Scene) -> None:
    """The standing bid and its author, or who opens; flags below."""
    x, y = CENTER
    if scene.standing is None:
        paste(frame, text_sprite(f"seat {scene.opener} opens", 20, CREAM), x, y - 6)
        if scene.last is not None:
            last = scene.last
            paste(
                frame,
                text_sprite(f"{last.call}: {last.count} found, seat {last.seat} {last.change:+d}", 11, MIST),
                x,
                y + 24,
            )
    else:
        bidder, bid = scene.standing
        number = text_sprite(f"{bid.quantity}×", 40, CREAM, 0.12)
        width = number.pixels.shape[1] + 8 + 50
        paste(frame, number, x - width / 2 + number.pixels.shape[1] / 2, y + 2)
        paste(frame, _die(bid.face, 50), x + width / 2 - 25, y + 2)
        paste(frame, text_sprite(f"seat {bidder} bids", 12, MIST), x, y - 38)
    line = _flags(scene)
    if line:
        paste(
            frame,
            _plate(line, AMBER if scene.revealed else RED, INK if scene.revealed else CREAM, 12),
            x,
            y + 47,
        )


def _flags(scene: Scene) -> str:
    if scene.ranks is not None and 1 in scene.ranks:
        winners = [str(seat) for seat, rank in enumerate(scene.ranks) if rank == 1]
        found = f", {scene.last.count} found" if scene.last else ""
        return f"seat {' and '.join(winners)} wins{found}"
    if scene.revealed and scene.last is not None:
        return f"{scene.last.call}: {scene.last.count} found"
    return ", ".join(["palifico"] * scene.palifico + ["calza?"] * scene.in_calza_window)
