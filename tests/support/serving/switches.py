"""Switches that turn one guard of a server off, to see that the attack which it refuses succeeds then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kinemorph.display.serving import application, confined_paths, conversation, guards, messages
from kinemorph.display.serving.limits import Allowance
from support.serving.targets import Target

NO_BOUND = 10**12


def set_limits(target: Target, patch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Gives a running server other limits."""
    limits = replace(target.server.limits, **changes)
    config, conversations = target.server._server.config, target.server._conversations
    for owner, name in ((config.http, "limits"), (config.ws, "limits"), (conversations, "limits")):
        patch.setattr(owner, name, limits)
    patch.setattr(target.guards, "_limits", limits)
    patch.setattr(config, "ws_max_size", limits.message_bytes)
    patch.setattr(config, "h11_max_incomplete_event_size", limits.header_bytes)
    rates = {known: Allowance(limits.requests_per_second, limits.requests_at_once) for known in (False, True)}
    patch.setattr(target.guards, "_rates", rates)


def _naive_file(folder: Any, name: str) -> bytes | None:
    path = Path(f"{folder}/{name}")
    return path.read_bytes() if path.is_file() else None


class _AllKinds(dict[str, str]):
    """Media types of all endings."""

    def __contains__(self, ending: object) -> bool:
        return True

    def __missing__(self, ending: str) -> str:
        return "text/plain"


def _paths(target: Target, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(application, "MEDIA_TYPES", _AllKinds())
    patch.setattr(guards, "_check_path", lambda path: None)
    patch.setattr(application, "served_file", _naive_file)
    patch.setattr(confined_paths, "confined_file", lambda folder, name, to_write=False: Path(f"{folder}/{name}"))


def _headers(target: Target, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(guards, "SECURITY", {})
    patch.setattr(guards, "page_policy", lambda host, framed: "default-src *")
    patch.setattr(application, "DOWNLOADED", "default-src *")


def _set(owner: Any, name: str, value: Any) -> Callable[[Target, pytest.MonkeyPatch], None]:
    return lambda target, patch: patch.setattr(owner, name, value)


def _bounds(**changes: Any) -> Callable[[Target, pytest.MonkeyPatch], None]:
    return lambda target, patch: set_limits(target, patch, **changes)


def _any_question(text: Any, deepest: int) -> tuple[int, str, dict[str, Any]]:
    return 5, "x", {}


SWITCHES: dict[str, Callable[[Target, pytest.MonkeyPatch], None]] = {
    "key": _set(guards.Guards, "_enter", lambda self, scope, headers: None),
    "comparison": _set(guards, "_same", lambda given, secret: True),
    "Host": _set(guards.Guards, "_host", lambda self, headers: headers.get("host")),
    "Origin": _set(guards.Guards, "_check_origin", lambda self, scope, headers, host, bearer: None),
    "methods": _set(
        guards, "METHODS", frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "OPTIONS", "PATCH"})
    ),
    "paths": _paths,
    "bodies": _set(guards, "_check_body", lambda method, headers, limits: None),
    "security headers": _headers,
    "depth": _set(messages, "_check_depth", lambda text, deepest: None),
    "questions": _set(conversation, "_question", _any_question),
    "size of messages": _bounds(message_bytes=NO_BOUND),
    "number of frames": _bounds(fragments=NO_BOUND),
    "size of headers": _bounds(header_bytes=NO_BOUND),
    "time for headers": _bounds(header_seconds=1e6),
    "time for bodies": _bounds(body_seconds=1e6),
    "number of connections": _bounds(connections=NO_BOUND),
    "number of pages": _bounds(channels=NO_BOUND),
    "number of questions": _bounds(questions=NO_BOUND),
    "rate of requests": _bounds(requests_at_once=1e9),
}
