"""The table of people and agents: turns, Calza windows, hints, proof."""

from __future__ import annotations

import json

import numpy as np
import pytest

import agents
from agents.core.reading import bid_chances
from perudo_env import CALZA, DUDO, PASS, Bid, Game, IllegalActionError
from perudo_env.__main__ import main
from perudo_env.engine.actions import FIRST_BID, MAX_FACES
from perudo_env.game.events import BidMade, CalzaSaid, Passed, Revealed
from perudo_env.game.notation import NotationError
from perudo_env.play.table import NotYourTurnError, Player, Table
from perudo_env.rulebook.chances import chance
from perudo_env.rulebook.fairness import UnfairError, verify

ANN, BOB, EVE = Player("Ann"), Player("Bob"), Player("Eve")


def table(variant: str = "classic", *players: Player, **options) -> Table:
    return Table(variant, players or (ANN, Player("Odds", "odds")), agents.make, **{"seed": 3, **options})


def window_table(*players: Player) -> Table:
    """A table at which the opener has bid 2x3 and everybody is asked for Calza."""
    at = table("box:calza=anyone", *players)
    at.act(at.game.seat, "2x3")
    return at


def finished(**options) -> Table:
    at = table("classic", Player("A", "odds"), Player("B", "threshold"), Player("C", "odds"), **options)
    at.play_agents()
    return at


def test_people_are_awaited_and_agents_play():
    at = table()
    at.play_agents()
    assert at.waiting_for == (0,)
    assert at.agent_seat is None
    with pytest.raises(ValueError, match="no agent is to act"):
        at.play_agent()
    with pytest.raises(NotYourTurnError, match="it is not the turn of Odds: Ann is to act"):
        at.act(1, "2x3")
    events = at.act(0, at.game.legal_actions()[-1])
    assert isinstance(events[0], BidMade)
    assert at.agent_seat == 1


def test_an_illegal_action_changes_nothing_and_names_the_clause():
    at = table()
    at.play_agents()
    before = at.game.record()
    with pytest.raises(IllegalActionError):
        at.act(0, "40x6")
    assert at.game.record() == before
    assert "au plus" in (at.why_illegal(0, "40x6", "fr") or "")


def test_in_a_calza_window_all_but_the_bidder_are_awaited_at_once():
    at = window_table(ANN, BOB, EVE)
    bidder = at.game.bidder
    assert bidder is not None
    first, second = (bidder + 1) % 3, (bidder + 2) % 3
    assert at.waiting_for == at.asked == (first, second)
    assert at.act(second, "calza") == []
    assert at.answer(second) == CALZA
    assert at.waiting_for == (first,)
    with pytest.raises(NotYourTurnError):
        at.act(second, "pass")
    with pytest.raises(IllegalActionError):
        at.act(first, "dudo")
    events = at.act(first, "pass")
    assert [type(e) for e in events[:3]] == [Passed, CalzaSaid, Revealed]
    assert events[1].seat == second


def test_of_two_claimants_the_nearer_to_the_bidder_is_heard():
    at = window_table(ANN, BOB, EVE)
    first, second = at.asked
    at.act(second, CALZA)
    events = at.act(first, CALZA)
    assert events[0] == CalzaSaid(first)
    assert sum(isinstance(e, CalzaSaid) for e in events) == 1
    assert at.answer(second) is None


def test_who_says_nothing_in_a_window_passes():
    at = window_table(ANN, BOB, EVE)
    first, second = at.asked
    assert at.close_window() == [Passed(first), Passed(second)]
    assert at.waiting_for == (first,)
    assert not at.game.in_calza_window


def test_a_window_waits_for_the_agents_in_it():
    at = table("box:calza=anyone", ANN, BOB, Player("Odds", "odds"), seed=6)
    at.play_agents()
    at.act(at.game.seat, "1x2")
    for _ in range(4):
        at.close_window()
        at.play_agents()
    assert not at.asked or at.waiting_for


def test_a_hint_tells_chances_and_what_an_agent_would_do():
    at = table()
    at.play_agents()
    hint = at.hint(0, "odds")
    assert sum(p for _, p in hint.choices) == pytest.approx(1)
    assert [p for _, p in hint.choices] == sorted((p for _, p in hint.choices), reverse=True)
    assert all(at.game.why_illegal(action) is None for action, _ in hint.choices)
    assert at.hint(1, "odds").choices == ()
    late = window_table(ANN, BOB, EVE)
    assert {a for a, _ in late.hint(late.asked[1], "inference").choices} <= {CALZA, PASS}


@pytest.mark.parametrize("variant", ["classic", "pascal", "evening", "joker", "classic:pacos_wild=False,num_faces=4"])
def test_chances_agree_with_those_that_agents_use(variant):
    game = Game(variant, 3 if variant not in ("joker",) else 2, 11)
    game.act(game.legal_actions()[-20])
    seat = game.seat
    told = bid_chances(game.observation(seat)[None], game.variant, game.num_seats)
    for action in range(FIRST_BID, game.num_actions):
        q, f = divmod(action - FIRST_BID, MAX_FACES)
        if f < game.variant.num_faces:
            holds, exactly = chance(game, seat, Bid(q + 1, f + 1))
            assert holds == pytest.approx(np.ravel(told.holds[0])[action - FIRST_BID], abs=1e-9)
            assert exactly == pytest.approx(np.ravel(told.exactly[0])[action - FIRST_BID], abs=1e-9)


