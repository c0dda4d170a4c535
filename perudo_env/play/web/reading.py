"""The pages to read: the rules in force, the games played, and one game step by step with its proof."""

from __future__ import annotations

from functools import lru_cache

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException

from perudo_env.engine.variant import parse_variant
from perudo_env.play.analysis import Opinion, Step, opinion, steps
from perudo_env.play.archive import SavedGame
from perudo_env.play.names import isolated
from perudo_env.play.web.house import House, house_of, words_of
from perudo_env.play.web.security import form_of
from perudo_env.play.web.setup import variant_labels
from perudo_env.render.scene import scene
from perudo_env.rulebook.book import Rulebook, format_example, rulebook
from perudo_env.rulebook.fairness import verify_saved
from perudo_env.rulebook.texts import SOURCES

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
MOST_LISTED = 200


@lru_cache(64)
def _rulebook(variant: str) -> Rulebook:
    """Asked once: each example is played by the engine."""
    return rulebook(parse_variant(variant))


@router.get("/rules")
def rules(request: Request, variant: str = "classic") -> Response:
    """The rules in force, with sources; the levels as measured; the dice as they fell."""
    house, texts = house_of(request), words_of(request)
    try:
        book = _rulebook(str(parse_variant(variant[:400])))
    except ValueError as error:
        raise HTTPException(404, str(error)) from None
    rolled = house.archive.dice_rolled()
    return house.page(
        request, "rules.html", book=book, variant=variant, variants=variant_labels(texts), sources=SOURCES,
        say=lambda pair: getattr(pair, texts.language), example=lambda e: format_example(e, texts.language),
        rolled=rolled, total=rolled.total(), lineup=house.lineup,
    )  # fmt: skip


@router.get("/games")
def games(request: Request) -> Response:
    """The games played, the latest first."""
    house = house_of(request)
    return house.page(request, "games.html", games=house.archive.readable(MOST_LISTED))


def game_of(request: Request, name: str) -> SavedGame:
    """A game kept; 404 if there is none, or none that can be played again."""
    try:
        game = house_of(request).archive.read(name)
        if not _steps(game.record):
            raise ValueError("nobody did anything")
        return game
    except (KeyError, ValueError):
        raise HTTPException(404, words_of(request).gettext("There is no such game.")) from None


@lru_cache(16)
def _steps(record: str) -> tuple[Step, ...]:
    return tuple(steps(record))


@router.get("/games/{name}")
def replay(request: Request, name: str, step: int = 1) -> Response:
    """A finished game at one step, with all dice open."""
    return _replay(house_of(request), request, game_of(request, name), step)


def _replay(
    house: House, request: Request, game: SavedGame, number: int, checked: str | None = None, fault: str | None = None
) -> Response:
    taken = _steps(game.record)
    number = min(max(number, 1), len(taken))
    at = taken[number - 1]
    events = at.after.events[len(at.game.events) :]
    return house.page(
        request, "replay.html", game=game, number=number, total=len(taken), at=at, events=events,
        scene=scene(at.game), opinion=_opinion(house, at), adviser=house.lineup.adviser,
        checked=checked, fault=fault, names=[isolated(name) for name in game.names],
    )  # fmt: skip


def _opinion(house: House, step: Step) -> Opinion:
    variant = step.game.variant
    return opinion(step, house.lineup.policy(house.lineup.adviser, variant, step.game.num_seats))


@router.post("/games/{name}/verify")
async def check_dice(request: Request, name: str) -> Response:
    """Roll all dice of a game again and compare."""
    await form_of(request)
    game, texts = game_of(request, name), words_of(request)
    try:
        verify_saved(game.data)
    except (ValueError, KeyError) as error:
        return _replay(
            house_of(request),
            request,
            game,
            1,
            fault=texts.gettext("The dice are not those that were promised: {why}", why=error),
        )
    done = texts.gettext(
        "All dice were rolled again from the seed and agree, and seed and salt give the fingerprint that was shown."
    )
    return _replay(house_of(request), request, game, 1, checked=done)


@router.get("/games/{name}/game.json")
def saved_game(request: Request, name: str) -> Response:
    """The saved game as a file, for ``python -m perudo_env verify``."""
    headers = {"Content-Disposition": f'attachment; filename="perudo-{name}.json"'}
    return JSONResponse(game_of(request, name).data, headers=headers)


@router.get("/games/{name}/record.txt")
def record(request: Request, name: str) -> Response:
    """The record alone, as text."""
    return PlainTextResponse(game_of(request, name).record + "\n")
