"""Called straight from Python: `raw` and `call` as built-in functions whose body is compiled with the program.

    raw(out, *ins)   as many states as `out` holds, each input as many, or one for all; ShapeError if the sizes differ
    call(out, *ins)  one state of exactly the ports' shapes; None if they are not, and then nothing is written

Both answer whether every number written is finite. `out` is a tuple of arrays where the program has several outputs.
They only take C-contiguous arrays of the function's precision (`call` also a float for a port that is one number).
Batches go to the machine code of the lanes module, which `raw` has made when the first one comes. Where the layout of
objects is not the known one there are no entries, and arrays go a slower way with the same results.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from kinemorph.codegen.backends import Precision, Signature
from kinemorph.codegen.backends import python_objects as py
from kinemorph.codegen.backends.llvm_engine import Engine
from kinemorph.codegen.program import Port

FREE_ABOVE = 32  # states from which the interpreter lock is released


def bind_entries(
    program: Signature, engine: Engine, lanes_engine: Callable[[], Engine], precision: Precision
) -> tuple[Callable[..., bool], Callable[..., Any]]:
    """The built-in functions `raw` and `call` of a compiled module. `lanes_engine` makes the module for batches."""
    table = (ctypes.c_uint64 * len(py.PYTHON)).from_address(engine.place("python"))
    message = ctypes.create_string_buffer(_message(program, precision).encode())

    def load() -> None:
        table[py.PYTHON.index("batch")] = lanes_engine().address("batch")

    for k, address in enumerate(py.addresses(message, load)):
        table[k] = address
    raw, call = (
        py.built_in(engine.address(name), name, f"{name} of {program.name}", (engine, message, load))
        for name in ("raw", "call")
    )
    return raw, call


def entries(program: Signature, precision: Precision) -> str:
    """The definitions of `raw` and `call`."""
    return "\n".join([_helpers(precision), _raw(program, precision), _call(program, precision)])


def _load(*names: str) -> list[str]:
    """Lines that leave addresses of Python's objects and functions in registers of the same names."""
    lines = []
    for name in names:
        lines.append(f"  %at.{name} = getelementptr ptr, ptr @python, i64 {py.PYTHON.index(name)}")
        lines.append(f"  %{name} = load ptr, ptr %at.{name}")
    return lines


