"""The score keeper: an evening from its entries, the file it is kept in, CSV and the line mode (S3, S4)."""

from __future__ import annotations

import csv
import random
import sqlite3
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from perudo_env import Game
from perudo_env.game.words import words
from perudo_env.play.score.csvfile import decoded, from_csv, to_csv
from perudo_env.play.score.entries import (
    Calza,
    Entry,
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
from perudo_env.play.score.plain import Keeper
from perudo_env.play.score.sheet import sheet_html
from perudo_env.play.score.store import OutOfDateError, Store
from tests.helpers import play_out

EN = words("en")


def opened(
    *players: str, preset: str = "marquoir", dice: int = 5, calza: bool | None = None, scoring: str = "places"
) -> Opened:
    return Opened(players, str(table_variant(preset, dice, calza)), scoring)


def evening(*entries: Entry, first: Opened | None = None) -> Evening:
    return Evening([first or opened("Ann", "Bo", "Cy", dice=3), *entries])


def losses(*names: str) -> list[Entry]:
    return [Lost(name) for name in names]


# ------------------------------------------------------------------------------------------------ one game


def test_who_loses_a_die_opens_the_next_round_and_the_drop_to_one_die_is_palifico() -> None:
    table = evening(GameStarted(opener="Cy"), *losses("Ann", "Bo", "Bo")).table
    assert table is not None
    assert (table.first, table.dice, table.opener, table.palifico, table.round) == ("Cy", (2, 1, 3), "Bo", True, 4)
    assert [line.opens for line in table.lines] == ["Ann", "Bo", "Bo"]
    assert [line.palifico for line in table.lines] == [False, False, True]


def test_a_player_without_dice_is_out_and_the_next_one_clockwise_opens() -> None:
    table = evening(GameStarted(opener="Ann"), *losses("Bo", "Bo", "Bo")).table
    assert table is not None
    assert (table.opener, table.palifico, table.places) == ("Cy", False, (0, 3, 0))
    with pytest.raises(ScoreError, match="Bo has no dice left"):
        table.settle("Bo", -1)


def test_a_right_calza_takes_a_die_back_but_never_beyond_the_start_and_its_caller_opens() -> None:
    table = evening(GameStarted(opener="Ann"), Lost("Bo"), Calza("Bo"), Calza("Bo")).table
    assert table is not None
    assert [line.change for line in table.lines] == [-1, 1, 0]
    assert (table.dice, table.opener) == ((3, 3, 3), "Bo")


def test_palifico_once_and_each_drop_are_the_variants() -> None:
    drops = [GameStarted(opener="Ann"), *losses("Bo", "Bo"), Calza("Bo"), Lost("Bo")]
    for preset, again in (("marquoir", True), ("evening", False), ("pascal", False)):
        table = evening(*drops, first=opened("Ann", "Bo", preset=preset, dice=3, calza=True)).table
        assert table is not None
        assert table.palifico is again, preset


def test_the_last_one_with_dice_wins_and_nothing_follows() -> None:
    e = evening(GameStarted(opener="Ann"), *losses(*("Bo",) * 3, *("Ann",) * 3))
    table = e.table
    assert table is not None
    assert (table.is_over, table.truncated, table.places, table.opener, table.palifico) == (
        True,
        False,
        (2, 3, 1),
        None,
        False,
    )
    with pytest.raises(ScoreError, match="the game is over"):
        table.settle("Cy", -1)


@pytest.mark.parametrize("preset", ["classic", "pascal", "box", "marquoir", "evening"])
def test_the_sheet_of_a_played_game_agrees_with_the_game(preset: str) -> None:
    """Outcomes of games in the engine, entered one by one, give the same dice, openers, Palifico and places."""
    for seed in range(4):
        v = table_variant(preset, calza=True)
        names = ("a", "b", "c", "d")
        game = Game(v, 4, seed)
        e = Evening([Opened(names, str(v)), GameStarted(opener=names[game.opener])])
        rng = random.Random(seed)
        while not game.is_over:
            number = game.round
            while not game.is_over and game.round == number:
                play_out(game, rng, steps=1)
            change, who = game.states[0]["last_change"], names[game.states[0]["last_seat"]]
            e.apply(Lost(who) if change < 0 else Calza(who))
            table = e.table
            assert table is not None
            assert table.dice == game.dice
            assert table.opener == (None if game.is_over else names[game.opener])
            assert table.palifico == (game.palifico and not game.is_over)
        assert table.places == game.ranks


def test_the_first_opener_is_drawn_by_the_variants_rules_from_the_seed() -> None:
    drawn = {seed: evening(GameStarted(seed=seed)).tables[0].first for seed in range(40)}
    assert set(drawn.values()) == {"Ann", "Bo", "Cy"}
    assert drawn[7] == ("Ann", "Bo", "Cy")[Game(table_variant("marquoir", 3), 3, 7).opener]


# ------------------------------------------------------------------------------------------------ an evening


def won_by(winner: str, *others: str) -> list[Entry]:
    """A game of three dice: ``others`` go out in this order."""
    return [GameStarted(opener=winner), *losses(*(name for other in others for name in (other,) * 3))]


def test_the_sum_of_places_ranks_an_evening_lowest_first_and_equals_share_a_rank() -> None:
    e = evening(*won_by("Ann", "Cy", "Bo"), *won_by("Bo", "Cy", "Ann"), *won_by("Cy", "Ann", "Bo"))
    assert [(s.rank, s.player, s.points, s.games, s.wins) for s in e.standings()] == [
        (1, "Bo", 5, 3, 1), (2, "Ann", 6, 3, 1), (3, "Cy", 7, 3, 1),
    ]  # fmt: skip
    shared = evening(*won_by("Ann", "Cy", "Bo"), *won_by("Bo", "Cy", "Ann"))
    assert [(s.rank, s.player, s.points) for s in shared.standings()] == [(1, "Ann", 3), (1, "Bo", 3), (3, "Cy", 6)]


def test_games_won_rank_an_evening_highest_first() -> None:
    first = opened("Ann", "Bo", "Cy", dice=3, scoring="wins")
    e = evening(*won_by("Bo", "Cy", "Ann"), *won_by("Bo", "Cy", "Ann"), *won_by("Cy", "Ann", "Bo"), first=first)
    assert [(s.rank, s.player, s.points) for s in e.standings()] == [(1, "Bo", 2), (2, "Cy", 1), (3, "Ann", 0)]


def test_a_game_under_way_does_not_count_yet() -> None:
    e = evening(*won_by("Ann", "Cy", "Bo"), GameStarted(opener="Bo"), *losses("Ann", "Ann", "Ann"))
    assert [s.points for s in e.standings()] == [1, 2, 3]


def test_a_game_cut_off_is_ranked_by_dice_and_shares_places() -> None:
    table = evening(GameStarted(opener="Ann"), Lost("Bo"), Stopped()).table
    assert table is not None
    assert (table.places, table.truncated) == ((1, 3, 1), True)


def test_who_sits_out_or_joins_later_takes_the_place_after_the_last_of_the_games_missed() -> None:
    e = evening(GameStarted(("Ann", "Cy"), "Ann"), *losses("Cy", "Cy", "Cy"), Joined("Di"), GameStarted(opener="Di"))
    first, second = e.tables
    assert first.dice == (3, 0, 0)
    assert [first.place_of(p) for p in ("Ann", "Bo", "Cy", "Di")] == [1, 3, 2, 3]
    assert [first.took_part(p) for p in ("Ann", "Bo", "Cy", "Di")] == [True, False, True, False]
    assert (second.players, second.opener) == (("Ann", "Bo", "Cy", "Di"), "Di")


def test_who_leaves_in_mid_game_is_out_below_those_still_in() -> None:
    first = opened("Ann", "Bo", "Cy", "Di", dice=3)
    told = [GameStarted(opener="Ann"), *losses("Di", "Di", "Di", "Cy", "Cy")]
    before = evening(*told, first=first).table
    assert before is not None
    assert (before.opener, before.palifico, before.round) == ("Cy", True, 6)
    # somebody else: the same round again, nobody else loses a die
    table = evening(*told, Left("Ann"), first=first).table
    assert table is not None
    assert (table.dice, table.places, table.opener, table.palifico, table.round) == (
        (0, 3, 1, 0), (3, 0, 0, 4), "Cy", True, 7,
    )  # fmt: skip
    assert (table.lines[-1].player, table.lines[-1].left, table.lines[-1].place, table.lines[-1].round) == ("Ann", True, 3, 6)  # fmt: skip
    # the one whose Palifico it was to be: an ordinary round, opened by the next one clockwise who is in
    table = evening(*told, Left("Cy"), first=first).table
    assert table is not None
    assert (table.opener, table.palifico, table.places) == ("Ann", False, (0, 0, 3, 4))
    # of two the other has won; who is out already keeps its place
    over = evening(*told, Left("Di"), Left("Ann"), Left("Bo"), first=first)
    assert over.table is not None
    assert (over.table.is_over, over.table.truncated, over.table.places) == (True, False, (3, 2, 1, 4))
    with pytest.raises(ScoreError, match="Bo has left already"):
        over.apply(Left("Bo"))
    # the next game is played by who is here, and by who joins again
    with pytest.raises(ScoreError, match="two players"):
        over.apply(GameStarted())
    over.apply(Joined("bo"))
    over.apply(GameStarted())
    assert over.table.dice == (0, 3, 3, 0)
    assert over.gone == {"Ann", "Di"}
    assert shown(evening(*told, Left("Ann"), Undone(), first=first)) == shown(evening(*told, first=first))


def test_a_name_is_corrected_in_all_games() -> None:
    told = [*won_by("Ann", "Cy", "Bo"), GameStarted(opener="Bo"), Lost("Bo")]
    right = opened("Ann", "Bob", "Cy", dice=3)
    as_if = [
        GameStarted(opener="Ann"),
        *losses(*("Cy",) * 3, *("Bob",) * 3),
        GameStarted(opener="Bob"),
        *losses("Bob", "Ann"),
    ]
    e = evening(*told, Renamed("Bo", " Bob "), Lost("Ann"))
    assert shown(e) == shown(evening(*as_if, first=right))
    assert e.players == ("Ann", "Bob", "Cy")
    for wrong, says in ((Renamed("Bo", "Al"), "Bo does not play"), (Renamed("Bob", "CY"), "two players are called CY")):
        with pytest.raises(ScoreError, match=says):
            e.apply(wrong)
    e.apply(Renamed("Bob", "BOB"))  # nobody else's
    assert evening(*told, Left("Bo"), Renamed("Bo", "Bob")).gone == {"Bob"}
    assert shown(evening(*told, Renamed("Bo", "Bob"), Undone())) == shown(evening(*told))


def test_undo_drops_the_last_entry_that_stands_and_reaches_back_over_games() -> None:
    told = [*won_by("Ann", "Cy", "Bo"), GameStarted(opener="Bo"), Lost("Cy")]
    for n in range(len(told) + 1):
        assert shown(evening(*told, *[Undone()] * n)) == shown(evening(*told[: len(told) - n]))
    with pytest.raises(ScoreError, match="nothing to undo"):
        evening(*told, *[Undone()] * (len(told) + 1))
    # a mistake, undone, and the right entry
    assert shown(evening(*told, Undone(), Lost("Bo"), Undone(), Lost("Ann"))) == shown(evening(*told[:-1], Lost("Ann")))


def shown(e: Evening) -> list[object]:
    """All that a sheet shows."""
    return [(t.first, t.lines, t.dice, t.places, t.opener, t.palifico) for t in e.tables] + list(e.standings())


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([Lost("Ann")], "no game is being played"),
        ([Stopped()], "no game is being played"),
        ([GameStarted(), GameStarted()], "finish it or stop it first"),
        ([GameStarted(), Joined("Di")], "between two games"),
        ([GameStarted(), Lost("ann")], "ann does not play: the players are Ann, Bo, Cy"),
        ([GameStarted(("Ann", "Bo"), "Cy")], "Cy sits out"),
        ([GameStarted(("Ann",))], "two players"),
        ([GameStarted(("Ann", "Ann"))], "two players"),
        ([GameStarted(seed=-1)], "-1 is not a seed"),
        ([Joined("BO")], "two players are called BO"),
        ([GameStarted(), Calza("Ann")], None),
    ],
)
def test_an_entry_that_cannot_be_is_refused(entries: list[Entry], says: str | None) -> None:
    if says is None:
        evening(*entries)
        with pytest.raises(ScoreError, match="played without Calza"):
            evening(*entries, first=opened("Ann", "Bo", "Cy", calza=False))
        return
    with pytest.raises(ScoreError, match=says):
        evening(*entries)


