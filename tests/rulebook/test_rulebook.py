"""The rulebook: every example it prints is played by the engine as printed, under every preset and every override."""

import random
from dataclasses import replace

import pytest

from perudo_env import Bid, Game, Variant, variant
from perudo_env.engine.variant import RULE_TEXTS, SWITCHES, VARIANTS, switch_values
from perudo_env.rulebook.book import format_example, format_rulebook, rulebook, value_name
from perudo_env.rulebook.examples import Example, Outcome, RulebookError, Sight, check
from perudo_env.rulebook.texts import BY_VALUE, FIXED, OPTIONS, PRESET_SOURCE, SILENT, SOURCES, STATED, TITLES


def single_overrides(name: str) -> list[Variant]:
    """The preset and every variant that differs from it in one switch; the one refused pair of switches is left out."""
    found = []
    for switch in SWITCHES:
        for value in switch_values(switch):
            hidden = {"dice_counts": VARIANTS[name].dice_counts, "max_bid": VARIANTS[name].max_bid, switch: value}
            if (hidden["dice_counts"], hidden["max_bid"]) != ("hidden", "dice_in_play"):
                found.append(variant(name, **{switch: value}))
    return found


def clause(v: Variant | str, key: str):
    return next(c for c in rulebook(v).clauses if c.key == key)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_engine_plays_every_example_of_a_preset_and_of_every_override(name):
    variants = single_overrides(name)
    counts = [sum(len(c.examples) for c in rulebook(v).clauses) for v in variants]
    # the leanest case: two faces, one die a seat, no palifico, one round
    assert len(variants) >= 35
    assert min(counts) >= 15


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_value_of_a_switch_has_a_short_name_of_its_own(language):
    for switch in SWITCHES:
        names = [value_name(switch, value, language) for value in switch_values(switch)]
        assert len(set(names)) == len(names)
        assert max(map(len, names)) <= 50
        with pytest.raises(KeyError):
            value_name(switch, "sometimes", language)


def test_the_engine_plays_every_example_of_mixed_variants():
    r = random.Random(5)
    tried = 0
    while tried < 40:
        switches = {s: r.choice(switch_values(s)) for s in SWITCHES}
        if (switches["dice_counts"], switches["max_bid"]) == ("hidden", "dice_in_play"):
            continue
        assert rulebook(Variant(**switches)).variant.name == "custom"
        tried += 1


@pytest.mark.parametrize("name", VARIANTS)
def test_every_example_can_fail(name):
    """Turn each expectation round: the check must refuse it."""
    for c in rulebook(name).clauses:
        for e in c.examples:
            if isinstance(e.expect, bool):
                wrong = replace(e, expect=not e.expect)
            elif isinstance(e.expect, Outcome):
                wrong = replace(e, expect=replace(e.expect, count=e.expect.count + 1))
            else:
                wrong = replace(e, expect=Sight(e.expect.viewer, ()))
            with pytest.raises(RulebookError, match="the engine says"):
                check(wrong)


@pytest.mark.parametrize("claim", ["seat", "change", "opener", "palifico", "over"])
def test_each_claim_of_an_outcome_is_checked(claim):
    true = Outcome(4, seat=1, change=-1, opener=1, palifico=True, over=False)
    example = Example("classic 2/22/2 opener=0 4x2", "dudo", true)
    check(example)
    wrong = {"seat": 0, "change": 1, "opener": 2, "palifico": False, "over": True}[claim]
    with pytest.raises(RulebookError):
        check(replace(example, expect=replace(true, **{claim: wrong})))


def test_printing_refuses_an_example_that_disagrees(monkeypatch):
    from perudo_env.rulebook import book as module

    monkeypatch.setattr(module, "examples", lambda v, key: (Example("classic 2/2 opener=0 2x2", "1x2", True),))
    with pytest.raises(RulebookError, match="1x2"):
        rulebook("classic")


def test_every_switch_value_has_a_text_in_both_languages():
    for switch in SWITCHES:
        for value in switch_values(switch):
            words = BY_VALUE[switch].get(value) or BY_VALUE[switch][None]
            assert words.en
            assert words.fr
            assert words.en != words.fr
    assert set(TITLES) == set(SWITCHES) | set(FIXED)


def test_silent_points_are_the_starred_ones():
    """The asterisks of the table of presets."""
    for name in RULE_TEXTS:
        starred = {c.switch for c in rulebook(name).clauses if c.standing.is_silent}
        assert starred == SILENT[name]
    assert "(max_bid = starting_dice) *" in format_rulebook(rulebook("box"), ["en"])
    assert "(dice_counts = hidden) *" not in format_rulebook(rulebook("box"), ["en"])


def test_what_is_stated_has_a_text_that_states_it():
    for name in RULE_TEXTS:
        for c in rulebook(name).clauses:
            if c.switch and c.standing.kind == "stated":
                assert PRESET_SOURCE[name] in c.standing.stated_by, (name, c.switch)
    assert {s for sources in STATED.values() for s in sources} == set(SOURCES)


def test_an_override_says_that_it_is_one():
    assert clause("box:max_bid=unbounded", "max_bid").standing.words.en == "your choice, not in S2; found in S4"
    assert clause("box:calza=anyone", "calza").standing.words.en == "your choice, an option of S2"
    assert clause("pascal:starting_dice=2", "starting_dice").standing.words.en.endswith(
        "found in none of the five texts"
    )
    assert clause("classic:calza=on_turn", "calza").standing.is_silent
    for name, switch, value in OPTIONS:
        assert clause(variant(name, **{switch: value}), switch).standing.kind == "option"


def test_research_presets_say_that_no_text_stands_behind_them():
    for name in ("liars_dice", "joker", "pascal_round"):
        printed = format_rulebook(rulebook(name), ["en"])
        assert "follows no rule text; it is for comparison with published results" in printed
        assert all(c.standing.kind == "research" for c in rulebook(name).clauses if c.switch)


def test_an_illegal_example_is_printed_with_the_engines_reason():
    example = Example("box 22344/13566 opener=0 5x4", "6x5", False)
    why = Game.from_position(example.position).why_illegal(Bid(6, 5), "fr")
    assert format_example(example, "fr") == f"6x5: interdit ({why})"


def test_a_variant_with_a_name_of_its_own_is_printed():
    book = rulebook(Variant(raise_rule="one_axis", name="club night"))
    assert str(book.variant) == "custom:raise_rule=one_axis"
    assert next(c for c in book.clauses if c.key == "raise_rule").standing.kind == "custom"
