"""sin and cos of one argument from one range reduction, on values of any type.

    n = round(x 2/pi),  r = x - n pi/2,  two polynomials in r on |r| <= pi/4,  then the quadrant n mod 4

Up to 2^30 quarter turns (2^16 in float32), r is computed by three FMAs, with pi/2 as a sum of three numbers (Cody and
Waite). Beyond, r is computed from the 192 bits of 2/pi that matter for the exponent of x (Payne and Hanek), in a
separate function. The error of sin and cos is at most 2 ulp everywhere, that of tan as their quotient 4 ulp, in float64
and in float32. An argument that is not finite gives NaN. FMAs are explicit and the compiler adds none, so the bits of a
result do not depend on the number of lanes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from kinemorph.codegen.backends import Precision
from kinemorph.codegen.backends.llvm.math import Real
from kinemorph.codegen.backends.llvm.range_reduction import HALF_PI, reduce_far

TWO_OVER_PI = 0.6366197723675814


@dataclass(frozen=True)
class Rotation:
    """The constants of sincos in one precision.

    `sin` and `cos` are the coefficients, constant term first, of polynomials in z = r^2 on |r| <= pi/4 for
    (sin(r)/r - 1) / z and (cos(r) - 1 + z/2) / z^2, interpolated at shifted Chebyshev points.
    """

    quarters: int  # quarter turns up to which the three constants reduce an argument to half an ulp; a power of 2
    half_pi: tuple[float, float, float]  # three numbers with the sum pi/2
    whole: float  # adding it to a number rounds the number to an integer in the low bits
    bits: int  # the bits of `whole`
    sin: tuple[float, ...]
    cos: tuple[float, ...]

    @property
    def rounder(self) -> float:
        """The number that is added to x 2/pi to round it to an integer, n, in the low bits of the sum.

        The high bits of the sum are those of `whole` if |n| is at most `quarters`, so they show whether x is near.
        """
        return self.whole + self.quarters


ROTATION: dict[Precision, Rotation] = {
    "float64": Rotation(  # pi/2 to 160 bits, sin to 2^-57 relative, cos to 2^-63
        quarters=2**30,
        half_pi=HALF_PI,
        whole=1.5 * 2.0**52,
        bits=0x4338 << 48,
        sin=(
            *(-0.16666666666666632, 0.008333333333322408, -0.00019841269829802915),
            *(2.755731369032523e-06, -2.5050757879910682e-08, 1.5896782715145627e-10),
        ),
        cos=(
            *(0.041666666666666595, -0.0013888888888873466, 2.4801587289126468e-05),
            *(-2.755731426114984e-07, 2.0875712075392885e-09, -1.13591168678618e-11),
        ),
    ),
    "float32": Rotation(  # pi/2 to 73 bits, sin to 2^-26 relative, cos to 2^-29
        quarters=2**16,
        half_pi=(1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
        whole=1.5 * 2.0**23,
        bits=0x4B40 << 16,
        sin=(-0.166666641831398, 0.008332747966051102, -0.00019587890710681677),
        cos=(0.0416666641831398, -0.001388830249197781, 2.454794230288826e-05),
    ),
}


@cache
def sincos(real: Real) -> str:
    """The definitions of `{sin, cos} @sincos.<type>(x)` and of the two functions that it uses for near arguments.

    An argument is near if it has at most `Rotation.quarters` quarter turns, else far.
    """
    t, whole, numbers = real.text, real.whole, ROTATION[real.precision]
    lines = [f"declare {t} @llvm.fma.{real.suffix}({t}, {t}, {t})"] if real != Real() else []  # reduce_far declares it
    lines += [*_reduce_near(real), *_turn(real)]
    lines.append(f"define internal {{ {t}, {t} }} @sincos.{real.suffix}({t} %x) nounwind {{")
    lines.append(f"  %near = call {{ {t}, {whole} }} @reduce_near.{real.suffix}({t} %x)")
    lines.append(f"  %r_near = extractvalue {{ {t}, {whole} }} %near, 0")
    lines.append(f"  %q_near = extractvalue {{ {t}, {whole} }} %near, 1")
    lines.append(f"  %high = and {whole} %q_near, {real.integer(-2 * numbers.quarters)}")
    lines.append(f"  %off = icmp ne {whole} %high, {real.integer(numbers.bits)}")
    lines.append(f"  %any = bitcast {real.truth} %off to i{real.lanes}")
    lines.append(f"  %far = icmp ne i{real.lanes} %any, 0")
    lines.append('  br i1 %far, label %beyond, label %reduced, !prof !{!"branch_weights", i32 1, i32 100000}')
    lines += ["beyond:", *_reduce_each_lane(real), "  br label %reduced", "reduced:"]
    lines.append(f"  %r = phi {t} [ %r_near, %0 ], [ %r_far, %beyond ]")
    lines.append(f"  %q = phi {whole} [ %q_near, %0 ], [ %q_far, %beyond ]")
    lines.append(f"  %both = call {{ {t}, {t} }} @turn.{real.suffix}({t} %r, {whole} %q)")
    lines += [f"  ret {{ {t}, {t} }} %both", "}"]
    return "\n".join(lines)


def _fma(real: Real, name: str, a: str, b: str, c: str) -> str:
    """A line that computes a b + c with one rounding."""
    t = real.text
    return f"  %{name} = call {t} @llvm.fma.{real.suffix}({t} {a}, {t} {b}, {t} {c})"


def _reduce_near(real: Real) -> list[str]:
    """The definition of `{r, q} @reduce_near.<type>(x)`: x = r + q pi/2 for near x.

    q mod 4 is the quadrant; the high bits of q show whether x is near.
    """
    numbers = ROTATION[real.precision]
    t, whole, splat = real.text, real.whole, real.constant
    one, two, three = map(splat, numbers.half_pi)
    return [
        f"define internal {{ {t}, {whole} }} @reduce_near.{real.suffix}({t} %x) alwaysinline nounwind {{",
        _fma(real, "t", "%x", splat(TWO_OVER_PI), splat(numbers.rounder)),
        f"  %n = fsub {t} {splat(numbers.rounder)}, %t",  # minus the whole number
        _fma(real, "r1", "%n", one, "%x"),
        _fma(real, "r2", "%n", two, "%r1"),
        _fma(real, "r", "%n", three, "%r2"),
        f"  %q = bitcast {t} %t to {whole}",
        f"  %some = insertvalue {{ {t}, {whole} }} undef, {t} %r, 0",
        f"  %both = insertvalue {{ {t}, {whole} }} %some, {whole} %q, 1",
        f"  ret {{ {t}, {whole} }} %both",
        "}",
    ]


def _turn(real: Real) -> list[str]:
    """The definition of `{sin, cos} @turn.<type>(r, q)`: sine and cosine of r + q pi/2, for |r| <= pi/4."""
    numbers = ROTATION[real.precision]
    t, whole, splat, integer = real.text, real.whole, real.constant, real.integer
    pair = f"{{ {t}, {t} }}"
    lines = [f"define internal {pair} @turn.{real.suffix}({t} %r, {whole} %q) alwaysinline nounwind {{"]

    def polynomial(name: str, coefficients: tuple[float, ...]) -> str:
        value = splat(coefficients[-1])
        for k, coefficient in enumerate(reversed(coefficients[:-1])):
            lines.append(_fma(real, f"{name}{k}", value, "%z", splat(coefficient)))
            value = f"%{name}{k}"
        return value

    # sin r = r + r z S(z);  cos r = 1 - z/2 + z^2 C(z)
    lines.append(f"  %z = fmul {t} %r, %r")
    lines.append(f"  %rz = fmul {t} %r, %z")
    lines.append(_fma(real, "s", "%rz", polynomial("s", numbers.sin), "%r"))
    cosine = polynomial("c", (1.0, -0.5, *numbers.cos))
    # an odd quadrant swaps sin and cos; bit 1 of q changes the sign of sin, bit 1 of q + 1 that of cos
    lines.append(f"  %odd_bit = and {whole} %q, {integer(1)}")
    lines.append(f"  %odd = icmp ne {whole} %odd_bit, {integer(0)}")
    for name, a, b, quadrant in (("sin", cosine, "%s", "%q"), ("cos", "%s", cosine, "%q_next")):
        if name == "cos":
            lines.append(f"  %q_next = add {whole} %q, {integer(1)}")
        lines.append(f"  %{name}_size = select {real.truth} %odd, {t} {a}, {t} {b}")
        lines.append(f"  %{name}_bits = bitcast {t} %{name}_size to {whole}")
        lines.append(f"  %{name}_up = shl {whole} {quadrant}, {integer(real.bits - 2)}")
        lines.append(f"  %{name}_turn = and {whole} %{name}_up, {integer(-(2 ** (real.bits - 1)))}")
        lines.append(f"  %{name}_turned = xor {whole} %{name}_bits, %{name}_turn")
        lines.append(f"  %{name} = bitcast {whole} %{name}_turned to {t}")
    lines.append(f"  %some = insertvalue {pair} undef, {t} %sin, 0")
    lines.append(f"  %both = insertvalue {pair} %some, {t} %cos, 1")
    return [*lines, f"  ret {pair} %both", "}"]


def _reduce_each_lane(real: Real) -> list[str]:
    """Lines for the rare case that a lane is far: `reduce_far` for these lanes, while near lanes keep their values."""
    t, whole = real.text, real.whole
    harmless = real.constant(4.0 * ROTATION[real.precision].quarters)  # in the lanes that are near
    lines = [f"  %x_far = select {real.truth} %off, {t} %x, {t} {harmless}"]
    r, q = "poison", "poison"
    for k in range(real.lanes):
        x = "%x_far"
        if real.lanes > 1:
            lines.append(f"  %x{k} = extractelement {t} %x_far, i32 {k}")
            x = f"%x{k}"
        if real.bits == 32:
            lines.append(f"  %d{k} = fpext float {x} to double")
            x = f"%d{k}"
        lines.append(f"  %there{k} = call {{ double, i64 }} @reduce_far(double {x})")
        lines.append(f"  %rs{k} = extractvalue {{ double, i64 }} %there{k}, 0")
        lines.append(f"  %qs{k} = extractvalue {{ double, i64 }} %there{k}, 1")
        r_one, q_one = f"%rs{k}", f"%qs{k}"
        if real.bits == 32:
            lines.append(f"  %rf{k} = fptrunc double {r_one} to float")
            lines.append(f"  %qf{k} = trunc i64 {q_one} to i32")
            r_one, q_one = f"%rf{k}", f"%qf{k}"
        if real.lanes > 1:
            lines.append(f"  %rv{k} = insertelement {t} {r}, {real.element} {r_one}, i32 {k}")
            lines.append(f"  %qv{k} = insertelement {whole} {q}, i{real.bits} {q_one}, i32 {k}")
            r_one, q_one = f"%rv{k}", f"%qv{k}"
        r, q = r_one, q_one
    lines.append(f"  %r_far = select {real.truth} %off, {t} {r}, {t} %r_near")
    lines.append(f"  %q_far = select {real.truth} %off, {whole} {q}, {whole} %q_near")
    return lines


# computes all arguments as if they were near and collects the high bits of q; if one was far, computes all again
SINCOS_OF_MANY = """define internal void @sincos.many.{f}({parameters}) noinline nounwind {{
start:
  br label %next
next:
  %k = phi i64 [ 0, %start ], [ %k1, %next ]
  %seen = phi {w} [ zeroinitializer, %start ], [ %all, %next ]
  %at = getelementptr inbounds {t}, ptr %angles, i64 %k
  %x = load {t}, ptr %at
  %near = call {{ {t}, {w} }} @reduce_near.{f}({t} %x)
  %r = extractvalue {{ {t}, {w} }} %near, 0
  %q = extractvalue {{ {t}, {w} }} %near, 1
  %both = call {{ {t}, {t} }} @turn.{f}({t} %r, {w} %q)
  %to = getelementptr inbounds {{ {t}, {t} }}, ptr %turned, i64 %k
  store {{ {t}, {t} }} %both, ptr %to
  %differs = xor {w} %q, {whole}
  %all = or {w} %seen, %differs
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %count
  br i1 %more, label %next, label %check
check:
  %high = and {w} %all, {above}
  %off = icmp ne {w} %high, zeroinitializer
  %any = bitcast {c} %off to i{lanes}
  %far = icmp ne i{lanes} %any, 0
  br i1 %far, label %again, label %done
again:
  %j = phi i64 [ 0, %check ], [ %j1, %again ]
  %again.at = getelementptr inbounds {t}, ptr %angles, i64 %j
  %y = load {t}, ptr %again.at
  %right = call {{ {t}, {t} }} @sincos.{f}({t} %y)
  %again.to = getelementptr inbounds {{ {t}, {t} }}, ptr %turned, i64 %j
  store {{ {t}, {t} }} %right, ptr %again.to
  %j1 = add i64 %j, 1
  %on = icmp slt i64 %j1, %count
  br i1 %on, label %again, label %done
done:
  ret void
}}"""


def rotations(reals: Iterable[Real]) -> str:
    """The definitions of sincos for the given types; empty if there are none."""
    listed = sorted(set(reals), key=lambda real: (real.bits, real.lanes))
    return "\n".join([reduce_far(), *map(sincos, listed)]) if listed else ""


def sincos_of_many(real: Real) -> str:
    """The definition of `sincos.many.<type>(angles, turned, count)`, for arrays of angles, count >= 1.

    It writes a pair of sine and cosine to `turned` for each angle.
    """
    parameters = "ptr noalias readonly %angles, ptr noalias %turned, i64 %count"
    numbers = ROTATION[real.precision]
    return SINCOS_OF_MANY.format(
        f=real.suffix,
        t=real.text,
        w=real.whole,
        c=real.truth,
        lanes=real.lanes,
        parameters=parameters,
        whole=real.integer(numbers.bits),
        above=real.integer(-2 * numbers.quarters),
    )
