"""A policy that plays solved rounds out of tables, and asks another where it has none.

Tables are kept as ``.npz`` files of plain numbers, read with ``allow_pickle=False``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary
from zipfile import ZIP_BZIP2, ZipFile

import numpy as np
import numpy.typing as npt

from agents.core.checkpoint import read_about
from agents.core.npz import Arrays, reading
from agents.core.seated import SeatedPolicy
from agents.core.switches import known_to, known_today, variant_then
from agents.tabular.public_tree import NO_BID, Graph, PublicTree, descend
from agents.tabular.suffixes import SuffixGraph, bid_ranks, follow, suffix_graph, suffix_sizes
from perudo_env.engine.actions import CALZA, DUDO, FIRST_BID, PASS
from perudo_env.engine.hands import hand_codes, hand_numbers
from perudo_env.engine.jit import kernel
from perudo_env.engine.observation import Layout
from perudo_env.engine.variant import MAX_FACES, SWITCHES, Variant, as_variant
from perudo_env.game.files import parse_json, writing
from perudo_env.policy import Int8Array, Policy, UniformPolicy

TABLE = "a table of a solved round"
EXACT = Path(__file__).parents[1] / "checkpoints" / "exact"
# switches on which no round depends, beyond its dice; a new switch is taken for one on which it does
_ELSEWHERE = ("starting_dice", "palifico", "max_bid", "dice_counts", "first_player", "rounds")
_ORDINARY = ("raise_rule", "paco_open")  # and those that a palifico round sets aside
CALZA_ID, PASS_ID = int(CALZA), int(PASS)
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")  # of a file's weights
Key = tuple[int, ...]


class RoundTable:
    """The strategies of all seats in one round: a weight per row and hand of the seat.

    Rows are those of the tree, see ``public_tree``, or, where only the last ``recall`` bids are remembered, those of their
    ``suffixes``. ``weights[seat]`` is a flat array, hands next to each other, of numbers that are not negative; a block
    with no positive weight for a hand is a position that the strategy never reaches. Raises ``ValueError`` for arrays
    of a wrong size, and for more than two seats that remember all bids.
    """

    def __init__(
        self,
        tree: PublicTree,
        weights: Sequence[npt.NDArray[Any]],
        bracket: tuple[float, float] | None = None,
        recall: int | None = None,
    ) -> None:
        sizes, wanted = tuple(w.size for w in weights), _sizes(tree, recall)
        if sizes != wanted:
            raise ValueError(
                f"weights of {sizes} numbers do not fit the round {tree.dice} under {tree.variant}: it has {wanted}"
            )
        self.tree, self.weights, self.bracket, self.recall = tree, tuple(weights), bracket, recall
        self.suffixes = None if recall is None else suffix_graph(tree.graph, recall)
        self.ids, self.slots = _bid_places(tree.graph)
        self.key = table_key(tree)

    def locate(self, said: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The standing bid's index and the first row of weights after sequences of bids, each ``(positions,)``; -1 if not of this round.

        ``said`` ``(positions, bids)``: which bids were made, in the order of ``ids``.
        """
        standing, rows = np.empty(len(said), np.int64), np.empty(len(said), np.int64)
        if self.suffixes is None:
            locate(self.tree.graph, said, self.ids, standing, rows)
        else:
            locate_suffixes(self.tree.graph, self.suffixes, said, self.ids, standing, rows)
        return standing, rows

    def save(self, path: Path | str) -> None:
        """Write a compressed ``.npz`` file, which :meth:`load` reads, whole or not at all."""
        t = self.tree
        arrays = {
            **dict(zip(_PLACES, self.weights, strict=False)), "dice": np.array(t.dice), "palifico": np.array(t.palifico),
            "total": np.array(t.total), "variant": np.array(str(t.variant)), "bracket": np.array(self.bracket or (np.nan, np.nan)),
            "recall": np.array(self.recall or 0), "switches": np.array(json.dumps(known_today())),
        }  # fmt: skip
        if len(t.dice) > 2 or t.least_chance:  # files of two seats stay as they were
            arrays |= {"seats": np.array(len(t.dice)), "least_chance": np.array(t.least_chance)}
        # NumPy's own way to compress leaves these files a third larger
        with writing(path) as whole, ZipFile(whole, "w", ZIP_BZIP2) as file:
            for name, array in arrays.items():
                with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)

    @classmethod
    def load(cls, path: Path | str) -> RoundTable:
        """Read a file of :meth:`save`; raises ``ValueError`` for one that is not, without running anything in it."""
        with reading(path, TABLE) as file:
            tree = _tree_in(file)
            recall = int(file.read("recall")) if "recall" in file else 0
            weights = [
                file.read(name, (size,), "uf")
                for name, size in zip(_PLACES, _sizes(tree, recall or None), strict=False)
            ]
            lower, upper = file.read("bracket", (2,), "f").tolist()
        for w in weights:
            if w.dtype.kind == "f" and (w.dtype not in (np.float32, np.float64) or not _are_weights(w)):
                raise ValueError(f"{path} holds weights that are no finite numbers from 0")
        return cls(tree, weights, (lower, upper), recall or None)


