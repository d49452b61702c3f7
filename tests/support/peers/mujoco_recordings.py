"""Recordings of arms that MuJoCo simulates, with the faults that real recordings have.

`Arm` is a small model of our own as MJCF, which MuJoCo runs with friction under a controller, and which is read here
without friction and with other masses, as a drawing has it. `recorded` runs it and spoils what was measured:

    repeated     rows are logged more often than they are measured: the last one is repeated
    irregular    the times between samples differ, by this share of the step
    counts       the steps of an encoder in a turn (or in 6.28 m), 0 for exact positions
    delay        samples by which torques are late
    noise        of torques, as a share of their deviation
    speeds       whether velocities were measured, with noise of this share of their deviation; None where not
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinemorph.analysis.identification.recording import Recording
from kinemorph.formats.loading import load
from kinemorph.model.robot import Robot


class Link(NamedTuple):
    """A body on a joint: offset of the joint, its axis and type, mass, center, moments, viscous and dry friction."""

    offset: tuple[float, float, float]
    axis: tuple[int, int, int]
    mass: float
    center: tuple[float, float, float]
    moments: tuple[float, float, float]
    viscous: float
    dry: float
    kind: str = "hinge"


X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
ARMS: dict[str, tuple[Link, ...]] = {
    "arm6": (
        Link((0, 0, 0.16), Z, 7.0, (0, 0.02, -0.02), (0.03, 0.03, 0.02), 9.0, 7.0),
        Link((0, 0.14, 0), Y, 12.0, (0, -0.01, 0.28), (0.4, 0.4, 0.04), 8.0, 7.0),
        Link((0, -0.12, 0.6), Y, 4.0, (0, 0.02, 0.26), (0.11, 0.11, 0.01), 5.0, 4.0),
        Link((0, 0, 0.56), Y, 2.0, (0, 0.12, 0.01), (0.006, 0.005, 0.006), 1.5, 1.2),
        Link((0, 0.12, 0), Z, 1.9, (0, 0.01, 0.11), (0.006, 0.006, 0.005), 1.2, 1.0),
        Link((0, 0, 0.11), Y, 0.8, (0.02, 0.08, 0.01), (0.002, 0.002, 0.002), 0.8, 0.6),
    ),
    "arm7": (
        Link((0, 0, 0.33), Z, 4.5, (0, -0.03, -0.1), (0.05, 0.05, 0.02), 1.0, 0.5),
        Link((0, 0, 0), Y, 3.0, (0, 0.03, 0.1), (0.03, 0.03, 0.01), 1.0, 0.5),
        Link((0, 0, 0.31), Z, 3.2, (0.04, 0.02, -0.05), (0.03, 0.03, 0.01), 0.8, 0.4),
        Link((0.08, 0, 0), Y, 3.4, (-0.03, 0.1, 0.02), (0.03, 0.02, 0.03), 0.8, 0.4),
        Link((-0.08, 0, 0.38), Z, 2.6, (0, 0.05, -0.1), (0.03, 0.03, 0.01), 0.5, 0.3),
        Link((0, 0, 0), Y, 1.5, (0.06, -0.01, 0.01), (0.004, 0.006, 0.006), 0.4, 0.3),
        Link((0.09, 0, 0), Z, 1.0, (0.02, 0.01, 0.1), (0.004, 0.004, 0.002), 0.3, 0.2),
    ),
    "scara": (
        Link((0, 0, 0.3), Z, 8.0, (0.2, 0, 0), (0.02, 0.12, 0.12), 2.0, 2.0),
        Link((0.4, 0, 0), Z, 5.0, (0.15, 0.01, 0), (0.01, 0.06, 0.06), 1.0, 1.0),
        Link((0.3, 0, 0), Z, 1.5, (0, 0, -0.1), (0.01, 0.01, 0.001), 30.0, 5.0, "slide"),
        Link((0, 0, -0.1), Z, 0.6, (0.03, 0.01, -0.05), (0.001, 0.001, 0.0008), 0.05, 0.05),
    ),
    "leg": (
        Link((0, 0, 1.0), X, 1.6, (0.01, 0.02, -0.02), (0.004, 0.005, 0.004), 0.3, 0.4),
        Link((0, 0.08, 0), Y, 2.4, (0, 0.01, -0.08), (0.02, 0.02, 0.004), 0.3, 0.4),
        Link((0, 0, -0.28), Y, 0.6, (0, 0, -0.11), (0.004, 0.004, 0.0004), 0.2, 0.3),
    ),
    "plane": (
        Link((0, 0, 1.0), Y, 3.0, (0, 0, -0.2), (0.03, 0.03, 0.002), 0.3, 0.5),
        Link((0, 0, -0.4), Y, 2.0, (0.01, 0, -0.15), (0.015, 0.015, 0.001), 0.2, 0.3),
    ),
}


@dataclass(frozen=True)
class Faults:
    """What is wrong with a recording; see the top of this file."""

    rate: float = 1000.0
    repeated: int = 1
    irregular: float = 0.0
    counts: int = 0
    delay: int = 0
    noise: float = 0.02
    speeds: float | None = None


def mjcf(name: str, *, friction: bool = True, masses: Any = 1.0) -> str:
    """The arm as MJCF. With `masses` a factor for each body: of its mass and moments."""
    links = ARMS[name]
    lines = ["<mujoco><option gravity='0 0 -9.81' integrator='implicitfast'/><worldbody>"]
    for k, (link, factor) in enumerate(zip(links, np.broadcast_to(masses, len(links)), strict=True)):
        rubbing = f" damping='{link.viscous}' frictionloss='{link.dry}'" if friction else ""
        place, axis, center = (" ".join(map(str, x)) for x in (link.offset, link.axis, link.center))
        moments = " ".join(f"{factor * x:.9g}" for x in link.moments)
        lines += [
            f"<body name='b{k}' pos='{place}'><joint name='j{k}' type='{link.kind}' axis='{axis}'{rubbing}/>",
            f"<inertial pos='{center}' mass='{factor * link.mass:.9g}' diaginertia='{moments}'/>",
        ]
    return "".join([*lines, "</body>" * len(links), "</worldbody></mujoco>"])


def drawn(name: str, folder: Path, *, wrong: float = 0.15) -> Robot:
    """The arm as drawn: without friction, with masses that are off by up to this share."""
    masses = 1.0 + wrong * np.cos(2.0 + 3.0 * np.arange(len(ARMS[name])))
    path = folder / f"{name}.xml"
    path.write_text(mjcf(name, friction=False, masses=masses))
    return load(path).robot


class Run(NamedTuple):
    """What happened at all steps: times, q, v, a and forces of the drives."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray


