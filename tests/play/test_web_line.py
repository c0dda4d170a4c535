"""The line of a browser to its table, without a browser: what raw frames tell, who may do what, bad messages, floods."""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from perudo_env.play.web.messages import MOST_BYTES
from tests.browser import Server
from tests.lines import ALONE, THREE, awaited, receive, room_at, sit_down, texts_until_closed

pytestmark = pytest.mark.xdist_group("web")  # one server for all


# ------------------------------------------------------------------------------------------ nothing is told too early


def frames_of_a_round(server: Server, hands, viewer: int) -> tuple[list[str], list[str]]:
    """All raw frames that a seat, and one who only looks on, get in a round with given dice, and those after its reveal."""
    path, ann = server.open_table(
        **{**THREE, "kind2": "browser"}, variant="pascal", sw_first_player="first_seat", hints="1"
    )
    cookies = {0: ann, 1: sit_down(server, path, 1, "Bob"), 2: sit_down(server, path, 2, "Eve")}
    room = room_at(server, path)
    room.table.game.deal(hands)
    after: list[str] = []
    with server.socket_to(path, cookies[viewer]) as seated, server.socket_to(path) as looking_on:
        frames = [s.recv(timeout=60) for s in (seated, looking_on)]
        # the chance of a bid is told from one's own dice alone
        seated.send(json.dumps({"type": "odds", "on": True}))
        frames += sorted(seated.recv(timeout=60) for _ in range(2))
        for action in ("2x3", "4x3", "dudo"):
            # each seat acts through a socket of its own, and sees no frame of the others
            with server.socket_to(path, cookies[room.table.game.seat]) as acting:
                acting.send(server.answer(path, seat=room.table.game.seat, action=action))
                told = [s.recv(timeout=60) for s in (seated, looking_on)]
            if action == "dudo":
                after = told
            else:
                frames += told
    # each table promises dice of its own
    frames, after = ([f.replace(room.table.commitment, "") for f in told] for told in (frames, after))
    return frames, after


@pytest.mark.parametrize("viewer", [0, 1, 2])
def test_raw_frames_are_the_same_whatever_the_others_hold_until_the_reveal(server, viewer):
    own = (1, 2, 3, 4, 6)
    tables = []
    for other in ((2, 2, 2, 2, 2), (1, 3, 3, 5, 6)):
        hands = [own if seat == viewer else other for seat in range(3)]
        tables.append(frames_of_a_round(server, hands, viewer))
    (first, first_reveal), (second, second_reveal) = tables
    assert first == second
    assert first_reveal != second_reveal
    assert "die-6" in first[0]
    assert sum('id=\\"odds\\"' in frame for frame in first) == 2
    # who holds no cup sees no die at all but those of the bids
    assert "#die-" not in first[1]


def test_the_seed_is_told_only_after_the_game(server):
    path, cookies = server.open_table(**ALONE)
    secret = room_at(server, path).table.secret
    page = httpx.get(server.address + path, cookies=dict(cookies)).text
    assert secret.commitment in page
    with server.socket_to(path, cookies) as socket:
        frame = socket.recv(timeout=60)
    for text in (page, frame):
        assert str(secret.seed) not in text
        assert secret.salt not in text


def test_names_are_escaped(server):
    path, cookies = server.open_table(kind0="me", name0="<img src=x>&", kind1="browser")
    page = httpx.get(server.address + path).text
    sit_down(server, path, 1, '"><script>')
    with server.socket_to(path, cookies) as socket:
        frame = receive(socket, "state")
    assert "<img" not in page + frame["table"] + frame["controls"]
    assert "<script" not in frame["table"]
    assert "&lt;img src=x&gt;&amp;" in frame["table"]


