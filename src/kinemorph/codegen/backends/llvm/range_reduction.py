"""Range reduction of huge angles: the remainder of x after whole quarter turns, for any x.

The method is that of Payne and Hanek: bits of 2/pi that only add whole turns for this x are left out.
"""

from __future__ import annotations

from functools import cache

from kinemorph.codegen.backends.llvm.math import number

HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)  # their sum is pi/2 to 160 bits

# x = m 2^e with a whole m < 2^53. Bits of 2/pi of weight 2^(2-e) and more only add whole turns, so the 192 bits after
# them times m, modulo 2^192, hold the quadrant (2 bits) and the fraction of a quarter turn (190 bits). The fraction,
# taken to the nearest quadrant, is scaled to 106 significant bits and multiplied by pi/2 in double-double.
REDUCE_FAR = """
declare i64 @llvm.fshl.i64(i64, i64, i64)
declare i128 @llvm.ctlz.i128(i128, i1)
declare double @llvm.fma.f64(double, double, double)
define internal {{ double, i64 }} @reduce_far(double %x) noinline nounwind {{
  %bits = bitcast double %x to i64
  %sized = and i64 %bits, 9223372036854775807
  %exponent = lshr i64 %sized, 52
  %finite = icmp ult i64 %exponent, 2047
  br i1 %finite, label %reduce, label %lost
lost:
  %nan = fsub double %x, %x
  %n0 = insertvalue {{ double, i64 }} undef, double %nan, 0
  %n1 = insertvalue {{ double, i64 }} %n0, i64 0, 1
  ret {{ double, i64 }} %n1
reduce:
  %tail = and i64 %bits, 4503599627370495
  %m = or i64 %tail, 4503599627370496
  %place = sub i64 %exponent, 1013
  %word = lshr i64 %place, 6
  %shift = and i64 %place, 63
{words}
  %m128 = zext i64 %m to i128
  %b128 = zext i64 %b to i128
  %c128 = zext i64 %c to i128
  %mc = mul i128 %m128, %c128
  %mb = mul i128 %m128, %b128
  %ma = mul i64 %m, %a
  %mc_low = trunc i128 %mc to i64
  %mc_high = lshr i128 %mc, 64
  %middle = add i128 %mb, %mc_high
  %ma128 = zext i64 %ma to i128
  %ma_up = shl i128 %ma128, 64
  %top = add i128 %middle, %ma_up
  %whole128 = lshr i128 %top, 126
  %whole = trunc i128 %whole128 to i64
  %top_up = shl i128 %top, 2
  %low2 = lshr i64 %mc_low, 62
  %low128 = zext i64 %low2 to i128
  %fraction = or i128 %top_up, %low128
  %over = icmp slt i128 %fraction, 0
  %one_more = zext i1 %over to i64
  %quadrant = add i64 %whole, %one_more
  %minus = sub i128 0, %fraction
  %size = select i1 %over, i128 %minus, i128 %fraction
  %zeros = call i128 @llvm.ctlz.i128(i128 %size, i1 true)
  %scaled = shl i128 %size, %zeros
  %high128 = lshr i128 %scaled, 75
  %high64 = trunc i128 %high128 to i64
  %low_up = shl i128 %scaled, 53
  %rest128 = lshr i128 %low_up, 75
  %rest64 = trunc i128 %rest128 to i64
  %h = uitofp i64 %high64 to double
  %l = uitofp i64 %rest64 to double
  %zeros64 = trunc i128 %zeros to i64
  %biased = sub i64 970, %zeros64
  %unit_bits = shl i64 %biased, 52
  %unit = bitcast i64 %unit_bits to double
  %p = fmul double %h, {half_pi}
  %p_minus = fneg double %p
  %e0 = call double @llvm.fma.f64(double %h, double {half_pi}, double %p_minus)
  %e1 = call double @llvm.fma.f64(double %h, double {half_pi_low}, double %e0)
  %l1 = fmul double %l, {tiny}
  %e2 = call double @llvm.fma.f64(double %l1, double {half_pi}, double %e1)
  %sum = fadd double %p, %e2
  %r = fmul double %sum, %unit
  %r_minus = fneg double %r
  %negative = icmp slt i64 %bits, 0
  %flip = xor i1 %negative, %over
  %r_signed = select i1 %flip, double %r_minus, double %r
  %q_minus = sub i64 0, %quadrant
  %q = select i1 %negative, i64 %q_minus, i64 %quadrant
  %r0 = insertvalue {{ double, i64 }} undef, double %r_signed, 0
  %r1 = insertvalue {{ double, i64 }} %r0, i64 %q, 1
  ret {{ double, i64 }} %r1
}}
"""


@cache
def reduce_far() -> str:
    """The definition of `{r, quadrant} @reduce_far(x)`: x = quadrant pi/2 + r, for any |x| >= 1.

    r is NaN if x is not finite.
    """
    words = two_over_pi()
    listed = ", ".join(f"i64 {word}" for word in words)
    table = f"@two_over_pi = internal constant [{len(words)} x i64] [{listed}]\n"
    loads = []
    for k in range(4):
        loads.append(f"  %i{k} = add i64 %word, {k}")
        loads.append(f"  %p{k} = getelementptr inbounds i64, ptr @two_over_pi, i64 %i{k}")
        loads.append(f"  %w{k} = load i64, ptr %p{k}")
    for k, name in enumerate("abc"):
        loads.append(f"  %{name} = call i64 @llvm.fshl.i64(i64 %w{k}, i64 %w{k + 1}, i64 %shift)")
    half_pi, half_pi_low = map(number, HALF_PI[:2])
    tiny = number(2.0**-53)
    code = REDUCE_FAR.format(words="\n".join(loads), half_pi=half_pi, half_pi_low=half_pi_low, tiny=tiny)
    return table + code


def two_over_pi(words: int = 20) -> list[int]:
    """The fractional bits of 2/pi as 64-bit words, after one word of zeros, by Machin's formula on integers."""
    guard = 64
    one = 1 << (64 * (words - 1) + guard)

    def arctan_of_inverse(n: int) -> int:
        term = one // n
        total, k = term, 1
        while term:
            term //= n * n
            k += 2
            total += -(term // k) if k % 4 == 3 else term // k
        return total

    pi = 16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239)
    bits = (2 * one * one // pi) >> guard
    return [(bits >> (64 * (words - 1 - k))) & (2**64 - 1) for k in range(words)]
