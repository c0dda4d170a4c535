"""The tutorials of the site, run: ``python -m tools.tutorials [NAME ...]`` writes below each cell what it prints, and draws its figures."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

import jupytext
from nbformat.v4 import new_markdown_cell

from perudo_env.game.files import write_text
from tools.parts import ROOT

FOLDER = ROOT / "docs" / "tutorials"
OUTPUT = "```text\n"
"""How the Markdown below a cell begins that holds its output."""
WIDTH = "110"


def names() -> list[str]:
    """The tutorials."""
    return sorted(p.stem for p in FOLDER.glob("*.md") if p.stem != "index")


def executed(text: str, folder: Path) -> str:
    """A notebook as text, its cells run in ``folder`` one after the other, their output below them."""
    notebook = jupytext.reads(text, "md")
    namespace: dict[str, object] = {"__name__": "tutorial"}
    cells = []
    with contextlib.chdir(folder):
        for cell in notebook.cells:
            if cell.cell_type != "code":
                old = cell.source.startswith(OUTPUT)
                cell.source = cell.source.partition("\n```")[2].strip() if old else cell.source
                cells += [cell] if cell.source else []
                continue
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(cell.source, "tutorial", "exec"), namespace)
            cells.append(cell)
            if said.getvalue().strip():
                cells.append(new_markdown_cell(f"{OUTPUT}{_plain(said.getvalue())}\n```"))
    notebook.cells = cells
    return str(jupytext.writes(notebook, "md"))


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def main(wanted: list[str]) -> None:
    """Run those that are named, or all."""
    os.environ["COLUMNS"] = WIDTH
    for name in wanted or names():
        path = FOLDER / f"{name}.md"
        with tempfile.TemporaryDirectory() as folder:
            write_text(path, executed(path.read_text(encoding="utf-8"), Path(folder)))
            for figure in Path(folder).glob("*.png"):
                shutil.copy(figure, FOLDER)


if __name__ == "__main__":
    main(sys.argv[1:])
