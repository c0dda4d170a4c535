"""Smooth shapes with NumPy alone: signed distances become coverage, coverage becomes sprites, sprites are pasted.

A distance is in pixels, negative inside; its shape is covered by ``0.5 - distance``, clipped to 0..1, which is what
makes the edges smooth. Colours are RGB triples 0..255.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from perudo_env.render.font import strokes

Color = tuple[int, int, int]
Distance = npt.NDArray[np.float32]
Frame = npt.NDArray[np.uint8]


class Sprite:
    """A small picture with transparency: float32 ``(height, width, 4)``, colours multiplied by their opacity.

    ``x`` and ``y`` are the centres of its pixels, measured from its middle.
    """

    def __init__(self, width: int, height: int) -> None:
        self.pixels = np.zeros((height, width, 4), np.float32)
        self.x = (np.arange(width, dtype=np.float32) + np.float32(0.5 - width / 2))[None, :]
        self.y = (np.arange(height, dtype=np.float32) + np.float32(0.5 - height / 2))[:, None]

    def fill(
        self, distance: Distance, color: Color | npt.NDArray[Any], opacity: float = 1.0, soft: float = 0.5
    ) -> Sprite:
        """Paint a shape over what is there; ``soft`` is half the width of its edge in pixels."""
        cover = np.clip(0.5 - distance / (2 * soft), 0, 1) * opacity
        cover = np.broadcast_to(cover, self.pixels.shape[:2])[..., None]
        self.pixels *= 1 - cover
        self.pixels[..., :3] += cover * np.asarray(color, np.float32)
        self.pixels[..., 3:] += cover
        return self

    def ramp(self, top: Color, bottom: Color) -> npt.NDArray[np.float32]:
        """A colour per row, from top to bottom: ``(height, 1, 3)``."""
        t = np.linspace(0, 1, len(self.pixels), dtype=np.float32)[:, None, None]
        return np.asarray(top, np.float32) * (1 - t) + np.asarray(bottom, np.float32) * t


def circle(s: Sprite, cx: float, cy: float, radius: float) -> Distance:
    """The distance to a disc."""
    return np.hypot(s.x - np.float32(cx), s.y - np.float32(cy)) - np.float32(radius)


def box(s: Sprite, width: float, height: float, corner: float, cx: float = 0.0, cy: float = 0.0) -> Distance:
    """The distance to a box with round corners."""
    dx = np.abs(s.x - np.float32(cx)) - np.float32(width / 2 - corner)
    dy = np.abs(s.y - np.float32(cy)) - np.float32(height / 2 - corner)
    outside = np.hypot(np.maximum(dx, 0), np.maximum(dy, 0))
    return outside + np.minimum(np.maximum(dx, dy), 0) - np.float32(corner)


def ellipse(s: Sprite, rx: float, ry: float, cx: float = 0.0, cy: float = 0.0) -> Distance:
    """The distance to an ellipse, to first order: exact at its edge."""
    x, y = s.x - np.float32(cx), s.y - np.float32(cy)
    k1 = np.hypot(x / np.float32(rx), y / np.float32(ry))
    k2 = np.hypot(x / np.float32(rx * rx), y / np.float32(ry * ry))
    return k1 * (k1 - 1) / np.maximum(k2, np.float32(1e-6))


def ring(distance: Distance, width: float) -> Distance:
    """The outline, ``width`` pixels wide, of a shape."""
    return np.abs(distance) - np.float32(width / 2)


@lru_cache(maxsize=512)
def text_sprite(text: str, size: float, color: Color, weight: float = 0.13) -> Sprite:
    """A line of text whose digits are ``size`` pixels high, middle at the middle of a digit; ``weight``: stroke width / size."""
    segments, width = strokes(text)
    sprite = Sprite(int(width * size + weight * size) + 4, int(1.8 * size) + 4)
    if not len(segments):
        return sprite
    x0, y0, x1, y1 = (segments.T * size).astype(np.float32)[:, :, None, None]
    px, py = sprite.x[None] + np.float32(width * size / 2), np.float32(size / 2) - sprite.y[None]
    dx, dy = x1 - x0, y1 - y0
    along = np.clip(((px - x0) * dx + (py - y0) * dy) / np.maximum(dx * dx + dy * dy, 1e-9), 0, 1)
    distance = np.hypot(px - x0 - along * dx, py - y0 - along * dy).min(axis=0) - np.float32(weight * size / 2)
    return sprite.fill(distance, color)


def paste(frame: Frame, sprite: Sprite, x: float, y: float, opacity: float = 1.0) -> None:
    """Lay a sprite's middle on (x, y) of a uint8 ``(height, width, 3)`` frame; what sticks out is cut off."""
    height, width = sprite.pixels.shape[:2]
    left, top = round(x - width / 2), round(y - height / 2)
    x0, y0, x1, y1 = (
        max(left, 0),
        max(top, 0),
        min(left + width, frame.shape[1]),
        min(top + height, frame.shape[0]),
    )
    if x0 >= x1 or y0 >= y1:
        return
    source = sprite.pixels[y0 - top : y1 - top, x0 - left : x1 - left] * np.float32(opacity)
    under = frame[y0:y1, x0:x1]
    under[:] = source[..., :3] + under * (1 - source[..., 3:]) + np.float32(0.5)
