"""Attacks without the token, or with something that is not quite the token."""

from __future__ import annotations

from kinemorph.display.serving.server import Site, start
from support.serving.attacks import attack
from support.serving.targets import FILE, Target

REFUSED = "403 and a sentence"


@attack("Open the page without the token", REFUSED, "key")
def no_token(target: Target) -> None:
    assert target.request("/", key=None).status == 403


@attack("Load a script of the page without the token", REFUSED, "key")
def no_token_for_a_file(target: Target) -> None:
    assert target.request(FILE, key=None).status == 403


@attack("Open the channel with the right Origin but without the token", REFUSED, "key")
def no_token_for_the_channel(target: Target) -> None:
    assert target.upgrade(key=None)[0] == 403


@attack("Guess the token", REFUSED, "comparison")
def wrong_token(target: Target) -> None:
    for guess in (
        "",
        "x",
        "A" * 43,
        target.server.token[:-1],
        target.server.token + "A",
        target.server.token.swapcase(),
    ):
        assert target.request(f"/?token={guess}", key=None).status == 403, guess


@attack("Put the token into the address of a file, where it would be kept in histories", REFUSED, "key")
def token_in_the_address_of_a_file(target: Target) -> None:
    assert target.request(f"{FILE}?token={target.server.token}", key=None).status == 403


@attack("Send the token as a POST to the page", REFUSED, "key")
def token_by_post(target: Target) -> None:
    assert target.post(f"/?token={target.server.token}", b"", key=None).status == 403


@attack("Use the cookie of another viewer on this computer", REFUSED, "comparison")
def cookie_of_another_server(target: Target) -> None:
    with start(Site("other", "other")) as other:
        stranger = Target("other", other, "x")
        value = stranger.cookie.partition("=")[2]
        for cookie in (stranger.cookie, f"{target.cookie.partition('=')[0]}={value}"):
            assert target.request(FILE, "GET", ("Cookie", cookie), key=None).status == 403


@attack("Use the token as the cookie, or the cookie as the token", REFUSED, "comparison")
def keys_exchanged(target: Target) -> None:
    name, _, value = target.cookie.partition("=")
    assert target.request(FILE, "GET", ("Cookie", f"{name}={target.server.token}"), key=None).status == 403
    assert target.request(FILE, "GET", ("Authorization", f"Bearer {value}"), key=None).status == 403


@attack("Send a damaged Cookie header", REFUSED, "key")
def damaged_cookie(target: Target) -> None:
    for cookie in ("=", ";;;", "a" * 4000, f"{target.cookie[:-4]}", "kinemorph=\x00", '"'):
        assert target.request(FILE, "GET", ("Cookie", cookie), key=None).status in (400, 403), cookie


@attack("Send the token by another scheme of the Authorization header, or twice", REFUSED, "key")
def wrong_authorization(target: Target) -> None:
    token = target.server.token
    assert target.request(FILE, "GET", ("Authorization", f"Basic {token}"), key=None).status == 403
    twice = [("Authorization", f"Bearer {token}"), ("Authorization", "Bearer x")]
    assert target.request(FILE, "GET", *twice, key=None).status == 403


@attack("Guess the key of a notebook's frame, or use the token in its place", REFUSED, "comparison")
def wrong_frame(target: Target) -> None:
    for key in ("x", "", target.server.token):
        assert target.request(f"/frame/{key}/", key=None).status in (403, 404), key
        assert target.upgrade(key=None, path=f"/frame/{key}/channel")[0] == 403


@attack("Send a second request without a key after one with a key, on the same connection", REFUSED, "key")
def pipelined(target: Target) -> None:
    first = target.head("/", "GET", [], None, "cookie")
    second = target.head(FILE, "GET", [("Connection", "close")], None, None)
    answers = target.raw(first + second).body
    assert b"HTTP/1.1 403" in answers and b"HTTP/1.1 200" not in answers


@attack("Reach the server from another address of this computer than 127.0.0.1", "no connection", None)
def other_address(target: Target) -> None:
    import socket

    for row in socket.getaddrinfo(socket.gethostname(), target.server.port, socket.AF_INET, socket.SOCK_STREAM):
        address = row[4][0]
        if str(address).startswith("127."):
            continue
        with socket.socket() as line:
            line.settimeout(1.0)
            assert line.connect_ex((str(address), target.server.port)) != 0, address
