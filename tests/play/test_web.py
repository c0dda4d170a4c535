"""The server of the browser game without a browser: forms, headers, languages, games kept, load."""

from __future__ import annotations

import json
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from contextlib import suppress

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from agents import ActOnly
from agents.scripted.inference import InferencePolicy
from perudo_env.engine.variant import SWITCHES, switch_values
from tests.browser import Server
from tests.lines import ALONE, receive, room_at, sit_down

pytestmark = pytest.mark.xdist_group("web")  # one server for all


@pytest.mark.parametrize("kind", ["http", "socket", "host"])
def test_other_sites_cannot_use_a_browser_s_cookies(server, kind):
    path, cookies = server.open_table(**ALONE)
    if kind == "http":
        answer = httpx.post(server.address + "/tables", data=ALONE, headers={"Origin": "https://evil.example"})
        assert answer.status_code == 403
    elif kind == "host":
        assert httpx.get(server.address + path, headers={"Host": "evil.example"}).status_code == 400
    else:
        with pytest.raises(InvalidStatus, match="403"):
            server.socket_to(path, cookies, Origin="https://evil.example")


def test_every_page_forbids_all_but_this_server_s_own_files(server):
    pages = server.pages()
    # printed and saved, it brings its own style
    sheet = httpx.get(server.address + pages.pop("/score/{evening}/sheet"))
    assert sheet.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'"
    for path in (*pages.values(), "/t/none", "/games/none", "/score/x"):
        answer = httpx.get(server.address + path)
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'"), path
        assert not re.search(
            r"<script(?! src=\"/static/)|<style|\sstyle=|\son\w+=|https?://(?!www\.w3\.org)", answer.text
        ), path


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_switch_is_offered_in_words(server, language):
    page = httpx.get(server.address + "/research", headers={"Accept-Language": language}).text
    for switch in SWITCHES:
        select = re.search(rf'<select id="sw_{switch}".*?</select>', page, re.DOTALL)
        assert select
        offered = re.findall(r'<option value="([^"]+)">([^<]+)</option>', select[0])
        assert [value for value, _ in offered] == [str(v) for v in switch_values(switch)]
        assert all(value.isdigit() or (label != value and "_" not in label) for value, label in offered)
    table = {**ALONE, "variant": "box", "sw_calza": "anyone"}
    path, _ = server.open_table(language, **table)
    assert str(room_at(server, path).table.variant) == "box:calza=anyone"


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"kind0": "me"}, "two players at least"),
        ({**ALONE, "kind1": "nobody-knows"}, "no agent of this name"),
        ({**ALONE, "kind1": "agents.scripted.odds:OddsPolicy"}, "no agent of this name"),  # none but those of the form
        ({**ALONE, "kind1": "table", "sw_starting_dice": "1"}, "table does not play by these rules"),
        ({**ALONE, "name0": "x" * 31}, "is too long: a name has at most 30 letters"),
        ({**ALONE, "name1": "ann\u200b"}, "two players are called ann"),
        ({**ALONE, "seed": "-1"}, "Seed: give a whole number"),
        ({**ALONE, "seed": "9" * 20}, "Seed: give a whole number"),
        ({**ALONE, "window": "1e9"}, "whole number from 0 to 120"),
        ({**ALONE, "variant": "clasic"}, "did you mean"),
        ({**ALONE, "sw_calza": "sometimes"}, "These rules cannot be"),
        (
            {**ALONE, "sw_max_bid": "dice_in_play", "sw_dice_counts": "hidden"},
            "These do not go together: “What one sees: who is still in, no counts”",
        ),
    ],
)
def test_a_table_that_cannot_be_is_refused_with_the_field_at_fault(server, form, told):
    answer = httpx.post(server.address + "/tables", data=form)
    assert answer.status_code == 422
    assert told in answer.text


def test_a_table_leads_to_the_rules_in_force_there(server):
    path, _ = server.open_table(**ALONE, variant="box", sw_calza="anyone")
    link = re.search(r'href="(/rules\?[^"]+)"', httpx.get(server.address + path).text)
    assert link
    page = httpx.get(server.address + link[1])
    assert page.status_code == 200
    assert "box:calza=anyone" in page.text


def test_a_form_that_is_huge_is_refused(server):
    assert httpx.post(server.address + "/tables", data={"name0": "x" * 100_000}).status_code == 413


def test_the_language_comes_from_the_request_and_the_choice_is_kept(server):
    with httpx.Client(base_url=server.address, headers={"Accept-Language": "de, fr;q=0.9, en;q=0.2"}) as client:
        assert '<html lang="fr">' in client.get("/").text
        answer = client.post("/language", data={"language": "en", "next": "//evil.example"})
        assert answer.headers["location"] == "/"
        assert '<html lang="en">' in client.get("/").text


def test_an_agent_of_one_s_own_plays_and_a_level_has_a_stand_in(server):
    assert '<option value="tests.play.test_analysis:first_legal">' in httpx.get(server.address + "/research").text
    path, _ = server.open_table(
        kind0="me", kind1="tests.play.test_analysis:first_legal", kind2="master", sw_starting_dice="1"
    )
    table = room_at(server, path).table
    assert isinstance(table.policy("tests.play.test_analysis:first_legal"), ActOnly)
    assert isinstance(table.policy("master"), InferencePolicy)


