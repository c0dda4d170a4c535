"""The text door: prompts that tell what a player knows and no more, whole games by scripted speakers, bad answers."""

from __future__ import annotations

import random
import re

import pytest

from perudo_env import DUDO, PASS, Bid, Game
from perudo_env.adapters.prompt import least_raise, prompt, rules_text
from perudo_env.adapters.text import TextEnv
from perudo_env.game.narration import tell, tell_rounds
from perudo_env.game.notation import format_hand
from perudo_env.render.scene import raises
from tests.helpers import PRESETS, Chooser, legal_ids

WORDS = {
    "en": ("Your dice: (.*)", "(?:least raise|may open with): (.*)", "Thinking ... I bid {} {}.", "I doubt that!", "I pass"),
    "fr": ("Vos dés : (.*)", "(?:au moins|on peut ouvrir avec): (.*)", "Voyons. J'annonce {} {} !", "Je doute.", "Je passe"),
}  # fmt: skip
FACES = {
    "en": ("aces", "twos", "threes", "fours", "fives", "sixes"),
    "fr": ("as", "deux", "trois", "quatre", "cinq", "six"),
}


def speaker(language: str, observation: str) -> str:
    """A player that knows the prompt alone: raises on a face of its own while the bid is low, else doubts."""
    hand, least, bid, doubt, wait = WORDS[language]
    own = [int(face) for face in re.search(hand, observation)[1].split()]
    if re.search(r"\[passe?\]", observation):
        return wait
    offered = [
        (int(q), 1 if p else int(f)) for q, f, p in re.findall(r"(\d+)(?:x(\d)|(P))", re.search(least, observation)[1])
    ]
    sound = [(q, f) for q, f in offered if q <= own.count(f) + 2]
    if sound or "[dudo]" not in observation:
        quantity, face = min(sound or offered)
        return bid.format(quantity, FACES[language][face - 1])
    return doubt


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("variant", ["classic", "box:calza=anyone"])
def test_whole_game_by_scripted_speakers(language, variant):
    env = TextEnv(variant, language)
    env.reset(num_players=3, seed=7)
    done, turns = False, 0
    while not done:
        seat, observation = env.get_observation()
        assert seat == env.game.seat
        done, info = env.step(speaker(language, observation))
        assert info["error"] is None, (observation, info)
        turns += 1
    rewards, game_info = env.close()
    assert rewards == dict(enumerate(env.game.returns))
    assert sum(told["turn_count"] for told in game_info.values()) == turns
    assert tuple(told["place"] for told in game_info.values()) == env.game.ranks
    assert not any(told["errors"] or told["invalid_move"] for told in game_info.values())
    assert Game.replay(env.game.record()).ranks == env.game.ranks


@pytest.mark.parametrize("variant", PRESETS)
def test_prompt_does_not_depend_on_dice_that_the_seat_does_not_see(variant):
    """All other hands are dealt anew under the cups: not a letter of the prompt changes; with the own hand it does."""
    rng = random.Random(3)
    game = Game(variant, 2 if variant in ("liars_dice", "joker") else 4, seed=5)
    rules, choose, prompts, told = "", Chooser(rng), 0, 0
    begin, spoken, number = game.copy(), [], 1
    while not game.is_over and game.round < 7:
        if game.round != number:
            begin, spoken, number = game.copy(), [], game.round
        seat = game.seat
        others = [[rng.randint(1, game.variant.num_faces) for _ in range(d)] for d in game.dice]
        for own_too in (False, True):
            twin = begin.copy()
            twin.deal([game.hand(s) if s == seat and not own_too else hand for s, hand in enumerate(others)])
            for action in spoken:
                twin.act(action)
            same = prompt(twin, rules) == prompt(game, rules)
            assert same is (twin.hand(seat) == game.hand(seat))
            told += not same
        prompts += 1
        spoken.append(choose(legal_ids(game)))
        game.act(spoken[-1])
    assert prompts > 1 or game.variant.rounds == "one"
    assert told > 0


def test_hidden_counts_are_to_be_remembered_from_the_rounds_told_and_not_shown():
    """What may be counted is who lost a die; the table itself, and the sentences, hide how many are left."""
    few, many = (
        Game.from_hands("box", [[2, 2, 3], *rest], seed=1) for rest in ([[4, 4], [5]], [[4, 4, 6, 6], [5] * 5])
    )
    assert prompt(few, "") == prompt(many, "")
    env = TextEnv("box")
    env.reset(num_players=3, seed=2)
    loser = env.game.opener
    for said in ("15x6", "dudo"):
        env.step(said)
    assert env.game.dice[loser] == 4
    _, told = env.get_observation()
    assert f"seat {loser} loses a die." in told
    assert "4 left" not in told
    assert "4 dice" not in told


def test_past_rounds_show_all_dice_once_revealed():
    game = Game("classic", 3, seed=1)
    hands = [game.hand(seat) for seat in range(3)]
    game.act("2x3")
    assert "shown" not in prompt(game, "")
    game.act("dudo")
    text = prompt(game, "")
    assert all(f"seat {seat}: {format_hand(hand)}" in text for seat, hand in enumerate(hands))
    assert "all dice are shown" not in prompt(game, "", past_rounds=0)


