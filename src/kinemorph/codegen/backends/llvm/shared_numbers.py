"""Numbers that machine code refers to and does not contain: the FrozenArrays among the constants of loop programs.

The LLVM module has a pointer for each array, named after the digest of its numbers, and a list of these digests. When
the module is loaded, the pointers are set. All modules of a process share one array for the same numbers. Numbers are
stored on disk beside the code, so that code from the cache runs without its program being traced; if they are missing
there, the program is traced for them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.backends import Precision
from kinemorph.codegen.backends.llvm.engine import Engine
from kinemorph.codegen.graphs.program import Program, Runnable
from kinemorph.codegen.loops.block_routines import routine
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.codegen.storing.cache import NUMBERS, code_cache
from kinemorph.vocabulary.frozen_array import FrozenArray

LIST = "numbers"  # the global variable with the digests, separated by blanks

_loaded: WeakValueDictionary[tuple[str, Precision], npt.NDArray[Any]] = WeakValueDictionary()


def pointer(numbers: FrozenArray) -> str:
    """The name of the global variable that points to an array of numbers."""
    return f"@{LIST}.{numbers.digest}"


def pointers_to(arrays: Iterable[FrozenArray]) -> str:
    """The definitions of the pointers to arrays and of the list of their digests, as LLVM IR."""
    unique = {numbers.digest: pointer(numbers) for numbers in arrays}
    text = " ".join(unique)
    lines = [f"{name} = global ptr null" for name in unique.values()]
    return "\n".join([*lines, f'@{LIST} = constant [{len(text) + 1} x i8] c"{text}\\00"'])


def point_to_numbers(engine: Engine, program: Runnable, precision: Precision) -> None:
    """Sets the pointers of a loaded LLVM module to the numbers of its program; the engine keeps them alive."""
    for digest in ctypes.string_at(engine.place(LIST)).decode().split():
        array = _found(digest, program, precision)
        ctypes.c_void_p.from_address(engine.place(f"{LIST}.{digest}")).value = array.ctypes.data
        engine.kept.append(array)


def _found(digest: str, program: Runnable, precision: Precision) -> npt.NDArray[Any]:
    """The numbers with a digest: those in use, else from the cache on disk, else from the traced program."""
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
    """The numbers of a digest from the cache on disk."""
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
