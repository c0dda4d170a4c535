"""Play against the agents: ``python -m agents.people.play`` in the browser, ``--terminal`` or ``--plain`` in the terminal."""

from __future__ import annotations

import sys
import threading
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from agents.people.levels import lineup
from perudo_env.game.files import is_folder
from perudo_env.game.printing import printing
from perudo_env.play.lineup import Lineup
from perudo_env.play.table import Player, Table, may_choose_seed

if TYPE_CHECKING:
    from fastapi import FastAPI


@dataclass(frozen=True)
class Play:
    """Play Perudo against the agents, in the browser or in the terminal."""

    terminal: bool = False
    """In the terminal, by keyboard and mouse."""
    plain: bool = False
    """In lines, for pipes and screen readers."""
    seats: tuple[str, ...] = ("You", "regular", "regular")
    """Terminal: who sits, in turn order: levels, agents by name, checkpoint folders, package.module:factory; any other word is a person's name."""
    variant: str = "classic"
    """Terminal: the rules, as box or box:calza=anyone,starting_dice=3."""
    seed: int | None = None
    """Terminal, for one person alone: fixes all dice; a game after the first takes the next number."""
    pause: float = 1.0
    """Terminal: seconds an agent takes to answer; 0: none."""
    window: float | None = None
    """Terminal: seconds to say Calza out of turn (default: as long as one likes)."""
    hints: bool = False
    """Terminal: help at every turn, and not only on demand."""
    confirm: bool = False
    """Terminal: bids are asked for twice."""

    host: str = "127.0.0.1"
    """Browser: address to listen on; 0.0.0.0 lets other machines in."""
    port: int = 8000
    """Browser: port to listen on."""
    public_url: str | None = None
    """Browser: address by which others reach this server, behind a proxy say: https://perudo.example."""
    games: Path | None = None
    """Folder for finished games (default: $PERUDO_GAMES, or the user's data folder)."""
    lang: Literal["en", "fr"] | None = None
    """Language (default: what each browser asks for, or LANG)."""
    browser: bool = True
    """Browser: whether to open it."""
    agents: tuple[str, ...] = ()
    """Browser: further agents to choose from: checkpoint folders, package.module:factory."""


def main(args: list[str] | None = None) -> int:
    """Serve until interrupted, or play in the terminal."""
    words = sys.argv[1:] if args is None else args
    options = tyro.cli(Annotated[Play, tyro.conf.arg(name="")], args=words, prog="python -m agents.people.play")
    try:
        return _in_terminal(options) if options.terminal or options.plain else _in_browser(options)
    except ImportError as error:
        print(f"the game needs {error.name}: pip install 'perudo-env[play]'", file=sys.stderr)
        return 2


def _in_terminal(options: Play) -> int:
    from perudo_env.game.language import language_of
    from perudo_env.game.words import words
    from perudo_env.play.archive import Archive
    from perudo_env.play.language import say_refused
    from perudo_env.play.names import NameRefusedError
    from perudo_env.play.series import Series
    from perudo_env.play.terminal import plain
    from perudo_env.play.terminal.telling import Manner, seated

    if not options.plain and not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        print(
            "agents.people.play: --terminal needs a terminal, and this is a pipe or a file: use --plain",
            file=sys.stderr,
        )
        return 2
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
        if options.seed is not None and not may_choose_seed(players):
            raise ValueError("--seed tells all dice: with several people at the table leave it out, and it is drawn")
        series = Series(options.variant, players, house.policy, options.seed, Archive(options.games))
    except NameRefusedError as error:
        print(f"agents.people.play: {say_refused(error, words(language))}", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"agents.people.play: {error}", file=sys.stderr)
        return 2
    manner = Manner(language, options.pause, options.window, options.hints, house.adviser, options.confirm)
    try:
        if options.plain:
            finished = plain.main(series, manner)
        else:
            from perudo_env.play.terminal import app as terminal

            finished = terminal.main(series, manner)
    except KeyboardInterrupt:
        print()
        return 1
    return 0 if finished else 1


def browser_app(options: Play) -> FastAPI:
    """Everything that ``make play`` serves."""
    from perudo_env.play.archive import default_folder
    from perudo_env.play.score.pages import SCORE_LINK, score_router
    from perudo_env.play.web.app import create_app
    from perudo_env.play.web.security import hosts_of, public_origin

    public = None if options.public_url is None else public_origin(options.public_url)
    known = lineup()
    known = replace(known, agents=(*known.agents, *options.agents))
    # by the port, since two servers must not play on at one table
    running = (options.games or default_folder()) / "tables" / str(options.port)
    return create_app(
        known, options.games, running=running, language=options.lang, hosts=hosts_of(options.host, public),
        public=public, routers=(score_router,), links=(SCORE_LINK,),
    )  # fmt: skip


def _in_browser(options: Play) -> int:
    from perudo_env.play.web.app import serve
    from perudo_env.play.web.security import address_of

    try:
        app = browser_app(options)
    except ValueError as error:
        print(f"agents.people.play: {error}", file=sys.stderr)
        return 2
    for told in _warnings(options, app):
        print(f"agents.people.play: {told}", file=sys.stderr)
    address = address_of(options.host, options.port)
    print("getting the agents ready…", flush=True)
    warm_up(lineup())
    others = f", for others {app.state.public}/" if app.state.public else ""
    print(f"Perudo: {address}{others}  (Ctrl+C ends)", flush=True)
    if options.browser:
        threading.Timer(1.0, webbrowser.open, [address]).start()
    serve(app, options.host, options.port)
    return 0


def _warnings(options: Play, app: FastAPI) -> Iterator[str]:
    """What cannot be kept on this machine, told before anybody plays."""
    from perudo_env.game.language import language_of
    from perudo_env.game.words import words
    from perudo_env.play.score import ScoreError, Store
    from perudo_env.play.score.store import default_file
    from perudo_env.play.score.words import say_error

    texts = words(language_of(options.lang))
    games = app.state.house.archive.warning(texts)
    if games is not None:
        yield games
    try:
        Store(default_file())
    except ScoreError as error:
        yield say_error(error, texts)


def warm_up(known: Lineup) -> None:
    """Let every level play once, so that what has to be compiled is compiled before anybody waits for it."""
    players = [Player(level, level) for level in known.levels]
    Table("classic:starting_dice=1", [*players, *players][:4], known.policy, seed=1).play_agents()


if __name__ == "__main__":
    with printing():
        sys.exit(main())
