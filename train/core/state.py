"""The state of a training run in one file of plain numbers: written whole or not at all, read without running anything."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from agents.learned.neural import are_finite
from perudo_env.engine.variant import is_whole
from perudo_env.game.files import parse_json

Arrays = dict[str, npt.NDArray[Any]]
_KEY, _KEY_WITHOUT_DIGEST = "state", "about"  # states of earlier versions have the second


def save_state(path: Path, arrays: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Write ``arrays`` and ``about`` (anything JSON holds); a kill or a full disk leaves the file as it was.

    Raises ``OSError`` where it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        whole = {k: np.ascontiguousarray(a) for k, a in arrays.items()}
        told = json.dumps({"sha256": digest(whole, about), "about": about})
        save_file(whole, unfinished, {_KEY: told})
        os.replace(unfinished, path)
    except SafetensorError as error:
        raise OSError(f"{path} cannot be written, and stays as it was: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def load_state(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Read a file of :func:`save_state`; raises ``ValueError`` for one that is not, or is no longer what was written."""
    try:
        with safe_open(path, framework="np") as file:
            arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - safe_open is no mapping
            ((key, text),) = (file.metadata() or {}).items()
        told = parse_json(text)
        about = told["about"] if key == _KEY else told
        if key not in (_KEY, _KEY_WITHOUT_DIGEST) or not isinstance(about, dict):
            raise ValueError(f"it says {key!r}, not {_KEY!r}")
        if key == _KEY and told["sha256"] != digest(arrays, about):
            raise ValueError("it was changed since it was written: its SHA-256 differs")
    except (OSError, SafetensorError, LookupError, TypeError, ValueError, MemoryError, AttributeError) as error:
        raise ValueError(f"{path} is not the state of a run: {error}") from error
    return arrays, about


