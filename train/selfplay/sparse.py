"""First layers for inputs that are mostly 0: they read the others alone, or leave out the columns that are 0 everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import linear

from perudo_env.engine.jit import kernel


class SparseRows(NamedTuple):
    """Rows of inputs as the numbers that are not 0: those of row i from ``starts[i]`` to ``starts[i + 1]``, columns ascending."""

    starts: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int16]
    values: npt.NDArray[np.float32]


class Chosen(NamedTuple):
    """Some of the rows, in an order: what stands in for a tensor of inputs ``(batch, width)``."""

    rows: SparseRows
    places: npt.NDArray[np.int64]  # (batch,)


class Columns(NamedTuple):
    """Rows of inputs without the columns in which all are 0: these add nothing, and their weights have no gradient."""

    inputs: Tensor  # (batch, len(used))
    used: Tensor  # int64, ascending


@kernel
def compress_rows(
    left: np.ndarray, right: np.ndarray, starts: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> None:
    """Write the rows of two arrays side by side, of ``left`` first."""
    at = 0
    for i in range(left.shape[0]):
        starts[i] = at
        for c in range(left.shape[1]):
            if left[i, c] != 0:
                columns[at], values[at] = c, left[i, c]
                at += 1
        for c in range(right.shape[1]):
            if right[i, c] != 0:
                columns[at], values[at] = left.shape[1] + c, right[i, c]
                at += 1
    starts[left.shape[0]] = at


def compress(left: npt.NDArray[np.float32], right: npt.NDArray[np.float32]) -> SparseRows:
    """The rows of float32 ``(n, width)`` inputs, with those of ``right`` behind them."""
    size = np.count_nonzero(left) + np.count_nonzero(right)
    rows = SparseRows(np.empty(len(left) + 1, np.int64), np.empty(size, np.int16), np.empty(size, np.float32))
    compress_rows(left, right, *rows)
    return rows


def joined(parts: Sequence[SparseRows]) -> SparseRows:
    """The rows of all parts, one after the other."""
    ends = np.cumsum([0, *(p.values.size for p in parts)])
    starts = [p.starts[:-1] + end for p, end in zip(parts, ends[:-1], strict=True)]
    return SparseRows(
        np.concatenate([*starts, ends[-1:]]),
        np.concatenate([p.columns for p in parts]),
        np.concatenate([p.values for p in parts]),
    )


def used_columns(rows: SparseRows, width: int) -> npt.NDArray[np.int64]:
    """The columns, of ``width``, in which not all rows are 0."""
    return np.flatnonzero(np.bincount(rows.columns, minlength=width))


def spread(chosen: Chosen, used: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Some columns of the chosen rows as they are, zeros and all, float32 ``(batch, len(used))``."""
    place = np.full(1 << 15, -1, np.int16)
    place[used] = np.arange(used.size)
    out = np.zeros((chosen.places.size, used.size), np.float32)
    spread_rows(chosen.places, *chosen.rows, place, out)
    return out


@kernel
def spread_rows(
    places: np.ndarray, starts: np.ndarray, columns: np.ndarray, values: np.ndarray, place: np.ndarray, out: np.ndarray
) -> None:
    """Write the numbers that are not 0, each in the place of its column; a negative place leaves it out."""
    for r in range(places.size):
        for at in range(starts[places[r]], starts[places[r] + 1]):
            to = place[columns[at]]
            if to >= 0:
                out[r, to] = values[at]


def all_of(rows: SparseRows) -> Chosen:
    """Every row, in order."""
    return Chosen(rows, np.arange(len(rows.starts) - 1))


@kernel
def forward_rows(
    places: np.ndarray, starts: np.ndarray, columns: np.ndarray, values: np.ndarray, weight: np.ndarray,
    bias: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Write bias + inputs x ``weight`` ``(width, outputs)``; columns from ``width`` on are left out."""
    width, outputs = weight.shape
    for r in range(places.size):
        at, end = starts[places[r]], starts[places[r] + 1]
        while end > at and columns[end - 1] >= width:
            end -= 1
        for j in range(outputs):
            out[r, j] = bias[j]
        # by eights: a row of out is read and written once for all of them
        while at + 8 <= end:
            a, b, c, d = weight[columns[at]], weight[columns[at + 1]], weight[columns[at + 2]], weight[columns[at + 3]]
            e, f, g, h = (
                weight[columns[at + 4]],
                weight[columns[at + 5]],
                weight[columns[at + 6]],
                weight[columns[at + 7]],
            )
            s, t, u, v = values[at], values[at + 1], values[at + 2], values[at + 3]
            w, x, y, z = values[at + 4], values[at + 5], values[at + 6], values[at + 7]
            for j in range(outputs):
                out[r, j] += (s * a[j] + t * b[j] + u * c[j] + v * d[j]) + (w * e[j] + x * f[j] + y * g[j] + z * h[j])
            at += 8
        while at < end:
            a, s = weight[columns[at]], values[at]
            for j in range(outputs):
                out[r, j] += s * a[j]
            at += 1


@kernel
def backward_rows(
    places: np.ndarray, starts: np.ndarray, columns: np.ndarray, values: np.ndarray, grad: np.ndarray, out: np.ndarray
) -> None:
    """Add the gradient of the weight, ``(width, outputs)``, to ``out``, given that of what :func:`forward_rows` wrote."""
    width, outputs = out.shape
    for r in range(places.size):
        at, end = starts[places[r]], starts[places[r] + 1]
        while end > at and columns[end - 1] >= width:
            end -= 1
        found = grad[r]
        while at + 4 <= end:
            a, b, c, d = out[columns[at]], out[columns[at + 1]], out[columns[at + 2]], out[columns[at + 3]]
            s, t, u, v = values[at], values[at + 1], values[at + 2], values[at + 3]
            for j in range(outputs):
                g = found[j]
                a[j] += s * g
                b[j] += t * g
                c[j] += u * g
                d[j] += v * g
            at += 4
        while at < end:
            a, s = out[columns[at]], values[at]
            for j in range(outputs):
                a[j] += s * found[j]
            at += 1


class _SparseLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor, chosen: Chosen) -> Tensor:
        ctx.chosen, ctx.width = chosen, weight.shape[1]
        out = torch.empty(len(chosen.places), len(bias))
        forward_rows(chosen.places, *chosen.rows, weight.t().contiguous().numpy(), bias.numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        grad = grad.contiguous()
        out = torch.zeros(ctx.width, grad.shape[1])
        backward_rows(ctx.chosen.places, *ctx.chosen.rows, grad.numpy(), out.numpy())
        return out.t(), grad.sum(dim=0), None


def first_linear(layer: torch.nn.Linear, inputs: Chosen | Columns) -> Tensor:
    """What a layer makes of the inputs that it has weights for, of rows that may hold more, ``(batch, outputs)``.

    ``Chosen`` rows are for a float32 layer on the CPU.
    """
    if isinstance(inputs, Chosen):
        found: Tensor = _SparseLinear.apply(layer.weight, layer.bias, inputs)
        return found
    own = inputs.used[inputs.used < layer.in_features]
    return linear(inputs.inputs[:, : len(own)], layer.weight.index_select(1, own), layer.bias)
