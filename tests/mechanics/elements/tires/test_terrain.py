"""Terrain from height maps: the law of interpolation, nearest points, and what a map costs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from kinemorph import elements, simulate, simulate_batch
from kinemorph.bench.terrain.quadruped import grounds, quadruped
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.contact.grounds import interpolated, slopes, spline_grid, surface
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.model.elements.contact.grounds import HeightMap
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import System
from kinemorph.plants import plant
from support.cases.contact_cases import COULOMB, EASYDYN, GRID, HERTZ, ball

RNG = np.random.default_rng(11)


def old_height(ground: HeightMap, x: float, y: float) -> float:
    """Cubic in y between rows of splines in x, with the slopes of splines along y: all splines level at their ends."""
    h = np.asarray(ground.heights)
    (nx, ny), (dx, dy), (x0, y0) = h.shape, ground.spacing, ground.corner
    tilts = CubicSpline(np.arange(ny), h, axis=1, bc_type="clamped")(np.arange(ny), 1)
    u, v = np.clip((x - x0) / dx, 0.0, nx - 1.0), np.clip((y - y0) / dy, 0.0, ny - 1.0)
    j = min(int(v), ny - 2)
    t = v - j
    rows = [
        CubicSpline(np.arange(nx), row, bc_type="clamped")(u)
        for row in (h[:, j], h[:, j + 1], tilts[:, j], tilts[:, j + 1])
    ]
    h0, h1, m0, m1 = rows
    return (1 - t) ** 2 * ((1 + 2 * t) * h0 + t * m0) + t**2 * ((3 - 2 * t) * h1 - (1 - t) * m1)


def old_meeting(ground: HeightMap, p: np.ndarray) -> tuple[float, np.ndarray]:
    """Height and normal after five steps of Newton's method, without looking whether they are needed."""
    height = interpolated(ground)
    below = height(p[0], p[1])
    x, y = p[0], p[1]
    block = type(spline_lookup(ground))(spline_lookup(ground).grid, 2)
    for _ in range(5):
        f, fx, fy, fxx, fxy, fyy = (float(z) for z in block.meaning(x, y))
        gap = f - p[2]
        r = np.array([x - p[0] + gap * fx, y - p[1] + gap * fy])
        J = np.array([[1 + fx * fx + gap * fxx, fx * fy + gap * fxy], [fx * fy + gap * fxy, 1 + fy * fy + gap * fyy]])
        x, y = p[:2] + np.clip([x, y] - p[:2] - np.linalg.solve(J, r), -abs(p[2] - below), abs(p[2] - below))
    f, fx, fy, *_ = (float(z) for z in block.meaning(x, y))
    n = np.array([-fx, -fy, 1.0]) / np.sqrt(1 + fx * fx + fy * fy)
    return float(n @ (p - [x, y, f])), n


def spline_lookup(ground: HeightMap) -> Any:
    from kinemorph.vocabulary.grid_surfaces import Bicubic

    return Bicubic(spline_grid(ground)[0])


def test_heights_are_those_of_the_splines() -> None:
    """The law of interpolation is that of rows of splines, inside the map and beyond its edges."""
    rough = HeightMap(RNG.uniform(0.0, 0.3, size=(7, 5)), (0.3, 0.8), (-0.2, 0.1))
    for ground in (GRID, rough, HeightMap(((0.0, 0.1), (0.3, 0.2))), HeightMap(((0.0, 0.1, 0.5), (0.3, 0.2, 0.1)))):
        height = interpolated(ground)
        for x, y in RNG.uniform(-2.5, 4.0, size=(60, 2)):
            assert height(float(x), float(y)) == pytest.approx(old_height(ground, x, y), abs=1e-14)
        step = 1e-6
        for x, y in RNG.uniform(-2.5, 4.0, size=(6, 2)).tolist():
            _, fx, fy = slopes(height, x, y)
            assert fx == pytest.approx((height(x + step, y) - height(x - step, y)) / (2 * step), abs=1e-8)
            assert fy == pytest.approx((height(x, y + step) - height(x, y - step)) / (2 * step), abs=1e-8)


def test_meetings_are_those_of_five_steps() -> None:
    """Steps that are left out change nothing but rounding."""
    for x, y in RNG.uniform(-1.5, 1.5, size=(40, 2)):
        p = np.array([x, y, interpolated(GRID)(float(x), float(y)) + RNG.uniform(-0.03, 0.05)])
        height, normal = surface(GRID)(tuple(map(float, p)), 1.0)
        before, upright = old_meeting(GRID, p)
        assert height == pytest.approx(before, abs=1e-14) and np.allclose(normal, upright, atol=1e-12)


