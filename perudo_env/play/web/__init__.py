"""The browser game: server-rendered pages, one WebSocket per browser, and a little plain JavaScript."""

from perudo_env.play.web.app import create_app

__all__ = ["create_app"]
