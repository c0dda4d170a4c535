"""People at screens of their own: who may choose the seed, presses that come late, lines that go mute, a server behind a proxy."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from starlette.testclient import WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

import agents
from agents.__main__ import main as command
from agents.people.browser import Browser, browser_app
from perudo_env.__main__ import main as perudo
from perudo_env.play.score.pages import app as score_app
from perudo_env.play.table import Hint, Player, Table
from perudo_env.play.web.app import listening
from perudo_env.play.web.house import House
from perudo_env.play.web.messages import RateLimit
from perudo_env.play.web.rooms import Room
from perudo_env.play.web.security import address_of, hosts_of, public_origin

THREE = {
    "kind0": "me", "kind1": "browser", "kind2": "browser", "variant": "box", "sw_calza": "anyone", "window": "0",
    "sw_first_player": "first_seat", "hints": "1",
}  # fmt: skip


class Site:
    """A server and the people who come to it, in one process."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.house: House = client.app.state.house  # type: ignore[attr-defined]

    def room(self, path: str) -> Room:
        room = self.house.rooms.get(path.rsplit("/", 1)[1])
        assert room is not None
        return room

    def sit(self, address: str, form: dict[str, str]) -> tuple[str, str]:
        """Post a form that gives a seat; returns the path of the table and the cookie of the seat."""
        answer = self.client.post(address, data=form)
        assert answer.status_code == 303, answer.text
        self.client.cookies.clear()
        return answer.headers["location"], re.search(r"seat-[^;]+", answer.headers["set-cookie"])[0]  # type: ignore[index]

    def table(self, **form: str) -> tuple[str, list[str]]:
        """A table with somebody at every seat; returns its path and the cookies by seat."""
        path, ann = self.sit("/tables", {**THREE, **form})
        others = [self.sit(f"{path}/join", {"seat": str(s)})[1] for s in self.room(path).free_seats]
        return path, [ann, *others]

    def line(self, path: str, cookie: str, language: str = "en") -> WebSocketTestSession:
        return self.client.websocket_connect(
            f"{path}/ws", headers={"Cookie": cookie, "Accept-Language": language, "Host": "127.0.0.1"}
        )


@contextmanager
def site(folder: Path, **options: object) -> Iterator[Site]:
    app = browser_app(Browser(games=folder, **options))  # type: ignore[arg-type]
    with TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False) as client:
        yield Site(client)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("games")) as running:
        yield running


def told(line: WebSocketTestSession, kind: str) -> dict[str, str]:
    while True:
        message: dict[str, str] = line.receive_json()
        if message["type"] == kind:
            return message