def test_a_guest_s_name_is_refused_kindly_and_one_from_right_to_left_reorders_nothing(server):
    path, ann = server.open_table(kind0="me", name0="Ann", kind1="browser", kind2="regular")
    with httpx.Client(base_url=server.address, headers={"Accept-Language": "fr"}) as guest:
        for typed, says in (
            ("\uff21nn\u200d", "deux joueurs s’appellent"),
            ("rosa", "rosa"),
            ("x\x07", "ôtez-le"),
            ("x" * 31, "trop long"),
        ):
            answer = guest.post(f"{path}/join", data={"seat": "1", "name": typed})
            assert (answer.status_code, says in answer.text) == (409, True), typed
            assert 'role="alert"' in answer.text
            assert room_at(server, path).free_seats == [1]
        assert guest.post(f"{path}/join", data={"seat": "1", "name": "רות"}).status_code == 303
    with server.socket_to(path, ann) as socket:
        frame = receive(socket, "state")
    told = frame["table"] + frame["controls"] + "".join(frame["log"])
    assert told.count("רות") == told.count("\u2068רות\u2069") > 0


# ------------------------------------------------------------------------------------------ who may do what


def test_a_wrong_token_is_refused_and_no_token_only_looks_on(server):
    path, _ = server.open_table(**ALONE)
    name = f"seat-{path.rsplit('/', 1)[1]}"
    with pytest.raises(InvalidStatus, match="403"):
        server.socket_to(path, {name: "guess"})
    with pytest.raises(InvalidStatus, match="403"):
        server.socket_to("/t/none")
    with server.socket_to(path) as socket:
        receive(socket, "state")
        socket.send(server.answer(path, seat=0, action="2x3"))
        assert receive(socket, "error")["text"] == "This seat is not yours."


def test_another_seat_s_token_does_not_act_for_this_one(server):
    path, ann = server.open_table(**THREE)
    bob = sit_down(server, path, 1, "Bob")
    before = room_at(server, path).table.game.record()
    with server.socket_to(path, bob) as socket:
        socket.send(server.answer(path, seat=0, action="2x3"))
        assert receive(socket, "error")["text"] == "This seat is not yours."
        socket.send(server.answer(path, "show", seat=0))
        assert receive(socket, "error")["text"] == "This seat is not yours."
    assert room_at(server, path).table.game.record().startswith(before)
    assert dict(ann) != dict(bob)


def test_a_taken_seat_cannot_be_taken_again(server):
    path, _ = server.open_table(**THREE)
    sit_down(server, path, 1, "Bob")
    for seat in ("0", "1", "2", "9", "x", ""):
        assert httpx.post(f"{server.address}{path}/join", data={"seat": seat, "name": "Eve"}).status_code == 409


@pytest.mark.parametrize(
    ("language", "message", "answer"),
    [
        ("en", '{"type":"act","at":"AT","seat":0,"action":"0x3"}', "has a quantity|neither a bid"),
        ("en", '{"type":"act","at":"AT","seat":0,"action":"40x6"}', "may be bid now"),
        ("fr", '{"type":"act","at":"AT","seat":0,"action":"40x6"}', "au plus"),
        ("en", '{"type":"act","at":"AT","seat":0,"action":"dudo!"}', "neither a bid nor a call"),
        ("en", '{"type":"act","at":"AT","seat":0,"action":3}', "cannot be understood: act.action"),
        ("en", '{"type":"act","at":"AT","seat":-1,"action":"dudo"}', "cannot be understood: act.seat"),
        ("en", '{"type":"act","at":"AT","seat":0,"action":"dudo","more":1}', "cannot be understood: act.more"),
        ("en", '{"type":"hint","at":"AT","seat":0}', "plays without help"),
        ("en", '{"type":"win"}', "cannot be understood"),
        ("en", "[]", "cannot be understood"),
        ("en", "\x00{", "cannot be understood"),
        ("fr", "", "incompréhensible"),
        ("en", "x" * (MOST_BYTES + 1), f"at most {MOST_BYTES} bytes"),
        ("en", "[" * MOST_BYTES, "cannot be understood"),
        ("en", b"\xff\xfe", "cannot be understood"),
    ],
)
def test_a_bad_message_gets_a_clear_error_and_changes_nothing(server, language, message, answer):
    path, cookies = server.open_table(**ALONE, seed="5")
    awaited(server, path, 0)
    before = room_at(server, path).table.game.record()
    with server.socket_to(path, cookies, language) as socket:
        at = room_at(server, path).position
        socket.send(message.replace("AT", at) if isinstance(message, str) else message)
        assert re.search(answer, receive(socket, "error")["text"])
        assert room_at(server, path).table.game.record() == before
        action = "dudo" if room_at(server, path).table.game.bids else "2x3"
        socket.send(server.answer(path, seat=0, action=action))
        receive(socket, "state")


