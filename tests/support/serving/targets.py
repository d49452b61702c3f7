"""Servers that are attacked, and raw requests to them: every byte is chosen here, no library corrects it."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from kinemorph.display.serving import confined_paths
from kinemorph.display.serving.channel import Channel
from kinemorph.display.serving.server import Download, Server, Site, start

PATIENCE = 5.0  # until an answer comes [s]
TEXT, BINARY, CLOSE = 1, 2, 8  # opcodes of frames
FILE = "/serving/connection.js"  # a file that every site has
EVIL = "http://evil.example"
SECRET = b"the secret outside"
NAME = '"><img src=x onerror=alert(1)><script>alert(1)</script>'  # of a robot that is shown


class Answer(NamedTuple):
    """A response: its status, its headers with lower-case names, and its body; status 0 where there was none."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name), "")


@dataclass
class Target:
    """A running site, with what a browser would have after it was opened: a cookie."""

    name: str
    server: Server
    ask: str  # a question that is answered at once
    folder: Path | None = None  # of downloads, uploads and documents; None for a site without them
    has: frozenset[str] = frozenset()  # what a site has that can be attacked, see `Attack.needs`
    end: Callable[[], None] | None = None  # what ends the site, if not the server alone
    cookie: str = field(init=False)

    def __post_init__(self) -> None:
        entered = self.request(f"/?token={self.server.token}", key=None)
        self.cookie = entered.header("set-cookie").partition(";")[0]

    def stop(self) -> None:
        (self.end or self.server.stop)()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    @property
    def guards(self) -> Any:
        return self.server._server.config.app

    # ── HTTP ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def dial(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)

    def head(
        self, path: str, method: str, headers: Iterable[tuple[str, str]], host: str | None, key: str | None
    ) -> bytes:
        rows = [("Host", self.host if host is None else host)] if host != "" else []
        if key == "cookie":
            rows.append(("Cookie", self.cookie))
        elif key == "bearer":
            rows.append(("Authorization", f"Bearer {self.server.token}"))
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in [*rows, *headers])]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def request(
        self,
        path: str = "/",
        method: str = "GET",
        *headers: tuple[str, str],
        host: str | None = None,
        key: str | None = "cookie",
        body: bytes = b"",
    ) -> Answer:
        """The answer to one request; `host` "" leaves the Host out."""
        return self.raw(self.head(path, method, [*headers, ("Connection", "close")], host, key) + body)

    def post(self, path: str, body: bytes, *headers: tuple[str, str], key: str | None = "cookie") -> Answer:
        """A POST as the page sends it, with more headers."""
        given = {name.lower() for name, _ in headers}
        usual = [("Origin", f"http://{self.host}"), ("Content-Length", str(len(body)))]
        return self.request(
            path, "POST", *(one for one in usual if one[0].lower() not in given), *headers, key=key, body=body
        )

    def raw(self, data: bytes) -> Answer:
        with self.dial() as line:
            line.sendall(data)
            return answered(line)

    # ── WebSocket ─────────────────────────────────────────────────────────────────────────────────────────────────

    def upgrade(
        self,
        *headers: tuple[str, str],
        origin: str | None = "own",
        host: str | None = None,
        key: str | None = "cookie",
        path: str = "/channel",
    ) -> tuple[int, socket.socket]:
        """The status of a WebSocket's handshake, and its socket; 101 means that it is open."""
        rows = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")]
        rows.append(("Sec-WebSocket-Key", base64.b64encode(os.urandom(16)).decode()))
        if origin is not None:
            rows.append(("Origin", f"http://{self.host if host is None else host}" if origin == "own" else origin))
        line = self.dial()
        line.sendall(self.head(path, "GET", [*rows, *headers], host, key))
        head = b""
        while b"\r\n\r\n" not in head:
            part = line.recv(1)
            if not part:
                break
            head += part
        return int(head.split(b" ", 2)[1]) if head else 0, line

    def page(self) -> socket.socket:
        """The socket of a page that is connected."""
        status, line = self.upgrade()
        assert status == 101
        return line

    def asked(self, ask: str, args: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question of a new page."""
        with self.page() as line:
            send(line, json.dumps({"id": 5, "ask": ask, "args": args}).encode())
            while True:
                code, payload = receive(line)
                if code == TEXT and json.loads(payload).get("id") == 5:
                    answer: dict[str, Any] = json.loads(payload)
                    return answer
                assert code != CLOSE, payload

    def answers(self) -> bool:
        """Whether a new page still gets the answer to a question."""
        return "result" in self.asked(self.ask, {})


def answered(line: socket.socket) -> Answer:
    """The response on a socket, which the server closes after it."""
    data = b""
    try:
        while part := line.recv(65_536):
            data += part
    except ConnectionError:
        pass
    head, _, body = data.partition(b"\r\n\r\n")
    if not head:
        return Answer(0, [], b"")
    first, *rows = head.decode("latin-1").split("\r\n")
    headers = [(name.lower(), value.strip()) for name, _, value in (row.partition(":") for row in rows)]
    return Answer(int(first.split(" ")[1]), headers, body)


def frame(payload: bytes, opcode: int = TEXT, *, final: bool = True, mask: bool = True, reserved: int = 0) -> bytes:
    """One frame of a WebSocket; `reserved` sets the bit of compressed frames."""
    first = (0x80 if final else 0) | reserved | opcode
    size, masked = len(payload), 0x80 if mask else 0
    if size < 126:
        head = struct.pack("!BB", first, masked | size)
    elif size < 65_536:
        head = struct.pack("!BBH", first, masked | 126, size)
    else:
        head = struct.pack("!BBQ", first, masked | 127, size)
    return head + (bytes(4) if mask else b"") + payload  # a mask of zeros changes nothing


def send(line: socket.socket, payload: bytes, opcode: int = TEXT, **more: Any) -> None:
    line.sendall(frame(payload, opcode, **more))


def receive(line: socket.socket) -> tuple[int, bytes]:
    """(opcode, payload) of the next frame; (CLOSE, b"") where the connection is cut."""

    def exactly(count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = line.recv(count - len(data))
            if not part:
                raise ConnectionResetError
            data += part
        return data

    try:
        first, size = exactly(2)
        size &= 0x7F
        if size > 125:
            size = int.from_bytes(exactly(2 if size == 126 else 8), "big")
        return first & 0x0F, exactly(size)
    except ConnectionError:
        return CLOSE, b""


def close_code(line: socket.socket) -> int:
    """The code with which the server ends a connection: 1006 where it is cut without a code, 0 where it stays open."""
    while True:
        try:
            code, payload = receive(line)
        except TimeoutError:
            return 0
        if code == CLOSE:
            return int.from_bytes(payload[:2], "big") or 1006


# ── the sites ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def malicious_robot() -> Any:
    """A robot whose names have scripts in them."""
    import kinemorph

    builder = kinemorph.RobotBuilder(NAME)
    builder.add(kinemorph.Body.box(NAME, 1.0, (0.1, 0.1, 0.1)))
    return builder.joint(NAME, "revolute", "world", NAME).build()


def view_target() -> Target:
    """The viewer of a robot with a malicious name."""
    from kinemorph.display.viewer.view import view

    viewer = view(malicious_robot(), title=NAME)
    return Target("view", viewer._server, "state", end=viewer.stop)


def dangerous_folder(folder: Path) -> Path:
    """A folder with links and a pipe in it, and a file with a secret beside it."""
    own = folder / "own"
    own.mkdir()
    (own / "inside.txt").write_bytes(b"inside")
    (folder / "outside.txt").write_bytes(SECRET)
    (own / "link.txt").symlink_to(folder / "outside.txt")
    (own / "folder").symlink_to(folder, target_is_directory=True)
    (own / "self").symlink_to(own / "self")
    os.mkfifo(own / "pipe.txt")
    return own


def files_target(folder: Path) -> Target:
    """A site that reads and writes files of a folder by names that a page gives."""
    own = dangerous_folder(folder)

    def download(name: str) -> Download:
        return Download(confined_paths.confined_file(own, name).read_bytes(), "text/html", f"{name}\r\nX: 1")

    def upload(name: str, data: bytes) -> int:
        path = confined_paths.confined_file(own, name, to_write=True)
        return path.write_bytes(data)

    def answer(channel: Channel, ask: str, args: dict[str, Any]) -> Any:
        import time

        time.sleep(args.get("seconds", 0.0))
        return NAME

    site = Site(NAME, "<!doctype html>", answer=answer, download=download, upload=upload, folders={"own": own})
    return Target("files", start(site), "x", own, frozenset({"download", "upload", "waiting"}))


def studio_target(folder: Path) -> Target:
    """The studio of a project in such a folder."""
    import kinemorph
    from kinemorph.studio.open_studio import open_studio

    own = dangerous_folder(folder)
    kinemorph.save(kinemorph.library.pendulum(), own / "pendulum.toml")
    (own / "<img src=x onerror=alert(1)>.toml").write_bytes((own / "pendulum.toml").read_bytes())
    studio = open_studio(own, open=False)
    return Target("studio", studio.server, "hello", own, frozenset({"upload", "documents"}), studio.stop)
