"""The function `call` as emitted code: it passes suitable arrays to the kernel and makes new arrays for the results.

    call(*ins)    new arrays, a tuple if there are several outputs; every number in them is finite

Each input has exactly its port's shape (or is a number if the port is one), or one leading axis more, which has the
same length in all inputs that have it. In all other cases the arguments are passed on, unchanged, to a Python function:
other inputs; results that are not finite, which it explains; and batches that are big enough to be divided among
threads or to need `make_room`.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.codegen.backends import Precision
from kinemorph.codegen.backends.llvm import python_objects as py
from kinemorph.codegen.backends.llvm.arrays import load
from kinemorph.codegen.backends.result_memory import room_from
from kinemorph.codegen.backends.threads import cost_in_batch, shared_from
from kinemorph.codegen.graphs.program import Port, Runnable


def call_entry(program: Runnable, precision: Precision) -> str:
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
