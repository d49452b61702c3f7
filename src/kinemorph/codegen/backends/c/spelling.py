"""How ops, numbers, names and comments are written in C and CUDA.

`SPELLINGS` says how an op is written; `{f}` stands for the suffix of single precision. An argument is a name or a
number, perhaps after a minus sign. Products are rounded together with a sum where `graphs.fused` says so (`fma`), and
compilers are asked to fuse no others.

`min` and `max` return NaN if either argument is NaN, as the op table says; `where` returns its second argument if the
first is not zero, and a NaN is not zero. The sign of a zero is not guaranteed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from kinemorph.codegen.backends.identifiers import identifier
from kinemorph.codegen.graphs.program import Port

SPELLINGS: dict[str, str] = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "fma": "{fma}({0}, {1}, {2})",
    "div": "{0} / {1}",
    "neg": "-({0})",
    "sqrt": "sqrt{f}({0})",
    "pow": "pow{f}({0}, {1})",
    "exp": "exp{f}({0})",
    "log": "log{f}({0})",
    "sin": "sin{f}({0})",
    "cos": "cos{f}({0})",
    "tan": "tan{f}({0})",
    "asin": "asin{f}({0})",
    "acos": "acos{f}({0})",
    "atan2": "atan2{f}({0}, {1})",
    "abs": "fabs{f}({0})",
    "sign": "{0} > 0.0{f} ? 1.0{f} : ({0} < 0.0{f} ? -1.0{f} : {0})",
    "floor": "floor{f}({0})",
    "min": "{0} < {1} || {0} != {0} ? {0} : {1}",
    "max": "{0} > {1} || {0} != {0} ? {0} : {1}",
    "lt": "{0} < {1} ? 1.0{f} : 0.0{f}",
    "le": "{0} <= {1} ? 1.0{f} : 0.0{f}",
    "eq": "{0} == {1} ? 1.0{f} : 0.0{f}",
    "where": "{0} != 0.0{f} ? {1} : {2}",
}


LANES = 8  # of double or single precision


@dataclass(frozen=True)
class Dialect:
    """How C or CUDA is written in one precision: the type of a number, its suffixes and the words before a function."""

    real: str  # the type of a number
    f: str  # the suffix of numbers and functions of that type
    fma: str  # the name of the function or macro for a b + c
    lanes: int  # the most passes of a loop that run side by side; 1 where each thread has a state of its own
    infinity: str
    nan: str
    internal: str  # the specifiers of a function that only this file calls
    constant: str  # the specifiers of an array of constants
    restrict: str


_C = {"internal": "static", "constant": "static const", "infinity": "INFINITY", "nan": "NAN", "restrict": "restrict"}
_CUDA = {"internal": "static __device__", "constant": "const", "restrict": "__restrict__"}
_CUDA_64 = {"infinity": "__longlong_as_double(0x7ff0000000000000LL)", "nan": 'nan("")'}
_CUDA_32 = {"infinity": "__int_as_float(0x7f800000)", "nan": 'nanf("")'}

C = {
    "float64": Dialect("double", "", "FUSED", LANES, **_C),
    "float32": Dialect("float", "f", "FUSED", LANES, **_C),
}
CUDA = {
    "float64": Dialect("double", "", "fma", 1, **_CUDA, **_CUDA_64),
    "float32": Dialect("float", "f", "fmaf", 1, **_CUDA, **_CUDA_32),
}


# gcc knows no such pragma, and fuses nothing in standard C; without an instruction, fma is a slow function
ARITHMETIC = """#include <math.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
#if defined FP_FAST_FMA{F} || defined __FMA__ || defined __ARM_FEATURE_FMA
#define FUSED(a, b, c) fma{f}(a, b, c)
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif
"""


def arithmetic(dialect: Dialect) -> list[str]:
    """The lines of a C file on its arithmetic: the header of functions, and how a b + c is rounded."""
    return [*ARITHMETIC.format(f=dialect.f, F=dialect.f.upper()).splitlines(), ""]


def number(value: float, dialect: Dialect) -> str:
    """The literal that the compiler reads as exactly this number (after rounding to the dialect's precision)."""
    digits = repr(float(value))
    if dialect.f:
        with np.errstate(over="ignore"):
            rounded = np.float32(value)
        value, digits = float(rounded), str(rounded)
    if math.isnan(value):
        return dialect.nan
    if math.isinf(value):
        return dialect.infinity if value > 0 else f"-{dialect.infinity}"
    return digits + dialect.f


# ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class co_await co_return co_yield compl
concept const_cast consteval constexpr constinit decltype delete dynamic_cast explicit export false friend module
mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires
static_assert static_cast synchronized template this thread_local throw true try typeid typename typeof using virtual
wchar_t xor xor_eq
"""
_KNOWN_TO_COMPILERS = """
main abort abs alloca assert atexit atof atoi atol bcmp bcopy bsearch bzero calloc clock div errno execl exit ffs fork
fprintf free gamma_r getenv index isalpha isdigit isfinite isgreater isinf isless isnan isnormal isunordered labs ldiv
lgamma_r malloc max memchr memcmp memcpy memmove memset min printf putchar puts qsort rand realloc rindex scanf signbit
signgam snprintf sprintf srand strcat strchr strcmp strcpy strlen strncpy strstr strtod strtof strtol system time
toascii tolower toupper vprintf fpclassify math_errhandling ptrdiff_t size_t float_t double_t dim3 threadIdx
blockIdx blockDim gridDim warpSize NAN INFINITY HUGE_VAL NULL EOF I linux unix i386 near far small interface
"""
_MATH = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 fabs fdim finite
floor fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint
lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round rsqrt scalb scalbln scalbn
significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn
"""
_OURS = "scratch state states stream FUSED"


class _Reserved(frozenset[str]):
    """Words that must not become identifiers: the given ones, and the names of emitted variables (`n12`, `i0`, ...)."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or re.fullmatch(r"n|[inkt]\d+", str(name)) is not None


RESERVED = _Reserved(
    [
        *" ".join([_KEYWORDS, _KNOWN_TO_COMPILERS, _OURS]).split(),
        *(word + suffix for word in _MATH.split() for suffix in ("", "f", "l")),
    ]
)


class Names:
    """The identifiers of one file. A parameter never has a name that is defined in the file, which it would hide."""

    def __init__(self) -> None:
        self.taken: set[str] = set()
        self.inside: set[str] = set()

    def new(self, name: str) -> str:
        """A new identifier, made from `name`, for the scope of the whole file."""
        found = identifier(name, self.taken | self.inside, RESERVED)
        self.taken.add(found)
        return found

    def local(self, names: Iterable[str], beside: Collection[str] = ()) -> tuple[str, ...]:
        """New identifiers for parameters and arrays of one function, different from those in `beside`."""
        found: list[str] = []
        for name in names:
            found.append(identifier(name, {*self.taken, *beside, *found}, RESERVED))
        self.inside.update(found)
        return tuple(found)


# ── remarks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def shape_text(port: Port) -> str:
    """The shape of a port in words: `1 number`, `36 numbers` or `6 x 36 numbers, row by row`."""
    if len(port.shape) < 2:
        return "1 number" if port.size == 1 else f"{port.size} numbers"
    return " x ".join(map(str, port.shape)) + " numbers, row by row"


def block_comment(lines: Iterable[str]) -> list[str]:
    """Lines as a block comment; text from a model in them has to be made safe by `comment` before."""
    return ["/*", *(f" * {line}".rstrip() for line in lines), " */"]
