"""A big batch divided among threads: compiled code runs without Python's interpreter lock, so that all CPUs are used.

The part of the batch that a thread evaluates is its share. Each share starts at a multiple of the number of lanes, and
the result of a state does not depend on its position in the batch; so results are bit-identical for any number of
threads.
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

WRITING = 20  # the cost of writing one number to memory, in operations
LEAST = 8_000_000  # least cost of a share, in operations: some 100 us, several times what it takes to wake up a thread

T = TypeVar("T")
R = TypeVar("R")


@cache
def default_threads() -> int:
    """The number in the environment variable KINEMORPH_THREADS, else the number of CPUs that this process may use."""
    wanted = os.environ.get("KINEMORPH_THREADS")
    if not wanted:  # an empty string counts as not set
        usable = getattr(os, "sched_getaffinity", None)
        return len(usable(0)) if usable else os.cpu_count() or 1
    if not wanted.strip().isdigit() or int(wanted) < 1:
        raise KinemorphError(
            f"the environment variable KINEMORPH_THREADS is '{wanted}'; expected a whole number, 1 or more. Correct it "
            "or unset it."
        )
    return int(wanted)


def checked_threads(count: object, what: str) -> int:
    """A number of threads as an int; KinemorphError, which starts with `what`, if it is not a whole number >= 1."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise KinemorphError(
            f"{what} is {count!r}; expected a whole number, 1 or more. Use 1 to stay on the calling thread."
        )
    return int(count)


def cost_in_batch(program: Runnable) -> int:
    """The cost of one state in a batch, in operations, with the cost of writing its results."""
    return program.cost + WRITING * sum(port.size for port in program.outputs)


def shared_from(cost: int) -> int:
    """The smallest number of states for which a second thread makes a call faster; `cost` is that of one state."""
    return -(-2 * LEAST // max(cost, 1))


def shares(n: int, lanes: int, threads: int, cost: int) -> list[int]:
    """The bounds of the shares of n states: the first state of each share, then n.

    There is one share if more would not be faster; `cost` is the cost of one state.
    """
    if not lanes:
        return [0, n]
    blocks = -(-n // lanes)
    count = min(threads, n * cost // LEAST, blocks)
    if count < 2:
        return [0, n]
    return [*(blocks * k // count * lanes for k in range(count)), n]


def in_threads(work: Callable[[T], R], items: Sequence[T], threads: int) -> list[R]:
    """The results of work(item) for all items, in order; `threads` threads and the calling thread share them."""
    waiting = [_pool(threads).submit(work, item) for item in items[:-1]]
    last = work(items[-1])
    return [*(result.result() for result in waiting), last]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, thread_name_prefix="kinemorph")


if hasattr(os, "register_at_fork"):  # a forked process has none of its parent's threads, so it starts its own
    os.register_at_fork(after_in_child=_pool.cache_clear)
