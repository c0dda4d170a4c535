"""The render modes of the environments: text, a picture, or a window by pygame, which only ``human`` needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from perudo_env.envs.arguments import one_of
from perudo_env.game.game import Game
from perudo_env.render.text import text


class Canvas:
    """Draws games in one render mode; a copy or pickle of it opens a window of its own."""

    def __init__(self, render_mode: str | None, metadata: dict[str, Any]) -> None:
        self.render_mode = one_of("render_mode", render_mode, [None, *metadata["render_modes"]])
        if render_mode in ("rgb_array", "human"):
            import_module("perudo_env.render.picture")  # whoever lacks Pillow hears of it now, and not in mid-game
        self._frames_per_second = metadata["render_fps"]
        self._window: Window | None = None

    def draw(self, game: Game, viewer: int | None) -> str | npt.NDArray[np.uint8] | None:
        """What ``viewer`` sees, or the open table for None: text, uint8 ``(H, W, 3)``, or None with the window shown."""
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            return text(game, viewer)
        from perudo_env.render.picture import picture  # here: text needs no Pillow

        pixels = picture(game, viewer)
        if self.render_mode == "rgb_array":
            return pixels
        self._window = self._window or Window("Perudo", self._frames_per_second)
        self._window.show(pixels)
        return None

    def close(self) -> None:
        """Close the window, if one is open."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}


class Window:
    """A window of the size of its first picture; raises ``ImportError`` with the remedy where pygame is missing."""

    def __init__(self, title: str, frames_per_second: int) -> None:
        try:
            import pygame
        except ImportError as error:
            raise ImportError("render_mode='human' opens a window with pygame: pip install pygame") from error
        self._pygame, self._title, self._frames_per_second = pygame, title, frames_per_second
        self._clock = pygame.time.Clock()
        self._surface: Any = None

    def show(self, picture: npt.NDArray[np.uint8]) -> None:
        """Show an uint8 ``(H, W, 3)`` picture, and wait as long as the frame rate asks."""
        pygame = self._pygame
        if self._surface is None:
            pygame.display.init()
            pygame.display.set_caption(self._title)
            self._surface = pygame.display.set_mode((picture.shape[1], picture.shape[0]))
        pygame.event.pump()
        pygame.surfarray.blit_array(self._surface, picture.swapaxes(0, 1))
        pygame.display.flip()
        self._clock.tick(self._frames_per_second)

    def close(self) -> None:
        """Close it."""
        if self._surface is not None:
            self._pygame.display.quit()
            self._surface = None
