"""Messages between a process and its workers: a JSON header and bytes, through a pipe.

A frame is the length of the header and the length of the payload (two uint32, little endian), the header as JSON, and
the payload. Nothing that arrives is executed or unpickled here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from struct import Struct
from typing import Any, BinaryIO, NamedTuple

LENGTHS = Struct("<II")
MOST = 1 << 30  # bytes of one frame


class Frame(NamedTuple):
    """One message: a header of JSON data, and bytes."""

    header: dict[str, Any]
    payload: bytes = b""


def write_frame(pipe: BinaryIO, header: Mapping[str, Any], payload: bytes = b"") -> None:
    """Writes one frame and flushes the pipe. Numbers that JSON cannot express (nan, inf) raise ValueError."""
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    if max(len(text), len(payload)) > MOST:
        raise ValueError(f"a message has {max(len(text), len(payload)):,} bytes; expected at most {MOST:,}")
    pipe.write(LENGTHS.pack(len(text), len(payload)) + text + payload)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> Frame | None:
    """Reads the next frame; None where the other side has closed the pipe or has ended within a frame."""
    start = pipe.read(LENGTHS.size)
    if len(start) < LENGTHS.size:
        return None
    lengths = LENGTHS.unpack(start)
    text, payload = (pipe.read(length) for length in lengths)
    if (len(text), len(payload)) != lengths:
        return None
    return Frame(json.loads(text), payload)
