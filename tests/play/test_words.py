"""Languages: the catalogue is complete and compiled, bids and events read well, requests choose."""

from __future__ import annotations

import re

import pytest

from perudo_env import Bid, Game
from perudo_env.engine.actions import CALZA, DUDO, PASS
from perudo_env.game.events import BidMade, DieLost, DieRegained, Eliminated, GameOver, Revealed, RolledOff
from perudo_env.game.language import language_of
from perudo_env.game.narration import tell
from perudo_env.game.words import words
from tools import catalogue

NAMES = ["Ann", "{0} Bob"]


def test_every_text_is_translated_and_compiled():
    now = catalogue.collected()
    assert catalogue.untranslated(now) == []
    assert catalogue.PO.read_bytes() == catalogue.po_bytes(now), "run python -m tools.catalogue"
    assert catalogue.PO.with_suffix(".mo").read_bytes() == catalogue.mo_bytes(now), "run python -m tools.catalogue"


def test_no_text_of_a_template_is_overlooked():
    """Only calls by these names are collected, none of a method."""
    overlooked = r"\.[np]?n?gettext\("
    assert re.search(overlooked, 'words.gettext("x")')
    templates = list(catalogue.PACKAGE.glob("play/templates/**/*.html"))
    assert len(templates) > 10
    assert [t.name for t in templates if re.search(overlooked, t.read_text(encoding="utf-8"))] == []


def test_translations_fill_the_same_places():
    for message in catalogue.collected():
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        for pattern in (r"\{\w+\}", r"%\(\w+\)\w"):
            wanted = set(re.findall(pattern, ids[-1]))
            assert all(set(re.findall(pattern, s)) == wanted for s in strings if s), message.id


def untypeset(text: str) -> list[str]:
    """What French typography does not allow: typewriter apostrophes, breaking spaces at double signs and quotation marks."""
    return re.findall(r"\w'\w| [:;!?»](?!\w)|« |\w\?(?!\w)|\w!(?!\w)|\w;", text)


def test_the_french_texts_are_typeset():
    faulty = {
        "C'est": 1,
        "Non : ": 1,
        "Dudo !": 1,
        "« oui »": 2,
        "Vraiment?": 1,
        "C’est\u202f! Non\u00a0: «\u00a0oui\u00a0»": 0,
    }
    assert {text: len(untypeset(text)) for text in faulty} == faulty
    texts = [s for m in catalogue.collected() if m.id for s in ((m.string,) if isinstance(m.string, str) else m.string)]
    assert len(texts) > 400
    assert [text for text in texts if untypeset(text)] == []


def test_several_winners_are_told_as_several():
    assert words("fr").winners(["Léa"]) == "Léa gagne la partie."
    assert words("fr").winners(["Léa", "Rosa"]) == "Léa et Rosa gagnent la partie."
    assert words("en").winners(["Léa", "Bo", "Rosa"]) == "Léa, Bo and Rosa win the game."


@pytest.mark.parametrize(
    ("language", "bid", "said"),
    [
        ("fr", Bid(1, 1), "un Paco"), ("fr", Bid(2, 1), "deux Pacos"), ("fr", Bid(3, 4), "trois 4"), ("fr", Bid(1, 4), "un 4"),
        ("fr", Bid(27, 6), "27 6"), ("en", Bid(1, 1), "one Paco"), ("en", Bid(2, 1), "two Pacos"), ("en", Bid(3, 4), "three 4s"),
        ("en", Bid(1, 4), "one 4"),
    ],
)  # fmt: skip
def test_a_bid_is_said_as_people_say_it(language, bid, said):
    assert words(language).bid(bid) == said


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_event_of_a_game_is_a_sentence(language):
    game = Game("box:calza=anyone,first_player=roll_off", 2, 3)
    while not game.is_over:
        game.act(game.legal_actions()[0])
    texts = [words(language).event(e, NAMES) for e in game.events]
    assert all(re.fullmatch(r"[^{}]+[.!]", t.replace("{0} Bob", "Bob")) for t in texts)
    assert len({type(e) for e in game.events}) >= 7


def test_numbers_agree():
    fr, en = words("fr"), words("en")
    assert fr.event(DieLost(0, 1), NAMES) == "Ann perd un dé : il en reste 1."
    assert en.event(DieLost(0, 0), NAMES) == "Ann loses the last die."
    assert en.event(Revealed(0, Bid(2, 1), ((1,), (2,)), 1), NAMES) == "Ann had bid two Pacos: the count is 1 die."
    assert fr.event(Revealed(0, Bid(1, 1), ((3,), (2,)), 0), NAMES) == "Ann avait annoncé un Paco : il n’y en a aucun."
    assert en.event(GameOver((1, 1), True), ["Ann", "Eve"]) == "The limit of rounds ends the game. First: Ann, Eve."
    for event in (DieRegained(1, 3), Eliminated(1, 2), GameOver((1, 2), False), RolledOff(((0, 7), (1, 9)))):
        assert fr.event(event, NAMES) != en.event(event, NAMES)
    assert [fr.action(a) for a in (DUDO, CALZA, PASS)] == ["Dudo", "Calza", "Je passe"]


def test_a_table_without_names_is_told_by_the_same_sentences():
    for language, seat in (("en", "seat 1"), ("fr", "place 1")):
        w, events = words(language), (DieLost(1, 0), DieRegained(1, 3), Eliminated(1, 2), GameOver((2, 1), False))
        assert [tell(e, language) for e in events] == [w.event(e, ["?", seat], hidden=True) for e in events]
    assert tell(BidMade(1, Bid(5, 3)), "fr") == "place 1 : 5x3."
    assert tell(Revealed(0, Bid(2, 1), ((1,), (2,)), 1)) == (
        "All dice are shown: seat 0: 1, seat 1: 2. seat 0 had bid 2P: the count is 1 die."
    )


def test_french_stands_in_the_catalogue_and_in_the_rulebook_alone():
    """But for what people may type, and people's names."""
    others = ("rulebook/", "game/tokens.py", "play/terminal/plain.py", "play/score/plain.py", "play/web/setup.py")
    names = {
        str(p.relative_to(catalogue.PACKAGE))
        for p in catalogue.PACKAGE.rglob("*.py")
        if re.search("[éèêàçùœ]", p.read_text("utf-8"))
    }
    assert {n for n in names if not n.startswith(others)} == set()


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("fr_CA.UTF-8", "fr"),
        ("C.UTF-8", "en"),
        ("", "en"),
        ("de, fr;q=0.5, en;q=0.4", "fr"),
        ("en-GB,fr;q=0.9", "en"),
        ("fr;q=x,en", "en"),
    ],
)
def test_the_language_of_a_tag(tag, language):
    assert language_of(tag) == language


def test_shares_are_written_as_each_language_does():
    assert [words("en").percent(s, d) for s, d in ((0.421, 0), (0.1667, 1))] == ["42%", "16.7%"]
    assert [words("fr").percent(s, d) for s, d in ((0.421, 0), (0.1667, 1))] == ["42\u202f%", "16,7\u202f%"]


def test_the_system_s_language_counts_where_none_is_given(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    assert language_of() == "fr"
