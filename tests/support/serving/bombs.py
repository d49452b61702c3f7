"""Attacks by size, depth, number and slowness: the attacker suffers, other pages do not."""

from __future__ import annotations

import json
import socket
import time
import zlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress

from support.serving import targets
from support.serving.attacks import attack
from support.serving.targets import BINARY, CLOSE, FILE, TEXT, Target, close_code, frame, receive, send

TOO_BIG, BAD_TEXT, BAD_FRAME, POLICY, TRY_LATER = 1009, 1007, 1002, 1008, 1013


def _ended(target: Target, *codes: int, sent: Iterable[bytes]) -> None:
    """After each of these bytes the page is disconnected with one of these codes, and others are still answered."""
    for data in sent:
        with target.page() as line:
            with suppress(ConnectionError):
                line.sendall(data)
            assert close_code(line) in codes, data[:100]
    assert target.answers()


@attack("Send a message of 3 MB", "the page is disconnected (1009)", "size of messages")
def large_message(target: Target) -> None:
    _ended(target, TOO_BIG, 1006, sent=[frame(b"[" + b" " * 3_000_000 + b"]")])


@attack("Send a message of 100 lists inside each other", "the page is disconnected (1008)", "depth")
def nested_message(target: Target) -> None:
    nested: object = []
    for _ in range(100):
        nested = [nested]
    question = {"id": 1, "ask": target.ask, "args": {"x": nested}}
    _ended(target, POLICY, sent=[frame(json.dumps(question).encode())])


@attack(
    "Send a message of 200,000 brackets, which would overflow the stack of a parser",
    "the page is disconnected (1008)",
    None,
)
def nesting_bomb(target: Target) -> None:
    texts = [b"[" * 200_000, b'{"a":' * 200_000, b'["' + b'\\"' * 200_000, b'"' + b'\\"' * 200_000 + b"\\"]
    _ended(target, POLICY, sent=map(frame, texts))


@attack("Send a number of 100,000 digits, NaN or Infinity", "the page is disconnected (1008)", "questions")
def odd_numbers(target: Target) -> None:
    numbers = ("1" * 100_000, "NaN", "-Infinity")
    _ended(target, POLICY, sent=[frame(f'{{"id": {one}, "ask": "x", "args": {{}}}}'.encode()) for one in numbers])


@attack(
    "Send messages that are no questions: lists, text, numbers, wrong types",
    "the page is disconnected (1008)",
    "questions",
)
def no_questions(target: Target) -> None:
    texts = (
        b"", b"[]", b"x", b"7", b"null", b'{"id":1}', b'{"id":"1","ask":"x"}', b'{"id":1,"ask":7}',
        b'{"id":1,"ask":"x","args":[]}', b'{"id":true,"ask":"x"}', b'{"id":1,"ask":"' + b"x" * 200 + b'"}',
    )  # fmt: skip
    _ended(target, POLICY, sent=map(frame, texts))


@attack("Send binary frames", "the page is disconnected (1008)", "questions")
def binary_frame(target: Target) -> None:
    _ended(target, POLICY, sent=[frame(b"\0" * 100, BINARY)])


@attack("Send text that is no UTF-8", "the page is disconnected (1007)", None)
def no_text(target: Target) -> None:
    _ended(target, BAD_TEXT, sent=[frame(b"\xff\xfe{}")])


@attack("Send frames without a mask, with unknown opcodes, or a long ping", "the page is disconnected (1002)", None)
def bad_frames(target: Target) -> None:
    frames = [frame(b"{}", mask=False), frame(b"{}", opcode=3), frame(b"x" * 200, opcode=9)]
    _ended(target, BAD_FRAME, sent=frames)


@attack(
    "Send a small compressed message that becomes a large one",
    "compression is not agreed upon; the page is disconnected (1002)",
    None,
)
def compression_bomb(target: Target) -> None:
    packer = zlib.compressobj(9, wbits=-15)
    bomb = packer.compress(b" " * 5_000_000) + packer.flush(zlib.Z_SYNC_FLUSH)
    status, line = target.upgrade(("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits"))
    with line:
        assert status == 101
        send(line, bomb[:-4], reserved=0x40)
        assert close_code(line) == BAD_FRAME
    assert target.answers()


