"""The score keeper's pages: forms without scripts, entries made once, bad requests; ``test_score_browser.py`` kills the server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

from perudo_env.play.score.pages import app

PEOPLE = {
    "player": ["Ann", "Bo", "Zoé <b>", "", ""],
    "preset": "marquoir",
    "dice": "3",
    "calza": "yes",
    "scoring": "places",
}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(app(tmp_path / "scores.sqlite"), headers={"Accept-Language": "en"}) as made:
        yield made


def seen(page: httpx.Response) -> str:
    """The number of entries that a page has seen, as its forms send it."""
    found = set(re.findall(r'name="seen" value="(\d+)"', page.text))
    assert len(found) == 1
    return found.pop()


def enter(client: TestClient, page: httpx.Response, entry: str, **fields: object) -> httpx.Response:
    """Press a button of the page of evening 1."""
    return client.post("/score/1", data={"seen": seen(page), "entry": entry, **fields})


def test_an_evening_by_forms_alone(client: TestClient) -> None:
    assert client.get("/score").status_code == 200
    page = client.post("/score/new", data=PEOPLE)
    assert (page.status_code, page.url.path) == (200, "/score/1")
    page = enter(client, page, "game", playing=["Ann", "Bo", "Zoé <b>"], opener="Bo")
    assert "Bo opens round 1." in page.text
    page = enter(client, page, "lost", player="Ann")
    page = enter(client, page, "lost", player="Ann")
    assert "Ann loses a die: 1 die left." in page.text
    assert "Palifico!" in page.text
    page = enter(client, page, "calza", player="Ann")
    assert "Ann said a right Calza and takes a die back: 2 dice." in page.text
    page = enter(client, page, "undo")
    assert "Palifico!" in page.text
    page = enter(client, page, "stop")
    assert "The game was stopped." in page.text
    page = enter(client, page, "join", player="Di")
    page = enter(client, page, "game", playing=["Ann", "Di"], opener="")
    assert "sits out" in page.text
    for path in ("/score", "/score/1", "/score/1/sheet", "/score/1/perudo.csv"):
        text = client.get(path).text
        assert "<b>" not in text or path.endswith("csv")
        assert "Zoé" in text


def test_a_button_pressed_twice_counts_once(client: TestClient) -> None:
    page = enter(client, client.post("/score/new", data=PEOPLE), "game", playing=["Ann", "Bo"], opener="Bo")
    first = enter(client, page, "lost", player="Ann")
    again = enter(client, page, "lost", player="Ann")
    assert (first.status_code, again.status_code) == (200, 409)
    assert "out of date" in again.text
    assert seen(first) == seen(again)
    assert "Ann loses a die: 2 dice left." in again.text


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (PEOPLE | {"player": ["Ann"]}, "1 names: 2 to 8 play"),
        (PEOPLE | {"player": ["Ann", "ann"]}, "two players are called ann"),
        (PEOPLE | {"dice": "99"}, "99 dice each: use 1 to 6"),
        (PEOPLE | {"dice": "x"}, "use 1 to 6"),
        (PEOPLE | {"preset": "joker"}, "is not a set of rules"),
        (PEOPLE | {"scoring": "luck"}, "is no way to count"),
        ({}, "use 1 to 6"),
    ],
)
def test_a_form_that_cannot_be_is_answered_with_the_reason_and_keeps_what_was_typed(
    client: TestClient, data: dict[str, object], says: str
) -> None:
    page = client.post("/score/new", data=data)
    assert page.status_code == 422
    assert says in page.text
    assert 'role="alert"' in page.text
    assert ("Ann" in page.text) is bool(data)


def test_leaving_renaming_and_deleting_by_forms_alone(client: TestClient) -> None:
    page = client.get("/score/new")
    form = re.findall(r'name="form" value="([^"]+)"', page.text)
    assert len(set(form)) == 1
    page = client.post("/score/new", data={**PEOPLE, "form": form[0]})
    assert client.post("/score/new", data={**PEOPLE, "form": form[0]}).url.path == "/score/1"
    assert client.get("/score/2").status_code == 404
    assert form[0] not in client.get("/score/new").text
    page = enter(client, page, "game", playing=["Ann", "Bo", "Zoé <b>"], opener="Bo")
    page = enter(client, page, "leave", player="Bo")
    assert "Bo leaves the game: 3rd place." in page.text
    assert "Left: Bo." in page.text
    page = enter(client, page, "rename", player="Ann", name="רות")
    assert "\u2068רות\u2069" in page.text
    assert 'name="player" value="רות"' in page.text
    page = enter(client, page, "stop")
    assert re.search(r'value="Bo"> Bo</label>', page.text), "who has left plays the next game only if ticked"
    assert enter(client, page, "rename", player="Bo", name="zoé <B>").status_code == 422
    for path in ("/score/1/sheet", "/score/1/perudo.csv"):
        assert "רות" in client.get(path).text
    assert client.get("/score/1/perudo.csv").content.startswith(b"\xef\xbb\xbfentry")
    question = client.get("/score/1/delete", headers={"Accept-Language": "fr"})
    assert "La supprimer pour de bon" in question.text
    enter(client, page, "undo")
    late = client.post("/score/1/delete", data={"seen": seen(question)})
    assert (late.status_code, "out of date" in late.text) == (409, True)
    sure = {"seen": seen(client.get("/score/1/delete"))}
    for _ in range(2):  # pressed twice
        done = client.post("/score/1/delete", data=sure)
        assert (done.status_code, done.url.path) == (200, "/score")
    assert client.get("/score/1").status_code == 404


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with TestClient(app(tmp_path / "file" / "scores.sqlite"), headers={"Accept-Language": "fr"}) as client:
        page = client.get("/score")
    assert page.status_code == 503
    assert "ne peut pas garder de scores" in page.text


def test_bad_requests_harm_nothing(client: TestClient) -> None:
    page = enter(client, client.post("/score/new", data=PEOPLE), "game", playing=["Ann", "Bo"], opener="Bo")
    assert enter(client, page, "lost", player="Nobody").status_code == 422
    assert enter(client, page, "fly").status_code == 422
    assert client.post("/score/1", data={"entry": "undo"}).status_code == 409
    assert client.post("/score/1", data={"entry": "undo", "seen": "²"}).status_code == 409
    assert client.post("/score/1", content=b"x" * 20_000).status_code == 413
    assert client.post("/score/1", content=b"\xff\xfe=1").status_code == 400
    crossed = {"Origin": "http://elsewhere.example"}
    assert client.post("/score/1", data={"seen": seen(page), "entry": "undo"}, headers=crossed).status_code == 403
    for path in (
        "/score/7",
        "/score/7/sheet",
        "/score/7/perudo.csv",
        "/score/-1",
        f"/score/{2**63}",
        f"/score/{10**30}/sheet",
    ):
        assert client.get(path).status_code == 404, path
    assert client.get("/score/x").status_code == 422
    assert client.get("/score/1").text == page.text