def test_in_a_palifico_round_pacos_are_not_wild():
    game = Game.from_hands("classic", [[3], [1, 1, 3, 4, 5]], palifico=True)
    assert chance(game, 1, Bid(2, 3)).holds == pytest.approx(1 / 6)
    assert chance(game, 1, Bid(1, 3)) == (1.0, pytest.approx(5 / 6))


def test_the_same_seed_plays_the_same_game():
    assert finished().game.record() == finished().game.record()


def test_nothing_is_saved_before_the_end():
    with pytest.raises(ValueError, match="shows all dice"):
        table().saved()


def test_a_table_goes_on_from_its_state_with_the_same_dice():
    at = table("box:calza=anyone", ANN, Player("Odds", "odds"), BOB)
    while not at.is_over:
        at.play_agents()
        if at.waiting_for:
            at.act(at.waiting_for[0], at.game.legal_actions()[0])
        again = Table.resumed(json.loads(json.dumps(at.state())), agents.make)
        assert (again.players, again.commitment, again.game.events) == (at.players, at.commitment, at.game.events)
        assert [again.game.hand(seat) for seat in range(3)] == [at.game.hand(seat) for seat in range(3)]
        at = again
    verify(json.dumps(at.saved()))
    with pytest.raises(ValueError, match="record"):
        Table.resumed({**at.state(), "record": "nonsense"})


def test_a_saved_game_proves_its_dice():
    at = finished(seed=None)
    saved = at.saved()
    assert "every die agrees with the seed, and seed and salt" in verify(json.dumps(saved))
    assert "every die agrees" in verify(saved["record"])
    for key, value in (("salt", "0" * 32), ("commitment", "0" * 64)):
        with pytest.raises(UnfairError, match="do not give the commitment"):
            verify(json.dumps({**saved, key: value}))
    for change, why in (({"seed": "1"}, "names the seed 1, and its record"), ({"salt": "\ud800"}, "no character")):
        with pytest.raises(UnfairError, match=why):
            verify(json.dumps({**saved, **change}))


def test_a_changed_die_is_found():
    at = finished()
    lines = at.game.record().splitlines()
    hands, rest = lines[1].split(" ", 1)
    first = hands.split("/")[0]
    changed = "".join(sorted(str(int(first[0]) % 6 + 1) + first[1:]))
    lines[1] = f"{changed}/{hands.split('/', 1)[1]} {rest}"
    with pytest.raises(UnfairError, match="round 1, seat 0"):
        verify("\n".join(lines))


def test_a_saved_game_may_begin_with_a_byte_order_mark():
    saved = finished().saved()
    for text in (json.dumps(saved), saved["record"]):
        assert verify("\ufeff" + text) == verify(text)


def test_a_record_that_breaks_the_rules_is_no_proof():
    """The dice are those of the seed, but what is said besides is not what the rules make of them."""
    at = finished()
    head, first, second, *rest = at.game.record().splitlines()
    opener = f"opener={(int(first.split('opener=')[1][0]) + 1) % 3}"
    wrong = {
        "fewer hands": [head, first, second.partition("/")[2], *rest],
        "more hands": [head, first, "11/" + second, *rest],
        "nine hands": [head, "/".join(["11111"] * 9), second],
        "a cup too full": [head, first.replace("/", "1/", 1), second, *rest],
        "another opener": [
            head,
            " ".join(opener if w.startswith("opener") else w for w in first.split()),
            second,
            *rest,
        ],
        "a round more": [head, first, second, *rest, second],
        "an illegal bid": [head, first.rpartition(" ")[0] + " 1x2 dudo", second, *rest],
        "a round left out": [head, second, *rest],
    }
    for what, lines in wrong.items():
        with pytest.raises((UnfairError, NotationError)) as error:
            verify("\n".join(lines))
        assert "zip()" not in str(error.value), what


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"record": 3, "salt": "", "commitment": ""}', "perudo", "[" * 100_000]
)
def test_what_is_no_saved_game_is_refused(text):
    with pytest.raises(UnfairError):
        verify(text)


def test_the_command_verifies_a_file(tmp_path, capsys):
    file = tmp_path / "game.json"
    saved = finished(seed=None).saved()
    file.write_text(json.dumps(saved), encoding="utf-8")
    assert main(["verify", str(file)]) == 0
    assert "every die agrees" in capsys.readouterr().out
    file.write_text(json.dumps({**saved, "salt": ""}), encoding="utf-8")
    assert main(["verify", str(file)]) == 2
    assert "do not give the commitment" in capsys.readouterr().err
    file.write_bytes(b"\xff\xfe{")
    for path in (file, tmp_path / "absent", tmp_path / ("x" * 5000)):
        assert main(["verify", str(path)]) == 2
        said = capsys.readouterr().err
        assert "cannot be read as text" in said
        assert len(said) < 400


def test_an_unknown_agent_cannot_sit():
    with pytest.raises(ValueError, match="did you mean 'odds'"):
        table("classic", ANN, Player("X", "odd"))
    with pytest.raises(ValueError, match="nothing that makes agents"):
        Table("classic", (ANN, Player("X", "odds")))


def test_the_first_act_of_a_person_may_be_dudo():
    at = table("classic", ANN, BOB)
    at.act(at.waiting_for[0], "2x3")
    events = at.act(at.waiting_for[0], DUDO)
    assert any(isinstance(e, Revealed) for e in events)