@pytest.mark.parametrize(
    "players", [("Ann",), tuple("abcdefghi"), ("Ann", ""), ("Ann", "Ann "), ("Ann", "x" * 31), ("Ann", "a\x1b[31mb")]
)
def test_names_that_cannot_stand_on_a_sheet_are_refused(players: tuple[str, ...]) -> None:
    with pytest.raises(ScoreError):
        Evening([Opened(players, "marquoir")])


def test_dice_and_calza_are_chosen_on_top_of_a_preset() -> None:
    assert [table_variant("marquoir", n).starting_dice for n in (3, 5, 6)] == [3, 5, 6]
    assert [table_variant(p, calza=True).calza for p in ("classic", "box", "marquoir")] == [
        "on_turn",
        "anyone",
        "on_turn",
    ]
    assert table_variant("marquoir", calza=False).calza == "off"
    for bad in (("joker", 5), ("marquoir", 7), ("marquoir", 0)):
        with pytest.raises(ScoreError):
            table_variant(*bad)


# ------------------------------------------------------------------------------------------------ the file


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "deep" / "scores.sqlite")


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


# ------------------------------------------------------------------------------------------------ line mode


def lines(store: Store, text: str, evening_id: int | None = None) -> str:
    out = StringIO()
    Keeper(store, EN, StringIO(text), out).run(evening_id)
    return out.getvalue()


