"""A speaker's words, and how they are understood."""

from __future__ import annotations

import sys

import pytest
from num2words import num2words

from perudo_env import CALZA, DUDO, PASS, Action, Bid
from perudo_env.adapters.speech import MOST_HEARD, hear
from perudo_env.adapters.text import TextEnv
from perudo_env.engine.actions import ACTIONS, MAX_QUANTITY
from perudo_env.game.notation import NotationError
from perudo_env.game.tokens import MOST_WORDS, NUMERALS

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


@pytest.mark.parametrize(
    "text",
    ["dudo or 5x3", "[5x3 or 6x3]", "I hold three fours, so six fours", "3x2 is true.\n5x3", "cinq trois, je doute"],
)
def test_two_actions_are_not_guessed_between(text):
    with pytest.raises(NotationError, match="more than one thing"):
        hear(text)


def test_an_ambiguity_names_few():
    with pytest.raises(NotationError) as error:
        hear(" ".join(f"{q}x{f}." for q in range(1, 90) for f in range(2, 7)))
    assert len(str(error.value)) < 200


# ---------------------------------------------------------------------------------------------- numbers in words


def test_every_number_in_words_is_heard_joined_and_apart():
    for language in ("en", "fr", "fr_CH", "fr_BE"):
        for n in range(1, MAX_QUANTITY + 1):
            word = num2words(n, lang=language)
            for said in (word, word.replace("-", " "), word.replace(" ", "-"), word.upper()):
                assert hear(f"I bid {said} fours.") == Bid(n, 4), said
                assert hear(f"J'annonce {said} pacos !") == Bid(n, 1), said
                assert hear(f"[{said} x 3]") == Bid(n, 3), said
            assert hear(word.replace("-", "").replace(" ", "") + " sixes") == Bid(n, 6)
    assert set(NUMERALS.values()) == set(range(100))
    assert MOST_WORDS == 4


