"""The generated parts of README: ``python -m tools.readme`` writes them anew, a test compares."""

from __future__ import annotations

import re

from tools.parts import ROOT, made

README = ROOT / "README.md"


def filled(text: str) -> str:
    """README with its generated parts made anew: each stands between ``<!-- name -->`` and ``<!-- /name -->``."""
    return re.sub(
        r"(<!-- (\w+) -->\n).*?(<!-- /\2 -->)",
        lambda found: f"{found[1]}{made(found[2])}\n{found[3]}",
        text,
        flags=re.DOTALL,
    )


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
