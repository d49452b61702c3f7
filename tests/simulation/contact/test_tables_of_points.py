"""Touching points as rows of tables: steps and energies are those of points that are computed one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, elements, neutral
from kinemorph.codegen.graphs.program import Program
from kinemorph.disk_cache import switched_off
from kinemorph.mechanics.elements.contact import touching_points
from kinemorph.model.library import four_bar
from kinemorph.model.shapes import Box, Cylinder, Ellipsoid, Frustum, HalfEllipsoid, Mesh
from kinemorph.plants import plant
from support.tools.program_runs import interpreted
from support.tools.some_slow import first

HUNT, SOFT = elements.HuntCrossley(2e4, 0.4), elements.ImpedanceNormal(4e3, 90.0, width=0.01)
RUBBING = elements.Regularized(0.7, 0.01)
HILLS = elements.HeightFunction(lambda x, y: 0.05 * x * x - 0.02 * y)


def ball(count: int) -> Mesh:
    """Vertices on a sphere and on a flat face below it, where many of them touch at once."""
    points = np.random.default_rng(2).normal(size=(count, 3))
    points *= 0.1 / np.linalg.norm(points, axis=1)[:, None]
    points[:, 2] = np.maximum(points[:, 2], -0.06)
    return Mesh(tuple((x, y, z) for x, y, z in points.tolist()), ())


def fallen(solid: Any, normal: Any = HUNT, friction: Any = RUBBING, ground: Any = elements.Plane()) -> System:  # noqa: B008
    """A free body with a solid, and a second one with the same solid, which hangs on it."""
    builder = RobotBuilder("solids").add(Body.box("base", 1.0, (0.2, 0.1, 0.1)), Body.sphere("tip", 0.3, 0.05))
    builder.joint("free", "free", "world", "base")
    builder.joint("hinge", "revolute", "base", "tip", axis=(0, 1, 0))
    contact = elements.Contact("first", "base", normal, friction, ground, shape=solid)
    softer = replace(contact, name="second", body="tip", normal=replace(normal, stiffness=1e3))
    return System(builder.build(), (contact, softer))


def chained() -> System:
    """A closed chain with a box at its coupler."""
    foot = elements.Contact("foot", "coupler", HUNT, RUBBING, shape=Box((0.3, 0.3, 0.3)))
    return System(four_bar(), (foot,))


def programs(system: System) -> list[Program]:
    with switched_off():
        made = plant(system, account=True)
        return [made.implicit_step(2), made.energy, made.compiled("stored").program]


def values(program: Program, system: System, count: int = 5) -> list[np.ndarray]:
    """All outputs at states in which parts of the solids are in the ground."""
    rng, nv = np.random.default_rng(3), system.robot.nv
    base = np.tile(neutral(system.robot), (count, 1))
    if base.shape[1] > 7:  # the free body is in the ground
        base[:, 2] = -0.02
    given = {
        "base": base,
        "s": np.column_stack([np.zeros((count, nv)), 0.3 * rng.normal(size=(count, nv)), np.zeros((count, 2))]),
        "h": np.full(count, 1e-3),
        "guess": rng.normal(size=(count, nv)),
    }
    zeros = {port.name: np.zeros((count, *port.shape)) for port in program.inputs}
    return interpreted(program, [given.get(name, zero) for name, zero in zeros.items()])


SYSTEMS = {
    "mesh": fallen(ball(30), SOFT),
    "cylinder": fallen(Cylinder(0.1, 0.2)),
    "chain": chained(),
    "box": fallen(Box((0.2, 0.1, 0.1))),
    "frustum": fallen(Frustum(0.1, 0.05, 0.2), friction=None),
    "ellipsoid": fallen(Ellipsoid((0.1, 0.05, 0.08)), SOFT),
    "half": fallen(HalfEllipsoid((0.1, 0.05, 0.08))),
    "hills": fallen(Cylinder(0.1, 0.2), HUNT, RUBBING, HILLS),
}


@pytest.mark.parametrize("name", first(list(SYSTEMS), 3))
def test_points_in_tables_are_those_one_by_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system = SYSTEMS[name]
    together = programs(system)
    monkeypatch.setattr(touching_points, "LEAST_ROWS", 1000)
    apart = programs(system)
    assert not any(program.sums_rows for program in apart)
    assert all(program.sums_rows for program in together) == (name not in ("ellipsoid", "half"))
    for one, other in zip(together, apart, strict=True):
        for found, expected in zip(values(one, system), values(other, system), strict=True):
            assert np.allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
        assert np.abs(expected).max() > 0.0  # forces, or energies


@pytest.mark.slow
def test_the_length_of_a_step_does_not_grow_with_the_points() -> None:
    few, many = (programs(fallen(ball(count), SOFT))[0] for count in (40, 400))
    assert few.ops == many.ops
