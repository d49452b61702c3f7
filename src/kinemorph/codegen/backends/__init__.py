"""Backends: each turns a Program into something that runs.

A backend is one function, `Program -> Kernel`; the table of backends is in `codegen.building.compile`. The interpreter
defines what a program means; every other backend is tested against it, op by op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kinemorph.frozen import dataclass

Precision = Literal["float64", "float32"]
Effort = Literal["least", "best", "growing"]  # compiled in the least time, for speed, or the one after the other
Array = npt.NDArray[np.floating[Any]]
Run = Callable[[int, Sequence[Array], Sequence[Array]], bool]


@dataclass(frozen=True)
class Kernel:
    """A compiled program that can be run. All arrays have the kernel's precision.

    `source()` generates the code that the backend emits for the program.

    `run(n, outs, ins)` evaluates n states: `outs` are C-contiguous arrays with n blocks of their port's size; each of
    `ins` has n blocks, or one block for all states. It returns whether every number written is finite. If the outputs
    have leading axes, the result of a state depends neither on n nor on its position in the batch.

    `raw` and `call` are direct entries from Python, or None if the backend has none. `raw(out, *ins)` evaluates as many
    states as `out` has room for and returns the same as `run`; for several outputs `out` is a tuple. `call(otherwise)`
    makes a function of the inputs that returns new arrays, for several outputs a tuple. It passes calls with unsuitable
    inputs, and calls whose result is not finite, to the function `otherwise`.

    `lanes` is the number of states that are computed at the same time in SIMD lanes; 0 means that `run` holds Python's
    interpreter lock, so that threads are no faster. `address` is the address of machine code for one state, a C
    function `void kernel(out0, ..., in0, ...)` of pointers; 0 means that there is none.

    `improved(adopt)` has code that was compiled in the least time compiled for speed, in the background, and calls
    `adopt` with the new kernel; it returns the thread that waits for it, or None where nothing can be improved.
    """

    source: Callable[[], str]
    run: Run
    raw: Callable[..., bool] | None = None
    call: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    lanes: int = 0
    address: int = 0
    improved: Callable[[Callable[[Kernel], None]], Thread | None] | None = None
