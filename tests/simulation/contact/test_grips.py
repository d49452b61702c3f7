"""Grips and drives at the default method: what is held stays, with and without a ground far away."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, derive, elements, load, load_text, neutral, simulate
from kinemorph.elements import Actuator, Contact, HuntCrossley, PairContact, Plane, Regularized
from kinemorph.errors import ChatterWarning, EnergyWarning
from support.tools.some_slow import first

FAR = Contact("floor", "ball", HuntCrossley(1e5, 1.0), ground=Plane(point=(0.0, 0.0, -100.0)), radius=0.03)


def pinched(*more: Any) -> System:
    """A ball between two sliding fingers that press with 10 N."""
    builder = RobotBuilder("pinch").add(Body.sphere("ball", 0.1, 0.03)).root("ball", "free")
    builder.add(Body.sphere("left", 0.05, 0.01), Body.sphere("right", 0.05, 0.01))
    builder.joint("l", "prismatic", "world", "left", translation=(0, -0.0399, 0), axis=(0, 1, 0))
    builder.joint("r", "prismatic", "world", "right", translation=(0, 0.0399, 0), axis=(0, -1, 0))
    grip: dict[str, Any] = {"radius_a": 0.01, "radius_b": 0.03, "friction": Regularized(1.0)}
    touch = [PairContact(name, name, "ball", HuntCrossley(5e4, 1.0), **grip) for name in ("left", "right")]
    press = [elements.AppliedEffort(f"press_{joint}", joint, 10.0) for joint in "lr"]
    return System(builder.build(), (*touch, *press, *more))


def test_a_ball_held_by_two_fingers_stays_with_and_without_a_far_floor() -> None:
    """A contact that is never touched used to switch to steps in which the grip let go: the ball fell by 12 m."""
    start = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    ends = [simulate(pinched(*more), 2.0, q=start)["q.ball_root.z"][-1] for more in ((), (FAR,))]
    assert ends[0] == pytest.approx(ends[1], abs=1e-12) and abs(ends[0]) < 1e-4
    exact = simulate(pinched(), 2.0, q=start, method="rodas", rtol=1e-7)["q.ball_root.z"][-1]
    assert ends[0] == pytest.approx(exact, abs=2e-5)


@pytest.mark.parametrize("step", [5e-3, 1e-2])
def test_a_method_that_drops_a_grip_says_so(step: float) -> None:
    """Linearly implicit Euler let the ball fall by 21 m without a word; contact steps of the same size hold it."""
    start = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    with pytest.warns(ChatterWarning, match=r"contacts of 'pinch' \('left', 'right'\).*method='implicit_contact'"):
        dropped = simulate(pinched(), 2.0, q=start, method="linearly_implicit_euler", step=step)
    assert dropped["q.ball_root.z"][-1] < -0.1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnergyWarning)
        warnings.simplefilter("error", ChatterWarning)
        held = simulate(pinched(), 1.0, q=start, method="implicit_contact", step=step)
    assert abs(held["q.ball_root.z"][-1]) < 1e-4


def test_a_ball_that_rests_says_nothing_with_linearly_implicit_steps() -> None:
    robot = RobotBuilder("rest").add(Body.sphere("ball", 0.1, 0.03)).root("ball", "free").build()
    floor = Contact("floor", "ball", HuntCrossley(1e4, 1.0), radius=0.03)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        depth = (0.1 * 9.81 / 1e4) ** (1.0 / 1.5)
        start = [0.0, 0.0, 0.03 - depth, 1.0, 0.0, 0.0, 0.0]
        simulate(System(robot, (floor,)), 0.5, q=start, method="linearly_implicit_euler", step=1e-3)


@pytest.mark.slow
def test_a_panda_holds_a_ball_for_ten_seconds() -> None:
    robots = pytest.importorskip("kinemorph.bench.peers.robots")
    arm = load(robots.robot_file("panda_description/urdf/panda.urdf")).robot
    ball = RobotBuilder("ball").add(Body.sphere("ball", 0.1, 0.03)).root("ball", "free").build()
    both = replace(
        arm, name="panda", bodies=(*arm.bodies, *ball.bodies), joints=(*arm.joints, *ball.joints), couplings=()
    )
    posture = dict(zip(arm.q_names, (0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.785, 0.03, 0.03), strict=True))
    q = np.array([posture.get(name, value) for name, value in zip(both.q_names, neutral(both), strict=True)])
    left, right = (np.array(derive(both).pose(q, f"panda_{side}finger")) for side in ("left", "right"))
    tip = (0.0, 0.0, 0.045)
    place = both.q_slice("ball_root").start
    q[place : place + 3] = 0.5 * (left + right)[:3] @ [*tip, 1.0]
    held = tuple(name for name in arm.v_names if "finger" not in name)
    grip: dict[str, Any] = {"point_a": tip, "radius_a": 1e-4, "radius_b": 0.03, "friction": Regularized(1.0)}
    system = System(
        both,
        (
            elements.GravityCompensation("weight", held),
            elements.PD("hold", held, kp=400.0, kd=40.0, reference=tuple(posture[name] for name in held)),
            *(elements.AppliedEffort(f"press{k}", f"panda_finger_joint{k}", -20.0) for k in (1, 2)),
            *(PairContact(s, f"panda_{s}finger", "ball", HuntCrossley(5e4, 1.0), **grip) for s in ("left", "right")),
        ),
    )
    run = simulate(system, 10.0, q=q)
    z = run["q.ball_root.z"]
    assert run.outcome.ok and abs(z[-1] - z[100]) < 1e-4 and abs(z[-1] - z[0]) < 2e-3  # the arm sags by 1.2 mm


# ── drives of files ───────────────────────────────────────────────────────────────────────────────────────────────────

LIMITED = """<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody>
<body><joint name="j" axis="0 1 0" actuatorfrcrange="-1 1" damping=".1"/>
<geom type="capsule" fromto="0 0 0 0 0 -1" size=".02" mass="1"/>
<body pos="0 0 -1"><joint name="k" axis="1 0 0" actuatorfrcrange="-3 3"/>
<geom type="capsule" fromto="0 0 0 0 .3 -.5" size=".02" mass=".5"/></body></body></worldbody>
<actuator><position name="lift" joint="j" kp="100"/><motor name="turn" joint="k" gear="2"/>
<velocity name="slow" joint="k" kv="1.5"/></actuator></mujoco>"""


def test_the_force_limits_of_joints_bound_the_sum_of_their_actuators() -> None:
    """`actuatorfrcrange` was read and never acted; the first accelerations are those of MuJoCo."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(LIMITED)
    data = mujoco.MjData(model)
    system = load_text(LIMITED, "mjcf")
    rng = np.random.default_rng(1)
    for _ in range(8):
        data.qpos, data.qvel, data.ctrl = rng.normal(size=2), rng.normal(size=2), 3.0 * rng.normal(size=3)
        mujoco.mj_forward(model, data)
        inputs = {name: float(value) for name, value in zip(("lift", "turn", "slow"), data.ctrl, strict=True)}
        run = simulate(system, 0.01, q=data.qpos, v=data.qvel, inputs=inputs, output_step=0.01)
        assert run.a[0] == pytest.approx(data.qacc, rel=1e-9, abs=1e-9)


