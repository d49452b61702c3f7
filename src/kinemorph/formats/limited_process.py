"""Runs code that is not trusted in a separate process: a compiler that may abort, macros that are evaluated.

The process runs a script of this package with isolated Python, in a folder of its own and with almost no environment
variables. It reads bytes from stdin and writes bytes to stdout. The script limits its own memory and processor time;
this file limits its wall-clock time.

A script with a function `prepare`, which imports what it needs, can be run again without starting Python again: on
Linux the first run leaves a process behind that forks for later ones (`process_template`).
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from kinemorph.formats import process_template

SAID = 4096  # bytes of stderr that are kept
PART = 1 << 20  # bytes of stdout that are read at once


class Answer(NamedTuple):
    """The result of a process: exit code (None if it ran out of time), stdout, and the beginning of stderr."""

    code: int | None
    output: bytes
    said: str


def inherited(*names: str) -> dict[str, str]:
    """The environment variables with these names, without those that are not set."""
    return {name: os.environ[name] for name in names if name in os.environ}


def ask(
    script: str,
    arguments: Sequence[str],
    given: bytes,
    seconds: float,
    environment: Mapping[str, str] | None = None,
    prepared: Sequence[str] | None = None,
) -> Answer:
    """Runs a script with `given` as its stdin, and stops it after `seconds`. Raises OSError if it cannot be started.

    `environment` are the environment variables that the script gets; `prepared` are the arguments of its function
    `prepare`, if it has one.
    """
    needed = {**inherited("SYSTEMROOT"), **(environment or {})}  # SYSTEMROOT is needed on Windows
    with tempfile.TemporaryDirectory(prefix="kinemorph-") as place, open(Path(place, "said"), "w+b") as said:
        found = None
        if prepared is not None and sys.platform == "linux":
            found = _forked((script, tuple(prepared), tuple(sorted(needed.items()))), arguments, given, seconds, said)
        code, output = found or _started(script, arguments, given, seconds, needed, said)
        said.seek(0)
        return Answer(code, output, said.read(SAID).decode(errors="replace"))


Ended = tuple[int | None, bytes]  # the exit code, None after the last second, and stdout


def _started(
    script: str, arguments: Sequence[str], given: bytes, seconds: float, environment: dict[str, str], said: IO[bytes]
) -> Ended:
    """Runs the script in a new Python."""
    try:
        run = subprocess.run(
            [sys.executable, "-I", script, *arguments],
            input=given,
            stdout=subprocess.PIPE,
            stderr=said,
            cwd=Path(said.name).parent,
            env=environment,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, b""
    return run.returncode, run.stdout


# ── processes that fork ───────────────────────────────────────────────────────────────────────────────────────────────

Key = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]  # script, arguments of `prepare`, environment
_one_at_a_time = threading.Lock()
_templates: dict[str, _Template] = {}  # by script: a program may read MJCF and xacro files in turns


class _Template:
    """A running `process_template`, and the socket on which it is asked."""

    def __init__(self, key: Key) -> None:
        script, prepared, environment = key
        self.key, self.owner = key, os.getpid()
        self.asking, asked = socket.socketpair()
        with asked:
            self.process = subprocess.Popen(
                [sys.executable, "-I", process_template.__file__, str(asked.fileno()), script, *prepared],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=os.sep,
                env=dict(environment),
                pass_fds=(asked.fileno(),),
                start_new_session=True,  # so that it can be stopped together with its forks
            )

    def run(self, arguments: Sequence[str], given: IO[bytes], seconds: float, said: IO[bytes]) -> Ended:
        """Asks for a run. Raises OSError if the process is gone."""
        end = time.monotonic() + seconds
        message = json.dumps({"arguments": list(arguments), "folder": os.path.dirname(said.name)}).encode()
        reading, writing = os.pipe()
        try:
            try:
                socket.send_fds(self.asking, [message], [given.fileno(), writing, said.fileno()])
            finally:
                os.close(writing)
            output = _read_until(reading, end)
            self.asking.settimeout(max(end - time.monotonic(), 0.01))
            code = self.asking.recv(16)
        except TimeoutError:
            return None, b""
        finally:
            os.close(reading)
        if not code:
            raise BrokenPipeError
        return int(code), output

    def stop(self) -> None:
        """Ends the process and its forks; a fork of this program leaves them to the program itself."""
        self.asking.close()
        if self.owner == os.getpid():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def _forked(key: Key, arguments: Sequence[str], given: bytes, seconds: float, said: IO[bytes]) -> Ended | None:
    """Runs the script in a fork of a process that is prepared; None if there is none that can be asked now."""
    if not _one_at_a_time.acquire(blocking=False):
        return None
    script = key[0]
    try:
        with open(Path(said.name).parent / "given", "w+b") as file:
            file.write(given)
            for _ in range(2):  # one that has not been asked for long has ended
                template = _templates.get(script)
                if template is None or template.key != key or template.owner != os.getpid():
                    stop_template(script)
                    template = _templates[script] = _Template(key)
                file.seek(0)
                try:
                    ended = template.run(arguments, file, seconds, said)
                except OSError:
                    stop_template(script)
                    continue
                except BaseException:  # its answer would be taken for that of the next run
                    stop_template(script)
                    raise
                if ended[0] is None:
                    stop_template(script)
                return ended
        return None
    finally:
        _one_at_a_time.release()


def stop_template(script: str | None = None) -> None:
    """Ends the process that is kept for later runs of a script, or those of all scripts."""
    for name in [script] if script is not None else list(_templates):
        if name in _templates:
            _templates.pop(name).stop()


def _read_until(reading: int, end: float) -> bytes:
    """All bytes of a pipe until its other end is closed. Raises TimeoutError at the time `end` [s]."""
    parts: list[bytes] = []
    with selectors.DefaultSelector() as waiting:
        waiting.register(reading, selectors.EVENT_READ)
        while waiting.select(max(end - time.monotonic(), 0.0)):
            part = os.read(reading, PART)
            if not part:
                return b"".join(parts)
            parts.append(part)
    raise TimeoutError


atexit.register(stop_template)
