"""What a command reads and prints: nothing that a terminal or a pipe cannot take ends in a traceback."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def printing() -> Iterator[None]:
    """Around a command, or as its decorator: what the encoding lacks is replaced, and readers may leave, as ``head`` does."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            yield
        finally:
            print(end="", flush=True)
    except BrokenPipeError:
        if not _nobody_reads():
            raise  # another pipe: a worker's, for one


def _nobody_reads() -> bool:
    """Whether stdout's reader has gone; then what is still to be printed, by the interpreter's own last flush too, goes nowhere."""
    try:
        print(flush=True)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return True
    return False
