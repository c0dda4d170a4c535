"""Play against the agents: ``python -m agents.play`` in the browser, ``--terminal`` in the terminal."""

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
    """Play Perudo against the agents, in the browser."""

    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 lets other machines in."""
    port: int = 8000
    """Port to listen on."""
    games: Path | None = None
    """Folder for finished games (default: $PERUDO_GAMES, or the user's data folder)."""
    lang: Literal["en", "fr"] | None = None
    """Language of all pages (default: what each browser asks for)."""
    browser: bool = True
    """Whether to open the browser."""


def main(args: list[str] | None = None) -> int:
    """Serve until interrupted."""
    words = sys.argv[1:] if args is None else args
    options = tyro.cli(Annotated[Play, tyro.conf.arg(name="")], args=words, prog="python -m agents.play")
    try:
        from perudo_env.play.web import create_app
        from perudo_env.play.web.app import serve
    except ImportError as error:
        print(f"the browser game needs {error.name}: pip install 'perudo-env[play]'", file=sys.stderr)
        return 2
    local = options.host in ("127.0.0.1", "localhost")
    app = create_app(lineup(), options.games, language=options.lang, hosts=("127.0.0.1", "localhost") if local else ("*",))
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
