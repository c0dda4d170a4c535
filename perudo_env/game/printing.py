"""Standard streams of a command: nothing that a terminal or a pipe cannot take ends in a traceback."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def printing() -> Iterator[None]:
    """Around a command, or as its decorator: what the encoding lacks is replaced, and readers may leave, as ``head`` does.

    Where the output cannot be written, on a full disk for one, a line on stderr says so and the exit status is 2.
    """
    # None where the shell has closed it
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - for the rest of the process
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            yield
        finally:
            print(end="", flush=True)
    except OSError:
        fault = _fault_of_stdout()
        if fault is None:
            raise  # of something else: a worker's pipe, for one
        if not isinstance(fault, BrokenPipeError):
            print(f"what was to be printed could not be written: {fault}", file=sys.stderr)
            raise SystemExit(2) from None


def _fault_of_stdout() -> OSError | None:
    """Why stdout takes nothing; then what is still to be printed, by the interpreter's own last flush too, goes nowhere."""
    try:
        print(flush=True)
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return error
    return None
