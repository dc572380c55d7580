"""Who may talk to a view: requests under its own host names that carry its secret token.

A page of any site that is open in the user's browser can send requests to 127.0.0.1. Its requests differ from those of
the view in three headers that a page cannot forge: `Host` (wrong after DNS rebinding), `Origin` (the site of the page),
and the cookie, which the browser withholds from other sites. The token keeps out other users of this machine.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from eslabon.arguments import names
from eslabon.errors import InputError, format_value

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

    from eslabon.drawing.drawn_solids import RequestHandler

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
TOKEN_BYTES = 24
AUTHORITY = re.compile(
    r"(?P<name>[\w.-]+|\[[\da-f:.]+\])(?::(?P<port>\d+))?", re.ASCII | re.IGNORECASE
)


class RequestGuard:
    """Admits a request if its Host and its Origin are `hosts` and it carries `token`.

    The opened URL carries the token as its path, ``http://127.0.0.1:PORT/TOKEN``. viser's page opens its WebSocket under
    its own address without the query, so the path is what reaches the WebSocket too, also from a frame inside a notebook,
    where browsers send no cookie. The first answer sets a cookie, so that the plain address works from then on.

    Host names are compared, not ports: an SSH tunnel may end at any port.

    >>> guard = RequestGuard(["lab.example"])
    >>> guard.hosts
    ('127.0.0.1', 'localhost', '[::1]', 'lab.example')
    """

    def __init__(self, hosts: str | Iterable[str] = ()) -> None:
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self.hosts = (*LOOPBACK_NAMES, *(_host_name(name) for name in names(hosts, "hosts")))

    def around(self, serve: RequestHandler) -> RequestHandler:
        """A handler that answers requests like `serve`, but only those that the guard admits."""

        def guarded(connection: ServerConnection, request: Request) -> Response | None:
            request.path, in_path = self._without_token(request.path)
            refusal = self.refusal(request, in_path)
            if refusal:
                return connection.respond(403, refusal + "\n")
            answer = serve(connection, request)
            if in_path and answer is not None:
                answer.headers["Set-Cookie"] = (
                    f"{_cookie_name(request)}={self.token}; Path=/; HttpOnly; SameSite=Strict"
                )
            return answer

        return guarded

    def refusal(self, request: Request, has_token: bool) -> str:
        """Why a request is refused; empty if it is admitted. `has_token` tells whether its path carried the token."""
        host, origin = (_single(request, name) for name in ("Host", "Origin"))
        if _name(host) not in self.hosts:
            return (
                f"This view does not answer under the host name {format_value(host)}. Open the address that es.view printed, "
                "or add the name: es.view(..., hosts=[...])."
            )
        authority = _authority(origin)
        if origin is not None and _name(authority) not in self.hosts:
            return f"This view does not talk to pages of {format_value(origin)}. Open it by the address that es.view printed."
        # A browser sends a cookie to all ports of a host, so the cookie counts for the view's own pages only.
        if has_token or ((origin is None or authority == host) and self._has_cookie(request)):
            return ""
        return "This view needs its token. Open the whole address that es.view printed, view.url in Python."

    def _without_token(self, path: str) -> tuple[str, bool]:
        """The path as viser knows it, and whether the token stood at its beginning."""
        address, mark, query = path.partition("?")
        first, _, rest = address.removeprefix("/").partition("/")
        return ("/" + rest + mark + query, True) if self._is_token(first) else (path, False)

    def _has_cookie(self, request: Request) -> bool:
        pairs = (
            pair.strip().partition("=")
            for line in request.headers.get_all("Cookie")
            for pair in line.split(";")
        )
        return any(
            name == _cookie_name(request) and self._is_token(value) for name, _, value in pairs
        )

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(errors="replace"), self.token.encode())


def _host_name(name: str) -> str:
    """A host name of a user, as requests have it."""
    found = AUTHORITY.fullmatch(name)
    if found is None or found["port"]:
        raise InputError(
            f"hosts has {format_value(name)}; it takes host names alone, such as 'lab.example', without http:// and port."
        )
    return name.lower()


def _single(request: Request, header: str) -> str | None:
    """A header; one that comes twice is no name of a host."""
    values = request.headers.get_all(header)
    return ", ".join(values) if values else None


def _authority(origin: str | None) -> str | None:
    """The host and port of an Origin; None if it is that of no page on the web, such as "null"."""
    try:
        parts = urlsplit(origin or "")
    except ValueError:
        return None
    return parts.netloc if parts.scheme in ("http", "https") else None


def _name(authority: str | None) -> str | None:
    found = AUTHORITY.fullmatch(authority or "")
    return found["name"].lower() if found else None


def _cookie_name(request: Request) -> str:
    """By the port that the browser sees, since cookies of all ports of a host share one jar."""
    found = AUTHORITY.fullmatch(_single(request, "Host") or "")
    return f"eslabon_view_{(found and found['port']) or 80}"