def test_out_of_turn_is_refused(server):
    path, ann = server.open_table(**{**THREE, "kind2": "browser"})
    cookies = [ann, sit_down(server, path, 1, "Bob"), sit_down(server, path, 2, "Eve")]
    late = (room_at(server, path).table.game.seat + 1) % 3
    with server.socket_to(path, cookies[late]) as socket:
        socket.send(server.answer(path, seat=late, action="2x3"))
        assert receive(socket, "error")["text"] == "It is not this seat's turn."


def say(server: Server, path: str, cookies, kind: str = "act", **fields: object) -> str:
    """Send one message; returns the error that answers it, or nothing."""
    with server.socket_to(path, cookies) as socket:
        socket.send(server.answer(path, kind, **fields))
        while (answer := json.loads(socket.recv(timeout=60)))["type"] not in ("heard", "error"):
            pass
    return answer.get("text", "")


def test_who_declines_calza_is_not_asked_again_in_this_round_and_passes_are_not_told(server):
    path, ann = server.open_table(
        **{**THREE, "kind2": "browser"}, variant="marquoir", sw_calza="anyone", sw_first_player="first_seat", window="0"
    )
    cookies = [ann, sit_down(server, path, 1, "Bob"), sit_down(server, path, 2, "Eve")]
    room = room_at(server, path)
    assert say(server, path, cookies[1], "decline", seat=1) == "It is not this seat's turn."
    assert say(server, path, cookies[0], seat=0, action="2x3") == ""
    assert room.waiting_for == {1, 2}
    assert say(server, path, cookies[1], "decline", seat=2) == "This seat is not yours."
    assert say(server, path, cookies[2], "decline", seat=2) == ""
    with server.socket_to(path, cookies[0]) as socket:
        frame = receive(socket, "state")
    # who has passed is told neither by the log nor by whose turn it seems to be
    assert "pass" not in "".join(frame["log"])
    assert " turn" not in frame["table"]
    assert say(server, path, cookies[1], seat=1, action="pass") == ""
    assert say(server, path, cookies[1], seat=1, action="3x3") == ""
    # Eve is not asked, Ann is
    assert room.waiting_for == {0}
    assert say(server, path, cookies[0], seat=0, action="pass") == ""
    assert say(server, path, cookies[2], seat=2, action="dudo") == ""
    assert room.declined == set()


def test_a_new_game_at_the_same_table_for_guests_too_and_after_a_game_alone(server):
    path, ann = server.open_table(**THREE, sw_starting_dice="1", sw_first_player="first_seat", variant="pascal")
    bob = sit_down(server, path, 1, "Bob")
    room = room_at(server, path)
    first = room.table
    assert say(server, path, bob, "again") == ""
    assert room.table is first  # it is not over
    room.table.game.deal([(2,), (3,), (4,)])
    assert say(server, path, ann, seat=0, action="3x6") == ""
    assert say(server, path, bob, seat=1, action="dudo") == ""
    # Ann is out; while Bob plays, nobody may hurry
    assert say(server, path, ann, "hurry", speed="end") == ""
    assert room.speed == "single"
    while not room.table.is_over:
        if room.in_reveal:
            say(server, path, bob, "ready")
        elif 1 in room.waiting_for:
            assert say(server, path, bob, seat=1, action="dudo" if room.table.game.bids else "2x6") == ""
        time.sleep(0.02)
    while room.saved_as is None:
        time.sleep(0.02)
    assert say(server, path, None, "again") == "This seat is not yours."
    with server.socket_to(path, bob) as socket:
        receive(socket, "state")
        socket.send(server.answer(path, "again"))
        while (frame := receive(socket, "state"))["at"][0] != "2":
            pass
    assert frame["from"] == 0
    assert room.saved_as is None
    assert [p.name for p in room.table.players] == [p.name for p in first.players]
    assert room.table.secret.seed != first.secret.seed
    assert str(room.table.secret.seed) not in json.dumps(frame)
    assert room.seats_of(ann.get(f"seat-{room.id}")) == {0}


