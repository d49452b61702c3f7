"""A process that calls the functions of a model's controllers in C, for one run.

Messages go through pipes, as bytes of doubles; Python sleeps until an answer is there, the process has ended, or the
time limit is over. A new process has static variables with their initial values, so that every run begins alike.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import select
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from struct import Struct
from typing import Any

from kinemorph.disk_cache import code_cache
from kinemorph.errors import ControllerError, UnsupportedError
from kinemorph.model.elements.control.c_functions import CController
from kinemorph.simulation.c_code.compiler import BEYOND_DRIVES, BEYOND_MEMORY, compiled_server
from kinemorph.simulation.c_code.unit import CFunction, c_unit

ENDING = 1.0  # [s] that a process has to end by itself
BUSY = 20  # attempts to start a file that another thread's new process still has open for writing
REASONS = {
    "SIGSEGV": "it accessed memory that is not its own",
    "SIGBUS": "it accessed memory that is not its own",
    "SIGFPE": "it divided an integer by 0",
    "SIGABRT": "it called abort, or an assertion failed",
    "SIGILL": "it executed an instruction that is not valid",
}


class CProcess:
    """A running server with the functions of some controllers. Raises ControllerError if it cannot be started."""

    def __init__(self, controllers: Iterable[CController]) -> None:
        given = tuple(controllers)
        check_trusted(given, "run")
        if os.name != "posix":
            raise ControllerError(
                f"controller '{given[0].name}' is C, which runs in simulations on Linux and macOS only. Use a "
                "PythonController here, or write the model as a program."
            )
        unit = c_unit(given)
        self._process = _started(compiled_server(unit))
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self._from, select.POLLIN)
        self._failed: str | None = None  # the message of the call after which the process has ended
        self.end = weakref.finalize(self, _ended, self._process, os.getpid())
        self.functions: dict[str, Callable[..., Any]] = {
            function.controller: self._caller(number, function) for number, function in enumerate(unit.functions)
        }

    def _caller(self, number: int, function: CFunction) -> Callable[..., Any]:
        """A Python function that calls a function in C, with the arguments of a PythonController's function.

        It takes t, the signals, and, where there is memory, a list of it. It returns the outputs as a list, and the new
        memory after them where there is one.
        """
        me = weakref.proxy(self)
        message = Struct(f"={2 + function.reads + function.memory}d")
        answer = Struct(f"={function.outputs + function.memory}d")

        def plain(t: float, *values: float) -> list[float]:
            return list(me.ask(function, message.pack(number, t, *values), answer))

        def with_memory(t: float, *values: Any) -> tuple[list[float], list[float]]:
            found = me.ask(function, message.pack(number, t, *values[:-1], *values[-1]), answer)
            return list(found[: function.outputs]), list(found[function.outputs :])

        return with_memory if function.memory else plain

    def ask(self, function: CFunction, message: bytes, answer: Struct) -> Sequence[float]:
        """The numbers that a call of a function in C gives. Raises ControllerError where it fails."""
        if self._failed is not None:
            raise ControllerError(self._failed)
        until = time.monotonic() + function.time_limit
        try:
            sent = os.write(self._to, message)
            while sent < len(message):
                sent += os.write(self._to, message[sent:])
            found = b""
            while len(found) < answer.size:
                left = until - time.monotonic()
                if not self._poll.poll(None if math.isinf(left) else max(left, 0.0) * 1e3):
                    self._fail(function, None)
                part = os.read(self._from, answer.size - len(found))
                if not part:
                    self._fail(function, self._status())
                found += part
        except BrokenPipeError:
            self._fail(function, self._status())
        return answer.unpack(found)

    def _status(self) -> int | None:
        """The exit status of a process whose pipe is closed; below 0, the number of the signal that ended it."""
        try:
            return self._process.wait(ENDING)
        except subprocess.TimeoutExpired:  # it closed the pipe itself
            return None

    def _fail(self, function: CFunction, status: int | None) -> None:
        """Ends the process and raises ControllerError; `status` is None where the call takes too long."""
        who = f"controller '{function.controller}'"
        if status is None:
            self._process.kill()
            what = f"its function '{function.name}' has not returned within {function.time_limit:g} s"
            self._failed = f"{who}: {what}. Correct it, or enlarge time_limit."
        elif status in (BEYOND_DRIVES, BEYOND_MEMORY):
            kind, count = ("drives", function.outputs) if status == BEYOND_DRIVES else ("memory", function.memory)
            what = f"its function '{function.name}' wrote behind the end of `{kind}`, which has {count} numbers"
            self._failed = f"{who}: {what}. Correct it, or name more of them."
        elif status >= 0:
            what = f"its function '{function.name}' ended its process with status {status}; expected that it returns"
            self._failed = f"{who}: {what}. Do not call exit."
        else:
            name = _signal(-status)
            reason = f" ({reason})" if (reason := REASONS.get(name)) else ""
            self._failed = f"{who}: its function '{function.name}' crashed with {name}{reason}. Correct the source."
        self.end()
        raise ControllerError(self._failed)


def check_trusted(controllers: Iterable[CController], verb: str) -> None:
    """Raises UnsupportedError for C of a model file that was loaded without permission; `verb` says what is refused."""
    for element in controllers:
        if element.trusted is not True:
            names = ", ".join(Path(file).name for file in element.files) or "a text in the file"
            raise UnsupportedError(
                f"controller '{element.name}' is C of a model file ({names}), which would {verb} with all rights of "
                "your account. If you trust it, load the file with allow_c=True, or use the option --allow-c."
            )


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _started(code: bytes) -> subprocess.Popen[bytes]:
    """A process of the executable `code`. Its file is one that only the user can read, and goes as soon as it runs."""
    try:
        with _file() as path:
            path.write_bytes(code)
            path.chmod(0o700)
            return _spawned(str(path))
    except OSError as error:
        raise ControllerError(
            f"controllers in C: their process cannot be started ({error.strerror}). Set the environment variable "
            "KINEMORPH_CACHE to a folder in which programs may run."
        ) from error


@contextlib.contextmanager
def _file() -> Iterator[Path]:
    """A context with the path of a new file: in the cache of compiled code, else in a folder that only the user has."""
    cache = code_cache()
    if cache and cache.problem() is None:
        with cache.part("0" * 64) as path:
            yield path
    else:
        with tempfile.TemporaryDirectory(prefix="kinemorph-") as folder:
            yield Path(folder, "server")


def _spawned(path: str) -> subprocess.Popen[bytes]:
    for left in range(BUSY - 1, -1, -1):
        try:  # in a session of its own, so that Ctrl-C does not reach it
            return subprocess.Popen(
                [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
            )
        except OSError as error:
            if error.errno != errno.ETXTBSY or not left:
                raise
            time.sleep(0.01)
    raise AssertionError("the last attempt raises or returns")


def _ended(process: subprocess.Popen[bytes], owner: int) -> None:
    """Ends a process: it returns where its input ends, and is killed where it does not."""
    if os.getpid() != owner:  # a copy of this Python, by fork
        return
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(ENDING if process.poll() is None else None)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
