"""Ellipsoids, halves of them and joined solids, against sums over many points, and against solids that are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinemorph.algebra.groups import Pose, exp_so3
from kinemorph.display.looks.solids import Grain, facets
from kinemorph.errors import ModelError
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.parameter import Parameter, evaluate_all
from kinemorph.model.shapes import Box, Sphere


def measured(points: np.ndarray, mass: float) -> tuple[np.ndarray, np.ndarray]:
    """The center of mass (3,) and the inertia (3, 3) about it of equal points (n, 3)."""
    center = points.mean(axis=0)
    arms = points - center
    second = arms.T @ arms / len(points) * mass
    return center, np.trace(second) * np.eye(3) - second


def ball(count: int) -> np.ndarray:
    """Points of a grid in the unit ball, (n, 3)."""
    line = (np.arange(count) + 0.5) * 2.0 / count - 1.0
    grid = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)
    found: np.ndarray = grid[np.linalg.norm(grid, axis=1) < 1.0]
    return found


def test_solids_have_the_moments_of_their_points() -> None:
    """004-16: the center of mass of a half ellipsoid is 3/8 of its height above its flat face."""
    radii, center, points = np.array([0.3, 0.5, 0.8]), np.array([1.0, 2.0, 3.0]), ball(80)
    whole = Body.ellipsoid("b", 2.0, tuple(radii), tuple(center))
    com, inertia = measured(points * radii + center, 2.0)
    assert np.allclose(whole.com, com, atol=1e-12) and np.allclose(whole.inertia, inertia, rtol=2e-3, atol=1e-12)
    upper = (points * radii)[points[:, 2] > 0.0]
    for axis, order in (("z", [0, 1, 2]), ("x", [2, 1, 0]), ("y", [0, 2, 1])):
        half = Body.half_ellipsoid("b", 2.0, tuple(radii), tuple(center), axis=axis)
        com, inertia = measured(upper[:, order] + center, 2.0)
        assert np.allclose(half.com, com, atol=2e-3) and np.allclose(half.inertia, inertia, rtol=5e-3, atol=1e-12)
        away = np.array(half.com) - center
        assert away["xyz".index(axis)] == pytest.approx(0.375 * 0.8, abs=1e-15) and np.count_nonzero(away) == 1
        surface = facets(half.shapes[0], Grain()).reshape(-1, 3)
        low, high = upper[:, order].min(axis=0) + center, upper[:, order].max(axis=0) + center
        assert np.abs(surface.min(axis=0) - low).max() < 0.05 and np.abs(surface.max(axis=0) - high).max() < 0.05


def test_a_round_ellipsoid_is_a_sphere() -> None:
    ball, same = Body.sphere("b", 2.0, 0.3, (1, 2, 3)), Body.ellipsoid("b", 2.0, (0.3, 0.3, 0.3), (1, 2, 3))
    assert np.allclose(ball.inertia, same.inertia, atol=1e-16) and ball.com == same.com


def test_joined_halves_are_the_whole() -> None:
    """Two halves of an ellipsoid, and a box cut into three parts, one of them turned, joined again."""
    radii = (0.3, 0.5, 0.8)
    upper = Body.half_ellipsoid("up", 1.0, radii, (1, 2, 3))
    turned = Pose(exp_so3((np.pi, 0.0, 0.0)), (1.0, 2.0, 3.0))
    lower = Body.half_ellipsoid("low", 1.0, radii)
    both, whole = Body.joined("b", [upper, (lower, turned)]), Body.ellipsoid("b", 2.0, radii, (1, 2, 3))
    assert both.mass == 2.0 and len(both.shapes) == 2
    assert np.allclose(both.com, whole.com, atol=1e-15) and np.allclose(both.inertia, whole.inertia, atol=1e-15)
    slanted = Pose(exp_so3((0.4, -0.7, 1.1)), (0.2, 0.1, -0.3))
    R, p = np.array(slanted.R), np.array(slanted.p)
    brick = Body.box("a", 2.0, (0.3, 0.5, 0.8), (0.1, 0.2, 0.3))
    brick = replace(brick, collisions=(Sphere(0.1),))
    tilted = Body.joined("b", [(brick, slanted)])
    assert np.allclose(tilted.com, R @ brick.com + p, atol=1e-15)
    assert np.allclose(tilted.inertia, R @ np.array(brick.inertia) @ R.T, atol=1e-15)
    (shape,), (touching,) = tilted.shapes, tilted.collisions
    assert isinstance(shape, Box) and np.allclose(shape.placement.p, tilted.com) and np.allclose(shape.placement.R, R)
    assert isinstance(touching, Sphere) and np.allclose(touching.placement.p, p)
    edge = Parameter("edge", 0.4, "m")
    parts = [Body.box(f"p{k}", 1.0, (edge, 0.2, 0.1), (k * edge, 0, 0)) for k in range(3)]
    bar, same = Body.joined("bar", parts), Body.box("bar", 3.0, (1.2, 0.2, 0.1), (0.4, 0, 0))
    assert np.allclose(evaluate_all(bar.inertia), same.inertia, atol=1e-15)
    assert np.allclose(evaluate_all(bar.com), same.com, atol=1e-15)
    RobotBuilder("r").add(bar).root("bar", "free").build()


def test_wrong_solids_give_a_sentence() -> None:
    with pytest.raises(ModelError, match=r"radii is 0\.3, expected three numbers"):
        Body.ellipsoid("b", 1.0, 0.3)
    with pytest.raises(ModelError, match="expected a list of bodies"):
        Body.joined("b", [])
    with pytest.raises(ModelError, match="solids contains 3, expected a body"):
        Body.joined("b", [3])
    with pytest.raises(ModelError, match=r"radii is .*expected above 0"):
        RobotBuilder("r").add(Body.half_ellipsoid("b", 1.0, (0.1, -0.2, 0.3))).root("b", "free").build()
