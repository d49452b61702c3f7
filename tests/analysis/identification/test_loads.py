"""Payloads and drive gains of an arm with known parameters, from motions and forces with noise and without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.loads.drive_gains import drive_gains
from kinemorph.analysis.identification.loads.payload import identify_payload
from kinemorph.analysis.identification.rates import Measured
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.with_parameters import with_parameters
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelError, ShapeError
from kinemorph.mechanics.recursions.regressors import OF_BODY
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from support.robots.random_robots import random_body, random_pose

FRICTION = {"viscous": 0.4, "coulomb": 0.7, "offset": 0.1}
GAINS = np.array([8.0, 10.0, 12.0, 6.0])
AXES = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
LOAD = Body("box", 1.8, (0.05, -0.02, 0.12), ((0.012, 0.001, 0.0), (0.001, 0.014, 0.002), (0.0, 0.002, 0.009)))


def arm(load: Body | None = None) -> Robot:
    """An arm of four hinges, the first about the vertical axis, with a flange; the load is welded to the flange."""
    rng = np.random.default_rng(4)
    builder, parent = RobotBuilder("arm"), "world"
    for k, axis in enumerate(AXES):
        builder.add(random_body(rng, f"link{k}"))
        builder.joint(f"j{k}", "revolute", parent, f"link{k}", axis=axis, translation=(0.3 * (k > 0), 0.0, 0.1))
        parent = f"link{k}"
    flange = random_pose(rng, reach=0.1)
    builder.frame("flange", parent, placement=flange)
    if load is not None:
        builder.add(load).joint("weld", "fixed", parent, load.name, placement=flange)
    return builder.build()


def recording(robot: Robot, seed: int, *, noise: float = 0.0, count: int = 400, period: float = 10.0) -> Recording:
    """A motion of the robot with sums of sines, and its forces with friction and noise [N m]."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 2.0 * period, count)
    w = 2.0 * np.pi * np.arange(1, 6) / period
    a, b = rng.normal(size=(2, 5, robot.nv)) * 0.4
    angle = np.outer(t, w)
    q = np.sin(angle) @ a + np.cos(angle) @ b
    v = (w * np.cos(angle)) @ a - (w * np.sin(angle)) @ b
    acc = -(w * w * np.sin(angle)) @ a - (w * w * np.cos(angle)) @ b
    values = {f"{name}.{part}": x for name in robot.v_names for part, x in FRICTION.items()}
    dynamics = derive(robot, backend="interpreter")
    theta = dynamics.regressor_parameters.copy()
    for name, x in values.items():
        theta[dynamics.regressor_columns.index(name)] = x
    tau = np.einsum("nij,j->ni", dynamics.regressor(q, v, acc), theta) + noise * rng.normal(size=q.shape)
    return Recording(f"motion {seed}", t, q, v, acc, tau)


def known_friction(robot: Robot) -> dict[str, float]:
    return {f"{name}.{part}": x for name in robot.v_names for part, x in FRICTION.items()}


def ten(body: Body) -> Array:
    host = RobotBuilder("one").add(body).joint("j", "revolute", "world", body.name).build()
    return derive(host, backend="interpreter").regressor_parameters[:10]


def test_a_payload_is_found_with_a_known_arm_and_with_an_unknown_one() -> None:
    robot = arm()
    loaded = recording(arm(LOAD), 1)
    known = identify_payload(robot, loaded, at="flange", known=known_friction(robot), rates=Measured())
    assert not known.failure
    np.testing.assert_allclose(known.values, ten(LOAD), rtol=1e-5, atol=1e-6)
    assert float(known.body.mass) == pytest.approx(1.8, rel=1e-6)
    np.testing.assert_allclose(known.body.com, LOAD.com, atol=1e-6)
    heavier = with_parameters(robot, {f"link{k}.m": 1.3 * float(robot.body(f"link{k}").mass) for k in range(4)})
    both = identify_payload(heavier, loaded, at="flange", unloaded=recording(robot, 2), rates=Measured())
    np.testing.assert_allclose(both.values, ten(LOAD), rtol=1e-3, atol=1e-4)
    assert both.error < 1e-5


def test_deviations_of_a_payload_say_how_far_it_is_off() -> None:
    robot = arm()
    off = []
    for seed in range(3):
        found = identify_payload(
            robot,
            recording(arm(LOAD), 10 + seed, noise=0.2),
            at="flange",
            known=known_friction(robot),
            rates=Measured(),
            weight=1e-3,
        )
        off.append((found.values - ten(LOAD)) / found.deviations)
        assert found.data_share[0] > 0.99
    assert np.mean(np.abs(off) < 2.0) > 0.8
    assert 0.4 < np.sqrt(np.mean(np.square(off))) < 1.8


