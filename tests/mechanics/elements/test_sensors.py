"""Sensors: closed forms of what they read, when they read it, how noise is drawn, bad input."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, Robot, RobotBuilder, System, audit, simulate
from kinemorph.algebra.groups import Pose, exp_so3
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import ElementLaw, Slot, register
from kinemorph.mechanics.elements.sensing import random_numbers
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.elements.forces.applied import CentralGravity, Gravity
from kinemorph.model.elements.forces.springs import Spring
from kinemorph.model.elements.sensing.sensors import IMU, ContactSwitch, Encoder, ForceTorqueSensor, Probe
from kinemorph.plants import plant


@dataclass(frozen=True)
class _Wire:
    """Drives a joint with a signal."""

    name: str
    source: str
    target: str


class _WireLaw(ElementLaw[_Wire]):
    def signals(self, element: _Wire) -> tuple[Slot, ...]:
        return (Slot(""),)

    def reads(self, element: _Wire) -> tuple[str, ...]:
        return (element.source,)

    def drives(self, element: _Wire) -> Mapping[str, str]:
        return {element.target: ""}

    def publish(self, element: _Wire, view: ElementView) -> Mapping[str, Any]:
        return {"": 0.01 * view.signal(element.source)}


register(_Wire, _WireLaw())

G = 9.81
M1, M2 = 4294967087, 4294944443


def pendulum(**joint: Any) -> Robot:
    """A bob of 2 kg at 0.5 m; frame "tip" sits there, turned by 90 deg about y, so that its x axis points down."""
    builder = RobotBuilder("pendulum").add(Body.point("bob", 2.0, (0.0, 0.0, -0.5)))
    builder.joint("hinge", "revolute", "world", "bob", axis=(0.0, 1.0, 0.0), **joint)
    turned = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))
    return builder.frame("tip", "bob", translation=(0.0, 0.0, -0.5), rotation=turned).build()


def tumbling() -> tuple[Robot, np.ndarray]:
    """A free body with a link on it, and its velocities."""
    builder = RobotBuilder("tumbling").body("hull", 3.0, com=(0.1, 0.0, 0.05), inertia=(0.2, 0.3, 0.4))
    builder.root("hull", "free").body("arm", 1.0, com=(0.2, 0.0, 0.0), inertia=(0.01, 0.02, 0.02))
    builder.joint("elbow", "revolute", "hull", "arm", axis=(0.6, 0.0, 0.8), translation=(0.3, 0.1, 0.0))
    return builder.build(), np.array([0.3, -0.2, 0.5, 1.0, -2.0, 0.7, 1.5])


# ── what they read ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_imu_at_rest_feels_gravity_upward() -> None:
    imu = IMU("imu", "tip", every=0.1, accelerometer_bias=(0.0, 0.1, 0.2), gyroscope_bias=(0.3, 0.0, 0.0))
    run = simulate(System(pendulum(), (imu, replace(imu, name="ground", body="world"))), 0.2, output_step=0.1)
    assert [run[f"imu.{axis}"][-1] for axis in ("ax", "ay", "az")] == pytest.approx([-G, 0.1, 0.2], abs=1e-9)
    assert [run[f"imu.{axis}"][-1] for axis in ("wx", "wy", "wz")] == pytest.approx([0.3, 0.0, 0.0], abs=1e-9)
    assert [run[f"ground.{axis}"][-1] for axis in ("ax", "ay", "az")] == pytest.approx([0.0, 0.1, G + 0.2], abs=1e-12)


def test_an_imu_on_a_swinging_arm() -> None:
    """At the bob of a free pendulum: along the rod g cos q + l w^2, across it nothing; it clips at its range."""
    imu = IMU("imu", "tip", every=0.05, accelerometer_range=12.0)
    run = simulate(System(pendulum(), (imu, IMU("now", "tip"))), 1.0, output_step=0.05, q=[1.2], rtol=1e-12, atol=1e-12)
    along = -(G * np.cos(run["q.hinge"]) + 0.5 * run["v.hinge"] ** 2)
    assert run["now.ax"] == pytest.approx(along, abs=1e-9)
    assert run["now.az"] == pytest.approx(np.zeros(21), abs=1e-9)
    assert run["now.wy"] == pytest.approx(run["v.hinge"], abs=1e-12)
    assert run["imu.ax"] == pytest.approx(np.maximum(along, -12.0), abs=1e-9)
    assert along.min() < -13.0


def test_an_imu_on_a_turntable_feels_the_centripetal_acceleration() -> None:
    builder = (
        RobotBuilder("table").body("table", 1.0, inertia=(1.0, 1.0, 1.0)).joint("axle", "revolute", "world", "table")
    )
    robot = builder.frame("rim", "table", translation=(0.4, 0.0, 0.0)).build()
    run = simulate(System(robot, (IMU("imu", "rim", every=0.1),)), 0.3, output_step=0.1, v=[3.0])
    readings = [run[f"imu.{name}"][-1] for name in ("ax", "ay", "az", "wx", "wy", "wz")]
    assert readings == pytest.approx([-0.4 * 9.0, 0.0, G, 0.0, 0.0, 3.0], abs=1e-9)


@pytest.mark.parametrize(
    "field",
    [Gravity("field", (1.0, 2.0, -3.0)), Gravity("field", (1.0, 2.0, -3.0), ("box",)), CentralGravity("field", 4.0)],
)
def test_an_imu_that_falls_in_a_further_field_weighs_nothing(field: Any) -> None:
    """And one on a body that the field leaves alone feels how its own body moves."""
    builder = RobotBuilder("falling").add(
        Body.box("box", 2.0, (0.1, 0.2, 0.3)), Body.box("other", 1.0, (0.1, 0.1, 0.1))
    )
    builder.joint("free", "free", "world", "box").joint("apart", "free", "world", "other")
    builder.frame("mount", "box", placement=Pose(exp_so3((0.4, 0.1, 0.5)), (0.0, 0.0, 0.0)))
    falling = System(builder.build(), (field, IMU("imu", "mount"), IMU("left alone", "other")))
    start = [0.7, -0.4, 0.5, math.cos(0.4), 0.0, math.sin(0.4), 0.0, *[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]]
    run = simulate(falling, 0.2, q=start, rtol=1e-10, atol=1e-10)
    felt = [run[f"{name}.a{axis}"] for name in ("imu", "left alone") for axis in "xyz"]
    assert np.abs(run.v[-1]).max() > 0.1 and np.abs(felt).max() < 1e-9


def test_probes_are_derivatives_of_each_other() -> None:
    robot, v = tumbling()
    at: dict[str, Any] = {"body": "arm", "point": (0.1, 0.2, -0.3)}
    probes = [Probe(name, quantity=name, **at) for name in ("position", "velocity", "acceleration")]
    turning = [Probe(name, "arm", quantity=name) for name in ("orientation", "rate")]
    run = simulate(
        System(robot, (*probes, *turning, IMU("imu", "arm"))), 0.4, output_step=1e-3, v=v, rtol=1e-12, atol=1e-12
    )
    x, dx, ddx = (
        np.stack([run[f"{kind}.{letter}{axis}"] for axis in "xyz"], axis=-1)
        for kind, letter in (("position", ""), ("velocity", "v"), ("acceleration", "a"))
    )
    assert np.gradient(x, 1e-3, axis=0)[1:-1] == pytest.approx(dx[1:-1], abs=2e-4)
    assert np.gradient(dx, 1e-3, axis=0)[1:-1] == pytest.approx(ddx[1:-1], abs=2e-3)
    w, qx, qy, qz = (run[f"orientation.{name}"] for name in ("qw", "qx", "qy", "qz"))
    assert w**2 + qx**2 + qy**2 + qz**2 == pytest.approx(np.ones(401), abs=1e-12)
    # body rates of the IMU, turned by the quaternion into the world, are the rates of the probe
    u, s = np.stack([qx, qy, qz], axis=-1), np.stack([run[f"imu.w{axis}"] for axis in "xyz"], axis=-1)
    turned = s + 2.0 * np.cross(u, np.cross(u, s) + w[:, None] * s)
    assert turned == pytest.approx(np.stack([run[f"rate.w{axis}"] for axis in "xyz"], axis=-1), abs=1e-10)


def test_a_force_sensor_holds_a_hanging_mass() -> None:
    """A fixed joint between hook and load, one kilogram, and a spring that pulls at 3 N."""
    builder = RobotBuilder("hook").body("hook", 0.5).joint("slide", "prismatic", "world", "hook", axis=(1.0, 0.0, 0.0))
    builder.body("load", 1.0, com=(0.0, 0.2, 0.0), inertia=(0.1, 0.1, 0.1))
    robot = builder.joint("weld", "fixed", "hook", "load", translation=(0.0, 0.0, -0.3)).build()
    pull = Spring("pull", "load", "world", 3.0, 0.0, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, -1.3))
    sensor = ForceTorqueSensor("ft", "weld", every=0.1, force_bias=(0.0, 0.0, 0.5))
    run = simulate(System(robot, (pull, sensor, ForceTorqueSensor("now", "weld"))), 0.1, output_step=0.1)
    names = ("fx", "fy", "fz", "mx", "my", "mz")
    assert [run[f"now.{name}"][-1] for name in names] == pytest.approx([0, 0, G + 3.0, 0.2 * G, 0, 0], abs=1e-9)
    assert [run[f"ft.{name}"][-1] for name in names] == pytest.approx([0, 0, G + 3.5, 0.2 * G, 0, 0], abs=1e-9)


def test_an_encoder_counts_whole_steps() -> None:
    step = {"e": 2.0 * math.pi / 500.0, "geared": 2.0 * math.pi / 3500.0}
    encoder = Encoder("e", "hinge", counts=500.0, offset=0.01, every=0.01)
    others = (replace(encoder, name="geared", ratio=7.0), replace(encoder, name="c", every=None))
    system = System(pendulum(), (encoder, *others, Encoder("exact", "hinge", every=0.01)))
    run = simulate(system, 1.0, output_step=0.01, q=[1.0], rtol=1e-12, atol=1e-12)
    for name in ("e", "geared"):
        counted = step[name] * np.floor((run["q.hinge"] + 0.01) / step[name])
        assert run[f"{name}.position"] == pytest.approx(counted, abs=1e-12)
        assert run[f"{name}.velocity"] == pytest.approx([0.0, *np.diff(counted) / 0.01], abs=1e-9)
        assert np.all(run["q.hinge"] + 0.01 - run[f"{name}.position"] < step[name])
    assert np.array_equal(run["c.position"], run["e.position"])
    assert run["exact.velocity"][1:] == pytest.approx(np.diff(run["q.hinge"]) / 0.01, abs=1e-9)


def test_readings_are_held_between_samples_and_do_not_depend_on_the_step() -> None:
    encoder = Encoder("e", "hinge", resolution=1e-3, every=0.1, phase=0.03)
    runs = [
        simulate(System(pendulum(), (encoder,)), 0.5, output_step=0.01, q=[1.0], **options)
        for options in ({"rtol": 1e-12, "atol": 1e-12}, {"method": "rk4", "step": 1e-3})
    ]
    for run in runs:
        at = np.searchsorted(np.array([0.03, 0.13, 0.23, 0.33, 0.43]) - 1e-9, run.t, side="right")
        held = [0.0, *(1e-3 * np.floor(run["q.hinge"][[3, 13, 23, 33, 43]] / 1e-3))]
        assert run["e.position"] == pytest.approx(np.array(held)[at], abs=1e-12)
    assert np.array_equal(runs[0]["e.position"], runs[1]["e.position"])


def test_delayed_readings_arrive_late_and_unchanged() -> None:
    prompt = Encoder("prompt", "hinge", resolution=1e-3, every=0.1)
    delays = (0.1, 0.2, 0.13)
    late = [replace(prompt, name=f"late{delay}", delay=delay) for delay in delays]
    run = simulate(System(pendulum(), (prompt, *late)), 1.0, output_step=[*np.arange(0.0, 1.0001, 0.01)], q=[1.0])
    for delay in delays:
        n = round(delay / 0.01)
        for name in ("position", "velocity"):
            assert np.array_equal(run[f"late{delay}.{name}"][n:], run[f"prompt.{name}"][:-n])
            assert np.array_equal(run[f"late{delay}.{name}"][:n], np.zeros(n))
    assert run["prompt.velocity"][-1] != 0.0


def test_a_contact_switch_has_hysteresis() -> None:
    """It reads the angle of a pendulum that swings out: on above 0.5, off below 0.3."""
    switches = (
        ContactSwitch("sampled", "q.hinge", threshold=0.5, hysteresis=0.2, every=0.01),
        ContactSwitch("settled", "q.hinge", threshold=0.5, hysteresis=0.2),
        ContactSwitch("plain", "q.hinge", threshold=0.5),
    )
    run = simulate(System(pendulum(), switches), 3.0, output_step=0.01, q=[1.0], method="rk4", step=1e-3)
    angle, on, state = run["q.hinge"], [], 0.0
    for value in angle:
        state = float(value > (0.3 if state else 0.5))
        on.append(state)
    assert np.array_equal(run["sampled"], on)
    assert np.array_equal(run["plain"], angle > 0.5)
    assert np.mean(run["settled"] != on) < 0.02  # it is looked at at other instants
    assert 0.0 < np.mean(on) < 1.0


def test_a_motor_with_sensors_balances_its_energy() -> None:
    elements = (
        DCMotor("motor", "hinge", 1.0, 0.05, ratio=20.0, inductance=0.02, inertia=1e-4, efficiency=0.8),
        Encoder("e", "hinge", counts=1000.0, every=0.01),
        IMU("imu", "tip", every=0.02, accelerometer_noise=0.1),
        ForceTorqueSensor("ft", "hinge", every=0.05, force_noise=0.2),
        Spring("spring", "bob", "world", 40.0, 0.3, 1.0, (0.0, 0.0, -0.5), (0.8, 0.0, 0.0)),
    )
    run = simulate(System(pendulum(damping=0.1), elements), 0.5, q=[0.5], inputs=[3.0], rtol=1e-12, atol=1e-12)
    assert audit(run, tolerance=1e-9).passed


def test_an_element_in_the_step_may_not_read_what_the_step_decides() -> None:
    robot = pendulum()
    with pytest.raises(UnsupportedError, match="give the sensor an `every`"):
        simulate(System(robot, (IMU("imu", "tip"), _Wire("wire", "imu.ax", "hinge"))), 0.1)
    assert simulate(System(robot, (IMU("imu", "tip", every=0.01), _Wire("wire", "imu.ax", "hinge"))), 0.1).outcome.ok


# ── random numbers ────────────────────────────────────────────────────────────────────────────────────────────────────


def whole_numbers(state: list[int], count: int) -> list[float]:
    """MRG32k3a in whole numbers, by the definition."""
    x, y = state[:3], state[3:]
    found = []
    for _ in range(count):
        x = [*x[1:], (1403580 * x[1] - 810728 * x[0]) % M1]
        y = [*y[1:], (527612 * y[2] - 1370589 * y[0]) % M2]
        found.append(((x[2] - y[2]) % M1 or M1) / (M1 + 1))
    return found


def test_the_generator_is_that_of_whole_numbers() -> None:
    """L'Ecuyer's own first number for the seed 12345, and 20 000 numbers of hashed states."""
    first, _ = random_numbers.uniform((12345.0,) * 6)
    assert first == pytest.approx(0.12701112204657714, rel=1e-15)
    for seed in range(4):
        state = random_numbers.stream("imu", seed)
        expected = whole_numbers([int(word) for word in state], 5000)
        found = []
        for _ in range(5000):
            number, state = random_numbers.uniform(state)
            found.append(number)
        assert found == pytest.approx(expected, rel=3e-16)


def test_the_generator_never_gives_zero() -> None:
    """Where both recurrences give the same number, M1 stands in place of 0, of which there is no logarithm."""
    x = 1403580
    state = (0.0, 1.0, 5.0, 0.0, 7.0, float(x * pow(527612, -1, M2) % M2))
    number, after = random_numbers.uniform(state)
    assert after[2] == after[5] == x
    assert number == pytest.approx(M1 / (M1 + 1), rel=1e-15)


def test_compiled_numbers_are_the_same_in_every_state() -> None:
    """Edges too: states of nearly 0 and nearly the modulus."""

    def law(s: Any) -> Any:
        number, after = random_numbers.uniform(s)
        return [number, *after]

    compiled = build(trace(law, {"s": (6,)}, name="mrg"))
    rng = np.random.default_rng(0)
    states = rng.integers(1, M2 - 1, size=(2000, 6)).astype(float)
    states[:64] = [[(M2 - 1 if bits >> k & 1 else 1) for k in range(6)] for bits in range(64)]
    rows = compiled(states)
    for row, state in zip(rows, states.tolist(), strict=True):
        x = (1403580 * int(state[1]) - 810728 * int(state[0])) % M1
        y = (527612 * int(state[5]) - 1370589 * int(state[3])) % M2
        assert row.tolist() == [((x - y) % M1 or M1) * (1.0 / (M1 + 1.0)), *state[1:3], x, *state[4:6], y]


def test_normal_numbers_have_their_moments() -> None:
    state: Any = np.array([random_numbers.stream("many", seed) for seed in range(2000)]).T  # a batch of streams
    found: list[Any] = []
    for _ in range(25):
        numbers, state = random_numbers.normals(tuple(state), 4)
        found += numbers
    z = np.stack(found)
    n = z.size
    assert abs(z.mean()) < 4.0 / math.sqrt(n)
    assert abs(z.var() - 1.0) < 4.0 * math.sqrt(2.0 / n)
    assert abs((z**3).mean()) < 4.0 * math.sqrt(15.0 / n)
    assert abs((z**4).mean() - 3.0) < 4.0 * math.sqrt(96.0 / n)
    assert abs((z[:-1] * z[1:]).mean()) < 4.0 / math.sqrt(n)


def noisy(seed: int = 0, name: str = "imu") -> IMU:
    return IMU(name, "tip", every=0.001, accelerometer_noise=0.3, gyroscope_noise=0.02, gyroscope_walk=0.1, seed=seed)


def test_noise_is_reproducible_and_streams_are_apart() -> None:
    system = System(pendulum(damping=1.0), (noisy(), noisy(name="other"), noisy(seed=1, name="third")))
    once, again = (simulate(system, 1.0, output_step=0.001) for _ in range(2))
    for name in ("imu.ax", "imu.wy", "other.ax", "third.ax"):
        assert np.array_equal(once[name], again[name])
    noise = {name: once[f"{name}.ax"] + G for name in ("imu", "other", "third")}
    for z in noise.values():
        assert z.std() == pytest.approx(0.3, rel=0.08)
        assert abs(z.mean()) < 0.3 * 4.0 / math.sqrt(1001)
    for one, two in (("imu", "other"), ("imu", "third"), ("other", "third")):
        assert abs(np.corrcoef(noise[one], noise[two])[0, 1]) < 4.0 / math.sqrt(1001)
    # the seed alone changes the stream, and nothing else of the run
    changed = simulate(System(pendulum(damping=1.0), (noisy(seed=5),)), 1.0, output_step=0.001)
    assert not np.array_equal(changed["imu.ax"], once["imu.ax"])
    assert np.array_equal(changed["q.hinge"], once["q.hinge"])
    # biases walk: increments of 0.1 sqrt(0.001)
    steps = np.diff(once["m.imu.wx.bias"])
    assert steps.std() == pytest.approx(0.1 * math.sqrt(1e-3), rel=0.08)


def test_streams_begin_alike_in_every_process() -> None:
    code = "from kinemorph.mechanics.elements.sensing.random_numbers import stream; print(stream('imu', 3))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == str(random_numbers.stream("imu", 3))
    assert random_numbers.stream("imu", 3) != random_numbers.stream("imu", 4) != random_numbers.stream("imv", 3)
    assert all(0.0 < word < M2 and word == int(word) for word in random_numbers.stream("imu", 3))


# ── bad input ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("sensor", "sentence"),
    [
        (Encoder("s", "hinge", delay=0.1), "delay is 0.1 s, but the sensor is not sampled"),
        (Encoder("s", "knee"), "has no such joint"),
        (Encoder("s", "hinge", counts=5.0, resolution=0.1), "both given"),
        (Encoder("s", "hinge", noise=0.1), "it has noise, but the sensor is not sampled"),
        (IMU("s", "head"), "has no such body or frame"),
        (ForceTorqueSensor("s", "knee", every=0.1), "has no such joint"),
        (ContactSwitch("s", "contact.normal"), "there is no such signal"),
        (Probe("s", "tip", quantity="orientation", noise=0.1, every=0.1), "noise is given for an orientation"),
    ],
)
def test_bad_sensors(sensor: Any, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        plant(System(pendulum(), (sensor,)))


def test_sensors_that_do_not_fit_the_robot() -> None:
    builder = RobotBuilder("lift").body("load", 1.0).joint("slide", "prismatic", "world", "load")
    with pytest.raises(ModelError, match="Give `resolution`"):
        plant(System(builder.build(), (Encoder("s", "slide", counts=100.0),)))