def test_an_evening_in_lines(store: Store, tmp_path: Path) -> None:
    sheet, table = tmp_path / "sheet.html", tmp_path / "evening.csv"
    out = lines(store, f"Ann\nAnn, Ann\nAnn, Bo, Cy\nclassic\n3\nn\nplaces\nundo\ngame cy\n-ann\nann -1\n-1 Bo\nundo\n-x\n+Ann\n"
                       f"fly\n- bo\n-bo\n-bo\n-c\n-c\n-c\nsans bo\nstop\nsheet {sheet}\ncsv {table}\nhelp\nscore\nquit\n-ann\n")  # fmt: skip
    assert "No: 1 names: 2 to 8 play." in out
    assert "No: two players are called Ann: tell them apart." in out
    assert "Ann loses a die: 1 die left.\nPalifico!" in out
    assert "The last entry is dropped.\nPalifico!" in out
    assert "No: x does not play: the players are Ann, Bo, Cy." in out
    assert "No: this evening is played without Calza." in out
    assert "Bo loses the last die: 3rd place.\nCy opens round 6." in out
    assert "The game is over.\nPlaces: 1st Ann, 2nd Cy, 3rd Bo." in out
    assert "1. Ann: 2 points (2 games)" in out
    assert "\x1b" not in out
    kept = store.read(1)
    assert from_csv(table.read_text(encoding="utf-8"))[0] == kept.entries[0]
    assert "<h1>" in sheet.read_text(encoding="utf-8")
    assert len(kept.evening.tables) == 2


