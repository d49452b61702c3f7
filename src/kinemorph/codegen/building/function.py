"""A compiled program as a Python function: checked arrays in, new arrays out.

There are two ways to call it. `f(q, v)` checks shapes, broadcasts leading axes, allocates the result and checks every
number in it, so that a NaN is never passed on silently; a big batch is divided among threads. `f.raw(out, q, v)` takes
C-contiguous arrays of the function's precision without checks and stays on the calling thread.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import pairwise
from threading import Thread
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.backends import Array, Effort, Kernel, Precision
from kinemorph.codegen.backends.result_memory import make_room, room_from
from kinemorph.codegen.backends.threads import checked_threads, cost_in_batch, default_threads, in_threads, shares
from kinemorph.codegen.graphs.program import Port, Runnable, entry_names
from kinemorph.errors import KinemorphError, ShapeError

Shape = tuple[int, ...]
WORTH = 0.25  # [s] of calls after which quick code is replaced


class CompiledFunction:
    """A program ready to be called.

    `name`, `inputs`, `outputs`   those of its program: ports have a name and a shape
    `program`                     the Program or LoopProgram that it runs
    `ops`, `flops`                the number of all operations, and of additions, subtractions and products alone
    `backend`, `source`           the backend that made it, and the code that the backend emitted
    `dtype`                       the type of the arrays that it returns
    `compile_seconds` [s]         the time to compile it or to load it
    `effort`                      whether it was compiled in the least time, for speed, or the one after the other
    `threads`                     how many threads may share a call with a big batch: by default KINEMORPH_THREADS of
                                  the environment, else the number of CPUs
    `raw(out, *inputs)`           the call without checks; `shared` does the same on several threads
    `kernel_address`              the address of the machine code for one state (see `Kernel`)

    `raw` takes C-contiguous arrays of `dtype` and writes as many states as `out` holds (a tuple of arrays where the
    program has several outputs); an input holds as many states, or a single one that serves all. `out` must not overlap
    an input. It returns whether every number written is finite.
    """

    # Python looks up `__call__` in the class, where this slot returns the function stored in the instance: so a call
    # goes directly to machine code, without a Python function in between that would take longer than a small kernel
    __slots__ = {
        "__call__": """Evaluates one state or a batch.

        Each input has shape (*batch, *port.shape); leading axes broadcast against each other. Inputs may be given by
        name. Returns one array of shape (*batch, *port.shape), or a tuple of arrays in port order. Raises ShapeError
        if an input has the wrong shape or is not finite, KinemorphError if finite inputs give a result that is not.
        """,
        "__dict__": "everything else",
        "__weakref__": "",
    }
    __call__: Callable[..., Any]

    def __init__(
        self,
        program: Runnable,
        kernel: Kernel,
        *,
        backend: str,
        compile_seconds: float,
        precision: Precision = "float64",
        effort: Effort = "best",
    ) -> None:
        self._runnable = program
        self.name = program.name
        self.inputs = program.inputs
        self.outputs = program.outputs
        self.backend = backend
        self.ops = program.ops
        self.flops = program.flops
        self.compile_seconds = compile_seconds
        self.dtype = np.dtype(precision)
        self.effort = effort
        self.threads = default_threads()
        # np.empty makes float64 by default; passing the dtype would take as long as a small kernel
        self._empty: Callable[..., Any] = np.empty if precision == "float64" else partial(np.empty, dtype=self.dtype)
        self._shapes = tuple(port.shape for port in program.outputs)
        self._single = len(self._shapes) == 1
        self._room_from = room_from(program.outputs)
        if self._room_from == 1:  # once for calls with one state, which allocate their results themselves
            make_room(1, program.outputs)
        self._take(kernel)

    def _take(self, kernel: Kernel) -> None:
        """Runs this kernel from now on."""
        self._source, self._lanes, self.kernel_address = kernel.source, kernel.lanes, kernel.address
        self.raw: Callable[..., bool] = kernel.raw or self._raw
        self._run = kernel.run
        direct = kernel.call(self._otherwise) if kernel.call else self._otherwise
        self.__call__ = self._finite_first(direct) if self._runnable.decided_by_data else direct
        self._improved, self._used = kernel.improved, 0.0  # [s] of calls of this kernel, as far as callers tell it

    @cached_property
    def program(self) -> Any:
        """The Program or LoopProgram that this function runs; one recalled from disk is traced at the first access."""
        return self._runnable.traced

    def used(self, seconds: float) -> None:
        """Tells how long a call has taken [s]: a function that grows gets better code when it has run for WORTH."""
        if self.effort == "growing":
            self._used += seconds
            if self._used > WORTH:
                self.improve()

    def improve(self) -> Thread | None:
        """Has a function that grows compiled for speed in the background, and takes the code when it is there.

        Returns the thread that waits for it; None where nothing can be improved.
        """
        begun = self._improved(self._take) if self.effort == "growing" and self._improved else None
        self._used = 0.0 if begun is None else -math.inf  # until there is a new kernel
        return begun

    @property
    def threads(self) -> int:
        """The largest number of threads that a call with a big batch uses."""
        return self._threads

    @threads.setter
    def threads(self, count: int) -> None:
        self._threads = checked_threads(count, f"function '{self.name}': threads")

    @cached_property
    def source(self) -> str:
        """The code that the backend emits; it is generated at the first access."""
        return self._source()

    @cached_property
    def __signature__(self) -> inspect.Signature:
        """The signature shown by `help`: the names of the inputs."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(port.name, kind) for port in self.inputs])

    @cached_property
    def _cost(self) -> int:
        return cost_in_batch(self._runnable)

    def __reduce__(self) -> tuple[Any, ...]:
        from kinemorph.codegen.building.compile import unpickled

        return unpickled, (self.program, self.backend, str(self.dtype), self.effort, self._threads)

    def __repr__(self) -> str:
        return f"<{self.name}: {_listed(self.inputs)} -> {_listed(self.outputs)}; {self.ops} ops>"

    def _otherwise(self, *arrays: npt.ArrayLike, **named: npt.ArrayLike) -> Any:
        """The call with all checks, used if the backend has no direct entry or the inputs do not fit it."""
        if named:
            return self(*self._in_order(arrays, named))
        return self._general(arrays)

    def _finite_first(self, direct: Callable[..., Any]) -> Callable[..., Any]:
        """A function that calls `direct` if all inputs are finite, else the call with all checks, `_otherwise`.

        It is for programs whose loops depend on data: with a NaN they might run very long.
        """

        def call(*arrays: npt.ArrayLike, **named: npt.ArrayLike) -> Any:
            return direct(*arrays, **named) if all(map(_is_finite, arrays)) else self._otherwise(*arrays, **named)

        return call

    def _in_order(
        self, arrays: tuple[npt.ArrayLike, ...], named: dict[str, npt.ArrayLike]
    ) -> tuple[npt.ArrayLike, ...]:
        """The inputs in port order; `arrays` are those given by position, `named` those given by name."""
        rest = [port.name for port in self.inputs[len(arrays) :]]
        if sorted(rest) != sorted(named):
            raise ShapeError(
                f"function '{self.name}' takes the inputs {_listed(self.inputs)}; {len(arrays)} were given by "
                f"position and {', '.join(named)} by name. Give each input once."
            )
        return (*arrays, *(named[name] for name in rest))

    def _general(self, arrays: Sequence[npt.ArrayLike]) -> Any:
        """Evaluates the function for inputs in port order: checks and broadcasts them, runs, and checks the result."""
        ports = self.inputs
        if len(arrays) != len(ports):
            raise ShapeError(
                f"function '{self.name}' takes {len(ports)} inputs ({_listed(ports)}); {len(arrays)} were given. "
                "Give each input once."
            )
        ins = [self._as_floats(port, array) for port, array in zip(ports, arrays, strict=True)]
        batches = [array.shape[: array.ndim - len(port.shape)] for port, array in zip(ports, ins, strict=True)]
        batch = self._common(batches)
        n = math.prod(batch)
        blocks = [_block(port, array, batch) for port, array in zip(ports, ins, strict=True)]
        if self._runnable.decided_by_data:
            self._refuse_infinite(n, blocks)
        if n >= self._room_from:
            make_room(n, self.outputs)
        outs = [self._empty(batch + shape) for shape in self._shapes]
        if any(out.size for out in outs) and not self._run_shared(n, outs, blocks):
            self._explain(n, outs, blocks)
        return outs[0] if self._single else tuple(outs)

    def _common(self, batches: Sequence[Shape]) -> Shape:
        """The leading axes of the result: the leading axes of all inputs, broadcast against each other."""
        different = set(batches) - {()}
        if len(different) < 2:
            return different.pop() if different else ()
        try:
            return np.broadcast_shapes(*batches)
        except ValueError:
            listed = ", ".join(f"{port.name} {at}" for port, at in zip(self.inputs, batches, strict=True))
            raise ShapeError(
                f"function '{self.name}': the leading axes of its inputs do not broadcast ({listed}). "
                "Give all inputs the same leading axes, or no leading axes."
            ) from None

    def shared(self, out: Any, *inputs: Array, threads: int | None = None) -> bool:
        """Writes the results to `out` without checks, as `raw` does, on several threads if the batch is big enough."""
        outs = [out] if self._single else list(out)
        return self._run_shared(self._states(outs), outs, inputs, threads)

    def _run_shared(self, n: int, outs: Sequence[Array], blocks: Sequence[Array], threads: int | None = None) -> bool:
        """Runs the kernel on n states, on several threads if the batch is big enough for them to be faster."""
        threads = self._threads if threads is None else checked_threads(threads, f"function '{self.name}': threads")
        bounds = shares(n, self._lanes, threads, self._cost) if threads > 1 else ()
        if len(bounds) < 3:
            return self._run(n, outs, blocks)
        rows = [out.reshape(n, *shape) for out, shape in zip(outs, self._shapes, strict=True)]
        sizes = [port.size for port in self.inputs]

        def part(bound: tuple[int, int]) -> bool:
            a, b = bound
            ins = [
                block if block.size == size else block.reshape(n, size)[a:b]
                for block, size in zip(blocks, sizes, strict=True)
            ]
            return self._run(b - a, [out[a:b] for out in rows], ins)

        return all(in_threads(part, list(pairwise(bounds)), threads))

    def _as_floats(self, port: Port, given: npt.ArrayLike) -> Array:
        """An input as an array of the function's precision; ShapeError if its last axes are not those of the port."""
        shape = port.shape
        if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
            count = f"{np.ma.count_masked(given)} of {given.size} entries masked"  # type: ignore[no-untyped-call]
            raise self._misfit(
                port, f"has {count}; expected a number in every entry. Leave masked states out, or fill them."
            )
        try:
            array = np.asarray(given)
        except ValueError:
            raise self._misfit(
                port, f"is a ragged sequence; expected shape (..., {_inner(port)}). Give all rows the same length."
            ) from None
        if array.dtype != self.dtype and array.dtype.kind not in "fiub":
            expected = f"real numbers that convert to {self.dtype}"
            raise self._misfit(port, f"has dtype {array.dtype}; expected {expected}. Convert it.")
        if array.ndim < len(shape) or array.shape[array.ndim - len(shape) :] != shape:
            expected = f"{shape} for one state or (..., {_inner(port)}) for a batch"
            raise self._misfit(port, f"has shape {array.shape}; expected {expected}. {_remedy(port, array.shape)}")
        return array if array.dtype == self.dtype else array.astype(self.dtype)

    def _misfit(self, port: Port, why: str) -> ShapeError:
        """The error for an input that cannot be used."""
        return ShapeError(f"function '{self.name}': input '{port.name}' {why}")

    def _refuse_infinite(self, n: int, blocks: Sequence[Array]) -> None:
        """Raises ShapeError if a number of an input is not finite, and names the first one."""
        for port, block in zip(self.inputs, blocks, strict=True):
            numbers = block.reshape(-1)
            bad = np.flatnonzero(~np.isfinite(numbers))
            if len(bad):
                state, entry = divmod(int(bad[0]), port.size)
                where = f" of state {state}" if n > 1 and block.size > port.size else ""
                raise self._infinite(entry_names(port)[entry], where, numbers[bad[0]])

    def _infinite(self, name: str, where: str, given: Any) -> ShapeError:
        """The error for an input entry that is not finite; `where` names its state in a batch, or is empty."""
        return ShapeError(
            f"function '{self.name}': input {name}{where} is {given}; expected a finite number. "
            "Check how it was computed."
        )

    def _explain(self, n: int, outs: Sequence[Array], blocks: Sequence[Array]) -> NoReturn:
        """Raises the error for a result that is not finite; it names an input that is not finite, else the output."""
        found = []
        for port, out in zip(self.outputs, outs, strict=True):
            table = out.reshape(n, port.size)
            bad = np.argwhere(~np.isfinite(table))
            if len(bad):
                found.append((int(bad[0][0]), port, int(bad[0][1]), float(table[tuple(bad[0])])))
        state, port, entry, value = min(found, key=lambda row: row[0])
        where = "" if n == 1 else f" of state {state}"
        for input_port, block in zip(self.inputs, blocks, strict=True):
            row = block.reshape(-1)[state * input_port.size :] if block.size > input_port.size else block.reshape(-1)
            for name, given in zip(entry_names(input_port), row, strict=False):
                if not math.isfinite(given):
                    raise self._infinite(name, where, given)
        raise KinemorphError(
            f"function '{self.name}': output {entry_names(port)[entry]}{where} is {value} although every input is "
            "finite. A matrix may be singular there, a divisor or a quaternion zero, or an argument of a function or a "
            "tolerance outside its domain. Change the state, or use raw() to get the value as it is."
        )

    def _raw(self, out: Any, *inputs: Array) -> bool:
        """The call without checks, for a backend that has no direct entry."""
        outs = [out] if self._single else list(out)
        return self._run(self._states(outs), outs, inputs)

    def _states(self, outs: Sequence[Array]) -> int:
        """The number of states that the output arrays have room for."""
        sizes = [(out.size, port.size) for out, port in zip(outs, self.outputs, strict=True) if port.size]
        return int(sizes[0][0] // sizes[0][1]) if sizes else 1


def _is_finite(given: npt.ArrayLike) -> bool:
    """Whether all numbers are finite; False if `given` holds no numbers, so that the later checks report that."""
    try:
        return math.isfinite(given) if type(given) is float else bool(np.isfinite(given).all())
    except (TypeError, ValueError):
        return False


def _block(port: Port, array: Array, batch: Shape) -> Array:
    """An input as a C-contiguous array: one block of the port's size per state, or a single block for all states."""
    whole = batch + port.shape
    if array.shape != whole and array.size != port.size:
        array = np.broadcast_to(array, whole)
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else array.copy(order="C")


def _listed(ports: Sequence[Port]) -> str:
    return ", ".join(f"{port.name} {port.shape}" for port in ports)


def _inner(port: Port) -> str:
    return ", ".join(map(str, port.shape)) or "one number"


def _remedy(port: Port, shape: Shape) -> str:
    """A sentence on how to correct an input of the wrong `shape`, by the likely mistake."""
    if len(shape) == 2 and len(port.shape) == 1 and shape[0] == port.shape[0]:
        return "The batch axis comes first: pass the transpose."
    if math.prod(shape) == port.size:
        return f"Reshape it to {port.shape}."
    return "Check that it belongs to this model."
