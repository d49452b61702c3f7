"""Contacts that are far from the ground are left out of the equations: the motion stays the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, simulate
from kinemorph.elements import Anchor, Contact, HeightFunction, HuntCrossley, Plane, Regularized
from kinemorph.mechanics.elements.contact.clearances import clearance, has_clearance
from kinemorph.mechanics.elements.contact.touching_points import touched_along
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.parameter import Parameter
from kinemorph.model.shapes import Box, Capsule, Cylinder, Ellipsoid, HalfEllipsoid, Mesh, Sphere
from kinemorph.plants.instant import Instant, LocalInstant
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.results.body_poses import frame_matrices

SOIL = HuntCrossley(1e5, 0.5)
VERTICES = tuple((0.1 * np.cos(k), 0.2 * np.sin(k), 0.01 * k) for k in range(20))
SOLIDS = (
    Box((0.2, 0.1, 0.3)),
    Sphere(0.2),
    Capsule(0.1, 0.4),
    Cylinder(0.1, 0.3),
    Ellipsoid((0.1, 0.2, 0.3)),
    HalfEllipsoid((0.1, 0.2, 0.3)),
    Mesh(VERTICES[:8], ((0, 1, 2),)),
    Mesh(VERTICES, ((0, 1, 2),)),
)


def tumbling(ground: Any = None, **more: Any) -> System:
    """A trunk with solids that falls, and a leg on a hinge below it."""
    builder = RobotBuilder("tumbler").add(Body.sphere("trunk", 2.0, 0.1), Body.sphere("leg", 1.0, 0.1, (0, 0, -0.2)))
    builder.root("trunk", "free").joint("hip", "revolute", "trunk", "leg", axis=(0, 1, 0))
    given = {"friction": Regularized(0.5, 0.01), "ground": ground or Plane((0, 0, -1.0), (0.1, 0.0, 1.0)), **more}
    bodies = ("trunk", "leg")
    found = [Contact(f"c{k}", bodies[k % 2], SOIL, shape=solid, **given) for k, solid in enumerate(SOLIDS)]
    return System(builder.build(), tuple(found))


def states(count: int) -> np.ndarray[Any, Any]:
    q = np.random.default_rng(3).normal(size=(count, 8))
    q[:, 2] = 0.3 * q[:, 2] - 0.6
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    return q


def test_a_clearance_is_never_more_than_the_height_of_a_touching_point() -> None:
    system = tumbling()
    made = plant(system)
    loaded = made.laws.near.args[0]  # type: ignore[union-attr]
    tight = []
    for q in states(20):
        world = loaded.seen(loaded.tree(()), Instant(0.0, q.tolist(), [0.0] * 7, [], [], [0.0] * 7, []))
        for index, element in enumerate(system.elements):
            pose = frame_matrices(system.robot, q[None], [element.body])[:, 0]
            lowest = min(float(course.heights[0]) for course in touched_along(element, pose))
            bound = float(clearance(element, world.views[index]))
            assert bound <= lowest + 1e-12
            tight.append(lowest - bound)
    assert min(tight) < 1e-9 and np.mean(tight) < 0.1  # a box around a box is the box


def test_above_the_ground_the_rate_is_that_without_contacts_and_near_it_the_whole_one() -> None:
    made = plant(tumbling(), account=True)
    laws = made.laws
    assert laws.near is not None and len(laws.lighter) == 2 and laws.lighter[0].near is None
    rng = np.random.default_rng(5)
    seen = set()
    for q in states(30):
        s = np.concatenate([np.zeros(7), rng.normal(size=7), np.zeros(made.nx)])
        at = LocalInstant(0.0, q.tolist(), s.tolist(), [], [0.0] * made.nu, [])
        whole = np.array(laws.rate(at))
        level = float(laws.near(at))
        for k, light in enumerate(laws.lighter):
            differs = bool(np.abs(whole - light.rate(at)).max() > 1e-9 * np.abs(whole).max())
            seen.add((level, k, differs))
    assert {(0.0, 0, False), (1.0, 0, True), (1.0, 1, False), (2.0, 1, True)} <= seen
    assert not {(0.0, 0, True), (0.0, 1, True), (1.0, 1, True)} & seen


@pytest.mark.parametrize("method", ["dop853", "rodas"])
def test_a_fall_onto_the_ground_is_the_same_as_with_all_contacts_at_all_times(method: str) -> None:
    """A parameter that runs may change keeps all contacts: their places might depend on it."""
    builder = RobotBuilder("stick").add(Body.sphere("stick", 2.0, 0.1)).root("stick", "free")
    soil = replace(SOIL, stiffness=Parameter("k", 1e5))
    given = {"friction": Regularized(0.5, 0.01), "ground": Plane((0, 0, -0.4)), "shape": Box((0.2, 0.2, 0.4))}
    system = System(builder.build(), tuple(Contact(f"c{k}", "stick", soil, **given) for k in range(4)))
    light, whole = plant(system), plant(system, parameters=["k"])
    assert light.near is not None and whole.near is None
    start = {"q": [0, 0, 0, 1, 0, 0, 0], "v": [0.2, 0, 0, 1.0, 2.0, 0.5]}
    options = {"method": method, "rtol": 1e-9, "atol": 1e-9, "output_step": 0.05}
    run, other = (simulate(one, 0.35, **start, **options) for one in (light, whole))
    assert run.v[-1, 2] > -1.0  # it falls for 0.2 s and has hit the ground then
    np.testing.assert_allclose(run.q, other.q, atol=1e-7)
    np.testing.assert_allclose(run.v, other.v, atol=1e-6)


def test_contacts_with_memory_or_terrain_or_parameters_or_few_points_always_act() -> None:
    (first, *_) = tumbling().elements
    assert has_clearance(first, law_of(first))
    anchored = replace(first, friction=Anchor(0.5, 0.4, 1e4, 1e2))
    hills = replace(first, ground=HeightFunction(lambda x, y: 0.1 * x))
    for other in (anchored, hills):
        assert not has_clearance(other, law_of(other))
    few = tumbling()
    assert plant(replace(few, elements=few.elements[:2])).near is None
