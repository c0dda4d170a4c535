"""The line mode of the score keeper."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path

from perudo_env.game.words import words
from perudo_env.play.score.csvfile import from_csv
from perudo_env.play.score.entries import (
    Calza,
    GameStarted,
    Lost,
    Renamed,
)
from perudo_env.play.score.plain import Keeper
from perudo_env.play.score.store import Store
from tests.play.scores import opened

EN = words("en")


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
