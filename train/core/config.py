"""Configurations: a YAML file, checked, with overrides from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from perudo_env.engine.variant import nearest


class Section(BaseModel):
    """A part of a configuration; every key must be known and of its type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


C = TypeVar("C", bound=Section)


def load_config(kind: type[C], path: Path, overrides: Sequence[str] = ()) -> C:
    """Read a YAML file as ``kind``, with ``overrides`` like ``ppo.learning_rate=1e-4`` (values are YAML) on top.

    Raises ``ValueError``, naming the file and the key, for what cannot be read, a key that is unknown (with the nearest
    known one), or a value of the wrong type.
    """
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ValueError(f"{path} cannot be read as YAML: {error}") from error
    if not isinstance(tree, dict):
        raise ValueError(f"{path} is not a mapping of keys to values")
    for override in overrides:
        _set(tree, override)
    try:
        return kind.model_validate(tree)
    except ValidationError as error:
        raise ValueError(f"{path}: " + "; ".join(_problem(kind, e) for e in error.errors())) from None


def _set(tree: dict[str, Any], override: str) -> None:
    path, equals, value = override.partition("=")
    if not equals or not path:
        raise ValueError(f"{override!r} is not an override: write key.key=value")
    *parents, key = path.split(".")
    for parent in parents:
        tree = tree.setdefault(parent, {})
        if not isinstance(tree, dict):
            raise ValueError(f"{override!r}: {parent} is not a section")
    tree[key] = yaml.safe_load(value)


def _problem(kind: type[BaseModel], error: Any) -> str:
    where = ".".join(map(str, error["loc"]))
    if error["type"] != "extra_forbidden":
        return f"{where} = {error['input']!r}: {error['msg'].lower()}"
    section: Any = kind
    for key in error["loc"][:-1]:
        section = section.model_fields[key].annotation
    known = list(section.model_fields)
    return f"unknown key {where!r}{nearest(str(error['loc'][-1]), known)}: the keys here are {', '.join(known)}"