def _unpack(program: Signature) -> list[str]:
    """Lines that check the count of arguments and leave the objects in %o0 ... (outputs, then inputs)."""
    n_outs, n_ins = len(program.outputs), len(program.inputs)
    lines = [
        "start:",
        *_load(*(name for name in py.PYTHON if name not in ("load", "batch"))),
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


def _data(program: Signature) -> list[str]:
    """Lines that leave the data pointers in %d0 ... once every object is known to be usable."""
    ports = [*program.outputs, *program.inputs]
    return [f"  %d{k} = call ptr @data(ptr %o{k})" for k in range(len(ports))]


def _raw(program: Signature, precision: Precision) -> str:
    outs, ins = program.outputs, program.inputs
    total = len(outs) + len(ins)
    lines = ["define ptr @raw(ptr %self, ptr %args, i64 %count) minsize nounwind {", *_unpack(program)]
    for k, port in enumerate([*outs, *ins]):
        flags = py.USABLE | py.WRITEABLE if k < len(outs) else py.USABLE
        lines.append(f"  %n{k} = call i64 @states(ptr %o{k}, i64 {port.size}, i32 {flags})")
    # an empty port says nothing about the number of states (0 of `states` stands for any)
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
    # arrays of exactly the ports' shapes are one state; leading axes make a batch, also of one
    lines += [f"  %axes.at = getelementptr i8, ptr %o0, i64 {py.AXES}", "  %axes = load i32, ptr %axes.at"]
    lines.append(f"  %plain = icmp eq i32 %axes, {len(outs[0].shape)}")
    lines += ["  %alone = icmp eq i64 %n, 1", "  %single = and i1 %alone, %plain"]
    lines += ["  br i1 %single, label %one, label %many", "one:", f"  %f0 = call i1 @single({pointers})"]
    lines += ["  br label %done", "many:"]
    for k, port in enumerate(ins, len(outs)):
        lines.append(f"  %s{k} = select i1 %one{k}, i64 0, i64 {port.size}")
    lines += [*_load("batch"), "  %empty = icmp eq ptr %batch, null"]
    lines += ["  br i1 %empty, label %fetch, label %fetched", "fetch:", *_load("load")]
    lines += ["  %answer = call ptr %invoke(ptr %load)", "  %failed = icmp eq ptr %answer, null"]
    lines += ["  br i1 %failed, label %error_set, label %made", "error_set:", "  ret ptr null", "made:"]
    lines += ["  call void %release(ptr %answer)", "  %batch.new = load ptr, ptr %at.batch", "  br label %fetched"]
    lines += ["fetched:", "  %lanes = phi ptr [ %batch, %many ], [ %batch.new, %made ]"]
    strides = "".join(f", i64 %s{k}" for k in range(len(outs), total))
    run = f"call zeroext i1 %lanes(i64 %n, {pointers}{strides})"
    lines.append(f"  %free = icmp sge i64 %n, {FREE_ABOVE}")
    lines += ["  br i1 %free, label %unlocked, label %locked", "locked:", f"  %f1 = {run}", "  br label %done"]
    lines += ["unlocked:", "  %thread = call ptr %unlock()", f"  %f2 = {run}"]
    lines += ["  call void %lock(ptr %thread)", "  br label %done", "done:"]
    lines.append("  %all = phi i1 [ %f0, %one ], [ %f1, %locked ], [ %f2, %unlocked ]")
    lines.append("  %truth = select i1 %all, ptr %true, ptr %false")
    lines += ["  call void %retain(ptr %truth)", "  ret ptr %truth", "refused:"]
    lines.append("  call void %set_error(ptr %error, ptr %message)")
    return "\n".join([*lines, "  ret ptr null", "}"])


def _message(program: Signature, precision: Precision) -> str:
    outs, ins = (", ".join(f"{p.name} {p.shape}" for p in ports) for ports in (program.outputs, program.inputs))
    first = "out" if len(program.outputs) == 1 else "(outs)"
    return (
        f"function '{program.name}': raw({first}, *inputs) takes C-contiguous {precision} arrays, outputs {outs} and "
        f"inputs {ins}, with as many states in each input as in the outputs, or one. Call the function itself to have "
        "arrays checked and converted."
    )


def _call(program: Signature, precision: Precision) -> str:
    outs, ins = program.outputs, program.inputs
    lines = ["define ptr @call(ptr %self, ptr %args, i64 %count) minsize nounwind {", *_unpack(program)]
    fits = "true"
    for k, port in enumerate([*outs, *ins]):
        lines.append(f"  %fit{k} = call i1 @fits.{_shape_name(port)}(ptr %o{k})")
        lines.append(f"  %fits{k} = and i1 {fits}, %fit{k}")
        fits = f"%fits{k}"
    lines += [f"  br i1 {fits}, label %ready, label %refused", "ready:", *_data(program)]
    lines.append(f"  %finite = call i1 @single({', '.join(f'ptr %d{k}' for k in range(len(outs) + len(ins)))})")
    lines.append("  %truth = select i1 %finite, ptr %true, ptr %false")
    lines += ["  br label %answer", "refused:", "  br label %answer", "answer:"]
    lines.append("  %y = phi ptr [ %truth, %ready ], [ %none, %refused ]")
    lines.append("  call void %retain(ptr %y)")
    shapes = {_shape_name(port): port for port in [*outs, *ins]}
    return "\n".join([*(_fits(port, precision) for port in shapes.values()), *lines, "  ret ptr %y", "}"])


def _shape_name(port: Port) -> str:
    return "x".join(map(str, port.shape)) or "number"


def _fits(port: Port, precision: Precision) -> str:
    """Whether an object is a usable array of exactly a port's shape, or a float where the port is one number."""
    lines = [f"define internal i1 @fits.{_shape_name(port)}(ptr %o) noinline minsize nounwind {{", "start:"]
    if port.shape == () and precision == "float64":  # a Python float is a double
        lines += [*_load("float"), f"  %t = getelementptr i8, ptr %o, i64 {py.HEAD - 8}", "  %type = load ptr, ptr %t"]
        lines += ["  %is_float = icmp eq ptr %type, %float", "  br i1 %is_float, label %yes, label %array", "yes:"]
        lines += ["  ret i1 true", "array:"]
    lines.append(f"  %n = call i64 @states(ptr %o, i64 {max(port.size, 1)}, i32 {py.USABLE})")
    lines += ["  %usable = icmp sge i64 %n, 0", "  br i1 %usable, label %look, label %no", "no:", "  ret i1 false"]
    lines += ["look:", f"  %x = getelementptr i8, ptr %o, i64 {py.AXES}", "  %axes = load i32, ptr %x"]
    lines += [f"  %same = icmp eq i32 %axes, {len(port.shape)}", "  br i1 %same, label %axis0, label %no"]
    for k, extent in enumerate(port.shape):
        lines.append(f"axis{k}:")
        if k == 0:
            lines += [f"  %s = getelementptr i8, ptr %o, i64 {py.SHAPE}", "  %shape = load ptr, ptr %s"]
        lines.append(f"  %p{k} = getelementptr i64, ptr %shape, i64 {k}")
        lines.append(f"  %e{k} = load i64, ptr %p{k}")
        lines.append(f"  %q{k} = icmp eq i64 %e{k}, {extent}")
        lines.append(f"  br i1 %q{k}, label %axis{k + 1}, label %no")
    return "\n".join([*lines, f"axis{len(port.shape)}:", "  ret i1 true", "}"])


def _helpers(precision: Precision) -> str:
    """`data`: where an object's numbers are. `states`: how many blocks of `size` an array holds; -1: none, 0: any."""

    def load(*names: str) -> str:
        return "\n".join(_load(*names))

    return f"""
@python = global [{len(py.PYTHON)} x ptr] zeroinitializer
define internal ptr @data(ptr %o) alwaysinline nounwind {{
{load("float")}
  %t = getelementptr i8, ptr %o, i64 {py.HEAD - 8}
  %type = load ptr, ptr %t
  %is_float = icmp eq ptr %type, %float
  %own = getelementptr i8, ptr %o, i64 {py.DATA}
  %there = load ptr, ptr %own
  %y = select i1 %is_float, ptr %own, ptr %there
  ret ptr %y
}}
define internal i1 @is_tuple(ptr %o, i64 %size) noinline minsize nounwind {{
{load("tuple")}
  %t = getelementptr i8, ptr %o, i64 {py.HEAD - 8}
  %type = load ptr, ptr %t
  %is_tuple = icmp eq ptr %type, %tuple
  %s = getelementptr i8, ptr %o, i64 {py.HEAD}
  %length = load i64, ptr %s
  %same = icmp eq i64 %length, %size
  %y = and i1 %is_tuple, %same
  ret i1 %y
}}
define internal i64 @states(ptr %o, i64 %size, i32 %wanted) noinline minsize nounwind {{
start:
{load("array")}
  %t = getelementptr i8, ptr %o, i64 {py.HEAD - 8}
  %type = load ptr, ptr %t
  %is_array = icmp eq ptr %type, %array
  br i1 %is_array, label %header, label %no
header:
  %d = getelementptr i8, ptr %o, i64 {py.DTYPE}
  %dtype = load ptr, ptr %d
  %kind.at = getelementptr i8, ptr %dtype, i64 {py.KIND}
  %kind = load i32, ptr %kind.at
  %right = icmp eq i32 %kind, {py.KINDS[precision]}
  %order.at = getelementptr i8, ptr %dtype, i64 {py.ORDER}
  %order = load i8, ptr %order.at
  %native = icmp ne i8 %order, {py.SWAPPED}
  %f = getelementptr i8, ptr %o, i64 {py.FLAGS}
  %flags = load i32, ptr %f
  %set = and i32 %flags, %wanted
  %usable = icmp eq i32 %set, %wanted
  %number = and i1 %right, %native
  %good = and i1 %number, %usable
  br i1 %good, label %measure, label %no
measure:
  %a = getelementptr i8, ptr %o, i64 {py.AXES}
  %axes = load i32, ptr %a
  %s = getelementptr i8, ptr %o, i64 {py.SHAPE}
  %shape = load ptr, ptr %s
  br label %next
next:
  %k = phi i32 [ 0, %measure ], [ %k1, %times ]
  %total = phi i64 [ 1, %measure ], [ %total1, %times ]
  %more = icmp slt i32 %k, %axes
  br i1 %more, label %times, label %counted
times:
  %p = getelementptr i64, ptr %shape, i32 %k
  %extent = load i64, ptr %p
  %total1 = mul i64 %total, %extent
  %k1 = add i32 %k, 1
  br label %next
counted:
  %empty = icmp eq i64 %size, 0
  br i1 %empty, label %any, label %divide
any:
  ret i64 0
divide:
  %n = udiv i64 %total, %size
  %back = mul i64 %n, %size
  %whole = icmp eq i64 %back, %total
  %some = icmp sgt i64 %n, 0
  %fine = and i1 %whole, %some
  %y = select i1 %fine, i64 %n, i64 -1
  ret i64 %y
no:
  ret i64 -1
}}"""
