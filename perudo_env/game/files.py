"""Files that are written whole or not at all, and JSON whose every fault is a ``ValueError``."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

DEVICES = ("/dev", "/dev/fd")
MOST_READ = 10**8
TRIAL = bytes(4096)  # what a disk that is full has no room for


class NotWrittenError(ValueError, OSError):
    """A file that cannot be written: a full disk, a folder that is none or is closed to us."""

    def __init__(self, path: Path | str, why: OSError | str, advice: str = "") -> None:
        reason = why if isinstance(why, str) else why.strerror or str(why)
        super().__init__(f"{path} cannot be written ({reason}){advice}")


@contextmanager
def written(path: Path | str, advice: str = "") -> Iterator[None]:
    """Say ``NotWrittenError``, with a word of advice, of what the system refuses while ``path`` is written."""
    try:
        yield
    except NotWrittenError:
        raise
    except OSError as error:
        raise NotWrittenError(path, error, advice) from error


@contextmanager
def writing(path: Path | str) -> Iterator[BinaryIO]:
    """A file to write, which takes its place once it is whole; its folder is made. Raises ``NotWrittenError``.

    What is no file, like /dev/stdout, is written to as it stands.
    """
    path = Path(path)
    with written(path):
        if is_device(path):
            with path.open("wb") as file:
                yield file
            return
        make_folder(path.parent)
        temporary = path.with_name(f"{path.name}.part")
        try:
            with temporary.open("wb") as file:
                yield file
            take_place(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


def write_text(path: Path | str, text: str) -> None:
    """Write a text file in UTF-8, whole or not at all. Raises ``NotWrittenError``."""
    with writing(path) as file:
        file.write(text.encode())


def is_folder(name: Path | str) -> bool:
    """Whether a folder is there; also for names that no folder can have, as one too long."""
    try:
        return bool(str(name)) and Path(name).is_dir()  # "" would be the current folder
    except OSError:
        return False


def check_writable(path: Path | str) -> None:
    """Raise ``NotWrittenError`` if no page of text can be written there: before hours of work, not after.

    It leaves nothing behind, nor the folders that are missing yet.
    """
    path = Path(path)
    with written(path, ": name another file"):
        if path.is_dir():
            raise NotWrittenError(path, "it is a folder", ": name a file")
        if is_device(path):
            path.open("wb").close()
            return
        trial = path.with_name(f"{path.name}.try")
        missing = [folder for folder in path.parents if not folder.exists()]
        try:
            make_folder(path.parent)
            trial.write_bytes(TRIAL)
        finally:
            with suppress(OSError):
                trial.unlink(missing_ok=True)
                for folder in missing:
                    folder.rmdir()


def make_folder(folder: Path) -> None:
    """Make a folder where there is none; raises ``NotWrittenError`` where it cannot be."""
    with written(folder):
        if folder.exists() and not folder.is_dir():
            raise NotWrittenError(folder, "it is no folder")
        folder.mkdir(parents=True, exist_ok=True)


def is_device(path: Path) -> bool:
    """Whether a path is there and is no file to be replaced: a pipe, a device, or /dev/stdout, which may lead to a file."""
    return path.exists() and not path.is_dir() and (not path.is_file() or str(path.absolute().parent) in DEVICES)


def take_place(whole: Path, path: Path) -> None:
    """Let a file that is whole take the place of ``path``; a device stays one, and is written to."""
    if not is_device(path):
        os.replace(whole, path)
        return
    with whole.open("rb") as source, path.open("wb") as target:
        shutil.copyfileobj(source, target)
    whole.unlink()


def read_whole(path: Path | str, most: int = MOST_READ) -> bytes:
    """What a file holds; raises ``ValueError`` for more than ``most`` bytes: what is no file, like /dev/zero, may have no end."""
    with Path(path).open("rb") as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise ValueError(f"it has more than {most:,} bytes")
    return found


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
        found = parse_json(read_whole(path).decode("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is not a JSON file that can be read: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} is not a JSON object but a {type(found).__name__}")
    return found