REFUSED = None
SAID: dict[str, Action | None] = {
    # numbers are read whole
    "I bid twenty-six fours.": Bid(26, 4),
    "vingt-sept pacos": Bid(27, 1),
    "twenty two threes": Bid(22, 3),
    "vingt et un as.": Bid(21, 1),
    "Quatre-vingt-dix-sept deux": Bid(97, 2),
    "quatre vingt deux trois": Bid(82, 3),
    "septante-deux trois": Bid(72, 3),
    "thirty\nsix fours": Bid(36, 4),
    "[thirty threes]": Bid(30, 3),
    "vingt deux": REFUSED,  # 22, or twenty twos?
    "quatre-vingt trois": REFUSED,
    "twenty 6 fours": REFUSED,
    "ninety-eight threes": REFUSED,
    "98x2": REFUSED,
    "a hundred and five threes": REFUSED,
    "five hundred threes": REFUSED,
    "two hundred five threes": REFUSED,
    "cent deux trois": REFUSED,
    "deux cent trois cinq": REFUSED,
    "cinq trois cents": REFUSED,
    "10 005 threes": REFUSED,
    "1,005 threes": REFUSED,
    "5½ threes": REFUSED,
    "5x3²": REFUSED,
    "5x3.5": REFUSED,
    "five point two threes": REFUSED,
    "cinq virgule deux trois": REFUSED,
    "half a dozen five threes": REFUSED,
    "one and twenty fours": REFUSED,
    "twice three fives": REFUSED,
    "three or four fives": REFUSED,
    "entre trois et quatre cinq": REFUSED,
    "3-5 threes": REFUSED,
    "3 – 5 threes": REFUSED,
    "2x5x3": REFUSED,
    "3 * 5x3": REFUSED,
    "5x3=15": REFUSED,
    "5x3 or 4": REFUSED,
    "12:30 threes": REFUSED,
    "more than five threes": REFUSED,
    "moins de cinq trois": REFUSED,
    "au moins cinq trois": Bid(5, 3),
    "ten two threes": REFUSED,
    "onze deux pacos": REFUSED,
    "five less one threes": REFUSED,
    "under five threes": REFUSED,
    "au plus cinq trois": REFUSED,
    "≤3x2": REFUSED,
    "√9x2": REFUSED,
    "2 of 3 seats are out": REFUSED,
    "I have five as well": REFUSED,
    # a sign is an error
    "[-3x2]": REFUSED,
    "[- 3x2]": REFUSED,
    "[+3x2]": REFUSED,
    "−3x2": REFUSED,
    "－３ｘ２": REFUSED,
    "I bid -3 twos": REFUSED,
    "minus three twos": REFUSED,
    "moins trois deux": REFUSED,
    "[Bid: -5, 3]": REFUSED,
    '{"quantity": -5, "face": 3}': REFUSED,
    '{"quantity": 5, "face": -3}': REFUSED,
    "3x2 would be too timid: 3x-2": REFUSED,
    "5 dice of face -3": REFUSED,
    "Well:\n- 5x3": Bid(5, 3),  # the dash of a list
    "My bid — 5x3 — stands": Bid(5, 3),
    # a bracket with anything in it is final
    "3x2 would be too timid.\n[5x7]": REFUSED,
    "3x2 would be too timid. [fold]": REFUSED,
    "3x2 would be too timid. [five]": REFUSED,
    "3x2 would be too timid. [...]": REFUSED,
    "3x2 would be too timid. [5x7": REFUSED,
    "[3x2] was timid. [fold]": REFUSED,
    "[3x2] I fold.": Bid(3, 2),
    "3x2 [ ]": Bid(3, 2),
    "Done: [5x3": Bid(5, 3),
    "［5x3］": Bid(5, 3),
    # and so is what looks like a bid
    "3x2 would be too timid.\n5x7": REFUSED,
    "3x2 would be too timid: 0x3": REFUSED,
    # negation, in bids and calls
    "not 5x3": REFUSED,
    "Je ne dis pas cinq trois": REFUSED,
    "je doute pas": REFUSED,
    "I cannot pass": REFUSED,
    "sans calza": REFUSED,
    "instead of dudo, six twos": Bid(6, 2),
    "not dudo but 5x3": Bid(5, 3),
    "Should I doubt? No. Let me think.": REFUSED,
    "Huit cinq ? Non.": REFUSED,
    "dudo ? Non : six deux": Bid(6, 2),
    '{"dudo": false}': REFUSED,
    '{"dudo": null, "quantity": 5, "face": 3}': Bid(5, 3),
    "I love liar's dice": REFUSED,
    # ways of writing
    "**5x3**": Bid(5, 3),
    "<b>5x3</b>": Bid(5, 3),
    "1. 5x3": Bid(5, 3),
    "Seat 2: 5x3!": Bid(5, 3),
    "５ｘ３": Bid(5, 3),
    "5x3, yes, 5x3.": Bid(5, 3),
}  # fmt: skip


def test_what_is_not_read_whole_is_refused():
    for text, action in SAID.items():
        try:
            heard = hear(text)
        except NotationError as error:
            heard, said = None, str(error)
            assert "brackets" in said
        assert heard == action, text


def test_the_game_plays_no_move_that_nobody_chose():
    env = TextEnv("classic", error_allowance=100)
    env.reset(6, seed=1)
    env.step("[5x4]")
    for text, action in SAID.items():
        if action is None:
            assert env.step(text)[1]["action"] is None, text
    assert env.step("I bid twenty-six fours.")[1]["action"] == "26x4"


# ---------------------------------------------------------------------------------------------- long answers


def test_of_a_long_answer_its_end_is_heard_and_only_what_is_in_brackets():
    assert hear("a" * 10**6 + " [5x3]") == Bid(5, 3)
    assert hear("5x3".rjust(MOST_HEARD)) == Bid(5, 3)
    for text in ("5x3".rjust(MOST_HEARD + 1), "[5x3]" + "a" * MOST_HEARD, "dudo " * MOST_HEARD):
        with pytest.raises(NotationError):
            hear(text)


def test_work_is_linear_in_what_is_heard():
    """Counted in calls: twice the text takes at most twice as many, and beyond what is heard no more."""

    def calls(text):
        count = 0

        def profile(_frame, event, _argument):
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(profile)
        try:
            hear(text)
        except NotationError:
            pass
        finally:
            sys.setprofile(None)
        return count

    for unit in ("5 ", "five threes, ", "5x3 ", "not ", "quatre vingt dix sept ", "[", "bid 5 3. ", "a'", "5 face "):
        short, long, longest = (calls(unit * (size // len(unit))) for size in (2000, 4000, MOST_HEARD * 10))
        assert long < 2.1 * short + 100, unit
        assert longest < 5.5 * short + 100, unit
