"""A figure of the architecture, drawn from the imports that the code really has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grimp
import networkx as nx

from perudo_env.game.files import writing
from train.core.figures import new_figure

PACKAGES = {"perudo_env": "#d9ead3", "agents": "#fff2cc", "train": "#cfe2f3"}
"""The packages and the colours of their rooms."""


def rooms() -> nx.DiGraph:
    """Every room that is a folder, with an edge to each room that it imports."""
    found = grimp.build_graph(*PACKAGES, cache_dir=None, exclude_type_checking_imports=True)
    graph = nx.DiGraph()
    for package in PACKAGES:
        for room in sorted(found.find_children(package)):
            if found.find_children(room) or room == "perudo_env.policy":
                graph.add_node(room)
    for importer in graph:
        for imported in graph:
            if importer != imported and found.direct_import_exists(
                importer=importer, imported=imported, as_packages=True
            ):
                graph.add_edge(importer, imported)
    return graph


def draw(path: Path) -> None:
    """Write the figure as SVG: what is imported stands below what imports it; edges that follow from others are left out."""
    graph = rooms()
    edges = nx.transitive_reduction(graph).edges
    levels: dict[str, int] = {}
    for room in reversed(list(nx.topological_sort(graph))):
        levels[room] = 1 + max((levels[below] for below in graph.successors(room)), default=-1)
    rows: dict[int, list[str]] = {}
    for room in graph:
        rows.setdefault(levels[room], []).append(room)
    place = {
        room: ((i + 0.5) / len(row) * 10, 1.1 * level) for level, row in rows.items() for i, room in enumerate(row)
    }
    figure = new_figure(9, 0.62 * (max(rows) + 1))
    axis = figure.subplots()
    axis.set_axis_off()
    axis.set(xlim=(0, 10), ylim=(-0.5, 1.1 * max(rows) + 0.5))
    for above, below in edges:
        axis.annotate(
            "",
            place[below],
            place[above],
            arrowprops={"arrowstyle": "->", "color": "#999999", "shrinkA": 9, "shrinkB": 9},
        )
    for room, (x, y) in place.items():
        colour = PACKAGES[room.partition(".")[0]]
        axis.text(
            x,
            y,
            room,
            ha="center",
            va="center",
            fontsize=8,
            bbox={"boxstyle": "round", "facecolor": colour, "edgecolor": "#777777"},
        )
    write_svg(path, figure)


def write_svg(path: Path, figure: Any) -> None:
    """Write a figure whole or not at all, without the date that would make each build another one."""
    with writing(path) as file:
        figure.savefig(file, format="svg", metadata={"Date": None})
