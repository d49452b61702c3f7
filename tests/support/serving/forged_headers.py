"""Attacks by pages of other sites in the same browser: DNS rebinding, foreign and missing Origins, odd requests."""

from __future__ import annotations

import contextlib

from support.serving.attacks import attack
from support.serving.targets import EVIL, FILE, Target

REFUSED = "403 and a sentence"
MISDIRECTED = "421 and a sentence"


def _hosts_refused(target: Target, *hosts: str) -> None:
    for host in hosts:
        assert target.request("/", host=host).status in (400, 421), host
        assert target.upgrade(host=host)[0] in (400, 421), host


@attack("Rebind a DNS name to 127.0.0.1 and send it as Host, with the cookie", MISDIRECTED, "Host")
def rebound_host(target: Target) -> None:
    _hosts_refused(target, "evil.example", f"evil.example:{target.server.port}")


@attack("Send a Host that begins or ends like this computer's", MISDIRECTED, "Host")
def similar_host(target: Target) -> None:
    _hosts_refused(
        target, "127.0.0.1.evil.example", "localhost.evil.example", "evil-localhost", "localhost.", "xlocalhost"
    )


@attack("Send a Host with a user, a path or a port that is no number", MISDIRECTED, "Host")
def decorated_host(target: Target) -> None:
    _hosts_refused(target, "127.0.0.1@evil.example", "127.0.0.1/evil", "127.0.0.1:80:80", "localhost:evil", "[::1]evil")


@attack("Write 127.0.0.1 in another way: 127.1, a whole number, 0.0.0.0, mapped to IPv6", MISDIRECTED, "Host")
def other_spellings_of_the_host(target: Target) -> None:
    _hosts_refused(target, "127.1", "2130706433", "0x7f000001", "0.0.0.0", "[::ffff:127.0.0.1]", "[::]")


@attack("Leave the Host out", "400 and a sentence", None)
def no_host(target: Target) -> None:
    assert target.request("/", host="").status in (400, 421)
    assert target.raw(f"GET / HTTP/1.0\r\nCookie: {target.cookie}\r\n\r\n".encode()).status in (400, 421)


@attack("Send two Host headers", "400", None)
def two_hosts(target: Target) -> None:
    assert target.request("/", "GET", ("Host", "evil.example")).status in (400, 421)


@attack("Name another server in the request line (as to a proxy)", "400 and a sentence", "paths")
def absolute_target(target: Target) -> None:
    assert target.request(f"http://{target.host}{FILE}").status == 400
    assert target.request("http://evil.example/").status == 400


def _origins_refused(target: Target, *origins: str | None) -> None:
    for origin in origins:
        assert target.upgrade(origin=origin)[0] == 403, origin


@attack("Open the channel from a page of another site, with the cookie", REFUSED, "Origin")
def foreign_origin(target: Target) -> None:
    _origins_refused(target, EVIL, "https://evil.example:443")


@attack("Open the channel without an Origin, with the cookie", REFUSED, "Origin")
def missing_origin(target: Target) -> None:
    _origins_refused(target, None)


@attack("Open the channel from a file or a sandboxed frame (Origin null)", REFUSED, "Origin")
def null_origin(target: Target) -> None:
    _origins_refused(target, "null", "file://", "")


@attack("Open the channel from another server on this computer (another port)", REFUSED, "Origin")
def origin_of_another_port(target: Target) -> None:
    _origins_refused(target, "http://127.0.0.1", "http://127.0.0.1:9", f"http://127.0.0.1:{target.server.port}0")


@attack("Open the channel of 127.0.0.1 from a page of localhost, and with another scheme", REFUSED, "Origin")
def origin_of_another_name(target: Target) -> None:
    _origins_refused(target, f"http://localhost:{target.server.port}", f"https://{target.host}", f"ws://{target.host}")


@attack("Send an Origin that begins or ends like the right one", REFUSED, "Origin")
def similar_origin(target: Target) -> None:
    own = f"http://{target.host}"
    _origins_refused(target, f"{own}.evil.example", f"{EVIL}#{own}", f"{own}/", f"{own}@evil.example", own.upper())


