"""The state of a training run in one file of plain numbers: written whole or not at all, read without running anything."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

Arrays = dict[str, npt.NDArray[Any]]


def save_state(path: Path, arrays: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Write ``arrays`` and ``about`` (anything JSON holds); a kill or a full disk leaves the file as it was.

    Raises ``OSError`` where it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        save_file({k: np.ascontiguousarray(a) for k, a in arrays.items()}, unfinished, {"about": json.dumps(about)})
        os.replace(unfinished, path)
    except SafetensorError as error:
        raise OSError(f"{path} cannot be written, and stays as it was: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def load_state(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Read a file of :func:`save_state`; raises ``ValueError`` for one that is not."""
    try:
        with safe_open(path, framework="np") as file:
            arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - safe_open is no mapping
            about = json.loads((file.metadata() or {})["about"])
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ValueError(f"{path} is not the state of a run: {error}") from error
    return arrays, about


def with_prefix(prefix: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """The same arrays under names that begin with ``prefix`` and a dot."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def under_prefix(prefix: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """The arrays whose names begin with ``prefix`` and a dot, without it."""
    return {name[len(prefix) + 1 :]: array for name, array in arrays.items() if name.startswith(f"{prefix}.")}


def module_arrays(module: torch.nn.Module) -> Arrays:
    """A module's weights."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()}


def load_module(module: torch.nn.Module, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Give a module the weights of :func:`module_arrays`; raises ``ValueError`` where they do not fit."""
    try:
        module.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})
    except RuntimeError as error:
        raise ValueError(f"weights do not fit this network: {error}") from error


def adam_arrays(optimizer: torch.optim.Optimizer) -> Arrays:
    """The moments and steps of an Adam optimizer."""
    state = optimizer.state_dict()["state"]
    return {f"{i}.{name}": tensor.cpu().numpy().copy() for i, slots in state.items() for name, tensor in slots.items()}


def load_adam(optimizer: torch.optim.Optimizer, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Give an Adam optimizer the moments of :func:`adam_arrays`."""
    slots: dict[int, dict[str, torch.Tensor]] = {}
    for name, array in arrays.items():
        number, _, slot = name.partition(".")
        slots.setdefault(int(number), {})[slot] = torch.from_numpy(np.array(array))
    optimizer.load_state_dict({**optimizer.state_dict(), "state": slots})


def torch_generator() -> Arrays:
    """The state of PyTorch's generator."""
    return {"torch_generator": torch.get_rng_state().numpy().copy()}


def load_torch_generator(arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Set PyTorch's generator to the state of :func:`torch_generator`."""
    torch.set_rng_state(torch.from_numpy(np.array(arrays["torch_generator"])))


def numpy_generator() -> Arrays:
    """The state of NumPy's global generator, which stable-baselines3 draws from."""
    _, keys, at, has_gauss, gauss = np.random.get_state(legacy=True)  # noqa: NPY002
    return {"numpy_keys": np.array(keys), "numpy_at": np.array([at, has_gauss]), "numpy_gauss": np.array([gauss])}


def load_numpy_generator(arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Set NumPy's global generator to the state of :func:`numpy_generator`."""
    at, has_gauss = arrays["numpy_at"].tolist()
    np.random.set_state(("MT19937", arrays["numpy_keys"], at, has_gauss, float(arrays["numpy_gauss"][0])))  # noqa: NPY002