def _are_weights(w: npt.NDArray[np.floating[Any]]) -> bool:
    # as float32: the sum over a row's actions is finite then
    return bool(((w >= 0) & (w <= np.finfo(np.float32).max)).all())


def _tree_in(file: Arrays) -> PublicTree:
    dice, palifico, total = file.read("dice", (_seats_in(file),)), file.read("palifico", kinds="b"), file.read("total")
    least_chance = float(file.read("least_chance", kinds="f")) if "least_chance" in file else 0.0
    return PublicTree(_variant_in(file), dice.tolist(), bool(palifico), int(total), least_chance=least_chance)


def _seats_in(file: Arrays) -> int:
    return int(file.read("seats")) if "seats" in file else 2


def _variant_in(file: Arrays) -> Variant:
    """The rules that a round was solved under; at the defaults of switches that came later."""
    about = {"switches": parse_json(file.text("switches"))} if "switches" in file else {}
    return variant_then(file.text("variant"), known_to(about, "it"))


def _sizes(tree: PublicTree, recall: int | None) -> tuple[int, ...]:
    """How many weights each seat has."""
    if recall is not None:
        rows = suffix_sizes(tree.graph, recall).rows
        return tuple(n * hands for n, hands in zip(rows, tree.num_hands, strict=True))
    if len(tree.dice) > 2:
        raise ValueError(f"a table of {tree.dice} dice needs a recall: only two seats remember all bids")
    return tree.num_entries