def test_a_servo_far_too_stiff_for_explicit_steps_turns_a_light_wheel_on_the_ground() -> None:
    """kv T / I = 2e5 at steps of 1 ms: the run used to end with a state that is not finite."""
    builder = RobotBuilder("cart").add(Body.sphere("ball", 5.0, 0.1)).root("ball", "free")
    builder.add(Body.sphere("wheel", 0.001, 0.005)).joint("axle", "revolute", "ball", "wheel", axis=(0, 0, 1))
    servo = Actuator("servo", "axle", control="velocity", gain=2.0)
    system = System(builder.build(), (servo, Contact("foot", "ball", HuntCrossley(1e5, 1.0), radius=0.1)))
    run = simulate(system, 0.5, q=[0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0, 0.0], inputs=[3.0])
    assert run.outcome.ok and run["v.axle"][-1] == pytest.approx(3.0, abs=1e-6)


def dropped(stiffness: float) -> System:
    """A ball that falls on another one, which rests on the ground; contacts give nothing back."""
    builder = RobotBuilder("drop").add(Body.sphere("top", 0.1, 0.03), Body.sphere("low", 0.2, 0.03))
    robot = builder.root("top", "free").joint("low_root", "free", "world", "low").build()
    law = HuntCrossley(stiffness, 300.0)
    touch = (
        PairContact("pair", "top", "low", law, radius_a=0.03, radius_b=0.03),
        *(Contact(f"ground_{name}", name, law, radius=0.03) for name in ("top", "low")),
    )
    return System(robot, touch)


ABOVE = [0.01, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.03, 1.0, 0.0, 0.0, 0.0]
STEPS = (5e-4, 1e-3, 2e-3, 5e-3, 1e-2)  # [s]
METHODS = tuple(f"{name}_contact{passes}" for name in ("implicit", "centered") for passes in ("", "_2", "_3"))


