"""The addresses of a server, as a Starlette application behind its guards.

/                   the page
/FOLDER/FILE        static files of the site's folders, and /serving/connection.js
/download/NAME      files that the site makes for the user
/upload/NAME        POST: files that the user gives
/channel            the WebSocket of the page
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute

from kinemorph.display.serving.confined_paths import MEDIA_TYPES, ending_of, served_file
from kinemorph.display.serving.conversation import Conversations
from kinemorph.display.serving.limits import Limits
from kinemorph.display.serving.messages import error_message, written
from kinemorph.display.serving.policies import DOWNLOADED, SHOWN
from kinemorph.display.serving.site import Download, Site
from kinemorph.errors import KinemorphError

OWN = "serving"  # the folder of the server's own script
COMPRESSION = 4  # of static files, from 1 to 9


def application(site: Site, conversations: Conversations) -> Starlette:
    """The application that serves a site; it answers every request, so it belongs behind `Guards`."""
    folders: Mapping[str, Traversable] = {OWN: files(__package__).joinpath("page"), **site.folders}

    async def page(request: Request) -> Response:
        return Response(site.index, media_type="text/html")

    async def static(request: Request) -> Response:
        folder, name = request.path_params["folder"], request.path_params["name"]
        made = site.texts.get(f"{folder}/{name}")
        known = folder in folders and ending_of(name) in MEDIA_TYPES
        content = made().encode() if made else served_file(folders[folder], name) if known else None
        if content is None:
            return _missing()
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        fresh = {"ETag": tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=fresh)
        if "gzip" in request.headers.get("accept-encoding", ""):
            content = _compressed(content)
            fresh["Content-Encoding"] = "gzip"
        return Response(content, headers=fresh | {"Content-Type": MEDIA_TYPES[ending_of(name)]})

    async def download(request: Request) -> Response:
        if site.download is None:
            return _missing()
        try:
            found = await conversations.in_thread(site.download, request.path_params["name"])
        except KinemorphError as error:
            return _refusal(error)
        return _missing() if found is None else _attachment(found)

    async def upload(request: Request) -> Response:
        if site.upload is None:
            return _missing()
        try:
            body = await _body(request, conversations.limits)
        except TimeoutError:
            return PlainTextResponse("The upload took too long.\n", 408, headers={"Connection": "close"})
        except ClientDisconnect:
            return Response(status_code=400)
        if body is None:
            return PlainTextResponse("The body is too large.\n", 413, headers={"Connection": "close"})
        try:
            result = await conversations.in_thread(site.upload, request.path_params["name"], body)
        except KinemorphError as error:
            return _refusal(error)
        return _missing() if result is None else _json({"result": result})

    served = Starlette(
        routes=[
            Route("/", page),
            Route("/download/{name:path}", download),
            Route("/upload/{name:path}", upload, methods=["POST"]),
            WebSocketRoute("/channel", conversations.converse),
            Route("/{folder}/{name:path}", static),
        ]
    )
    served.router.redirect_slashes = False
    return served


@lru_cache(maxsize=256)
def _compressed(content: bytes) -> bytes:
    """The content of a static file, compressed; it is the same for everyone, so nothing secret shows in its size."""
    return gzip.compress(content, COMPRESSION, mtime=0)


async def _body(request: Request, limits: Limits) -> bytes | None:
    """The body of an upload; None where it is larger than announced and allowed."""
    body = bytearray()
    async with asyncio.timeout(limits.body_seconds):
        async for chunk in request.stream():
            body += chunk
            if len(body) > limits.body_bytes:
                return None
    return bytes(body)


def _attachment(found: Download) -> Response:
    """A response that a browser saves, or shows in a tab of its own; it is never a page of this server."""
    name = quote(found.file_name, safe="")
    headers = {
        "Content-Disposition": f"{'inline' if found.shown else 'attachment'}; filename*=UTF-8''{name}",
        "Content-Security-Policy": SHOWN if found.shown else DOWNLOADED,
        "Content-Type": found.media_type,
    }
    if isinstance(found.content, Path):
        return FileResponse(found.content, headers=headers)
    return Response(found.content, headers=headers)


def _json(message: dict[str, Any], status: int = 200) -> Response:
    return Response(written(message), status, media_type="application/json")


def _refusal(error: KinemorphError) -> Response:
    return _json(error_message(error), 422)


def _missing() -> Response:
    return PlainTextResponse("There is no such file.\n", 404)
