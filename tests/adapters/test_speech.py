"""What a speaker may say, and how it is understood."""

from __future__ import annotations

import pytest

from perudo_env import CALZA, DUDO, PASS, Bid
from perudo_env.adapters.speech import hear
from perudo_env.engine.actions import ACTIONS
from perudo_env.game.notation import NotationError

ENGLISH = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
FRENCH = ("un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze")
FACES_EN = ("aces", "twos", "threes", "fours", "fives", "sixes")
FACES_FR = ("as", "deux", "trois", "quatre", "cinq", "six")


@pytest.mark.parametrize(
    "frame", ["{}", " {}\n", "[{}]", "Let me think: 9x2 is likely.\n[{}]", "I say [{}].", "Hmm.\nMy answer: {}"]
)
def test_notation_is_understood_in_every_frame(frame):
    for action in ACTIONS:
        for text in (str(action), str(action).upper()):
            assert hear(frame.format(text)) == action


@pytest.mark.parametrize(
    ("numbers", "faces", "frame"),
    [
        (ENGLISH, FACES_EN, "I bid {} {}!"),
        (FRENCH, FACES_FR, "J'annonce {} {} !"),
        (range(1, 13), FACES_EN, "{} {}"),
        (range(1, 13), FACES_FR, "{} {}"),
    ],
)
def test_bids_in_words(numbers, faces, frame):
    for quantity, number in enumerate(numbers, 1):
        for face, word in enumerate(faces, 1):
            assert hear(frame.format(number, word)) == Bid(quantity, face)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("5 × 3", Bid(5, 3)),
        ("5 3s", Bid(5, 3)),
        ("[Bid: 5, 3]", Bid(5, 3)),
        ('{"quantity": 5, "face": 3}', Bid(5, 3)),
        ("5 dice showing 3", Bid(5, 3)),
        ("cinq dés de trois", Bid(5, 3)),
        ("Je monte à trois Pacos", Bid(3, 1)),
        ("I doubt it.", DUDO),
        ("Menteur !", DUDO),
        ("je doute", DUDO),
        ("That is exactly right", CALZA),
        ("C'est exact.", CALZA),
        ("Je passe", PASS),
        ("I don't doubt it, six twos", Bid(6, 2)),
        ("Je ne doute pas : six deux", Bid(6, 2)),
        ("There are 10 dice. 5 are unknown.\ndudo", DUDO),
        ("[5x3] was my plan, but no: [dudo]", DUDO),
    ],
)
def test_loose_talk(text, action):
    assert hear(text) == action


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "[ ]",
        "5x7",
        "0x3",
        "999x3",
        "53",
        "5 3",
        "1.5 threes",
        "twelve dice, 3 mine",
        "I won't say dudo",
        None,
        7,
    ],
)
def test_no_action(text):
    with pytest.raises(NotationError, match="end with one in brackets"):
        hear(text)
    with pytest.raises(NotationError, match="entre crochets"):
        hear(text, "fr")


@pytest.mark.parametrize("text", ["dudo or 5x3", "[5x3 or 6x3]", "I hold three fours, so six fours"])
def test_two_actions_are_not_guessed_between(text):
    with pytest.raises(NotationError, match="more than one thing"):
        hear(text)
