"""Write a picture as a PNG file, with nothing but zlib."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from perudo_env.game.files import NotWrittenError, writing


def png_bytes(pixels: npt.NDArray[np.uint8]) -> bytes:
    """A PNG file (8 bits, RGB) of ``pixels``, uint8 ``(height, width, 3)``; raises ``ValueError`` for anything else."""
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3:
        raise ValueError(f"pixels are {pixels.dtype} {pixels.shape}: give uint8 (height, width, 3)")
    height, width, _ = pixels.shape
    # filter 2 (Up) of the PNG specification, section 9: rows as differences to the row above
    above = np.concatenate([np.zeros_like(pixels[:1]), pixels[:-1]])
    rows = np.empty((height, 1 + 3 * width), np.uint8)
    rows[:, 0] = 2
    rows[:, 1:] = (pixels - above).reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def write_png(path: str | Path, pixels: npt.NDArray[np.uint8]) -> None:
    """Write ``pixels``, uint8 ``(height, width, 3)``, to a PNG file in a folder that is there, whole or not at all."""
    content = png_bytes(pixels)
    if not Path(path).parent.is_dir():
        raise NotWrittenError(path, f"{Path(path).parent} is no folder that is there")
    with writing(path) as file:
        file.write(content)
