"""The compilation of kernels: once, to disk, and with a word to whoever waits."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

_CONFIG: Any = numba.config
jit_disabled = bool(getattr(_CONFIG, "DISABLE_JIT", 0))


def kernel(function: Callable[..., Any], *, inline: bool = False) -> Any:
    """The decorator of every compiled function; ``NUMBA_DISABLE_JIT=1`` turns it off for a debugger or coverage."""
    if jit_disabled:
        return function
    dispatcher: Any = numba.njit(nogil=True, forceinline=inline)(function)
    kept = _cache_of(function)
    if kept is not None:
        dispatcher._cache = kept
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


def wrapping_kernel(function: Callable[..., Any]) -> Any:
    """A small kernel whose unsigned words wrap around on purpose; without the compiler NumPy would warn of it, as it does elsewhere."""
    return np.errstate(over="ignore")(function) if jit_disabled else inlined(function)


# ---------------------------------------------------------------------------------------------- what a kernel depends on


@cache
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
        called: Any = value
        return _stamp(called.py_func)
    if isinstance(value, type):
        return repr([*getattr(value, "__members__", {}).items(), *getattr(value, "_fields", ())])
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tobytes().hex()}"
    return repr(value) if isinstance(value, int | float | str | tuple | np.generic) else ""


# ---------------------------------------------------------------------------------------------- where kernels are kept


_READ_ONLY = "neither the folder of the package nor that of the user can be written"


class _KernelCache(FunctionCache):
    """The files of one kernel; that they cannot be written or read costs time and nothing else.

    Numba trusts a kernel on disk as long as the kernel's own file has its old time and size, even if one that it calls,
    in another file, has changed. So its stamp is replaced by :func:`_stamp`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = _stamp(function)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel, or None; files that are damaged are given up, and written anew."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged pickle may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled kernel, if it can be."""
        try:
            if not self._cache_file._load_index():
                # Numba writes the index before the code: meanwhile another process must not find older code under it.
                for path in Path(self.cache_path).glob(f"{self._impl.filename_base}.*.nbc"):
                    path.unlink(missing_ok=True)
            super().save_overload(sig, data)
        except OSError as error:
            _say(f"the compiled rules cannot be kept ({error}), so every process compiles them")


def _cache_of(function: Callable[..., Any]) -> _KernelCache | None:
    """Where a kernel is kept: where numba would, or in a temporary folder, or nowhere; of the last two a line tells."""
    with suppress(RuntimeError):  # numba has found no folder to write in
        return _KernelCache(function)
    before = _CONFIG.CACHE_DIR
    try:
        _CONFIG.CACHE_DIR = str(_temporary_folder())
        found = _KernelCache(function)
    except (OSError, RuntimeError):
        _say(f"{_READ_ONLY}, so every process compiles the rules again; NUMBA_CACHE_DIR may name a folder for them")
        return None
    finally:
        _CONFIG.CACHE_DIR = before
    _say(f"{_READ_ONLY}, so compiled rules are kept in {_temporary_folder()}; NUMBA_CACHE_DIR may name another folder")
    return found


def _temporary_folder() -> Path:
    """A folder of this user among the temporary ones; raises ``OSError`` if others can write in it, for what lies there is run."""
    user = os.getuid() if hasattr(os, "getuid") else ""
    folder = Path(tempfile.gettempdir()) / f"perudo_env-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    about = folder.lstat()
    shared = hasattr(os, "getuid") and (about.st_uid != user or about.st_mode & 0o022)
    if shared or not stat.S_ISDIR(about.st_mode):
        raise PermissionError(f"{folder} is not this user's alone")
    return folder


@cache
def _say(line: str) -> None:
    """Print a line on stderr, once."""
    print(f"perudo_env: {line}", file=sys.stderr, flush=True)


_announced = False


def announce_compilation(dispatcher: Any) -> None:
    """Say once, on stderr, that the kernels are about to be compiled, unless ``dispatcher`` is on disk already."""
    global _announced
    if _announced or jit_disabled:
        return
    _announced = True
    if not (isinstance(dispatcher._cache, _KernelCache) and Path(dispatcher._cache._cache_file._index_path).exists()):
        _say("compiling the rules, once, for about 20 seconds ...")