@attack("Send a message in 100,000 empty frames", "the page is disconnected (1009)", "number of frames")
def many_frames(target: Target) -> None:
    with target.page() as line:
        line.sendall(frame(b"{", final=False))
        try:
            for _ in range(100):
                line.sendall(frame(b"", opcode=0, final=False) * 1000)
            line.sendall(frame(b"}", opcode=0))
        except ConnectionError:
            pass
        assert close_code(line) in (TOO_BIG, 1006)
    assert target.answers()


@attack(
    "Send headers of 20 kB, or a header line without an end", "400, and the connection is closed", "size of headers"
)
def large_headers(target: Target) -> None:
    assert target.request(FILE, "GET", ("X", "x" * 20_000)).status in (400, 431)
    assert target.request("/" + "x" * 20_000).status in (400, 414, 431)
    with target.dial() as line:
        with suppress(ConnectionError):
            line.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000)
        line.settimeout(1.0)
        with suppress(ConnectionError):
            assert line.recv(20)[9:12] in (b"400", b"431", b"")


@attack("Send 200 headers", "they are read, within 16 kB", None)
def many_headers(target: Target) -> None:
    assert target.request(FILE, "GET", *[(f"X-{k}", "x") for k in range(200)]).status == 200


@attack(
    "Open a connection and send its headers slowly, or nothing (Slowloris)",
    "it is cut after 10 s",
    "time for headers",
    header_seconds=0.2,
)
def slow_headers(target: Target) -> None:
    with target.dial() as line, target.dial() as silent:
        try:
            for letter in b"GET / HTTP/1.1\r\nHost":
                line.sendall(bytes([letter]))
                time.sleep(0.02)
        except ConnectionError:
            pass
        for one in (line, silent):
            try:
                assert one.recv(1) == b""
            except ConnectionError:
                pass
            except TimeoutError:
                raise AssertionError("the connection stays open") from None


@attack("Announce an upload of 10 GB", "413 before it is read", "bodies")
def large_upload(target: Target) -> None:
    answer = target.post("/upload/x.txt", b"", ("Content-Length", "10000000000"), ("Expect", "100-continue"))
    assert answer.status == 413


@attack("Send an upload slowly", "408 after 60 s", "time for bodies", needs="upload", body_seconds=0.2)
def slow_upload(target: Target) -> None:
    with target.dial() as line:
        rows = [("Origin", f"http://{target.host}"), ("Content-Length", "100")]
        line.sendall(target.head("/upload/slow.txt", "POST", rows, None, "cookie") + b"x")
        try:
            assert line.recv(100)[9:12] == b"408"
        except TimeoutError:
            raise AssertionError("the connection stays open") from None


@attack("Upload in chunks or compressed, so that the size is unknown", "415", "bodies")
def unknown_size(target: Target) -> None:
    own = ("Origin", f"http://{target.host}")
    chunked = target.request(
        "/upload/x.txt", "POST", own, ("Transfer-Encoding", "chunked"), body=b"1\r\nx\r\n0\r\n\r\n"
    )
    assert chunked.status == 415
    assert target.post("/upload/x.txt", b"x", ("Content-Encoding", "gzip")).status == 415


@attack("Give a GET request a body", "400", "bodies")
def body_of_get(target: Target) -> None:
    assert target.request(FILE, "GET", ("Content-Length", "4"), body=b"body").status == 400


@attack(
    "Open very many connections",
    "those beyond 256 are cut; the server answers on",
    "number of connections",
    connections=40,
)
def many_connections(target: Target) -> None:
    with ExitStack() as stack:
        lines = [stack.enter_context(target.dial()) for _ in range(60)]
        cut = until_cut(lines, 15)
        assert 15 <= cut <= 25
    assert _later(lambda: len(target.server._server.server_state.connections) < 20)
    assert target.answers()


