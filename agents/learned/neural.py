"""Learned agents as plain NumPy: a masked multi-layer perceptron, and the checkpoint folder that holds one.

A checkpoint folder has ``policy.json`` (what it is, for which tables, how it was made), ``weights.safetensors`` and
``README.md`` (the card); ``agents.core.checkpoint`` reads and writes them. Playing one needs no torch, and loading one executes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.core.checkpoint import WEIGHTS, read_about, read_weights, write_checkpoint
from agents.core.forgetful import remembering
from agents.core.reading import chances_at
from agents.core.seated import SeatedPolicy, Sight
from agents.core.switches import Known, known_to, known_today, num_bits, unknown_in, variant_then, widened
from agents.learned import features
from perudo_env.engine.actions import num_actions
from perudo_env.engine.observation import Layout, table_layout
from perudo_env.engine.state import MEMORIES
from perudo_env.engine.variant import Variant, as_variant, shown
from perudo_env.policy import Int8Array, Policy

Float32Array = npt.NDArray[np.float32]
KIND, SCHEMA = "mlp", 2
LOGIT_OF_ILLEGAL = -1e9


def network_inputs(observations: Int8Array, at: Sight) -> Float32Array:
    """What a network is fed at a table, float32 ``(batch, input_size)``: the observation, and for each bid the chances
    that it holds and that it is exact, given own dice."""
    chances = chances_at(observations, at)
    batch = len(observations)
    parts = observations, chances.holds.reshape(batch, -1), chances.exactly.reshape(batch, -1)
    return np.concatenate(parts, axis=1, dtype=np.float32)


def input_size(lay: Layout) -> int:
    """The width of :func:`network_inputs` for a layout."""
    return lay.size + 12 * lay.max_quantity


class Network:
    """A ReLU network in NumPy.

    ``weights`` holds ``layers.N.weight`` ``(out, in)`` and ``layers.N.bias`` ``(out,)``, as torch lays them out.
    """

    def __init__(self, weights: Mapping[str, npt.NDArray[Any]]) -> None:
        depth = len(weights) // 2
        self.layers = [
            (
                np.ascontiguousarray(weights[f"layers.{i}.weight"].T, np.float32),
                np.asarray(weights[f"layers.{i}.bias"], np.float32),
            )
            for i in range(depth)
        ]

    def __call__(self, inputs: Float32Array) -> Float32Array:
        """Logits, float32 ``(batch, outputs)``."""
        x = inputs
        for i, (weight, bias) in enumerate(self.layers):
            x = x @ weight + bias
            if i < len(self.layers) - 1:
                np.maximum(x, 0, out=x)
        return x


def softmax(logits: Float32Array, sizes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Probabilities in proportion to ``sizes`` times the exponential of ``logits``, ``(batch, n)``; 0 where a size is 0."""
    masked = np.where(sizes > 0, logits, LOGIT_OF_ILLEGAL).astype(np.float64)
    weights = sizes * np.exp(masked - masked.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


class NetworkPolicy(SeatedPolicy):
    """A base for policies that ask a network, one of their own made of ``weights`` or one that many share."""

    def __init__(
        self, weights: Mapping[str, npt.NDArray[Any]] | Network, variant: Variant | str, num_seats: int,
        layout: Layout | None = None,
    ) -> None:  # fmt: skip
        super().__init__(variant, num_seats, layout)
        self.network = weights if isinstance(weights, Network) else Network(weights)


class MLPPolicy(NetworkPolicy):
    """A network from :func:`network_inputs` to a logit per action; plays its masked softmax."""

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """The masked softmax of the logits."""
        self.sight.check(observations, masks)
        return softmax(self.network(network_inputs(observations, self.sight)), masks)


class RelativePolicy(NetworkPolicy):
    """A network from the inputs of ``agents.learned.features`` to a logit per cell; one network for tables of every size."""

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """The softmax over cells, each cell's share spread over its legal actions."""
        encoded = features.encode(observations, masks, self.sight)
        out = np.empty(masks.shape)
        features.spread_rows(
            softmax(self.network(encoded.inputs), encoded.sizes), encoded.sizes, encoded.cells, masks, out
        )
        return out


INPUTS: dict[str, type[MLPPolicy] | type[RelativePolicy]] = {"observation": MLPPolicy, "relative": RelativePolicy}


class _Shape(NamedTuple):
    """What a network is fed at a table, and answers."""

    digest: str  # of the names and shapes of its inputs
    num_inputs: int
    switches_at: int  # where among them the switches begin
    num_outputs: int


def _shape_of(inputs: str, variant: Variant, num_seats: int, known: Known, pad_to: Layout | None = None) -> _Shape:
    """The shape of a network that knows these switches."""
    bits, later = num_bits(known), num_bits(known_today()) - num_bits(known)
    if inputs == "relative":
        digest = features.hash_of_inputs(bits)
        return _Shape(digest, features.NUM_INPUTS - later, features.SWITCHES_AT, features.NUM_CELLS)
    lay = table_layout(variant, num_seats, pad_to)
    digest = sha256(repr({**lay.shapes, "switches": (bits,)}).encode()).hexdigest()[:12]
    return _Shape(digest, input_size(lay) - later, lay.slices["switches"].start, num_actions(lay.max_quantity))


def save_policy(
    folder: Path, weights: Mapping[str, npt.NDArray[Any]], variants: Variant | Sequence[Variant], seats: int | Sequence[int],
    made: Mapping[str, Any], card: str, *, inputs: str = "observation",
) -> None:  # fmt: skip
    """Write a checkpoint folder for tables of ``variants`` and ``seats``; see ``agents.core.checkpoint`` for what a kill leaves.

    ``made`` tells how the agent came to be. A network of the observation itself plays tables of one size only.
    """
    variants = [variants] if isinstance(variants, Variant) else list(variants)
    seats = [seats] if isinstance(seats, int) else list(seats)
    about = {
        "kind": KIND,
        "schema": SCHEMA,
        "inputs": inputs,
        "variants": [str(v) for v in variants],
        "seats": seats,
        "switches": known_today(),
        "memory": "perfect",
        "layout": _shape_of(inputs, variants[0], seats[0], known_today()).digest,
        **made,
    }
    write_checkpoint(folder, save({name: np.ascontiguousarray(array) for name, array in weights.items()}), about, card)


def load_policy(folder: Path, variant: Variant | str, num_seats: int, layout: Layout | None = None) -> Policy:
    """The network in a checkpoint folder, for a table of ``num_seats``, whose observations may be padded to a ``layout``.

    A checkpoint folder inside is a specialist: the first, by name, that was trained for the table plays there instead.
    Raises ``ValueError`` for a folder of another schema, variant, table or observation layout, and for files that are not
    what they should be; nothing in them is executed.
    """
    variant = as_variant(variant)
    for specialist in (p.parent for p in sorted(folder.glob("*/policy.json"))):
        if _trained_for(specialist, read_about(specialist), variant, num_seats):
            return _read(specialist, variant, num_seats, layout)
    return _read(folder, variant, num_seats, layout)


def _read(folder: Path, variant: Variant, num_seats: int, layout: Layout | None) -> Policy:
    about = read_about(folder)
    if about.get("schema") != SCHEMA:
        raise ValueError(f"{folder} has schema {about.get('schema')!r}: this version reads {SCHEMA}")
    inputs = about.get("inputs")
    if not isinstance(inputs, str) or inputs not in INPUTS:
        raise ValueError(f"{folder} has inputs {inputs!r}: this version knows {', '.join(INPUTS)}")
    known = known_to(about, folder)
    if unknown_in(variant, known):
        raise ValueError(
            f"{folder} was trained before there was {', '.join(unknown_in(variant, known))}: it plays without"
        )
    if not _trained_for(folder, about, variant, num_seats):
        trained, seats = about["variants"], about["seats"]
        raise ValueError(
            f"{folder} was trained for {', '.join(trained)} with {seats} seats, not for {variant} with {num_seats}"
        )
    shape = _shape_of(inputs, variant, num_seats, known, layout)
    if about.get("layout") != shape.digest:
        raise ValueError(
            f"{folder} was trained on observation layout {about.get('layout')!r}; this version has {shape.digest!r}"
        )
    content, path = read_weights(folder, about), folder / WEIGHTS
    try:
        weights = load(content)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a safetensors file that can be read: {error}") from error
    _check_shapes(path, weights, shape.num_inputs, shape.num_outputs)
    weights["layers.0.weight"] = widened(weights["layers.0.weight"], shape.switches_at, known)
    policy = INPUTS[inputs](weights, variant, num_seats, layout)
    memory = about.get("memory", "none")  # what is older than the word was trained without
    if memory not in MEMORIES:
        raise ValueError(f"{folder} has memory {shown(memory)}: one of {', '.join(MEMORIES)} belongs there")
    # relative inputs hold counts, known or assumed; a network of the observation has no weights for what it never saw
    return remembering(policy, variant, num_seats, layout, memory) if inputs == "observation" else policy


def _trained_for(folder: Path, about: Mapping[str, Any], variant: Variant, num_seats: int) -> bool:
    variants, seats = _list_of(folder, about, "variants", str), _list_of(folder, about, "seats", int)
    known = known_to(about, folder)
    return num_seats in seats and any(variant == variant_then(text, known) for text in variants)


def _list_of(folder: Path, about: Mapping[str, Any], key: str, kind: type) -> list[Any]:
    found = about.get(key)
    if not isinstance(found, list) or not all(isinstance(x, kind) for x in found):
        raise ValueError(f"{folder} has {key} {found!r}: a list of {kind.__name__} belongs there")
    return found


def are_finite(numbers: npt.NDArray[Any]) -> bool:
    """Whether all are finite floating-point numbers, also as float32, in which networks compute."""
    most = np.finfo(np.float32).max
    return numbers.dtype.kind == "f" and bool(((numbers >= -most) & (numbers <= most)).all())


def _check_shapes(path: Path, weights: Mapping[str, npt.NDArray[Any]], inputs: int, outputs: int) -> None:
    width = inputs
    depth = len(weights) // 2
    for i in range(depth):
        weight, bias = weights.get(f"layers.{i}.weight"), weights.get(f"layers.{i}.bias")
        if (
            weight is None
            or bias is None
            or {weight.dtype.kind, bias.dtype.kind} != {"f"}
            or weight.ndim != 2
            or weight.shape[1] != width
            or bias.shape != weight.shape[:1]
        ):
            raise ValueError(
                f"{path}: layer {i} is missing, is not of floating-point numbers, or does not take {width} inputs"
            )
        if not len(bias):
            raise ValueError(f"{path}: layer {i} has no units")
        if not (are_finite(weight) and are_finite(bias)):
            raise ValueError(f"{path}: layer {i} holds numbers that are not finite, or not as float32")
        width = len(bias)
    if len(weights) != 2 * depth:
        raise ValueError(
            f"{path} holds {len(weights)} arrays: a weight and a bias for each of {depth} layers belong there"
        )
    if depth == 0 or width != outputs:
        raise ValueError(f"{path}: the last layer gives {width} logits, not {outputs}")
