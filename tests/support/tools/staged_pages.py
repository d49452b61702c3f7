"""Pages with stages for tests: the scripts of the stage as ES modules, under the content security policy of a server.

No server runs: the browser's requests are answered here, out of the files of `display`.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from typing import Any

from kinemorph.display.stage.bundle import display_file

ORIGIN = "http://stage.test"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>stages</title>
<link rel="stylesheet" href="/stage/stage.css"><link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script></head><body></body></html>"""
STYLE = "body { margin: 0; } div.host { width: 100vw; height: 100vh; }"
SCRIPT = """import { openStage } from "/stage/stage.js";
import { unpackBytes } from "/stage/unpack.js";
const known = new Map(), hosts = [];
window.km = {
  openStage, unpackBytes, known, picks: [],
  scene: async (name) => unpackBytes(await (await fetch(`/data/${name}`)).arrayBuffer(), known),
  open: async (name, options = {}) => {
    const host = document.createElement("div");
    host.className = "host";
    document.body.append(host);
    const onPick = (picked) => km.picks.push({ ...picked, event: picked.event.type });
    const stage = openStage(host, name ? await km.scene(name) : null, { onPick, ...options });
    await stage.ready;
    return stage;
  },
};
"""


def open_stages(page: Any, data: Mapping[str, bytes], scripts: Mapping[str, str] | None = None) -> Any:
    """Opens a page without a stage; in it, `km.open(name)` opens a stage with a scene of `data` (packed bytes).

    `scripts` are further scripts that the page can import, by path.
    """

    def answer(route: Any) -> None:
        path = route.request.url.removeprefix(ORIGIN).partition("?")[0]
        texts = {"/": ("text/html", PAGE), "/page.css": ("text/css", STYLE), "/page.js": ("text/javascript", SCRIPT)}
        texts |= {name: ("text/javascript", script) for name, script in (scripts or {}).items()}
        headers = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}
        if path.startswith("/data/"):
            route.fulfill(body=data[path.removeprefix("/data/")], headers=headers)
        elif path in texts:
            kind, text = texts[path]
            route.fulfill(body=text, headers={**headers, "Content-Type": kind})
        elif path == "/favicon.ico":
            route.fulfill(status=204, headers=headers)
        else:
            kind = mimetypes.guess_type(path)[0] or "text/javascript"
            route.fulfill(body=display_file(path.removeprefix("/")), headers={**headers, "Content-Type": kind})

    page.route(f"{ORIGIN}/**", answer)
    page.goto(f"{ORIGIN}/")
    page.evaluate("async () => { while (!window.km) await new Promise((done) => setTimeout(done, 10)); }")
    return page
