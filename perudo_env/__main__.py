"""The commands of the game itself: rules in force, positions explained and drawn, presets compared, dice of saved games
checked, and the score of an evening kept; ``python -m perudo_env --help`` lists them."""

from __future__ import annotations

import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from perudo_env.engine.variant import SWITCHES, VARIANTS, parse_variant, shown
from perudo_env.game.door import Door
from perudo_env.game.files import read_whole
from perudo_env.game.game import Game
from perudo_env.game.language import LANGUAGES

EXAMPLE = "classic 22344/13566/23456/12455 opener=0 5x4"


@dataclass(frozen=True)
class Command:
    """A function of what argparse reads, which returns what to print."""

    function: Callable[[Namespace], str | None]
    options: Callable[[ArgumentParser], None]
    says: str

    def run(self, prog: str, words: Sequence[str]) -> int:
        """Read the options, call it and print what it says."""
        about = f"{self.says[:1].upper()}{self.says[1:]}."
        parser = ArgumentParser(prog=prog, description=about, formatter_class=ArgumentDefaultsHelpFormatter)
        self.options(parser)
        said = self.function(parser.parse_intermixed_args(words))
        if said is not None:
            print(said)
        return 0


def _rules_options(parser: ArgumentParser) -> None:
    parser.add_argument("--preset", default="classic", help=f"One of {', '.join(VARIANTS)}.")
    parser.add_argument(
        "--set", dest="overrides", action="extend", nargs="+", default=[], metavar="switch=value",
        help="Other values for switches of the preset.",
    )  # fmt: skip
    parser.add_argument("--lang", choices=(*LANGUAGES, "both"), default="both", help="Language.")


def _show_options(parser: ArgumentParser) -> None:
    parser.add_argument("position", metavar="POSITION", help=f"For example '{EXAMPLE}'.")
    parser.add_argument(
        "actions", metavar="ACTION", nargs="*", help="Actions to judge, like 6x4, 3P, dudo, calza, pass."
    )
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="Language.")


def _picture_options(parser: ArgumentParser) -> None:
    parser.add_argument("position", metavar="POSITION", help=f"For example '{EXAMPLE}'.")
    parser.add_argument("file", metavar="FILE.png", type=Path, help="The file to write.")
    parser.add_argument(
        "--viewer", type=int, metavar="SEAT", help="Draw what this seat sees; by default all dice are open."
    )


def _verify_options(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="A saved game, or a bare record.")


def _variants_options(_: ArgumentParser) -> None:
    """None."""


def _score_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--plain",
        action="store_true",
        help="Line by line, for a pipe or a screen reader, in place of pages in a browser.",
    )
    add("--file", type=Path, help="Where scores are kept; by default $PERUDO_SCORES, or the user's data folder.")
    add("--evening", type=int, help="Go on with this evening, or (with --csv, --sheet; by default the last) write it.")
    add("--lang", choices=LANGUAGES, help="Language; by default what each browser asks for, or LANG.")
    add("--csv", type=Path, help="Write the evening as CSV and end.")
    add("--sheet", type=Path, help="Write the evening as an HTML page to print and end.")
    add("--read-csv", type=Path, help="Keep the evening that --csv wrote as a new one.")
    add("--host", default="127.0.0.1", help="Who may reach the pages: this computer alone, or (0.0.0.0) the network.")
    add("--port", type=int, default=8010, help="Where the pages are served.")
    add("--public-url", help="Address by which others reach the pages, behind a proxy say: https://scores.example.")


def _rules(args: Namespace) -> str:
    from perudo_env.rulebook.book import format_rulebook, rulebook

    joint = "," if ":" in args.preset else ":"
    variant = parse_variant(args.preset + (joint + ",".join(args.overrides) if args.overrides else ""))
    return format_rulebook(rulebook(variant), LANGUAGES if args.lang == "both" else (args.lang,))


def _show(args: Namespace) -> str:
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


def _picture(args: Namespace) -> str:
    from perudo_env.render.picture import write_png
    from perudo_env.render.scene import scene
    from perudo_env.render.sprites import HEIGHT, WIDTH

    write_png(args.file, scene(Game.from_position(args.position), args.viewer))
    return f"{args.file}: {WIDTH}x{HEIGHT} pixels"


def _verify(args: Namespace) -> str:
    from perudo_env.rulebook.fairness import verify

    try:
        text = read_whole(args.file).decode()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"{shown(str(args.file))} cannot be read as text: {why}") from error
    return f"{args.file}: {verify(text)}"


def _score(args: Namespace) -> None:
    from perudo_env.play.score.command import run

    run(args)


def _variants(args: Namespace) -> str:
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


main = Door(
    "python -m perudo_env",
    {
        "rules": {
            "rules": Command(_rules, _rules_options, "the rules in force, with sources and checked examples"),
            "variants": Command(_variants, _variants_options, "the presets and their switches"),
        },
        "positions": {
            "show": Command(_show, _show_options, "a position, its legal actions, and why others are illegal"),
            "picture": Command(_picture, _picture_options, "a position drawn into a PNG file"),
        },
        "people at a table": {
            "score": Command(_score, _score_options, "the score of an evening with real dice"),
            "verify": Command(
                _verify,
                _verify_options,
                "all dice of a saved game rolled again, and what was promised before it checked",
            ),
        },
    },
)

if __name__ == "__main__":
    sys.exit(main())
