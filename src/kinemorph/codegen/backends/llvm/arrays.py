"""Emitted functions that check Python objects, find the numbers of NumPy arrays, and make new arrays.

@python             addresses in the running interpreter, filled in after the LLVM module is loaded (`python_objects`)
usable(o, flags)    whether an object is an array of the function's precision with these flags
states(o, size, flags)   the number of blocks of `size` numbers in an array; -1: not usable, 0: any number (size 0)
fits.SHAPE(o)       whether an object is a usable array of that shape, perhaps with a batch axis, or a number (`call`)
data(o)             the address of the numbers of an object that is known to be usable
fresh(axes, extents)     a new array, or null with Python's error set
"""

from __future__ import annotations

from kinemorph.codegen.backends import Precision
from kinemorph.codegen.backends.llvm import python_objects as py


def load(*names: str) -> list[str]:
    """Lines of LLVM IR that load addresses of Python's objects and functions, each into the register `%name`.

    `names` are names in `python_objects.PYTHON`, such as "float" or "tuple".
    """
    lines = []
    for name in names:
        lines.append(f"  %at.{name} = getelementptr ptr, ptr @python, i64 {py.PYTHON.index(name)}")
        lines.append(f"  %{name} = load ptr, ptr %at.{name}")
    return lines


def helpers(precision: Precision) -> str:
    """LLVM IR of the table `@python` and of the functions `@usable`, `@states`, `@data` and `@fresh`.

    They check the arrays of a call, find their numbers and make new arrays; this file's docstring describes each. The
    functions `@fits.SHAPE`, which check shapes, depend on the inputs of a program: `call.py` writes them.
    """

    def loaded(*names: str) -> str:
        return "\n".join(load(*names))

    return f"""
@python = global [{len(py.PYTHON)} x ptr] zeroinitializer
define internal i1 @is_number(ptr %o) alwaysinline nounwind {{
{loaded("float", "double")}
  %t = getelementptr i8, ptr %o, i64 {py.HEAD - 8}
  %type = load ptr, ptr %t
  %is_float = icmp eq ptr %type, %float
  %is_double = icmp eq ptr %type, %double
  %y = or i1 %is_float, %is_double
  ret i1 %y
}}
define internal ptr @data(ptr %o) alwaysinline nounwind {{
  %number = call i1 @is_number(ptr %o)
  %own = getelementptr i8, ptr %o, i64 {py.DATA}
  %there = load ptr, ptr %own
  %y = select i1 %number, ptr %own, ptr %there
  ret ptr %y
}}
define internal i1 @is_tuple(ptr %o, i64 %size) noinline minsize nounwind {{
{loaded("tuple")}
  %t = getelementptr i8, ptr %o, i64 {py.HEAD - 8}
  %type = load ptr, ptr %t
  %is_tuple = icmp eq ptr %type, %tuple
  %s = getelementptr i8, ptr %o, i64 {py.HEAD}
  %length = load i64, ptr %s
  %same = icmp eq i64 %length, %size
  %y = and i1 %is_tuple, %same
  ret i1 %y
}}
define internal i1 @usable(ptr %o, i32 %wanted) noinline minsize nounwind {{
start:
{loaded("array")}
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
  ret i1 %good
no:
  ret i1 false
}}
define internal i64 @states(ptr %o, i64 %size, i32 %wanted) noinline minsize nounwind {{
start:
  %good = call i1 @usable(ptr %o, i32 %wanted) alwaysinline
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
}}
define internal ptr @fresh(i32 %axes, ptr %extents) noinline minsize nounwind {{
{loaded("array", precision, "retain", "new_array")}
  call void %retain(ptr %{precision})
  %y = call ptr %new_array(ptr %array, ptr %{precision}, i32 %axes, ptr %extents, ptr null, ptr null, i32 0, ptr null)
  ret ptr %y
}}"""
