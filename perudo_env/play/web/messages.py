"""Messages of a browser over its WebSocket, checked before anything else, and their rate limit."""

from __future__ import annotations

import time
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

MOST_BYTES = 512  # the longest honest message has a tenth of it
PER_SECOND, BURST = 8.0, 24.0
Seat = Annotated[int, Field(ge=0, le=7, strict=True)]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Beat(_Message):
    """Nothing but the question whether anybody hears."""

    type: Literal["beat"]


class _Answer(_Message):
    """What answers a question, the one that ``at`` names: the ``position`` of the room when the browser was shown it."""

    at: Annotated[str, Field(max_length=40)]


class Act(_Answer):
    """``seat`` does something: a bid like ``5x3`` or ``3P``, ``dudo``, ``calza``, ``pass``."""

    type: Literal["act"]
    seat: Seat
    action: Annotated[str, Field(max_length=8)]


class Ready(_Answer):
    """The people at this browser have seen the dice of the last round."""

    type: Literal["ready"]


class Show(_Answer):
    """One screen passed round: ``seat`` now looks at it."""

    type: Literal["show"]
    seat: Seat


class AskHint(_Answer):
    """``seat`` asks for help."""

    type: Literal["hint"]
    seat: Seat


class Decline(_Answer):
    """``seat`` lets Calza pass, now and for the rest of the round."""

    type: Literal["decline"]
    seat: Seat


class Again(_Answer):
    """A new game, please, for all who sit here."""

    type: Literal["again"]


class Hurry(_Answer):
    """Whoever is out of the game, with agents alone still playing, watches them at this speed."""

    type: Literal["hurry"]
    speed: Literal["single", "double", "end"]


class Odds(_Message):
    """Whether this browser is shown the chance of each standing bid."""

    type: Literal["odds"]
    on: bool


Message = Act | Ready | Show | AskHint | Decline | Again | Hurry | Odds | Beat
_ADAPTER: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


class BadMessageError(ValueError):
    """The message is not one that this server understands."""


def parse(text: str) -> Message:
    """Read a message; raises ``BadMessageError`` for a huge or malformed one."""
    if len(text.encode()) > MOST_BYTES:
        raise BadMessageError(f"a message has at most {MOST_BYTES} bytes")
    try:
        return _ADAPTER.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise BadMessageError(f"{'.'.join(map(str, first['loc'])) or 'message'}: {first['msg']}") from None


class RateLimit:
    """A bucket of ``BURST`` messages that fills again by ``PER_SECOND``."""

    def __init__(self) -> None:
        self._left, self._at = BURST, time.monotonic()

    def allows(self) -> bool:
        """Whether one more message may come now."""
        now = time.monotonic()
        self._left = min(BURST, self._left + (now - self._at) * PER_SECOND)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
