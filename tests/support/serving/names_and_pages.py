"""Attacks by names of files, and by texts that become part of a page."""

from __future__ import annotations

import html
import json
import logging
from urllib.parse import quote

from support.serving.attacks import attack
from support.serving.targets import CLOSE, EVIL, FILE, NAME, SECRET, TEXT, Target, receive, send

GONE = "400 or 404"
REFUSED = "422 and a sentence"


def _not_served(target: Target, *names: str) -> None:
    """No name gives a file, below any folder and as a download."""
    folders = ["/serving/", "/download/"] + (["/own/"] if target.folder else [])
    for name in names:
        for folder in folders:
            answer = target.request(folder + name)
            assert answer.status in (400, 404, 422), (folder + name, answer.status)
            assert SECRET not in answer.body and b"root:" not in answer.body


@attack("Leave the folder by `..` in the address", GONE, "paths")
def dots(target: Target) -> None:
    _not_served(
        target,
        "../connection.js",
        "../page/connection.js",
        "../../../errors.py",
        "../outside.txt",
        "x/../../outside.txt",
    )


@attack("Leave the folder by `%2e%2e`, `..%2f` or both", GONE, "paths")
def encoded_dots(target: Target) -> None:
    _not_served(
        target, "%2e%2e/page/connection.js", "..%2fpage%2fconnection.js", "%2e%2e%2foutside.txt", "%2E./outside.txt"
    )


@attack("Encode `..` twice, or in overlong UTF-8", GONE, None)
def doubly_encoded_dots(target: Target) -> None:
    _not_served(target, "%252e%252e/page/connection.js", "%c0%ae%c0%ae/page/connection.js", "%e0%80%ae./outside.txt")


@attack("Leave the folder by backslashes", GONE, None)
def backslashes(target: Target) -> None:
    _not_served(
        target, "..\\page\\connection.js", "..%5cpage%5cconnection.js", "..%5c..%5c..%5cerrors.py", "%5c%5chost%5cshare"
    )


@attack("Name an absolute path", GONE, "paths")
def absolute_path(target: Target) -> None:
    _not_served(
        target,
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "//etc/passwd",
        "../../../../../../../../../../etc/passwd",
        "file:///etc/passwd",
    )


@attack("Name a drive, a share or a device of Windows", GONE, None)
def windows_names(target: Target) -> None:
    _not_served(
        target,
        "C:/Windows/win.ini",
        "C%3a%5cWindows%5cwin.ini",
        "//host/share/x.js",
        "CON",
        "aux.js",
        "NUL.txt",
        "com1.js",
        "%5c%5c.%5cpipe%5cx",
    )


@attack("Name a second stream of a file, or end its name with a dot or a space", GONE, None)
def windows_streams(target: Target) -> None:
    _not_served(
        target, "connection.js::$DATA", "connection.js:x", "connection.js.", "connection.js%20", "inside.txt..."
    )


@attack("End the name of a file by NUL, or write control characters into it", GONE, "paths")
def control_characters(target: Target) -> None:
    _not_served(target, "connection.js%00", "connection.js%00.png", "%0d%0aX:1", "x%1b[2J.js", "%7f")


@attack("Name a folder, hidden files, or source code of the server", "404", "paths")
def folders_and_sources(target: Target) -> None:
    _not_served(target, "", ".", "./", "page", "..")
    for path in ("/serving", "/stage/", "/stage/bundle.py", "/stage/__init__.py", "/viewer/../view.py", "/.git/config"):
        assert target.request(path).status in (400, 404), path


@attack("Name a very long path, or one with very many parts", GONE, None)
def long_names(target: Target) -> None:
    _not_served(target, "a" * 300 + ".js", "a/" * 3000 + "x.js", "%2e" * 500)


@attack(
    "Follow a link that leads out of the folder, a link to a folder outside, and one to itself",
    REFUSED,
    "paths",
    needs="download",
)
def links(target: Target) -> None:
    _not_served(
        target, "link.txt", "folder/outside.txt", "folder/own/inside.txt/../../outside.txt", "self", "self/x.txt"
    )


