"""A process of this package that works for another one: started, spoken to by frames, and ended.

Each child has pipes of its own, so that whatever happens to it belongs to the job that it works on. A child ends itself
when its stdin is closed, which happens when its owner stops, and also when the owner's process is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

from kinemorph.studies.workers.frames import Frame, read_frame, write_frame

ENDING = 1.0  # [s] that children have to end by themselves
START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {} import main; main()"
J = TypeVar("J")


class Owner(Protocol):
    """An object that has children: it takes in their frames and their ends, in a thread that reads from the child."""

    def take(self, child: Any, frame: Frame) -> None: ...

    def lost(self, child: Any, status: int) -> None: ...


class Child(Generic[J]):
    """One child process, as its owner sees it.

    `job`       what it works on
    `ready`     set as soon as it has said that it waits for jobs, or has ended
    `memory`    the bytes that it used when it was ready
    `words`     the thread that reads what it writes to stderr
    """

    def __init__(
        self,
        program: str,
        configuration: Mapping[str, Any],
        owner: Owner,
        *,
        places: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Starts the function `main` of the module `program`, whose first frame is the configuration.

        `places` are the folders from which it imports, by default those of this process without the present folder.
        """
        self.job: J | None = None
        self.ready, self.is_ended, self.memory = threading.Event(), False, 0
        self._said: deque[str] = deque(maxlen=20)
        found = list(places) or [place for place in sys.path if place]
        alive, self._alive = os.pipe()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", START.format(program), json.dumps(found)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env=None if environment is None else {**os.environ, **environment},
                pass_fds=(alive,) if os.name == "posix" else (),
            )
        except BaseException:
            os.close(self._alive)
            raise
        finally:
            os.close(alive)
        self._sending = threading.Lock()
        self.send({**configuration, "alive": alive})
        name = f"worker {self.process.pid}"
        self.words = threading.Thread(target=_pass_on_words, args=(self,), name=name, daemon=True)
        reader = threading.Thread(target=_read, args=(self, weakref.ref(owner)), name=name, daemon=True)
        for thread in (self.words, reader):
            thread.start()

    def send(self, header: Mapping[str, Any], payload: bytes = b"") -> None:
        """Sends a frame; where the child has ended, nothing happens here: the thread that reads from it notices."""
        assert self.process.stdin is not None
        with self._sending, contextlib.suppress(OSError, ValueError):
            write_frame(self.process.stdin, header, payload)  # type: ignore[arg-type]

    def send_end(self) -> None:
        """Closes the pipe, whereupon the child ends itself; it gets no further job."""
        self.is_ended = True
        with self._sending, contextlib.suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()

    def kill(self) -> None:
        """Ends the child, and the compilers that it has started."""
        self.is_ended = True
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()

    def said(self) -> str:
        """The last lines that the child has written to stderr."""
        return "\n".join(self._said) or "they end before they are ready."

    def close(self) -> None:
        """Closes what is left of the pipes of a child that has ended."""
        self.send_end()
        with contextlib.suppress(OSError):
            os.close(self._alive)
        self._alive = -1


def how_it_ended(status: int) -> str:
    """How a process ended, from its status: "signal SIGKILL", or "exit status 3"."""
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-status).name}"
    return f"exit status {status}"


def end_all(children: Sequence[Child[Any]]) -> None:
    """Ends children: first by closing their pipes, then by force. Returns when none is left."""
    for child in list(children):
        child.send_end()
    for child in list(children):
        try:
            child.process.wait(ENDING)
        except subprocess.TimeoutExpired:
            child.kill()
            child.process.wait()


def _read(child: Child[Any], owner: weakref.ref[Owner]) -> None:
    """Reads the frames of a child until it ends, then closes its pipes."""
    assert child.process.stdout is not None
    with child.process.stdout as pipe:
        while (frame := read_frame(pipe)) is not None:  # type: ignore[arg-type]
            living = owner()
            if living is None:
                break
            living.take(child, frame)
            del living  # a reference would keep the owner from ending while this thread waits
    status = child.process.wait()
    child.close()
    if not child.ready.is_set():  # its last words say why, and may still be in the pipe
        child.words.join(ENDING)  # which a program that it has started may hold open
    living = owner()
    if living is not None:
        living.lost(child, status)


def _pass_on_words(child: Child[Any]) -> None:
    """Passes on what a child writes to stderr, and keeps the last lines for messages."""
    assert child.process.stderr is not None
    with child.process.stderr as pipe:
        for line in pipe:
            text = line.decode(errors="replace").rstrip()
            child._said.append(text)
            print(text, file=sys.stderr)


def opened_pipes() -> tuple[BinaryIO, BinaryIO, dict[str, Any]] | None:
    """The pipes from and to the owner, and the configuration, in a child that starts; None if the owner has gone.

    No other code gets these pipes: anything that is printed goes to stderr from here on, stdin is empty for whoever
    reads or closes it, also for a program that an item starts, and a forked copy of this process does not have them.
    Ctrl-C in the terminal is for the owner.
    """
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    _replace_by_nothing(0)
    os.dup2(2, 1)  # what is printed does not get between the frames
    if hasattr(os, "register_at_fork"):  # a copy would answer too, and keep the owner from seeing the end of this one
        os.register_at_fork(after_in_child=lambda: [*map(_replace_by_nothing, (source.fileno(), target.fileno()))])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    frame = read_frame(source)
    if frame is None:
        return None
    _end_with_owner(frame.header["alive"])
    return source, target, frame.header


def _replace_by_nothing(handle: int) -> None:
    """Lets a file handle mean the file of the operating system that is always empty and forgets what it is given."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, handle, inheritable=handle == 0)
    os.close(nothing)


def _end_with_owner(pipe: int) -> None:
    """Lets the operating system end this process when the owner ends, even in the midst of a computation in C.

    Nothing is ever written to this pipe. Its owner's end is closed when the owner ends, and the signal SIGIO that
    arrives then ends this process. Where there is no such signal, the closed stdin ends it after the computation.
    """
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl
        import select

        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
        now = select.poll()
        now.register(pipe)
        if now.poll(0):  # the owner ended before the signal was asked for, so that none will arrive
            os._exit(0)
