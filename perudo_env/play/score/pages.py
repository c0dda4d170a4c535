"""The score keeper's pages: plain forms that work without scripts, on a phone that is passed round a table."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from perudo_env.engine.variant import MAX_SEATS, RULE_TEXTS, Variant
from perudo_env.game.language import N_
from perudo_env.game.words import Words
from perudo_env.play.lineup import Lineup
from perudo_env.play.score.csvfile import to_csv
from perudo_env.play.score.entries import (
    Calza,
    Entry,
    GameStarted,
    Joined,
    Left,
    Lost,
    Opened,
    Renamed,
    ScoreError,
    Stopped,
    Undone,
    table_variant,
)
from perudo_env.play.score.sheet import day, sheet_html
from perudo_env.play.score.store import MissingError, OutOfDateError, Store, default_file
from perudo_env.play.score.words import SCORING_NAMES, dice_left, ordinal, say_error, say_gone, say_line, say_next
from perudo_env.play.web.app import create_app, listening
from perudo_env.play.web.app import serve as serve_app
from perudo_env.play.web.house import house_of, words_of
from perudo_env.play.web.security import address_of, fields_of, hosts_of, public_origin
from perudo_env.policy import Policy
from perudo_env.rulebook.texts import PRESET_SOURCE, SOURCES

# Nothing but its own style; it has no scripts.
SHEET_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
SCORE_LINK = ("/score", N_("Score keeper"))
"""For ``create_app(routers=(score_router,), links=(SCORE_LINK,))``."""

score_router = APIRouter(prefix="/score", default_response_class=HTMLResponse, include_in_schema=False)


def store_of(request: Request) -> Store:
    """The scores of the app: ``app.state.scores``, a path, or the user's own; 503 where they cannot be kept."""
    try:
        return Store(getattr(request.app.state, "scores", None) or default_file())
    except ScoreError as error:
        raise HTTPException(503, say_error(error, words_of(request))) from error


Form = Annotated[dict[str, list[str]], Depends(fields_of)]
Scores = Annotated[Store, Depends(store_of)]
Language = Annotated[Words, Depends(words_of)]


def page(request: Request, w: Words, name: str, status: int = 200, **values: Any) -> Response:
    """A page of the score keeper, in the frame of all pages."""
    says = {
        "ordinal": partial(ordinal, w=w),
        "dice_left": partial(dice_left, w=w),
        "say_line": partial(say_line, w=w),
        "say_next": partial(say_next, w=w),
        "say_gone": partial(say_gone, w=w),
        "say_error": partial(say_error, w=w),
        "scoring_names": {key: w.gettext(text) for key, text in SCORING_NAMES.items()},
        "day": day,
    }
    return house_of(request).page(request, f"score/{name}.html", status, **says, **values)


@score_router.get("")
def evenings(request: Request, scores: Scores, w: Language) -> Response:
    """All evenings."""
    return page(request, w, "evenings", kept=scores.evenings())


@score_router.get("/new")
def new(request: Request, w: Language) -> Response:
    """The form for a new evening."""
    return _new(request, w, {})


def _new(request: Request, w: Words, form: dict[str, list[str]], error: ScoreError | None = None) -> Response:
    names = (form.get("player", []) + [""] * MAX_SEATS)[:MAX_SEATS]
    chosen = {
        "preset": form.get("preset", ["marquoir"])[0],
        "dice": form.get("dice", ["5"])[0],
        "calza": form.get("calza", ["yes"])[0],
        "scoring": form.get("scoring", ["places"])[0],
    }
    presets = [(name, f"{name}: {getattr(SOURCES[PRESET_SOURCE[name]], w.language)}") for name in RULE_TEXTS]
    why = None if error is None else say_error(error, w)
    return page(
        request, w, "new", 200 if error is None else 422, names=names, presets=presets, chosen=chosen, error=why,
        form=_first(form, "form") or secrets.token_urlsafe(12),
    )  # fmt: skip


@score_router.post("/new")
def open_evening(request: Request, scores: Scores, w: Language, form: Form) -> Response:
    """Begin an evening, one however often the form is posted."""
    try:
        players = tuple(name for name in form.get("player", []) if name.strip())
        dice = _first(form, "dice")
        if not (dice.isascii() and dice.isdigit()):
            raise ScoreError(N_("{n} dice each: use 1 to 6"), n=dice[:20])
        variant = table_variant(_first(form, "preset"), int(dice[:3]), _first(form, "calza") == "yes")
        opened = Opened(players, str(variant), _first(form, "scoring"))
        evening = scores.open(opened, form=_first(form, "form"))
    except ScoreError as error:
        return _new(request, w, form, error)
    return RedirectResponse(f"/score/{evening}", 303)


