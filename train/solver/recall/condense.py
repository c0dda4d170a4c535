"""The agent that ships, made of a teacher's tables and a network: each table in a few hundred kilobytes.

    python -m train condense runs/teacher runs/duel-distilled/checkpoint agents/checkpoints/duel --only classic pascal

Weights become whole numbers up to ``--levels``, so that nothing less likely than 1 / (2 levels) of the likeliest action is
played, and what is then never reached is left out. Where no table holds, the exact agent's do, or else the network plays.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from rich.console import Console
from tyro.conf import Positional

from agents.core.checkpoint import read_about
from agents.tabular.policy import RoundTable
from train.core.progress import progress
from train.core.run import provenance
from train.solver.exact.payoffs import check_numbers
from train.solver.exact.rounding import rounded
from train.solver.recall.solve import write_card


@dataclass(frozen=True)
class CondenseOptions:
    """What ships."""

    teacher: Positional[Path]
    """The teacher's checkpoint."""
    network: Positional[Path]
    """A checkpoint that plays where there is no table."""
    out: Positional[Path]
    """The folder to write."""
    only: tuple[str, ...] = ()
    """The teacher's folders of tables; none: those of the exact agent alone."""
    levels: int = 7
    """Weights are whole numbers up to this."""


def condense(o: CondenseOptions) -> int:
    """Write the folder; returns the bytes of its tables. Raises ``ValueError`` for what is not there."""
    if o.out.resolve() == o.teacher.resolve():
        raise ValueError(f"{o.out} is the teacher itself, whose tables would be lost: name another folder")
    check_numbers(1, 2**16 - 1, levels=o.levels)
    read_about(o.network)
    what = read_about(o.teacher).get("what")
    found = {name: sorted((o.teacher / name).glob("*.npz")) for name in o.only}
    empty = [name for name, paths in found.items() if not paths]
    if empty:
        raise ValueError(
            f"{o.teacher} has no tables in {', '.join(empty)}: its folders are {', '.join(sorted(p.name for p in o.teacher.iterdir() if p.is_dir()))}"
        )
    size = 0
    with progress("tables", sum(map(len, found.values())), Console(stderr=True)) as advance:
        for path in chain(*found.values()):
            to = o.out / path.parent.name / path.name
            to.parent.mkdir(parents=True, exist_ok=True)
            rounded(RoundTable.load(path), o.levels).save(to)
            size += to.stat().st_size
            advance(1)
    add_network(o.out, o.network, what)
    return size


def add_network(folder: Path, network: Path, what: str | None) -> None:
    """Make an agent of a folder of tables: the exact agent's besides them, and a copy of ``network`` where none holds."""
    shutil.copytree(
        network, folder / "network", dirs_exist_ok=True, ignore=shutil.ignore_patterns("training.safetensors")
    )
    write_card(folder, {"kind": "tabular", "fallback": "network", "exact": True, "what": what, **provenance()})


def run(options: CondenseOptions) -> None:
    """Make the folder; raises ``ValueError`` for what is not there."""
    print(f"{condense(options) / 2**20:.1f} MB of tables in {options.out}")
