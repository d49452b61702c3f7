"""Memory for results, without a system call in each call.

glibc's malloc gives memory freed at the end of the heap back to the system once there is more than twice the biggest
block that was ever freed; the next call then fetches it again, page by page, which can take longer than to compute what
goes there. One result never comes to that much, several do. So one block as big as all of them is made and freed first.
Other allocators lose nothing but a moment.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from kinemorph.codegen.graphs.program import Port

ALWAYS_KEPT = 2**17  # [bytes] that are kept in any case


def room_from(outputs: Sequence[Port]) -> int:
    """The number of states, at least 1, from which results need room made for them."""
    size = sum(port.size for port in outputs)
    return max(1, ALWAYS_KEPT // (8 * size)) if len(outputs) > 1 and size else sys.maxsize


def make_room(n: int, outputs: Sequence[Port]) -> None:
    """Has the allocator keep as much memory as the results of n states take."""
    np.empty((n, sum(port.size for port in outputs)))