@score_router.get("/{evening}")
def board(request: Request, scores: Scores, w: Language, evening: int) -> Response:
    """An evening as it stands, with the buttons to go on."""
    return _board(request, scores, w, evening)


def _board(
    request: Request, scores: Store, w: Words, evening: int, error: ScoreError | None = None, template: str = "board"
) -> Response:
    try:
        kept = scores.read(evening)
        shown = kept.evening
    except ScoreError as missing:
        raise _failure(missing, w) from missing
    status = 200 if error is None else 409 if isinstance(error, OutOfDateError) else 422
    why = None if error is None else say_error(error, w)
    return page(request, w, template, status, kept=kept, evening=shown, error=why, most=MAX_SEATS)


@score_router.post("/{evening}")
def enter(request: Request, scores: Scores, w: Language, form: Form, evening: int) -> Response:
    """Make an entry; the page that follows shows it, and may be loaded again without making it twice."""
    try:
        scores.append(evening, _entry(form), expected=_seen(form))
    except ScoreError as error:
        return _board(request, scores, w, evening, error)
    return RedirectResponse(f"/score/{evening}", 303)


@score_router.get("/{evening}/delete")
def ask_to_delete(request: Request, scores: Scores, w: Language, evening: int) -> Response:
    """The question whether the evening is to be deleted for good."""
    return _board(request, scores, w, evening, template="delete")


@score_router.post("/{evening}/delete")
def delete(request: Request, scores: Scores, w: Language, form: Form, evening: int) -> Response:
    """Delete the evening, if nothing was entered since the question; where it is gone already, that is all right."""
    try:
        scores.delete(evening, _seen(form))
    except OutOfDateError as error:
        return _board(request, scores, w, evening, error)
    except MissingError:
        pass
    except ScoreError as error:
        raise _failure(error, w) from error
    return RedirectResponse("/score", 303)


@score_router.get("/{evening}/sheet")
def sheet(scores: Scores, w: Language, evening: int) -> Response:
    """The evening to print."""
    try:
        return HTMLResponse(sheet_html(scores.read(evening), w), headers={"Content-Security-Policy": SHEET_POLICY})
    except ScoreError as missing:
        raise _failure(missing, w) from missing


@score_router.get("/{evening}/perudo.csv")
def csv(scores: Scores, w: Language, evening: int) -> Response:
    """The evening for a spreadsheet."""
    try:
        text = to_csv(scores.read(evening).entries)
    except ScoreError as missing:
        raise _failure(missing, w) from missing
    headers = {"Content-Disposition": f'attachment; filename="perudo-{evening}.csv"'}
    return PlainTextResponse(text, media_type="text/csv; charset=utf-8", headers=headers)


def _failure(error: ScoreError, w: Words) -> HTTPException:
    return HTTPException(404 if isinstance(error, MissingError) else 503, say_error(error, w))


def _seen(form: dict[str, list[str]]) -> int:
    """How many entries the page had seen from which a form comes."""
    seen = _first(form, "seen")
    if not (seen.isascii() and seen.isdigit() and len(seen) < 9):
        raise OutOfDateError(N_("this sheet was out of date, and nothing was entered: look at it as it stands now"))
    return int(seen)


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
        case "leave":
            return Left(player)
        case "rename":
            return Renamed(player, _first(form, "name"))
        case "game":
            return GameStarted(tuple(form.get("playing", [])), _first(form, "opener"), random.getrandbits(62))
        case other:
            raise ScoreError(N_("{word} is no entry"), word=other[:40])


def app(
    scores: Path | None = None,
    language: str | None = None,
    hosts: Sequence[str] = ("127.0.0.1", "localhost", "testserver"),
    public: str | None = None,
) -> FastAPI:
    """The score keeper with a table for people alone, for those who have no agents at hand."""
    made = create_app(
        Lineup(_no_agent, (), {}), language=language, hosts=hosts, public=public,
        routers=(score_router,), links=(SCORE_LINK,),
    )  # fmt: skip
    made.state.scores = scores
    return made


def _no_agent(name: str, variant: Variant, num_seats: int) -> Policy:
    raise ValueError(f"agent {name!r} cannot sit here: this server has none")


def serve(scores: Path, host: str, port: int, language: str | None = None, public_url: str | None = None) -> None:
    """Serve the pages until interrupted; raises ``ScoreError`` for no such address, and where another server has the port."""
    try:
        public = None if public_url is None else public_origin(public_url)
        listener = listening(host, port)
    except ValueError as error:
        raise ScoreError("{error}", error=error) from error
    others = f", for others {public}/score" if public else ""
    print(f"{address_of(host, listener.getsockname()[1])}score{others}  ({scores})", flush=True)
    serve_app(app(scores, language, hosts_of(host, public), public), listener)