def _bid_places(graph: Graph) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Action ids of a graph's bids, each after all that it may follow, and the columns of an observation's bids they have."""
    order = np.argsort(bid_ranks(graph), kind="stable")
    ids = graph.action[order[order != NO_BID]]
    return ids, ids - FIRST_BID


def table_key(tree: PublicTree) -> Key:
    """What of a table tells its round from all others under the same rules: the dice of its seats, palifico, full cups."""
    # a right Calza with a full cup gains nothing; without Calza that makes no difference
    full = [int(tree.variant.calza != "off" and d >= tree.variant.starting_dice) for d in tree.dice]
    return (*tree.dice, int(tree.palifico), *full)


def _rules(variant: Variant, palifico: bool, num_seats: int) -> dict[str, Any]:
    """All that a round depends on, but for its dice. Of two seats only one may call Calza, asked apart or not."""
    set_aside = _ELSEWHERE + _ORDINARY if palifico else _ELSEWHERE
    known = {s: getattr(variant, s) for s in SWITCHES if s not in set_aside}
    return known if num_seats > 2 else known | {"calza": variant.calza != "off"}


class Places(NamedTuple):
    """Where rounds stand, a row per observation; seats are the living ones clockwise from the opener, then those out."""

    dice: npt.NDArray[np.int64]  # (batch, num_seats): -1 where hidden
    palifico: npt.NDArray[np.int64]  # (batch,)
    full: npt.NDArray[np.int64]  # (batch, num_seats): a right Calza gains nothing
    own: npt.NDArray[np.int64]  # (batch,): how many living seats after the opener the viewer sits


def round_places(observations: Int8Array, look: Layout, variant: Variant) -> Places:
    """Which rounds are seen, and where their viewers sit in them."""
    alive = look.get(observations, "alive").astype(bool)
    dice = look.get(observations, "dice").sum(axis=2, dtype=np.int64)
    dice = np.where(alive, np.where(dice > 0, dice, -1), 0)
    opener = np.argmax(look.get(observations, "opener"), axis=1)
    clockwise = (opener[:, None] + np.arange(alive.shape[1])) % alive.shape[1]
    before = np.take_along_axis(alive, clockwise, axis=1)
    living = np.argsort(~before, axis=1, kind="stable")  # those out go to the end
    dice = np.take_along_axis(np.take_along_axis(dice, clockwise, axis=1), living, axis=1)
    own = (before & (np.arange(alive.shape[1]) < (-opener % alive.shape[1])[:, None])).sum(axis=1)
    full = ((dice >= variant.starting_dice) & (variant.calza != "off")).astype(np.int64)
    return Places(dice, look.get(observations, "is_palifico")[:, 0].astype(np.int64), full, own)


@kernel
def locate(graph: Graph, said: np.ndarray, ids: np.ndarray, standing: np.ndarray, rows: np.ndarray) -> None:
    """Where sequences of bids lead, see :func:`descend`; ``said`` (positions, bids): which were made, columns in the order of ``ids``."""
    bids = np.zeros(ids.size, np.int64)
    for k in range(standing.size):
        standing[k], rows[k], _ = descend(graph, bids, write_bids(said[k], ids, bids))


@kernel
def locate_suffixes(
    graph: Graph, suffixes: SuffixGraph, said: np.ndarray, ids: np.ndarray, standing: np.ndarray, rows: np.ndarray
) -> None:
    """The same where only the last bids are remembered."""
    bids = np.zeros(ids.size, np.int64)
    for k in range(standing.size):
        node = follow(graph, suffixes, bids, write_bids(said[k], ids, bids))
        standing[k], rows[k] = (suffixes.bid[node], suffixes.row[node]) if node >= 0 else (-1, 0)


@kernel
def write_bids(said: np.ndarray, ids: np.ndarray, bids: np.ndarray) -> int:
    """Write the bids that were made, in order; returns how many."""
    length = 0
    for i in range(ids.size):
        if said[i]:
            bids[length] = ids[i]
            length += 1
    return length


@kernel
def fill_probs(
    graph: Graph, hands: int, weights: np.ndarray, numbers: np.ndarray, standing: np.ndarray, first_rows: np.ndarray,
    window: np.ndarray, asked: bool, rows: np.ndarray, out: np.ndarray, found: np.ndarray,
) -> None:  # fmt: skip
    """Write the probabilities of one seat's positions into the given rows of ``out`` and set ``found`` there.

    ``standing`` and ``first_rows`` as of :func:`locate`, ``numbers`` the hands. If ``asked``, the game asks for Calza
    apart, in the positions of ``window``.
    """
    for k in range(rows.size):
        at, row = standing[k], first_rows[k]
        if at < 0 or numbers[k] < 0:
            continue
        to = out[rows[k]]
        calls = graph.calls[at]
        actions = calls + graph.first[at + 1] - graph.first[at]
        total = 0.0
        for a in range(actions):
            weight = 1.0 if actions == 1 else float(weights[(row + a) * hands + numbers[k]])
            total += weight
            to[a if a < calls else graph.action[graph.raises[graph.first[at] + a - calls]]] = weight
        if asked:
            calza = to[CALZA_ID]
            to[CALZA_ID] = 0
            rest = to.sum()  # not total - calza, which may cancel to almost nothing
            if window[k]:
                to[:] = 0
                to[CALZA_ID], to[PASS_ID] = calza, rest
            total = to.sum()
        if total > 0:
            to /= total
            found[rows[k]] = True
        else:
            to[:] = 0


class TabularPolicy(SeatedPolicy):
    """Plays out of those ``tables`` that hold under its variant, wherever the living seats are at a position of one;
    elsewhere ``fallback``, made for the same table, decides.

    A bid of more dice than are in play is doubted, and so is one that the table leaves out. Where the observation
    does not hold the others' dice, a table is used only if there is no other.
    """

    def __init__(
        self, tables: Iterable[RoundTable], variant: Variant | str, num_seats: int, fallback: Policy | None = None,
        layout: Layout | None = None,
    ) -> None:  # fmt: skip
        super().__init__(variant, num_seats, layout)
        self.tables = {
            t.key: t for t in tables if _fits(t.tree.variant, t.tree.palifico, len(t.tree.dice), self.variant)
        }
        self.fallback: Policy = UniformPolicy() if fallback is None else fallback

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """The tables' probabilities; see :class:`Policy`."""
        self.sight.check(observations, masks)
        out, found = np.zeros(masks.shape), np.zeros(len(masks), np.bool_)
        at = round_places(observations, self.sight.layout, self.variant)
        rounds = np.column_stack([at.dice, at.palifico, at.full])
        kinds, groups = np.unique(rounds, axis=0, return_inverse=True)
        n = at.dice.shape[1]
        for g, kind in enumerate(kinds.tolist()):
            living = sum(d != 0 for d in kind[:n])
            table = self._table((*kind[:living], kind[n], *kind[n + 1 : n + 1 + living]))
            if table is not None:
                self._fill(table, np.flatnonzero(groups.reshape(-1) == g), at.own, observations, masks, out, found)
        # weights on what the table's game allows and this one does not would be a fault of the key
        found &= (out * (masks == 0)).sum(axis=1) == 0
        rest = np.flatnonzero(~found)
        if rest.size:
            out[rest] = self.fallback.probs(observations[rest], masks[rest])
        return out

    def _table(self, key: Key) -> RoundTable | None:
        living = len(key) // 2
        if -1 not in key[:living]:
            return self.tables.get(key)
        # the others' dice are not seen: who has a single table is in its round, who has more cannot tell in which
        if len(self.tables) != 1:
            return None
        ((known, table),) = self.tables.items()
        same = len(known) == len(key) and known[living:] == key[living:]
        return table if same and all(a in (-1, b) for a, b in zip(key[:living], known, strict=False)) else None

    def _fill(
        self, table: RoundTable, rows: npt.NDArray[np.int64], places: npt.NDArray[np.int64], observations: Int8Array,
        masks: Int8Array, out: npt.NDArray[np.float64], found: npt.NDArray[np.bool_],
    ) -> None:  # fmt: skip
        tree, seen, look = table.tree, observations[rows], self.sight.layout
        said = look.get(seen, "bids").any(axis=3).reshape(len(rows), -1)
        standing = look.get(seen, "standing").reshape(len(rows), -1)
        bid = np.where(standing.any(axis=1), np.argmax(standing, axis=1), -1)
        above = (bid >= MAX_FACES * sum(tree.dice)) | np.isin(bid, [b - FIRST_BID for b in tree.left_out])
        out[rows[above], np.where(masks[rows[above], DUDO] == 1, DUDO, PASS)] = 1
        found[rows[above]] = True
        # a bid of no place in the tree, later undercut by Pacos: the table knows nothing of it
        strange = said.sum(axis=1) != said[:, table.slots].sum(axis=1)
        codes = hand_codes(look.get(seen, "hand").sum(axis=2))
        window = look.get(seen, "calza_window")[:, 0] == 1
        asked = self.variant.calza == "anyone"
        for seat in range(len(tree.dice)):
            chosen = np.flatnonzero((places[rows] == seat) & ~above & ~strange)
            fill_probs(
                tree.graph, tree.num_hands[seat], table.weights[seat], hand_numbers(tree.dice[seat], tree.variant.num_faces)[codes[chosen]],
                *table.locate(said[chosen][:, table.slots]), window[chosen], asked, rows[chosen], out, found,
            )  # fmt: skip


