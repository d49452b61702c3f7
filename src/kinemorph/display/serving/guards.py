"""The checks that every request passes before the application sees it, HTTP and WebSocket alike.

1. The Host header names this computer, with any port (`ssh -L` chooses its own): a name that an attacker's DNS server
   has moved to 127.0.0.1 is refused.
2. The request carries a key: the token in its address (which is exchanged for a cookie), the cookie, the token in the
   header `Authorization: Bearer`, or the key in the address of a notebook's frame.
3. The Origin header equals the Host on a WebSocket and on every request that changes something. It may be missing only
   with the token as a header, which no foreign page can send.
4. The address is plain after decoding: no `..`, no backslash, no control characters.
5. Bodies are announced, bounded and not compressed; requests do not exceed a rate.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from kinemorph.display.serving.limits import Allowance, Limits
from kinemorph.display.serving.policies import SECURITY, page_policy

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

READING = frozenset({"GET", "HEAD"})
METHODS = READING | {"POST"}
HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9.-]{1,253})(?::(\d{1,5}))?")
THIS_COMPUTER = frozenset({"127.0.0.1", "localhost", "[::1]"})
FRAME = "/frame/"
AGAIN = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/"><title>Kinemorph</title>'


@dataclass(frozen=True)
class Keys:
    """The secrets of one server, and the name of its cookie. They are random and end with the server."""

    cookie: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    frame: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)


class Refused(Exception):
    """A request that is not served: its HTTP status and the sentence of the answer."""

    def __init__(self, status: int, sentence: str, page: str | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.page = status, sentence, page


class Entered(Exception):
    """A request with the right token in its address, which is answered with the cookie."""


class Guards:
    """An application that passes on only the requests that are allowed, and adds the security headers to answers.

    `hosts` are the names of this computer that a Host header may hold, `any_address` whether it may also hold any IP
    address (for a server that other computers reach), `framed` whether notebooks may show the page in a frame.
    """

    def __init__(
        self,
        application: Application,
        keys: Keys,
        limits: Limits,
        *,
        hosts: frozenset[str] = THIS_COMPUTER,
        any_address: bool = False,
        framed: bool = False,
    ) -> None:
        self._application, self._keys, self._limits = application, keys, limits
        self._hosts, self._any_address, self._framed = hosts, any_address, framed
        self._rates = {known: Allowance(limits.requests_per_second, limits.requests_at_once) for known in (False, True)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, or refuses it with a sentence."""
        if scope["type"] not in ("http", "websocket"):
            return
        host, framed = "", False
        try:
            headers = Headers(scope)
            host = self._host(headers)
            framed = self._unframed(scope)
            self._check(scope, headers, host, framed)
        except Refused as refused:
            await _refuse(scope, send, refused, host)
        except Entered:
            cookie = f"{self._keys.cookie}={self._keys.session}; Path=/; HttpOnly; SameSite=Strict"
            await _answer(send, 303, "", {"Location": "/", "Set-Cookie": cookie}, host)
        else:
            await self._serve(scope, receive, _with_headers(send, host, framed))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._application(scope, receive, send)
        except OSError:
            return  # the page has gone
        except Exception as error:  # the answer has been sent: 500, without the reason
            sys.excepthook(type(error), error, error.__traceback__)

    # ── the checks ────────────────────────────────────────────────────────────────────────────────────────────────

    def _host(self, headers: Headers) -> str:
        """The Host header, after it was found to name this computer."""
        hosts = headers.all("host")
        found = HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        name = found[1].lower() if found else ""
        if not found or not (name in self._hosts or (self._any_address and _is_address(name))):
            raise Refused(421, "This server answers only requests to this computer: http://127.0.0.1 or localhost.")
        return hosts[0]

    def _unframed(self, scope: Scope) -> bool:
        """Whether the address has the key of a frame, which is removed from it."""
        path = scope["path"]
        if not path.startswith(FRAME):
            return False
        key, slash, rest = path.removeprefix(FRAME).partition("/")
        if not self._framed or not slash or not _same(key, self._keys.frame):
            raise Refused(403, "This frame belongs to a viewer that has stopped. Run its cell again.")
        scope["path"] = "/" + rest
        raw = scope.get("raw_path") or b""
        scope["raw_path"] = raw[len(FRAME) + len(key) :]
        return True

    def _check(self, scope: Scope, headers: Headers, host: str, framed: bool) -> None:
        if headers.size > self._limits.header_bytes:
            raise Refused(
                431, f"The headers have {headers.size} bytes; at most {self._limits.header_bytes} are accepted."
            )
        _check_path(scope["path"])
        bearer = self._bearer(headers)
        known = framed or bearer or self._has_cookie(headers)
        if self._rates[known].refuses():
            raise Refused(429, "Too many requests in a short time. Wait a second and reload the page.")
        method = "GET" if scope["type"] == "websocket" else scope["method"]
        if method not in METHODS:
            raise Refused(405, "Only GET, HEAD and POST are answered.")
        self._check_origin(scope, headers, host, bearer)
        if not known:
            self._enter(scope, headers)
        _check_body(method, headers, self._limits)
        if scope["type"] == "http" and scope["path"] == "/" and _token_of(scope):
            raise Entered  # a known page that is opened by its address again

    def _enter(self, scope: Scope, headers: Headers) -> None:
        """Ends a request without a key: it is let in with the token, and otherwise refused."""
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == "/":
            if _same(_token_of(scope), self._keys.token):
                raise Entered
            if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") == "navigate":
                # a browser keeps a strict cookie back when a link of another site was followed: the page loads itself
                raise Refused(403, "The page is loaded again.", AGAIN)
        raise Refused(
            403, "This page needs the token of its address. Open the address that the program printed, with its token."
        )

    def _check_origin(self, scope: Scope, headers: Headers, host: str, bearer: bool) -> None:
        origins = headers.all("origin")
        changes = scope["type"] == "websocket" or scope["method"] not in READING
        if not origins and changes and not bearer:
            raise Refused(403, "The request has no Origin. Send the token as the header 'Authorization: Bearer ...'.")
        if origins and origins != [f"http://{host}"]:
            raise Refused(403, "The request comes from a page of another site.")
        site, mode = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode")
        if site in ("cross-site", "same-site") and mode != "navigate" and not bearer:
            raise Refused(403, "A page of another site asks for this file.")

    def _bearer(self, headers: Headers) -> bool:
        kind, _, token = headers.get("authorization").partition(" ")
        return kind.lower() == "bearer" and _same(token.strip(), self._keys.token)

    def _has_cookie(self, headers: Headers) -> bool:
        for line in headers.all("cookie"):
            try:
                morsel = SimpleCookie(line).get(self._keys.cookie)
            except CookieError:
                continue
            if morsel is not None and _same(morsel.value, self._keys.session):
                return True
        return False


