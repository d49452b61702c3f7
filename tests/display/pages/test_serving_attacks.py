"""Attacks on every site that the server shows: all are refused, and each succeeds where its guard is switched off.

Requirement: VALIDATION rules 15 to 19. The table of attacks is in docs/security.md; tests/tables/attacks.py writes it.
"""

from __future__ import annotations

import ast
import re
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import kinemorph
from support.serving import targets
from support.serving.attacks import Attack, all_attacks
from support.serving.switches import SWITCHES, set_limits
from support.serving.targets import NAME, Target, files_target, malicious_robot, studio_target, view_target
from support.tools.browsing import Browser
from tables.attacks import PAGE, table

pytest.importorskip("starlette")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes are made as on Unix")

SITES: dict[str, Callable[[Path], Target]] = {
    "view": lambda folder: view_target(),
    "files": files_target,
    "studio": studio_target,
}
GUARDED = [attack for attack in all_attacks() if attack.guard is not None]


@pytest.fixture(scope="module", params=SITES)
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    started = SITES[request.param](tmp_path_factory.mktemp("site"))
    yield started
    started.stop()


@pytest.mark.parametrize("attack", all_attacks(), ids=lambda attack: attack.name)
def test_is_refused(attack: Attack, target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    if not attack.needs <= target.has:
        return  # the site has nothing that could be attacked so
    set_limits(target, monkeypatch, **attack.limits)
    attack.act(target)


@pytest.mark.slow
@pytest.mark.parametrize("attack", GUARDED, ids=lambda attack: attack.name)
def test_succeeds_without_its_guard(
    attack: Attack, target: Target, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if target.name != ("files" if attack.needs or attack.guard == "paths" else "view"):
        return  # one site is enough
    monkeypatch.setattr(targets, "PATIENCE", 0.5)  # what is not refused waits
    set_limits(target, monkeypatch, **attack.limits)
    SWITCHES[str(attack.guard)](target, monkeypatch)
    with pytest.raises((AssertionError, TimeoutError)):  # what is not refused may wait
        attack.act(target)


def test_there_are_forty_and_the_table_lists_them() -> None:
    assert len(all_attacks()) >= 40
    assert table() in PAGE.read_text(encoding="utf-8"), "python tests/tables/attacks.py writes the table"


# ── what is served and what receives it ───────────────────────────────────────────────────────────────────────────────

PACKAGE = Path(kinemorph.__file__).parent
SCRIPTS = sorted(path for part in ("display", "studio") for path in (PACKAGE / part).rglob("*.js"))
RECEIVERS = sorted(
    path for part in ("display/serving", "display/viewer", "studio") for path in (PACKAGE / part).rglob("*.py")
)
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|createContextualFragment|srcdoc"
    r"|setAttribute\(\s*[\"'](?:on|style)|javascript:|setTimeout\(\s*[\"'`]|https?://(?!www\.w3\.org)"
)


def test_no_script_of_a_page_makes_code_or_markup_of_text_or_names_another_server() -> None:
    found = {path.name: FORBIDDEN.findall(path.read_text(encoding="utf-8")) for path in SCRIPTS}
    assert SCRIPTS and not {name: words for name, words in found.items() if words}


def test_nothing_that_arrives_is_executed() -> None:
    """Only `--load FILE.py`, which the user names at start, is executed."""
    wrong = []
    for path in RECEIVERS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                names = [node.func.id]
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                module = getattr(node, "module", None)
                names = [module] if module else [one.name for one in node.names]
            elif isinstance(node, ast.keyword) and node.arg == "shell":
                names = ["shell"]
            bad = {"eval", "exec", "compile", "__import__", "pickle", "marshal", "shelve", "yaml", "runpy", "shell"}
            wrong += [(path.name, name) for name in names if name in bad]
    assert RECEIVERS and set(wrong) <= {
        ("user_python.py", "exec"),
        ("user_python.py", "compile"),
        ("user_python.py", "runpy"),
    }


# ── in a browser ──────────────────────────────────────────────────────────────────────────────────────────────────────

# what a page of another site tries; each gives "refused" or what it got
TRIED = """async (origin) => {
  const done = (element, yes, no) => new Promise((resolve) => {
    element[yes] = () => resolve("got it");
    element[no] = () => resolve("refused");
  });
  const socket = done(new WebSocket(origin.replace("http", "ws") + "/channel"), "onopen", "onerror");
  const fetched = fetch(origin + "/serving/connection.js", { credentials: "include" })
    .then(() => "got it", () => "refused");
  const posted = fetch(origin + "/upload/x", { method: "POST", body: "x", credentials: "include" })
    .then(() => "got it", () => "refused");
  const script = document.createElement("script"), frame = document.createElement("iframe");
  const loaded = done(script, "onload", "onerror");
  script.type = "module";
  script.src = origin + "/serving/connection.js";
  const framed = new Promise((resolve) => { frame.onload = () => resolve("shown"); });
  frame.src = origin + "/";
  document.body.append(script, frame);
  return [await socket, await fetched, await posted, await loaded, await framed];
}"""
# what a script in the page itself could try
INSIDE = """() => new Promise((resolve) => setTimeout(() => {  // later: what a debugger runs may use eval
  const tried = [
    () => eval("1"), () => new Function("return 1")(), () => { document.body.innerHTML = "<b>x</b>"; },
    () => document.write("x"), () => setTimeout("1"), () => trustedTypes.createPolicy("x", {}),
    () => { document.createElement("script").src = "http://evil.example/x.js"; },
  ];
  resolve(tried.map((act) => { try { act(); return `done: ${act}`; } catch (error) { return error.name; } }));
}))"""


LINK = """(href) => document.body.append(Object.assign(document.createElement("a"), { href, textContent: "go" }))"""


class Evil(BaseHTTPRequestHandler):
    """A server of another site on this computer, whose page may do everything."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>evil</title><body>")

    def log_message(self, *arguments: object) -> None:
        """Is silent."""


@pytest.mark.slow
def test_a_page_of_another_site_gets_nothing_and_names_are_text(browser: Browser) -> None:
    target, other = view_target(), ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=other.serve_forever, args=(0.02,), daemon=True).start()
    try:
        with browser.page() as page:
            page.goto(target.server.url)
            page.wait_for_selector("html[data-ready=true]")
            assert page.title() == NAME and page.complaints == []
            assert page.evaluate("document.images.length + document.scripts.length") == 1
            assert page.get_by_role("slider", name=NAME).count() == 1  # the joint, with its whole name
            assert set(page.evaluate(INSIDE)) <= {"EvalError", "TypeError"}
            for name in ("127.0.0.1", "localhost"):  # the first one is the same site for cookies
                page.goto(f"http://{name}:{other.server_port}/")
                assert page.evaluate(TRIED, target.server.origin) == ["refused"] * 4 + ["shown"]
                assert not page.frames[1].url.startswith(target.server.origin)  # an error is shown, and not the page
            assert len(target.server._conversations.channels) == 0
            # a link of another site with the token is followed, though browsers keep strict cookies back at first
            page.context.clear_cookies()
            page.evaluate(LINK, target.server.url)
            page.get_by_role("link", name="go").click()
            page.wait_for_selector("html[data-ready=true]")
    finally:
        target.stop()
        other.shutdown()
        other.server_close()


@pytest.mark.slow
def test_names_with_scripts_are_text_in_every_panel_of_the_studio(browser: Browser, tmp_path: Path) -> None:
    from kinemorph.studio.open_studio import open_studio

    kinemorph.save(malicious_robot(), tmp_path / "<img src=x onerror=alert(1)>.toml")
    with open_studio(tmp_path, open=False) as studio, browser.page() as page:
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(studio.url)
        page.get_by_role("tab").first.wait_for()
        page.get_by_text(NAME).first.wait_for(state="attached")
        for tab in page.get_by_role("tab").all():
            tab.click()
            page.wait_for_timeout(500)
            assert page.evaluate("document.querySelectorAll('img[src=x], body script').length") == 0, tab.inner_text()
        assert dialogs == [] and page.complaints == []
