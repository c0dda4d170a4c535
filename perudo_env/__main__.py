"""The command ``perudo``: rules in force, positions explained and drawn, presets compared, dice of saved games checked,
and the score of an evening kept."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from perudo_env.engine.variant import SWITCHES, VARIANTS, parse_variant, shown
from perudo_env.game.files import read_whole
from perudo_env.game.game import Game
from perudo_env.game.language import LANGUAGES
from perudo_env.game.printing import printing

EXAMPLE = "classic 22344/13566/23456/12455 opener=0 5x4"


@printing()
def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns 0, or 2 after a word on stderr if what was asked for cannot be."""
    parser = _parser()
    args, rest = parser.parse_known_args(argv)
    # argparse gives up on actions that follow an option
    if rest and (not hasattr(args, "actions") or any(word.startswith("-") for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        args.actions += rest
    try:
        text = args.run(args)
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ImportError) as error:
        print(f"perudo: {error}", file=sys.stderr)
        return 2
    if text is not None:
        print(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="perudo", description="Perudo: the rules in force, and positions explained.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    rules = commands.add_parser("rules", help="print the rules in force, with sources and checked examples")
    rules.add_argument("--preset", default="classic", help=f"one of {', '.join(VARIANTS)} (default: classic)")
    rules.add_argument(
        "--set",
        dest="overrides",
        action="extend",
        nargs="+",
        default=[],
        metavar="switch=value",
        help="override switches of the preset",
    )
    rules.add_argument("--lang", choices=(*LANGUAGES, "both"), default="both", help="language (default: both)")
    rules.set_defaults(run=_rules)

    show = commands.add_parser("show", help="print a position, its legal actions, and why others are illegal")
    show.add_argument("position", metavar="POSITION", help=f"for example '{EXAMPLE}'")
    show.add_argument("actions", metavar="ACTION", nargs="*", help="actions to judge, like 6x4, 3P, dudo, calza, pass")
    show.add_argument("--lang", choices=LANGUAGES, default="en", help="language (default: en)")
    show.set_defaults(run=_show)

    picture = commands.add_parser("picture", help="draw a position into a PNG file")
    picture.add_argument("position", metavar="POSITION", help=f"for example '{EXAMPLE}'")
    picture.add_argument("file", metavar="FILE.png", type=Path)
    picture.add_argument("--viewer", type=int, metavar="SEAT", help="draw what this seat sees (default: all dice open)")
    picture.set_defaults(run=_picture)

    verify = commands.add_parser(
        "verify", help="roll all dice of a saved game again, and check what was promised before it"
    )
    verify.add_argument("file", metavar="FILE", type=Path, help="a saved game, or a bare record")
    verify.set_defaults(run=_verify)

    variants = commands.add_parser("variants", help="list the presets and their switches")
    variants.set_defaults(run=_variants)

    _add_score(commands.add_parser("score", help="keep the score of an evening with real dice"))
    return parser


def _add_score(score: argparse.ArgumentParser) -> None:
    add = score.add_argument
    add(
        "--plain",
        action="store_true",
        help="line by line, for a pipe or a screen reader, in place of pages in a browser",
    )
    add("--file", type=Path, help="where scores are kept (default: $PERUDO_SCORES, or the user's data folder)")
    add("--evening", type=int, help="go on with this evening, or (with --csv, --sheet; default: the last) write it")
    add("--lang", choices=LANGUAGES, help="language (default: what each browser asks for, or LANG)")
    add("--csv", type=Path, help="write the evening as CSV and end")
    add("--sheet", type=Path, help="write the evening as an HTML page to print and end")
    add("--read-csv", type=Path, help="keep the evening that --csv wrote as a new one")
    add("--host", default="127.0.0.1", help="who may reach the pages: this computer alone, or (0.0.0.0) the network")
    add("--port", type=int, default=8010, help="where the pages are served")
    add("--public-url", help="address by which others reach the pages, behind a proxy say: https://scores.example")
    score.set_defaults(run=_score)


def _rules(args: argparse.Namespace) -> str:
    from perudo_env.rulebook.book import format_rulebook, rulebook

    joint = "," if ":" in args.preset else ":"
    variant = parse_variant(args.preset + (joint + ",".join(args.overrides) if args.overrides else ""))
    return format_rulebook(rulebook(variant), LANGUAGES if args.lang == "both" else (args.lang,))


def _show(args: argparse.Namespace) -> str:
    from perudo_env.render import text as render
    from perudo_env.rulebook.book import VERDICT

    game = Game.from_position(args.position)
    lines = [render.text(game, language=args.lang), *_legal(game, args.lang)]
    for action in args.actions:
        why = game.why_illegal(action, args.lang)
        verdict = getattr(VERDICT[why is None], args.lang)
        lines.append(f"{action}: {verdict}" + (f" ({why})" if why else ""))
    return "\n".join(lines)


def _legal(game: Game, language: str) -> list[str]:
    """The legal actions in a line or two: the calls, then the bids as a range per face."""
    from perudo_env.engine.actions import Bid, Call
    from perudo_env.game.words import words
    from perudo_env.render.scene import raises

    calls = [str(a) for a in game.legal_actions() if isinstance(a, Call)]
    ranges = {} if game.in_calza_window else raises(game)
    bids = [
        f"{Bid(least, face)}" + (f"..{Bid(most, face)}" if most > least else "")
        for face, (least, most) in ranges.items()
    ]
    return [words(language).gettext("legal: {actions}", actions=", ".join(calls + bids) or "-")]


def _picture(args: argparse.Namespace) -> str:
    from perudo_env.render.picture import write_png
    from perudo_env.render.scene import scene
    from perudo_env.render.sprites import HEIGHT, WIDTH

    write_png(args.file, scene(Game.from_position(args.position), args.viewer))
    return f"{args.file}: {WIDTH}x{HEIGHT} pixels"


def _verify(args: argparse.Namespace) -> str:
    from perudo_env.rulebook.fairness import verify

    try:
        text = read_whole(args.file).decode()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"{shown(str(args.file))} cannot be read as text: {why}") from error
    return f"{args.file}: {verify(text)}"


def _score(args: argparse.Namespace) -> None:
    from perudo_env.play.score.command import run

    run(args)


def _variants(args: argparse.Namespace) -> str:
    from perudo_env.rulebook.texts import SILENT

    def cell(name: str, switch: str) -> str:
        return str(getattr(VARIANTS[name], switch)) + "*" * (switch in SILENT.get(name, ()))

    rows = [
        ["switch", *VARIANTS],
        *([switch, *(cell(name, switch) for name in VARIANTS)] for switch in SWITCHES),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*table, "* the preset's source does not settle this; a default was chosen"])


if __name__ == "__main__":
    sys.exit(main())
