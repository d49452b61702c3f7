"""Numbers in LLVM IR: the types of values, how each op is written for them, and the small functions that ops call.

The type of a value is a `Real`: float64 or float32, one number or several lanes; every op is written once for all of
these. Arithmetic is one instruction, which LLVM does not fuse with another one; the op `fma` of `graphs.fused` rounds
once if the CPU has an instruction for it, else twice. So a program has the same bits at every level of optimization. An
op that takes several instructions is a small function that is inlined. exp, log, pow, asin, acos and atan2 call the C
library, lane by lane and always in float64, so that a lane has the same bits as a single number. sin, cos and tan are
implemented in `sincos`; LLVM has no say in what is called, or it would write exp2 for some pow.

`min` and `max` are those of NumPy: the result is NaN if either argument is. `where` returns its second argument if the
first is not zero, and a NaN is not zero. The sign of a zero is not guaranteed.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property

import numpy as np

from kinemorph.codegen.backends import Precision
from kinemorph.frozen import dataclass
from kinemorph.vocabulary.ops import OPS


@dataclass(frozen=True)
class Real:
    """The type of a value: its precision and its number of lanes (1: a plain number)."""

    precision: Precision = "float64"
    lanes: int = 1

    @cached_property
    def bits(self) -> int:
        """The number of bits of one number."""
        return 64 if self.precision == "float64" else 32

    @cached_property
    def element(self) -> str:
        """The LLVM type of one number."""
        return "double" if self.bits == 64 else "float"

    @cached_property
    def text(self) -> str:
        """The LLVM type of a value."""
        return self.of(self.element)

    @cached_property
    def whole(self) -> str:
        """The LLVM type of integers of the same size, with as many lanes."""
        return self.of(f"i{self.bits}")

    @cached_property
    def truth(self) -> str:
        """The LLVM type of the result of a comparison."""
        return self.of("i1")

    @cached_property
    def suffix(self) -> str:
        """The suffix of an intrinsic's name for this type, as in `v4f64`."""
        return f"f{self.bits}" if self.lanes == 1 else f"v{self.lanes}f{self.bits}"

    @cached_property
    def bytes(self) -> int:
        """The size of a value in memory [byte]; scratch arrays are aligned to it."""
        return self.lanes * self.bits // 8

    def of(self, element: str) -> str:
        """The LLVM type with as many lanes of another element type."""
        return element if self.lanes == 1 else f"<{self.lanes} x {element}>"

    def constant(self, value: float) -> str:
        """A number as an LLVM constant, the same in every lane."""
        if self.bits == 32:
            with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite
                value = float(np.float32(value))
        text = number(value)
        return text if self.lanes == 1 else f"splat ({self.element} {text})"

    def listed(self, values: Sequence[float]) -> str:
        """Numbers that are one after the other in memory, as an LLVM constant with its type: bytes, if it is long."""
        if len(values) <= FEW:
            listed = ", ".join(f"{self.element} {self.one.constant(value)}" for value in values)
            return f"[{len(values)} x {self.element}] [{listed}], align 64"
        with np.errstate(over="ignore"):
            data = np.array(values, dtype=self.precision).tobytes()
        return f'[{len(data)} x i8] c"\\{data.hex(chr(92))}", align 64'

    def integer(self, value: int) -> str:
        """A whole number as an LLVM constant, the same in every lane."""
        return str(value) if self.lanes == 1 else f"splat (i{self.bits} {value})"

    @cached_property
    def one(self) -> Real:
        """The type of one lane."""
        return Real(self.precision)


