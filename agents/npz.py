"""NumPy's ``.npz`` files of plain numbers: whatever is wrong with one is a ``ValueError``, and none is left half written."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile

import numpy as np

# what NumPy, zipfile and its decompressors raise for strange bytes, and whoever makes something of strange numbers
_FAULTS = (LookupError, TypeError, ValueError, ArithmeticError, OSError, EOFError, RuntimeError, BadZipFile, LZMAError, zlib.error)


@contextmanager
def reading(path: Path | str, what: str) -> Iterator[Any]:
    """A file whose arrays are read when asked for, without running anything in it; ``what`` it should be is for the error."""
    try:
        with np.load(path, allow_pickle=False) as file:
            yield file
    except _FAULTS as error:
        raise ValueError(f"{path} is not {what}: {error}") from error


@contextmanager
def writing(path: Path | str) -> Iterator[BinaryIO]:
    """A file to write, which takes its place once it is whole; its folder is made."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.part")
    try:
        with temporary.open("wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_writable(path: Path | str) -> None:
    """Raise ``ValueError`` if a file cannot be written there: before hours of work, not after."""
    try:
        if Path(path).is_dir():
            raise IsADirectoryError("it is a folder")
        # an empty file of another name, gone again
        with writing(Path(path).with_name(f"{Path(path).name}.try")):
            pass
        Path(path).with_name(f"{Path(path).name}.try").unlink()
    except OSError as error:
        raise ValueError(f"{path} cannot be written ({error}): name another file") from error
