"""First layers that read sparse inputs: the same numbers and gradients as a dense layer's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from train.selfplay.networks import MLP
from train.selfplay.sparse import Chosen, Columns, SparseRows, all_of, compress, joined, spread, used_columns

WIDTH, BEHIND = 70, 20


@pytest.fixture(scope="module")
def inputs() -> np.ndarray:
    """Rows of every number of inputs that are not 0, some columns of 0 in all, and a row of nothing."""
    rng = np.random.default_rng(0)
    found = (rng.random((60, WIDTH + BEHIND)) < np.linspace(0, 0.6, 60)[:, None]) * rng.random((60, WIDTH + BEHIND))
    found[:, [0, 33, WIDTH, WIDTH + 5]] = 0
    return found.astype(np.float32)


def rows_of(inputs: np.ndarray) -> SparseRows:
    return compress(inputs[:, :WIDTH], np.ascontiguousarray(inputs[:, WIDTH:]))


def test_rows_spread_are_what_was_compressed(inputs: np.ndarray) -> None:
    rows = joined([rows_of(inputs[:7]), rows_of(inputs[7:7]), rows_of(inputs[7:])])
    assert rows.values.size == np.count_nonzero(inputs)
    assert (spread(all_of(rows), np.arange(WIDTH + BEHIND)) == inputs).all()
    used = used_columns(rows, WIDTH + BEHIND)
    assert set(range(WIDTH + BEHIND)) - set(used) == {0, 33, WIDTH, WIDTH + 5}
    places = np.array([5, 59, 5, 0])
    assert (spread(Chosen(rows, places), used) == inputs[places][:, used]).all()


@pytest.mark.parametrize("hidden", [[32, 16], []])
def test_outputs_and_gradients_are_those_of_dense_inputs(inputs: np.ndarray, hidden: list[int]) -> None:
    """A network as wide as the rows, and one that has weights for the first columns alone."""
    rows, places = rows_of(inputs), np.random.default_rng(1).permutation(60)[:41]
    used = used_columns(rows, WIDTH + BEHIND)
    dense = torch.from_numpy(inputs[places])
    for width in (WIDTH + BEHIND, WIDTH):
        network = MLP(width, hidden, 5)
        found = []
        for x in (
            dense[:, :width],
            Chosen(rows, places),
            Columns(torch.from_numpy(spread(Chosen(rows, places), used)), torch.from_numpy(used)),
        ):
            network.zero_grad()
            out = network(x)
            out.square().sum().backward()
            found.append([out.detach(), *(p.grad.clone() for p in network.parameters())])
        for other in found[1:]:
            for expected, got in zip(found[0], other, strict=True):
                assert torch.allclose(expected, got, rtol=1e-4, atol=1e-6)
