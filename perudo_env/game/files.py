"""Files that are written whole or not at all, and JSON whose every fault is a ``ValueError``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO


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


def is_folder(name: Path | str) -> bool:
    """Whether a folder is there; also for names that no folder can have, as one too long."""
    try:
        return bool(str(name)) and Path(name).is_dir()  # "" would be the current folder
    except OSError:
        return False


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


def parse_json(text: str | bytes) -> Any:
    """What a JSON text holds; raises ``ValueError`` for any other, one nested too deeply among them."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_json(path: Path | str) -> dict[str, Any]:
    """The object that a JSON file holds; raises ``ValueError`` naming the file if there is none.

    A byte order mark before it, as editors on Windows write one, is passed over.
    """
    try:
        found = parse_json(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is not a JSON file that can be read: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} is not a JSON object but a {type(found).__name__}")
    return found
