"""Direct entries from Python: built-in functions `raw` and `call` whose body is compiled with the program.

    raw(out, *ins)   evaluates as many states as `out` has room for and returns whether every number written is finite.
                     `out` is a tuple if there are several outputs. Each input has as many states, or one state for
                     all; ShapeError if the sizes differ
    call(*ins)       evaluates one state, or a batch with one leading axis, and returns new arrays, a tuple if there
                     are several outputs; every number in them is finite

They take only C-contiguous arrays of the function's precision. Batches are evaluated by the LLVM module for lanes,
which is compiled at the first batch. If the memory layout of Python objects is not the known one, there are no direct
entries, and calls are slower, with the same results.

Each input of `call` has exactly its port's shape (or is a number if the port is one), or one leading axis more, which
has the same length in all inputs that have it. All other arguments are passed on, unchanged, to a Python function:
other inputs; results that are not finite, which it explains; and batches that are big enough to be divided among
threads or to need `make_room`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from kinemorph.codegen.backends import Precision
from kinemorph.codegen.backends.llvm import python_objects as py
from kinemorph.codegen.backends.llvm.arrays import helpers, load
from kinemorph.codegen.backends.llvm.engine import Engine
from kinemorph.codegen.backends.result_memory import room_from
from kinemorph.codegen.backends.threads import cost_in_batch, shared_from
from kinemorph.codegen.graphs.program import Port, Runnable

FREE_ABOVE = 32  # the number of states from which Python's interpreter lock is released during a call

Function = Callable[..., Any]


def bind_entries(
    program: Runnable, engine: Engine, lanes_engine: Callable[[], Engine], precision: Precision
) -> tuple[Callable[..., bool], Callable[[Function], Function]]:
    """(raw, call) of a compiled LLVM module, as in `Kernel`: `raw` is a built-in function, `call` makes one.

    `lanes_engine` compiles the LLVM module for batches.
    """
    table = (ctypes.c_uint64 * len(py.PYTHON)).from_address(engine.place("python"))
    message = ctypes.create_string_buffer(_message(program, precision).encode())

    def make_lanes() -> None:
        table[py.PYTHON.index("batch")] = lanes_engine().address("batch")

    for k, address in enumerate(py.addresses(message, make_lanes)):
        table[k] = address
    owned = (engine, message, make_lanes)
    raw = py.built_in(engine.address("raw"), "raw", f"raw of {program.name}", py.FASTCALL, owned)

    def call(otherwise: Function) -> Function:
        flags = py.FASTCALL | py.KEYWORDS
        return py.built_in(engine.address("call"), program.name, f"{program.name} of arrays", flags, otherwise, owned)

    return raw, call


def entries(program: Runnable, precision: Precision) -> str:
    """The definitions of `raw` and `call`, as LLVM IR."""
    return "\n".join([helpers(precision), _many(program), _raw(program), _call_entry(program, precision)])


def _unpack(program: Runnable) -> list[str]:
    """Lines of LLVM IR that check the number of arguments and load the Python objects into registers.

    The registers are %o0, %o1, ...: the output arrays first, then the inputs.
    """
    n_outs, n_ins = len(program.outputs), len(program.inputs)
    lines = [
        "start:",
        *load("true", "false", "shape_error", "retain", "set_error", "message"),
        f"  %right = icmp eq i64 %count, {1 + n_ins}",
        "  br i1 %right, label %first, label %refused",
    ]
    lines += ["first:", "  %a0 = load ptr, ptr %args"]
    if n_outs == 1:
        lines += ["  br label %arrays", "arrays:", "  %o0 = getelementptr i8, ptr %a0, i64 0"]
    else:
        lines.append(f"  %listed = call i1 @is_tuple(ptr %a0, i64 {n_outs})")
        lines += ["  br i1 %listed, label %arrays, label %refused", "arrays:"]
        for k in range(n_outs):
            lines.append(f"  %i{k} = getelementptr i8, ptr %a0, i64 {py.ITEMS + 8 * k}")
            lines.append(f"  %o{k} = load ptr, ptr %i{k}")
    for k in range(n_ins):
        lines.append(f"  %j{k} = getelementptr ptr, ptr %args, i64 {1 + k}")
        lines.append(f"  %o{n_outs + k} = load ptr, ptr %j{k}")
    return lines


def _data(program: Runnable) -> list[str]:
    """Lines of LLVM IR that load pointers to the numbers of the objects %o0, %o1, ... into registers %d0, %d1, ...

    The objects have to be usable arrays.
    """
    ports = [*program.outputs, *program.inputs]
    return [f"  %d{k} = call ptr @data(ptr %o{k})" for k in range(len(ports))]


def _raw(program: Runnable) -> str:
    """The definition of `raw`."""
    outs, ins = program.outputs, program.inputs
    total = len(outs) + len(ins)
    lines = ["define ptr @raw(ptr %self, ptr %args, i64 %count) minsize nounwind {", *_unpack(program)]
    for k, port in enumerate([*outs, *ins]):
        flags = py.USABLE | py.WRITEABLE if k < len(outs) else py.USABLE
        lines.append(f"  %n{k} = call i64 @states(ptr %o{k}, i64 {port.size}, i32 {flags})")
    # an empty port does not determine the number of states (a result 0 of `states` stands for any number)
    lines.append("  %most0 = add i64 %n0, 0")
    for k in range(1, len(outs)):
        lines.append(f"  %less{k} = icmp slt i64 %most{k - 1}, %n{k}")
        lines.append(f"  %most{k} = select i1 %less{k}, i64 %n{k}, i64 %most{k - 1}")
    lines.append(f"  %given = icmp eq i64 %most{len(outs) - 1}, 0")
    lines.append(f"  %n = select i1 %given, i64 1, i64 %most{len(outs) - 1}")
    lines.append("  %usable = icmp sgt i64 %n, 0")
    fits = "%usable"
    for k in range(total):
        lines.append(f"  %same{k} = icmp eq i64 %n{k}, %n")
        lines.append(f"  %any{k} = icmp eq i64 %n{k}, 0")
        lines.append(f"  %one{k} = icmp eq i64 %n{k}, {0 if k < len(outs) else 1}")
        lines.append(f"  %or{k} = or i1 %same{k}, %any{k}")
        lines.append(f"  %fit{k} = or i1 %or{k}, %one{k}")
        lines.append(f"  %fits{k} = and i1 {fits}, %fit{k}")
        fits = f"%fits{k}"
    lines += [f"  br i1 {fits}, label %ready, label %refused", "ready:", *_data(program)]
    pointers = ", ".join(f"ptr %d{k}" for k in range(total))
    # arrays of exactly the ports' shapes are one state; arrays with leading axes are a batch, also of one state
    lines += [f"  %axes.at = getelementptr i8, ptr %o0, i64 {py.AXES}", "  %axes = load i32, ptr %axes.at"]
    lines.append(f"  %plain = icmp eq i32 %axes, {len(outs[0].shape)}")
    lines += ["  %alone = icmp eq i64 %n, 1", "  %single = and i1 %alone, %plain"]
    lines += ["  br i1 %single, label %one, label %many", "one:", f"  %f0 = call i1 @single({pointers})"]
    lines += ["  br label %done", "many:"]
    for k, port in enumerate(ins, len(outs)):
        lines.append(f"  %s{k} = select i1 %one{k}, i64 0, i64 {port.size}")
    strides = "".join(f", i64 %s{k}" for k in range(len(outs), total))
    lines += [f"  %f1 = call i32 @many(i64 %n, {pointers}{strides})", "  %failed = icmp slt i32 %f1, 0"]
    lines += ["  br i1 %failed, label %error, label %ran", "error:", "  ret ptr null", "ran:"]
    lines += ["  %f2 = icmp ne i32 %f1, 0", "  br label %done", "done:"]
    lines.append("  %all = phi i1 [ %f0, %one ], [ %f2, %ran ]")
    lines.append("  %truth = select i1 %all, ptr %true, ptr %false")
    lines += ["  call void %retain(ptr %truth)", "  ret ptr %truth", "refused:"]
    lines.append("  call void %set_error(ptr %shape_error, ptr %message)")
    return "\n".join([*lines, "  ret ptr null", "}"])


def _many(program: Runnable) -> str:
    """The definition of `many(n, outs, ins, strides)`, which evaluates a batch.

    It returns 1 if every number written is finite, 0 if not, -1 if Python's error is set. At the first batch it has the
    LLVM module for lanes compiled; during a long batch it releases Python's interpreter lock.
    """
    total = len(program.outputs) + len(program.inputs)
    passed = ["i64 %n", *(f"ptr %d{k}" for k in range(total)), *(f"i64 %s{k}" for k in range(len(program.inputs)))]
    run = f"call zeroext i1 %lanes({', '.join(passed)})"
    lines = [f"define internal i32 @many({', '.join(passed)}) noinline optnone nounwind {{", "start:"]
    lines += [
        *load("batch", "make_lanes", "invoke", "release", "unlock", "lock"),
        "  %empty = icmp eq ptr %batch, null",
    ]
    lines += ["  br i1 %empty, label %fetch, label %fetched", "fetch:", "  %answer = call ptr %invoke(ptr %make_lanes)"]
    lines += ["  %failed = icmp eq ptr %answer, null", "  br i1 %failed, label %error, label %made"]
    lines += ["error:", "  ret i32 -1", "made:", "  call void %release(ptr %answer)"]
    lines += ["  %batch.new = load ptr, ptr %at.batch", "  br label %fetched"]
    lines += ["fetched:", "  %lanes = phi ptr [ %batch, %start ], [ %batch.new, %made ]"]
    lines += [f"  %free = icmp sge i64 %n, {FREE_ABOVE}", "  br i1 %free, label %unlocked, label %locked"]
    lines += ["locked:", f"  %f1 = {run}", "  br label %done"]
    lines += ["unlocked:", "  %thread = call ptr %unlock()", f"  %f2 = {run}"]
    lines += ["  call void %lock(ptr %thread)", "  br label %done", "done:"]
    lines += ["  %all = phi i1 [ %f1, %locked ], [ %f2, %unlocked ]", "  %y = zext i1 %all to i32"]
    return "\n".join([*lines, "  ret i32 %y", "}"])


def _message(program: Runnable, precision: Precision) -> str:
    """The text of the error that `raw` raises for unsuitable arguments."""
    outs, ins = (", ".join(f"{p.name} {p.shape}" for p in ports) for ports in (program.outputs, program.inputs))
    first = "out" if len(program.outputs) == 1 else "(outs)"
    return (
        f"function '{program.name}': raw({first}, *inputs) takes C-contiguous {precision} arrays, outputs {outs} and "
        f"inputs {ins}, with as many states in each input as in the outputs, or one state. Call the function without "
        "`.raw` to have arrays checked and converted."
    )


# ── call ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _call_entry(program: Runnable, precision: Precision) -> str:
    """The definition of `call`, as LLVM IR; it uses the functions `single` and `many`."""
    outs, ins = program.outputs, program.inputs
    limit = min(
        shared_from(cost_in_batch(program)), room_from(outs)
    )  # the number of states from which Python handles a call
    lines = ["define ptr @call(ptr %self, ptr %args, i64 %count, ptr %names) minsize nounwind {", "start:"]
    lines += load("release", "new_tuple", "vectorcall")
    # the extents of each output, the first one for a leading axis
    lines += [f"  %x{k} = alloca [{1 + len(port.shape)} x i64]" for k, port in enumerate(outs)]
    lines += ["  %by_place = icmp eq ptr %names, null", f"  %right = icmp eq i64 %count, {len(ins)}"]
    lines += ["  %listed = and i1 %by_place, %right", "  br i1 %listed, label %look, label %otherwise", "look:"]
    most, fit = "0", "%few"
    for k, port in enumerate(ins):
        lines.append(f"  %j{k} = getelementptr ptr, ptr %args, i64 {k}")
        lines.append(f"  %i{k} = load ptr, ptr %j{k}")
        lines.append(f"  %n{k} = call i64 @fits.{_shape_name(port)}(ptr %i{k})")
        lines.append(f"  %more{k} = icmp sgt i64 %n{k}, {most}")
        lines.append(f"  %most{k} = select i1 %more{k}, i64 %n{k}, i64 {most}")
        most = f"%most{k}"
    lines += [f"  %n = add i64 {most}, 0", f"  %few = icmp slt i64 %n, {limit}"]
    for k in range(len(ins)):
        lines += [f"  %shared{k} = icmp eq i64 %n{k}, 0", f"  %own{k} = icmp eq i64 %n{k}, %n"]
        lines += [f"  %fit{k} = or i1 %shared{k}, %own{k}", f"  %fits{k} = and i1 {fit}, %fit{k}"]
        fit = f"%fits{k}"
    lines += [f"  br i1 {fit}, label %ready, label %otherwise", "ready:", "  %plain = icmp eq i64 %n, 0"]
    lines += _results(outs)
    lines += [f"  %p{k} = call ptr @data(ptr %i{k})" for k in range(len(ins))]
    pointers = [f"ptr %d{k}" for k in range(len(outs))] + [f"ptr %p{k}" for k in range(len(ins))]
    lines += ["  br i1 %plain, label %one, label %many", "one:", f"  %f0 = call i1 @single({', '.join(pointers)})"]
    lines += ["  br label %ran", "many:"]
    lines += [f"  %s{k} = select i1 %shared{k}, i64 0, i64 {port.size}" for k, port in enumerate(ins)]
    passed = ["i64 %n", *pointers, *(f"i64 %s{k}" for k in range(len(ins)))]
    lines += [f"  %f1 = call i32 @many({', '.join(passed)})", "  %error = icmp slt i32 %f1, 0"]
    lines += ["  br i1 %error, label %lost, label %many.ran", "many.ran:", "  %f2 = icmp ne i32 %f1, 0"]
    lines += ["  br label %ran", "ran:", "  %finite = phi i1 [ %f0, %one ], [ %f2, %many.ran ]"]
    lines += ["  br i1 %finite, label %done, label %refused", "done:", "  ret ptr %result"]
    lines += ["refused:", "  call void %release(ptr %result)", "  br label %otherwise", "otherwise:"]
    lines += [f"  %other.at = getelementptr i8, ptr %self, i64 {py.ITEMS}", "  %other = load ptr, ptr %other.at"]
    lines.append("  %y = call ptr %vectorcall(ptr %other, ptr %args, i64 %count, ptr %names)")
    lines += ["  ret ptr %y", "lost:", "  call void %release(ptr %result)", "  br label %failed"]
    lines += ["failed:", "  ret ptr null", "}"]
    shapes = {_shape_name(port): port for port in ins}
    return "\n".join([*(_fits(port, precision) for port in shapes.values()), *lines])


def _results(outs: Sequence[Port]) -> list[str]:
    """Lines of LLVM IR that make the arrays of the results.

    The register %result becomes the new array, or a tuple of several; %d0, %d1, ... point to the numbers of each array.
    """
    lines = ["  %skipped = zext i1 %plain to i64", "  %leading = select i1 %plain, i32 0, i32 1"]
    for k, port in enumerate(outs):
        for axis, extent in enumerate(("%n", *port.shape)):
            lines.append(f"  %x{k}.{axis} = getelementptr i64, ptr %x{k}, i64 {axis}")
            lines.append(f"  store i64 {extent}, ptr %x{k}.{axis}")
        lines.append(f"  %from{k} = getelementptr i64, ptr %x{k}, i64 %skipped")
        lines.append(f"  %axes{k} = add i32 %leading, {len(port.shape)}")
    made = [f"call ptr @fresh(i32 %axes{k}, ptr %from{k})" for k in range(len(outs))]
    if len(outs) == 1:
        lines += [f"  %result = {made[0]}", "  %none = icmp eq ptr %result, null"]
        return [*lines, "  br i1 %none, label %failed, label %made", "made:", "  %d0 = call ptr @data(ptr %result)"]
    # the tuple owns the arrays from the start, so that releasing it releases all arrays made so far
    lines += [f"  %result = call ptr %new_tuple(i64 {len(outs)})", "  %none = icmp eq ptr %result, null"]
    lines += ["  br i1 %none, label %failed, label %make0"]
    for k, array in enumerate(made):
        lines += [f"make{k}:", f"  %o{k} = {array}", f"  %none{k} = icmp eq ptr %o{k}, null"]
        lines += [f"  br i1 %none{k}, label %lost, label %made{k}", f"made{k}:"]
        lines.append(f"  %item{k} = getelementptr i8, ptr %result, i64 {py.ITEMS + 8 * k}")
        lines += [f"  store ptr %o{k}, ptr %item{k}", f"  %d{k} = call ptr @data(ptr %o{k})"]
        lines.append(f"  br label %make{k + 1}")
    return [*lines, f"make{len(outs)}:"]


def _shape_name(port: Port) -> str:
    """The shape of a port as a part of a function's name, as in `3x3`."""
    return "x".join(map(str, port.shape)) or "number"


