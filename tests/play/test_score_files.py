"""The files of the score keeper: the one that evenings are kept in, CSV and the sheet to print."""

from __future__ import annotations

import csv
import sqlite3
from io import StringIO
from pathlib import Path

import pytest

from perudo_env.game.words import words
from perudo_env.play.score.csvfile import decoded, from_csv, to_csv
from perudo_env.play.score.entries import (
    Calza,
    GameStarted,
    Joined,
    Left,
    Lost,
    Opened,
    Renamed,
    ScoreError,
    Stopped,
    Undone,
    from_json,
    kind_of,
    table_variant,
    to_json,
)
from perudo_env.play.score.evening import Evening
from perudo_env.play.score.sheet import sheet_html
from perudo_env.play.score.store import OutOfDateError, Store
from tests.play.scores import losses, opened, shown, won_by

EN = words("en")


# ------------------------------------------------------------------------------------------------ the file


def test_what_is_kept_reads_back(store: Store) -> None:
    entries = [*won_by("Ann", "Cy", "Bo"), Joined("Zoé"), GameStarted(("Ann", "Zoé"), seed=2**62), Stopped(), Undone()]
    first = opened("Ann", "Bo", "Cy", dice=3)
    evening_id = store.open(first)
    for entry in entries:
        store.append(evening_id, entry)
    assert store.open(opened("x", "y")) == evening_id + 1
    again = Store(store.file)
    assert again.read(evening_id).entries == (first, *entries)
    assert [kept.id for kept in again.evenings()] == [evening_id + 1, evening_id]
    with pytest.raises(ScoreError, match="there is no evening 99"):
        again.read(99)


def test_a_refused_entry_and_one_from_an_old_sheet_change_nothing(store: Store) -> None:
    evening_id = store.open(opened("Ann", "Bo"))
    kept = store.append(evening_id, GameStarted(opener="Bo"), expected=1)
    with pytest.raises(OutOfDateError):
        store.append(evening_id, Lost("Ann"), expected=1)
    with pytest.raises(ScoreError, match="Cy does not play"):
        store.append(evening_id, Lost("Cy"), expected=2)
    assert store.read(evening_id) == kept


def test_a_form_posted_twice_begins_one_evening(store: Store) -> None:
    first = opened("Ann", "Bo")
    evening_id = store.open(first, form="a")
    assert store.open(first, form="a") == evening_id
    # the page before, by the browser's button, with another name typed
    others = {
        store.open(opened("Ann", "Cy"), form="a"),
        store.open(first, form="b"),
        store.open(first),
        store.open(first),
    }
    assert len(others | {evening_id}) == 5


def test_an_evening_is_deleted_alone_and_its_number_not_used_again(store: Store) -> None:
    ids = [store.open(opened("Ann", "Bo")) for _ in range(3)]
    with pytest.raises(OutOfDateError):
        store.delete(ids[2], expected=2)
    store.delete(ids[2], expected=1)
    store.delete(ids[0])
    with pytest.raises(ScoreError, match="there is no evening"):
        store.delete(ids[0])
    assert [kept.id for kept in store.evenings()] == [ids[1]]
    assert store.open(opened("Ann", "Bo")) == ids[2] + 1


def test_a_file_of_the_first_version_goes_on_and_one_bad_evening_hides_no_other(tmp_path: Path) -> None:
    file = tmp_path / "scores.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE evening (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL)")
        db.execute("CREATE TABLE entry (evening INTEGER, number INTEGER, at TEXT, kind TEXT, data TEXT)")
        db.execute("PRAGMA user_version = 1")
        for i, first in enumerate((opened("Zoe\u0301", "Bo"), opened("fi", "\ufb01")), 1):
            db.execute("INSERT INTO evening VALUES (?, '2026-11-30T20:00:00+00:00')", (i,))
            db.execute("INSERT INTO entry VALUES (?, 0, '', 'evening', ?)", (i, to_json(first)))
    db.close()
    store = Store(file)
    store.append(1, GameStarted(opener="Zoé"))
    bad, good = Store(file).evenings()
    assert good.evening.table is not None
    assert "two players are called" in str(bad.fault)


def test_a_file_that_is_no_score_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear Ann, " * 200)
    with pytest.raises(ScoreError, match=r"letter\.txt"):
        Store(file)
    assert file.read_text().startswith("Dear Ann")
    newer = tmp_path / "newer.sqlite"
    db = sqlite3.connect(newer)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(ScoreError, match="newer program"):
        Store(newer)


