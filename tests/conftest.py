"""What holds for all tests."""

import os

# pygame draws its windows nowhere.
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
