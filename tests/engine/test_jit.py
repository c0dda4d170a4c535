"""The kernels with their compiler and without, and where they are kept."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from perudo_env.engine import jit
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


# ---------------------------------------------------------------------------------------------- where kernels are kept

SOURCE = """
from perudo_env.engine.jit import kernel

@kernel
def answer(n: int) -> int:
    return n + {}
"""


def imported(path: Path, number: int) -> Any:
    """The kernel of a module that is written to ``path`` and imported, as another process would."""
    path.write_text(SOURCE.format(number))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    jit._content.cache_clear()
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module.answer


def code_of(answer: Any) -> list[Path]:
    """The files of a kernel's code on disk."""
    return sorted(Path(answer._cache.cache_path).glob("*.nbc"))


@pytest.fixture
def read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module's path where neither its folder nor the user's cache can be made: not by root either, for a file is in the way."""
    package, temporary = tmp_path / "package", tmp_path / "temporary"
    package.mkdir()
    temporary.mkdir()
    (package / "__pycache__").touch()
    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(package / "__pycache__"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    jit._say.cache_clear()
    return package / "module.py"


def test_in_read_only_places_kernels_are_kept_in_a_temporary_folder(
    read_only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (2, 2, 3):
        answer = imported(read_only, number)
        assert answer(40) == 40 + number
    folder = Path(tempfile.gettempdir()) / f"perudo_env-{os.getuid()}"
    assert folder in code_of(answer)[0].parents
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not numba.config.CACHE_DIR
    (line,) = capsys.readouterr().err.splitlines()
    assert str(folder) in line


@pytest.mark.parametrize("way", ["file", "open to all", "link"])
def test_with_no_folder_that_is_safe_kernels_are_kept_nowhere(
    read_only: Path, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(tempfile.gettempdir()) / f"perudo_env-{os.getuid()}"
    if way == "file":
        folder.touch()
    elif way == "open to all":
        folder.mkdir()
        folder.chmod(0o777)
    else:
        folder.symlink_to(read_only.parent)
    assert imported(read_only, 2)(40) == 42
    assert imported(read_only, 3)(40) == 43
    assert not [path for path in read_only.parents[1].rglob("*") if path.suffix in (".nbc", ".nbi")]
    (line,) = capsys.readouterr().err.splitlines()
    assert "every process compiles" in line


def test_a_folder_that_fails_later_costs_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    jit._say.cache_clear()
    answer = imported(tmp_path / "module.py", 2)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(IndexDataCacheFile, "_save_data", full)
        assert answer(40) == 42
    for suffix in ("nbi", "nbc"):
        assert imported(tmp_path / "module.py", 2)(40) == 42
        (file,) = (tmp_path / "kept").rglob(f"*.{suffix}")
        file.write_bytes(file.read_bytes()[:5])
    assert imported(tmp_path / "module.py", 2)(40) == 42
    again = imported(tmp_path / "module.py", 2)
    assert again(40) == 42
    assert sum(again.stats.cache_hits.values()) == 1, "damaged files are written anew"


def test_two_processes_compile_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between numba's index and the code, another process must not take older code for the new one."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    assert imported(tmp_path / "module.py", 2)(40) == 42
    save, heard = IndexDataCacheFile._save_data, []

    def slowly(self: Any, name: str, data: Any) -> None:
        if not heard:
            heard.append(0)
            heard[0] = imported(tmp_path / "module.py", 3)(40)
        save(self, name, data)

    monkeypatch.setattr(IndexDataCacheFile, "_save_data", slowly)
    assert imported(tmp_path / "module.py", 3)(40) == 43
    assert heard == [43]
