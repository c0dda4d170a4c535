"""A run folder: the resolved configuration, the metrics, the checkpoint, the curve."""

from __future__ import annotations

import csv
import importlib.metadata
import io
import platform
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from perudo_env.game.files import check_writable, make_folder, write_text, writing
from train.core.config import read_yaml

CONFIG = "config.yaml"


def open_run(name: str, config: BaseModel, out: Path | None, *, resume: bool = False) -> Path:
    """Make ``out``, or ``runs/NAME-TIME``, and write the resolved configuration there; returns the folder.

    Raises ``ValueError`` if the folder already holds a run: with ``resume``, if it is one of another configuration, or its
    configuration cannot be read. The file is written whole, and only where it says something else.
    """
    folder = out or Path("runs") / f"{name}-{datetime.now():%Y%m%d-%H%M%S}"
    path, tree, there = folder / CONFIG, config.model_dump(mode="json"), None
    if path.exists():
        if not resume:
            raise ValueError(f"{folder} already holds a run: name another folder")
        try:
            there = read_yaml(path)
        except ValueError as error:
            raise ValueError(
                f"{error}: put it back as it was, or remove it to go on with the configuration given"
            ) from error
        known = there
        with suppress(ValidationError):  # keys that are newer than the run have their defaults
            known = type(config).model_validate(there).model_dump(mode="json")
        if known != tree:
            changed = ", ".join(k for k in (*tree, *(known.keys() - tree.keys())) if known.get(k) != tree.get(k))
            raise ValueError(
                f"{folder} holds a run of another configuration ({changed} differ): name another folder, or the same values"
            )
    check_writable(path)
    make_folder(folder)
    if there != tree:
        write_text(path, yaml.safe_dump(tree, sort_keys=False))
    return folder


def take_back(folder: Path) -> None:
    """Remove a run folder that :func:`open_run` made and that nothing else came to: the run never began."""
    if [path.name for path in folder.iterdir()] == [CONFIG]:
        (folder / CONFIG).unlink()
        folder.rmdir()


def provenance() -> dict[str, Any]:
    """The versions and the commit that a checkpoint states; the commit is None outside a checkout."""
    packages = ("perudo-env", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")
    versions: dict[str, str | None] = {}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    here = Path(__file__).parent
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=False)
    return {
        "versions": {"python": platform.python_version(), **versions},
        "commit": commit.stdout.strip() or None,
    }


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as CSV, whole or not at all."""
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    write_text(path, text.getvalue())


def write_png(path: Path, figure: Any, dpi: int = 110) -> None:
    """Write a matplotlib figure as an image of its own, whole or not at all."""
    with writing(path) as file:
        figure.savefig(file, format="png", dpi=dpi)


def read_csv(path: Path, *, ended: bool = False) -> tuple[list[str], list[dict[str, str]]]:
    """The columns and the rows of a CSV file up to the first that is not whole; with ``ended``, a line must have its end.

    Raises ``ValueError`` for what cannot be read as such.
    """
    try:
        text = path.read_bytes().decode()
        reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1] if ended else text, newline=""))
        rows = list(takewhile(lambda row: None not in row and None not in row.values(), reader))
        return list(reader.fieldnames or ()), rows
    except (OSError, ValueError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}") from error
