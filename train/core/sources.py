"""The fingerprint of a task, of all that decides how it goes: equal ones play equal games and learn alike.

The files are those of the task's module and of all that it imports, found by reading them; with the agents come the
files that they play from, and beside these the versions of the packages that compute.
"""

from __future__ import annotations

import ast
import importlib.metadata
import re
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMPUTING = ("numpy", "numba", "torch")
WORDS = ("perudo_env.game.clauses",)
"""Modules of words for people: games import them, and go the same whatever they say."""
PLAYED = ("**/policy.json", "**/*.npz", "**/weights.safetensors")
"""The files of a checkpoint folder that its agent plays from."""
_REFERENCE = re.compile(r"[\w.]+:\w+")  # package.module:name, as registries spell what they import later


@cache
def fingerprint(module: str) -> str:
    """The sources of a task's module, and the versions of what computes there."""
    found = closure(module)
    packages = {name.partition(".")[0] for name in found}
    versions = (f"{name} {_version(name)}" for name in COMPUTING if name in packages)
    return ", ".join((f"sources {digest(ROOT, files_of(found))}", *versions))


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def closure(module: str, root: Path = ROOT) -> set[str]:
    """The names of a module and of all that it imports, those under ``root`` with what they import in turn.

    An import that only annotations use does not count, and of a package only what is taken from it: where a module is
    named, that its package's ``__init__`` runs before it changes nothing.
    """
    found: set[str] = set()
    left = [module]
    while left:
        name = left.pop()
        if name in found or name in WORDS:
            continue
        found.add(name)
        path = file_of(name, root)
        if path is not None:
            left += _imports(path.read_bytes(), root)
    return found


def files_of(modules: Iterable[str], root: Path = ROOT) -> list[Path]:
    """The files of those modules that are ours; with ``agents`` the files that shipped agents play from."""
    found = [path for name in modules if (path := file_of(name, root)) is not None]
    if "agents" in modules:
        found += matching(root / "agents" / "checkpoints", PLAYED)
    return found


def file_of(module: str, root: Path = ROOT) -> Path | None:
    """The file of a module under ``root``, None for one of another package."""
    base = root.joinpath(*module.split("."))
    candidates = base.with_suffix(".py"), base / "__init__.py"
    return next((path for path in candidates if path.is_file()), None)


def matching(folder: Path, patterns: Iterable[str]) -> list[Path]:
    """The files under a folder that match one of the patterns."""
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def digest(folder: Path, files: Iterable[Path]) -> str:
    """A short digest of files under a folder, with their names."""
    found = sha256()
    for path in sorted(files):
        found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]


@cache
def _imports(source: bytes, root: Path) -> tuple[str, ...]:
    """The modules that a module's code uses."""
    return tuple(_used_imports(ast.parse(source), root))


def _used_imports(tree: ast.Module, root: Path) -> Iterator[str]:
    uses = _Uses()
    uses.visit(tree)
    for text in filter(_REFERENCE.fullmatch, uses.texts):
        if file_of(text.partition(":")[0], root):
            yield text.partition(":")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if (alias.asname or alias.name.partition(".")[0]) in uses.names:
                    yield alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) in uses.names:
                    inner = f"{node.module}.{alias.name}"
                    yield inner if file_of(inner, root) else node.module


class _Uses(ast.NodeVisitor):
    """The names and texts in code, without annotations and without what runs only as a command."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.texts: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        self.names.add(node.id)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.texts.add(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """A parameter's annotation does not count."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *node.body):
            self.visit(part)

    def visit_If(self, node: ast.If) -> None:
        if not (
            isinstance(node.test, ast.Compare)
            and isinstance(node.test.left, ast.Name)
            and node.test.left.id == "__name__"
        ):
            self.generic_visit(node)