@attack("Read a pipe, at which the server would wait for ever", "422 at once", None, needs="download")
def pipe(target: Target) -> None:
    _not_served(target, "pipe.txt")


@attack(
    "Write a file outside of the folder: `..`, absolute, by a link, with a backslash", REFUSED, "paths", needs="upload"
)
def write_outside(target: Target) -> None:
    assert target.folder is not None
    before = sorted(target.folder.parent.rglob("*"))
    outside = target.folder.parent / "new.txt"
    for name in (
        "../new.txt",
        "%2e%2e%2fnew.txt",
        quote(str(outside), safe=""),
        "folder/new.txt",
        "link.txt",
        "..%5cnew.txt",
    ):
        answer = target.post(f"/upload/{name}", b"evil")
        assert answer.status in (400, 422), name
    assert sorted(target.folder.parent.rglob("*")) == before
    assert (target.folder.parent / "outside.txt").read_bytes() == SECRET


@attack("Write to a pipe, a folder, or a name that Windows cannot store", REFUSED, None, needs="upload")
def write_to_no_file(target: Target) -> None:
    for name in ("pipe.txt", "folder", "self", "a:b", "CON", "x.", "x%00"):
        assert target.post(f"/upload/{name}", b"x").status in (400, 404, 422), name


@attack(
    "Open a document outside of the project: `..`, absolute, by a link, a pipe, with NUL",
    "an error with a sentence",
    None,
    needs="documents",
)
def documents_outside(target: Target) -> None:
    assert target.folder is not None
    names = ("../outside.txt", str(target.folder.parent / "outside.txt"), "link.txt", "folder/outside.txt", "pipe.txt")
    for name in (*names, "x\0.toml", "self", "..", ".", "", "C:\\Windows\\win.ini", "a" * 5000, ".git/config"):
        told = target.asked("show", {"document": name})
        assert "error" in told and SECRET.decode() not in json.dumps(told), name
        assert "made a mistake" not in told["error"], told
    before = sorted(target.folder.parent.rglob("*"))
    for name in ("../new", str(target.folder.parent / "new"), "folder/new", "..\\new", "x\0", "C:\\new", ".hidden"):
        told = target.asked("new_model", {"name": name})
        assert "error" in told and "made a mistake" not in told["error"], told
    assert sorted(target.folder.parent.rglob("*")) == before


@attack(
    "Ask every question of the table with wrong, missing and malicious arguments",
    "an answer or a sentence each time",
    None,
    needs="documents",
    messages_per_second=1e6,
)
def junk_arguments(target: Target) -> None:
    from kinemorph.studio.requests import all_requests

    junk = (None, [], "no such", "a" * 2000, "\0", {"verb": "place"}, 1e308, ["x"], -1)
    with target.page() as line:
        for name, row in all_requests().items():
            for value in junk:
                send(line, json.dumps({"id": 7, "ask": name, "args": dict.fromkeys(row.takes, value)}).encode())
                told: dict[str, object] = {}
                while told.get("id") != 7:
                    code, payload = receive(line)
                    assert code != CLOSE, (name, value)
                    told = json.loads(payload) if code == TEXT else {}
                assert "made a mistake" not in str(told.get("error")), (name, value, told)


# ── texts in pages ────────────────────────────────────────────────────────────────────────────────────────────────────


@attack("Give a robot, its bodies and joints names with scripts in them", "the names are shown as text", None)
def script_in_names(target: Target) -> None:
    page = target.request("/").body.decode()
    assert "onerror" not in page or html.escape(NAME) in page
    assert "<img" not in page and "<script>" not in page
    with target.page() as line:
        send(line, json.dumps({"id": 1, "ask": NAME[:40], "args": {NAME: NAME}}).encode())
        while True:
            code, payload = receive(line)
            if code == TEXT and json.loads(payload).get("id") == 1:
                break  # data, which the page writes as text


@attack("Write a script into an address that does not exist", "404 without the address, as plain text", None)
def reflected_script(target: Target) -> None:
    for path in (
        "/%3Cscript%3Ealert(1)%3C/script%3E",
        "/serving/%3Cscript%3E.js",
        "/?x=%3Cscript%3E",
        "/download/%3Cimg%3E",
    ):
        answer = target.request(path)
        assert answer.status in (200, 404, 422)
        assert answer.header("content-type") == "application/json" or b"<script>" not in answer.body
        assert answer.header("content-type") == "application/json" or b"<img" not in answer.body