def until(holds: Callable[[], bool]) -> None:
    """Wait, for a minute at most."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it never comes"
        time.sleep(0.01)


def answered(line: WebSocketTestSession, message: str) -> str:
    """Send a message; returns what is wrong with it, or nothing."""
    line.send_text(message)
    while (answer := line.receive_json())["type"] not in ("heard", "error"):
        pass
    return str(answer.get("text", ""))


# ------------------------------------------------------------------------------------------ the seed


def test_nobody_chooses_the_dice_of_others_and_the_table_says_what_was_done(here: Site) -> None:
    alone = {"kind0": "me", "kind1": "novice", "seed": "5"}
    for people in ({"kind1": "browser"}, {"kind1": "screen"}, {"kind0": "browser"}, {"kind0": "screen", "kind2": "me"}):
        for language, why in (("en", "only a person who plays alone"), ("fr", "qui joue sans autre")):
            refused = here.client.post("/tables", data={**alone, **people}, headers={"Accept-Language": language})
            assert (refused.status_code, why in refused.text) == (422, True), people
    for form, origin in ((alone, "The seed was chosen"), ({**alone, "seed": ""}, "The seed was drawn at random")):
        path, cookie = here.sit("/tables", form)
        assert origin in here.client.get(path, headers={"Cookie": cookie}).text
        here.client.cookies.clear()
        # a server that is started anew has not forgotten
        again = Table.resumed(here.room(path).table.state(), here.house.lineup.policy)
        assert again.seed_chosen == (form is alone)


def test_a_kept_game_says_where_its_seed_came_from_and_an_old_one_says_nothing(here: Site) -> None:
    for seed, told_by in ((3, "The seed was chosen"), (None, "The seed was drawn"), ("old", "")):
        at = Table(
            "classic:starting_dice=1", [Player("A", "odds"), Player("B", "odds")], agents.make, 3 if seed else None
        )
        at.play_agents()
        saved = at.saved()
        if seed == "old":
            del saved["seed_chosen"]
            assert Table.resumed(saved, agents.make).seed_chosen is None
        page = here.client.get(f"/games/{here.house.archive.save(saved)}").text
        assert re.search(r'id="seed-origin">([^<]*)<', page)[1].startswith(told_by)  # type: ignore[index]
        assert here.client.post(f"/games/{here.house.archive.names()[0]}/verify").text.count("agree") >= 1


def test_the_terminal_takes_no_seed_where_several_people_play(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["terminal", "--plain", "--seed", "4", "--games", str(tmp_path), "--seats"]
    assert command([*words, "Ann", "Bo"]) == 2
    assert "--seed tells all dice" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------ presses that come late


def test_a_second_press_is_never_spent_on_the_next_question(here: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RateLimit, "allows", lambda self: True)
    path, cookies = here.table()
    room = here.room(path)
    sent: list[tuple[int, str]] = []
    late = {"en": "came too late", "fr": "Trop tard"}
    with (
        here.line(path, cookies[0]) as ann,
        here.line(path, cookies[1], "fr") as bo,
        here.line(path, cookies[2]) as eve,
    ):
        lines = (ann, bo, eve)

        def once_and_again(seat: int, kind: str = "act", **fields: str) -> None:
            """Do it, twice in a row; all presses before it come a second time as well."""
            message = json.dumps(
                {"type": kind, "at": room.position, **({"seat": seat} if kind != "ready" else {}), **fields}
            )
            before = room.position
            assert answered(lines[seat], message) == ""
            sent.append((seat, message))
            record, ready = room.table.game.record(), set(room.ready)
            for who, old in sent:
                error = answered(lines[who], old)
                if f'"{before}"' not in old or room.position != before:
                    assert late["fr" if who == 1 else "en"] in error, old
            assert (room.table.game.record(), room.ready) == (record, ready)

        once_and_again(0, action="2x3")
        once_and_again(2, action="pass")  # heard when its turn comes, and Bo's question stays what it was
        once_and_again(1, action="pass")
        once_and_again(1, action="3x3")
        once_and_again(2, action="pass")
        once_and_again(0, action="pass")
        once_and_again(2, action="4x3")
        once_and_again(0, action="calza")
        assert room.in_reveal
        for seat in (0, 1):
            once_and_again(seat, "ready")
        assert answered(lines[2], json.dumps({"type": "ready", "at": room.position})) == ""
        until(lambda: not room.in_reveal)
        for who, old in sent:
            assert late["fr" if who == 1 else "en"] in answered(lines[who], old), old


def test_help_is_for_the_bid_that_it_was_asked_on_and_a_line_is_heard_meanwhile(
    here: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, cookies = here.table()
    thinking = []

    def slow(self: Table, seat: int, agent: str) -> object:
        def advise() -> Hint:
            thinking.append(seat)
            until(lambda: len(thinking) == 2)
            return Hint(None, ())

        return advise

    monkeypatch.setattr(Table, "advice", slow)
    with here.line(path, cookies[0]) as ann:
        at = told(ann, "state")["at"]
        ask = json.dumps({"type": "hint", "at": at, "seat": 0})
        # a second question while the first is thought about asks nothing more
        assert [answered(ann, ask), answered(ann, ask), answered(ann, '{"type":"beat"}')] == ["", "", ""]
        thinking.append(0)
        assert told(ann, "hint")["at"] == at == here.room(path).position
        assert thinking == [0, 0]
        assert "came too late" in answered(ann, ask.replace(at, "play-9-9"))


# ------------------------------------------------------------------------------------------ seats that last


def test_a_closed_browser_finds_its_seat_again(here: Site) -> None:
    answer = here.client.post("/tables", data=THREE)
    path = answer.headers["location"]
    for crumb in answer.headers.get_list("set-cookie"):
        assert "Max-Age=2592000" in crumb
        assert "HttpOnly" in crumb
        assert "Secure" not in crumb
    assert f'href="{path}"' in here.client.get("/").text
    here.client.cookies.clear()
    assert 'id="last-table"' not in here.client.get("/").text


def test_a_form_for_a_seat_that_is_pressed_twice_takes_one_seat_and_keeps_it(here: Site) -> None:
    path, _ = here.sit("/tables", THREE)
    keys = [re.search(r'name="key" value="([^"]+)"', here.client.get(path).text)[1] for _ in range(2)]  # type: ignore[index]
    assert keys[0] != keys[1]
    # a browser that has not waited for the first answer has no cookie of it
    cookies = {here.sit(f"{path}/join", {"seat": "1", "name": "Bo", "key": keys[0]})[1] for _ in range(2)}
    assert len(cookies) == 1
    assert here.room(path).free_seats == [2]
    assert here.client.post(f"{path}/join", data={"seat": "1", "key": keys[1]}).status_code == 409
    _, guessed = here.sit(f"{path}/join", {"seat": "2", "key": "easy"})
    assert len(guessed.partition("=")[2]) == 32


def test_a_browser_whose_cookie_holds_no_seat_loses_it_and_looks_on(here: Site) -> None:
    path, _ = here.table()
    name = f"seat-{path.rsplit('/', 1)[1]}"
    crumbs = here.client.get(path, headers={"Cookie": f"{name}=of-another-table"}).headers["set-cookie"]
    assert re.search(f'{name}="";.*Max-Age=0; Path={path};', crumbs)


def test_an_agent_that_fails_is_told_and_not_waited_for(here: Site) -> None:
    class Failing:
        def act(self, *_: object) -> None:
            raise RuntimeError("broken")

        probs = act

    path, cookie = here.sit("/tables", {**THREE, "kind1": "regular", "kind2": "regular", "name1": "Bo", "hints": "1"})
    room = here.room(path)
    room.table._made = dict.fromkeys((*room.table._made, here.house.lineup.adviser), Failing())  # type: ignore[arg-type]
    with here.line(path, cookie, "fr") as ann:
        ann.send_text(json.dumps({"type": "hint", "at": room.position, "seat": 0}))
        assert told(ann, "error")["text"].startswith("Pas d’aide possible")
        assert answered(ann, json.dumps({"type": "act", "at": room.position, "seat": 0, "action": "1x3"})) == ""
        until(lambda: room.is_stuck)
        while "La partie ne peut pas continuer" not in (shown := told(ann, "state")["controls"]):
            pass
        assert "C’était à Bo d’agir" in unescape(shown)


# ------------------------------------------------------------------------------------------ behind a proxy


def test_a_public_address_is_used_for_invitations_origins_and_cookies(tmp_path: Path) -> None:
    with site(tmp_path, public_url="https://Perudo.example:443/") as there:
        ours, form = "https://perudo.example", {"Origin": "https://perudo.example"}
        # a proxy may pass the name on, or call the server by its own address
        for host in ("perudo.example", "127.0.0.1:8000", "localhost", "[::1]:8000"):
            answer = there.client.post("/tables", data=THREE, headers={**form, "Host": host})
            assert answer.status_code == 303, host
            assert all("Secure" in crumb for crumb in answer.headers.get_list("set-cookie"))
            there.client.cookies.clear()
        path, cookie = there.sit("/tables", THREE)
        headers = {"Cookie": cookie, "Host": "127.0.0.1:8000"}
        with there.client.websocket_connect(f"{path}/ws", headers={**headers, **form}) as line:
            assert f'data-invite="{ours}{path}"' in unescape(told(line, "state")["controls"])
        # who plays on the machine itself comes by http, and keeps a seat as well
        local = there.client.post("/tables", data=THREE, headers={"Origin": "http://127.0.0.1:8000"})
        assert local.status_code == 303
        assert "Secure" not in local.headers["set-cookie"]
        for origin in ("http://perudo.example", "https://evil.example", "https://perudo.example.evil.example", "null"):
            assert there.client.post("/tables", data=THREE, headers={"Origin": origin}).status_code == 403, origin
            with pytest.raises(WebSocketDisconnect):
                there.client.websocket_connect(f"{path}/ws", headers={**headers, "Origin": origin}).__enter__()
        # brackets that nothing closes, or that hold no address: what cannot be read comes from elsewhere
        for origin in ("http://[::1", "http://[zz]:1"):
            assert there.client.post("/score/new", headers={"Origin": origin}).status_code == 403, origin
            with pytest.raises(WebSocketDisconnect):
                there.client.websocket_connect(f"{path}/ws", headers={**headers, "Origin": origin}).__enter__()
        assert there.client.get("/", headers={"Host": "evil.example"}).status_code == 400


def test_of_two_servers_on_a_port_the_second_ends_at_once_and_on_a_folder_it_leaves_the_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert command(["play", "--no-browser", "--games", str(tmp_path), "--port", str(port)]) == 2
        assert perudo(["score", "--file", str(tmp_path / "scores"), "--port", str(port)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert [f"127.0.0.1, port {port} (" in line and "--port" in line for line in said] == [True, True]
    with pytest.raises(ValueError, match="port 70000"):
        listening("::1", 70000)
    with site(tmp_path) as first:
        path, cookie = first.sit("/tables", THREE)
        with site(tmp_path) as second:
            assert list(second.house.rooms) == []
            assert "another server" in caplog.text
            second.sit("/tables", THREE)
        assert len(list((tmp_path / "tables" / "8000").iterdir())) == 1
    with site(tmp_path) as third, third.line(path, cookie) as line:
        assert told(line, "state")["at"].startswith("1-waiting")


def test_addresses_are_written_as_browsers_write_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [address_of(host, 8000) for host in ("127.0.0.1", "0.0.0.0", "::1", "::", "box.local")] == [
        "http://127.0.0.1:8000/",
        "http://127.0.0.1:8000/",
        "http://[::1]:8000/",
        "http://[::1]:8000/",
        "http://box.local:8000/",
    ]
    assert hosts_of("0.0.0.0", "https://perudo.example") == hosts_of("192.168.1.5") == ("*",)
    assert "perudo.example" in hosts_of("::1", "https://perudo.example")
    for given, origin in (
        ("https://perudo.example", "https://perudo.example"),
        (" http://Box:80/ ", "http://box"),
        ("http://[fd00::5]:8000", "http://[fd00::5]:8000"),
        ("https://dés.example:8443/", "https://xn--ds-bja.example:8443"),
    ):
        assert public_origin(given) == origin
    for wrong in (
        "perudo.example",
        "ftp://x",
        "https://",
        "https://x/perudo",
        "https://u@x",
        "https://x:99999",
        "https://x?y",
        "https://*.example",
        "https://exa mple",
        "https://x\\y",
        "https://[fe80::1%25eth0]",
        "http://[::1",
    ):
        with pytest.raises(ValueError, match="should be https://"):
            public_origin(wrong)
    assert command(["play", "--public-url", "perudo.example", "--no-browser"]) == 2
    assert perudo(["score", "--public-url", "perudo.example", "--file", str(tmp_path / "scores")]) == 2
    assert capsys.readouterr().err.count("'perudo.example' should be") == 2


def test_the_score_keeper_alone_stands_behind_a_proxy_too(tmp_path: Path) -> None:
    public = "https://scores.example"
    form = {"player": ["Ann", "Bo"], "preset": "marquoir", "dice": "3", "calza": "yes", "scoring": "places"}
    alone = score_app(tmp_path / "scores", hosts=hosts_of("127.0.0.1", public), public=public)
    with TestClient(alone, follow_redirects=False) as client:
        for host in ("scores.example", "127.0.0.1:8010"):
            headers = {"Host": host, "Origin": public}
            assert client.post("/score/new", data=form, headers=headers).status_code == 303, host
