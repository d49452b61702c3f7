"""Runs code that is not trusted in a separate process: a compiler that may abort, macros that are evaluated.

The process runs a script of this package with isolated Python, in an empty folder and with almost no environment
variables. It reads bytes from stdin and writes bytes to stdout. The script limits its own memory and processor time;
this file limits its wall-clock time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SAID = 4096  # bytes of stderr that are kept


class Answer(NamedTuple):
    """The result of a process: exit code (None if it ran out of time), stdout, and the beginning of stderr."""

    code: int | None
    output: bytes
    said: str


def inherited(*names: str) -> dict[str, str]:
    """The environment variables with these names, without those that are not set."""
    return {name: os.environ[name] for name in names if name in os.environ}


def ask(
    script: str, arguments: Sequence[str], given: bytes, seconds: float, environment: Mapping[str, str] | None = None
) -> Answer:
    """Runs a script with `given` as its stdin, and stops it after `seconds`. Raises OSError if it cannot be started.

    `environment` are the environment variables that the script gets.
    """
    needed = inherited("SYSTEMROOT")  # on Windows
    with tempfile.TemporaryDirectory(prefix="kinemorph-") as place, open(Path(place, "said"), "w+b") as said:
        try:
            run = subprocess.run(
                [sys.executable, "-I", script, *arguments],
                input=given,
                stdout=subprocess.PIPE,
                stderr=said,
                cwd=place,
                env={**needed, **(environment or {})},
                timeout=seconds,
                check=False,
            )
            code, output = run.returncode, run.stdout
        except subprocess.TimeoutExpired:
            code, output = None, b""
        said.seek(0)
        return Answer(code, output, said.read(SAID).decode(errors="replace"))
