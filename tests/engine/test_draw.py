"""Drawing actions: the tables of legal bids, draws of a legal action, and draws by given probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perudo_env import Batch
from perudo_env.engine.draw import nth_legal
from perudo_env.engine.observation import layout
from perudo_env.engine.rows import mask_row
from perudo_env.policy import UniformPolicy, sample, sample_legal
from tests.helpers import PRESETS


def numpy_sample(probs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What ``sample`` must draw: the same generator gives the same actions, whatever draws them."""
    cumulative = np.cumsum(probs, axis=1)
    draws = (1.0 - rng.random(len(probs))) * cumulative[:, -1]
    return (cumulative < draws[:, None]).sum(axis=1)


def test_masks_and_draws_from_the_tables_are_those_of_the_rules() -> None:
    """With full and with fewer dice, padded or not: every mask as ``fill_mask`` has it, every draw the one of its mask."""
    for preset in (*PRESETS, "box:calza=anyone", "pascal:num_faces=3"):
        for dice, pad in ((None, None), ((2, 5, 1), layout(4, 61))):
            batch = Batch(preset, 3, 40, seed=3, dice=dice, pad_to=pad)
            rng, twin = np.random.default_rng(1), np.random.default_rng(1)
            for _ in range(60):
                masks, expected = batch.masks(), np.empty((40, batch.num_actions), np.int8)
                for i in range(40):
                    mask_row(batch.states, i, expected[i])
                assert (masks == expected).all()
                drawn = batch.draw(rng)
                assert (drawn == np.maximum(sample_legal(masks, twin), 0)).all()
                assert masks[np.arange(40), drawn][~batch.is_over].all()
                batch.act(drawn)


def test_draws_are_those_of_numpy() -> None:
    for dtype in (np.float64, np.float32):
        probs = np.random.default_rng(0).random((500, 63)).astype(dtype)
        probs[np.random.default_rng(1).random(probs.shape) < 0.7] = 0
        assert (sample(probs, np.random.default_rng(2)) == numpy_sample(probs, np.random.default_rng(2))).all()
        sideways = np.asfortranarray(probs)
        assert (sample(sideways, np.random.default_rng(2)) == numpy_sample(probs, np.random.default_rng(2))).all()
    masks = (np.random.default_rng(3).random((500, 63)) < 0.2).astype(np.int8)
    masks[masks.sum(axis=1) == 0, 5] = 1
    uniform = UniformPolicy()
    expected = numpy_sample(uniform.probs(masks, masks), np.random.default_rng(4))
    assert (uniform.act(masks, masks, np.random.default_rng(4)) == expected).all()
    assert sample(np.empty((0, 9)), np.random.default_rng(5)).shape == (0,)


class Fixed:
    """A generator that draws one number."""

    def __init__(self, draw: float) -> None:
        self.draw = draw

    def random(self, size: int) -> np.ndarray:
        return np.full(size, self.draw)


@pytest.mark.parametrize("draw", [0.0, 1 - 2**-53])
def test_the_least_and_the_greatest_draw_choose_what_is_possible(draw: float) -> None:
    rng: Any = Fixed(draw)
    probs, mask = np.array([[0, 0.5, 0, 0.5, 0]]), np.array([[0, 1, 0, 1, 0]], np.int8)
    expected = 3 if draw == 0.0 else 1
    assert sample(probs, rng) == sample_legal(mask, rng) == expected


def test_nth_legal_counts_along_the_mask() -> None:
    mask = (np.random.default_rng(0).random(75) < 0.3).astype(np.int8)
    legal = np.flatnonzero(mask)
    assert [nth_legal(mask, n) for n in range(legal.size + 1)] == [*legal, -1]
    assert sample_legal(np.zeros((1, 9), np.int8), np.random.default_rng(0)) == -1


def test_a_batch_draws_by_probabilities_among_the_legal_alone() -> None:
    batch = Batch("marquoir", 3, 4000, seed=5)
    batch.act(np.full(4000, 10))  # 2x3
    weights = np.zeros((4000, batch.num_actions))
    weights[:, [0, 1, 2, 3, 10, 16]] = 3, 0, 9, 9, 9, 1  # Pass, one Paco... 1P, 2x3 are illegal
    drawn = batch.draw(np.random.default_rng(0), probs=weights)
    assert set(drawn) <= set(np.flatnonzero(batch.masks([0])[0] & (weights[0] > 0)))
    legal = weights * batch.masks()
    share = legal[0] / legal[0].sum()
    assert np.bincount(drawn, minlength=batch.num_actions) / 4000 == pytest.approx(share, abs=0.03)
    assert (batch.draw(np.random.default_rng(0), probs=legal) == drawn).all()
    some = batch.draw(np.random.default_rng(0), [7, 3], probs=weights[:2])
    assert some.shape == (2,)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_probabilities_that_are_none_are_refused(bad: float) -> None:
    batch = Batch("classic", 2, 3, seed=0)
    probs = np.ones((3, batch.num_actions))
    probs[2, 3:] = bad  # no call is legal yet
    with pytest.raises(ValueError, match="game 2"):
        batch.draw(np.random.default_rng(0), probs=probs)
    with pytest.raises(ValueError, match="shape"):
        batch.draw(np.random.default_rng(0), probs=probs[:2])
