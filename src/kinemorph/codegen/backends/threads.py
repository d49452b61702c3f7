"""A big batch shared out among threads: compiled code runs without the interpreter lock, so all CPUs can work on it.

Shares begin at multiples of the lane width, and a state's result does not depend on where it stands; so any number of
threads gives the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kinemorph.codegen.graphs.program import Runnable
from kinemorph.errors import KinemorphError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

WRITING = 20  # operations that take as long as to write one number to memory
LEAST = 8_000_000  # cost times states in a share: a few hundred microseconds, several times a thread's wake-up

T = TypeVar("T")
R = TypeVar("R")


@cache
def default_threads() -> int:
    """KINEMORPH_THREADS of the environment, else the number of CPUs this process may use."""
    wanted = os.environ.get("KINEMORPH_THREADS")
    if not wanted:  # an empty one counts as none
        usable = getattr(os, "sched_getaffinity", None)
        return len(usable(0)) if usable else os.cpu_count() or 1
    if not wanted.strip().isdigit() or int(wanted) < 1:
        raise KinemorphError(f"KINEMORPH_THREADS is '{wanted}'; expected a whole number from 1 up. Set or unset it.")
    return int(wanted)


def checked_threads(count: object, what: str) -> int:
    """A number of threads; raises KinemorphError for what is not a whole number from 1 up."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise KinemorphError(f"{what} is {count!r}; expected a whole number from 1 up. 1 stays on the calling thread.")
    return int(count)


def cost_in_batch(program: Runnable) -> int:
    """What a state costs where many follow each other: operations, and writing the results."""
    return program.cost + WRITING * sum(port.size for port in program.outputs)


def shared_from(cost: int) -> int:
    """The number of states from which a second thread pays. `cost`: that of one state."""
    return -(-2 * LEAST // max(cost, 1))


def shares(n: int, lanes: int, threads: int, cost: int) -> list[int]:
    """Where the shares of n states begin, and n; one share where more do not pay. `cost`: that of one state."""
    if not lanes:
        return [0, n]
    blocks = -(-n // lanes)
    count = min(threads, n * cost // LEAST, blocks)
    if count < 2:
        return [0, n]
    return [*(blocks * k // count * lanes for k in range(count)), n]


def in_threads(work: Callable[[T], R], items: Sequence[T], threads: int) -> list[R]:
    """work(item) for all items; the calling thread takes the last one."""
    waiting = [_pool(threads).submit(work, item) for item in items[:-1]]
    last = work(items[-1])
    return [*(result.result() for result in waiting), last]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, thread_name_prefix="kinemorph")
