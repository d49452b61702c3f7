"""A study without models: an experiment that computes simple numbers, or misbehaves, and a store in memory."""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kinemorph.studies.items import Indices, Items, items_of, number_column
from kinemorph.studies.outcomes import Chunk, Outcome, State
from kinemorph.studies.packing import Packed, packed


def numbered_items(count: int) -> tuple[Indices, Items]:
    """`count` items with a part "x", which is the number of the item."""
    return np.arange(count), items_of([number_column("x", np.arange(count))])


@dataclass(frozen=True)
class Squares:
    """An experiment whose measure is the square of x; `deeds` says what else happens at items, by their x.

    kill        the worker is killed          exit    it ends             raise   an exception
    sleep       it never ends                 spin    it never ends, in C code that holds the interpreter's lock
    memory      it holds 128 MiB              print   it prints           warn    it warns
    quit        it calls exit(), which closes stdin           read    it reads stdin
    fork        it goes on twice              orphan  it ends, and leaves a forked copy for a while
    pause       it takes 5 ms; -1 stands for all items without a deed of their own
    """

    deeds: dict[int, str] = field(default_factory=dict)
    apart: int = 1  # the number of groups
    blob: bytes = b""  # makes it large
    log: str = ""  # a file that gets a line with the process and the x of every item that is computed

    def groups(self, items: Items) -> Sequence[Indices]:
        return [np.arange(start, len(items), self.apart) for start in range(self.apart)]

    @property
    def packed(self) -> Packed:
        return packed(self)

    def compute(self, chunk: Chunk) -> Outcome:
        values = chunk.items.column("x").numbers
        for value in map(int, values.tolist()) if self.deeds or self.log else ():
            if self.log:
                append(self.log, f"{os.getpid()} {value}")
            do(self.deeds.get(value, self.deeds.get(-1, "")))
        states = np.full(len(values), int(State.DONE), dtype=np.int8)
        return Outcome(chunk.numbers, ("square",), (values**2)[:, None], states, {}, {}, 0.0)


def do(deed: str) -> None:
    """What happens at an item."""
    if deed == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif deed == "exit":
        os._exit(3)
    elif deed == "raise":
        raise ArithmeticError("no such number")
    elif deed == "sleep":
        time.sleep(1000.0)
    elif deed == "spin":
        sum(range(10**12))
    elif deed == "memory":
        held = bytearray(128 << 20)
        time.sleep(1000.0)
        del held
    elif deed == "print":
        print("a worker prints")
    elif deed == "warn":
        warnings.warn("a worker warns", stacklevel=1)
    elif deed == "quit":
        exit(0)  # this one closes stdin, sys.exit does not
    elif deed == "read":
        assert not os.read(0, 10)
    elif deed == "fork":
        os.fork()
    elif deed == "orphan":
        if os.fork():
            os._exit(5)
        time.sleep(15.0)
        os._exit(0)
    elif deed == "pause":
        time.sleep(0.005)


def append(path: str, line: str) -> None:
    """Appends a line to a file, whole even if the process is killed."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


class MemoryStore:
    """A store in memory, which refuses a number twice."""

    def __init__(self) -> None:
        self.squares: dict[int, float] = {}
        self.causes: dict[int, str] = {}
        self.commits: list[float] = []
        self.sizes: list[int] = []

    def record(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            self.sizes.append(len(outcome.numbers))
            for number, state, row in zip(outcome.numbers.tolist(), outcome.states, outcome.measures, strict=True):
                assert number not in self.squares and number not in self.causes
                if state == State.DONE:
                    self.squares[number] = float(row[0])
                else:
                    self.causes[number] = outcome.causes[number]
        self.commits.append(time.monotonic())
