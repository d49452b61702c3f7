"""Scripts of `formats.limited_process` run in a fork of this process, which has imported what they need already.

A mutant of an MJCF or xacro file then costs milliseconds, not the start of Python and the import of MuJoCo or xacro.
The fork confines itself as the script does, to the memory that this process has beside what the script may use; its
end, its time and its exit code are told in the same way.
"""

from __future__ import annotations

import importlib.util
import os
import selectors
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from kinemorph.formats.limited_process import SAID, Answer


@cache
def _script(path: str) -> ModuleType:
    """The script as a module, and what it imports when it runs."""
    spec = importlib.util.spec_from_file_location(f"forked_{Path(path).parent.name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in {"mjcf": ("mujoco",), "xacro": ("xacro", "xacro.substitution_args")}[Path(path).parent.name]:
        importlib.import_module(name)
    return module


def ask(
    script: str, arguments: Sequence[str], given: bytes, seconds: float, environment: Mapping[str, str] | None = None
) -> Answer:
    """What `limited_process.ask` does, by a fork."""
    module = _script(script)
    with tempfile.TemporaryDirectory(prefix="kinemorph-") as place:
        file = Path(place, "given")
        file.write_bytes(given)
        (output, to_output), (said, to_said) = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            _run(module, arguments, (os.open(file, os.O_RDONLY), to_output, to_said), place)
        os.close(to_output)
        os.close(to_said)
        texts = _read(output, said, time.monotonic() + seconds)
        if texts is None:
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        if texts is None:
            return Answer(None, b"", "")
        return Answer(os.waitstatus_to_exitcode(status), texts[output], texts[said][:SAID].decode(errors="replace"))


def _read(output: int, said: int, end: float) -> dict[int, bytes] | None:
    """All that comes out of two pipes; None if they are still open at the time `end`."""
    texts = {output: b"", said: b""}
    with selectors.DefaultSelector() as waiting:
        for pipe in texts:
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map() and time.monotonic() < end:
            for key, _ in waiting.select(max(end - time.monotonic(), 0.0)):
                part = os.read(key.fd, 1 << 16)
                texts[key.fd] += part
                if not part:
                    waiting.unregister(key.fd)
        done = not waiting.get_map()
    for pipe in texts:
        os.close(pipe)
    return texts if done else None


def _run(module: ModuleType, arguments: Sequence[str], files: Sequence[int], place: str) -> None:
    """Runs the script in this fork, which ends with it."""
    code = 1
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(place)
        sys.stdin, sys.stdout, sys.stderr = open(0, encoding="utf-8"), open(1, "w"), open(2, "w")  # noqa: SIM115
        pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
        memory, *others = arguments
        module.main(str(int(memory) + pages * os.sysconf("SC_PAGESIZE")), *others)
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


@contextmanager
def forks() -> Iterator[None]:
    """MJCF and xacro files are read by forks of this process."""
    with (
        patch("kinemorph.formats.mjcf.compiler.ask", ask),
        patch("kinemorph.formats.xacro.reader.ask", ask),
    ):
        yield
