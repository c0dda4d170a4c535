"""NumPy's ``.npz`` files of plain numbers: whatever is wrong with one is a ``ValueError``, and is so before memory is taken.

An array is read only if it has the shape that its reader says, and the archive's own sizes agree.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

# what NumPy, zipfile and its decompressors raise for strange bytes, and whoever makes something of strange numbers
_FAULTS = (
    LookupError,
    TypeError,
    ValueError,
    ArithmeticError,
    OSError,
    EOFError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    TokenError,
    BadZipFile,
    zlib.error,
)
_MOST_HEADER = 1 << 14  # NumPy writes a few dozen bytes
_HEADERS: dict[Any, Any] = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def memory() -> int:
    """The bytes of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class Arrays:
    """The arrays of an open file, read when asked for, without running anything in it."""

    def __init__(self, file: ZipFile) -> None:
        self._file = file

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._file.namelist()

    def read(self, name: str, shape: tuple[int, ...] = (), kinds: str = "iu") -> npt.NDArray[Any]:
        """The array of a name; raises ``ValueError`` unless it has this ``shape`` and a dtype of one of these ``kinds``."""
        info = self._file.getinfo(f"{name}.npy")
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2):
            raise ValueError(f"{name} is compressed by method {info.compress_type}: plain zip and bzip2 are read")
        with self._file.open(info) as member:
            head = BytesIO(member.read(_MOST_HEADER))
            found, by_column, dtype = _HEADERS[npy.read_magic(head)](head)
            if found != shape or dtype.kind not in kinds or not dtype.isnative:
                raise ValueError(f"{name} has shape {found} and type {dtype}: it should be {shape}, of kind {kinds!r}")
            size, held = int(np.prod(shape, dtype=object)) * dtype.itemsize, info.file_size - head.tell()
            if size != held or size > 0.9 * memory():
                raise ValueError(f"{name} should be {size} bytes, and the archive holds {held}")
            content = bytearray(head.read())
            content += member.read(size - len(content))
        return np.ndarray(shape, dtype, content, order="F" if by_column else "C")

    def text(self, name: str) -> str:
        """The text of a name."""
        return str(self.read(name, kinds="U"))


@contextmanager
def reading(path: Path | str, what: str) -> Iterator[Arrays]:
    """A file whose arrays are read when asked for; ``what`` it should be is for the error."""
    try:
        with ZipFile(path) as file:
            yield Arrays(file)
    except _FAULTS as error:
        raise ValueError(f"{path} is not {what}: {error}") from error
