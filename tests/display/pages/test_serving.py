"""The server of pages: it answers soon, lets in who has the token, and a slow page delays only itself."""

import http.client
import json
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from kinemorph.display.serving.channel import Channel
from kinemorph.display.serving.server import Server, start
from kinemorph.display.serving.site import Download, Site
from kinemorph.errors import MissingExtraError, ModelError, Problem, UnsupportedError

pytest.importorskip("starlette")
websockets = pytest.importorskip("websockets.sync.client")


class Echo:
    """A site that answers with what it was asked, and keeps the channels of its pages."""

    def __init__(self) -> None:
        self.channels: list[Channel] = []
        self.uploaded: dict[str, bytes] = {}
        self.site = Site(
            "echo",
            "<!doctype html><title>echo</title>",
            folders={"page": files("kinemorph.display.serving").joinpath("page")},
            answer=self.answer,
            opened=self.channels.append,
            closed=self.channels.remove,
            download=lambda name: (
                Download(b"<script>alert(1)</script>", "text/html", "ü.html") if name == "a" else None
            ),
            upload=self.upload,
            framed=True,
        )

    def answer(self, channel: Channel, ask: str, args: dict[str, Any]) -> Any:
        if ask == "fail":
            raise ModelError([Problem("joint", "knee", "pitch is 2", "Leave it out.")])
        if ask == "wait":
            time.sleep(args["seconds"])
        return {"ask": ask, "args": args}

    def upload(self, name: str, content: bytes) -> Any:
        self.uploaded[name] = content
        return len(content)


@pytest.fixture(scope="module")
def echo() -> Iterator[Echo]:
    echo = Echo()
    echo.server = start(echo.site)  # type: ignore[attr-defined]
    yield echo
    echo.server.stop()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def server(echo: Echo) -> Server:
    return echo.server  # type: ignore[attr-defined,no-any-return]


