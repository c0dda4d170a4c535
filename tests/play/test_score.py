"""The score of an evening, from its entries (S3, S4)."""

from __future__ import annotations

import random

import pytest

from perudo_env import Game
from perudo_env.game.words import words
from perudo_env.play.score.entries import (
    Calza,
    Entry,
    GameStarted,
    Joined,
    Left,
    Lost,
    Opened,
    Renamed,
    ScoreError,
    Stopped,
    Undone,
    table_variant,
)
from perudo_env.play.score.evening import Evening
from tests.helpers import play_out
from tests.play.scores import evening, losses, opened, shown, won_by

EN = words("en")


# ------------------------------------------------------------------------------------------------ one game


def test_who_loses_a_die_opens_the_next_round_and_the_drop_to_one_die_is_palifico() -> None:
    table = evening(GameStarted(opener="Cy"), *losses("Ann", "Bo", "Bo")).table
    assert table is not None
    assert (table.first, table.dice, table.opener, table.palifico, table.round) == ("Cy", (2, 1, 3), "Bo", True, 4)
    assert [line.opens for line in table.lines] == ["Ann", "Bo", "Bo"]
    assert [line.palifico for line in table.lines] == [False, False, True]


def test_a_player_without_dice_is_out_and_the_next_one_clockwise_opens() -> None:
    table = evening(GameStarted(opener="Ann"), *losses("Bo", "Bo", "Bo")).table
    assert table is not None
    assert (table.opener, table.palifico, table.places) == ("Cy", False, (0, 3, 0))
    with pytest.raises(ScoreError, match="Bo has no dice left"):
        table.settle("Bo", -1)


def test_a_right_calza_takes_a_die_back_but_never_beyond_the_start_and_its_caller_opens() -> None:
    table = evening(GameStarted(opener="Ann"), Lost("Bo"), Calza("Bo"), Calza("Bo")).table
    assert table is not None
    assert [line.change for line in table.lines] == [-1, 1, 0]
    assert (table.dice, table.opener) == ((3, 3, 3), "Bo")


def test_palifico_once_and_each_drop_are_the_variants() -> None:
    drops = [GameStarted(opener="Ann"), *losses("Bo", "Bo"), Calza("Bo"), Lost("Bo")]
    for preset, again in (("marquoir", True), ("evening", False), ("pascal", False)):
        table = evening(*drops, first=opened("Ann", "Bo", preset=preset, dice=3, calza=True)).table
        assert table is not None
        assert table.palifico is again, preset


def test_the_last_one_with_dice_wins_and_nothing_follows() -> None:
    e = evening(GameStarted(opener="Ann"), *losses(*("Bo",) * 3, *("Ann",) * 3))
    table = e.table
    assert table is not None
    assert (table.is_over, table.truncated, table.places, table.opener, table.palifico) == (
        True,
        False,
        (2, 3, 1),
        None,
        False,
    )
    with pytest.raises(ScoreError, match="the game is over"):
        table.settle("Cy", -1)


@pytest.mark.parametrize("preset", ["classic", "pascal", "box", "marquoir", "evening"])
def test_the_sheet_of_a_played_game_agrees_with_the_game(preset: str) -> None:
    """Outcomes of games in the engine, entered one by one, give the same dice, openers, Palifico and places."""
    for seed in range(4):
        v = table_variant(preset, calza=True)
        names = ("a", "b", "c", "d")
        game = Game(v, 4, seed)
        e = Evening([Opened(names, str(v)), GameStarted(opener=names[game.opener])])
        rng = random.Random(seed)
        while not game.is_over:
            number = game.round
            while not game.is_over and game.round == number:
                play_out(game, rng, steps=1)
            change, who = game.states[0]["last_change"], names[game.states[0]["last_seat"]]
            e.apply(Lost(who) if change < 0 else Calza(who))
            table = e.table
            assert table is not None
            assert table.dice == game.dice
            assert table.opener == (None if game.is_over else names[game.opener])
            assert table.palifico == (game.palifico and not game.is_over)
        assert table.places == game.ranks


def test_the_first_opener_is_drawn_by_the_variants_rules_from_the_seed() -> None:
    drawn = {seed: evening(GameStarted(seed=seed)).tables[0].first for seed in range(40)}
    assert set(drawn.values()) == {"Ann", "Bo", "Cy"}
    assert drawn[7] == ("Ann", "Bo", "Cy")[Game(table_variant("marquoir", 3), 3, 7).opener]


