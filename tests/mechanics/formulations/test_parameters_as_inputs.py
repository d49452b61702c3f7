"""Parameters as inputs, far from their nominal values: the compiled equations are those of the robot built anew.

One robot with a joint of every kind is written twice: with parameters, and with plain numbers. Parameters stand in
masses, centers, moments, offsets, a pitch, rotors, gravity, and inside the rotations of placements and of a frame. What
is nominally 0 may be anything later, and anything may become 0: no shortcut may come from a nominal value.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.scalar import cos, sin
from kinemorph.deriving.dynamics import derive
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from support.references.world_reference import WorldReference, plain
from support.robots.random_robots import random_states
from support.tools.some_slow import first

NOMINAL = {
    "mass": 1.0,
    "length": 0.5,
    "moment": 0.2,
    "angle": 0.3,
    "weight": 9.81,
    "pitch": 0.1,
    "rotor": 0.05,
    "offset": 0.0,
    "center": 0.1,
    "tilt": 0.0,
}
OTHER: dict[str, dict[str, float]] = {
    "heavy, long, turned back": {"mass": 40.0, "length": 9.0, "angle": -2.5, "offset": -3.0, "center": 4.0},
    "light, inside out": {"mass": 1e-3, "moment": 2e-4, "length": -0.4, "rotor": 2.0, "center": -0.3, "pitch": -0.7},
    "upside down": {"weight": -9.81, "angle": math.pi, "tilt": 1.2, "offset": 0.2},
    "quarter turns": {"angle": math.pi / 2, "tilt": -math.pi / 2, "pitch": 3.0, "moment": 5.0},
    "all lengths zero": {"length": 0.0, "center": 0.0, "angle": 0.0, "pitch": 0.0, "rotor": 0.0},
    "weightless, one zero in sight": {"weight": 0.0, "pitch": 0.0, "tilt": 0.4},
}
KINDS = tuple(JOINT_KINDS)
WRENCHES = ("tool", "b2", "b5")


def written_with(x: dict[str, Any]) -> Robot:
    """A chain with a joint of every kind, from the values or parameters given."""
    c, s = cos(x["angle"]), sin(x["angle"])
    about_z = ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))
    c, s = cos(x["tilt"]), sin(x["tilt"])
    about_x = ((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c))
    places = (
        Pose(about_z, (x["length"], x["offset"], 2.0 * x["length"])),
        Pose(about_x, (x["offset"], x["length"], 0.0)),
        Pose(IDENTITY.R, (0.0, x["length"], x["center"])),
    )
    builder = RobotBuilder("open", gravity=(0.1 * x["weight"], 0.0, -x["weight"]))
    for n, kind in enumerate(KINDS):
        i = x["moment"]
        inertia = ((i, 0.0, 0.0), (0.0, 1.2 * i, 0.01 * i), (0.0, 0.01 * i, 1.3 * i))
        builder.body(f"b{n}", x["mass"] * (1.0 + n), com=(x["center"], x["offset"], 0.3 * x["length"]), inertia=inertia)
        data: dict[str, Any] = {"placement": places[n % 3], "child_placement": places[(n + 1) % 3]}
        if JOINT_KINDS[kind].axes:
            data["axis"] = ((0.6, 0.0, 0.8), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))[n % 3]
        if kind == "universal":
            data["axis2"] = (1.0, 0.0, 0.0)
        if kind == "helical":
            data["pitch"] = x["pitch"]
        data["armature"] = [x["rotor"] * (1.0 + k) for k in range(JOINT_KINDS[kind].nv)]
        builder.joint(f"j{n}", kind, f"b{n - 1}" if n else "world", f"b{n}", **data)
    return builder.frame("tool", f"b{len(KINDS) - 1}", placement=places[0]).build()


@pytest.fixture(scope="module")
def opened() -> Any:
    robot = written_with({name: Parameter(name, value) for name, value in NOMINAL.items()})
    return derive(robot, parameters=list(NOMINAL), wrenches=WRENCHES, backend="interpreter")


@pytest.mark.parametrize("case", first(OTHER, 1))
def test_values_far_from_nominal_give_the_robot_built_with_them(case: str, opened: Any) -> None:
    values = NOMINAL | OTHER[case]
    p, rebuilt = np.array(list(values.values())), written_with(values)
    closed = derive(rebuilt, wrenches=WRENCHES, backend="interpreter")
    q, v, a, tau = (part[0] for part in random_states(rebuilt, 6, 1))
    F = np.random.default_rng(6).normal(size=(len(WRENCHES), 6)) * 10.0
    true = WorldReference(rebuilt, q, v)

    def both(name: str, *given: Any) -> tuple[np.ndarray, np.ndarray]:
        return getattr(opened, name)(*given, p), getattr(closed, name)(*given)

    M, h = plain(true.M), plain(true.h)
    for x in both("mass_matrix", q):
        near(x, M, true.M_scale)
    work, levers = np.zeros(rebuilt.nv), np.zeros(rebuilt.nv)
    for frame, wrench in zip(WRENCHES, F, strict=True):
        J, lever = true.jacobian(frame, "local")
        work, levers = work + plain(J).T @ wrench, levers + lever * np.abs(wrench).sum() + np.abs(wrench).sum()
    for x in both("bias_forces", q, v, F):
        near(x, h - work, true.h_scale + levers)
    for x in both("inverse_dynamics", q, v, a, F):
        near(x, M @ a + h - work, true.h_scale + true.M_scale @ np.abs(a) + levers)
    a_true = plain(true.accelerations(tau + work))
    loss = 1e-14 * np.linalg.cond(M / np.sqrt(np.outer(np.diag(M), np.diag(M))))
    for x in both("forward_dynamics", q, v, tau, F):
        unit = np.sqrt(np.diag(M))
        assert np.abs(unit * (x - a_true)).max() < max(loss, 1e-12) * np.abs(unit * a_true).max()
    for reference in ("local", "world", "local_world_aligned"):
        J, lever = true.jacobian("tool", reference)
        for x in (opened.jacobian("tool", reference)(q, p), closed.jacobian("tool", reference)(q)):
            near(x, plain(J), lever + 1.0)
    near(opened.pose("tool")(q, p), plain(true.places["tool"].pose), true.places["tool"].way + 1.0)
    for name, given in (("coriolis_matrix", (q, v)), ("centroidal_matrix", (q,)), ("energy", (q, v))):
        one, other = (np.concatenate([np.ravel(part) for part in x]) for x in both(name, *given))
        near(one, other, np.abs(other).max())


def near(x: np.ndarray, expected: np.ndarray, scale: Any) -> None:
    assert np.all(np.abs(x - expected) <= 1e-13 * np.broadcast_to(scale, x.shape)), np.abs(x - expected).max()


def test_the_cases_leave_no_parameter_alone() -> None:
    moved = {name for case in OTHER.values() for name, value in case.items() if value != NOMINAL[name]}
    zero = {name for case in OTHER.values() for name, value in case.items() if value == 0.0}
    assert moved == set(NOMINAL)
    assert {"length", "center", "angle", "pitch", "rotor", "weight"} <= zero