def test_above_the_highest_ground_nothing_is_searched() -> None:
    """There the height is that over the ground right below, and a sphere that reaches down is still searched for."""
    ground = HeightMap(0.2 * RNG.uniform(size=(6, 6)), (0.2, 0.2))
    top = spline_grid(ground)[1]
    assert 0.0 <= top - np.asarray(ground.heights).max() < 0.1
    x, y = 0.47, 0.62
    below = interpolated(ground)(x, y)
    assert surface(ground)((x, y, top + 0.01)).height == pytest.approx(top + 0.01 - below, abs=1e-15)
    near = surface(ground)((x, y, top + 0.01), 0.05)
    assert near.height < top + 0.01 - below and np.linalg.norm(near.normal) == pytest.approx(1.0)
    for z in np.linspace(top, top + 0.2, 21).tolist():  # never nearer than the sphere's radius where it is not searched
        assert z - 0.05 <= top or surface(ground)((x, y, z), 0.05).height > 0.05


def test_a_contact_is_one_search_and_one_look_up() -> None:
    """A contact on a map searched a table in seven evaluations, each written out."""
    program = trace(
        lambda p: [*surface(GRID)(p, 0.1).normal, surface(GRID)(p, 0.1).height], {"p": (3,)}, name="meeting"
    )
    assert program.ops < 60 and sum(program.op_counts[block.label] for block in program.blocks) == 2


def test_heights_as_an_array() -> None:
    """An array as heights was an error when maps were compared, and a walk over all its numbers at every step."""
    given = RNG.uniform(size=(4, 3))
    one, same = HeightMap(given), HeightMap(tuple(map(tuple, given.tolist())))
    given[0, 0] = 7.0
    assert one == same and hash(one) == hash(same) and one != HeightMap(given)
    assert one.heights[2][1] == same.heights[2][1] and one.heights.shape == (4, 3)


@pytest.mark.parametrize(
    ("heights", "says"),
    {
        "words": ([["a", "b"], ["c", "d"]], "expected rows of numbers, or an array with two axes"),
        "one number": (3.0, r"heights is 3.0; expected rows of numbers, or an array with two axes"),
        "one row": ([1.0, 2.0], r"heights is \(1.0, 2.0\); expected rows of numbers, or an array with two axes"),
        "parameter": ([[1.0, Parameter("h", 2.0)], [3.0, 4.0]], r"heights is .*Parameter.*; expected rows of numbers"),
        "ragged": ([[1.0, 2.0], [3.0]], "rows of 1 and of 2 heights; expected a regular grid"),
        "hole": (np.array([[0.0, 1.0], [np.inf, 0.0]]), r"hole: heights\[1\]\[0\] is inf"),
    }.values(),
)
def test_heights_that_are_no_grid_are_refused(heights: Any, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        foot = elements.Contact("foot", "ball", HERTZ, ground=HeightMap(heights))
        ensemble(ball(), System(ball(), (foot,)).elements)


def test_a_large_map_is_built_as_a_small_one() -> None:
    """A map of a million heights was a million numbers in the text of the program."""
    lengths = []
    for n in (4, 1000):
        ground = HeightMap(np.full((n, n), 0.1), (0.5, 0.5), (-0.25 * n, -0.25 * n))
        foot = elements.Contact("skin", "ball", EASYDYN, COULOMB, ground, radius=0.1)
        assert ensemble(ball(), System(ball(), (foot,)).elements)
        meeting = build(trace(lambda p, ground=ground: surface(ground)(p, 0.1).height, {"p": (3,)}, name="height"))
        assert meeting(np.array([0.2, 0.1, 0.17])) == pytest.approx(0.07, abs=1e-15)
        lengths.append(len(meeting.source))
    assert abs(lengths[0] - lengths[1]) < 100


@pytest.mark.slow
@pytest.mark.parametrize("method", [None, "implicit_contact"])
def test_what_a_map_costs(method: str | None) -> None:
    """A quadruped took 78 times as long on a map as on a plane: now at most 4 times, and twice a smooth function."""
    plants, swings = {}, {"swing": np.linspace(0.1, 0.2, 32)}
    for name, ground in grounds().items():
        plants[name] = plant(quadruped(ground), parameters=("swing", "frequency"))
    works = {
        "single": lambda p: simulate(p, 1.0, method=method, output_step=0.1),
        "batch": lambda p: simulate_batch(p, 1.0, p=swings, method=method, output_step=0.1, threads=1),
    }
    for work in works.values():
        taken = dict.fromkeys(plants, np.inf)
        for _ in range(4):
            for name, p in plants.items():
                start = time.process_time()
                work(p)
                taken[name] = min(taken[name], time.process_time() - start)
        assert taken["map"] < 2.0 * taken["function"] and taken["map"] < 4.0 * taken["plane"], taken


def test_descending_axes_get_a_remedy() -> None:
    """A spacing below 0 was only "above 0 expected": heights from files often begin at the largest y."""
    with pytest.raises(ModelError, match=r"spacing\[1\] is -0.5; .*turn descending ones around, as heights\[::-1\]"):
        ensemble(ball(), (elements.Contact("foot", "ball", HERTZ, ground=HeightMap(np.zeros((3, 3)), (0.5, -0.5))),))
    with pytest.raises(ModelError, match=r"spacing is 0.5; expected 2 numbers\."):
        ground = HeightMap(np.zeros((3, 3)), 0.5)  # type: ignore[arg-type]
        ensemble(ball(), (elements.Contact("foot", "ball", HERTZ, ground=ground),))