# ------------------------------------------------------------------------------------------------ an evening


def test_the_sum_of_places_ranks_an_evening_lowest_first_and_equals_share_a_rank() -> None:
    e = evening(*won_by("Ann", "Cy", "Bo"), *won_by("Bo", "Cy", "Ann"), *won_by("Cy", "Ann", "Bo"))
    assert [(s.rank, s.player, s.points, s.games, s.wins) for s in e.standings()] == [
        (1, "Bo", 5, 3, 1), (2, "Ann", 6, 3, 1), (3, "Cy", 7, 3, 1),
    ]  # fmt: skip
    shared = evening(*won_by("Ann", "Cy", "Bo"), *won_by("Bo", "Cy", "Ann"))
    assert [(s.rank, s.player, s.points) for s in shared.standings()] == [(1, "Ann", 3), (1, "Bo", 3), (3, "Cy", 6)]


def test_games_won_rank_an_evening_highest_first() -> None:
    first = opened("Ann", "Bo", "Cy", dice=3, scoring="wins")
    e = evening(*won_by("Bo", "Cy", "Ann"), *won_by("Bo", "Cy", "Ann"), *won_by("Cy", "Ann", "Bo"), first=first)
    assert [(s.rank, s.player, s.points) for s in e.standings()] == [(1, "Bo", 2), (2, "Cy", 1), (3, "Ann", 0)]


def test_a_game_under_way_does_not_count_yet() -> None:
    e = evening(*won_by("Ann", "Cy", "Bo"), GameStarted(opener="Bo"), *losses("Ann", "Ann", "Ann"))
    assert [s.points for s in e.standings()] == [1, 2, 3]


def test_a_game_cut_off_is_ranked_by_dice_and_shares_places() -> None:
    table = evening(GameStarted(opener="Ann"), Lost("Bo"), Stopped()).table
    assert table is not None
    assert (table.places, table.truncated) == ((1, 3, 1), True)


def test_who_sits_out_or_joins_later_takes_the_place_after_the_last_of_the_games_missed() -> None:
    e = evening(GameStarted(("Ann", "Cy"), "Ann"), *losses("Cy", "Cy", "Cy"), Joined("Di"), GameStarted(opener="Di"))
    first, second = e.tables
    assert first.dice == (3, 0, 0)
    assert [first.place_of(p) for p in ("Ann", "Bo", "Cy", "Di")] == [1, 3, 2, 3]
    assert [first.took_part(p) for p in ("Ann", "Bo", "Cy", "Di")] == [True, False, True, False]
    assert (second.players, second.opener) == (("Ann", "Bo", "Cy", "Di"), "Di")


def test_who_leaves_in_mid_game_is_out_below_those_still_in() -> None:
    first = opened("Ann", "Bo", "Cy", "Di", dice=3)
    told = [GameStarted(opener="Ann"), *losses("Di", "Di", "Di", "Cy", "Cy")]
    before = evening(*told, first=first).table
    assert before is not None
    assert (before.opener, before.palifico, before.round) == ("Cy", True, 6)
    # somebody else: the same round again, nobody else loses a die
    table = evening(*told, Left("Ann"), first=first).table
    assert table is not None
    assert (table.dice, table.places, table.opener, table.palifico, table.round) == (
        (0, 3, 1, 0), (3, 0, 0, 4), "Cy", True, 7,
    )  # fmt: skip
    assert (table.lines[-1].player, table.lines[-1].left, table.lines[-1].place, table.lines[-1].round) == ("Ann", True, 3, 6)  # fmt: skip
    # the one whose Palifico it was to be: an ordinary round, opened by the next one clockwise who is in
    table = evening(*told, Left("Cy"), first=first).table
    assert table is not None
    assert (table.opener, table.palifico, table.places) == ("Ann", False, (0, 0, 3, 4))
    # of two the other has won; who is out already keeps its place
    over = evening(*told, Left("Di"), Left("Ann"), Left("Bo"), first=first)
    assert over.table is not None
    assert (over.table.is_over, over.table.truncated, over.table.places) == (True, False, (3, 2, 1, 4))
    with pytest.raises(ScoreError, match="Bo has left already"):
        over.apply(Left("Bo"))
    # the next game is played by who is here, and by who joins again
    with pytest.raises(ScoreError, match="two players"):
        over.apply(GameStarted())
    over.apply(Joined("bo"))
    over.apply(GameStarted())
    assert over.table.dice == (0, 3, 3, 0)
    assert over.gone == {"Ann", "Di"}
    assert shown(evening(*told, Left("Ann"), Undone(), first=first)) == shown(evening(*told, first=first))