def simulated(name: str, seconds: float, step: float, seed: int, *, slow: float = 0.25) -> Run:
    """MuJoCo's run of the arm, which follows a Fourier series of 5 harmonics of `slow` [Hz] by computed torques."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(name))
    model.opt.timestep = step
    data, plan = mujoco.MjData(model), mujoco.MjData(model)
    rng = np.random.default_rng(seed)
    w = 2.0 * np.pi * slow * np.arange(1, 6)
    sizes = np.array([0.35 if link.kind == "hinge" else 0.06 for link in ARMS[name]])
    amplitude = rng.normal(size=(model.nv, 5)) / np.arange(1, 6) * sizes[:, None]
    phase = rng.uniform(0.0, 2.0 * np.pi, size=(model.nv, 5))
    middle = 0.3 * sizes * rng.normal(size=model.nv)
    inertia = np.zeros((model.nv, model.nv))
    t = step * np.arange(round(seconds / step))
    angles = w * t[:, None, None] + phase
    q = middle + np.sum(amplitude * np.sin(angles), axis=2)
    v = np.sum(amplitude * w * np.cos(angles), axis=2)
    a = -np.sum(amplitude * w**2 * np.sin(angles), axis=2)
    data.qpos, data.qvel = q[0], v[0]
    rows = np.empty((3, len(t), model.nv))
    for k in range(len(t)):
        plan.qpos, plan.qvel = data.qpos, data.qvel
        wanted = a[k] + 900.0 * (q[k] - data.qpos) + 60.0 * (v[k] - data.qvel)
        mujoco.mj_forward(model, plan)
        mujoco.mj_fullM(model, plan, inertia)
        tau = inertia @ wanted + plan.qfrc_bias - plan.qfrc_passive
        tau += [link.dry * np.tanh(20.0 * x) for link, x in zip(ARMS[name], v[k], strict=True)]
        rows[:, k] = data.qpos, data.qvel, tau
        data.qfrc_applied = tau
        mujoco.mj_step(model, data)
    return Run(t, *rows)


def recorded(run: Run, faults: Faults, seed: int, label: str = "recording") -> Recording:
    """What a logger with these faults writes of a run."""
    rng = np.random.default_rng(seed)
    step = run.t[1]
    h = 1.0 / faults.rate
    count = int((run.t[-1] - step) / h) - 1
    times = h * (np.arange(1, count) + faults.irregular * rng.uniform(-0.5, 0.5, size=count - 1))
    at = np.unique(np.round(times / step).astype(int))
    at = at[at < len(run.t)]
    t, q, v, tau = run.t[at], run.q[at], run.v[at], run.tau[at]
    if faults.delay:
        tau = np.concatenate([tau[:1].repeat(faults.delay, axis=0), tau[: -faults.delay]])
    tau = tau + faults.noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    if faults.counts:
        count = 2.0 * np.pi / faults.counts
        q = np.round(q / count) * count
    speeds = None
    if faults.speeds is not None:
        speeds = v + faults.speeds * v.std(axis=0) * rng.normal(size=v.shape)
    if faults.repeated > 1:  # the state is measured at times of its own, about every so many rows
        fresh = rng.uniform(size=len(t)) < 1.0 / faults.repeated
        fresh[0] = True
        last = np.maximum.accumulate(np.where(fresh, np.arange(len(t)), 0))
        q, tau, speeds = q[last], tau[last], None if speeds is None else speeds[last]
    return Recording(label, t, q, speeds, tau=tau)
