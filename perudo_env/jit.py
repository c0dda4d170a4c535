"""How the kernels are compiled: once, to disk, and with a word to whoever waits."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
import numpy as np

jit_disabled = bool(getattr(numba.config, "DISABLE_JIT", 0))
if jit_disabled:
    # The random generator wraps around in 64 bits on purpose; plain NumPy scalars would warn of it.
    np.seterr(over="ignore")



@cache
def _sources(folder: Path) -> str:
    """A digest of all Python files in a folder."""
    digest = sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def kernel(function: Callable[..., Any]) -> Any:
    """The decorator of every compiled function; ``NUMBA_DISABLE_JIT=1`` turns it off for a debugger or coverage.

    Numba trusts a kernel on disk as long as the kernel's own file is unchanged, even if one that it calls, in another
    file, has changed. So the stamp it compares is widened to all sources of the engine and of the kernel's folder.
    """
    if jit_disabled:
        return function
    dispatcher: Any = numba.njit(cache=True, nogil=True)(function)
    own = Path(function.__code__.co_filename).parent
    on_disk = dispatcher._cache._cache_file
    on_disk._source_stamp = (on_disk._source_stamp, _sources(Path(__file__).parent), _sources(own))
    return dispatcher


_announced = False


def announce_compilation(dispatcher: Any) -> None:
    """Say once, on stderr, that the kernels are about to be compiled, unless ``dispatcher`` is on disk already."""
    global _announced
    if _announced or jit_disabled:
        return
    _announced = True
    if not Path(dispatcher._cache._cache_file._index_path).exists():
        print("perudo_env: compiling the rules, once, for about 20 seconds ...", file=sys.stderr, flush=True)