def test_a_name_is_corrected_in_all_games() -> None:
    told = [*won_by("Ann", "Cy", "Bo"), GameStarted(opener="Bo"), Lost("Bo")]
    right = opened("Ann", "Bob", "Cy", dice=3)
    as_if = [
        GameStarted(opener="Ann"),
        *losses(*("Cy",) * 3, *("Bob",) * 3),
        GameStarted(opener="Bob"),
        *losses("Bob", "Ann"),
    ]
    e = evening(*told, Renamed("Bo", " Bob "), Lost("Ann"))
    assert shown(e) == shown(evening(*as_if, first=right))
    assert e.players == ("Ann", "Bob", "Cy")
    for wrong, says in ((Renamed("Bo", "Al"), "Bo does not play"), (Renamed("Bob", "CY"), "two players are called CY")):
        with pytest.raises(ScoreError, match=says):
            e.apply(wrong)
    e.apply(Renamed("Bob", "BOB"))  # nobody else's
    assert evening(*told, Left("Bo"), Renamed("Bo", "Bob")).gone == {"Bob"}
    assert shown(evening(*told, Renamed("Bo", "Bob"), Undone())) == shown(evening(*told))


def test_undo_drops_the_last_entry_that_stands_and_reaches_back_over_games() -> None:
    told = [*won_by("Ann", "Cy", "Bo"), GameStarted(opener="Bo"), Lost("Cy")]
    for n in range(len(told) + 1):
        assert shown(evening(*told, *[Undone()] * n)) == shown(evening(*told[: len(told) - n]))
    with pytest.raises(ScoreError, match="nothing to undo"):
        evening(*told, *[Undone()] * (len(told) + 1))
    # a mistake, undone, and the right entry
    assert shown(evening(*told, Undone(), Lost("Bo"), Undone(), Lost("Ann"))) == shown(evening(*told[:-1], Lost("Ann")))


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([Lost("Ann")], "no game is being played"),
        ([Stopped()], "no game is being played"),
        ([GameStarted(), GameStarted()], "finish it or stop it first"),
        ([GameStarted(), Joined("Di")], "between two games"),
        ([GameStarted(), Lost("ann")], "ann does not play: the players are Ann, Bo, Cy"),
        ([GameStarted(("Ann", "Bo"), "Cy")], "Cy sits out"),
        ([GameStarted(("Ann",))], "two players"),
        ([GameStarted(("Ann", "Ann"))], "two players"),
        ([GameStarted(seed=-1)], "-1 is not a seed"),
        ([Joined("BO")], "two players are called BO"),
        ([GameStarted(), Calza("Ann")], None),
    ],
)
def test_an_entry_that_cannot_be_is_refused(entries: list[Entry], says: str | None) -> None:
    if says is None:
        evening(*entries)
        with pytest.raises(ScoreError, match="played without Calza"):
            evening(*entries, first=opened("Ann", "Bo", "Cy", calza=False))
        return
    with pytest.raises(ScoreError, match=says):
        evening(*entries)


@pytest.mark.parametrize(
    "players", [("Ann",), tuple("abcdefghi"), ("Ann", ""), ("Ann", "Ann "), ("Ann", "x" * 31), ("Ann", "a\x1b[31mb")]
)
def test_names_that_cannot_stand_on_a_sheet_are_refused(players: tuple[str, ...]) -> None:
    with pytest.raises(ScoreError):
        Evening([Opened(players, "marquoir")])


def test_dice_and_calza_are_chosen_on_top_of_a_preset() -> None:
    assert [table_variant("marquoir", n).starting_dice for n in (3, 5, 6)] == [3, 5, 6]
    assert [table_variant(p, calza=True).calza for p in ("classic", "box", "marquoir")] == [
        "on_turn",
        "anyone",
        "on_turn",
    ]
    assert table_variant("marquoir", calza=False).calza == "off"
    for bad in (("joker", 5), ("marquoir", 7), ("marquoir", 0)):
        with pytest.raises(ScoreError):
            table_variant(*bad)