@pytest.mark.parametrize(
    ("kind", "text"),
    [("lost", "{}"), ("lost", '{"player": 3}'), ("won", "{}"), ("game", "[]"), ("lost", "{"), ("stop", '{"player": "a"}'), ("stop", "[]"),
     ("game", '{"playing": ["a", 1], "opener": "", "seed": 0}'), ("game", '{"playing": [], "opener": "", "seed": true}')],
)  # fmt: skip
def test_only_entries_are_read(kind: str, text: str) -> None:
    with pytest.raises(ScoreError, match="is not an entry"):
        from_json(kind, text)
    assert from_json("lost", '{"player": "é"}') == Lost("é")
    assert from_json(kind_of(Stopped()), to_json(Stopped())) == Stopped()


# ------------------------------------------------------------------------------------------------ CSV and sheet


def test_csv_reads_back_to_the_same_evening_and_leaves_out_what_was_undone() -> None:
    first = Opened(("=1+1", 'O\'Brien, "Bo"', "Zoé"), str(table_variant("box", 3, True)))
    names = first.players
    entries = (
        GameStarted(opener=names[1]),
        Lost(names[0]),
        Lost(names[2]),
        Undone(),
        Calza(names[1]),
        *losses(*(names[2],) * 3),
    )
    text = to_csv((first, *entries))
    again, rest = from_csv(text)
    assert shown(Evening([again, *rest])) == shown(Evening([first, *entries]))
    assert to_csv((again, *rest)) == text
    # marked, so that a spreadsheet knows the accents for what they are
    assert text.startswith("\ufeffentry,data,")
    assert from_csv(text.removeprefix("\ufeff")) == (again, rest)
    assert ",'=1+1," in text
    assert ",=1+1" not in text


def test_what_a_spreadsheet_makes_of_the_csv_reads_back() -> None:
    first = Opened(("Zoé", 'O\'Brien; "Bo",', "Cy"), str(table_variant("marquoir", 3)))
    entries = (
        GameStarted(opener="Zoé"),
        *losses("Cy", "Zoé"),
        Left("Cy"),
        Renamed("Zoé", "Zoë"),
        Lost("Zoë"),
        Stopped(),
        Joined("Di"),
    )
    text = to_csv((first, *entries))
    rows = list(csv.reader(StringIO(text.removeprefix("\ufeff"))))
    assert [row[0] for row in rows] == [
        "entry",
        "evening",
        "game",
        "lost",
        "lost",
        "leave",
        "rename",
        "lost",
        "stop",
        "join",
    ]
    # the right name from the first row on, and places for all
    assert (rows[0][7], rows[4][4], rows[5][-4:]) == ("dice Zoë", "Zoë", ["", "", "3", "4"])
    for delimiter, encoding, end in (
        (";", "cp1252", "\r\n"),
        ("\t", "utf-16", "\r\n"),
        (",", "utf-8-sig", "\r"),
        (";", "utf-8", "\n"),
    ):
        out = StringIO()
        saved = csv.writer(out, delimiter=delimiter, lineterminator=end)
        saved.writerows(
            [
                [""] * 5,
                [name.upper() for name in rows[0]],
                [""] * 9,
                *rows[1:3],
                [],
                *([*row, "", ""] for row in rows[3:]),
                [""],
            ]
        )
        text = ("sep=;" + end if encoding == "utf-8" else "") + out.getvalue()
        assert from_csv(decoded(text.encode(encoding))) == (first, entries), encoding
    with pytest.raises(ScoreError, match=r"row 3: lost with \{\}"):
        from_csv("entry;data\n;;\nlost;{}\n")
    for data in (b"\xff\xfe\x00", b"entry,data\n\x81\x8d", bytes(range(256))):
        with pytest.raises(ScoreError):
            from_csv(decoded(data))


@pytest.mark.parametrize(
    "text", ["", "entry,data\n", "a,b\n1,2\n", 'entry,data\nlost,"{""player"": ""a""}"\n', 'entry,data\n"x\n']
)
def test_a_csv_that_is_no_evening_is_refused(text: str) -> None:
    with pytest.raises(ScoreError):
        from_csv(text)


def test_the_sheet_escapes_names_and_holds_every_round(store: Store) -> None:
    evening_id = store.open(
        opened("<script>x</script>", "Bo", dice=3), [GameStarted(opener="Bo"), *losses("Bo", "Bo", "Bo")]
    )
    page = sheet_html(store.read(evening_id), EN)
    assert "<script" not in page
    assert "&lt;script&gt;x" in page
    assert page.count("(−1)") == 3
    assert "2 Palifico" not in page
    assert "3 Palifico" in page
