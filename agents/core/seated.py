"""A policy's table: its variant, its seats, and where the parts of an observation lie that it is shown there."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perudo_env.engine.actions import FIRST_BID, PACO, face_of, num_actions, quantity_of
from perudo_env.engine.observation import LAYOUT, Layout, table_layout
from perudo_env.engine.rules import HALVED, rank_of
from perudo_env.engine.variant import MAX_FACES, Variant, as_variant, switch_code, table_size
from perudo_env.policy import SampledPolicy


class Sight(NamedTuple):
    """How the observations of a table are read; kernels take it as ``*sight.places``."""

    layout: Layout
    places: tuple[npt.NDArray[np.int64], int, int, npt.NDArray[np.int64]]
    """Where each block of ``LAYOUT`` begins, the layout's seats and quantities, and its bids, from 0, in legal order."""

    def check(self, observations: npt.NDArray[Any], masks: npt.NDArray[Any] | None = None) -> None:
        """Raise ``ValueError`` for observations ``(batch, size)``, or masks, of another width."""
        lay, widths = self.layout, [observations.shape[-1]]
        wanted = [lay.size, num_actions(lay.max_quantity)]
        if masks is not None:
            widths.append(masks.shape[-1])
        if widths != wanted[: len(widths)]:
            raise ValueError(
                f"observations and masks of widths {widths} are not those of {lay.num_seats} seats and quantities to "
                f"{lay.max_quantity}, {wanted}, which the policy was made for: make it for their table, or with their layout"
            )


@lru_cache(1024)
def sight(variant: Variant, num_seats: int, layout: Layout | None = None) -> Sight:
    """How observations of a table of ``num_seats`` are read, or those padded to a larger ``layout``.

    Raises ``ValueError`` for a layout that is too small.
    """
    lay = table_layout(variant, num_seats, layout)
    paco_bids = switch_code("paco_bids", variant.paco_bids)
    heights = [_height(FIRST_BID + bid, paco_bids) for bid in range(MAX_FACES * lay.max_quantity)]
    starts = np.array([lay.slices[block.name].start for block in LAYOUT])
    return Sight(lay, (starts, lay.num_seats, lay.max_quantity, np.argsort(heights)))


def _height(bid: int, paco_bids: int) -> int:
    """A number that rises along every legal sequence of bids (halved: p Pacos stand between 2p sixes and 2p + 1 twos)."""
    quantity, face = quantity_of(bid), face_of(bid)
    if face == PACO and paco_bids == HALVED:
        return int(2 * quantity * (MAX_FACES + 2) + MAX_FACES + 1)
    return int(quantity * (MAX_FACES + 2) + rank_of(face, paco_bids))


class SeatedPolicy(SampledPolicy):
    """A base for policies that are made for a table, and need to know it.

    Observations may be padded to a larger ``layout`` (``Batch(pad_to=...)``): the policy is then made for that layout.
    """

    def __init__(self, variant: Variant | str, num_seats: int, layout: Layout | None = None) -> None:
        self.variant, self.num_seats = as_variant(variant), table_size(num_seats)
        self.sight = sight(self.variant, self.num_seats, layout)
