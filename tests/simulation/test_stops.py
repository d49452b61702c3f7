"""Stops of joints whose file does not say how soft they are: stiff enough for what the joint carries, or a warning."""

from __future__ import annotations

import math
import warnings

import pytest

from kinemorph import Body, Parameter, RobotBuilder, System, library, simulate
from kinemorph.elements import Contact, HuntCrossley, JointLimits
from kinemorph.errors import LimitWarning, ModelError
from kinemorph.mechanics.elements.forces.carried_efforts import carried_efforts
from kinemorph.model.robot import Robot

REACH = 0.2 + 0.4 / math.sqrt(12.0)  # of a uniform rod of 0.4 m from its end: center of mass and radius of gyration


def leg(base: str, **knee: float) -> Robot:
    """A trunk of 20 kg with a thigh and a shank, rods of 1 kg and 0.4 m that hang below each other."""
    builder = RobotBuilder("leg").add(Body.box("trunk", 20.0, (0.3, 0.3, 0.3)))
    for name in ("thigh", "shank"):
        builder.add(Body.rod(name, 1.0, 0.4, (0.0, 0.0, -0.2), axis="z"))
    builder.joint("base", base, "world", "trunk")
    builder.joint("hip", "revolute", "trunk", "thigh", axis=(0, 1, 0), lower=-1.0, upper=1.0)
    builder.joint("knee", "revolute", "thigh", "shank", axis=(0, 1, 0), translation=(0, 0, -0.4), upper=0.0, **knee)
    return builder.build()


def test_a_joint_carries_what_is_beyond_it_and_a_robot_that_stands_carries_itself() -> None:
    hanging, standing = (carried_efforts(leg(base)) for base in ("fixed", "free"))
    assert hanging == pytest.approx((9.81 * (REACH + 0.4 + REACH), 9.81 * REACH))
    assert standing == pytest.approx((*[0.0] * 6, 22.0 * 9.81 * (0.4 + REACH), 22.0 * 9.81 * REACH))
    assert carried_efforts(leg("fixed", effort=300.0))[1] == 300.0, "the effort limit, where it is larger"
    sliding = carried_efforts(leg("prismatic"))
    assert sliding == pytest.approx((22.0 * 9.81, *standing[6:])), "a base that slides without limits can fall"


def arm(kind: str) -> Robot:
    """A weightless light part whose drive is strong."""
    builder = RobotBuilder("arm", (0.0, 0.0, 0.0)).add(Body.rod("rod", 0.3, 0.3, (0.15, 0.0, 0.0), axis="x"))
    builder.joint("j", kind, "world", "rod", axis=(0, 0, 1), upper=0.5, effort=10.0)
    return builder.build()


@pytest.mark.parametrize(("kind", "give"), [("revolute", 0.02), ("prismatic", 0.002)])
def test_a_stop_gives_way_by_a_stated_amount_under_the_effort_limit(kind: str, give: float) -> None:
    """The light hinge gave way by 0.11 rad, because its stop was made for its inertia alone."""
    system = System(arm(kind), (JointLimits("stops"),))
    inertia = {"revolute": 0.3 * 0.3**2 / 3.0, "prismatic": 0.3}[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error", LimitWarning)
        run = simulate(system, 1.0, q=[0.5], forces=lambda t, q, v: [10.0], output_step=0.1)
    assert run.q[-1, 0] - 0.5 == pytest.approx(max(give, 10.0 / (25.0 * inertia * 1e4)), rel=1e-6)


def test_the_stop_of_a_knee_holds_the_trunk_that_stands_on_it() -> None:
    """A trunk of 30 kg on a vertical slide, on a slanted shank whose foot slides: the knee folded by 0.6 rad."""
    builder = RobotBuilder("stander").add(Body.box("trunk", 30.0, (0.2, 0.2, 0.2)))
    builder.add(Body.rod("shank", 0.3, 0.3, (0.0, 0.0, -0.15), axis="z"))
    builder.joint("rise", "prismatic", "world", "trunk", axis=(0, 0, 1))
    builder.joint("knee", "revolute", "trunk", "shank", axis=(0, 1, 0), lower=-0.7, upper=2.0)
    builder.frame("foot", "shank", translation=(0, 0, -0.3))
    ground = Contact("ground", "foot", HuntCrossley(3e6, 1.0))
    system = System(builder.build(), (JointLimits("stops"), ground))
    start = [0.3 * math.cos(0.7), -0.7]
    run = simulate(system, 1.0, q=start, method="implicit_contact_2", step=1e-3, output_step=0.1)
    beyond = -0.7 - run["q.knee"][-1]
    torque = 30.0 * 9.81 * 0.3 * math.sin(0.7 + beyond)
    assert abs(run.v[-1]).max() < 1e-3
    assert 0.0 < beyond < 0.05 and beyond == pytest.approx(torque / (25.0 * 0.3 * 0.3**2 / 3.0 * 1e4), rel=0.1)


def test_joints_that_end_far_beyond_their_stops_are_named() -> None:
    soft = System(arm("revolute"), (JointLimits("stops", stiffness=50.0, damping=1.0),))
    with pytest.warns(LimitWarning) as found:
        simulate(soft, 2.0, q=[0.5], forces=lambda t, q, v: [10.0], output_step=0.1)
    assert str(found[0].message) == (
        "'j' of 'arm' ends the run at 0.7 rad, 0.2 rad beyond its limit: its stop gives way that far under what "
        "presses on it. Press it less, or give it a harder stop: elements.JointLimits with these joints and a larger "
        "stiffness (in an MJCF file, a shorter solreflimit)."
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", LimitWarning)  # a joint without a stop passes its limit as it likes
        simulate(System(arm("revolute")), 1.0, q=[0.4], v=[1.0], output_step=0.1)
    weak = System(leg("fixed"), (JointLimits("stops", stiffness=1e-3, damping=0.1),))
    with pytest.warns(LimitWarning) as found:
        simulate(weak, 0.01, q=[1.4, 0.2], output_step=0.01)
    assert str(found[0].message).endswith(
        "beyond its limit: it began beyond it, and loops, loads or too little time keep it from returning. Also beyond "
        "their limits: knee. Begin within the limits: give q, or a `start` of the model."
    )


@pytest.mark.parametrize("given", [{"give": Parameter("g", 0.02)}, {"time": Parameter("t", 0.01)}])
def test_the_numbers_by_which_a_stop_is_chosen_are_plain(given: dict[str, Parameter]) -> None:
    """A Parameter would choose the stiffness by its nominal value, and its derivative would be 0 in silence."""
    (name,) = given
    with pytest.raises(ModelError) as refused:
        simulate(System(library.puma(), [JointLimits("stops", **given)]), 0.01)
    assert f"element 'stops': {name} is " in str(refused.value)
    assert ", and no Parameter. Give a number" in str(refused.value)