def load_tables(folder: Path | str = EXACT, variant: Variant | None = None) -> list[RoundTable]:
    """The tables of a folder and of those inside it; with ``variant``, only those that may hold under its switches.

    Raises ``ValueError`` for a folder without any or a file that is no table.
    """
    paths = sorted(Path(folder).rglob("*.npz"))
    if not paths:
        raise ValueError(f"{folder} holds no .npz tables: python -m train ship-exact makes them")
    return [_shared(p) for p in paths if variant is None or _holds(p, variant)]


_in_use: WeakValueDictionary[tuple[Path, int, int], RoundTable] = WeakValueDictionary()


def _shared(path: Path) -> RoundTable:
    """The table of a file, the same for all policies that play it: an agent of many variants reads each file once."""
    about = path.stat()
    key = path.resolve(), about.st_mtime_ns, about.st_size
    table = _in_use.get(key)
    if table is None:
        table = _in_use[key] = RoundTable.load(path)
    return table


def _holds(path: Path, variant: Variant) -> bool:
    """Whether the table of a file may hold under the switches of a variant, without reading its weights."""
    with reading(path, TABLE) as file:
        solved, palifico, num_seats = _variant_in(file), bool(file.read("palifico", kinds="b")), _seats_in(file)
    return _fits(solved, palifico, num_seats, variant)


def _fits(solved: Variant, palifico: bool, num_seats: int, variant: Variant) -> bool:
    """Whether a round solved under a variant is one of another variant too, palifico or not."""
    return _rules(solved, palifico, num_seats) == _rules(variant, palifico, num_seats)


def load_policy(
    folder: Path | str, variant: Variant | str, num_seats: int, layout: Layout | None = None
) -> TabularPolicy:
    """The tabular agent of a checkpoint folder, as the registry makes it.

    ``policy.json`` names who decides where the tables do not: a scripted agent, or a checkpoint folder inside this one. With
    ``"exact": true`` the tables of the shipped exact agent are played besides its own. Raises ``ValueError`` as
    :func:`load_tables`.
    """
    registry: Any = import_module("agents")  # here: it imports this module
    folder, about = Path(folder), read_about(Path(folder))
    fallback = str(about.get("fallback"))
    # a folder must not have code of its choice imported, nor lead out of itself
    inside = (folder / fallback).resolve().parent == folder.resolve() and (folder / fallback / "policy.json").is_file()
    if not inside and fallback not in registry.BASELINES:
        raise ValueError(
            f"{folder} has fallback {fallback!r}: one of {', '.join(registry.BASELINES)} or a checkpoint folder inside belongs there"
        )
    make, name = (registry.load, folder / fallback) if inside else (registry.make, fallback)
    rest = make(name, variant, num_seats, layout)
    folders = [EXACT] if about.get("exact") else []
    if not folders or any(folder.rglob("*.npz")):
        folders.append(folder)
    tables = [t for f in folders for t in load_tables(f, as_variant(variant))]
    return TabularPolicy(tables, variant, num_seats, rest, layout)
