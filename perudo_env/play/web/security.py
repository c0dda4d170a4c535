"""What every answer and every form must satisfy."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perudo_env.play.language import request_translations

MOST_BYTES = 8_192  # of a form

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}


class SecurityHeaders:
    """ASGI middleware: the browser may run nothing but this server's own files."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to every answer that does not set them itself."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, with_headers)


def is_same_origin(connection: HTTPConnection) -> bool:
    """Whether a form or a WebSocket comes from a page of this server; programs that send no Origin are no browsers."""
    return _from_here(connection.headers)


def _from_here(headers: Headers) -> bool:
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")


async def fields_of(request: Request) -> dict[str, list[str]]:
    """All values of each field of a posted form; 403 for a form on another site's page, 413 for a huge one, 400 for none."""
    _ = request_translations(request).gettext
    if not is_same_origin(request):
        raise HTTPException(403, _("This form was not sent from a page of this server."))
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise HTTPException(413, _("A form has at most {n} bytes.").format(n=MOST_BYTES))
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=100)
    except ValueError as error:
        raise HTTPException(400, _("This is not a form.")) from error


async def form_of(request: Request) -> dict[str, str]:
    """The last value of each field of a posted form; see :func:`fields_of`."""
    return {name: values[-1] for name, values in (await fields_of(request)).items()}
