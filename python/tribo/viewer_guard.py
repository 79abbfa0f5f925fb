"""Who may see the page of the viewer: requests for this host and from its own pages, with a token where it listens beyond
loopback."""

from __future__ import annotations

import contextlib
import hmac
import http
import ipaddress
import secrets
from collections.abc import Iterator
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

LOOPBACK = ("localhost", "127.0.0.1", "::1")
COOKIE = "tribo_token"


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Answers a request that is not to be let in, and lets the others pass."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.token = "" if is_loopback(host) else secrets.token_urlsafe(24)

    def _host_is_ours(self, name: str) -> bool:
        if name in LOOPBACK or name == self.host:
            return True
        # Listening everywhere: any address of the machine, but no name, which a foreign page could have pointed here.
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return not is_loopback(self.host)

    def refusal(self, path: str, headers: Any) -> str | None:
        """Why a request is refused; None where it may pass."""
        host = urlsplit("//" + (headers.get("Host") or "")).hostname or ""
        if not self._host_is_ours(host):
            return f"this page is not served as '{host}'"
        origin = headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != headers.get("Host"):
            return f"pages of '{origin}' may not look at this one"
        if self.token and not any(hmac.compare_digest(self.token.encode(), t.encode()) for t in self._tokens(path, headers)):
            return "the address lacks its token"
        return None

    @staticmethod
    def _tokens(path: str, headers: Any) -> list[str]:
        given = list(parse_qs(urlsplit(path).query).get("token", []))
        try:
            cookie = SimpleCookie(headers.get("Cookie") or "")
        except CookieError:
            return given
        return given + ([cookie[COOKIE].value] if COOKIE in cookie else [])

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Servers of websockets that are started meanwhile ask the guard first."""
        import websockets.asyncio.server as server

        serve = server.serve

        def guarded(*arguments: Any, **options: Any) -> Any:
            theirs = options.get("process_request")

            async def ask(connection: Any, request: Any) -> Any:
                why = self.refusal(request.path, request.headers)
                if why is not None:
                    return connection.respond(http.HTTPStatus.FORBIDDEN, why + "\n")
                answer: Any = None if theirs is None else theirs(connection, request)
                if hasattr(answer, "__await__"):
                    answer = await answer
                if answer is not None and self.token:
                    answer.headers["Set-Cookie"] = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                return answer

            options["process_request"] = ask
            return serve(*arguments, **options)

        server.serve = guarded  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            server.serve = serve  # type: ignore[misc]
