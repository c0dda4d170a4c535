"""The command that plays against the agents in the terminal."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agents.people.levels import lineup
from perudo_env.game.files import is_folder
from perudo_env.game.language import language_of
from perudo_env.game.words import words
from perudo_env.play.archive import Archive
from perudo_env.play.language import say_refused
from perudo_env.play.names import NameRefusedError
from perudo_env.play.series import Series
from perudo_env.play.table import may_choose_seed
from perudo_env.play.terminal import plain
from perudo_env.play.terminal.telling import Manner, seated


@dataclass(frozen=True)
class Terminal:
    """Who sits at the table, its rules, and how it is told."""

    plain: bool = False
    """In lines, for pipes and screen readers."""
    seats: tuple[str, ...] = ("You", "regular", "regular")
    """Who sits, in turn order: levels, agents by name, checkpoint folders, package.module:factory; any other word is a person's name."""
    variant: str = "classic"
    """The rules, as box or box:calza=anyone,starting_dice=3."""
    seed: int | None = None
    """For one person alone: fixes all dice; a game after the first takes the next number."""
    pause: float = 1.0
    """Seconds an agent takes to answer; 0: none."""
    window: float | None = None
    """Seconds to say Calza out of turn; by default as long as one likes."""
    hints: bool = False
    """Help at every turn, and not only on demand."""
    confirm: bool = False
    """Bids are asked for twice."""
    games: Path | None = None
    """Folder for finished games; by default $PERUDO_GAMES, or the user's data folder."""
    lang: Literal["en", "fr"] | None = None
    """Language; by default what LANG says."""


def run(options: Terminal) -> int:
    """Play until all is over: 0, or 1 if it was left before; raises ``ValueError`` for a table that cannot be."""
    if not options.plain and not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise ValueError("this is a pipe or a file, and no terminal: use --plain")
    house = lineup()
    language = language_of(options.lang)

    def is_agent(word: str) -> bool:
        return (
            word in house.levels
            or word in house.agents
            or ":" in word
            or (is_folder(word) and (Path(word) / "policy.json").is_file())
        )

    try:
        players = seated(options.seats, is_agent, words(language))
    except NameRefusedError as error:
        raise ValueError(say_refused(error, words(language))) from error
    if options.seed is not None and not may_choose_seed(players):
        raise ValueError("--seed tells all dice: with several people at the table leave it out, and it is drawn")
    series = Series(options.variant, players, house.policy, options.seed, Archive(options.games))
    manner = Manner(language, options.pause, options.window, options.hints, house.adviser, options.confirm)
    if options.plain:
        finished = plain.main(series, manner)
    else:
        from perudo_env.play.terminal import app

        finished = app.main(series, manner)
    return 0 if finished else 1