def got(server: Server, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Any:
    """The response to a request with the token as a header; `.content` is its body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5.0)
    connection.request(method, path, body, {"Authorization": f"Bearer {server.token}"} | headers)
    response: Any = connection.getresponse()
    response.content = response.read()
    connection.close()
    return response


def page(server: Server, **options: Any) -> Any:
    """A page that is connected to the channel."""
    address = f"ws://127.0.0.1:{server.port}/channel"
    return websockets.connect(address, additional_headers={"Authorization": f"Bearer {server.token}"}, **options)


def asked(connection: Any, ask: str, **args: Any) -> Any:
    connection.send(json.dumps({"id": 1, "ask": ask, "args": args}))
    return json.loads(connection.recv(timeout=5.0))


def until(true: Any, seconds: float = 3.0) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(true())


def test_the_token_becomes_a_cookie_with_which_the_page_is_served(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5.0)
    connection.request("GET", server.url.removeprefix(server.origin))
    entered = connection.getresponse()
    entered.read()
    assert (entered.status, entered.getheader("Location")) == (303, "/")
    cookie, *attributes = (part.strip() for part in str(entered.getheader("Set-Cookie")).split(";"))
    assert {"HttpOnly", "SameSite=Strict"} <= set(attributes) and str(server.port) in cookie.partition("=")[0]
    assert server.token not in cookie
    connection.request("GET", "/", headers={"Cookie": f"other=1; {cookie}"})
    served = connection.getresponse()
    assert (served.status, served.read()) == (200, b"<!doctype html><title>echo</title>")
    with websockets.connect(
        f"ws://127.0.0.1:{server.port}/channel", origin=server.origin, additional_headers={"Cookie": cookie}
    ) as channel:
        assert asked(channel, "x", y=1)["result"] == {"ask": "x", "args": {"y": 1}}


def test_a_notebook_frame_has_an_address_of_its_own_without_cookies(server: Server) -> None:
    path = server.frame_url.removeprefix(server.origin)
    framed = got(server, path, Authorization="")
    assert framed.status == 200 and "frame-ancestors http://localhost:*" in framed.headers["Content-Security-Policy"]
    assert got(server, path + "serving/connection.js", Authorization="").status == 200
    with websockets.connect(f"ws://127.0.0.1:{server.port}{path}channel", origin=server.origin) as channel:
        assert asked(channel, "x")["result"]["ask"] == "x"


def test_errors_are_sentences_with_their_findings(server: Server) -> None:
    with page(server) as channel:
        told = asked(channel, "fail")
        assert told["error"] == "joint 'knee': pitch is 2. Leave it out."
        assert told["findings"][0]["element"] == "joint 'knee'" and told["findings"][0]["remedy"] == "Leave it out."


def test_a_slow_answer_delays_neither_the_next_one_nor_another_page(server: Server) -> None:
    with page(server) as slow, page(server) as other:
        slow.send(json.dumps({"id": 9, "ask": "wait", "args": {"seconds": 0.4}}))
        assert asked(slow, "x")["id"] == 1 and asked(other, "x")["id"] == 1  # before the slow one
        assert json.loads(slow.recv(timeout=5.0))["id"] == 9


def test_binary_frames_have_a_header(echo: Echo, server: Server) -> None:
    with page(server) as channel:
        asked(channel, "x")
        echo.channels[-1].post_bytes({"push": "scene"}, lambda: bytes(range(5)))
        frame = channel.recv(timeout=5.0)
        (length,) = struct.unpack("<I", frame[:4])
        assert json.loads(frame[4 : 4 + length]) == {"push": "scene"} and frame[4 + length :] == bytes(range(5))


def test_downloads_are_saved_and_never_shown_as_pages(echo: Echo, server: Server) -> None:
    found = got(server, "/download/a")
    assert found.status == 200 and found.headers["Content-Disposition"] == "attachment; filename*=UTF-8''%C3%BC.html"
    assert "sandbox" in found.headers["Content-Security-Policy"]
    assert got(server, "/download/b").status == 404
    sent = got(server, "/upload/robot.toml", "POST", b"x" * 1000, Origin=server.origin)
    assert json.loads(sent.content) == {"result": 1000} and echo.uploaded["robot.toml"] == b"x" * 1000


def test_a_page_that_was_loaded_is_not_sent_again(server: Server) -> None:
    first = got(server, "/serving/connection.js")
    assert first.headers["Content-Type"].startswith("text/javascript") and b"export function connect" in first.content
    again = got(server, "/serving/connection.js", **{"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.content) == (304, b"")


@pytest.mark.slow
def test_starts_and_answers_soon_with_all_its_imports() -> None:
    script = (
        "import time, kinemorph\n"
        "begin = time.perf_counter()\n"
        "from kinemorph.display.serving.server import start\n"
        "from kinemorph.display.serving.site import Site\n"
        "import http.client\n"
        "server = start(Site('x', 'x'))\n"
        "connection = http.client.HTTPConnection('127.0.0.1', server.port)\n"
        "connection.request('GET', server.url.removeprefix(server.origin))\n"
        "assert connection.getresponse().status == 303\n"
        "print(time.perf_counter() - begin)"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert float(told) < 1.5  # less than 0.3 s on an idle machine


def test_stop_frees_the_port_and_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    echo = Echo()
    server = start(echo.site)
    channel = page(server)
    asked(channel, "x")
    server.stop()
    server.stop()
    channel.close()
    assert until(lambda: not set(threading.enumerate()) - before)
    assert not server.running and "stopped" in repr(server) and server.token not in repr(server)
    with start(echo.site, server.port) as again:
        assert again.port == server.port and again.token != server.token


def test_a_busy_port_a_foreign_host_and_a_missing_package_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site("x", "x")
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with pytest.raises(UnsupportedError, match=f"port {port} is taken"):
            start(site, port)
    for wrong in (-1, 70_000, "8080", 8080.0, True):
        with pytest.raises(UnsupportedError, match="expected a whole number"):
            start(site, wrong)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="other computers can reach"):
        start(site, host="0.0.0.0")
    with pytest.raises(UnsupportedError, match="no address of this computer"):
        start(site, host="192.0.2.1", other_computers=True)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"kinemorph\[studio\]"):
        start(site, extra="studio")


# ── slow pages ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_page_that_reads_nothing_gets_the_newest_picture_and_holds_up_nobody(echo: Echo, server: Server) -> None:
    with page(server, max_queue=1, close_timeout=0.2) as stalled, page(server) as other:
        asked(stalled, "x")
        asked(other, "x")
        slow, quick = echo.channels
        picture = b"\0" * 500_000
        begin = time.perf_counter()
        for number in range(200):
            slow.post_bytes({"push": "scene", "number": number}, picture, latest="scene")
            time.sleep(0.0005)
        assert time.perf_counter() - begin < 20.0  # posting never waits for the page
        quick.post({"push": "note"})
        assert json.loads(other.recv(timeout=5.0)) == {"push": "note"}
        assert slow._bytes <= 1_000_000
        numbers = []
        while not numbers or numbers[-1] < 199:
            frame = stalled.recv(timeout=5.0)
            numbers.append(json.loads(frame[4 : 4 + struct.unpack("<I", frame[:4])[0]])["number"])
        assert numbers == sorted(numbers) and len(numbers) < 100


def test_a_page_with_too_many_waiting_messages_is_disconnected(echo: Echo, server: Server) -> None:
    with page(server, max_queue=1, close_timeout=0.2) as stalled:
        asked(stalled, "x")
        slow = echo.channels[-1]
        for _ in range(100_000):
            slow.post({"push": "x" * 1000})
            if slow.closed:
                break
        assert slow.closed and slow.ending is not None and slow.ending[0] == 1013
    assert until(lambda: slow not in echo.channels)


def test_stops_soon_though_a_page_reads_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    echo = Echo()
    server = start(echo.site)
    with page(server, max_queue=1, close_timeout=0.1) as stalled:
        asked(stalled, "x")
        for _ in range(30):
            echo.channels[-1].post_bytes({"push": "x"}, bytes(1_000_000))
        assert until(lambda: len(echo.channels[-1]._waiting) < 30)
        begin = time.perf_counter()
        server.stop()
        assert time.perf_counter() - begin < 2.5 and not server.running
    assert capfd.readouterr().err == ""
