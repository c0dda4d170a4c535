"""The pieces of a picture: cached Pillow images with transparency, drawn large and reduced so that edges are smooth."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

try:
    from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont
except ImportError as error:
    raise ImportError("pictures of the table need Pillow: pip install 'perudo-env[render]'") from error

Picture = Any  # PIL.Image.Image
Color = tuple[int, int, int]

WIDTH, HEIGHT = 640, 480
CENTER = (320, 238)
SCALE = 4  # pieces are drawn so many times larger

NIGHT, NIGHT_EDGE = (38, 41, 50), (22, 24, 30)
FELT, FELT_EDGE = (38, 104, 84), (22, 68, 56)
WOOD, WOOD_LIGHT = (92, 58, 38), (140, 94, 62)
IVORY, IVORY_LOW = (252, 248, 236), (226, 216, 194)
INK, RED = (40, 40, 46), (190, 40, 44)
AMBER, CREAM, MIST = (255, 196, 84), (244, 238, 222), (166, 176, 178)
LEATHER, LEATHER_LIGHT, SEAM = (96, 52, 34), (150, 90, 56), (222, 176, 120)

_PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


class _Piece:
    """A transparent sheet of ``width`` x ``height`` pixels, drawn on in units of a final pixel from its middle."""

    def __init__(self, width: float, height: float) -> None:
        self.image = Image.new("RGBA", (round(width) * SCALE, round(height) * SCALE), (0, 0, 0, 0))
        self.draw = ImageDraw.Draw(self.image)

    def box(self, cx: float, cy: float, width: float, height: float) -> tuple[float, float, float, float]:
        """The corners of a box around (cx, cy), in pixels of the sheet."""
        x, y = self.image.width / 2 + cx * SCALE, self.image.height / 2 + cy * SCALE
        return x - width * SCALE / 2, y - height * SCALE / 2, x + width * SCALE / 2, y + height * SCALE / 2

    def done(self) -> Picture:
        """The sheet at its final size."""
        return self.image.reduce(SCALE)


def _shade(shape: Picture, top: Color, bottom: Color) -> Picture:
    """A vertical blend of two colours where ``shape``, a mask, is white."""
    blend = Image.composite(
        Image.new("RGBA", shape.size, (*bottom, 255)),
        Image.new("RGBA", shape.size, (*top, 255)),
        Image.linear_gradient("L").resize(shape.size),
    )
    blend.putalpha(shape)
    return blend


def _shadow(shape: Picture, dy: float, blur: float, opacity: float) -> Picture:
    """A soft shadow ``dy`` pixels below a mask."""
    faint = ImageChops.offset(shape, 0, round(dy * SCALE)).filter(ImageFilter.GaussianBlur(blur * SCALE))
    black = Image.new("RGBA", shape.size, (0, 0, 0, 255))
    black.putalpha(faint.point(lambda a: round(a * opacity)))
    return black


@cache
def table() -> Picture:
    """The empty table, RGB."""
    glow = Image.radial_gradient("L").resize((WIDTH, HEIGHT))
    night = Image.composite(Image.new("RGB", glow.size, NIGHT_EDGE), Image.new("RGB", glow.size, NIGHT), glow).convert(
        "RGBA"
    )
    piece, (dx, dy) = _Piece(WIDTH, HEIGHT), (CENTER[0] - WIDTH / 2, CENTER[1] - HEIGHT / 2)
    rim = Image.new("L", piece.image.size)
    ImageDraw.Draw(rim).ellipse(piece.box(dx, dy, 612, 440), fill=255)
    piece.image.alpha_composite(_shadow(rim, 8, 7, 0.7))
    piece.image.alpha_composite(_shade(rim, WOOD_LIGHT, WOOD))
    piece.draw.ellipse(piece.box(dx, dy, 579, 407), fill=(16, 40, 34, 255))
    felt = Image.new("L", piece.image.size)
    ImageDraw.Draw(felt).ellipse(piece.box(dx, dy, 575, 403), fill=255)
    cloth = Image.composite(
        Image.new("RGBA", felt.size, (*FELT_EDGE, 255)),
        Image.new("RGBA", felt.size, (*FELT, 255)),
        Image.radial_gradient("L").resize(felt.size),
    )
    cloth.putalpha(felt)
    piece.image.alpha_composite(cloth)
    piece.draw.ellipse(piece.box(dx, dy, 554, 382), outline=(66, 128, 104, 255), width=SCALE)
    return Image.alpha_composite(night, piece.done()).convert("RGB")


@lru_cache(maxsize=128)
def die(face: int, size: int, style: str = "") -> Picture:
    """One die; ``style``: ``hit`` for one that counts, ``miss`` for one that does not, ``small`` inside a bid."""
    piece = _Piece(size + 10, size + 12)
    body = Image.new("L", piece.image.size)
    ImageDraw.Draw(body).rounded_rectangle(piece.box(0, 0, size, size), size * 0.22 * SCALE, fill=255)
    if style != "small":
        piece.image.alpha_composite(_shadow(body, 2, 1.5, 0.5))
    if style == "hit":
        piece.draw.rounded_rectangle(piece.box(0, 0, size + 6, size + 6), size * 0.3 * SCALE, fill=(*AMBER, 255))
    piece.image.alpha_composite(_shade(body, IVORY, IVORY_LOW))
    piece.draw.rounded_rectangle(piece.box(0, 0, size, size), size * 0.22 * SCALE, outline=(186, 176, 154), width=3)
    radius, color = (size * 0.17, RED) if face == 1 else (size * 0.095, INK)
    for dx, dy in _PIPS[face]:
        piece.draw.ellipse(piece.box(dx * size * 0.255, dy * size * 0.255, 2 * radius, 2 * radius), fill=color)
    if style == "miss":
        alpha = piece.image.getchannel("A")
        piece.image = piece.image.convert("RGB").point(lambda c: round(c * 0.55)).convert("RGBA")
        piece.image.putalpha(alpha)
    return piece.done()


@cache
def cup() -> Picture:
    """A leather cup, upside down."""
    piece = _Piece(70, 68)
    ground = Image.new("L", piece.image.size)
    ImageDraw.Draw(ground).ellipse(piece.box(2, 25, 62, 14), fill=255)
    piece.image.alpha_composite(_shadow(ground, 0, 3, 0.5))
    wall = Image.new("L", piece.image.size)
    (left, top, right, _), (low_left, _, low_right, bottom) = piece.box(0, -26, 38, 0), piece.box(0, 20, 52, 0)
    drawing = ImageDraw.Draw(wall)
    drawing.polygon([(left, top), (right, top), (low_right, bottom), (low_left, bottom)], fill=255)
    drawing.ellipse(piece.box(0, 20, 52, 14), fill=255)
    piece.image.alpha_composite(_shade(wall, LEATHER_LIGHT, LEATHER))
    for dy, width in ((-17, 41), (14, 50)):
        piece.draw.arc(piece.box(0, dy, width, 8), 10, 170, fill=(*SEAM, 255), width=6)
    piece.draw.ellipse(piece.box(0, -26, 38, 9), fill=(128, 80, 54, 255))
    return piece.done()


@lru_cache(maxsize=512)
def words(text: str, size: float, color: Color) -> Picture:
    """A line of text, its letters about ``size`` pixels high."""
    font: Any = ImageFont.load_default(size * 1.35 * SCALE)
    left, top, right, bottom = font.getbbox("0" if text.isdigit() else text)
    left, _, right, _ = font.getbbox(text)
    piece = _Piece((right - left) / SCALE + 4, (bottom - top) / SCALE + 6)
    middle = piece.image.width / 2, piece.image.height / 2
    # the middle of a digit, and not of the line's own letters, lies in the middle of the sheet
    _, high, _, low = font.getbbox("0")
    piece.draw.text((middle[0] - (left + right) / 2, middle[1] - (high + low) / 2), text, fill=(*color, 255), font=font)
    return piece.done()


@lru_cache(maxsize=128)
def plate(text: str, fill: Color, ink: Color, size: float = 12.0, opacity: float = 1.0) -> Picture:
    """Text on a pill."""
    line = words(text, size, ink)
    width, height = line.width + size * 1.1, size * 1.9
    return _on_card(width, height, height / 2, (*fill, round(255 * opacity)), [(line, 0.0)])


@lru_cache(maxsize=256)
def bubble(quantity: int, face: int, is_standing: bool) -> Picture:
    """A bid as a small card: a number, a cross and a die."""
    number = words(f"{quantity}x", 13, INK if is_standing else CREAM)
    width = number.width + 34
    fill = (*AMBER, 255) if is_standing else (14, 44, 37, 204)
    return _on_card(width, 27, 9, fill, [(number, -13.0), (die(face, 18, "small"), width / 2 - 16)])


def _on_card(
    width: float, height: float, corner: float, fill: tuple[int, ...], on_it: list[tuple[Picture, float]]
) -> Picture:
    """A card with round corners and a shadow, and pictures on it, each so far right of its middle."""
    piece = _Piece(width + 8, height + 10)
    body = Image.new("L", piece.image.size)
    ImageDraw.Draw(body).rounded_rectangle(piece.box(0, 0, width, height), corner * SCALE, fill=255)
    piece.image.alpha_composite(_shadow(body, 1.5, 1.2, 0.35))
    piece.draw.rounded_rectangle(piece.box(0, 0, width, height), corner * SCALE, fill=fill)
    card = piece.done()
    for picture, dx in on_it:
        lay(card, picture, card.width / 2 + dx, card.height / 2)
    return card


@cache
def halo() -> Picture:
    """The light around the seat to act."""
    light = Image.new("RGBA", (150, 150), (*AMBER, 255))
    light.putalpha(Image.radial_gradient("L").resize(light.size).point(lambda far: max(0, round((180 - far) * 0.6))))
    return light


def lay(under: Picture, over: Picture, x: float, y: float) -> None:
    """Lay a piece's middle on (x, y) of a picture; what sticks out is cut off."""
    under.paste(over, (round(x - over.width / 2), round(y - over.height / 2)), over)