def _fits(port: Port, precision: Precision) -> str:
    """The definition of `fits.SHAPE(o)`: 0 for an array of that shape or a number, n for a batch of n, else -1."""
    axes = len(port.shape)
    lines = [f"define internal i64 @fits.{_shape_name(port)}(ptr %o) noinline minsize nounwind {{", "start:"]
    if axes == 0 and precision == "float64":
        lines += ["  %number = call i1 @is_number(ptr %o)", "  br i1 %number, label %yes, label %array", "yes:"]
        lines += ["  ret i64 0", "array:"]
    lines.append(f"  %usable = call i1 @usable(ptr %o, i32 {py.USABLE})")
    lines += ["  br i1 %usable, label %look, label %no", "no:", "  ret i64 -1"]
    lines += ["look:", f"  %a = getelementptr i8, ptr %o, i64 {py.AXES}", "  %axes = load i32, ptr %a"]
    lines += [f"  %s = getelementptr i8, ptr %o, i64 {py.SHAPE}", "  %shape = load ptr, ptr %s"]
    lines += [f"  %plain = icmp eq i32 %axes, {axes}", "  br i1 %plain, label %axis0, label %longer"]
    lines += ["longer:", f"  %one_more = icmp eq i32 %axes, {axes + 1}", "  br i1 %one_more, label %batch, label %no"]
    lines += ["batch:", "  %states = load i64, ptr %shape", "  %rest = getelementptr i64, ptr %shape, i64 1"]
    lines += ["  %some = icmp sgt i64 %states, 0", "  br i1 %some, label %axis0, label %no", "axis0:"]
    lines.append("  %n = phi i64 [ 0, %look ], [ %states, %batch ]")
    lines.append("  %inner = phi ptr [ %shape, %look ], [ %rest, %batch ]")
    for k, extent in enumerate(port.shape):
        lines.append(f"  %p{k} = getelementptr i64, ptr %inner, i64 {k}")
        lines.append(f"  %e{k} = load i64, ptr %p{k}")
        lines.append(f"  %q{k} = icmp eq i64 %e{k}, {extent}")
        lines += [f"  br i1 %q{k}, label %axis{k + 1}, label %no", f"axis{k + 1}:"]
    return "\n".join([*lines, "  ret i64 %n", "}"])
