"""The generated files of the site: rules in two languages with positions drawn, one observation, the architecture, data as CSV.

Sphinx's ``conf.py`` calls :func:`write` before it reads the pages; nothing of it is kept in the repository.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import perudo_env as pe
from perudo_env.engine.observation import LAYOUT
from perudo_env.engine.variant import RULE_TEXTS, SWITCHES, VARIANTS
from perudo_env.game.files import write_text
from perudo_env.render.picture import write_png
from perudo_env.render.scene import scene
from perudo_env.rulebook.book import Clause, format_example, rulebook
from perudo_env.rulebook.texts import PRESET_SOURCE, SOURCES
from tools.architecture import draw, write_svg
from tools.parts import judged
from train.core.figures import new_figure, reach
from train.core.run import write_csv
from train.core.table import Code, Table
from train.report.numbers import read

POSITION = "classic 22344/13566/23456/12455 opener=3 2x4 3x4 4x5"
"""What the page of the environment shows, as the seat to act sees it."""

TITLE = {"en": "Rules: {}", "fr": "Règles : {}"}
OPENING = {
    "en": "What `{0}` plays; its source is {1}, {2}. Where the source is silent, a star marks the default chosen. The engine is asked "
    "each time this page is built whether it agrees with every example.\n\n```sh\npython -m perudo_env rules --preset {0}\n```",
    "fr": "Ce que joue `{0}` ; sa source est {1}, {2}. Là où elle se tait, une étoile signale le choix par défaut. Le moteur vérifie "
    "chaque exemple à chaque construction de cette page.\n\n```sh\npython -m perudo_env rules --preset {0} --lang fr\n```",
}


class Sight(NamedTuple):
    """A position to be drawn: with all dice open, or as a seat sees it."""

    position: str
    viewer: int | None


def write(folder: Path) -> None:
    """Write everything into ``folder``, which pages read from; a file that is as it was stays untouched, and Sphinx skips it."""
    pictures: set[Sight] = set()
    for language in ("en", "fr"):
        for preset in RULE_TEXTS:
            _keep(folder / f"rules-{preset}-{language}.md", rules_page(preset, language, pictures))
    (folder / "positions").mkdir(exist_ok=True)
    for sight in pictures:
        path = folder / picture_name(sight)
        if not path.exists():
            write_png(path, scene(pe.Game.from_position(sight.position), sight.viewer))
    game = pe.Game.from_position(POSITION)
    write_png(folder / "observed.png", scene(game, game.seat))
    _keep(folder / "observed.md", observed())
    for kind, name in (("round", "rounds"), ("agent", "agents"), ("match", "matches"), ("recall", "recall")):
        numbers_csv(folder / f"{name}.csv", kind)
    draw(folder / "architecture.svg")
    frontier(folder / "frontier.svg")


def _keep(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)


def picture_name(sight: Sight) -> str:
    """Where the picture of a position lies."""
    return f"positions/{sha256(str(sight).encode()).hexdigest()[:12]}.png"


def rules_page(preset: str, language: str, pictures: set[Sight]) -> str:
    """The rulebook of a preset in one language; adds the positions that it shows to ``pictures``."""
    source = PRESET_SOURCE[preset]
    lines = [
        f"# {TITLE[language].format(preset)}",
        OPENING[language].format(preset, source, getattr(SOURCES[source], language)),
    ]
    for clause in rulebook(VARIANTS[preset]).clauses:
        lines += _clause(clause, language, pictures)
    return "\n\n".join(lines) + "\n"


def _clause(clause: Clause, language: str, pictures: set[Sight]) -> list[str]:
    title, text = getattr(clause.title, language), getattr(clause.text, language)
    setting = f"`{clause.switch} = {clause.value}`" if clause.switch else ""
    standing = f"*{getattr(clause.standing.words, language)}*"
    star = r" \*" if clause.standing.is_silent else ""
    lines = [f"## {title}{star}", text, ", ".join(filter(None, (setting, standing)))]
    lines += [getattr(remark, language) for remark in clause.remarks]
    for sight, examples in groupby(clause.examples, key=lambda e: Sight(e.position, getattr(e.expect, "viewer", None))):
        pictures.add(sight)
        said = "\n".join(f"- {format_example(example, language)}" for example in examples)
        lines.append(
            f":::{{container}} position\n![{sight.position}]({picture_name(sight)})\n\n`{sight.position}`\n\n{said}\n:::"
        )
    return lines


def observed() -> str:
    """The blocks of the observation of ``POSITION``: what is 1 in each."""
    game = pe.Game.from_position(POSITION)
    layout = pe.Batch(game.variant, len(game.dice), 1).layout
    assert game.seat is not None
    row = game.observation(game.seat)
    rows = []
    for block in LAYOUT:
        bits = layout.get(row, block.name)
        ones = np.argwhere(bits == 1)
        where = ", ".join("[" + ", ".join(map(str, at)) + "]" for at in ones) or "none"
        if block.name == "switches":
            where = f"one of each of the {len(SWITCHES)} switches"
        place = layout.slices[block.name]
        rows.append((Code(block.name), " x ".join(map(str, bits.shape)), f"{place.start} to {place.stop - 1}", where))
    return Table(("block", "shape here", "numbers", "where it is 1"), rows).markdown() + "\n"


def numbers_csv(path: Path, kind: str) -> None:
    """The records of a kind in ``numbers.json`` as CSV; lists are written like ``2 v 1``."""
    kept: list[dict[str, Any]] = [r for name, r in read().items() if name.startswith(f"{kind}/")]
    columns = list(dict.fromkeys(key for record in kept for key in record))
    write_csv(path, columns, ([_cell(record.get(key, "")) for key in columns] for record in kept))


def _cell(value: object) -> object:
    return " v ".join(map(str, value)) if isinstance(value, list) else value


def frontier(path: Path) -> None:
    """Strength against safety, an agent a point: nobody is better in both than those on the upper left."""
    figure = new_figure(6.5, 4.8)
    axis = figure.subplots()
    for i, j in enumerate(judged()):
        if j.nash_conv is not None:
            axis.errorbar(j.nash_conv, j.strength.value, reach([j.strength]), fmt="o", capsize=3)
            beside = (6, -12 if i % 2 else 5)
            axis.annotate(j.agent, (j.nash_conv, j.strength.value), beside, textcoords="offset points", fontsize=9)
    axis.set(
        xlabel="exact NashConv, classic 2 v 1 dice (0: an equilibrium)",
        ylabel="win share over fair share",
        xlim=(-0.1, 2),
        ylim=(-0.15, None),
    )
    write_svg(path, figure)
