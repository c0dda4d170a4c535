"""``python -m perudo_env.play.score``: the score keeper, as pages in a browser or (``--plain``) line by line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from perudo_env.game.language import language_of
from perudo_env.game.printing import printing
from perudo_env.game.words import words
from perudo_env.play.score.csvfile import decoded, from_csv, to_csv
from perudo_env.play.score.entries import ScoreError
from perudo_env.play.score.plain import Keeper
from perudo_env.play.score.sheet import sheet_html, write_text
from perudo_env.play.score.store import Store, default_file
from perudo_env.play.score.words import say_error


@dataclass(frozen=True)
class Options:
    """Keep the score of an evening of Perudo with real dice."""

    plain: bool = False
    """Line by line, for a pipe or a screen reader, in place of pages in a browser."""
    file: Path | None = None
    """Where scores are kept; $PERUDO_SCORES, or the user's data folder."""
    evening: int | None = None
    """Go on with this evening, or (with --csv, --sheet) write it; the last one is the default there."""
    lang: Literal["en", "fr"] | None = None
    """English or French; LANG decides unless told."""
    csv: Path | None = None
    """Write the evening as CSV and end."""
    sheet: Path | None = None
    """Write the evening as an HTML page to print and end."""
    read_csv: Path | None = None
    """Keep the evening that --csv wrote as a new one."""
    host: str = "127.0.0.1"
    """Who may reach the pages: this computer alone, or (0.0.0.0) the network."""
    port: int = 8010
    """Where the pages are served."""


def run(options: Options) -> None:
    """Do what was asked; raises ``ScoreError`` where it cannot be."""
    w = words(language_of(options.lang))
    store = Store(options.file or default_file())
    if options.read_csv is not None:
        try:
            data = options.read_csv.read_bytes()
        except OSError as error:
            raise ScoreError("{error}", error=error) from error
        print(store.open(*from_csv(decoded(data))))
    if options.csv is not None or options.sheet is not None:
        readable = (kept.id for kept in store.evenings() if kept.fault is None)
        kept = store.read(next(readable, 0) if options.evening is None else options.evening)
        if options.csv is not None:
            write_text(options.csv, to_csv(kept.entries))
        if options.sheet is not None:
            write_text(options.sheet, sheet_html(kept, w))
    elif options.plain:
        Keeper(store, w).run(options.evening)
    elif options.read_csv is None:
        from perudo_env.play.score.pages import serve

        serve(store.file, options.host, options.port, options.lang)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns 0, or 2 after a word on stderr if what was asked for cannot be."""
    options = tyro.cli(Options, args=argv, prog="python -m perudo_env.play.score")
    try:
        run(options)
    except ScoreError as error:
        print(f"score: {say_error(error, words(language_of(options.lang)))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == "__main__":
    with printing():
        sys.exit(main())
