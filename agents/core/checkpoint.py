"""The files of a checkpoint folder: whatever interrupts writing leaves the old ones or the new ones, and reading runs nothing.

``policy.json`` says what the agent is and names the SHA-256 of its weights. All files are written under temporary names;
the renaming of ``policy.json`` is the one moment at which the new checkpoint takes the place of the old. If a kill comes
before its weights are renamed too, they are found under their temporary name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from perudo_env.game.files import read_json

ABOUT, WEIGHTS, CARD = "policy.json", "weights.safetensors", "README.md"


def write_checkpoint(folder: Path, weights: bytes, about: Mapping[str, Any], card: str) -> None:
    """Write the three files of a checkpoint; what raises (a full disk) leaves the folder as it was."""
    text = json.dumps({**about, "sha256": sha256(weights).hexdigest()}, indent=2) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    _finish(folder)
    files = {ABOUT: text.encode(), WEIGHTS: weights, CARD: card.encode()}
    try:
        for name, content in files.items():
            write_bytes(_unfinished(folder, name), content)
    except BaseException:
        for name in files:
            _unfinished(folder, name).unlink(missing_ok=True)
        raise
    for name in files:
        os.replace(_unfinished(folder, name), folder / name)


def read_about(folder: Path) -> dict[str, Any]:
    """The object in ``policy.json``; raises ``ValueError`` if there is none that can be read."""
    return read_json(folder / ABOUT)


def read_weights(folder: Path, about: Mapping[str, Any]) -> bytes:
    """The weights that ``about`` names; raises ``ValueError`` if the folder does not hold them."""
    wanted, path = about.get("sha256"), folder / WEIGHTS
    for candidate in (path, _unfinished(folder, WEIGHTS)):
        try:
            content = candidate.read_bytes()
        except OSError:
            continue
        if wanted in (None, sha256(content).hexdigest()):
            return content
    if not path.is_file():
        raise ValueError(f"{path} is missing")
    raise ValueError(
        f"{path} is not the file that {ABOUT} names (its SHA-256 differs): it is truncated, changed, or of another checkpoint"
    )


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file and see to it that it is on the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _unfinished(folder: Path, name: str) -> Path:
    return folder / f".{name}.tmp"


def _finish(folder: Path) -> None:
    """Rename weights that a kill left under their temporary name, if they are the ones in force."""
    left = _unfinished(folder, WEIGHTS)
    if (
        left.is_file()
        and (folder / ABOUT).is_file()
        and read_about(folder).get("sha256") == sha256(left.read_bytes()).hexdigest()
    ):
        os.replace(left, folder / WEIGHTS)