def test_lines_in_french(store: Store) -> None:
    out = StringIO()
    Keeper(
        store,
        words("fr"),
        StringIO(
            "Ann, Zoé\nmarquoir\n3\no\nvictoires\npartie zoé\nstop\npartie zoé\n-a\n-a\n+a\nannuler\n-a\nquitter\n"
        ),
        out,
    ).run(None)
    for said in ("Avec Calza ? (o/n) : [o]", "Ann perd un dé : reste 2 dés.", "Ann perd un dé : reste 1 dé.\nPalifico !", "Ann réussit son Calza et reprend un dé : 2 dés.",
                 "Ann perd son dernier dé : 2e place.", "Classement : 1re Zoé, 2e Ann.", "Ann: 1 victoire (1 partie)", "Zoé: 2 victoires (2 parties)"):  # fmt: skip
        assert said in out.getvalue(), said


def test_leaving_renaming_and_deleting_in_lines(store: Store) -> None:
    out = lines(store, "Ann, Bo, Cy\n\n\n\n\nleave c\nrename a = Anna\npart Cy\nrename bo = anna\nscore\nleave anna\njoin cy\n"
                       "delete\nn\ndelete\ny\nscore\n")  # fmt: skip
    for said in ("Left: Cy. Who joins again plays the next game.\nCy leaves the game: 3rd place.\n", "Ann is now Anna.\n",
                 "No: Cy has left already.", "No: two players are called anna: tell them apart.", "Anna leaves the game: 2nd place.\nThe game is over.",
                 "cy joins.", "Delete evening 1 (Anna, Bo, Cy) for good? (y/n): [n] Nothing is deleted."):  # fmt: skip
        assert said in out, said
    assert out.endswith("Evening 1 is deleted.\n")
    assert store.evenings() == []
    assert "=Bo= is now B=o." in lines(store, "Ann, =Bo=\n\n\n\n\nrename =Bo= = B=o\ndelete\ny\n")
    french = StringIO()
    Keeper(
        store, words("fr"), StringIO("Ann, Zoé, Cy\n\n\n\n\npartir cy\ncorriger ann = Anne\nsupprimer\noui\n"), french
    ).run(None)
    for said in ("Cy quitte la partie : 3e place.", "Ann s’appelle désormais Anne.", "La soirée 3 est supprimée."):
        assert said in french.getvalue(), said


