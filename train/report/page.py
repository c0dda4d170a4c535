"""A single HTML page that needs nothing else: tables, and figures embedded as SVG."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from perudo_env.game.files import write_text
from train.core.table import Table, text

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
h1 { font-size: 1.6rem } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #ddd }
table { border-collapse: collapse; margin: 1rem 0; font-size: .9rem; display: block; overflow-x: auto }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e5e5e5; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
.facts td { text-align: left; white-space: normal; overflow-wrap: anywhere }
img { max-width: 100% } .note { color: #666; font-size: .9rem }
.above { color: #11692b } .below { color: #a31515 }
"""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def heading(words: str) -> Html:
    """A section's title."""
    return Html(f"<h2>{escape(words)}</h2>")


def paragraph(words: str, *, note: bool = False) -> Html:
    """A paragraph; a note is set smaller."""
    return Html(f"<p{' class=note' if note else ''}>{escape(words)}</p>")


def details(title: str, words: str) -> Html:
    """A long text as it is written, folded away."""
    return Html(f"<details><summary>{escape(title)}</summary><pre>{escape(words)}</pre></details>")


def table(shown: Table) -> Html:
    """A table and its note; the first column names the rows, and what has no header may be long."""
    head = "".join(f"<th>{escape(column)}</th>" for column in shown.columns)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in shown.rows)
    top = f"<table><thead><tr>{head}</tr></thead>" if shown.columns else "<table class=facts>"
    return Html(f"{top}<tbody>{body}</tbody></table>{paragraph(shown.note, note=True) if shown.note else ''}")


def _cell(cell: object) -> str:
    mark = getattr(cell, "mark", "")
    return f"<td{f' class={mark}' if mark else ''}>{escape(text(cell))}</td>"


def plot(figure: Any, says: str) -> Html:
    """A matplotlib figure as an image inside the page; ``says`` is its text for who cannot see it."""
    import matplotlib as mpl

    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "page"}):  # the same figure is the same text
        figure.savefig(out, format="svg", metadata={"Date": None})
    data = base64.b64encode(out.getvalue().encode()).decode()
    return Html(f'<img alt="{escape(says)}" src="data:image/svg+xml;base64,{data}">')


def write_page(path: Path, title: str, parts: Iterable[Html]) -> None:
    """Write the page whole or not at all."""
    body = "\n".join(parts)
    write_text(
        path,
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n{body}\n</body></html>\n",
    )