@attack("Send two Origins, the right one first", "400 or 403", "Origin")
def two_origins(target: Target) -> None:
    assert target.upgrade(("Origin", EVIL))[0] in (400, 403)
    assert target.request(FILE, "GET", ("Origin", f"http://{target.host}"), ("Origin", EVIL)).status == 403


@attack("Post a file from a page of another site, with the cookie", REFUSED, "Origin")
def foreign_post(target: Target) -> None:
    assert target.post("/upload/new.txt", b"x", ("Origin", EVIL)).status == 403
    assert target.post("/upload/new.txt", b"x", ("Origin", "null")).status == 403
    assert target.folder is None or not (target.folder / "new.txt").exists()


@attack("Post a file without an Origin, with the cookie", REFUSED, "Origin")
def post_without_origin(target: Target) -> None:
    assert target.request("/upload/new.txt", "POST", ("Content-Length", "1"), body=b"x").status == 403


@attack("Read a file by a script of another site (fetch with CORS)", "403, no header that allows it", "Origin")
def foreign_fetch(target: Target) -> None:
    answer = target.request(FILE, "GET", ("Origin", EVIL))
    assert answer.status == 403 and not any(name.startswith("access-control") for name, _ in answer.headers)


@attack("Load a file as a script or picture of another site, also of another port", REFUSED, "Origin")
def foreign_script(target: Target) -> None:
    for site in ("cross-site", "same-site"):
        fetched = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "script")]
        assert target.request(FILE, "GET", *fetched).status == 403


@attack("Ask beforehand whether another site may send requests (CORS preflight)", "405, nothing is allowed", "methods")
def preflight(target: Target) -> None:
    asked = [("Origin", f"http://{target.host}"), ("Access-Control-Request-Method", "PUT")]
    answer = target.request("/upload/x", "OPTIONS", *asked)
    assert answer.status == 405 and not any(name.startswith("access-control") for name, _ in answer.headers)
    assert b"Only GET, HEAD and POST" in answer.body


@attack("Use other methods: PUT, DELETE, PATCH, TRACE, or one in a header", "405", "methods")
def other_methods(target: Target) -> None:
    for method in ("PUT", "DELETE", "PATCH", "TRACE"):
        answer = target.request(FILE, method, ("Origin", f"http://{target.host}"), ("Content-Length", "0"))
        assert answer.status == 405 and b"Only GET, HEAD and POST" in answer.body, method
    overridden = target.request(FILE, "GET", ("X-HTTP-Method-Override", "DELETE"))
    assert overridden.status == 200


@attack("Pretend by proxy headers to be another host or client", MISDIRECTED, "Host")
def proxy_headers(target: Target) -> None:
    forwarded = [
        ("X-Forwarded-Host", target.host),
        ("X-Forwarded-For", "127.0.0.1"),
        ("Forwarded", f"host={target.host}"),
    ]
    assert target.request("/", "GET", *forwarded, host="evil.example").status == 421


@attack("Announce a body by two lengths, or by a length and in chunks (request smuggling)", "400 or 415", None)
def smuggled(target: Target) -> None:
    for rows in (
        [("Content-Length", "5"), ("Content-Length", "6")],
        [("Content-Length", "5"), ("Transfer-Encoding", "chunked")],
        [("Transfer-Encoding", "chunked, identity")],
        [("Content-Length", "+5")],
    ):
        answer = target.request("/upload/x", "POST", ("Origin", f"http://{target.host}"), *rows, body=b"0\r\n\r\nx")
        assert answer.status in (400, 411, 415, 501), rows


@attack("Send the beginning of HTTP/2, or no HTTP at all", "400, and the connection is closed", None)
def no_http(target: Target) -> None:
    for data in (
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"\r\n\r\n\0\0\r\n\r\n",
        b"GET\r\n\r\n",
    ):
        with target.dial() as line:
            line.sendall(data)
            line.shutdown(1)
            line.settimeout(0.3)
            with contextlib.suppress(TimeoutError):
                assert line.recv(100)[9:12] in (b"400", b"421", b"")
    assert target.answers()


@attack("Open a WebSocket at another address than the channel's", "403 or 404", None)
def other_channel(target: Target) -> None:
    for path in ("/", FILE, "/channel/", "/channel/x", "/upload/x"):
        status, line = target.upgrade(path=path)
        line.close()
        assert status in (403, 404), path
