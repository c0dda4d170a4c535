"""How the kernels are compiled: once, to disk, and with a word to whoever waits."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher

jit_disabled = bool(getattr(numba.config, "DISABLE_JIT", 0))
if jit_disabled:
    # The random generator wraps around in 64 bits on purpose; plain NumPy scalars would warn of it.
    np.seterr(over="ignore")


def kernel(function: Callable[..., Any], *, inline: bool = False) -> Any:
    """The decorator of every compiled function; ``NUMBA_DISABLE_JIT=1`` turns it off for a debugger or coverage.

    Numba trusts a kernel on disk as long as the kernel's own file has its old time and size, even if one that it calls,
    in another file, has changed. So its stamp is replaced by :func:`_stamp`.
    """
    if jit_disabled:
        return function
    dispatcher: Any = numba.njit(cache=True, nogil=True, forceinline=inline)(function)
    dispatcher._cache._cache_file._source_stamp = _stamp(function)
    return dispatcher


def inlined(function: Callable[..., Any]) -> Any:
    """The decorator of a small :func:`kernel` that is compiled into its callers: the compiler leaves many a call of a few lines."""
    return kernel(function, inline=True)


def direct(dispatcher: Any, *examples: Any) -> Callable[..., Any]:
    """A kernel for arguments of exactly the types of ``examples``: a call spares numba's look at them, half of its time.

    Nothing checks the types of what it is given: for arguments that the caller has made itself.
    """
    if jit_disabled:
        return dispatcher
    types = tuple(map(numba.typeof, examples))
    dispatcher.compile(types)
    return dispatcher.overloads[types].entry_point


def _stamp(function: Callable[..., Any]) -> str:
    """A digest of all that decides what a kernel compiles to: its file, and what it names of other files."""
    digest = sha256(_content(function.__code__.co_filename))
    names = function.__code__.co_names
    for name in names:
        value = function.__globals__.get(name)
        found = [getattr(value, n, None) for n in names] if isinstance(value, ModuleType) else [value]
        for thing in found:
            digest.update(_meaning(thing).encode())
    return digest.hexdigest()


@cache
def _content(path: str) -> bytes:
    return Path(path).read_bytes()


def _meaning(value: Any) -> str:
    """What a global stands for when it is compiled in: a kernel's stamp, a constant's value, a type's members."""
    if isinstance(value, Dispatcher):
        cached: Any = value
        return str(cached._cache._cache_file._source_stamp)
    if isinstance(value, type):
        return repr([*getattr(value, "__members__", {}).items(), *getattr(value, "_fields", ())])
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tobytes().hex()}"
    return repr(value) if isinstance(value, int | float | str | tuple | np.generic) else ""


_announced = False


def announce_compilation(dispatcher: Any) -> None:
    """Say once, on stderr, that the kernels are about to be compiled, unless ``dispatcher`` is on disk already."""
    global _announced
    if _announced or jit_disabled:
        return
    _announced = True
    if not Path(dispatcher._cache._cache_file._index_path).exists():
        print("perudo_env: compiling the rules, once, for about 20 seconds ...", file=sys.stderr, flush=True)
