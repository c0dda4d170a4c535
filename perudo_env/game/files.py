"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


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


def write_text(path: Path | str, text: str) -> None:
    """Write a text file in UTF-8, whole or not at all."""
    with writing(path) as file:
        file.write(text.encode())


def check_writable(path: Path | str) -> None:
    """Raise ``ValueError`` if a file cannot be written there: before hours of work, not after."""
    path = Path(path)
    trial = path.with_name(f"{path.name}.try")
    try:
        if path.is_dir():
            raise IsADirectoryError("it is a folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise ValueError(f"{path} cannot be written ({error}): name another file") from error
