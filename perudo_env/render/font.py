"""A small font of our own: each glyph is a few strokes, drawn as lines of even width with round ends.

Units: the height of a digit is 1, the baseline 0, y grows upwards; a glyph begins at x = 0.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]

_X = 0.68  # the height of an x
_GAP = 0.26  # between two glyphs, stroke width included
_SPACE = 0.46


def _arc(cx: float, cy: float, rx: float, ry: float, begin: float, end: float) -> list[tuple[float, float]]:
    """Points on an ellipse between two angles in degrees, counter-clockwise where ``end`` is the larger."""
    angles = np.radians(np.linspace(begin, end, max(4, int(abs(end - begin) / 18) + 1)))
    return [(cx + rx * float(np.cos(a)), cy + ry * float(np.sin(a))) for a in angles]


def _dot(x: float, y: float) -> list[tuple[float, float]]:
    return [(x, y), (x, y + 0.01)]


_BOWL = _arc(0.27, 0.34, 0.27, 0.34, 0, 360)
_ARCH = [(0.0, 0.0), (0.0, _X)], [*_arc(0.25, 0.42, 0.25, 0.26, 180, 0), (0.5, 0.0)]
_SIX = [_arc(0.28, 0.31, 0.28, 0.31, 0, 360), _arc(0.52, 0.31, 0.52, 0.69, 98, 180)]

_GLYPHS: dict[str, list[list[tuple[float, float]]]] = {
    "0": [_arc(0.28, 0.5, 0.28, 0.5, 0, 360)],
    "1": [[(0.02, 0.8), (0.26, 1.0), (0.26, 0.0)]],
    "2": [[*_arc(0.27, 0.72, 0.26, 0.28, 165, -38), (0.0, 0.0), (0.56, 0.0)]],
    "3": [_arc(0.25, 0.76, 0.24, 0.24, 150, -90), _arc(0.25, 0.26, 0.28, 0.26, 90, -150)],
    "4": [[(0.43, 0.0), (0.43, 1.0), (0.0, 0.3), (0.6, 0.3)]],
    "5": [[(0.5, 1.0), (0.1, 1.0), (0.06, 0.56), *_arc(0.26, 0.32, 0.28, 0.32, 130, -145)]],
    "6": _SIX,
    "7": [[(0.0, 1.0), (0.54, 1.0), (0.18, 0.0)]],
    "8": [_arc(0.28, 0.76, 0.23, 0.24, 0, 360), _arc(0.28, 0.26, 0.28, 0.26, 0, 360)],
    "9": [[(0.56 - x, 1 - y) for x, y in stroke] for stroke in _SIX],
    "a": [_BOWL, [(0.54, _X), (0.54, 0.0)]],
    "b": [_BOWL, [(0.0, 1.0), (0.0, 0.0)]],
    "c": [_arc(0.27, 0.34, 0.27, 0.34, 48, 312)],
    "d": [_BOWL, [(0.54, 1.0), (0.54, 0.0)]],
    "e": [[(0.0, 0.36), *_arc(0.27, 0.34, 0.27, 0.34, 4, 318)]],
    "f": [[*_arc(0.32, 0.8, 0.18, 0.2, 75, 180), (0.14, 0.0)], [(0.0, 0.64), (0.32, 0.64)]],
    "g": [_BOWL, [(0.54, _X), *_arc(0.27, -0.06, 0.27, 0.24, 0, -145)]],
    "h": [[(0.0, 1.0), (0.0, 0.0)], _ARCH[1]],
    "i": [[(0.0, _X), (0.0, 0.0)], _dot(0.0, 0.94)],
    "j": [[(0.14, _X), *_arc(-0.02, -0.1, 0.16, 0.2, 0, -95)], _dot(0.14, 0.94)],
    "k": [[(0.0, 1.0), (0.0, 0.0)], [(0.42, _X), (0.0, 0.26)], [(0.15, 0.38), (0.46, 0.0)]],
    "l": [[(0.0, 1.0), (0.0, 0.0)]],
    "m": [
        _ARCH[0],
        [*_arc(0.21, 0.46, 0.21, 0.22, 180, 0), (0.42, 0.0)],
        [*_arc(0.63, 0.46, 0.21, 0.22, 180, 0), (0.84, 0.0)],
    ],
    "n": [*_ARCH],
    "o": [_BOWL],
    "p": [_BOWL, [(0.0, _X), (0.0, -0.3)]],
    "q": [_BOWL, [(0.54, _X), (0.54, -0.3)]],
    "r": [_ARCH[0], _arc(0.26, 0.4, 0.26, 0.28, 180, 65)],
    "s": [[*_arc(0.23, 0.51, 0.2, 0.17, 35, 270), *_arc(0.23, 0.17, 0.23, 0.17, 90, -145)]],
    "t": [[(0.16, 0.94), *_arc(0.34, 0.18, 0.18, 0.18, 180, 285)], [(0.0, 0.66), (0.36, 0.66)]],
    "u": [[(0.0, _X), *_arc(0.25, 0.26, 0.25, 0.26, 180, 360)], [(0.5, _X), (0.5, 0.0)]],
    "v": [[(0.0, _X), (0.25, 0.0), (0.5, _X)]],
    "w": [[(0.0, _X), (0.2, 0.0), (0.4, 0.6), (0.6, 0.0), (0.8, _X)]],
    "x": [[(0.0, _X), (0.48, 0.0)], [(0.48, _X), (0.0, 0.0)]],
    "y": [[(0.0, _X), (0.26, 0.04)], [(0.52, _X), (0.14, -0.3)]],
    "z": [[(0.0, _X), (0.46, _X), (0.0, 0.0), (0.48, 0.0)]],
    "P": [[(0.0, 0.0), (0.0, 1.0), *_arc(0.28, 0.73, 0.27, 0.27, 90, -90), (0.0, 0.46)]],
    "×": [[(0.0, 0.12), (0.46, 0.58)], [(0.46, 0.12), (0.0, 0.58)]],
    "?": [[*_arc(0.25, 0.75, 0.24, 0.25, 165, -50), (0.25, 0.4), (0.25, 0.3)], _dot(0.25, 0.02)],
    "+": [[(0.0, 0.38), (0.48, 0.38)], [(0.24, 0.14), (0.24, 0.62)]],
    "-": [[(0.0, 0.36), (0.36, 0.36)]],
    "_": [[(0.0, -0.1), (0.46, -0.1)]],
    ":": [_dot(0.0, 0.1), _dot(0.0, 0.56)],
    ".": [_dot(0.0, 0.02)],
    ",": [[(0.04, 0.04), (0.0, -0.14)]],
}
GLYPHS = frozenset(_GLYPHS) | {" "}


@cache
def strokes(text: str) -> tuple[Points, float]:
    """The line segments of a line of text, ``(n, 4)`` as x0 y0 x1 y1, and its width; an unknown glyph shows as ``?``."""
    segments: list[tuple[float, float, float, float]] = []
    x = 0.0
    for character in text:
        if character == " ":
            x += _SPACE
            continue
        glyph = _GLYPHS.get(character) or _GLYPHS["?"]
        for stroke in glyph:
            segments += [(x + a, b, x + c, d) for (a, b), (c, d) in pairwise(stroke)]
        x += max(px for stroke in glyph for px, _ in stroke) + _GAP
    return np.array(segments).reshape(-1, 4), max(x - _GAP, 0.0)
