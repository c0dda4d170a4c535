"""The command ``python -m perudo_env score``: the score keeper, as pages in a browser or (``--plain``) line by line."""

from __future__ import annotations

import argparse

from perudo_env.game.files import read_whole
from perudo_env.game.language import language_of
from perudo_env.game.words import Words, words
from perudo_env.play.score.csvfile import decoded, from_csv, to_csv
from perudo_env.play.score.entries import ScoreError
from perudo_env.play.score.plain import Keeper
from perudo_env.play.score.sheet import sheet_html, write_text
from perudo_env.play.score.store import Store, default_file
from perudo_env.play.score.words import say_error


def run(options: argparse.Namespace) -> None:
    """Keep the score; raises ``ValueError`` for what cannot be."""
    w = words(language_of(options.lang))
    try:
        _run(options, w)
    except ScoreError as error:
        raise ValueError(say_error(error, w)) from error
    except KeyboardInterrupt:
        print()


def _run(options: argparse.Namespace, w: Words) -> None:
    """Do what was asked; raises ``ScoreError`` where it cannot be."""
    store = Store(options.file or default_file())
    if options.read_csv is not None:
        try:
            data = read_whole(options.read_csv)
        except (OSError, ValueError) as error:
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

        serve(store.file, options.host, options.port, options.lang, options.public_url)
