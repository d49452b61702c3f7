"""Keeps memory for results in the process, so that a call does not have to request it from the operating system again.

glibc's malloc returns free memory at the end of the heap to the operating system if it is more than twice the biggest
block that was ever freed. The next call then requests it again, page by page, which can take longer than computing the
result. One array never reaches this limit, several arrays do. So one block as big as all results is allocated and freed
first. With other allocators this only takes a little time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from kinemorph.codegen.graphs.program import Port

ALWAYS_KEPT = 2**17  # [byte] of free memory that malloc never returns


def room_from(outputs: Sequence[Port]) -> int:
    """The smallest number of states, at least 1, for which `make_room` is needed before results are allocated."""
    size = sum(port.size for port in outputs)
    return max(1, ALWAYS_KEPT // (8 * size)) if len(outputs) > 1 and size else sys.maxsize


def make_room(n: int, outputs: Sequence[Port]) -> None:
    """Makes the allocator keep as much free memory in the process as the results of n states take."""
    np.empty((n, sum(port.size for port in outputs)))