def test_a_weighed_payload_keeps_its_mass_and_a_load_that_forces_do_not_show_stays_at_the_prior() -> None:
    robot = arm()
    fixed = identify_payload(
        robot,
        recording(arm(LOAD), 1, noise=0.2),
        at="flange",
        known=known_friction(robot) | {"payload.m": 1.8},
        rates=Measured(),
    )
    assert fixed.values[0] == pytest.approx(1.8, abs=1e-9)
    assert fixed.deviations[0] == 0.0
    pan = RobotBuilder("pan").add(Body.box("arm", 1.0, (0.2, 0.1, 0.1))).joint("j", "revolute", "world", "arm").build()
    found = identify_payload(pan, recording(pan, 3), at="arm", known=known_friction(pan), rates=Measured())
    assert found.deviations[3] == np.inf  # hz: the axis is vertical
    assert found.data_share[3] < 1e-6


def signals(robot: Robot, seed: int, **how: float) -> Recording:
    """A recording whose forces are in amperes, with noise of the torques [N m]."""
    one = recording(robot, seed, **how)  # type: ignore[arg-type]
    return Recording(one.name, one.t, one.q, one.v, one.a, np.array(one.tau) / GAINS)


def test_gains_of_drives_follow_from_a_weighed_load() -> None:
    robot = arm()
    found = drive_gains(robot, signals(robot, 5), signals(arm(LOAD), 6), at="flange", load={"m": 1.8}, rates=Measured())
    assert not found.failure
    np.testing.assert_allclose(found.gains, GAINS, rtol=1e-4)
    assert found.load["hz"] == pytest.approx(1.8 * 0.12, rel=1e-3)
    assert found.error < 1e-5


def test_a_gain_that_the_load_does_not_show_is_called_undetermined() -> None:
    robot = arm()
    slow = {"noise": 0.1, "period": 60.0}  # a vertical axis feels only the inertia of a load
    found = drive_gains(
        robot, signals(robot, 5, **slow), signals(arm(LOAD), 6, **slow), at="flange", load={"m": 1.8}, rates=Measured()
    )
    assert found.undetermined == ("j0",)
    np.testing.assert_allclose([found.by_name[f"j{k}"] for k in (1, 2, 3)], GAINS[1:], rtol=0.05)
    assert [line.split()[-1] for line in str(found).splitlines() if line.startswith("j")] == ["no", "yes", "yes", "yes"]


def test_a_load_that_sets_no_scale_is_refused() -> None:
    def hinge(load: Body | None = None) -> Robot:
        builder = RobotBuilder("hinge").add(Body.box("link", 1.0, (0.3, 0.1, 0.1), center=(0.15, 0.0, 0.0)))
        builder.joint("j", "revolute", "world", "link", axis=(0.0, 1.0, 0.0))
        if load is not None:
            builder.add(load).joint("weld", "fixed", "link", load.name, translation=(0.3, 0.0, 0.0))
        return builder.frame("flange", "link", translation=(0.3, 0.0, 0.0)).build()

    one, other = recording(hinge(), 1), recording(hinge(LOAD), 2)
    with pytest.raises(ShapeError, match="known part of the load, m, are also forces of its unknown part"):
        drive_gains(hinge(), one, other, at="flange", load={"m": 1.8}, rates=Measured())
    load = dict(zip(OF_BODY, ten(LOAD).tolist(), strict=True))
    found = drive_gains(hinge(), one, other, at="flange", load=load, rates=Measured())
    assert found.by_name["j"] == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"load": {}}, "load: its mass is None, expected a number of kg above 0"),
        ({"load": {"mass": 1.0}}, "load: there is no part 'mass', expected m, hx"),
        ({"load": {"m": 1.0, "hx": np.nan}}, "load: 'hx' is nan, expected a finite number"),
        ({"at": "tool"}, "there is no frame 'tool'"),
        ({"at": "world"}, "the load is at 'world' on 'world', which no joint moves"),
        ({"unloaded": ()}, "there is no recording without load, or none with it"),
        ({"friction": ("dry",)}, "friction has the part 'dry', expected parts of viscous, coulomb, offset"),
    ],
)
def test_bad_loads_are_one_sentence(change: dict[str, Any], message: str) -> None:
    robot = arm()
    one = recording(robot, 1, count=50)
    given: dict[str, Any] = {"unloaded": one, "loaded": one, "at": "flange", "load": {"m": 1.0}, "rates": Measured()}
    with pytest.raises(ModelError, match=message):
        drive_gains(robot, **(given | change))
    with pytest.raises(ModelError, match=r"known: there is no parameter 'payload\.mass'"):
        identify_payload(robot, one, at="flange", known={"payload.mass": 1.0})
    with pytest.raises(ModelError, match="no recording with the load is given"):
        identify_payload(robot, (), at="flange")