def test_lines_beside_a_browser_undo_nothing_unseen_and_go_on_from_what_stands(store: Store) -> None:
    out, others = StringIO(), {"1": Renamed("Ann", "Anna"), "2": Lost("Bo")}

    class Lines:
        """What is typed; a number is what somebody else enters meanwhile, and 0 deletes the evening."""

        def __init__(self, text: str) -> None:
            self.left = text.split("\n")

        def readline(self) -> str:
            line = self.left.pop(0)
            if not line.isdigit():
                return f"{line}\n"
            store.append(1, others[line]) if line in others else store.delete(1)
            return self.readline()

    typed = "Ann, Bo\n\n\n\n\n-ann\n1\n-anna\n-anna\n2\nundo\nscore\n0\nquit\n"
    Keeper(store, EN, Lines(typed), out).run(None)  # type: ignore[arg-type]
    assert out.getvalue().count("No: this sheet was out of date") == 2
    for said in ("Anna: 4 dice\n  Bo: 5 dice\n", "Anna loses a die: 3 dice left.", "Anna: 3 dice\n  Bo: 4 dice\n"):
        assert said in out.getvalue(), said
    assert "dropped" not in out.getvalue()
    # what is no more is not kept either
    assert out.getvalue().endswith("> No: there is no evening 1.\n")


def test_lines_that_just_end_lose_nothing_and_the_evening_goes_on(store: Store) -> None:
    lines(store, "Ann, Bo\n\n\n\n\n-ann")
    assert "Ann: 4 dice" in lines(store, "+ann\n", evening_id=1)
    assert store.read(1).evening.table.dice == (5, 5)  # type: ignore[union-attr]


def answer(process: subprocess.Popen[str]) -> str:
    """The line that ends an answer: who opens the next round."""
    assert process.stdout is not None
    while "opens round" not in (line := process.stdout.readline()):
        assert line, "the process ended"
    return line


def test_a_killed_process_loses_no_entry_that_was_answered(tmp_path: Path) -> None:
    """kill -9 in the middle of entries, again and again: what was answered is there, once, and all of it reads."""
    file = tmp_path / "scores.sqlite"
    Store(file).open(opened("Ann", "Bo", dice=6), [GameStarted(opener="Ann")])
    command = [
        sys.executable,
        "-m",
        "perudo_env",
        "score",
        "--plain",
        "--file",
        str(file),
        "--evening",
        "1",
        "--lang",
        "en",
    ]
    for num_answered in (0, 3):
        before = Store(file).read(1).entries
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            answer(process)
            for n in range(num_answered):
                print("-bo" if n % 2 == 0 else "+bo", file=process.stdin, flush=True)
                answer(process)
            print("-bo\n+bo\n" * 20, file=process.stdin, flush=True)  # under way when the process dies
            process.kill()
        after = Store(file).read(1).entries
        assert len(before) + num_answered <= len(after) < len(before) + num_answered + 40
        assert after[: len(before) + num_answered] == (*before, *((Lost("Bo"), Calza("Bo")) * 2)[:num_answered])
