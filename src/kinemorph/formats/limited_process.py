"""A separate process for code that is not trusted in this one: a compiler that may abort, macros that are evaluated.

It runs isolated Python on a script of the package, in an empty folder and with almost no environment, takes bytes and
gives bytes. The script sets its own limits of memory and processor time; here a limit of wall-clock time stops it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SAID = 4096  # bytes of what it says on stderr that are kept


class Answer(NamedTuple):
    """The result of a process. `code` is None where it ran out of time."""

    code: int | None
    output: bytes
    said: str


def inherited(*names: str) -> dict[str, str]:
    """These variables of the environment, as far as they are set."""
    return {name: os.environ[name] for name in names if name in os.environ}


def ask(
    script: str, arguments: Sequence[str], given: bytes, seconds: float, environment: Mapping[str, str] | None = None
) -> Answer:
    """The answer of a script to the bytes it is given, within so many seconds. OSError where it cannot be started."""
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