def growth(method: str, stiffness: float, step: float) -> tuple[float, bool]:
    """The growth of kinetic, potential and stored energy, as a share of the drop, and whether a warning named it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run = simulate(dropped(stiffness), 0.5, q=ABOVE, method=method, step=step, output_step=step)
    energy = run["energy.kinetic"] + run["energy.potential"]
    assert run.outcome.ok
    return float((energy - np.minimum.accumulate(energy)).max() / np.ptp(energy)), any(
        issubclass(one.category, EnergyWarning) for one in said
    )


def check_growth(method: str, stiffness: float, step: float) -> None:
    """Implicit and extrapolated steps never make energy; centered ones may (docs/contact.md), and are told."""
    grown, told = growth(method, stiffness, step)
    assert grown < 0.005 or told if method.startswith("centered") else grown < 1e-12, (method, stiffness, step, grown)


@pytest.mark.parametrize("method", first(["extrapolated_contact", "implicit_contact", "implicit_contact_2"], 1))
def test_contact_that_gives_nothing_back_never_makes_energy(method: str) -> None:
    """One pass at 5 ms made 2 % of a drop, and at 10 ms more than a drop: bodies met that were about to part."""
    for stiffness, step in ((1e5, 1e-3), (1e6, 1e-3), (1e6, 5e-3), (1e7, 1e-3), (1e7, 1e-2)):
        check_growth(method, stiffness, step)


def test_corners_that_approach_the_ground_are_not_pulled() -> None:
    """One pass pulled two corners of a box down with 900 N, and made 31 % of its energy in that step."""
    builder = RobotBuilder("box").add(Body.box("box", 1.0, (0.2, 0.3, 0.4))).root("box", "free")
    corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.2, 0.2)]
    touch = [Contact(f"c{k}", "box", HuntCrossley(1e6, 300.0), point=corner) for k, corner in enumerate(corners)]
    start = {"q": [0.0, 0.0, 0.5, *np.random.default_rng(1).normal(size=4)], "step": 5e-4, "output_step": 5e-4}
    speeds = np.random.default_rng(1).normal(size=10)[4:] * [1.0, 1.0, 1.0, 3.0, 3.0, 3.0]
    for method, spun in (("implicit_contact", 5e-3), ("extrapolated_contact", 1e-5)):  # errors of a body that spins
        run = simulate(System(builder.build(), tuple(touch)), 0.4, v=speeds, method=method, **start)
        energy = run["energy.kinetic"] + run["energy.potential"]
        assert (energy - np.minimum.accumulate(energy)).max() < spun * np.ptp(energy), method


@pytest.mark.parametrize("push", [0.0, 3.0])
def test_the_default_steps_make_no_energy_beyond_the_work_of_a_drive(push: float) -> None:
    """A force pushes a cart, on which a ball slides down and hits hard ground at steps of 10 ms."""
    builder = RobotBuilder("cart").add(Body.sphere("cart", 1.0, 0.05), Body.sphere("ball", 0.1, 0.03))
    builder.joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0))
    builder.joint("fall", "prismatic", "cart", "ball", translation=(0, 0, 0.2), axis=(0, 0, 1))
    ground = Contact("ground", "ball", HuntCrossley(1e8, 300.0), Regularized(0.3), radius=0.03)
    system = System(builder.build(), (ground, elements.AppliedEffort("push", "rail", push)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnergyWarning)  # steps of 10 ms are not accurate here, and say so
        run = simulate(system, 0.6, step=1e-2, output_step=1e-2)
    energy = run["energy.kinetic"] + run["energy.potential"] - run["energy.supplied"]
    assert run.outcome.ok and (energy - np.minimum.accumulate(energy)).max() < 1e-12 * np.ptp(energy)
    assert np.ptp(run["energy.supplied"]) > 0.1 if push else not run["energy.supplied"].any()


def test_smooth_motion_on_the_ground_keeps_its_order() -> None:
    """A box rocks on four elastic feet while an arm swings on it: the error falls by four as the step is halved."""
    builder = RobotBuilder("rocker").add(Body.box("base", 2.0, (0.3, 0.2, 0.1))).root("base", "free")
    builder.add(Body("arm", 0.5, (0.1, 0.02, 0.15), ((0.01, 0, 0), (0, 0.012, 0), (0, 0, 0.008))))
    builder.joint("hinge", "revolute", "base", "arm", translation=(0.0, 0.0, 0.05), axis=(0.0, 0.8, 0.6))
    corners = [(x, y, -0.05) for x in (0.14, -0.14) for y in (0.09, -0.09)]
    law, rub = HuntCrossley(2e4, 0.1, exponent=1.0), Regularized(0.5, 0.05)
    feet = [Contact(f"foot{k}", "base", law, rub, point=corner) for k, corner in enumerate(corners)]
    system = System(builder.build(), tuple(feet))
    start = {"q": [0.0, 0.0, 0.05 - 2.5 * 9.81 / 8e4, 1.0, 0.0, 0.0, 0.0, 0.8], "v": [0.0] * 6 + [1.0]}
    exact = simulate(system, 0.4, method="dop853", rtol=1e-11, atol=1e-12, **start).q[-1]
    off = [abs(simulate(system, 0.4, step=h, **start).q[-1] - exact).max() for h in (1e-3, 5e-4, 2.5e-4)]
    assert off[0] > 2.5 * off[1] > 2.5**2 * off[2], off


@pytest.mark.slow
@pytest.mark.parametrize("method", [*METHODS, "extrapolated_contact"])
def test_no_method_for_contact_makes_energy_silently(method: str) -> None:
    for stiffness in (1e4, 1e5, 1e6, 1e7, 1e8):
        for step in STEPS:
            check_growth(method, stiffness, step)


def test_contacts_that_make_energy_are_named() -> None:
    """Centered steps sink in by half a step: at 5 ms a hard contact stores more than the body had."""
    with pytest.warns(EnergyWarning, match="energy") as said:
        simulate(dropped(1e6), 0.1551, q=ABOVE, method="centered_contact", step=5e-3, output_step=5e-3)
    assert any("'pair'" in str(one.message) or "'ground" in str(one.message) for one in said)
