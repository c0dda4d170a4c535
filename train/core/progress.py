"""Progress of long work: a rich progress bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def progress(what: str, total: int, console: Console | None = None, done: int = 0) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of ``what`` just done, of ``total``, of which ``done`` are behind us."""
    console = console or Console()
    if console.is_terminal:
        columns = TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(what, total=total, completed=done)
            yield lambda count: bar.advance(task, count)
        return
    yield _lines(what, total, console, done)


def in_time(seconds: float) -> str:
    """Seconds as people say them: 40 s, 12 min, 3 h 5 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _lines(what: str, total: int, console: Console, done: int) -> Callable[[int], None]:
    begun, behind = time.monotonic(), done
    last = begun

    def advance(count: int) -> None:
        nonlocal done, last
        done += count
        now = time.monotonic()
        if done >= total or now - last >= SECONDS_BETWEEN_LINES:
            last, spent = now, now - begun
            left = f", about {in_time(spent * (total - done) / (done - behind))} left" if behind < done < total else ""
            console.print(f"{what}: {done:,} of {total:,}, {in_time(spent)}{left}", highlight=False)

    return advance
