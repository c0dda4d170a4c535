"""Configurations: defaults in code, a YAML file of what differs, overrides from the command line; all of it checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import to_jsonable_python

from perudo_env.engine.variant import MAX_SEATS, MAX_STARTING_DICE, MIN_SEATS, nearest, parse_variant
from perudo_env.game.files import read_whole

MOST_BYTES = 10**6
"""Of a configuration; a device, or another file by mistake, may have no end."""
SHOWN = 60
"""Characters of a wrong value that a message repeats."""


class Section(BaseModel):
    """A part of a configuration; every key must be known, of its type and in its range, every number finite.

    The docstring under a field is its line in :func:`describe`.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=False, allow_inf_nan=False, use_attribute_docstrings=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _yes_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """YAML reads on and off as true and false, which would pass for 1 and 0."""
        items = value if isinstance(value, list | tuple) else [value]
        if any(isinstance(x, bool) for x in items) and cls.model_fields[str(info.field_name)].annotation is not bool:
            raise ValueError("yes, no, on, off, true and false are no number; as a word they need quotes in YAML")
        return value


def _read_variant(text: str) -> str:
    parse_variant(text)
    return text


Count = Annotated[int, Field(gt=0, le=10**12)]
NumTables = Annotated[int, Field(gt=0, le=2**20)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]  # what stable-baselines3 takes
Threads = Annotated[int, Field(gt=0, le=1024)]
Share = Annotated[float, Field(ge=0, le=1)]
Part = Annotated[float, Field(gt=0, le=1)]
Weight = Annotated[float, Field(ge=0, le=10**12)]  # in reach of float32, as networks are
Rate = Annotated[float, Field(gt=0, le=10**12)]
Widths = Annotated[tuple[Annotated[int, Field(gt=0, le=2**14)], ...], Field(max_length=16)]
VariantText = Annotated[str, AfterValidator(_read_variant)]
Seats = Annotated[int, Field(ge=MIN_SEATS, le=MAX_SEATS)]
Dice = Annotated[int, Field(gt=0, le=MAX_STARTING_DICE)]
Pair = Annotated[tuple[Dice, ...], Field(min_length=2, max_length=2)]

C = TypeVar("C", bound=Section)


def load_config(kind: type[C], path: Path, overrides: Sequence[str] = ()) -> C:
    """Read a YAML file as ``kind``, with ``overrides`` like ``ppo.learning_rate=1e-4`` (values are YAML) on top.

    Raises ``ValueError``, a line that names the file and the key, for what cannot be read, a key that is unknown (with
    the nearest known one), or a value of the wrong type or out of range.
    """
    tree = read_yaml(path)
    for override in overrides:
        _set(tree, override)
    try:
        return kind.model_validate(tree)
    except ValidationError as error:
        # a misspelt key first: it is why another is missing
        first, *more = sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        left = f"; and {len(more)} more" if more else ""
        raise ValueError(f"{path}: {_problem(kind, first)}{left}") from None


def options_of(kind: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Any, str]]:
    """Every key of a configuration, with its default as plain data (``...`` where there is none) and its line.

    A section comes before its keys, without a default; the keys of a list's entries stand under ``LIST.N``.
    """
    for name, field in kind.model_fields.items():
        listed = get_args(field.annotation)
        inner: Any = listed[0] if listed else field.annotation
        nested = isinstance(inner, type) and issubclass(inner, BaseModel)
        plain = ... if field.is_required() or (nested and not listed) else to_jsonable_python(field.default)
        yield f"{prefix}{name}", plain, field.description or (inner.__doc__ if nested else "") or ""
        if nested:
            yield from options_of(inner, f"{prefix}{name}.{'N.' if listed else ''}")


def describe(kind: type[BaseModel]) -> str:
    """Every key of a configuration, a line each: its default as an override would give it, and what it means."""
    lines = []
    for key, default, line in options_of(kind):
        # in a list, of which the brackets are cut off: YAML ends a lone word in its own way
        given = (
            ""
            if default is ...
            else f"={yaml.safe_dump([default], default_flow_style=True, sort_keys=False, width=10**6)[1:-2]}"
        )
        lines.append(f"{key + given:<36} {line}")
    return "\n".join(lines)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; raises ``ValueError``, a line that names the file, for anything else."""
    try:
        tree = parse_yaml(read_whole(path, MOST_BYTES).decode("utf-8-sig"))
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist: name a YAML file, and overrides like key=value after it") from None
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"{path} cannot be read as YAML: {said}") from error
    if not isinstance(tree, dict):
        raise ValueError(f"{path} is {'empty' if tree is None else 'no configuration'}: keys with values belong there")
    return tree


def parse_yaml(text: str) -> Any:
    """A YAML text as plain data, each key once; raises ``ValueError``, in one line, for what is more or less than that."""
    try:
        return yaml.load(text, _Plain)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except yaml.MarkedYAMLError as error:
        where = f" (line {error.problem_mark.line + 1})" if error.problem_mark and "\n" in text else ""
        raise ValueError(f"{error.problem or error.context}{where}") from None
    except (yaml.YAMLError, ValueError) as error:  # the second of a date or a number that is none
        raise ValueError(" ".join(str(error).split())) from None


class _Plain(yaml.SafeLoader):
    """YAML without aliases, with which a few lines make billions, and without tags, which stand for objects."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        mark = event.start_mark
        if getattr(event, "anchor", None) is not None:
            raise yaml.MarkedYAMLError(
                problem="anchors and aliases (&, *) are not read here: write it out", problem_mark=mark
            )
        if getattr(event, "tag", None) is not None:
            raise yaml.MarkedYAMLError(problem=f"tags ({event.tag}) are not read here", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"{_short(key.value)} is there twice", problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _set(tree: dict[str, Any], override: str) -> None:
    path, equals, value = override.partition("=")
    if not equals or not path:
        raise ValueError(f"{_short(override)} is not an override: write key.key=value")
    *parents, key = path.split(".")
    for parent in parents:
        tree = tree.setdefault(parent, {})
        if not isinstance(tree, dict):
            raise ValueError(f"{_short(override)}: {_short(parent)} is not a section")
    try:
        tree[key] = parse_yaml(value)
    except ValueError as error:
        raise ValueError(f"{_short(override)} cannot be read as YAML: {error}") from None


def _short(value: Any) -> str:
    """A value as a message shows it."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _problem(kind: type[BaseModel], error: Any) -> str:
    *parents, key = map(str, error["loc"] or ("",))
    where = ".".join((*parents, key))
    if error["type"] != "extra_forbidden":
        said = error["msg"].removeprefix("Value error, ")
        shown = f" = {_short(error['input'])}"
        if isinstance(error["input"], dict):
            shown = "" if error["type"] in ("missing", "value_error") else " is not a section"
        return f"{' '.join(where.split())}{shown}: {said[:1].lower()}{said[1:]}"
    section: Any = kind
    for step in error["loc"][:-1]:
        section = get_args(section)[0] if isinstance(step, int) else section.model_fields[step].annotation
    known = list(section.model_fields)
    elsewhere = [f" (did you mean {k!r}?)" for k, *_ in options_of(kind) if k.endswith(f".{key}")]
    hint = nearest(key[:SHOWN], known) or next(iter(elsewhere), "")
    return f"unknown key {_short(where)}{hint}: the keys here are {', '.join(known)}"