def test_odds_are_told_only_where_the_table_plays_with_help(server):
    path, cookies = server.open_table(**ALONE)
    with server.socket_to(path, cookies) as socket:
        socket.send('{"type":"odds","on":true}')
        assert receive(socket, "error")["text"] == "This table plays without help."


def test_a_calza_window_closes_by_itself(server):
    path, ann = server.open_table(**{**THREE, "kind2": "browser"}, variant="box", sw_calza="anyone", window="1")
    cookies = [ann, sit_down(server, path, 1, "Bob"), sit_down(server, path, 2, "Eve")]
    room = room_at(server, path)
    bidder = room.table.game.seat
    with server.socket_to(path, cookies[bidder]) as socket:
        receive(socket, "state")
        socket.send(server.answer(path, seat=bidder, action="2x3"))
        while receive(socket, "state")["seconds"] is None:
            pass
        awaited_by = time.monotonic() + 60
        while room.table.game.in_calza_window and time.monotonic() < awaited_by:
            time.sleep(0.05)
    assert [type(e).__name__ for e in room.log].count("Passed") == 2
    assert room.waiting_for == {(bidder + 1) % 3}


def test_a_shared_screen_acts_only_for_who_looks_at_it(server):
    path, cookies = server.open_table(kind0="screen", kind1="screen", hints="1")
    seat = room_at(server, path).table.game.seat
    with server.socket_to(path, cookies) as socket:
        assert "#die-" not in receive(socket, "state")["table"]
        for message in (
            server.answer(path, "hint", seat=seat),
            server.answer(path, seat=seat, action="2x3"),
            server.answer(path, "show", seat=1 - seat),
        ):
            socket.send(message)
            assert receive(socket, "error")["text"] == "It is not this seat's turn."
        socket.send(server.answer(path, "show", seat=seat))
        assert "#die-" in receive(socket, "state")["table"]
        socket.send(server.answer(path, "hint", seat=seat))
        assert "%" in receive(socket, "hint")["html"]


def test_hidden_dice_counts_are_hidden_from_lookers_on_too(server):
    path, cookies = server.open_table(**ALONE, variant="box")
    for crumbs in (cookies, None):
        with server.socket_to(path, crumbs) as socket:
            frame = receive(socket, "state")["table"]
        assert "dice hidden" in frame
        assert "5 dice" not in frame


def test_a_huge_message_ends_its_connection_alone(server):
    path, cookies = server.open_table(**ALONE)
    with server.socket_to(path, cookies) as good, server.socket_to(path, cookies) as bad:
        bad.send("x" * 1_000_000)
        texts_until_closed(bad)
        assert bad.close_code == 1009
        good.send('{"type":"nothing"}')
        receive(good, "error")


def test_a_flood_is_refused_and_then_cut_off(server):
    path, cookies = server.open_table(**ALONE)
    with server.socket_to(path, cookies) as flooding:
        with suppress(ConnectionClosed):
            for _ in range(400):
                flooding.send("{}")
        texts = texts_until_closed(flooding)
        assert flooding.close_code == 1008
    assert "Too many messages: wait a moment." in texts
    with server.socket_to(path, cookies) as socket:
        receive(socket, "state")
