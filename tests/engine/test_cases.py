"""The worked positions of the rules page: every line of ``data/*.jsonl`` is a test, named by its id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import perudo_env as pe
from perudo_env.engine.actions import to_id
from perudo_env.game.events import Revealed
from tests.helpers import RULE_PRESETS, state_of

DATA = Path(__file__).parents[1] / "data"


def lines(name: str) -> list[Any]:
    cases = [json.loads(line) for line in (DATA / name).read_text().splitlines()]
    return [pytest.param(case, id=case["id"]) for case in cases]


CASES, RESULTS = lines("cases.jsonl"), lines("results.jsonl")


def position(case: dict[str, Any]) -> pe.Game:
    v = pe.variant(case["preset"], **case["overrides"])
    return pe.Game.from_hands(
        v, case["hands"], opener=case["opener"], palifico=case["palifico"], bids=[tuple(b) for b in case["bids"]]
    )


def action(word: Any) -> pe.Action:
    return pe.Bid(*word) if isinstance(word, list) else {"dudo": pe.DUDO, "calza": pe.CALZA}[word]


def test_every_rule_text_has_worked_positions() -> None:
    assert {case.values[0]["preset"] for case in CASES} == set(RULE_PRESETS)
    assert (len(CASES), len(RESULTS)) == (22, 17)


@pytest.mark.parametrize("case", CASES)
def test_what_the_page_allows(case: dict[str, Any]) -> None:
    game = position(case)
    assert case["legal"]
    for word in case["legal"]:
        what = action(word)
        assert game.why_illegal(what) is None
        assert game.action_mask()[to_id(what)] == 1
        assert what in game.legal_actions()
        for form in (what, str(what), to_id(what)):
            twin = game.copy()
            events = twin.act(form)
            assert events
            assert events == list(twin.events[len(game.events) :])


@pytest.mark.parametrize("case", [c for c in CASES if c.values[0]["illegal"]])
def test_what_the_page_refuses(case: dict[str, Any]) -> None:
    game = position(case)
    before = state_of(game)
    for word in case["illegal"]:
        what = action(word)
        why = game.why_illegal(what)
        assert why
        assert game.why_illegal(what, "fr")
        assert game.action_mask()[to_id(what)] == 0
        assert what not in game.legal_actions()
        for form in (what, str(what), to_id(what)):
            with pytest.raises(pe.IllegalActionError) as caught:
                game.act(form)
            assert str(caught.value) == why
            assert state_of(game) == before


@pytest.mark.parametrize("case", RESULTS)
def test_how_the_page_ends_the_round(case: dict[str, Any]) -> None:
    game = position(case)
    call = action(case["call"])
    while game.in_calza_window and (game.seat != case["caller"] or call == pe.DUDO):
        game.act(pe.PASS)
    assert game.seat == case["caller"]
    events = game.act(call)
    (reveal,) = [e for e in events if isinstance(e, Revealed)]
    assert reveal.count == case["count"]
    assert [list(h) for h in reveal.hands] == [sorted(h) for h in case["hands"]]
    assert list(game.dice) == case["dice_after"]
    assert (game.opener, game.palifico) == (case["next_opener"], case["next_palifico"])
    assert (game.seat, game.round, game.standing_bid) == (case["next_opener"], 2, None)
