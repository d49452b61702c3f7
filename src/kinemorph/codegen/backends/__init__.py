"""Backends: each turns a Program into something that runs.

A backend is one function, `Program -> Kernel`; the table that names them is in `codegen.building.compile`. The
interpreter is the definition of what a program means; every other backend is tested against it, op by op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kinemorph.frozen import dataclass

Precision = Literal["float64", "float32"]
Array = npt.NDArray[np.floating[Any]]
Run = Callable[[int, Sequence[Array], Sequence[Array]], bool]


@dataclass(frozen=True)
class Kernel:
    """A program made runnable. All arrays are of the kernel's precision.

    `source()` is what the backend emits for it, written when asked.

    `run(n, outs, ins)` evaluates n states: `outs` are C-contiguous arrays of n blocks of their port's size, `ins` hold
    n blocks, or one block that serves every state. It returns whether every number written is finite. Where the outputs
    have leading axes, a state's result is the same for every n and at every place.

    `raw` and `call` are direct entries where a backend has them, else None. `raw(out, *ins)` evaluates as many states
    as `out` holds, a tuple where there are several outputs, and answers as `run` does. `call(otherwise)` makes a
    function of the inputs that returns fresh arrays, a tuple where there are several outputs. It passes calls
    that it is not made for, and those whose result is not finite, to `otherwise`.

    `source()` is what was emitted. `lanes` is how many states are computed side by side; 0 says that `run` holds the
    interpreter lock, so that threads do not pay. `address` is where machine code for one state begins, a C function
    `void kernel(out0, ..., in0, ...)` of pointers; 0 says that there is none.
    """

    source: Callable[[], str]
    run: Run
    raw: Callable[..., bool] | None = None
    call: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    lanes: int = 0
    address: int = 0