def test_prompt_names_the_bid_to_beat_its_author_and_the_least_raise_per_face():
    game = Game.from_hands("classic", [[1, 3, 5, 6, 6], [2, 2, 3, 4, 4], [1, 2]], bids=["5x4"])
    text = prompt(game, rules_text(game.variant))
    assert "to beat: 5x4, by seat 0" in text
    assert f"least raise: {' '.join(f'{q}x{f}' for f, (q, _) in sorted(raises(game).items()) if f > 1)} 3P" in text
    assert "Your dice: 2 2 3 4 4" in text
    assert "You are seat 1" in text
    french = prompt(game, rules_text(game.variant, "fr"), "fr")
    assert "à battre : 5x4, de la place 0" in french
    assert "Vos dés : 2 2 3 4 4" in french


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("variant", PRESETS)
def test_rules_of_every_preset(variant, language):
    lines = rules_text(Game(variant).variant, language).splitlines()
    assert len(lines) > 10
    assert all(line.startswith("- ") and "{" not in line for line in lines)


def test_bad_answers_are_forgiven_and_then_the_seat_plays_its_fallback():
    env = TextEnv("classic", error_allowance=1, fallback="dudo")
    env.reset(2, seed=4)
    opener, _ = env.get_observation()
    done, info = env.step("what?")
    assert not done
    assert (info["action"], info["fallback"]) == (None, False)
    assert "end with one in brackets" in info["error"]
    assert env.get_observation()[0] == opener
    assert f"Your last answer was not played: {info['error']}" in env.get_observation()[1]
    _, info = env.step("[dudo]")  # nothing to doubt yet: the least opening bid instead
    assert (info["action"], info["fallback"], info["player_id"]) == ("1x2", True, opener)
    assert "Your last answer" not in env.get_observation()[1]
    env.step("[1x2]")
    assert "was not played: 1x2 over 1x2" in env.get_observation()[1]
    env.step("[2x2]")  # a good answer: the count of errors begins again
    env.step(None)
    _, info = env.step("")
    assert (info["action"], info["fallback"]) == ("dudo", True)
    _, game_info = env.close()
    assert [game_info[seat]["errors"] for seat in (opener, 1 - opener)] == [4, 1]
    assert [game_info[seat]["fallbacks"] for seat in (opener, 1 - opener)] == [2, 0]


def test_least_raise_as_fallback():
    env = TextEnv("classic", error_allowance=0, fallback="least_raise")
    env.reset(2, seed=4)
    played = []
    while not played or played[-1] != "dudo":
        played.append(env.step("?")[1]["action"])
    assert played[:3] == ["1x2", "2x2", "3x2"] or played[:3] == ["1x2", "1x3", "1x4"]
    assert len(played) > 10, "the seats raise as long as they can"


def test_fallback_in_a_calza_window_is_to_pass():
    env = TextEnv("box:calza=anyone", error_allowance=0)
    env.reset(3, seed=4)
    env.step("[2x2]")
    assert env.game.in_calza_window
    assert env.step("2x3")[1]["action"] == str(PASS)


@pytest.mark.parametrize("fallback", ["dudo", "least_raise"])
@pytest.mark.parametrize("variant", PRESETS)
def test_a_mute_table_ends_its_game(variant, fallback):
    env = TextEnv(variant, error_allowance=0, fallback=fallback)
    env.reset(2, seed=4)
    for _ in range(10_000):
        done, info = env.step("...")
        assert info["fallback"]
        if done:
            break
    assert env.game.is_over
    with pytest.raises(RuntimeError, match="the game is over"):
        env.get_observation()
    with pytest.raises(RuntimeError, match="the game is over"):
        env.step("[dudo]")


def test_least_raise_prefers_an_ordinary_face():
    game = Game.from_hands("classic", [[1, 3], [2, 2]], bids=["2x3"])
    assert least_raise(game) == Bid(2, 4)
    assert Bid(1, 1) in game.legal_actions()
    game = Game.from_hands("classic", [[1, 3], [2, 2]], bids=["2x3"], total_at_start=4)
    game.act("2P")
    game.act(DUDO)
    assert least_raise(game).face > 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"language": "de"},
        {"fallback": "pass"},
        {"error_allowance": -1},
        {"error_allowance": None},
        {"past_rounds": 1.5},
        {"variant": "poker"},
    ],
)
def test_bad_arguments(arguments):
    with pytest.raises(ValueError, match=str(next(iter(arguments.values())))):
        TextEnv(**arguments)


def test_calls_before_reset():
    env = TextEnv()
    with pytest.raises(RuntimeError, match="reset"):
        env.get_observation()
    with pytest.raises(ValueError, match="1"):
        env.reset(1)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_kind_of_event_can_be_told(language):
    kinds = set()
    for seed in range(30):
        game = Game("classic:calza=on_turn" if seed % 2 else "box:calza=anyone", 3, seed, max_rounds=12)
        choose = Chooser(random.Random(seed))
        while not game.is_over:
            game.act(choose(legal_ids(game)))
        kinds |= {type(event).__name__ for event in game.events}
        lines = tell_rounds(game.events, language)
        assert len(lines) == game.round + ("classic" in str(game.variant))
        assert all(tell(event, language) in "\n".join(lines) for event in game.events)
    assert len(kinds) == 11
