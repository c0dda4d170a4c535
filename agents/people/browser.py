"""The command that plays against the agents in the browser."""

from __future__ import annotations

import sys
import threading
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agents.people.levels import lineup
from perudo_env.play.lineup import Lineup
from perudo_env.play.table import Player, Table

if TYPE_CHECKING:
    from fastapi import FastAPI


@dataclass(frozen=True)
class Browser:
    """Where the pages are served, and who may be played against."""

    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 lets other machines in."""
    port: int = 8000
    """Port to listen on."""
    public_url: str | None = None
    """Address by which others reach this server, behind a proxy say: https://perudo.example."""
    games: Path | None = None
    """Folder for finished games; by default $PERUDO_GAMES, or the user's data folder."""
    lang: Literal["en", "fr"] | None = None
    """Language; by default what each browser asks for."""
    browser: bool = True
    """Whether to open it."""
    agents: tuple[str, ...] = ()
    """Further agents to choose from: checkpoint folders, package.module:factory."""


def browser_app(options: Browser) -> FastAPI:
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


def run(options: Browser) -> None:
    """Serve until interrupted."""
    from perudo_env.play.web.app import listening, serve
    from perudo_env.play.web.security import address_of

    app = browser_app(options)
    listener = listening(options.host, options.port)
    for told in _warnings(options, app):
        print(f"play: {told}", file=sys.stderr)
    address = address_of(options.host, listener.getsockname()[1])
    print("getting the agents ready…", flush=True)
    warm_up(lineup())
    others = f", for others {app.state.public}/" if app.state.public else ""
    print(f"Perudo: {address}{others}  (Ctrl+C ends)", flush=True)
    if options.browser:
        threading.Timer(1.0, webbrowser.open, [address]).start()
    serve(app, listener)


def _warnings(options: Browser, app: FastAPI) -> Iterator[str]:
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
