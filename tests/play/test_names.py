"""Players' names: what a name is, which look alike, and that every door asks the same rule, in the page's language."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agents.people.levels import lineup
from perudo_env.game.words import words
from perudo_env.play.language import say_refused
from perudo_env.play.names import NameRefusedError, clean, distinct, filled, isolated, looks
from perudo_env.play.score.csvfile import from_csv, to_csv
from perudo_env.play.score.entries import GameStarted, Joined, Lost, Opened, Renamed, ScoreError
from perudo_env.play.score.evening import Evening
from perudo_env.play.score.words import say_error
from perudo_env.play.table import Player, Table
from perudo_env.play.terminal.telling import Manner, Teller, seated
from perudo_env.play.web.setup import SetupError, read_setup

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
REFUSED = ("\u200b\u200d", "\u3164", "\u0301", "x" * 31, "a\x1b[31mb", "a\x00b", "a\ue000", "\uffff")
ALIKE = (
    ("Ann", "ANN"), ("Ann", "\uff21\uff4e\uff4e"), ("Zoé", "Zoe\u0301"), ("Ann", "An\u200cn"), ("fi", "\ufb01"),
    ("Straße", "STRASSE"), ("Ann", "Ann\ufe0f"), ("Ann", "A\u034fnn"), ("Ann B", "Ann\u3164B"), ("Ann", "\u2800Ann"),
)  # fmt: skip


def test_a_name_is_kept_as_it_is_written() -> None:
    for typed, kept in (
        ("  Zoe\u0301 \u00a0 B ", "Zoé B"), ("می\u200cخواهم", "می\u200cخواهم"), ("\U0001f469\u200d\U0001f680", "\U0001f469\u200d\U0001f680"),
        (ENGLAND, ENGLAND), ("\u200dAnn\u200c \u200dB", "Ann B"), ("\ufeffA\u00adnn\u202e", "Ann"), ("\u200fרות\u200e", "רות"),
        ("x" * 30, "x" * 30), ("e\u0301" * 30, "é" * 30), ("❤\ufe0f", "❤\ufe0f"), ("?", "?"),
    ):  # fmt: skip
        assert clean(typed) == kept
        assert clean(kept) == kept
    for text in (*REFUSED, "", " \t", "\ud800"):
        with pytest.raises(NameRefusedError) as refused:
            clean(text)
        # what is said of it can be shown
        assert str(refused.value).isprintable(), text
        assert say_refused(refused.value, words("fr")).startswith("Non : ")


def test_no_two_look_alike() -> None:
    for one, other in ALIKE:
        assert looks(one) == looks(other)
        with pytest.raises(NameRefusedError, match="two players are called"):
            distinct([one, "Bo", other])
    assert distinct(["Ann", "Anne", "Än", " Bo"]) == ("Ann", "Anne", "Än", "Bo")
    # a name that nobody typed gives way to one that somebody did, wherever that one sits
    assert filled([None, "PILAR", None], ["Pilar", "Diego", "Pilar"]) == ("Pilar 2", "PILAR", "Pilar 3")


def doors(language: str) -> dict[str, Callable[[str, str], tuple[str, ...]]]:
    """What gives a table the names of two people, by door; each refuses in a sentence of its language."""
    w, house = words(language), lineup()

    def pages(one: str, other: str) -> tuple[str, ...]:
        form = {"kind0": "me", "name0": one, "kind1": "browser", "name1": other}
        return tuple(player.name for player in read_setup(form, house, w).players)

    def terminal(one: str, other: str) -> tuple[str, ...]:
        return tuple(player.name for player in seated([one, other], {"odds"}.__contains__, w))

    def sheet(one: str, other: str) -> tuple[str, ...]:
        return Evening([Opened((one, other), "marquoir")]).players

    def joining(one: str, other: str) -> tuple[str, ...]:
        return Evening([Opened((one, "Nobody"), "marquoir"), Joined(other)]).players[::2]

    def corrected(one: str, other: str) -> tuple[str, ...]:
        return Evening([Opened((one, "Nobody"), "marquoir"), Renamed("Nobody", other)]).players

    def csv(one: str, other: str) -> tuple[str, ...]:
        kept = to_csv((Opened(("one", "other"), "marquoir"),))
        first, _ = from_csv(kept.replace("other", other).replace("one", one))
        return Evening([first]).players

    return {door.__name__: door for door in (pages, terminal, sheet, joining, corrected, csv)}


def test_every_door_has_the_same_rule_and_says_so_in_its_language() -> None:
    french = words("fr")
    for name, door in doors("fr").items():
        assert door("Zoe\u0301", " می\u200cخواهم ") == ("Zoé", "می\u200cخواهم"), name
        for one, other in (*ALIKE, *(("Ann", text) for text in REFUSED)):
            # JSON in a CSV takes no control characters at all
            if name == "csv" and min(other) < " ":
                continue
            with pytest.raises((SetupError, NameRefusedError, ScoreError)) as refused:
                door(one, other)
            error = refused.value
            said = say_error(error, french) if isinstance(error, ScoreError) else str(error)
            said = say_refused(error, french) if isinstance(error, NameRefusedError) else said
            assert any(part in said for part in ("un nom", "distinguez-les", "ne peut s’afficher")), (name, said)


def test_entries_find_a_player_by_either_form_of_the_name() -> None:
    for kept, said in (("Zoe\u0301", "Zoé"), ("Zoé", "Zoe\u0301")):
        table = Evening([Opened((kept, "Bo"), "marquoir"), GameStarted((), said), Lost(said)]).table
        assert table is not None
        assert table.dice == (4, 5)


def test_names_from_right_to_left_do_not_reorder_what_stands_beside_them() -> None:
    ruth = isolated("רות")
    assert ruth == "\u2068רות\u2069"
    assert [isolated(name) for name in ("Ann", "Zoé 2", "42")] == ["Ann", "Zoé 2", "42"]
    at = Table("classic", (Player("רות"), Player("نور")), seed=4)
    seat = at.game.seat
    assert seat is not None
    at.act(seat, "2x3")
    said = "\n".join(
        [
            *Teller(at, Manner(), words("en")).happened(at.game.events),
            *Teller(at, Manner(), words("fr")).status(1 - seat),
        ]
    )
    assert f"{isolated(at.players[seat].name)}: two 3s." in said
    assert said.count("רות") == said.count(ruth) > 0
