"""Every agent at every table: legal, well-defined, reproducible; and found by its name."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import agents
import perudo_env as pe
from agents.core.reading import TAIL, read_all
from agents.core.seated import sight
from agents.learned import features
from agents.scripted.beliefs import believe
from agents.scripted.inference import InferencePolicy
from perudo_env.engine.actions import CALZA, DUDO, PASS
from perudo_env.engine.hands import FIRST_HAND, HAND_CHANCES, HANDS
from perudo_env.engine.observation import layout
from perudo_env.engine.variant import VARIANTS

TABLES = [
    *VARIANTS,
    "box:calza=anyone",
    "classic:calza=on_turn",
    "marquoir:starting_dice=1",
    "evening:starting_dice=6",
    "pascal:num_faces=2",
]


NAMED = (*agents.BASELINES, *agents.HELD_OUT)
SENSIBLE = NAMED[1:]  # all but uniform


def positions(variant, num_seats, num_games=12, steps=30, pad_to=None):
    """Observations and masks along uniform play, which reaches every legal position with some chance."""
    batch = pe.Batch(variant, num_seats, num_games, 11, pad_to=pad_to)
    for _ in range(steps):
        live = ~batch.is_over
        yield batch.observe()[live], batch.masks()[live]
        batch.play_random(1)


def check(policy, observations, masks):
    probs = policy.probs(observations, masks)
    assert probs.shape == masks.shape
    assert np.isfinite(probs).all()
    assert (probs >= 0).all()
    assert (probs[masks == 0] == 0).all(), "an illegal action has no weight"
    assert probs.sum(axis=1) == pytest.approx(1)
    actions = policy.act(observations, masks, np.random.default_rng(1))
    assert (probs[np.arange(len(actions)), actions] > 0).all()


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("variant", TABLES)
def test_every_agent_answers_every_reachable_position(name, variant):
    for num_seats in range(2, 9):
        policy = agents.make(name, variant, num_seats)
        for observations, masks in positions(variant, num_seats, num_games=8, steps=20):
            if len(masks):
                check(policy, observations, masks)


def test_a_mixture_is_the_weighted_mean_of_its_agents():
    mixed = agents.make("mix:odds=.25,uniform=.75", "classic", 3)
    parts = [agents.make(name, "classic", 3) for name in ("odds", "uniform")]
    for observations, masks in positions("classic", 3, steps=5):
        check(mixed, observations, masks)
        one, other = (policy.probs(observations, masks) for policy in parts)
        assert mixed.probs(observations, masks) == pytest.approx(0.25 * one + 0.75 * other)


def test_a_mixture_of_folders_is_the_same_from_anywhere(tmp_path, monkeypatch):
    shutil.copytree(agents.CHECKPOINTS / "exact", tmp_path / "mine", ignore=shutil.ignore_patterns("*.npz"))
    monkeypatch.chdir(tmp_path)
    assert agents.anywhere("mix:./mine=.5,odds=.5") == f"mix:{tmp_path / 'mine'}=0.5,odds=0.5"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mix:", "is no part"), ("mix:odds", "is no part"), ("mix:odds=.5,odds=.5", "each agent once"), ("mix:odds=.5,uniform=.4", "sum to 0.9"),
        ("mix:odds=1.5", "is no part"), ("mix:odds=nan", "is no part"), ("mix:odds=.5,oddz=.5", "did you mean 'odds'"),
    ],
)  # fmt: skip
def test_a_mixture_that_is_none_is_refused(name, said):
    with pytest.raises(ValueError, match=said):
        agents.make(name, "classic", 2)


CORNERS = [
    pe.Game.from_hands("classic", [[1], [2]], opener=0, bids=["1x6"]),  # "one six"
    pe.Game.from_hands("pascal", [[1], [2]], opener=0, bids=["1P"]),  # one Paco
    pe.Game.from_hands("pascal", [[1], [2]], opener=0),
    pe.Game.from_hands("classic", [[1], [2, 2]], opener=0, palifico=True),
    pe.Game.from_hands("classic", [[1], [2, 2]], opener=0, palifico=True, bids=["1P"]),
    pe.Game.from_hands("classic", [[1], [2, 2], []], opener=0, palifico=True, bids=["1x3", "10x3"]),
    pe.Game.from_hands("liars_dice", [[1], [2]], opener=0, bids=["2P"]),  # the highest bid of all
    pe.Game.from_hands("evening", [[1] * 5, [2] * 5], opener=0, bids=["21x6"]),
    pe.Game.from_hands(pe.variant("box", calza="anyone"), [[1], [2], [3, 3]], opener=2, bids=["2x3"]),  # a window
    pe.Game.from_hands("marquoir", [[6] * 5, [2], []], opener=1, bids=["1x2"]),
]


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("game", CORNERS, ids=lambda g: g.position.replace("\n", " ")[:60])
def test_corner_positions(name, game):
    policy = agents.make(name, game.variant, game.num_seats)
    check(policy, game.observation(game.seat)[None], game.action_mask()[None])


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("variant", ["classic", "box", "evening", "box:calza=anyone"])
def test_padded_observations_give_the_same_probabilities(name, variant):
    for num_seats in (2, 5):
        policy, larger = (agents.make(name, variant, num_seats, look) for look in (None, layout(8, 97)))
        near, far = positions(variant, num_seats), positions(variant, num_seats, pad_to=layout(8, 97))
        for (observations, masks), (padded, padded_masks) in zip(near, far, strict=True):
            size = masks.shape[1]
            probs = larger.probs(padded, padded_masks)
            assert probs[:, :size] == pytest.approx(policy.probs(observations, masks), abs=1e-12)
            assert (probs[:, size:] == 0).all()


def test_learned_agents_are_made_for_a_larger_layout():
    big = layout(4, 30)
    near, far = (next(positions("classic", 2, 4, 1, pad_to=look)) for look in (None, big))
    for name in ("table", "exact", "duel", "search:odds"):
        probs = agents.make(name, "classic", 2, big).probs(*far)
        plain = agents.make(name, "classic", 2).probs(*near)
        if not name.startswith("search"):  # which draws by the observation's bytes
            assert probs[:, : plain.shape[1]] == pytest.approx(plain, abs=1e-6)
        assert (probs[far[1] == 0] == 0).all()


@pytest.mark.parametrize("name", NAMED)
def test_act_draws_from_probs(name):
    game = pe.Game.from_hands("classic", [[2, 2, 3], [4, 4, 5], [6, 6, 6]], opener=0, bids=["2x2"])
    seen, mask = game.observation(1)[None], game.action_mask()[None]
    policy = agents.make(name, "classic", 3)
    probs = policy.probs(seen, mask)[0]
    assert (policy.probs(seen, mask)[0] == probs).all(), "the same position, the same probabilities"
    n = 20_000
    drawn = policy.act(seen.repeat(n, axis=0), mask.repeat(n, axis=0), np.random.default_rng(2))
    shares = np.bincount(drawn, minlength=probs.size) / n
    assert (np.abs(shares - probs) <= 5 * np.sqrt(probs * (1 - probs) / n)).all()


def probs_of(name, game):
    return agents.make(name, game.variant, game.num_seats).probs(
        game.observation(game.seat)[None], game.action_mask()[None]
    )[0]


@pytest.mark.parametrize("name", SENSIBLE)
def test_what_cannot_be_true_is_doubted_and_what_must_be_is_not(name):
    impossible = pe.Game.from_hands("classic", [[2, 2], [3, 3]], opener=0, bids=["5x6"])
    assert probs_of(name, impossible)[DUDO] > 0.95
    certain = pe.Game.from_hands("classic", [[2, 2], [6, 6]], opener=0, bids=["1x6"])
    assert probs_of(name, certain)[DUDO] < 0.05


@pytest.mark.parametrize("name", SENSIBLE)
def test_a_window_is_passed_unless_calza_is_likely(name):
    variant = pe.variant("box", calza="anyone", dice_counts="public")
    far = pe.Game.from_hands(variant, [[2, 2, 2], [3, 3], [4]], opener=0, bids=["1x3"])
    assert probs_of(name, far)[PASS] > 0.95
    near = pe.Game.from_hands(variant, [[2], [3, 3, 4, 4], [3]], opener=0, bids=["2x3"])
    assert (probs_of(name, near)[[CALZA, PASS]].sum()) == pytest.approx(1)
    sure = pe.Game.from_hands(variant, [[2], [1, 3, 4, 4]], opener=0, bids=["3x6"])
    assert probs_of(name, sure)[CALZA] < 0.05, "one Paco and one hidden die make no three"


def test_inference_believes_bids():
    """A seat that has bid a face is taken to hold more of it than fair dice would; one that is silent is not."""
    game = pe.Game.from_hands("classic", [[2, 2, 3, 4, 5], [3, 4, 5, 6, 6], [2, 3, 4, 5, 6]], opener=0, bids=["6x2"])
    seen = read_all(game.observation(1)[None], sight(game.variant, 3))
    pmf = np.empty((8, 6, 7))
    believe(TAIL, HANDS, HAND_CHANCES, FIRST_HAND, seen[0], InferencePolicy("classic", 3).model, pmf)
    matches = np.arange(7)
    assert pmf[2].sum(axis=1) == pytest.approx(1), "relative seat 2 is the bidder"
    assert pmf[2, 1] @ matches > 5 / 3 + 0.3
    assert pmf[1, 1] @ matches == pytest.approx(5 / 3)
    assert pmf[2, 0] @ matches > 5 / 6, "Pacos help the bid as well"


def test_hand_chances_sum_to_one():
    for faces in range(2, 7):
        for dice in range(7):
            rows = slice(FIRST_HAND[dice], FIRST_HAND[dice + 1])
            assert HAND_CHANCES[faces, rows].sum() == pytest.approx(1)
            assert (HANDS[rows].sum(axis=1) == dice).all()


def test_a_hidden_count_never_reaches_an_agent_without_memory():
    """Two tables that differ only in a hidden count get the same answer, wherever the memory is taken away."""
    few, many = [[2, 2, 3], [4, 4], [5]], [[2, 2, 3], [4, 4, 6, 6], [5, 5, 5]]
    for name in NAMED:
        blind = [probs_of(name, pe.Game.from_hands("box", hands, memory="none")) for hands in (few, many)]
        assert (blind[0] == blind[1]).all()
        shown = [pe.Game.from_hands("box", hands) for hands in (few, many)]
        for game in shown:
            policy = agents.make(name, "box", 3, memory="none")
            assert (policy.probs(game.observation(0)[None], game.action_mask()[None])[0] == blind[0]).all()


def test_an_agent_with_memory_knows_hidden_counts():
    """It plays as under public counts."""
    hands = [[2, 2, 3], [4, 4, 6, 6], [5, 5, 5, 5, 5]]
    few, public = [[2, 2, 3], [4], [5]], pe.variant("box", dice_counts="public")
    for name in ("odds", "threshold", "inference", "bluffer"):
        known = probs_of(name, pe.Game.from_hands("box", hands, bids=["3x6"], opener=2))
        assert (known == probs_of(name, pe.Game.from_hands(public, hands, bids=["3x6"], opener=2))).all()
        assert (known != probs_of(name, pe.Game.from_hands("box", few, bids=["3x6"], opener=2))).any()


def test_to_a_network_remembered_counts_are_public_counts():
    hands = [[2, 2, 3], [4, 4, 6, 6], [5]]
    inputs = []
    for counts in ("hidden", "public"):
        game = pe.Game.from_hands(pe.variant("box", dice_counts=counts), hands, bids=["2x6"], opener=2)
        rows = game.observation(0)[None], game.action_mask()[None]
        inputs.append(features.encode(*rows, sight(game.variant, 3)).inputs)
    assert (inputs[0] == inputs[1]).all()
    blind = pe.Game.from_hands("box", hands, bids=["2x6"], opener=2, memory="none").observation(0)[None]
    assert (features.encode(blind, rows[1], sight(pe.variant("box"), 3)).inputs != inputs[0]).any()


# ---------------------------------------------------------------------------------------------- the registry


class Always:
    """A policy for tests: the lowest legal action."""

    def act(self, observations, masks, rng):
        return masks.argmax(axis=1)

    def probs(self, observations, masks):
        return np.eye(masks.shape[1])[masks.argmax(axis=1)]


def always(variant, num_seats):
    assert isinstance(variant, pe.Variant)
    return Always()


def from_folder(folder, variant, num_seats, layout):
    assert (folder / "policy.json").is_file()
    return Always()


def no_policy(variant, num_seats):
    return 3


def test_make_takes_names_folders_and_factories(tmp_path, monkeypatch):
    for name in NAMED:
        assert isinstance(agents.make(name, "classic", 4), pe.Policy)
    assert isinstance(agents.make(f"{__name__}:always", "classic", 4), Always)
    for name in ("perudo_env.policy:UniformPolicy", "agents.scripted.odds:OddsPolicy"):
        assert isinstance(agents.make(name, "classic", 4, layout(6, 30)), pe.Policy)
    with pytest.raises(ValueError, match=r"could not be made by calling it with \(variant, num_seats, layout\)"):
        agents.make(f"{__name__}:always", "classic", 4, layout(6, 30))
    monkeypatch.setitem(agents.LOADERS, "test", f"{__name__}:from_folder")
    (tmp_path / "policy.json").write_text(json.dumps({"kind": "test"}))
    assert isinstance(agents.make(tmp_path, "classic", 4), Always)
    assert isinstance(agents.load(tmp_path, "classic", 4), Always)


def test_bad_agents_are_refused_with_what_would_be_right(tmp_path):
    with pytest.raises(ValueError, match=r"unknown agent 'infrence' \(did you mean 'inference'\?\).*uniform, odds"):
        agents.make("infrence", "classic", 4)
    with pytest.raises(ValueError, match="num_seats = 9"):
        agents.make("odds", "classic", 9)
    with pytest.raises(ValueError, match="unknown variant"):
        agents.make("odds", "clasic", 4)
    with pytest.raises(ValueError, match="cannot be imported"):
        agents.make("no.such.module:thing", "classic", 4)
    with pytest.raises(ValueError, match="gave int"):
        agents.make(f"{__name__}:no_policy", "classic", 4)
    with pytest.raises(ValueError, match="no policy"):
        agents.load(tmp_path, "classic", 4)
    (tmp_path / "policy.json").write_text("{")
    with pytest.raises(ValueError, match=r"policy\.json is not a JSON file"):
        agents.make(tmp_path, "classic", 4)
    (tmp_path / "policy.json").write_text('{"kind": "pickle"}')
    with pytest.raises(ValueError, match="kind 'pickle'"):
        agents.make(tmp_path, "classic", 4)


def test_legal_play_to_the_end_with_calza_windows():
    batch = pe.Batch("box:calza=anyone", 4, 50, 5)
    policies = [agents.make(name, batch.variant, 4) for name in ("odds", "threshold", "bluffer", "inference")]
    rng = np.random.default_rng(0)
    actions = np.zeros(50, np.int64)
    while not batch.is_over.all():
        seat, seen, masks = batch.seat.copy(), batch.observe(), batch.masks()
        for s, policy in enumerate(policies):
            if (seat == s).any():
                actions[seat == s] = policy.act(seen[seat == s], masks[seat == s], rng)
        batch.act(actions)
    assert (np.sort(batch.ranks, axis=1) == [1, 2, 3, 4]).all()


def test_a_folder_named_like_an_agent_does_not_hide_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(agents.CHECKPOINTS / "table", tmp_path / "mine", ignore=shutil.ignore_patterns("training*", "box*"))
    for name in ("exact", "table", "odds", "search:odds"):
        (tmp_path / name).mkdir()
    for name in ("exact", "odds", "search:odds"):
        agents.make(name, "classic", 2)
        with pytest.raises(ValueError, match=r"no policy\.json"):
            agents.make(f"./{name}", "classic", 2)
    assert agents.folder_of("table") is None
    assert agents.anywhere("search:odds") == "search:odds"
    for name in ("mine", "./mine", f"{tmp_path}/mine", Path("mine")):
        assert agents.folder_of(name).resolve() == tmp_path / "mine"
    assert agents.anywhere("search:mine") == f"search:{tmp_path}/mine"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert agents.folder_of("~/mine") == tmp_path / "mine"
    assert agents.folder_of("") is agents.folder_of("nowhere") is agents.folder_of("./nowhere") is None
