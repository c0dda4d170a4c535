"""The score keeper's pages: plain forms that work without scripts, on a phone that is passed round a table."""

from __future__ import annotations

import random
from gettext import NullTranslations
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles

from perudo_env.play.language import request_translations
from perudo_env.play.score.csvfile import to_csv
from perudo_env.play.score.entries import (
    N_,
    Calza,
    Entry,
    GameStarted,
    Joined,
    Lost,
    Opened,
    ScoreError,
    Stopped,
    Undone,
    table_variant,
)
from perudo_env.play.score.sheet import environment, sheet_html
from perudo_env.play.score.store import OutOfDateError, Store, default_file
from perudo_env.play.score.words import say_error
from perudo_env.variant import MAX_SEATS, RULE_TEXTS

MOST_BYTES = 16_384  # of a form; the longest honest one has a tenth of it

score_router = APIRouter(prefix="/score", default_response_class=HTMLResponse, include_in_schema=False)


def store_of(request: Request) -> Store:
    """The scores of the app: ``app.state.scores``, a path, or the user's own."""
    return Store(getattr(request.app.state, "scores", None) or default_file())


async def form_of(request: Request) -> dict[str, list[str]]:
    """The fields of a posted form; 403 for a form on another site's page, 413 for a huge one."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise HTTPException(403, "this form was not sent from a page of this server")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"a form has at most {MOST_BYTES} bytes")
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=100)
    except ValueError as error:
        raise HTTPException(400, "this is not a form") from error


Form = Annotated[dict[str, list[str]], Depends(form_of)]
Scores = Annotated[Store, Depends(store_of)]
Language = Annotated[NullTranslations, Depends(request_translations)]


def page(name: str, request: Request, t: NullTranslations, status: int = 200, **values: Any) -> HTMLResponse:
    """A template as a response that no cache keeps: the back button shows the sheet as it stands."""
    html = environment(t).get_template(f"score/{name}.html").render(request=request, **values)
    return HTMLResponse(html, status, {"Cache-Control": "no-store"})


@score_router.get("")
def evenings(request: Request, scores: Scores, t: Language) -> Response:
    """All evenings."""
    return page("evenings", request, t, kept=scores.evenings())


@score_router.get("/new")
def new(request: Request, t: Language) -> Response:
    """The form for a new evening."""
    return _new(request, t, {})


def _new(request: Request, t: NullTranslations, form: dict[str, list[str]], error: ScoreError | None = None) -> Response:
    names = (form.get("player", []) + [""] * MAX_SEATS)[:MAX_SEATS]
    chosen = {
        "preset": form.get("preset", ["marquoir"])[0],
        "dice": form.get("dice", ["5"])[0],
        "calza": form.get("calza", ["yes"])[0],
        "scoring": form.get("scoring", ["places"])[0],
    }
    why = None if error is None else say_error(error, t)
    return page("new", request, t, 200 if error is None else 422, names=names, presets=RULE_TEXTS, chosen=chosen, error=why)


@score_router.post("/new")
def open_evening(request: Request, scores: Scores, t: Language, form: Form) -> Response:
    """Begin an evening, and its first game."""
    try:
        players = tuple(name for name in form.get("player", []) if name.strip())
        dice = _first(form, "dice")
        if not (dice.isascii() and dice.isdigit()):
            raise ScoreError(N_("%(n)r dice each: use 1 to 6"), n=dice[:20])
        variant = table_variant(_first(form, "preset"), int(dice[:3]), _first(form, "calza") == "yes")
        opened = Opened(players, str(variant), _first(form, "scoring"))
        evening = scores.open(opened)
    except ScoreError as error:
        return _new(request, t, form, error)
    return RedirectResponse(f"/score/{evening}", 303)


@score_router.get("/{evening}")
def board(request: Request, scores: Scores, t: Language, evening: int) -> Response:
    """An evening as it stands, with the buttons to go on."""
    return _board(request, scores, t, evening)


def _board(request: Request, scores: Store, t: NullTranslations, evening: int, error: ScoreError | None = None) -> Response:
    try:
        kept = scores.read(evening)
    except ScoreError as missing:
        raise HTTPException(404, say_error(missing, t)) from missing
    status = 200 if error is None else 409 if isinstance(error, OutOfDateError) else 422
    why = None if error is None else say_error(error, t)
    return page("board", request, t, status, kept=kept, evening=kept.evening, error=why, most=MAX_SEATS)


@score_router.post("/{evening}")
def enter(request: Request, scores: Scores, t: Language, form: Form, evening: int) -> Response:
    """Make an entry; the page that follows shows it, and may be loaded again without making it twice."""
    try:
        seen = _first(form, "seen")
        if not (seen.isascii() and seen.isdigit() and len(seen) < 9):
            raise OutOfDateError(N_("this sheet was out of date, and nothing was entered: look at it as it stands now"))
        scores.append(evening, _entry(form), expected=int(seen))
    except ScoreError as error:
        return _board(request, scores, t, evening, error)
    return RedirectResponse(f"/score/{evening}", 303)


@score_router.get("/{evening}/sheet")
def sheet(scores: Scores, t: Language, evening: int) -> Response:
    """The evening to print."""
    try:
        return HTMLResponse(sheet_html(scores.read(evening), t))
    except ScoreError as missing:
        raise HTTPException(404, say_error(missing, t)) from missing


@score_router.get("/{evening}/perudo.csv")
def csv(scores: Scores, t: Language, evening: int) -> Response:
    """The evening for a spreadsheet."""
    try:
        text = to_csv(scores.read(evening).entries)
    except ScoreError as missing:
        raise HTTPException(404, say_error(missing, t)) from missing
    # the mark lets spreadsheets know the accents for what they are
    headers = {"Content-Disposition": f'attachment; filename="perudo-{evening}.csv"'}
    return PlainTextResponse("\ufeff" + text, media_type="text/csv; charset=utf-8", headers=headers)


def _first(form: dict[str, list[str]], field: str) -> str:
    return form.get(field, [""])[0]


def _entry(form: dict[str, list[str]]) -> Entry:
    player = _first(form, "player")
    match _first(form, "entry"):
        case "lost":
            return Lost(player)
        case "calza":
            return Calza(player)
        case "undo":
            return Undone()
        case "stop":
            return Stopped()
        case "join":
            return Joined(player)
        case "game":
            return GameStarted(tuple(form.get("playing", [])), _first(form, "opener"), random.getrandbits(62))
        case other:
            raise ScoreError(N_("%(word)r is no entry"), word=other[:40])


def app(scores: Path | None = None) -> FastAPI:
    """The score keeper alone, for a table without a computer game."""
    made = FastAPI(title="Perudo", docs_url=None, redoc_url=None, openapi_url=None)
    made.state.scores = scores
    made.include_router(score_router)
    made.mount("/static", StaticFiles(packages=[("perudo_env.play", "static")]), "static")

    @made.get("/")
    def home() -> Response:
        return RedirectResponse("/score")

    return made


def serve(scores: Path, host: str, port: int) -> None:
    """Serve the pages until interrupted."""
    import uvicorn

    print(f"http://{host}:{port}/score  ({scores})", flush=True)
    uvicorn.run(app(scores), host=host, port=port, log_level="warning")
