"""Who may talk to the server: the token, the names it goes by, where requests come from, and headers of all answers."""

from __future__ import annotations

import hmac
import ipaddress
import platform
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edhie.files import remove_link

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERY_ADDRESS = ("0.0.0.0", "::")
SAFE = ("GET", "HEAD")
MONTH = 30 * 24 * 3600  # seconds that a browser keeps the cookie


@dataclass
class Access:
    """The secrets of a server and the names it may be called by.

    The token is in the address that is printed, and new each time. The cookie holds another secret, which is kept in a
    file, so that an open page goes on after a restart. The address that is opened in a browser has a code that works
    once, since other users of the machine can see it among the processes.
    """

    host: str
    port: int
    cookie: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    codes: set[str] = field(default_factory=set)

    @property
    def cookie_name(self) -> str:
        """The name of the cookie; cookies are shared by all ports of a host."""
        return f"edhie-studio-{self.port}"

    @property
    def address(self) -> str:
        """The address of the page, without the token."""
        host = "127.0.0.1" if self.host in EVERY_ADDRESS else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    def address_for_a_browser(self) -> str:
        """Return an address that opens the page once."""
        self.codes.add(code := secrets.token_urlsafe(24))
        return f"{self.address}?token={code}"

    def admits(self, token: str) -> bool:
        """Return whether a token opens the page; a code is used up."""
        given = token.encode()
        for code in list(self.codes):
            if hmac.compare_digest(given, code.encode()):
                self.codes.discard(code)
                return True
        return hmac.compare_digest(given, self.token.encode())

    def knows(self, headers: Mapping[str, str]) -> bool:
        """Return whether a request has the cookie."""
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        given = cookies[self.cookie_name].value if self.cookie_name in cookies else ""
        return hmac.compare_digest(given.encode(), self.cookie.encode())

    def is_own_host(self, host: str) -> bool:
        """Return whether a Host header names this server.

        A page that was opened under another name (DNS rebinding) sends that name. Where the server listens on every
        address, it may be called by any number, which is no name, and by the name of the machine.
        """
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        if parts.netloc != host or "@" in host or port != self.port:
            return False
        if name in (*LOOPBACK, self.host.lower()):
            return True
        return self.host in EVERY_ADDRESS and (_is_number(name) or name == platform.node().lower())


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def kept_secret(path: Path) -> str:
    """Return the secret in a file that only its owner can read; a new one if there is none."""
    try:
        if not path.is_symlink() and path.stat().st_mode & 0o077 == 0 and len(text := path.read_text().strip()) >= 32:
            return text
    except OSError:
        pass
    secret = secrets.token_urlsafe(32)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_link(path)
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(secret)
    return secret


class Guard:
    """Middleware that refuses requests from elsewhere, and adds headers to every answer."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if not scope["path"].startswith("/static/"):
                    headers["Cache-Control"] = "no-store"
            await send(message)

        answer = self._answer(scope, Headers(scope=scope))
        await (answer or self.app)(scope, receive, send_with_headers)

    def _answer(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the answer to a request that does not reach the application; None if it does."""
        if fault := self._fault(scope, headers):
            return JSONResponse({"error": fault}, 403)
        if token := self._token(scope):
            return self._entry(token)
        if not self.access.knows(headers):
            return JSONResponse({"error": "open the address that `edhie studio` printed; it has a token"}, 401)
        return None

    def _fault(self, scope: Scope, headers: Headers) -> str | None:
        """Return why a request is not from the page of this server; None if it may be."""
        if len(headers.getlist("host")) != 1 or not self.access.is_own_host(headers["host"]):
            return f"this server is {self.access.address}; it does not answer to another name"
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        scheme, _, host = (origin or "").partition("://")
        if origin is not None and not (scheme == "http" and self.access.is_own_host(host)):
            return "requests from other pages are refused"
        if scope["method"] not in SAFE and origin is None and site != "same-origin":
            return "requests that change something must come from the page of this server"
        return None

    def _token(self, scope: Scope) -> str:
        """Return the token in the address of the page."""
        if scope["path"] != "/" or scope["method"] not in SAFE:
            return ""
        query: bytes = scope["query_string"]
        return parse_qs(query.decode("latin-1")).get("token", [""])[0]

    def _entry(self, token: str) -> Response:
        """Exchange the token for a cookie, and lead to the page without the token in its address."""
        if not self.access.admits(token):
            again = "the address has a token that is not right, or was used; open the one that `edhie studio` printed"
            return JSONResponse({"error": again}, 403)
        cookie = f"{self.access.cookie_name}={self.access.cookie}; Path=/; Max-Age={MONTH}; HttpOnly; SameSite=Strict"
        return RedirectResponse("/", 303, {"set-cookie": cookie})