@attack(
    "Load scripts, styles or pictures of other servers, run inline scripts or `eval`",
    "forbidden on every response by the content security policy",
    "security headers",
)
def policy(target: Target) -> None:
    for answer in (
        target.request("/"), target.request(FILE), target.request("/none/x.js"), target.request("/", key=None),
        target.request("/", host="evil.example"), target.request("/x", "PUT"), target.request("/upload/x"),
        target.request(f"/?token={target.server.token}", key=None), target.request("/", "HEAD"),
    ):  # fmt: skip
        rules = answer.header("content-security-policy")
        assert rules.startswith("default-src 'none'"), answer
        assert "unsafe" not in rules and "*" not in rules and "evil" not in rules
        for rule in (
            "script-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ):
            assert rule in rules
        assert "frame-ancestors 'none'" in rules


@attack(
    "Have a file taken for another kind, leak the address, open the page in a shared process",
    "nosniff, no-referrer, same-origin on every response",
    "security headers",
)
def other_headers(target: Target) -> None:
    for answer in (target.request("/"), target.request(FILE), target.request("/none/x"), target.request("/", key=None)):
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("referrer-policy") == "no-referrer"
        assert (
            answer.header("cross-origin-opener-policy")
            == answer.header("cross-origin-resource-policy")
            == "same-origin"
        )
        assert answer.header("server") == ""


@attack(
    "Steal clicks by a frame",
    "no page may frame this one; in a notebook only by an address with a key",
    "security headers",
)
def stolen_click(target: Target) -> None:
    assert "frame-ancestors 'none'" in target.request("/").header("content-security-policy")
    answer = target.request(target.server.frame_url.removeprefix(target.server.origin), key=None)
    if target.server.site.framed:
        rules = answer.header("content-security-policy")
        assert answer.status == 200 and "frame-ancestors http://localhost:* http://127.0.0.1:* vscode" in rules
        assert EVIL not in rules
    else:
        assert answer.status == 403


@attack(
    "Upload a page with a script and open it as a download",
    "it is saved, and runs nothing if it is opened",
    "security headers",
    needs="download upload",
)
def uploaded_page(target: Target) -> None:
    assert target.post("/upload/page.html", b"<script>alert(1)</script>").status == 200
    answer = target.request("/download/page.html")
    assert answer.header("content-disposition").startswith("attachment")
    assert "sandbox" in answer.header("content-security-policy") and "script-src" not in answer.header(
        "content-security-policy"
    )


@attack("Write a line break into the name of a download (response splitting)", "it is encoded", None, needs="download")
def split_response(target: Target) -> None:
    answer = target.request("/download/inside.txt")
    assert answer.status == 200 and answer.header("x") == ""
    assert "%0D%0AX" in answer.header("content-disposition")


@attack("Read the cookie by a script, or have it sent from another site", "HttpOnly and SameSite=Strict", None)
def cookie_flags(target: Target) -> None:
    entered = target.request(f"/?token={target.server.token}", key=None)
    assert entered.status == 303 and entered.header("location") == "/"
    flags = {part.strip() for part in entered.header("set-cookie").split(";")[1:]}
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= flags and not any("Domain" in flag for flag in flags)


@attack("Find the token in logs or in the text of the server", "it is nowhere", None)
def token_in_logs(target: Target) -> None:
    told: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    root, listener = logging.getLogger(), Listener(0)
    level = root.level
    root.addHandler(listener)
    root.setLevel(0)
    try:
        target.request(f"/?token={target.server.token}", key=None)
        target.upgrade(("Authorization", f"Bearer {target.server.token}"))[1].close()
    finally:
        root.removeHandler(listener)
        root.setLevel(level)
    texts = [*told, repr(target.server), repr(target.server._keys)]
    secrets = (target.server.token, target.cookie.partition("=")[2])
    assert not any(secret in text for text in texts for secret in secrets)
