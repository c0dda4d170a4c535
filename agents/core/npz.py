"""NumPy's ``.npz`` files of plain numbers: whatever is wrong with one is a ``ValueError``."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

# what NumPy, zipfile and its decompressors raise for strange bytes, and whoever makes something of strange numbers
_FAULTS = (
    LookupError,
    TypeError,
    ValueError,
    ArithmeticError,
    OSError,
    EOFError,
    RuntimeError,
    BadZipFile,
    LZMAError,
    zlib.error,
)


@contextmanager
def reading(path: Path | str, what: str) -> Iterator[Any]:
    """A file whose arrays are read when asked for, without running anything in it; ``what`` it should be is for the error."""
    try:
        with np.load(path, allow_pickle=False) as file:
            yield file
    except _FAULTS as error:
        raise ValueError(f"{path} is not {what}: {error}") from error
