"""Security headers of every answer, and checks of every form."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perudo_env.play.language import request_translations

MOST_BYTES = 8_192  # of a form

LOCAL = ("127.0.0.1", "localhost", "::1")
# As a Host header names them; of "[::1]:8000" older versions of Starlette read "[" alone, which no name can be.
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]", "::1", "[")

# A name or an IPv4 address, or an IPv6 one; nothing that stands for many, as "*" does.
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*|[0-9a-f:.]*:[0-9a-f:.]*")

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-cache",  # a page must not run the script of another version
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


def public_origin(url: str) -> str:
    """The public address of a server as browsers name it: ``https://perudo.example``; raises ``ValueError`` for no such address."""
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port
        rest = (parts.path.strip("/"), parts.query, parts.fragment, parts.username, parts.password)
        if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host) or any(rest):
            raise ValueError
    except ValueError:  # of the brackets, the name or the port, too
        raise ValueError(
            f"the public address {url!r} should be https:// or http:// and a name, without a path: https://perudo.example"
        ) from None
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{bracketed(host)}" + (f":{port}" if port not in (None, usual) else "")


def bracketed(host: str) -> str:
    """A host as an address holds it: an IPv6 one in brackets."""
    return f"[{host}]" if ":" in host else host


def address_of(host: str, port: int) -> str:
    """The address at which this machine reaches a server that listens on ``host``."""
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}
    return f"http://{bracketed(everywhere.get(host, host))}:{port}/"


def hosts_of(host: str, public: str | None = None) -> tuple[str, ...]:
    """The names that a server which listens on ``host`` answers to (``*``: any)."""
    if host not in LOCAL:
        return ("*",)
    name = urlsplit(public).hostname if public else None
    return LOCAL_HOSTS if name is None else (*LOCAL_HOSTS, bracketed(name))


def is_same_origin(connection: HTTPConnection) -> bool:
    """Whether a form or a WebSocket comes from a page of this server; programs that send no Origin are no browsers.

    Behind a proxy the Host header may be the proxy's, and the page's origin is the public address.
    """
    origin, host = connection.headers.get("origin"), connection.headers.get("host")
    # not by urlsplit, which raises for brackets that nothing closes
    return origin is None or origin == connection.app.state.public or origin.partition("://")[2] == host


def is_secure(connection: HTTPConnection) -> bool:
    """Whether the browser came by https, as the origin of its form says, or else the public address."""
    return (connection.headers.get("origin") or connection.app.state.public or "").startswith("https:")


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
