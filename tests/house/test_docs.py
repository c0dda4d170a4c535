"""The documentation: its code and commands run, its links lead somewhere, its generated parts are up to date, and the site builds."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.test_house import ROOT, repository_files
from tools import tutorials
from tools.readme import README, filled

DOCS = ROOT / "docs"
PAGES = [p for p in repository_files() if p.suffix == ".md" and (p.parent == ROOT or DOCS in p.parents)]
MOST_BYTES = 10**6
"""Of a file in docs/: what a command makes again is no source."""
QUICK = [
    README,
    *(DOCS / "start" / f"{name}.md" for name in ("install", "first-game", "first-agent", "first-evaluation")),
]
SLOW = [DOCS / f"{name}.md" for name in ("rules", "play", "training", "evaluation", "results", "fr/jouer")]
WITH_CODE = [*QUICK, *(DOCS / f"{name}.md" for name in ("environment", "doors", "rules", "agents"))]
# How a command is made short enough for a test.
SHORTER = {
    "arena": ["--games", "20"],
    "tournament": ["--smoke", "--workers", "1"],
    "sb3": ["ppo.total_decisions=2048", "--smoke"],
    "compare": ["--smoke"],
    "ppo": ["--smoke"],
    "distil": ["--smoke"],
    "exact": ["--seconds", "1"],
    "numbers": ["--show"],
    "exploitability": ["--dice", "1", "1"],
    "local-best-response": ["--games", "2", "--effort.raises", "2", "--effort.samples", "2", "--dice", "1", "1", "1"],
    "exploiter": ["--decisions", "50", "--games", "6", "--settings", "play.tables=8", "evaluation.games=4"],
    "benchmark": ["--smoke", "--workers", "1"],
    "terminal": ["--help"],
    "score": ["--help"],
}
DECISIONS = ("200_000", "2_048")
"""How long a script of the pages trains, there and here."""


def blocks(page: Path) -> list[str]:
    """The Python blocks of a page."""
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def commands(page: Path) -> list[str]:
    """The Python commands of a page in their order, without those that wait for a file of the reader's."""
    found = re.findall(r"^(python (?:-m )?\S.*?)\s*(?:#.*)?$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [command for command in found if "FILE" not in command]


def files(*pages: Path) -> dict[str, str]:
    """Blocks whose first line names a file are that file, for the commands."""
    named = [
        (match[1], block) for page in pages for block in blocks(page) if (match := re.match(r"# (\w+\.py)\n", block))
    ]
    return {name: block.replace(*DECISIONS) for name, block in named}


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda p: p.stem)
def test_code_blocks(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    assert found or page in QUICK
    for code in found:
        if not re.match(r"# \w+\.py\n", code):
            exec(compile(code, str(page), "exec"), {"__name__": "page"})


def run_all(page: Path, folder: Path) -> None:
    """Run the commands of a page as a reader would: in one folder, one after the other, with the files of the start."""
    for name, block in files(*QUICK).items():
        (folder / name).write_text(block, encoding="utf-8")
    for command in commands(page):
        _, *words = [str(ROOT / w) if w.startswith("configs/") else w for w in shlex.split(command)]
        shorter = SHORTER.get(words[2], []) if words[0] == "-m" else []
        done = subprocess.run(
            [sys.executable, *words, *shorter], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert "Traceback" not in done.stderr, command


@pytest.mark.parametrize("page", QUICK, ids=lambda p: p.stem)
def test_commands_of_the_start(page: Path, tmp_path: Path) -> None:
    run_all(page, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", SLOW, ids=lambda p: p.stem)
def test_commands(page: Path, tmp_path: Path) -> None:
    assert commands(page)
    run_all(page, tmp_path)


def test_generated_parts_are_up_to_date() -> None:
    text = README.read_text(encoding="utf-8")
    assert filled(text) == text, "run python -m tools.readme"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)|`[^`<]+<([^>]+)>`", text):
        name, _, anchor = (target[0] or target[1]).partition("#")
        there = page.parent / name if name else page
        assert there.exists() or "_generated" in there.parts, (
            f"{page.name}: {name}"
        )  # the build makes those, and checks
        assert not anchor or anchor in anchors(there), f"{page.name}: {name}#{anchor}"
    # a changelog names what was; NAME is the reader's
    for path in (
        re.findall(r"`((?:configs|agents|tests|docs|tools)/[\w/.-]+)`", text) if page.stem != "CHANGELOG" else ()
    ):
        assert "NAME" in path or (ROOT / path).exists(), f"{page.name}: {path}"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([\w-]+)`|^make (\w+)", text, flags=re.MULTILINE):
        assert re.search(rf"^{target[0] or target[1]}:", makefile, flags=re.MULTILINE), target


def test_docs_hold_sources_and_small_data() -> None:
    large = [str(p) for p in repository_files() if p.is_relative_to(DOCS) and p.stat().st_size > MOST_BYTES]
    assert not large
    assert README.read_text(encoding="utf-8").count("\n") <= 200


def test_the_citation_has_the_version() -> None:
    import perudo_env

    assert f"\nversion: {perudo_env.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", tutorials.names())
def test_tutorials(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    text = (tutorials.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    made = tutorials.executed(text, tmp_path)
    assert re.findall(r"```python\n.*?```", made, flags=re.DOTALL) == re.findall(
        r"```python\n.*?```", text, flags=re.DOTALL
    )
    for figure in re.findall(r"\]\(([\w-]+\.png)\)", text):
        assert (tmp_path / figure).exists()
        assert (tutorials.FOLDER / figure).exists()


@pytest.mark.slow
def test_the_site_builds_whole_and_needs_no_network(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", DOCS, tmp_path], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "searchindex.js").exists()
    for page in tmp_path.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|img|link)\b[^>]*?(?:src|href)=\"(https?:[^\"]+)", page.read_text(encoding="utf-8")
        )
        assert not loaded, f"{page.name} loads {loaded}"
