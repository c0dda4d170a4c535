"""How the kernels are compiled: once, to disk, and with a word to whoever waits."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

_disabled = bool(getattr(numba.config, "DISABLE_JIT", 0))
if _disabled:
    # The random generator wraps around in 64 bits on purpose; plain NumPy scalars would warn of it.
    np.seterr(over="ignore")

kernel: Callable[..., Any] = numba.njit(cache=True, nogil=True)
"""The decorator of every function of the rules; ``NUMBA_DISABLE_JIT=1`` turns it off for a debugger or coverage."""

_announced = False


def announce_compilation(dispatcher: Any) -> None:
    """Say once, on stderr, that the kernels are about to be compiled, unless ``dispatcher`` is on disk already."""
    global _announced
    if _announced or _disabled:
        return
    _announced = True
    if not Path(dispatcher._cache._cache_file._index_path).exists():
        print("perudo_env: compiling the rules, once, for about 20 seconds ...", file=sys.stderr, flush=True)
