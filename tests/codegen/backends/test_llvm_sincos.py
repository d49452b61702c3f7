"""sin and cos within 2 ulp, tan within 4, of the true value, for every finite argument."""

import math
import re

import mpmath
import numpy as np
import pytest

from kinemorph.codegen.backends.llvm.range_reduction import HALF_PI, two_over_pi
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.graph import Graph
from kinemorph.codegen.graphs.program import Port, Program

BORDER = 2**30 * math.pi / 2  # [rad] near arguments end here
LIMITS = {"sin": 2.0, "cos": 2.0, "tan": 4.0}  # ulp


def rotations(width: int) -> Program:
    """sin, cos and tan of `width` arguments."""
    graph = Graph()
    xs = [graph.input(f"x{k}") for k in range(width)]
    refs = tuple(getattr(x, name)().ref for name in LIMITS for x in xs)
    return Program("rotations", (Port("x", (width,)),), tuple(Port(n, (width,)) for n in LIMITS), graph, refs)


@pytest.fixture(scope="module")
def single():
    return build(rotations(1))


def log_uniform(rng, low, high, count):
    return 10.0 ** rng.uniform(low, high, count) * rng.choice([-1.0, 1.0], count)


def near_quarter_turns(rng, largest, count):
    """The doubles around whole multiples of pi/2."""
    with mpmath.workprec(1300):
        turns = [float(mpmath.mpf(int(k)) * mpmath.pi / 2) for k in rng.uniform(1, largest / 1.58, count)]
    middle = np.array(turns)
    return np.concatenate([middle, np.nextafter(middle, 0.0), np.nextafter(middle, np.inf)])


ARGUMENTS = {
    "small": lambda rng: log_uniform(rng, -12, 0, 300),
    "to 1e9": lambda rng: log_uniform(rng, 0, 9, 1500),
    "to 1e300": lambda rng: log_uniform(rng, 9, 300, 400),
    "near quarter turns": lambda rng: near_quarter_turns(rng, BORDER, 400),
    "near far quarter turns": lambda rng: near_quarter_turns(rng, 1e17, 150),
    "near eighth turns": lambda rng: (2 * rng.integers(0, 10**8, 400) + 1) * (math.pi / 4),
    "at the border": lambda rng: np.array(
        [s * (BORDER + k) for s in (-1.0, 1.0) for k in (-2, -1, -1e-6, 0, 1e-6, 1, 2)]
    ),
    # a huge double within 5e-19 of a multiple of pi/2, and the largest of all
    "hardest": lambda rng: np.array([6381956970095103.0 * 2.0**797, np.finfo(float).max]),
}


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_against_many_digits(single, kind):
    x = ARGUMENTS[kind](np.random.default_rng(7))
    results = single(x[:, None])
    with mpmath.workprec(1300):
        for k, argument in enumerate(x):
            s, c = mpmath.sin(mpmath.mpf(float(argument))), mpmath.cos(mpmath.mpf(float(argument)))
            for (name, limit), result, exact in zip(LIMITS.items(), results, (s, c, s / c), strict=True):
                error = abs(mpmath.mpf(float(result[k, 0])) - exact) / mpmath.mpf(math.ulp(float(exact)))
                assert error <= limit, f"{name}({argument!r}) is {float(error):.2f} ulp off"


@pytest.mark.parametrize("width", [2, 3, 5, 8, 11])
def test_lanes_do_not_change_a_bit(single, width):
    rng = np.random.default_rng(width)
    x = np.concatenate([log_uniform(rng, -3, 9, 40 * width), log_uniform(rng, 9, 300, 4 * width)])
    rng.shuffle(x)
    together = build(rotations(width))(x.reshape(-1, width))
    for result, alone in zip(together, single(x[:, None]), strict=True):
        np.testing.assert_array_equal(result.ravel(), alone.ravel())


@pytest.mark.parametrize("lost", [np.nan, np.inf, -np.inf])
def test_not_finite_gives_nan_in_its_own_lane_only(lost):
    x = np.arange(8.0)
    x[3] = lost
    outs = tuple(np.zeros(8) for _ in LIMITS)
    build(rotations(8)).raw(outs, x)
    for out in outs:
        assert np.isnan(out).tolist() == [k == 3 for k in range(8)]


def test_constants_against_many_digits():
    with mpmath.workprec(1400):
        bits = int(mpmath.floor(2 / mpmath.pi * mpmath.mpf(2) ** (19 * 64)))
        assert sum(word << (64 * (19 - k)) for k, word in enumerate(two_over_pi())) == bits
        rest = mpmath.pi / 2
        for part in HALF_PI:
            assert part == float(rest)
            rest -= part


def test_one_reduction_serves_sin_cos_and_tan():
    assert build(rotations(1)).source.count("call { double, double } @sincos.f64(") == 1


def test_angles_with_offsets_share_one_sincos():
    """Angles that are sums and products of inputs are made early; one that depends on a sine is not."""
    graph = Graph()
    xs = [graph.input(f"x{k}") for k in range(9)]
    angles = [x + 0.1 * k for k, x in enumerate(xs)]
    inner = [angle.sin() for angle in angles]
    outer = (inner[0] + xs[1]).cos()
    program = Program("offsets", (Port("x", (9,)),), (Port("y", (10,)),), graph, (*(s.ref for s in inner), outer.ref))
    function = build(program)
    many = re.findall(r"call void @sincos.many.*i64 (\d+)\)", function.source)
    assert many == ["9", "1"]
    x = np.random.default_rng(0).normal(size=(11, 9))
    np.testing.assert_allclose(function(x), build(program, "interpreter")(x), rtol=1e-14)
    np.testing.assert_allclose(function(x[3]), function(x)[3], rtol=1e-14)
