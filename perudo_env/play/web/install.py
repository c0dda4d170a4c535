"""The parts of an installed game, kept on a phone's home screen: manifest, service worker, and the page for want of a server."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from perudo_env.play.web.house import house_of, words_of

router = APIRouter(include_in_schema=False)


@router.get("/manifest.webmanifest")
def manifest(request: Request) -> Response:
    """Name, colours and icons of the installed game, in the language of the request."""
    texts = words_of(request)
    icons = [
        {"src": f"/static/icon-{size}.png", "sizes": f"{size}x{size}", "type": "image/png", "purpose": "any maskable"}
        for size in (192, 512)
    ]
    return JSONResponse(
        {
            "name": "Perudo", "short_name": "Perudo", "lang": texts.language, "start_url": "/", "scope": "/", "display": "standalone",
            "description": texts.gettext("Dice under cups, and a straight face"),
            "background_color": "#234841", "theme_color": "#234841", "icons": icons,
        },
        media_type="application/manifest+json",
    )  # fmt: skip


@router.get("/sw.js")
def service_worker() -> Response:
    """At the root, since it may serve no address above its own."""
    script = files("perudo_env.play").joinpath("static", "sw.js").read_bytes()
    return Response(script, media_type="text/javascript")


@router.get("/offline")
def offline(request: Request) -> HTMLResponse:
    """Kept by the service worker, and shown where the server cannot be reached."""
    return house_of(request).page(request, "offline.html")
