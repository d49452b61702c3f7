"""`least_effort`: two legs by hand, below every equilibrium, conditions of optimality, and SciPy beside Clarabel."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from kinemorph import Body, RobotBuilder, System, equilibrium, library, optimize
from kinemorph.analysis.legs.force_program import ForceProgram, solved_by_scipy
from kinemorph.analysis.legs.limbs import limbs
from kinemorph.elements import PD, Anchor, Contact, EasyDynNormal, Integral, TorsionSpring
from kinemorph.errors import KinemorphError
from kinemorph.legs import least_effort, standing_curve
from kinemorph.model.parameter import Parameter
from kinemorph.orbits import static_gait
from support.references.cone_forces import solved_by_clarabel

BY_SCIPY = "kinemorph.analysis.legs.least_effort.solved_by_scipy"
TRUNK, LEG, LENGTH, G = 3.0, 0.4, 0.5, 9.81  # [kg], [kg], [m], [m/s^2]


def biped(
    spread: float, mu: float = 0.8, kp: float = 30.0, radius: float = 0.0, kinetic: float | None = None
) -> System:
    """A trunk in the vertical plane on two straight legs, which a controller holds at the angle `spread` outward.

    Feet are points, or spheres of this `radius` [m] at the ends of the legs.
    """
    builder = RobotBuilder("biped").add(Body.box("trunk", TRUNK, (0.4, 0.2, 0.1))).body("rail")
    builder.joint("z", "prismatic", "world", "rail", axis=(0, 0, 1)).body("slide")
    builder.joint("x", "prismatic", "rail", "slide", axis=(1, 0, 0))
    builder.joint("pitch", "revolute", "slide", "trunk", axis=(0, 1, 0))
    elements: list[Any] = []
    for name, side in (("left", 1.0), ("right", -1.0)):
        builder.add(Body.rod(name, LEG, LENGTH, (0.0, 0.0, -0.5 * LENGTH), axis="z", radius=0.01))
        builder.joint(f"{name}_hip", "revolute", "trunk", name, translation=(0.2 * side, 0, 0), axis=(0, -side, 0))
        grip, tip = Anchor(mu, mu if kinetic is None else kinetic, 3e4, 20.0), (0.0, 0.0, radius - LENGTH)
        ground = Contact(f"{name}_ground", name, EasyDynNormal(2e4, 1e3), grip, point=tip, radius=radius)
        elements.append(ground)
    posture = PD("posture", ("left_hip", "right_hip"), Parameter("kp", kp), 1.0, Parameter("spread", spread))
    elements += [posture, Integral("effort", ("posture.left_hip", "posture.right_hip"), of="square")]
    start = {"z": (LENGTH - radius) * math.cos(spread) + radius - 5e-4, "left_hip": spread, "right_hip": spread}
    robot = builder.build()
    system = System(robot, tuple(elements))
    return replace(system, settings=replace(system.settings, q=tuple(start.get(name, 0.0) for name in robot.q_names)))


def by_hand(spread: float, mu: float) -> float:
    """Both feet carry half of the weight F and push inward by H <= mu F; H = F tan(spread) needs the least torque."""
    F = (0.5 * TRUNK + LEG) * G
    own = 0.5 * LEG * G * LENGTH * math.sin(spread)  # the torque of a leg's own weight about its hip
    H = min(mu * F, F * math.tan(spread) - own / (LENGTH * math.cos(spread)))
    torque = LENGTH * (F * math.sin(spread) - H * math.cos(spread)) - own
    return 2.0 * torque**2


# ── two legs ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("spread", "mu"), [(0.3, 0.8), (0.5, 0.2), (0.6, 0.0), (0.2, 0.1)])
@pytest.mark.parametrize("solve", [solved_by_scipy, solved_by_clarabel])
def test_two_legs_by_hand(spread, mu, solve, monkeypatch):
    monkeypatch.setattr(BY_SCIPY, solve)
    found = least_effort(biped(spread), friction=mu)
    shown = [" ".join(line.split()) for line in str(found).splitlines()]
    assert shown[0] == "Least effort of biped"
    assert (
        "contact x [N] y [N] z [N] inside its friction cone by [N]" in shown and "coordinate torque [N m, N]" in shown
    )
    assert found.effort == pytest.approx(by_hand(spread, mu), rel=1e-6, abs=1e-9)
    assert found.bound <= found.effort and found.bound == pytest.approx(found.effort, rel=1e-6, abs=1e-9)
    total = sum(found.forces.values())
    assert total[[0, 2]] == pytest.approx([0.0, (TRUNK + 2.0 * LEG) * G], abs=1e-9)
    assert abs(total[1]) < 1e-4  # no force along y matters to this robot; on a cone it is known to a root of 1e-11
    assert min(found.margins.values()) >= -1e-9
    assert sum(torque**2 for torque in found.torques.values()) == pytest.approx(found.effort, rel=1e-9, abs=1e-15)


def test_the_friction_of_an_anchor_is_static() -> None:
    assert least_effort(biped(0.5, mu=0.2, kinetic=0.1)).effort == pytest.approx(by_hand(0.5, 0.2), rel=1e-6)


def test_springs_in_joints_take_part_of_the_load() -> None:
    """Springs that pull the legs together, at rest at 0, bear k spread of the torque of each hip."""
    spread, k = 0.5, 4.0
    system = biped(spread)
    springs = tuple(TorsionSpring(f"{name}_spring", f"{name}_hip", k) for name in ("left", "right"))
    held = replace(system, elements=(*system.elements, *springs))
    torque = math.sqrt(0.5 * by_hand(spread, 0.0)) - k * spread
    found = least_effort(held, friction=0.0)
    assert found.effort == pytest.approx(2.0 * torque**2, rel=1e-9) and 1.0 < torque < 6.0
    assert list(found.torques.values()) == pytest.approx([-torque, -torque])  # inward, as a positive angle is outward


def test_spheres_touch_the_ground_below_their_centers() -> None:
    """The force F with H = mu F acts at a point below the end of the leg, whose sphere has the radius r."""
    spread, mu, r = 0.5, 0.2, 0.06
    F, arm = (0.5 * TRUNK + LEG) * G, LENGTH - r
    own = 0.5 * LEG * G * LENGTH * math.sin(spread)
    torque = F * (arm * math.sin(spread) - mu * (arm * math.cos(spread) + r)) - own
    assert least_effort(biped(spread, radius=r), friction=mu).effort == pytest.approx(2.0 * torque**2, rel=1e-6)


def test_weights_count_squared_torques() -> None:
    """With weights of 1 and 4 and without friction, torques stay those of the load, and the effort is weighted."""
    plain = least_effort(biped(0.5), friction=0.0)
    found = least_effort(biped(0.5), friction=0.0, weights={"left_hip": 4.0})
    assert found.torques == pytest.approx(plain.torques)
    assert found.effort == pytest.approx(2.5 * plain.effort)


def test_legs_begin_at_the_body_that_carries_them() -> None:
    """Rails between world and trunk are no part of a leg."""
    system = biped(0.3)
    assert [leg.joints for leg in limbs(system.robot, system.elements)] == [("left_hip",), ("right_hip",)]


def test_feet_that_slip_at_the_largest_gain_slip_below_it() -> None:
    """Two legs at a wide angle: the stiffer they are, the less they push outward."""
    curve = standing_curve(biped(0.6, mu=0.05), [200.0, 100.0])
    assert not curve.message and curve.grips.min() > 0.05 and curve.slip_gain == 200.0


def test_no_equilibrium_of_a_controller_costs_less():
    """The forces and torques of an equilibrium are one choice of those whose best `least_effort` finds."""
    for kp, holds in ((100.0, False), (5e3, True)):
        system = biped(0.4, mu=0.3, kp=kp)
        found = equilibrium(system)
        assert found and ("would not stay there" not in found.message) is holds
        torque = kp * (0.4 - found.q[[3, 4]])
        held = float(torque @ torque)
        assert least_effort(system, found.q).effort > 0.5
        assert (least_effort(system, found.q).effort <= held * (1.0 + 1e-9)) is holds  # beyond friction it is cheaper
        assert least_effort(system, found.q, friction=2.0).effort <= held


@pytest.mark.slow
def test_the_best_controller_reaches_the_bound():
    """References of a controller that are chosen freely give the forces of least effort on feet that stand."""
    system = biped(0.4, mu=0.25)
    over = {"kp": (20.0, 500.0, "log"), "spread": (0.0, 1.2)}
    best = optimize(system, over, "effort", {"0.25 * left_ground.force_z + left_ground.force_x": (0.0, math.inf)})
    assert best, best.message
    least = least_effort(system, best.result.q)
    assert least.effort <= best.cost * (1.0 + 1e-9)
    assert best.cost == pytest.approx(least.effort, rel=1e-4)


@pytest.mark.slow
def test_a_monopod_with_loops_needs_the_torque_of_its_static_gait():
    """One foot and one motor leave no choice: `static_gait` solves the same balance by least squares."""
    system = library.bolt_like()
    gait = static_gait(system, {"crank_joint": [0.0, 0.5, 1.0]})
    for q, torque in zip(gait.q, gait.torques["crank_joint"], strict=True):
        found = least_effort(system, q, feet="stance", friction=0.6, joints=["crank_joint"])
        assert found.torques["crank_joint"] == pytest.approx(torque, rel=1e-9)
        assert found.forces["stance"][[0, 1]] == pytest.approx([0.0, 0.0], abs=1e-6)


# ── the convex program ────────────────────────────────────────────────────────────────────────────────────────────────


def random_program(seed: int, feet: int = 3, torques: int = 9) -> ForceProgram:
    """Feet on slopes around a weight, with random joints; the weight is above the feet, so that forces balance it."""
    rng = np.random.default_rng(seed)
    places = np.stack([np.cos(k) * np.array([1.0, 0, 0]) + np.sin(k) * np.array([0, 1.0, 0]) for k in range(0, 6, 2)])
    C = np.zeros((6, 3 * feet))
    for k, (x, y, z) in enumerate(places[:feet] + 0.2 * rng.normal(size=(feet, 3))):
        C[:3, 3 * k : 3 * k + 3] = np.eye(3)
        C[3:, 3 * k : 3 * k + 3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    normals = np.array([0.0, 0.0, 1.0]) + 0.2 * rng.normal(size=(feet, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    first = np.cross(normals, [1.0, 0.0, 0.0])
    first /= np.linalg.norm(first, axis=1)[:, None]
    along = np.stack([first, np.cross(normals, first)], axis=1)
    A, b = rng.normal(size=(torques, 3 * feet)), rng.normal(size=torques)
    return ForceProgram(A, b, C, np.array([0.0, 0, 5.0, 0, 0, 0]), normals, along, rng.uniform(0.4, 1.0, feet))


@pytest.mark.parametrize(
    ("sides", "count"), [(None, 6), (4, 6), *(pytest.param(sides, 60, marks=pytest.mark.slow) for sides in (None, 4))]
)
def test_scipy_and_clarabel_find_the_same_and_satisfy_all_conditions(sides, count):
    """In a convex program x is best exactly if the cost rises toward every other x that is allowed (KKT)."""
    solved = 0
    for seed in range(count):
        program = random_program(seed, torques=9 if seed % 3 else 2)  # with two torques the forces are not unique
        (x, bound, why), (y, _, other) = solved_by_scipy(program, sides), solved_by_clarabel(program, sides)
        assert bool(why) == bool(other)
        if why:
            continue
        solved += 1
        assert program.effort(x) == pytest.approx(program.effort(y), rel=1e-8, abs=1e-9)  # Clarabel's tolerance
        if seed % 3:
            assert x == pytest.approx(y, abs=1e-4)  # the root of Clarabel's tolerance of the cost
        assert bound <= program.effort(y) * (1.0 + 1e-10) + 1e-12
        assert program.C @ x == pytest.approx(program.c, abs=1e-11)
        if sides is None:
            assert program.outside(x).max() < 1e-9
        slope = 2.0 * program.A.T @ (program.A @ x - program.b)
        rng = np.random.default_rng(seed)
        for _ in range(6):
            another = replace(program, b=3.0 * rng.normal(size=len(program.b)))
            allowed = solved_by_scipy(another, sides).x
            assert slope @ (allowed - x) >= -1e-8 * np.linalg.norm(slope) - 1e-11
    assert solved >= count // 3


def test_a_general_optimizer_finds_nothing_better():
    program = next(one for one in map(random_program, range(20)) if not solved_by_scipy(one, None).why)
    bound = solved_by_scipy(program, None).bound

    def inside(f: Any) -> Any:
        forces = program.forces(f)
        up = np.einsum("ka,ka->k", program.normals, forces)
        side = np.einsum("kja,ka->kj", program.along, forces)
        return np.concatenate([(program.mu * up) ** 2 - np.sum(side**2, axis=1), up])

    rows = [{"type": "eq", "fun": lambda f: program.C @ f - program.c}, {"type": "ineq", "fun": inside}]
    begin = solved_by_scipy(replace(program, b=-program.b), None).x
    other = minimize(program.effort, begin, constraints=rows, method="SLSQP", options={"maxiter": 500})
    assert other.fun == pytest.approx(bound, rel=1e-5)
    assert other.fun >= bound * (1.0 - 1e-6)


# ── what users see ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_posture_that_nothing_holds_is_false_and_says_why():
    one_leg = least_effort(biped(0.3), feet="left_ground")
    assert not one_leg and "no forces of these feet balance the robot" in one_leg.message
    system = biped(0.3)
    leaning = [system.settings.q[0], 0.0, 0.0, 0.3, -0.3]
    passive = least_effort(system, leaning, joints=["left_hip"], friction=0.1)
    assert not passive and "Nothing holds 'biped'" in passive.message


BAD = {
    "no foot touches": ({"q": {"z": 2.0}}, "no foot of 'biped' touches the ground.*Lower the robot"),
    "friction": ({"friction": -0.1}, "friction is -0.1; expected a number, 0 or more"),
    "cone": ({"cone": "box"}, "cone is 'box'; expected one of"),
    "joint": ({"joints": ["left_hop"]}, "no joint or velocity 'left_hop'.*Did you mean 'left_hip'"),
    "no joint": ({"joints": []}, "no joint of 'biped' is driven"),
    "friction as a text": ({"friction": "rough"}, "friction is 'rough'; expected a number, 0 or more"),
    "infinite weight": ({"weights": {"left_hip": math.inf}}, "weight of 'left_hip' is inf; expected a number above 0"),
    "weight of no joint": ({"weights": {"hip": 1.0}}, "weights has 'hip', which is not a driven velocity"),
    "weight": ({"weights": {"left_hip": 0.0}}, "expected a number above 0"),
    "foot": ({"feet": "left_grund"}, "Did you mean 'left_ground'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_in_a_sentence(case):
    given, sentence = BAD[case]
    with pytest.raises(KinemorphError, match=sentence):
        least_effort(biped(0.3), **given)


@pytest.mark.slow
def test_cockroach_stands_above_the_bound_in_many_postures(monkeypatch):
    """004-15: forces of Clarabel and of SciPy agree, and no stiffness of the posture costs less."""
    rng, standing = np.random.default_rng(1), 0
    for stiffness in (1e-4, 3e-4, 1e-3, 1e-2):
        system = library.cockroach(stiffness=stiffness)
        found = equilibrium(system)
        if not found or "would not stay there" in found.message:  # friction does not hold it
            continue
        standing += 1
        pd = next(one for one in system.elements if one.name == "posture")
        places = [system.robot.q_names.index(name) for name in pd.joints]
        torque = stiffness * (np.array(pd.reference) - found.q[places])
        least = least_effort(system, found.q)
        assert 0.0 < least.effort <= float(torque @ torque) * (1.0 + 1e-9)
        for _ in range(5):
            q = np.array(found.q)
            q[places] += 0.05 * rng.normal(size=len(places))
            feet = [f"{leg}_ground" for leg in ("front_left", "middle_left", "hind_left", "front_right", "hind_right")]
            one = least_effort(system, q, feet)
            with monkeypatch.context() as patched:
                patched.setattr(BY_SCIPY, solved_by_clarabel)
                other = least_effort(system, q, feet)
            assert one.effort == pytest.approx(other.effort, rel=1e-8)
    assert standing >= 2