def test_a_finished_game_is_kept_listed_and_counted(server):
    path, _ = server.open_table(kind0="regular", kind1="regular", sw_starting_dice="1")
    room = room_at(server, path)
    for _ in range(1200):
        if room.saved_as:
            break
        time.sleep(0.05)
    saved = httpx.get(f"{server.address}/games/{room.saved_as}/game.json").json()
    assert saved["commitment"] == room.table.commitment
    assert f"/games/{room.saved_as}" in httpx.get(server.address + "/games").text
    dice = sum(server.house.archive.dice_rolled().values())
    assert dice >= 2
    assert f"{dice} dice in the games kept here" in httpx.get(server.address + "/rules").text
    # a file that reads as a saved game, but whose record breaks the rules
    broken = server.house.archive.path("20000101-000000-00000000")
    broken.write_text(
        json.dumps({**saved, "record": saved["record"].partition("opener=")[0] + "opener=0 1x2 1x2 dudo"})
    )
    for path in ("/games/../../etc", "/games/x", f"/games/{room.saved_as}x", f"/games/{broken.stem}"):
        assert httpx.get(server.address + path).status_code == 404
    broken.unlink()


# ------------------------------------------------------------------------------------------ a server started anew


def test_tables_go_on_where_they_were_when_the_server_is_started_anew(tmp_path):
    people = {"kind0": "me", "kind1": "browser", "kind2": "regular", "sw_first_player": "first_seat", "hints": "1"}
    with Server(tmp_path) as first:
        path, ann = first.open_table(**people, name0="Ann")
        bob = sit_down(first, path, 1, "Bob")
        with first.socket_to(path, ann) as socket:
            socket.send(first.answer(path, seat=0, action="2x3"))
            while room_at(first, path).table.game.seat == 0:
                receive(socket, "state")
        before = room_at(first, path)
        with first.socket_to(path, bob) as socket:
            shown = receive(socket, "state")
        (file,) = (tmp_path / "tables" / "0").iterdir()
        kept = file.read_bytes()
        assert file.stat().st_mode & 0o077 == 0
        assert all(
            token.encode() not in kept for cookies in (ann, bob) for name, token in cookies.items() if "seat-" in name
        )
    for name, text in (("torn", kept[:-9]), ("empty", b""), ("other", b"[]")):
        file.with_name(f"{name}.json").write_bytes(text)
    forgotten = file.with_name("old.json")
    forgotten.write_bytes(kept)
    os.utime(forgotten, (0, 0))
    with Server(tmp_path) as second:
        room = room_at(second, path)
        assert len(list(second.house.rooms)) == 1
        assert not forgotten.exists()
        assert (room.options, room.table.commitment, room.log) == (before.options, before.table.commitment, before.log)
        with second.socket_to(path, bob) as socket:
            assert receive(socket, "state") == shown
            socket.send(second.answer(path, seat=1, action="dudo"))
            while not room.in_reveal:
                receive(socket, "state")
        with pytest.raises(InvalidStatus, match="403"):
            second.socket_to(path, {f"seat-{path.rsplit('/', 1)[1]}": "guess"})
    with Server(tmp_path) as third:
        # the dice still lie open
        assert room_at(third, path).in_reveal
        with third.socket_to(path, ann) as socket:
            assert "revealed" in receive(socket, "state")["table"]
            socket.send(third.answer(path, seat=0, action="2x3"))
            assert "lie open" in receive(socket, "error")["text"]


# ------------------------------------------------------------------------------------------ many tables


@pytest.mark.slow
def test_two_hundred_tables_of_six_agents_leave_the_server_responsive(server):
    six = {f"kind{i}": level for i, level in enumerate(("novice", "regular", "expert") * 2)}
    path, cookies = server.open_table(**ALONE, seed="5")
    rooms_before = set(server.house.rooms)
    with httpx.Client(base_url=server.address) as client:
        client.post("/tables", data={**six, "pace": "quick"})
        idle = answer_time(client, 0.5)
        for _ in range(199):
            assert client.post("/tables", data={**six, "pace": "quick"}).status_code == 303
        before = time.monotonic(), sum(len(room.log) for room in server.house.rooms)
        busy = answer_time(client, 3.0)
        events = sum(len(room.log) for room in server.house.rooms) - before[1]
        rate = events / (time.monotonic() - before[0])
    rooms = [room for room in server.house.rooms if room not in rooms_before]
    assert len(rooms) == 200
    assert rate > 50  # they do play
    with server.socket_to(path, cookies) as socket:
        receive(socket, "state")
        times = []
        for _ in range(15):
            started = time.perf_counter()
            socket.send("{}")
            receive(socket, "error")
            times.append(time.perf_counter() - started)
        answered = statistics.median(times)
    print(
        f"a page with no tables {1000 * idle:.0f} ms, with 200 {1000 * busy:.0f} ms; a message {1000 * answered:.0f} ms; {rate:.0f} events/s"
    )
    # 100 ms, and as much more as a busy machine makes of any page
    assert max(busy, answered) < 0.1 + 3 * idle


def answer_time(client: httpx.Client, seconds: float) -> float:
    """The median time of a page, asked again and again."""
    times: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(times) < 10:
        started = time.perf_counter()
        assert client.get("/").status_code == 200
        times.append(time.perf_counter() - started)
    return statistics.median(times)


# ------------------------------------------------------------------------------------------ the command


def test_the_command_serves_without_torch(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = (
        "import sys, threading; from agents.__main__ import main;"
        f"threading.Thread(target=main, args=[['play', '--no-browser', '--port', '{port}', '--lang', 'fr', '--games', '{tmp_path.as_posix()}']],"
        " daemon=True).start(); sys.stdin.readline(); print('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as served:
        page = ""
        for _ in range(600):
            with suppress(httpx.TransportError):
                page = httpx.get(f"http://127.0.0.1:{port}/").text
                break
            time.sleep(0.2)
        told, errors = served.communicate("\n")
    assert '<html lang="fr">' in page, errors
    assert f"http://127.0.0.1:{port}/" in told
    assert told.splitlines()[-1] == "False"