def digest(arrays: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> str:
    """The SHA-256 of all names, types, shapes and numbers, and of what is told about them."""
    found = sha256(json.dumps(about, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype.str} {array.shape};".encode())
        found.update(array.reshape(-1).view(np.uint8).data)
    return found.hexdigest()


def take(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, like: npt.NDArray[Any], least: Any = None, most: Any = None
) -> npt.NDArray[Any]:
    """A copy of an array of a state; raises ``ValueError`` unless its type and shape are those of ``like``, and its numbers
    from ``least`` to ``most``."""
    array = arrays[name]
    if array.dtype != like.dtype or array.shape != like.shape:
        raise ValueError(
            f"{name} does not fit: it has shape {array.shape} and type {array.dtype}, not {like.shape} and {like.dtype}"
        )
    if (least is not None and (array < least).any()) or (most is not None and (array > most).any()):
        raise ValueError(f"{name} should hold numbers from {least} to {most}")
    return array.copy()


def take_weights(arrays: Mapping[str, npt.NDArray[Any]], like: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Copies of a network's weights; raises ``ValueError`` unless they fit those it has, and are finite."""
    if arrays.keys() != like.keys():
        raise ValueError(
            f"weights do not fit this network: {', '.join(arrays.keys() ^ like.keys())} too many or missing"
        )
    for name, array in arrays.items():
        if not are_finite(array):
            raise ValueError(f"the weights {name} are not all finite numbers")
    return {name: take(arrays, name, there) for name, there in like.items()}


def take_count(about: Mapping[str, Any], name: str) -> int:
    """A count that is told about a state; raises ``ValueError`` for what is none."""
    count = about[name]
    if not is_whole(count) or not 0 <= count < 2**53:
        raise ValueError(f"{name} = {str(count)[:40]} is not a count")
    return int(count)


def with_prefix(prefix: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """The same arrays under names that begin with ``prefix`` and a dot."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def prefixed(parts: Mapping[str, Mapping[str, npt.NDArray[Any]]]) -> Arrays:
    """The arrays of several parts, each under its name."""
    return {key: array for name, arrays in parts.items() for key, array in with_prefix(name, arrays).items()}


def under_prefix(prefix: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """The arrays whose names begin with ``prefix`` and a dot, without it."""
    return {name[len(prefix) + 1 :]: array for name, array in arrays.items() if name.startswith(f"{prefix}.")}


def weights_hash(weights: Mapping[str, npt.NDArray[Any]]) -> str:
    """A short digest of a network's weights."""
    digest = sha256()
    for name in sorted(weights):
        digest.update(name.encode() + np.ascontiguousarray(weights[name]).tobytes())
    return digest.hexdigest()[:12]


def module_arrays(module: torch.nn.Module) -> Arrays:
    """A module's weights."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()}


def load_module(module: torch.nn.Module, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Give a module the weights of :func:`module_arrays`; raises ``ValueError`` where they do not fit, or are not finite."""
    weights = take_weights(arrays, module_arrays(module))
    module.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})


def adam_arrays(optimizer: torch.optim.Optimizer) -> Arrays:
    """The moments and steps of an Adam optimizer."""
    state = optimizer.state_dict()["state"]
    return {f"{i}.{name}": tensor.cpu().numpy().copy() for i, slots in state.items() for name, tensor in slots.items()}


def load_adam(optimizer: torch.optim.Optimizer, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Give an Adam optimizer the moments of :func:`adam_arrays`; raises ``ValueError`` where they do not fit its weights.

    Kernels that update all weights at once trust the shapes.
    """
    weights = [w for group in optimizer.param_groups for w in group["params"]]
    slots: dict[int, dict[str, torch.Tensor]] = {}
    for name, array in arrays.items():
        number, _, slot = name.partition(".")
        if number not in map(str, range(len(weights))) or slot not in ("step", "exp_avg", "exp_avg_sq"):
            raise ValueError(f"{name} is none of this optimizer's: it has {len(weights)} arrays of weights")
        shape = () if slot == "step" else tuple(weights[int(number)].shape)
        own = np.array(array)
        if slot == "step" and own.shape == (1,):  # safetensors keeps a single number as an array of one
            own = own.reshape(())
        if own.shape != shape or own.dtype != np.float32 or not are_finite(own):
            raise ValueError(f"{name} does not fit: it should hold finite numbers, float32 {shape}")
        if slot != "exp_avg" and (array < 0).any():
            raise ValueError(f"{name} holds a number below 0")
        slots.setdefault(int(number), {})[slot] = torch.from_numpy(own)
    if any(len(found) != 3 for found in slots.values()) or len(slots) not in (0, len(weights)):
        raise ValueError("the state of the optimizer is not whole")
    optimizer.load_state_dict({**optimizer.state_dict(), "state": slots})


def torch_generator() -> Arrays:
    """The state of PyTorch's generator."""
    return {"torch_generator": torch.get_rng_state().numpy().copy()}


def load_torch_generator(arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Set PyTorch's generator to the state of :func:`torch_generator`; raises ``ValueError`` for what is none."""
    try:
        torch.set_rng_state(torch.from_numpy(np.array(arrays["torch_generator"])))
    except RuntimeError as error:
        raise ValueError(f"torch_generator is no state of PyTorch's generator: {error}") from error


def numpy_generator() -> Arrays:
    """The state of NumPy's global generator, which stable-baselines3 draws from."""
    _, keys, at, has_gauss, gauss = np.random.get_state(legacy=True)  # noqa: NPY002
    return {"numpy_keys": np.array(keys), "numpy_at": np.array([at, has_gauss]), "numpy_gauss": np.array([gauss])}


def load_numpy_generator(arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Set NumPy's global generator to the state of :func:`numpy_generator`; raises ``ValueError`` for what is none."""
    now = numpy_generator()
    keys, at, gauss = (take(arrays, name, now[name]) for name in ("numpy_keys", "numpy_at", "numpy_gauss"))
    # NumPy takes any place in its table of numbers, and reads there
    if not 0 <= at[0] <= len(keys) or at[1] not in (0, 1):
        raise ValueError(f"numpy_at = {at.tolist()} is no place in a table of {len(keys)} numbers")
    np.random.set_state(("MT19937", keys, *at.tolist(), float(gauss[0])))  # noqa: NPY002
