"""The page of the viewer on a port of this machine, and who may see it: requests for this host and from its own pages, with
a token where it listens beyond loopback."""

from __future__ import annotations

import contextlib
import hmac
import http.server
import ipaddress
import json
import queue
import secrets
import socket
import threading
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from . import _core, page

if TYPE_CHECKING:
    from .viewer import Viewer

LOOPBACK = ("localhost", "127.0.0.1", "::1")
COOKIE = "tribo_token"
MOST_ORDER = 100_000  # bytes of what a page asks for
BREATH = 15.0  # a sign of life, so that a page that is gone is noticed [s]


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Says why a request is not to be let in."""

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


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers one request, if the guard lets it pass."""

    protocol_version = "HTTP/1.1"
    server: _Listener
    timeout = 60

    def log_message(self, format: str, *arguments: Any) -> None:
        """The terminal is the user's."""

    def _refused(self) -> bool:
        why = self.server.guard.refusal(self.path, self.headers)
        if why is not None:
            self.close_connection = True
            self._answer(HTTPStatus.FORBIDDEN, why + "\n")
        return why is not None

    def _answer(self, status: HTTPStatus, text: str | bytes, kind: str = "text/plain; charset=utf-8") -> None:
        body = text.encode() if isinstance(text, str) else text
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        guard = self.server.guard
        if guard.token and status == HTTPStatus.OK:
            self.send_header("Set-Cookie", f"{COOKIE}={guard.token}; HttpOnly; SameSite=Strict; Path=/")
        self.end_headers()
        self.wfile.write(body)

    def _answer_json(self, value: Any) -> None:
        self._answer(HTTPStatus.OK, json.dumps(value, allow_nan=False), "application/json")

    def do_GET(self) -> None:
        if self._refused():
            return
        viewer, path = self.server.viewer, urlsplit(self.path).path
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            try:
                if path == "/":
                    self._answer(HTTPStatus.OK, page.html(viewer.track.name), "text/html; charset=utf-8")
                elif path == "/scene":
                    self._answer_json(viewer.scene())
                elif path == "/motion":
                    self._answer_json(viewer.motion())
                elif path == "/film":
                    self._answer(HTTPStatus.OK, viewer.film(), "video/mp4")
                elif path == "/events":
                    self._tell_events(viewer)
                else:
                    self._answer(HTTPStatus.NOT_FOUND, "there is no such page\n")
            except (ImportError, RuntimeError, ValueError) as error:  # a simulation that is stepped; no renderer
                self._answer(HTTPStatus.SERVICE_UNAVAILABLE, f"{error}\n")

    def do_POST(self) -> None:
        if self._refused():
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            try:
                size = int(self.headers.get("Content-Length") or 0)
                if urlsplit(self.path).path != "/do" or not 0 < size <= MOST_ORDER:
                    self.close_connection = True
                    self._answer(HTTPStatus.NOT_FOUND, "orders go to /do, as JSON\n")
                    return
                order = json.loads(self.rfile.read(size))
                if not isinstance(order, dict):
                    raise ValueError("an order is a JSON object")
                self.server.viewer.perform(order)
                self._answer(HTTPStatus.OK, "")
            except (KeyError, TypeError) as error:
                self._answer(HTTPStatus.BAD_REQUEST, f"refused: the order is not complete ({error})\n")
            except (RuntimeError, ValueError, IndexError) as error:
                self._answer(HTTPStatus.BAD_REQUEST, f"refused: {error}\n")

    def _tell_events(self, viewer: Viewer) -> None:
        """What happens, until the page is left or the viewer ends."""
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        told = viewer.watched()
        try:
            while True:
                try:
                    kind, value = told.get(timeout=BREATH)
                except queue.Empty:
                    kind, value = "", None
                if kind == "end":
                    return
                self.wfile.write(f"event: {kind}\ndata: {json.dumps(value)}\n\n".encode() if kind else b": here\n\n")
                self.wfile.flush()
        finally:
            viewer.left(told)


class _Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, viewer: Viewer, guard: Guard, port: int) -> None:
        self.viewer, self.guard = viewer, guard
        if ":" in guard.host:
            self.address_family = socket.AF_INET6
        super().__init__((guard.host, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no error."""


class Server:
    """Listens until it is closed. A port that is taken is left for the next free one."""

    def __init__(self, viewer: Viewer, host: str, port: int) -> None:
        if not 0 <= int(port) <= 65535:
            raise _core.InvalidInput(f"port is {port}, must be from 0 to 65535")
        self.guard = Guard(host)
        self._listener = self._bound(viewer, int(port))
        self._thread = threading.Thread(target=self._listener.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self._thread.start()

    def _bound(self, viewer: Viewer, port: int) -> _Listener:
        first, why = port, None
        for port in range(first, first + 1 if first == 0 else min(first + 100, 65536)):
            try:
                return _Listener(viewer, self.guard, port)
            except OSError as error:
                why = error
        raise _core.InvalidInput(f"cannot listen at {self.guard.host}, port {first}: {why}")

    @property
    def port(self) -> int:
        return int(self._listener.server_address[1])

    @property
    def url(self) -> str:
        host = self.guard.host
        shown = "127.0.0.1" if is_loopback(host) and ":" not in host or host in ("0.0.0.0", "::") else host
        shown = f"[{shown}]" if ":" in shown else shown
        return f"http://{shown}:{self.port}" + (f"/?token={self.guard.token}" if self.guard.token else "")

    def close(self) -> None:
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join(timeout=2)
