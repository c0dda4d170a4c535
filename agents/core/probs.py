"""What is asked of the probabilities a policy states, wherever one is judged by them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from perudo_env.engine.actions import ACTIONS

TOLERANCE = 1e-6  # how far from 1 a row of probabilities may sum (float32 policies)


def check_probs(probs: npt.NDArray[np.float64], masks: npt.NDArray[np.int8], name: Callable[[int], str]) -> None:
    """Raise ``ValueError`` unless each row is a distribution over its legal actions; ``name(row)`` is the information state."""
    if probs.shape != masks.shape:
        raise ValueError(f"probs has shape {probs.shape}: {masks.shape} was asked for")
    finite = np.asarray(np.isfinite(probs).all(axis=1))
    illegal = ((probs != 0) & (masks == 0)) | (probs < 0)
    off = probs.sum(axis=1) - 1
    bad = np.flatnonzero(~finite | illegal.any(axis=1) | (np.abs(off) > TOLERANCE))
    if not bad.size:
        return
    k = int(bad[0])
    if not finite[k]:
        raise ValueError(f"the policy's probabilities are not finite at the information state {name(k)!r}")
    if illegal[k].any():
        action = int(np.argmax(illegal[k]))
        word = "negative" if masks[k, action] else "illegal here"
        raise ValueError(
            f"the policy gives {ACTIONS[action]} probability {probs[k, action]:g}, which is {word}, at the information state {name(k)!r}"
        )
    raise ValueError(
        f"the policy's probabilities sum to {probs[k].sum():.9g}, not 1, at the information state {name(k)!r}"
    )
