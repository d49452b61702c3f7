"""Numbers that compiled code refers to and does not contain: the FrozenArrays among the constants of loop programs.

All compiled programs of a process share one array for the same numbers. Numbers are stored on disk beside the code, so
that code from the cache runs without its program being traced; if they are missing there, the program is traced.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.graphs.program import Program, Runnable
from kinemorph.codegen.loops.block_routines import routine
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.disk_cache import NUMBERS, code_cache
from kinemorph.vocabulary.frozen_array import FrozenArray

_loaded: WeakValueDictionary[tuple[str, str], npt.NDArray[Any]] = WeakValueDictionary()  # (digest, precision) -> array


def shared_numbers(digest: str, program: Runnable, precision: str) -> npt.NDArray[Any]:
    """The array of numbers with this digest, shape (n,): from this process, else from disk, else from the program."""
    array = _loaded.get((digest, precision))
    if array is None:
        flat = _stored(digest)
        if flat is None:
            numbers = next(one for one in numbers_in(program.traced) if one.digest == digest)
            flat = numbers.array.ravel()
            if (store := code_cache()) is not None:
                store.write(digest, flat.tobytes(), NUMBERS)
        array = _loaded[digest, precision] = flat if precision == "float64" else flat.astype(precision)
    return array


def _stored(digest: str) -> npt.NDArray[np.float64] | None:
    """The array of numbers with this digest, shape (n,), from the cache on disk; None if it is not there."""
    store = code_cache()
    content = store.read(digest, NUMBERS) if store else None
    return None if content is None else np.frombuffer(content, dtype=np.float64)


def numbers_in(program: Program | LoopProgram) -> Iterator[FrozenArray]:
    """The arrays of numbers that a program and the programs that it calls refer to."""
    if isinstance(program, LoopProgram):
        yield from (values for _, values in program.constants if isinstance(values, FrozenArray))
        for called in program.programs:
            yield from numbers_in(called)
        return
    for block in program.blocks:
        yield from numbers_in(routine(block))
