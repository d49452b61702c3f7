"""The cockroach of the library: requirements 004-09, 004-11, 004-12, 004-16, and the numbers of 3.7."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import equilibrium, library, simulate
from kinemorph.algebra.groups import act
from kinemorph.analysis.small_motions.plant_derivatives import point_of
from kinemorph.elements import Contact
from kinemorph.errors import ModelError
from kinemorph.model.changes.reroot import body_motion
from kinemorph.model.library.animals.cockroach import LEGS
from kinemorph.model.library.animals.cockroach_data import MEASURED, TABLE, number
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.plants.robot_plant import plant

OPTIONS: list[dict[str, Any]] = [{"hip": "spherical"}, {"trunk": "box"}, {"trunk": "jointed"}, {"tarsus": True}]
OPTIONS += [{"passive": True}, {"hip": "spherical", "trunk": "jointed", "tarsus": True, "passive": True}]


def place(robot: Robot, frame: str, q: Any) -> np.ndarray:
    """The origin of a frame in the world [m]."""
    found = robot.frame(frame)
    T_WB, _ = body_motion(robot, found.body, q, np.zeros(robot.nv))
    return np.array(act(T_WB, evaluate_all(found.placement).p))


def test_the_animal_has_the_parts_of_the_paper() -> None:
    robot = library.cockroach().robot
    assert (len(robot.bodies), robot.nv) == (19, 36)
    assert [joint.kind for joint in robot.joints] == ["free", *["gimbal", "revolute", "revolute"] * 6]
    assert {joint.order for joint in robot.joints if joint.kind == "gimbal"} == {"zyx"}  # gamma-beta-alpha
    assert {joint.axis for joint in robot.joints if joint.kind == "revolute"} == {(0.0, 0.0, 1.0)}
    assert robot.total_mass == pytest.approx(2.6e-3)
    legs = sum(evaluate(body.mass) for body in robot.bodies if body.name != "body")
    assert legs / robot.total_mass == pytest.approx(0.14, abs=0.002)
    leg = library.cockroach_leg().robot
    assert (len(leg.bodies), leg.nv) == (4, 11)


def test_inertias_follow_the_recipes() -> None:
    """Half ellipsoids and rods for legs; a box has the inertia of 3.7, the ellipsoids of the trunk a smaller one."""
    robot = library.cockroach().robot
    coxa, tibia = robot.body("hind_left_coxa"), robot.body("hind_left_tibia")
    assert evaluate(coxa.com[0]) == pytest.approx(0.375 * 0.80e-2)
    across = evaluate(tibia.inertia[1][1]) / 1e-7
    assert across == pytest.approx(0.011 * (3 * 0.03**2 + 1.12**2) / 12.0)  # [g cm^2]
    # a coxa as slices across x, which are ellipses with the half axes b along y and c along z [cm]
    nodes, weights = np.polynomial.legendre.leggauss(12)
    x, half = 0.40 * (1.0 + nodes), 0.40 * weights
    share = 1.0 - (x / 0.80) ** 2
    slices = 0.044 * half * share / (half * share).sum()  # [g]
    b2, c2 = 0.17**2 * share / 4.0, 0.13**2 * share / 4.0
    along = (x - 0.30) ** 2
    expected = [(slices * (b2 + c2)).sum(), (slices * (along + c2)).sum(), (slices * (along + b2)).sum()]
    assert [evaluate(coxa.inertia[k][k]) / 1e-7 for k in range(3)] == pytest.approx(expected, rel=1e-10)
    box = library.cockroach(trunk="box").robot.body("body")
    assert [evaluate(box.inertia[k][k]) / 1e-7 for k in range(3)] == pytest.approx([0.50, 2.92, 3.26], abs=0.005)
    trunk = robot.body("body")
    assert np.abs([evaluate(x) for x in trunk.com]).max() < 1e-15 and evaluate(trunk.mass) == evaluate(box.mass)
    assert evaluate(trunk.inertia[2][2]) / 1e-7 == pytest.approx(2.2, abs=0.05)


def test_every_number_is_a_parameter_with_a_source() -> None:
    names = [row.name for row in (*TABLE, *MEASURED)]
    assert len(names) == len(set(names)) and all(row.source and row.unit for row in (*TABLE, *MEASURED))
    used = {parameter.name for parameter in library.cockroach().robot.parameters}
    assert {name for name in names if name.endswith(("coxa_length", "tibia_mass", "hip_x"))} <= used
    assert number("ground_stiffness") == pytest.approx(50.0) and number("coxa_radius_y") == pytest.approx(1.7e-3)
    penetration = 2.6e-3 * 9.81 / 6.0 / number("ground_stiffness")
    assert number("ground_depth") == pytest.approx(penetration, rel=1e-3)


@pytest.mark.parametrize("data", [{}, *OPTIONS])
def test_feet_stand_where_the_table_says(data: dict[str, Any]) -> None:
    """All feet are at the depth of standing, front ahead and hind behind, and the sides are mirror images."""
    system = library.cockroach(**data)
    for leg in LEGS:
        pair, side = leg.split("_")
        x, y, z = place(system.robot, f"{leg}_foot", system.settings.q)
        out = number(f"{pair}_foot_out") * (1.0 if side == "left" else -1.0)
        assert (x, y, z) == pytest.approx((number(f"{pair}_foot_x"), out, -number("ground_depth")), abs=1e-15)
        knee = place(system.robot, f"{leg}_femur", system.settings.q)[2]
        assert knee > 1e-3  # the lowest joint of the leg is clear of the ground
    fore, middle, aft = (
        place(system.robot, f"{pair}_left_foot", system.settings.q)[0] for pair in ("front", "middle", "hind")
    )
    assert fore > middle > aft


def test_angles_have_the_signs_that_are_told() -> None:
    robot = library.cockroach().robot
    q = np.zeros(robot.nq)
    q[3] = 1.0
    for side, outward in (("left", 1.0), ("right", -1.0)):
        leg = f"middle_{side}"
        hip = place(robot, f"{leg}_coxa", q)
        straight = place(robot, f"{leg}_foot", q) - hip
        assert straight == pytest.approx([0.0, outward * 2.28e-2, 0.0], abs=1e-15)
        for axis, where, sign in (("first", 2, 1.0), ("second", 0, -outward)):
            turned = q.copy()
            turned[robot.axis_places[f"{leg}_body_coxa.{axis}"].q] = 0.3
            assert np.sign(place(robot, f"{leg}_foot", turned)[where] - hip[where]) == sign
        for hinge in ("coxa_femur", "femur_tibia"):
            turned = q.copy()
            turned[robot.q_slice(f"{leg}_{hinge}")] = 0.3
            assert place(robot, f"{leg}_foot", turned)[2] > hip[2] + 1e-3


def test_the_ground_damps_as_the_table_says_at_the_depth_of_standing() -> None:
    """30 dyn s/cm, upward and along the ground."""
    contact: Any = library.cockroach_leg().element("front_left_ground")
    upward = evaluate(contact.normal.damping) * number("ground_depth") ** evaluate(contact.normal.damping_power)
    assert (upward, evaluate(contact.friction.damping)) == pytest.approx((0.03, 0.03), rel=1e-12)


@pytest.mark.parametrize("hip", ["gimbal", "spherical"])
def test_springs_and_controllers_of_a_leg_are_at_rest_in_its_stance(hip: Any) -> None:
    system = library.cockroach_leg("hind_right", hip, tarsus=True, passive=True)
    held = replace(system, elements=tuple(one for one in system.elements if not isinstance(one, Contact)))
    springs = plant(held)
    at = point_of(springs)
    assert np.abs(springs.compiled("efforts")(*at.inputs)[0]).max() < 1e-15
    bent = at.q.copy()
    bent[7:10] += 0.1
    efforts = np.asarray(springs.compiled("efforts")(*replace(at, q=bent).inputs)[0])
    assert np.abs(efforts[6:9]).max() > 0.05 * number("posture_stiffness")


@pytest.mark.slow
def test_it_stands_still(record_property: Any) -> None:
    system = library.cockroach()
    rest = equilibrium(system)
    assert rest.stable, rest.message
    run = simulate(system)
    record_property(
        "figure", ("cockroach", "a run of standing against its equilibrium", np.abs(run.q[-1] - rest.q).max())
    )
    assert np.abs(run.q[-1] - rest.q).max() < 1e-5
    carried = sum(run[f"{element.name}.force_z"][-1] for element in system.elements if isinstance(element, Contact))
    assert carried == pytest.approx(9.81 * system.robot.total_mass, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("data", OPTIONS)
def test_its_variants_stand(data: dict[str, Any]) -> None:
    system = library.cockroach(**data)
    rest = equilibrium(system)
    assert rest.stable, rest.message
    run = simulate(system)
    assert run.outcome.ok and np.abs(run.v[-1]).max() < 1e-2
    assert run.q[-1][:3] == pytest.approx(rest.q[:3], abs=1e-4)


def test_bad_arguments_are_told() -> None:
    with pytest.raises(ModelError, match="hip is 'ball', expected one of 'gimbal', 'spherical'"):
        library.cockroach("ball")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="trunk is 'soft', expected one of 'rigid', 'box', 'jointed'"):
        library.cockroach(trunk="soft")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="leg is 'front', expected one of front_left"):
        library.cockroach_leg("front")
    with pytest.raises(ModelError, match="stiffness is -1, expected a number above 0"):
        library.cockroach(stiffness=-1.0)
    with pytest.raises(ModelError, match="stiffness is 'stiff', expected a number above 0"):
        library.cockroach(stiffness="stiff")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"foot of leg 'front_left' at \(15, 12, -30\) mm is 25\.1 mm away.*height"):
        library.cockroach(height=0.03)