def number(value: float) -> str:
    """A double as a hexadecimal LLVM constant, which is exact."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


# {t}: the value's type, {c}: the type of a comparison, {f}: the suffix of intrinsics
SPELLINGS: dict[str, str] = {
    "add": "fadd {t} {0}, {1}",
    "sub": "fsub {t} {0}, {1}",
    "mul": "fmul {t} {0}, {1}",
    "fma": "call {t} @llvm.fmuladd.{f}({t} {0}, {t} {1}, {t} {2})",
    "div": "fdiv {t} {0}, {1}",
    "neg": "fneg {t} {0}",
    "sqrt": "call {t} @llvm.sqrt.{f}({t} {0})",
    "abs": "call {t} @llvm.fabs.{f}({t} {0})",
    "floor": "call {t} @llvm.floor.{f}({t} {0})",
}
INTRINSICS = {"fma": ("fmuladd", 3), "sqrt": ("sqrt", 1), "abs": ("fabs", 1), "floor": ("floor", 1)}  # name, arity
FEW = 16  # numbers in a row: more are written as bytes, which LLVM reads faster
ROTATIONS = frozenset({"sin", "cos", "tan"})  # computed by sincos
C_LIBRARY = ("exp", "log", "pow", "asin", "acos", "atan2")

SIGN = """define internal {t} @op.sign.{f}({t} %a) alwaysinline nounwind {{
  %above = fcmp ogt {t} %a, zeroinitializer
  %below = fcmp olt {t} %a, zeroinitializer
  %s = select {c} %below, {t} {minus}, {t} %a
  %y = select {c} %above, {t} {plus}, {t} %s
  ret {t} %y
}}"""
WHERE = """define internal {t} @op.where.{f}({t} %c, {t} %a, {t} %b) alwaysinline nounwind {{
  %taken = fcmp une {t} %c, zeroinitializer
  %y = select {c} %taken, {t} %a, {t} %b
  ret {t} %y
}}"""
EXTREMUM = """define internal {t} @op.{name}.{f}({t} %a, {t} %b) alwaysinline nounwind {{
  %first = fcmp {compare} {t} %a, %b
  %y = select {c} %first, {t} %a, {t} %b
  %nan = fcmp uno {t} %a, %a
  %z = select {c} %nan, {t} %a, {t} %y
  ret {t} %z
}}"""
COMPARISON = """define internal {t} @op.{name}.{f}({t} %a, {t} %b) alwaysinline nounwind {{
  %holds = fcmp {compare} {t} %a, %b
  %y = uitofp {c} %holds to {t}
  ret {t} %y
}}"""
FUNCTIONS = {  # op -> the definition of its function, and the comparison in it
    "sign": (SIGN, ""),
    "where": (WHERE, ""),
    "min": (EXTREMUM, "olt"),
    "max": (EXTREMUM, "ogt"),
    "lt": (COMPARISON, "olt"),
    "le": (COMPARISON, "ole"),
    "eq": (COMPARISON, "oeq"),
}


@cache
def spellings(real: Real) -> dict[str, str]:
    """How each op is written for values of a type: format strings of its operands."""
    made = dict(SPELLINGS)
    for name in (*FUNCTIONS, *C_LIBRARY):
        plain = name in C_LIBRARY and real == Real()
        called = f"@{name}" if plain else f"@op.{name}.{{f}}"
        made[name] = f"call {{t}} {called}({_arguments(OPS[name].arity)}){' nobuiltin' * plain}"
    return {name: _filled(text, real) for name, text in made.items()}


def _arguments(arity: int) -> str:
    return ", ".join(f"{{t}} {{{k}}}" for k in range(arity))


def _filled(text: str, real: Real) -> str:
    return text.replace("{t}", real.text).replace("{c}", real.truth).replace("{f}", real.suffix)


def library(used: Mapping[Real, Collection[str]]) -> str:
    """Declarations and definitions of the functions that the given ops call, by the type of their values."""
    parts: dict[str, None] = {}  # each text once, in order
    for real, ops in used.items():
        for name in sorted(ops):
            if name in INTRINSICS:
                intrinsic, arity = INTRINSICS[name]
                taken = ", ".join([real.text] * arity)
                parts[f"declare {real.text} @llvm.{intrinsic}.{real.suffix}({taken})"] = None
            elif name in FUNCTIONS:
                text, compare = FUNCTIONS[name]
                plus, minus = real.constant(1.0), real.constant(-1.0)
                filled = {"t": real.text, "c": real.truth, "f": real.suffix, "plus": plus, "minus": minus}
                parts[text.format(name=name, compare=compare, **filled)] = None
            elif name in C_LIBRARY:
                doubles = ", ".join(["double"] * OPS[name].arity)
                parts[f"declare double @{name}({doubles}) nounwind willreturn memory(none)"] = None
                if real != Real():
                    parts[_each_lane(real, name, OPS[name].arity)] = None
    return "\n".join(parts)


def _each_lane(real: Real, name: str, arity: int) -> str:
    """The definition of `op.<name>.<type>`, which calls a function of the C library for one lane after the other."""
    parameters = ", ".join(f"{real.text} %x{k}" for k in range(arity))
    lines = [f"define internal {real.text} @op.{name}.{real.suffix}({parameters}) noinline nounwind {{"]
    result = "poison"
    for lane in range(real.lanes):
        arguments = []
        for k in range(arity):
            given = f"%x{k}"
            if real.lanes > 1:
                lines.append(f"  %x{k}.{lane} = extractelement {real.text} %x{k}, i32 {lane}")
                given = f"%x{k}.{lane}"
            if real.bits == 32:
                lines.append(f"  %d{k}.{lane} = fpext float {given} to double")
                given = f"%d{k}.{lane}"
            arguments.append(f"double {given}")
        lines.append(f"  %y.{lane} = call double @{name}({', '.join(arguments)}) nobuiltin")
        made = f"%y.{lane}"
        if real.bits == 32:
            lines.append(f"  %f.{lane} = fptrunc double {made} to float")
            made = f"%f.{lane}"
        if real.lanes > 1:
            lines.append(f"  %r.{lane} = insertelement {real.text} {result}, {real.element} {made}, i32 {lane}")
            made = f"%r.{lane}"
        result = made
    return "\n".join([*lines, f"  ret {real.text} {result}", "}"])


FINITE = """define internal i1 @finite(ptr readonly %array, i64 %count) noinline nounwind {{
start:
  %blocks = and i64 %count, -{lanes}
  %some = icmp sgt i64 %blocks, 0
  br i1 %some, label %many, label %rest
many:
  %k = phi i64 [ 0, %start ], [ %next, %many ]
  %bad = phi {v} [ zeroinitializer, %start ], [ %worse, %many ]
  %place = getelementptr inbounds {i}, ptr %array, i64 %k
  %bits = load {v}, ptr %place, align {bytes}
  %exponent = and {v} %bits, {mask_v}
  %above = add {v} %exponent, {carry_v}
  %worse = or {v} %bad, %above
  %next = add i64 %k, {lanes}
  %more = icmp slt i64 %next, %blocks
  br i1 %more, label %many, label %joined
joined:
  %any = call {i} @llvm.vector.reduce.or.v{lanes}{i}({v} %worse)
  br label %rest
rest:
  %from = phi i64 [ 0, %start ], [ %blocks, %joined ]
  %bad0 = phi {i} [ 0, %start ], [ %any, %joined ]
  br label %next1
next1:
  %k1 = phi i64 [ %from, %rest ], [ %k2, %single ]
  %bad1 = phi {i} [ %bad0, %rest ], [ %worse1, %single ]
  %left = icmp slt i64 %k1, %count
  br i1 %left, label %single, label %done
single:
  %place1 = getelementptr inbounds {i}, ptr %array, i64 %k1
  %bits1 = load {i}, ptr %place1
  %exponent1 = and {i} %bits1, {mask}
  %above1 = add {i} %exponent1, {carry}
  %worse1 = or {i} %bad1, %above1
  %k2 = add i64 %k1, 1
  br label %next1
done:
  %finite = icmp sge {i} %bad1, 0
  ret i1 %finite
}}
declare {i} @llvm.vector.reduce.or.v{lanes}{i}({v})"""


def finite(precision: Precision) -> str:
    """The definition of `i1 @finite(array, count)`: whether all numbers of an array are finite.

    For inf and NaN all bits of the exponent are 1, so adding 1 to the exponent sets the sign bit.
    """
    wide = Real(precision, 8)
    mask, carry = (0x7FF << 52, 1 << 52) if wide.bits == 64 else (0xFF << 23, 1 << 23)
    return FINITE.format(
        lanes=wide.lanes,
        v=wide.whole,
        i=wide.one.whole,
        bytes=wide.bits // 8,
        mask=mask,
        carry=carry,
        mask_v=wide.integer(mask),
        carry_v=wide.integer(carry),
    )