class Headers:
    """The headers of a request, by lower-case names."""

    def __init__(self, scope: Scope) -> None:
        self._rows = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        address = len(scope.get("raw_path") or b"") + len(scope.get("query_string", b""))
        self.size = address + sum(len(name) + len(value) for name, value in self._rows)  # with the address [bytes]

    def all(self, name: str) -> list[str]:
        """All values of a header."""
        return [value for key, value in self._rows if key == name]

    def get(self, name: str) -> str:
        """The only value of a header; empty where it is missing or there are several."""
        values = self.all(name)
        return values[0] if len(values) == 1 else ""


def _check_path(path: str) -> None:
    """Refuses addresses that are unusual after decoding, whatever they would mean to the application."""
    segments = path.split("/")
    if not path.startswith("/") or "\\" in path or ".." in segments or "." in segments or not path.isprintable():
        raise Refused(400, "The address has '..', a backslash or a control character.")


def _check_body(method: str, headers: Headers, limits: Limits) -> None:
    lengths = headers.all("content-length")
    if headers.all("transfer-encoding") or headers.get("content-encoding").lower() not in ("", "identity"):
        raise Refused(415, "Bodies are accepted uncompressed and with their length announced only.")
    length = int(lengths[0]) if len(lengths) == 1 and lengths[0].isascii() and lengths[0].isdigit() else None
    if method in READING:
        if lengths and length != 0:
            raise Refused(400, f"A {method} request has no body.")
    elif length is None:
        raise Refused(411, "The length of the body is missing.")
    elif length > limits.body_bytes:
        raise Refused(413, f"The body has {length} bytes; at most {limits.body_bytes} are accepted.")


def _token_of(scope: Scope) -> str:
    """The token in the address; empty where there is none."""
    query: str = scope.get("query_string", b"").decode("latin-1")
    try:
        return parse_qs(query, max_num_fields=8).get("token", [""])[0]
    except ValueError:
        return ""


def _same(given: str, secret: str) -> bool:
    """Whether two texts are equal; the time that it takes does not depend on where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


# ── answers ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def _refuse(scope: Scope, send: Send, refused: Refused, host: str) -> None:
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
        return
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    text, media = (refused.sentence + "\n", "text/plain") if refused.page is None else (refused.page, "text/html")
    more = {"Content-Type": f"{media}; charset=utf-8", "Connection": "close"}
    await _answer(send, refused.status, text, more, host, kind)


async def _answer(
    send: Send, status: int, text: str, more: dict[str, str], host: str, kind: str = "http.response"
) -> None:
    body = text.encode()
    headers = SECURITY | {"Content-Security-Policy": page_policy(host, framed=False)} | more
    rows = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    rows.append((b"content-length", str(len(body)).encode()))
    await send({"type": f"{kind}.start", "status": status, "headers": rows})
    await send({"type": f"{kind}.body", "body": body})


def _with_headers(send: Send, host: str, framed: bool) -> Send:
    """A `send` that adds the security headers to a response; those which the application has set stay."""
    headers = SECURITY | {"Content-Security-Policy": page_policy(host, framed=framed)}

    async def guarded(message: Any) -> None:
        if message["type"] == "http.response.start":
            rows = list(message.get("headers", []))
            given = {name.lower() for name, _ in rows}
            added = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
            message = message | {"headers": rows + [row for row in added if row[0] not in given]}
        await send(message)

    return guarded
