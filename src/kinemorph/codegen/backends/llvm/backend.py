"""The LLVM backend: a program as machine code for this computer, compiled in memory.

A program becomes two LLVM modules. The first is compiled at once, the second when the first batch is evaluated:

    one      main          the operations on plain numbers (`single`; `chunks`, `loop_programs`)
             kernel        one state:  void kernel(outs, ins)
             single        one state:  i1 single(outs, ins), whether every number written is finite
             raw, call     functions that Python calls directly (`entry`)
    lanes    batch         n states, several at a time in SIMD lanes (`lanes`)

Inputs of exactly the ports' shapes are evaluated by `single`, any batch (also of one state) by `batch`: so the result
of a state does not depend on the batch that it is in. The two agree up to rounding. Code that is in the cache is not
emitted again, and then the files that emit code are not even imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from threading import Thread

from kinemorph.codegen.backends import Array, Effort, Kernel, Precision, Run
from kinemorph.codegen.backends.llvm import python_objects
from kinemorph.codegen.backends.llvm.engine import LLVM_LOCK, Engine, load_module, point_to_numbers, vector_bits
from kinemorph.codegen.backends.llvm.entry import bind_entries
from kinemorph.codegen.backends.llvm.improvement import improve
from kinemorph.codegen.backends.llvm.math import Real
from kinemorph.codegen.graphs.program import Runnable
from kinemorph.codegen.work_clock import at_work


@cache
def lanes_of(precision: Precision) -> int:
    """The number of lanes: how many numbers of a precision fit into a SIMD register of this CPU."""
    return vector_bits() // Real(precision).bits


def llvm(program: Runnable, precision: Precision = "float64", effort: Effort = "best") -> Kernel:
    """The kernel of `program` as machine code; its source is the LLVM IR of both LLVM modules before optimization."""
    lanes = lanes_of(precision)
    direct = python_objects.layout_is_known()
    own = f"{program.key} {precision} one {direct}"
    engine = load_module(own, program.name, lambda: _one(program, precision, direct), effort)
    point_to_numbers(engine, program, precision)
    loaded: list[Engine] = []

    def lanes_engine() -> Engine:
        with at_work("compiling", f"{program.name} for batches"), LLVM_LOCK:
            if not loaded:
                own, real = f"{program.key} {precision} lanes {lanes}", Real(precision, lanes)
                emit = partial(_lanes, program, real)
                fresh = load_module(own, program.name, emit, effort)
                point_to_numbers(fresh, program, precision)
                loaded.append(fresh)
            return loaded[0]

    def source() -> str:
        border = f"\n\n; an LLVM module of its own: {lanes} states side by side\n\n"
        return _one(program, precision, direct) + border + _lanes(program, Real(precision, lanes))

    def improved(adopt: Callable[[Kernel], None]) -> Thread | None:
        quick = [one.improvable for one in (engine, *loaded) if one.improvable]
        return improve(quick, lambda: adopt(llvm(program, precision, effort))) if quick else None

    address = engine.address("kernel")
    if not direct:
        run = _through_ctypes(program, engine, lanes_engine)
        return Kernel(source, run, lanes=lanes, address=address, improved=improved)
    raw, call = bind_entries(program, engine, lanes_engine, precision)

    def through_raw(n: int, outs: Sequence[Array], ins: Sequence[Array]) -> bool:
        return raw(outs[0] if len(outs) == 1 else tuple(outs), *ins)

    return Kernel(source, through_raw, raw, call, lanes, address, improved)


def _one(program: Runnable, precision: Precision, direct: bool) -> str:
    """The LLVM IR for one state, with direct entries from Python if `direct`."""
    from kinemorph.codegen.backends.llvm.single import emit_one

    return emit_one(program.traced, precision, direct)


def _lanes(program: Runnable, real: Real) -> str:
    """The LLVM IR for batches in SIMD lanes."""
    from kinemorph.codegen.backends.llvm.lanes import emit_lanes

    return emit_lanes(program.traced, real)


def _through_ctypes(program: Runnable, engine: Engine, lanes_engine: Callable[[], Engine]) -> Run:
    """The kernel's `run`, through ctypes: for Python interpreters with an unknown memory layout of objects."""
    n_outs, n_ins = len(program.outputs), len(program.inputs)
    pointing = ["pointer"] * (n_outs + n_ins)
    single = engine.function("single", "bool", pointing)
    batch = cache(lambda: lanes_engine().function("batch", "bool", ["int64", *pointing, *["int64"] * n_ins]))
    sizes = [port.size for port in program.inputs]
    axes = len(program.outputs[0].shape)

    def run(n: int, outs: Sequence[Array], ins: Sequence[Array]) -> bool:
        places = [array.ctypes.data for array in [*outs, *ins]]
        if n == 1 and outs[0].ndim == axes:
            return bool(single(*places))
        strides = [0 if array.size == size else size for array, size in zip(ins, sizes, strict=True)]
        return bool(batch()(n, *places, *strides))

    return run
