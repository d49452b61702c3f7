"""The library: every robot builds in one line, can be drawn, and has the data its source states."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import act
from kinemorph.errors import ModelError
from kinemorph.model import library
from kinemorph.model.changes.reroot import body_motion
from kinemorph.model.conventions.statement import CONVENTIONS
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.system import as_robot
from support.tools.each_case import each_case

# name: (nq, nv, bodies, loops)
SIZES = {
    "pendulum": (1, 1, 1, 0),
    "double_pendulum": (2, 2, 2, 0),
    "crane": (2, 2, 2, 0),
    "cartpole": (2, 2, 2, 0),
    "chain": (10, 10, 10, 0),
    "scara": (4, 4, 5, 0),
    "puma": (6, 6, 6, 0),
    "hand": (20, 20, 21, 0),
    "hexapod24": (25, 24, 19, 0),
    "hexapod36": (37, 36, 31, 0),
    "humanoid": (31, 30, 25, 0),
    "amru5": (24, 24, 66, 0),  # 49 bodies with mass
    "four_bar": (3, 3, 3, 1),
    "slider_crank": (3, 3, 3, 1),
    "five_bar": (4, 4, 4, 1),
    "pantograph_leg": (6, 6, 6, 2),
    "klann": (5, 5, 5, 2),
    "jansen": (7, 7, 7, 3),
    "n_four_bar": (5, 5, 5, 2),
    "bricard": (5, 5, 5, 1),
    "spatial_slider_crank": (4, 4, 3, 1),
    "andrews_squeezer": (7, 7, 7, 3),
    "flyball_governor": (4, 4, 4, 0),
    "jansen_walker": (40, 40, 38, 18),
    "rimless_wheel": (3, 3, 3, 0),
    "simplest_walker": (4, 4, 4, 0),
    "compass_walker": (4, 4, 4, 0),
    "kneed_walker": (6, 6, 6, 0),
    "slip_runner": (2, 2, 2, 0),
    "raibert_hopper": (5, 5, 5, 0),
    "rabbit": (7, 7, 7, 0),
    "bolt_like": (7, 7, 7, 2),
    "raptor_like": (9, 9, 9, 3),
    "rigid_ball": (7, 6, 1, 0),
    "cradle": (3, 3, 3, 0),
    "sliding_block": (2, 2, 2, 0),
    "standing_block": (3, 3, 3, 0),
    "falling_rod": (3, 3, 3, 0),
    "stacked_blocks": (9, 9, 9, 0),
    "rocking_block": (3, 3, 3, 0),
    "whipple_bicycle": (10, 9, 4, 0),
    "planar_bike": (7, 7, 5, 0),
    "rover": (16, 15, 11, 0),
    "segway": (9, 8, 3, 0),
    "organism9": (16, 15, 18, 0),
    "crawler": (16, 15, 18, 0),
    "amru5_walk": (24, 24, 66, 0),
    "amru5_leg": (3, 3, 10, 0),
    "cockroach": (37, 36, 19, 0),
    "cockroach_leg": (12, 11, 4, 0),
    "running_cockroach": (37, 36, 19, 0),
    "fly": (49, 48, 43, 0),
}


def place(robot: Robot, frame: str, q: object) -> Array:
    """The origin of a frame in the world."""
    found = robot.frame(frame)
    T_WB, _ = body_motion(robot, found.body, q, np.zeros(robot.nv))
    return np.array(act(T_WB, evaluate_all(found.placement).p))


def potential(robot: Robot, q: Array) -> float:
    """Potential energy of gravity [J]."""
    still = np.zeros(robot.nv)
    heights = [act(body_motion(robot, b.name, q, still)[0], evaluate_all(b.com))[2] for b in robot.bodies]
    return 9.81 * sum(evaluate(b.mass) * height for b, height in zip(robot.bodies, heights, strict=True))


def test_the_list_is_complete() -> None:
    assert set(library.LIBRARY) | set(library.SYSTEMS) == set(SIZES)
    with pytest.raises(ModelError, match=r"'wheel'.*pendulum"):
        library.build("wheel")


@each_case("name", SIZES)
def test_robots_have_their_size_and_can_be_drawn(name: str) -> None:
    model = getattr(library, name)()
    robot = as_robot(model)
    assert (robot.nq, robot.nv, len(robot.bodies), len(robot.loops)) == SIZES[name]
    assert robot.name in name or robot.name.startswith(name)
    assert all(body.shapes for body in robot.bodies if evaluate(body.mass))
    assert model == getattr(library, name)() and hash(model) == hash(getattr(library, name)())


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "crane", "chain", "four_bar", "slider_crank"])
def test_textbook_robots_are_written_with_parameters(name: str) -> None:
    robot = library.build(name)
    assert robot.parameters and all(parameter.symbol and parameter.unit for parameter in robot.parameters)


def test_pendulums_hang_down_and_swing_toward_x() -> None:
    robot = library.double_pendulum()
    assert np.allclose(place(robot, "tip", [0.0, 0.0]), (0.0, 0.0, -2.3))
    x, y, z = place(robot, "tip", [0.3, 0.4])
    assert (x, y, z) == pytest.approx(
        (1.2 * np.sin(0.3) + 1.1 * np.sin(0.7), 0.0, -1.2 * np.cos(0.3) - 1.1 * np.cos(0.7))
    )
    assert np.allclose(place(library.crane(), "hook", [0.5, 0.2]), (0.5 + np.sin(0.2), 0.0, -np.cos(0.2)))
    assert np.allclose(place(library.chain(3), "tip", [np.pi / 2, 0.0, 0.0]), (0.3, 0.0, 0.0))


def test_double_pendulum_rods_and_points() -> None:
    rod, point = (
        library.double_pendulum().body("link1"),
        library.double_pendulum((1, 1), (1, 1), point=True).body("link1"),
    )
    assert evaluate(rod.inertia[1][1]) == pytest.approx(1.1 * 1.2**2 / 12.0) and evaluate(rod.com[2]) == -0.6
    assert evaluate(point.inertia[1][1]) == 0.0 and evaluate(point.com[2]) == -1.0


def test_puma_carries_the_published_gravity_load() -> None:
    robot, h = library.puma(), 1e-5
    q = np.array([0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0])
    load = [(potential(robot, q + h * e) - potential(robot, q - h * e)) / (2 * h) for e in np.eye(6)]
    assert np.allclose(load, [0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0], atol=6e-5)


def test_hexapod_hips_stand_on_a_circle() -> None:
    for robot in (library.hexapod24(), library.hexapod36()):
        hips = [joint for joint in robot.joints if joint.parent == "trunk"]
        angles = np.degrees([np.arctan2(hip.placement.p[1], hip.placement.p[0]) for hip in hips]) % 360
        assert np.allclose(angles, [30, 90, 150, 210, 270, 330])
        assert all(hip.placement.p[0] == 0.0 for hip in (hips[1], hips[4]))  # a zero that codegen can see


def test_the_hand_branches_into_five_fingers_that_close() -> None:
    robot, free = library.hand(), library.hand(free=True)
    assert free.nv == 26 and [joint.kind for joint in robot.joints].count("revolute") == 20
    assert sum(joint.parent == "palm" for joint in robot.joints) == 5
    assert robot.total_mass == pytest.approx(0.735)
    flat = np.zeros(20)
    tips = {name: place(robot, f"{name}_tip", flat) for name in ("thumb", "index", "middle", "ring", "little")}
    assert max(tips, key=lambda name: tips[name][2]) == "middle" and tips["middle"][2] == pytest.approx(0.2)
    across = [tips[name][1] for name in tips]
    assert across == sorted(across, reverse=True)  # from the thumb at +y to the little finger
    bent = flat.copy()
    for name in ("mcp", "pip", "dip"):
        bent[robot.q_slice(f"index_{name}")] = 1.2
    x, _, z = place(robot, "index_tip", bent)
    assert x > 0.02 and z < tips["index"][2] - 0.05  # toward the palm and down
    grip = flat.copy()
    for joint in robot.joints:
        if joint.nv and not joint.name.endswith("spread"):
            grip[robot.q_slice(joint.name)] = 0.6
    assert place(robot, "thumb_tip", grip)[0] > 0.02 > tips["index"][0]  # the thumb comes before the palm


def test_humanoid_is_symmetric_and_stands_on_its_feet() -> None:
    robot = library.humanoid()
    q = np.zeros(robot.nq)
    q[3] = 1.0
    left, right = (place(robot, f"{side}_sole", q) for side in ("left", "right"))
    assert np.allclose(left * (1, -1, 1), right) and left[2] == pytest.approx(-0.99)
    for joint in robot.joints[1:]:
        if joint.name.startswith("left_"):
            other = robot.joint(joint.name.replace("left_", "right_"))
            mirrored = joint.axis != (0.0, 1.0, 0.0)
            assert other.lower == ((-joint.upper[0],) if mirrored else joint.lower)
    # both arms and legs lift sideways alike
    for body, frame in (("shoulder_roll", "hand"), ("hip_roll", "sole")):
        spread = q.copy()
        spread[robot.q_slice(f"left_{body}_joint")], spread[robot.q_slice(f"right_{body}_joint")] = 0.3, -0.3
        assert np.allclose(place(robot, f"left_{frame}", spread) * (1, -1, 1), place(robot, f"right_{frame}", spread))


def test_four_bar_closes_at_the_stated_configuration() -> None:
    robot, q = library.four_bar(), (0.6, 0.02989836, 1.6066907)
    (loop,) = robot.loops
    still = np.zeros(3)
    ends = [
        act(body_motion(robot, body, q, still)[0], evaluate_all(placement).p)
        for body, placement in ((loop.parent, loop.placement), (loop.child, loop.child_placement))
    ]
    assert np.allclose(*ends, atol=1e-8)


def test_the_conventions_say_what_matters() -> None:
    for word in ("wxyz", "[linear; angular]", "[force; moment]", "-9.81", "T_ab", "declared order"):
        assert word in CONVENTIONS
