"""JSON from and for pages. Text from a page has a bounded depth and no NaN; NaN and infinity are sent as null."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from kinemorph.errors import KinemorphError, ModelError, Problem, UnsupportedError

# strings and brackets; a string without an end matches too, so that the search never goes over the text twice
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+\\?(?:"|\Z)|[\[\]{}]', re.DOTALL)
HALVES = re.compile("[\ud800-\udfff]")  # of characters beyond the first 65,536; alone they are no UTF-8
DEEPEST = 64  # lists and objects inside each other


def read_message(text: str, deepest: int = DEEPEST) -> Any:
    """The data of a JSON text; raises UnsupportedError with the reason where it is none."""
    _check_depth(text, deepest)
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UnsupportedError(f"a message of {len(text)} characters is not JSON ({error}). Reload the page.") from None


def _check_depth(text: str, deepest: int) -> None:
    if text.count("[") + text.count("{") <= deepest:
        return
    depth = 0
    for found in BRACKETS.finditer(text):
        sign = found[0]
        if sign in "[{":
            depth += 1
            if depth > deepest:
                raise UnsupportedError(
                    f"a message has more than {deepest} lists or objects inside each other. Send a flatter one."
                )
        elif sign in "]}":
            depth -= 1


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def written(message: Any) -> str:
    """JSON of a message: arrays become lists; NaN and infinite numbers become null, which JSON has no words for.

    Halves of characters, by which Python keeps bytes of a file that are no UTF-8, become escapes: a page that sends
    them back sends the same bytes.
    """
    try:
        text = json.dumps(message, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain)
    except ValueError:
        finite = _finite(message)
        text = json.dumps(finite, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain)
    return text if text.isascii() else HALVES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: Any) -> Any:
    """Arrays and numbers of NumPy as lists and numbers of Python; sets as sorted lists."""
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"an answer holds a {type(value).__name__}, which is no data for JSON")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return _finite(value.tolist()) if hasattr(value, "tolist") else value


def error_message(error: KinemorphError) -> dict[str, Any]:
    """An error as a message: its sentence, and `findings` with one entry for every problem of a model."""
    message: dict[str, Any] = {"error": str(error)}
    found = getattr(error, "findings", ())
    if found:
        message["findings"] = [one.as_dict() if hasattr(one, "as_dict") else {"problem": str(one)} for one in found]
    elif isinstance(error, ModelError):
        message["findings"] = [_problem(one) for one in error.problems]
    return message


def _problem(problem: str) -> dict[str, Any]:
    one = Problem.of(problem)
    part = f"{one.kind} '{one.name}'" if one.name else one.kind
    return {"severity": "error", "element": part, "key": one.key, "problem": one.what, "remedy": one.remedy}
