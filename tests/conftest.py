"""Settings of all tests."""

import os

from hypothesis import settings

# pygame draws its windows nowhere.
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

# The same examples in every run, however slow the machine.
settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")
