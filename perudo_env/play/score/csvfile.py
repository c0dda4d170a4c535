"""An evening as CSV, for a spreadsheet, that reads back to the same evening, also as the spreadsheet saves it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO

from perudo_env.game.language import N_
from perudo_env.play.score.entries import (
    Entry,
    Opened,
    ScoreError,
    from_json,
    kind_of,
    standing_entries,
    to_json,
)
from perudo_env.play.score.evening import Evening

COLUMNS = ("entry", "data", "game", "round", "player", "opens", "palifico")
# A spreadsheet would run a cell that begins so as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


_MARK = "\ufeff"  # by which spreadsheets know accents for what they are


def to_csv(entries: tuple[Entry, ...]) -> str:
    """The entries that stand, a row each: what was entered, and what follows from it, with the dice each player then has.

    Only the columns ``entry`` and ``data`` (JSON) are read back. The text begins with a byte order mark.
    """
    standing = standing_entries(list(entries))
    players = Evening(standing).players
    evening = Evening(standing[:1])
    out = StringIO(_MARK)
    out.seek(len(_MARK))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, *(_shielded(f"dice {p}") for p in players), *(_shielded(f"place {p}") for p in players)])
    for n, entry in enumerate(standing):
        before = len(evening.table.lines) if n > 0 and evening.table is not None else 0
        if n > 0:
            evening.apply(entry)
        row: list[object] = [kind_of(entry), to_json(entry)]
        table = evening.table
        if table is not None and kind_of(entry) not in ("evening", "join", "rename"):
            # the names of the end, should one have been corrected
            called = dict(zip(evening.players, players, strict=False))
            here = range(len(table.players))
            ended = table.lines[-1].round if len(table.lines) > before else table.round
            row += [len(evening.tables), ended]
            row += [_shielded(called.get(name or "", "")) for name in (getattr(entry, "player", ""), table.opener)]
            row += [int(table.palifico), *(table.dice[i] if i in here else "" for i in range(len(players)))]
            row += [table.places[i] or "" if i in here else table.num_players + 1 for i in range(len(players))]
        writer.writerow(row)
    return out.getvalue()


def decoded(data: bytes) -> str:
    """The text of a file that a spreadsheet saved: UTF-8, UTF-16 by its mark ("Unicode text"), or Windows' cp1252."""
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return data.decode("utf-16")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise ScoreError(N_("this is not the CSV of an evening: {error}"), error=error) from error


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that hold anything, numbered as a spreadsheet does; commas, semicolons or tabs divide them."""
    lines = text.lstrip(_MARK)
    heads = (line for line in lines.splitlines() if line.strip(' ",;\t') and not line.startswith("sep="))
    head = next(heads, "")
    delimiter = next((d for d in ",;\t" if "data" in [name.strip(' "').lower() for name in head.split(d)]), ",")
    try:
        for number, row in enumerate(csv.reader(StringIO(lines, newline=None), delimiter=delimiter, strict=True), 1):
            cells = [cell.strip() for cell in row]
            if any(cells) and not row[0].startswith("sep="):
                yield number, cells
    except csv.Error as error:
        raise ScoreError(N_("this is not the CSV of an evening: {error}"), error=error) from error


def from_csv(text: str) -> tuple[Opened, tuple[Entry, ...]]:
    """The entries of an evening that :func:`to_csv` wrote; raises ``ScoreError`` naming the row at fault."""
    rows = _rows(text)
    columns = [cell.lower() for cell in next(rows, (1, []))[1]]
    entries: list[Entry] = []
    evening: Evening | None = None
    for number, row in rows:
        cells = dict(zip(columns, row, strict=False))
        if "entry" not in cells or "data" not in cells:
            raise ScoreError(N_("row {row} has no columns entry and data"), row=number)
        try:
            entry = from_json(cells["entry"], cells["data"])
            if evening is None:
                evening = Evening([entry])
            else:
                evening.apply(entry)
        except ScoreError as error:
            raise ScoreError(N_("row {row}: {error}"), row=number, error=error) from error
        entries.append(entry)
    if not entries:
        raise ScoreError(N_("an evening begins with its players"))
    assert isinstance(entries[0], Opened)
    return entries[0], tuple(entries[1:])


def _shielded(text: str) -> str:
    return "'" + text if text.startswith(_FORMULA) else text
