"""Functions of a squared angle that stay smooth through zero.

The exponential and logarithm of rotations need sin(t)/t, (1 - cos t)/t^2 and similar functions. As functions of x = t^2
they are analytic everywhere, but their closed forms are 0/0 at zero and lose digits near it, in the derivatives even
more than in the values. Below x = 1 a power series is used, above it the closed form; `where` chooses, and each form is
evaluated at x = 1 where it is not chosen. With this many terms the value and the first and second derivative are
accurate to rounding on both sides, over any scalar.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinemorph.algebra.scalar import S, atan2, div, less, sincos, sqrt, where

TERMS = 10  # at x = 1 the first term left out is 1/23! = 4e-23
SMALL_TANGENT = 0.01  # below this tan^2 of the half angle the arctangent is a series


class Coefficients(NamedTuple):
    """Four functions of x = t^2, where t is an angle [rad]. At t = 0 they are 1, 1/2, 1/6 and 1/24."""

    a: S  # sin t / t
    b: S  # (1 - cos t) / t^2
    c: S  # (t - sin t) / t^3
    d: S  # (t^2 / 2 - 1 + cos t) / t^4


def polynomial(x: S, coefficients: tuple[float, ...]) -> S:
    """The sum of coefficients[k] x^k, by Horner's rule."""
    result: S = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + coefficient
    return result


SERIES_C = tuple((-1.0) ** k / math.factorial(2 * k + 3) for k in range(TERMS))
SERIES_D = tuple((-1.0) ** k / math.factorial(2 * k + 4) for k in range(TERMS))
SERIES_ATAN = tuple((-1.0) ** k / (2 * k + 1) for k in range(TERMS))


def rotation_coefficients(x: S) -> Coefficients:
    """The `Coefficients` a, b, c, d at the squared angle x = t^2 [rad^2] >= 0. The cosine is cos t = 1 - x b."""
    small = less(x, 1.0)
    near = where(small, x, 1.0)
    far = where(small, 1.0, x)
    # near zero: c and d come from their series, a = 1 - x c and b = 1/2 - x d follow without cancellation
    near_c, near_d = polynomial(near, SERIES_C), polynomial(near, SERIES_D)
    # elsewhere: the closed forms
    t = sqrt(far)
    sine, cosine = sincos(t)
    far_a, far_b = div(sine, t), div(1.0 - cosine, far)
    return Coefficients(
        a=where(small, 1.0 - near * near_c, far_a),
        b=where(small, 0.5 - near * near_d, far_b),
        c=where(small, near_c, div(1.0 - far_a, far)),
        d=where(small, near_d, div(0.5 - far_b, far)),
    )


def cotangent_coefficient(x: S) -> S:
    """(1 - (t/2) cot(t/2)) / t^2 at the squared angle x = t^2 [rad^2], 0 <= t < 2 pi; 1/12 at zero."""
    _, b, c, d = rotation_coefficients(x)
    return div(c - 2.0 * d, 2.0 * b)


def angle_ratio(sine_squared: S, cosine: S) -> S:
    """The rotation angle [rad] of a quaternion, divided by the length s of its vector part: 2 atan2(s, c) / s.

    s = sqrt(sine_squared) and c = cosine >= 0 are sine and cosine of half the angle, up to one common positive factor.
    At s = 0 the value is 2 / c.
    """
    small = less(sine_squared, SMALL_TANGENT * cosine * cosine)
    near_cosine = where(small, cosine, 1.0)
    tangent_squared = div(where(small, sine_squared, 0.0), near_cosine * near_cosine)
    near = div(2.0 * polynomial(tangent_squared, SERIES_ATAN), near_cosine)
    far_sine = sqrt(where(small, 1.0, sine_squared))
    return where(small, near, div(2.0 * atan2(far_sine, cosine), far_sine))
