"""Write the golden playthroughs anew: ``python -m tests.golden``."""

from tests.golden.playthrough import FOLDER, playthrough
from tests.helpers import PRESETS

if __name__ == "__main__":
    for preset in PRESETS:
        (FOLDER / f"{preset}.txt").write_text(playthrough(preset), encoding="utf-8")
        print(FOLDER.name, preset)
