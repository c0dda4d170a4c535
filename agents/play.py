"""Play against the agents: ``python -m agents.play`` in the browser, ``--terminal`` or ``--plain`` in the terminal."""

from __future__ import annotations

import sys
import threading
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from agents.levels import lineup
from perudo_env.play.lineup import Lineup
from perudo_env.play.table import Player, Table


@dataclass(frozen=True)
class Play:
    """Play Perudo against the agents, in the browser or in the terminal."""

    terminal: bool = False
    """In the terminal, by keyboard and mouse."""
    plain: bool = False
    """In lines, for pipes and screen readers."""
    seats: tuple[str, ...] = ("You", "regular", "regular")
    """Terminal: who sits, in turn order: levels and agents by name; any other word is a person's name."""
    variant: str = "classic"
    """Terminal: the rules, as box or box:calza=anyone,starting_dice=3."""
    seed: int | None = None
    """Terminal: fixes all dice."""
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
    games: Path | None = None
    """Folder for finished games (default: $PERUDO_GAMES, or the user's data folder)."""
    lang: Literal["en", "fr"] | None = None
    """Language (default: what each browser asks for, or LANG)."""
    browser: bool = True
    """Browser: whether to open it."""


def main(args: list[str] | None = None) -> int:
    """Serve until interrupted."""
    words = sys.argv[1:] if args is None else args
    options = tyro.cli(Annotated[Play, tyro.conf.arg(name="")], args=words, prog="python -m agents.play")
    try:
        return _in_terminal(options) if options.terminal or options.plain else _in_browser(options)
    except ImportError as error:
        print(f"the game needs {error.name}: pip install 'perudo-env[play]'", file=sys.stderr)
        return 2


def _in_terminal(options: Play) -> int:
    from perudo_env.play import plain
    from perudo_env.play.archive import Archive
    from perudo_env.play.language import language_of
    from perudo_env.play.table import Table
    from perudo_env.play.telling import Manner, seated

    house = lineup()
    language = language_of(options.lang)
    try:
        players = seated(options.seats, (*house.levels, *house.agents))
        table = Table(options.variant, players, house.policy, options.seed)
    except ValueError as error:
        print(f"agents.play: {error}", file=sys.stderr)
        return 2
    manner = Manner(language, options.pause, options.window, options.hints, house.adviser, options.confirm)
    try:
        if options.plain:
            finished = plain.main(table, manner)
        else:
            from perudo_env.play import terminal

            finished = terminal.main(table, manner)
    except KeyboardInterrupt:
        print()
        return 1
    if finished:
        archive = Archive(options.games)
        print(archive.path(archive.save(table.saved())))
    return 0 if finished else 1


def _in_browser(options: Play) -> int:
    from perudo_env.play.score_pages import SCORE_LINK, score_router
    from perudo_env.play.web.app import create_app, serve

    local = options.host in ("127.0.0.1", "localhost")
    hosts = ("127.0.0.1", "localhost") if local else ("*",)
    app = create_app(lineup(), options.games, language=options.lang, hosts=hosts, routers=(score_router,), links=(SCORE_LINK,))
    address = f"http://{'127.0.0.1' if options.host == '0.0.0.0' else options.host}:{options.port}/"
    print("getting the agents ready…", flush=True)
    warm_up(lineup())
    print(f"Perudo: {address}  (Ctrl+C ends)", flush=True)
    if options.browser:
        threading.Timer(1.0, webbrowser.open, [address]).start()
    serve(app, options.host, options.port)
    return 0


def warm_up(known: Lineup) -> None:
    """Let every level play once, so that what has to be compiled is compiled before anybody waits for it."""
    players = [Player(level, level) for level in known.levels]
    Table("classic:starting_dice=1", [*players, *players][:4], known.policy, seed=1).play_agents()


if __name__ == "__main__":
    sys.exit(main())
