"""The kernels with their compiler and without, and where they are kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.jit_walk import walk


def test_the_compiler_changes_nothing(tmp_path: Path) -> None:
    """All presets at 2 to 8 seats, agents, the critic's inputs and the solvers; an overflow would end the other process."""
    subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.jit_walk", tmp_path / "walk.npz"],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, check=True, timeout=300,
    )  # fmt: skip
    plain, names = np.load(tmp_path / "walk.npz"), []
    for name, array in walk():
        # a sum of floats may be taken in another order
        np.testing.assert_allclose(plain[name], array, rtol=1e-6, atol=1e-12, err_msg=name)
        names.append(name)
    assert names == plain.files
