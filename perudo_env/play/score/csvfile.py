"""An evening as CSV, for a spreadsheet, that reads back to the same evening."""

from __future__ import annotations

import csv
from io import StringIO

from perudo_env.play.score.entries import (
    N_,
    Calza,
    Entry,
    Lost,
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


def to_csv(entries: tuple[Entry, ...]) -> str:
    """The entries that stand, a row each: what was entered, and what follows from it, with the dice each player then has.

    Only the columns ``entry`` and ``data`` (JSON) are read back.
    """
    standing = standing_entries(list(entries))
    players = Evening(standing).players
    evening = Evening(standing[:1])
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, *(_shielded(f"dice {p}") for p in players), *(_shielded(f"place {p}") for p in players)])
    for n, entry in enumerate(standing):
        if n > 0:
            evening.apply(entry)
        row: list[object] = [kind_of(entry), to_json(entry)]
        table = evening.table
        if table is not None and kind_of(entry) not in ("evening", "join"):
            dice = dict(zip(table.players, table.dice, strict=True))
            ended = table.lines[-1].round if isinstance(entry, Lost | Calza) else table.round
            row += [len(evening.tables), ended, _shielded(getattr(entry, "player", "")), _shielded(table.opener or "")]
            row += [int(table.palifico), *(dice.get(p, "") for p in players)]
            row += [table.place_of(p) or "" for p in players]
        writer.writerow(row)
    return out.getvalue()


def from_csv(text: str) -> tuple[Opened, tuple[Entry, ...]]:
    """The entries of an evening that :func:`to_csv` wrote; raises ``ScoreError`` naming the row at fault."""
    try:
        rows = list(csv.DictReader(StringIO(text.removeprefix("\ufeff")), strict=True))
    except csv.Error as error:
        raise ScoreError(N_("this is not the CSV of an evening: {error}"), error=error) from error
    entries: list[Entry] = []
    evening: Evening | None = None
    for number, row in enumerate(rows, 2):
        if row.get("entry") is None or row.get("data") is None:
            raise ScoreError(N_("row {row} has no columns entry and data"), row=number)
        try:
            entry = from_json(row["entry"], row["data"])
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