def until_cut(lines: list[socket.socket], wanted: int) -> int:
    """The number of connections that the server has cut, as soon as it is the wanted one or time is up."""
    cut: set[socket.socket] = set()

    def look() -> bool:
        for line in lines:
            line.settimeout(0.001)
            try:
                if line.recv(1) == b"":
                    cut.add(line)
            except ConnectionError:
                cut.add(line)
            except TimeoutError:
                continue
        return len(cut) >= wanted

    _later(look)
    look()
    return len(cut)


def _later(true: Callable[[], bool]) -> bool:
    """Whether something becomes true soon."""
    deadline = time.monotonic() + targets.PATIENCE
    while not true() and time.monotonic() < deadline:
        time.sleep(0.005)
    return true()


@attack("Open very many pages", "those beyond 32 are refused with a sentence (1013)", "number of pages", channels=5)
def many_pages(target: Target) -> None:
    pages = target.server._conversations.channels
    with ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(target.page())
        assert _later(lambda: len(pages) == 5)
        assert close_code(stack.enter_context(target.page())) == TRY_LATER
    assert _later(lambda: not pages)
    assert target.answers()


@attack(
    "Send very many requests without a key",
    "429; requests with a key are answered on",
    "rate of requests",
    requests_at_once=20.0,
    requests_per_second=1.0,
)
def many_requests(target: Target) -> None:
    statuses = [target.request("/", key=None).status for _ in range(40)]
    assert statuses[:15] == [403] * 15 and 429 in statuses
    assert target.request(FILE).status == 200


@attack(
    "Send very many messages",
    "they are read at 200 a second; other pages are answered at once",
    None,
    messages_at_once=20.0,
    messages_per_second=50.0,
)
def many_messages(target: Target) -> None:
    with target.page() as line:
        question = frame(json.dumps({"id": 1, "ask": target.ask, "args": {}}).encode())
        line.sendall(question * 300)
        begin = time.perf_counter()
        assert target.answers()
        assert time.perf_counter() - begin < 2.0
        line.settimeout(0.5)
        answers = 0
        begin = time.perf_counter()
        while time.perf_counter() - begin < 0.4:
            code, payload = receive(line)
            answers += code == TEXT and b'"id"' in payload
        assert 0 < answers < 150


@attack(
    "Ask 100 questions at once that take long",
    "more than 64 are refused with a sentence; other pages are answered at once",
    "number of questions",
    needs="waiting",
    answers=1,
)
def many_questions(target: Target) -> None:
    with target.page() as line:
        for number in range(100):
            send(line, json.dumps({"id": number, "ask": "x", "args": {"seconds": 0.005}}).encode())
        begin = time.perf_counter()
        assert target.answers()
        assert time.perf_counter() - begin < 2.0
        errors = 0
        for _ in range(100):
            errors += b"questions wait" in receive(line)[1]
        assert errors > 5


@attack("Connect, ask for much and never read", "its own queue is bounded; other pages are answered at once", None)
def stalled_reader(target: Target) -> None:
    with target.page() as stalled:
        question = frame(json.dumps({"id": 1, "ask": target.ask, "args": {}}).encode())
        stalled.sendall(question * 300)
        for _ in range(3):
            begin = time.perf_counter()
            assert target.answers()
            assert time.perf_counter() - begin < 2.0


@attack("Break connections off in the middle of everything", "nothing is left behind", None)
def broken_off(target: Target) -> None:
    for data in (
        b"",
        b"GET",
        target.head("/", "GET", [], None, "cookie")[:-2],
        target.head(FILE, "GET", [], None, "cookie"),
    ):
        with target.dial() as line:
            line.sendall(data)
    for _ in range(3):
        with target.page() as line:
            line.sendall(frame(b'{"id": 1, "ask": "x"')[:-3])
    line = target.page()
    send(line, b"", CLOSE)
    line.close()
    assert _later(lambda: not target.server._conversations.channels)
