"""How each op is spelled in LLVM IR, and the small functions those spellings call.

Arithmetic is one instruction with the `contract` flag (a product and a sum may become one FMA; nothing else is
relaxed). What takes several instructions is a small function that is inlined; what the C library does well is called
there; sin, cos and tan are our own (`llvm_sincos`).

`min` and `max` have NumPy's meaning: a NaN in either argument comes out. `where` takes its second argument where the
first is not zero, and a NaN is not zero. The sign of a zero is not promised.
"""

from __future__ import annotations

import struct
from functools import cache

SPELLINGS: dict[str, str] = {
    "add": "fadd contract double {0}, {1}",
    "sub": "fsub contract double {0}, {1}",
    "mul": "fmul contract double {0}, {1}",
    "div": "fdiv double {0}, {1}",
    "neg": "fneg double {0}",
    "sqrt": "call double @llvm.sqrt.f64(double {0})",
    "abs": "call double @llvm.fabs.f64(double {0})",
    "floor": "call double @llvm.floor.f64(double {0})",
    "exp": "call double @exp(double {0})",
    "log": "call double @log(double {0})",
    "pow": "call double @pow(double {0}, double {1})",
    "asin": "call double @asin(double {0})",
    "acos": "call double @acos(double {0})",
    "atan2": "call double @atan2(double {0}, double {1})",
    "sign": "call double @op.sign(double {0})",
    "min": "call double @op.min(double {0}, double {1})",
    "max": "call double @op.max(double {0}, double {1})",
    "lt": "call double @op.lt(double {0}, double {1})",
    "le": "call double @op.le(double {0}, double {1})",
    "eq": "call double @op.eq(double {0}, double {1})",
    "where": "call double @op.where(double {0}, double {1}, double {2})",
}
ROTATIONS = frozenset({"sin", "cos", "tan"})  # spelled by sincos, several arguments at a time

LIBRARY = """
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
declare double @exp(double) #1
declare double @log(double) #1
declare double @pow(double, double) #1
declare double @asin(double) #1
declare double @acos(double) #1
declare double @atan2(double, double) #1
attributes #0 = { alwaysinline nounwind }
attributes #1 = { nounwind willreturn memory(none) }
define internal double @op.sign(double %a) #0 {
  %above = fcmp ogt double %a, 0.0
  %below = fcmp olt double %a, 0.0
  %s = select i1 %below, double -1.0, double %a
  %y = select i1 %above, double 1.0, double %s
  ret double %y
}
define internal double @op.where(double %c, double %a, double %b) #0 {
  %taken = fcmp une double %c, 0.0
  %y = select i1 %taken, double %a, double %b
  ret double %y
}
"""

EXTREMUM = """
define internal double @op.{name}(double %a, double %b) #0 {{
  %first = fcmp {compare} double %a, %b
  %y = select i1 %first, double %a, double %b
  %nan = fcmp uno double %a, %a
  %z = select i1 %nan, double %a, double %y
  ret double %z
}}
"""

COMPARISON = """
define internal double @op.{name}(double %a, double %b) #0 {{
  %holds = fcmp {compare} double %a, %b
  %y = uitofp i1 %holds to double
  ret double %y
}}
"""


# Whether all of an array is finite: an exponent of all ones plus one carries into the sign bit.
FINITE = """
define internal i1 @finite(ptr readonly %array, i64 %count) noinline optsize nounwind {
start:
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %loop, label %done
loop:
  %k = phi i64 [ 0, %start ], [ %next, %loop ]
  %bad = phi i64 [ 0, %start ], [ %worse, %loop ]
  %place = getelementptr inbounds i64, ptr %array, i64 %k
  %bits = load i64, ptr %place
  %exponent = and i64 %bits, 9218868437227405312
  %above = add i64 %exponent, 4503599627370496
  %worse = or i64 %bad, %above
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  %all = phi i64 [ 0, %start ], [ %worse, %loop ]
  %finite = icmp sge i64 %all, 0
  ret i1 %finite
}
"""


def number(value: float) -> str:
    """A double as LLVM writes it without loss."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def lanes_type(lanes: int, element: str = "double") -> str:
    """The type of `lanes` elements: the element itself where there is one lane."""
    return element if lanes == 1 else f"<{lanes} x {element}>"


@cache
def library() -> str:
    """The definitions of everything that `SPELLINGS` refers to, and `finite`."""
    parts = [LIBRARY, FINITE]
    parts += [EXTREMUM.format(name=name, compare=compare) for name, compare in (("min", "olt"), ("max", "ogt"))]
    parts += [COMPARISON.format(name=name, compare=f"o{name}") for name in ("lt", "le", "eq")]
    return "".join(parts)
