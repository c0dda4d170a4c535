"""The networks that PyTorch trains; ``agents.learned.neural`` plays them without it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from train.selfplay.sparse import Chosen, Columns, first_linear


class MLP(nn.Module):
    """A ReLU network; the last layer begins small, so that the first policy is nearly uniform and the first values near 0."""

    def __init__(self, num_inputs: int, hidden: Sequence[int], num_outputs: int) -> None:
        super().__init__()
        sizes = [num_inputs, *hidden, num_outputs]
        layers = [nn.Linear(a, b) for a, b in pairwise(sizes)]
        self.layers = nn.ModuleList(layers)
        for layer in layers:
            nn.init.orthogonal_(layer.weight, 2**0.5)
            nn.init.zeros_(layer.bias)
        layers[-1].weight.data.mul_(0.01)

    def forward(self, x: Tensor | Chosen | Columns) -> Tensor:
        """Outputs, float32 ``(batch, num_outputs)``; under autocast the last layer keeps full precision."""
        *hidden, last = self.layers
        if not isinstance(x, Tensor):
            first = self.layers[0]
            assert isinstance(first, nn.Linear)
            x = first_linear(first, x)
            if not hidden:
                return x.float()
            x, hidden = torch.relu(x), hidden[1:]
        for layer in hidden:
            x = torch.relu(layer(x))
        with torch.autocast(x.device.type, enabled=False):
            out: Tensor = last(x.float())
        return out


IMPOSSIBLE = -60.0  # the log-probability of what cannot be chosen: finite, so that 0 times it is 0


def log_sizes(sizes: Tensor) -> Tensor:
    """The logarithm of how many equally likely actions each choice stands for; nearly -inf where there is none."""
    return torch.where(sizes > 0, torch.log(sizes.clamp(min=1)), -1e9)


def log_probs(logits: Tensor, log_size: Tensor) -> Tensor:
    """Log-probabilities of choices of :func:`log_sizes`, ``(batch, n)``; ``IMPOSSIBLE``, with no gradient, where none is legal."""
    return torch.log_softmax(logits + log_size, dim=1).clamp(min=IMPOSSIBLE)


def entropy(log_p: Tensor) -> Tensor:
    """The entropy of each row, ``(batch,)``."""
    return -(log_p.exp() * log_p).sum(dim=1)


def kl(old_log_p: Tensor, log_p: Tensor) -> Tensor:
    """KL(new || old) of each row, ``(batch,)``: the step of mirror descent, as Sokota et al. write it."""
    return (log_p.exp() * (log_p - old_log_p)).sum(dim=1)


def annealed(start: float, end: float, progress: float) -> float:
    """From ``start`` to ``end`` by equal factors, as ``progress`` goes from 0 to 1."""
    return float(start * (end / start) ** min(max(progress, 0.0), 1.0)) if start > 0 and end > 0 else start


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Let an optimizer go on with another learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def mixed(device: torch.device, dtype: torch.dtype) -> torch.autocast:
    """The context in which hidden layers compute in ``dtype``; float32 changes nothing."""
    return torch.autocast(device.type, dtype, enabled=dtype != torch.float32)


def device_of(wanted: str) -> torch.device:
    """The device of that name; with ``auto`` CUDA if there is one, else the CPU. Raises ``ValueError`` for one that is not here."""
    name = ("cuda" if torch.cuda.is_available() else "cpu") if wanted == "auto" else wanted
    try:
        torch.zeros(1, device=name).cpu()
    except (RuntimeError, AssertionError) as error:
        raise ValueError(
            f"device = {wanted!r} is not on this machine: use auto, cpu, or cuda where there is one"
        ) from error
    return torch.device(name)


def reads_sparse(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether first layers had better read sparse inputs: in half precision, or on a GPU, a dense layer is sooner done."""
    return device.type == "cpu" and dtype == torch.float32


def precision(wanted: str, device: torch.device) -> torch.dtype:
    """The dtype of hidden layers: ``float32``, ``bfloat16``, or with ``auto`` the second where the CPU computes in it.

    Measured on one core: 570 against 68 GFLOP/s with tiles, 200 against 80 with the AVX-512 instructions alone. Weights and
    the last layer are float32 in any case.
    """
    if wanted == "auto":
        # torch has no public names for the questions
        asked = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
        computes = any(getattr(torch.cpu, name, lambda: False)() for name in asked)
        wanted = "bfloat16" if device.type == "cpu" and computes else "float32"
    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[wanted]
