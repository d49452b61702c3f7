"""Better code in the background: a program that has to run at once is compiled in the least time, and then for speed.

    quick code ── is called for WORTH seconds ──► a process compiles its LLVM IR for speed ──► cache ──► it is exchanged

Both have the same bits (`graphs.fused`): no result shows when the one took the place of the other. Compiling for speed
takes five times as long; a short run never does it. It is done in a process of its own, because LLVM lets only one
thread of a process work, and so that neither Ctrl-C nor a fork nor the end of the program has to wait for it. Of
several processes that want the same code one compiles it. Where it cannot be compiled, quick code stays in use.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kinemorph.disk_cache import TEXT, CodeCache, package_folder

LONGEST = 120.0  # [s] after which the work of another process counts as abandoned
EVERY = 0.2  # [s] between two looks for the code that another process compiles
NICENESS = 10  # the work waits for whatever else this computer does
ENDING = 1.0  # [s] that the end of this program waits for what it has begun to be cleaned up
START = f"import sys; sys.path.insert(0, sys.argv[1]); from {__name__} import main; main()"


class Improvable(NamedTuple):
    """An LLVM module whose code was compiled in the least time: where code for speed has to be stored.

    `emit` returns its LLVM IR, which is in the cache, too, unless it was removed there.
    """

    store: CodeCache
    digest: str
    name: str
    speed: int
    emit: Callable[[], str]


def packed(text: str) -> bytes:
    """LLVM IR as it is kept in the cache."""
    return zlib.compress(text.encode(), 1)


class _Work:
    """What this process does in the background: one thing at a time."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.ending = False

    def end(self) -> None:
        """Ends the process that compiles; nothing is begun after it."""
        self.ending = True
        if self.process is not None:
            self.process.kill()
            self.turn.acquire(timeout=ENDING)  # the thread that waits for the process gives back its claim


_work = _Work()


def improve(modules: Sequence[Improvable], done: Callable[[], None]) -> threading.Thread:
    """Has modules compiled for speed, and calls `done` when the code of all is in the cache; in a thread of its own."""
    thread = threading.Thread(target=_improve, args=(modules, done), name="kinemorph better code", daemon=True)
    thread.start()
    return thread


def _improve(modules: Sequence[Improvable], done: Callable[[], None]) -> None:
    with _work.turn:
        found = all(_is_stored(module) or _compiled(module) for module in modules)
    if found:
        done()


def _is_stored(module: Improvable) -> bool:
    return module.store.read(module.digest) is not None


def _compiled(module: Improvable) -> bool:
    """Has a module compiled, by this process or by another one that has begun with it; returns whether it is stored."""
    began = time.monotonic()
    while not _work.ending and time.monotonic() - began < LONGEST and os.access(module.store.folder, os.W_OK):
        with module.store.claimed(module.digest, LONGEST) as mine:
            if mine:
                return _is_stored(module) or _compile(module)
        time.sleep(EVERY)
        if _is_stored(module):
            return True
    return False


def _compile(module: Improvable) -> bool:
    """Compiles a module for speed in a process of its own, and returns whether its code is in the cache then."""
    store, digest = module.store, module.digest
    if store.read(digest, TEXT) is None:
        store.write(digest, packed(module.emit()), TEXT)
    arguments = [str(package_folder().parent), str(store.folder), digest, module.name, str(module.speed)]
    nothing = subprocess.DEVNULL
    with contextlib.suppress(OSError):
        _work.process = subprocess.Popen(
            [sys.executable, "-P", "-c", START, *arguments],
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,  # Ctrl-C in a terminal does not reach it
        )
        _work.process.wait()
    return _is_stored(module)


def main() -> None:
    """Compiles the module whose cache, digest, name and level of optimization the command line names."""
    from pathlib import Path

    from kinemorph.codegen.backends.llvm.engine import compile_text

    folder, digest, name, speed = sys.argv[2:]
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    store = CodeCache(Path(folder))
    text = store.read(digest, TEXT)
    if text is not None:
        store.write(digest, compile_text(name, zlib.decompress(text).decode(), int(speed)))
        store.remove(digest, TEXT)


def _start_again() -> None:
    """A forked process has neither the thread nor the process that compiles."""
    global _work
    _work = _Work()


atexit.register(lambda: _work.end())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_again)
