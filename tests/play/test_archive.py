"""Finished games where the folder for them cannot be written: told before play, kept elsewhere, or told in full."""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
from io import StringIO
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import agents
from perudo_env.game.words import words
from perudo_env.play.archive import Archive
from perudo_env.play.lineup import Lineup
from perudo_env.play.series import Series
from perudo_env.play.table import Player, Table
from perudo_env.play.terminal import app as terminal
from perudo_env.play.terminal import plain
from perudo_env.play.terminal.app import PerudoApp
from perudo_env.play.terminal.telling import Manner
from perudo_env.play.web import create_app
from perudo_env.play.web.rooms import Options, Room, Screen
from perudo_env.play.web.shelf import Shelf
from perudo_env.rulebook.fairness import verify_saved

SHORT, TWO = "classic:starting_dice=1", (Player("Ann", "odds"), Player("Bo", "odds"))


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """An archive whose folder cannot be made, since a file is in its way; temporary folders are made beside it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "file").touch()
    return Archive(tmp_path / "file" / "games")


def full(*_: object, **__: object) -> str:
    raise OSError(28, "No space left on device")


def test_lines_warn_first_and_keep_the_game_elsewhere(nowhere: Archive) -> None:
    out = StringIO()
    series = Series(SHORT, TWO, agents.make, 4, nowhere)
    assert plain.main(series, Manner(pause=0, language="fr"), StringIO(""), out)
    first, *_ = out.getvalue().splitlines()
    assert first.startswith(f"Les parties finies ne peuvent être gardées dans {nowhere.folder}")
    (name,) = nowhere.names()
    assert nowhere.path(name).parent == nowhere.spare
    assert f"La partie est gardée : {nowhere.path(name)}" in out.getvalue()
    verify_saved(nowhere.read(name).data)


def test_where_no_folder_takes_it_the_game_is_told_whole(nowhere: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    table = Table(SHORT, TWO, agents.make, 4)
    table.play_agents()
    series = Series(SHORT, TWO, agents.make, 4, nowhere)
    said, told = series.keep(table, words("en")).split("\n")
    assert said == "The game cannot be kept ([Errno 28] No space left on device); this is its record:"
    assert json.loads(told) == table.saved()
    assert series.lost == [f"{said}\n{told}"]


def test_the_screen_warns_first_and_what_only_it_showed_is_printed_when_it_closes(
    nowhere: Archive, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    series = Series(SHORT, TWO, agents.make, 4, nowhere)

    def through(app: PerudoApp) -> bool:
        async def script() -> None:
            async with app.run_test(size=(100, 32)) as pilot:
                while not app._is_kept:
                    await pilot.pause(0.01)

        asyncio.run(script())
        assert app._lines[0].startswith("Finished games cannot be kept in")
        return True

    monkeypatch.setattr(PerudoApp, "run", through)
    assert terminal.main(series, Manner(pause=0))
    assert capsys.readouterr().out.rstrip().split("\n") == series.lost[0].split("\n")


def test_the_server_warns_and_shows_a_game_that_it_could_not_keep(
    nowhere: Archive, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(Lineup(agents.make, ("odds",), {}), nowhere.folder, hosts=("testserver",))
    with TestClient(app, headers={"Accept-Language": "fr"}) as client:
        assert "Les parties finies ne peuvent être gardées" in client.get("/").text
        assert client.get("/games").status_code == 200
        assert client.get("/games/20260101-000000-00000000").status_code == 404
    table = Table(SHORT, TWO, agents.make, 4)
    table.play_agents()
    room = Room(table, Options(), nowhere)
    room.keep = Shelf(nowhere.folder).put
    with caplog.at_level(logging.WARNING):
        asyncio.run(room.run())
        room.move()
    assert room.saved_as in nowhere.names()
    assert caplog.text.count("will not find its tables") == 1
    lost = Room(table, Options(), Archive(nowhere.folder))
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    asyncio.run(lost.run())
    assert (lost.saved_as, json.loads(lost.unsaved or "")) == (None, table.saved())
    frame = app.state.house.frames("en").state(lost, Screen(frozenset(), words("en")))
    assert "Copy its record" in frame["controls"]
    assert table.secret.salt in frame["controls"]


def test_a_folder_that_can_be_written_warns_of_nothing(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "games")
    assert archive.warning(words("en")) is None
    assert not (tmp_path / "games").exists()
    table = Table(SHORT, (Player("Zoe\u0301", "odds"), TWO[1]), agents.make, 4)
    table.play_agents()
    assert archive.read(archive.save(table.saved())).names == ["Zoé", "Bo"]


def test_a_damaged_game_is_no_page_and_hides_no_other(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    table = Table(SHORT, TWO, agents.make, 4)
    table.play_agents()
    good = table.saved()
    half = [{"name": "\ud800", "agent": None}] * 2
    damaged = [{k: v for k, v in good.items() if k != key} for key in ("commitment", "salt", "seed", "record")]
    damaged += [{**good, **change} for change in ({"salt": "\ud800"}, {"seed": []}, {"players": half}, {"salt": 5})]
    names = [archive.save(good) for _ in damaged]
    for name, saved in zip(names, damaged, strict=True):
        archive.path(name).write_text(json.dumps(saved), encoding="utf-8")
    kept = archive.save(good)
    app = create_app(Lineup(agents.make, ("odds",), {}), tmp_path, hosts=("testserver",))
    with TestClient(app) as client:
        for name in names:
            for page in ("", "/game.json", "/record.txt"):
                assert client.get(f"/games/{name}{page}").status_code == 404
            assert client.post(f"/games/{name}/verify").status_code == 404
        listed = client.get("/games").text
        assert f"/games/{kept}" in listed
        assert not any(name in listed for name in names)
    assert archive.spare is None
