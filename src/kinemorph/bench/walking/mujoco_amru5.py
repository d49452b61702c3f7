"""AMRU5 in MuJoCo: pantographs closed by twelve `connect` constraints, the same masses, motors, controller and gait.

The base is a free joint. Rotors are armatures of the driven joints, and their masses are fixed to the bodies that
carry them. A motor of first order is an actuator and a joint damping, which every integrator except RK4 treats
implicitly. Feet are spheres of 1 mm with MuJoCo's default contact. The controller is sampled every 10 ms; it is
computed here with NumPy, from references that were computed before.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import mujoco
import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.model.library import amru, amru_walk

Integrator = Literal["Euler", "implicitfast"]
INTEGRATORS: dict[Integrator, int] = {
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
}
RADIUS = 1e-3  # of a foot [m]
DRIVES = 18


def model_text(loop_time: float) -> str:
    """The MuJoCo model as XML; `loop_time` [s] is the time constant with which loops close."""
    legs = "".join(_leg(leg) for leg in amru.LEGS)
    loops = "".join(
        f'<connect body1="{rod}{leg}" body2="{other}{leg}" anchor="{length} 0 0" solref="{loop_time} 1"/>'
        for leg in amru.LEGS
        for rod, other, length in (("short", "thigh", amru.AB), ("long", "shank", amru.BD))
    )
    drives = "".join(
        f'<motor joint="{name}" gear="{_reduction(k) * amru_walk.CONSTANT / amru_walk.RESISTANCE}"/>'
        for leg in amru.LEGS
        for k, name in enumerate(amru.leg_coordinates(leg))
    )
    inertia = " ".join(map(str, amru.BODY_INERTIA))
    return f"""<mujoco><compiler angle="radian" autolimits="true"/><option gravity="0 0 -9.81"/>
<worldbody><geom type="plane" size="5 5 1" friction="0.6 0 0" contype="1" conaffinity="0"/>
<body name="central" pos="0 0 {amru.standing_height() + RADIUS}"><freejoint/>
<inertial pos="0 0 0" mass="{amru.BODY_MASS}" diaginertia="{inertia}"/>{legs}</body></worldbody>
<equality>{loops}</equality><actuator>{drives}</actuator></mujoco>"""


def _reduction(k: int) -> float:
    return amru.GEAR if k == 0 else amru.SCREW


def _leg(leg: int) -> str:
    """The bodies of a leg, at the angles of the standing robot."""
    x, y = amru.HIPS[leg - 1]
    turned = "" if x > 0.0 else f' euler="0 0 {math.pi}"'
    names = amru.leg_coordinates(leg)
    upper, lower = standing_angles()
    across, along = amru.ROTOR_ACROSS, amru.ROTOR_INERTIA

    def joint(k: int, kind: str, axis: str) -> str:
        drive = f'armature="{_reduction(k) ** 2 * along}" damping="{_brake(k)}"'
        return f'<joint name="{names[k]}" type="{kind}" axis="{axis}" {drive}/>'

    def rod(mass: float, length: float) -> str:
        thin, thick = 0.5 * mass * 0.008**2, mass * length**2 / 12.0
        return f'<inertial pos="{0.5 * length} 0 0" mass="{mass}" diaginertia="{thin} {thick} {thick}"/>'

    def rotor(place: str, inertia: str) -> str:
        return f'<body pos="{place}"><inertial pos="0 0 0" mass="{amru.ROTOR_MASS}" diaginertia="{inertia}"/></body>'

    hinge = f'<joint name="{{}}{leg}" type="hinge" axis="0 1 0"/>'
    standing, lying = f"{across} {across} {along}", f"{along} {across} {across}"
    support = " ".join(map(str, amru.SUPPORT_INERTIA))
    height, reach = amru.STANDING_HEIGHT, amru.STANDING_REACH
    return f"""<body pos="{x} {y} 0"{turned}>{rotor("0 0 0.05", standing)}
<body name="support{leg}">{joint(0, "hinge", "0 0 1")}
<inertial pos="0 0 0" mass="{amru.SUPPORT_MASS}" diaginertia="{support}"/>
{rotor(f"{amru.OUTWARD} 0 0.15", standing)}{rotor("0.02 0 0", lying)}
<body name="thigh{leg}" pos="{amru.OUTWARD} 0 {height}" euler="0 {upper} 0">
{joint(1, "slide", _turned_up(upper))}
{hinge.format("A")}{rod(amru.THIGH_MASS, amru.AD)}
<body name="shank{leg}" pos="{amru.AD} 0 0" euler="0 {lower - upper} 0">
{hinge.format("D")}{rod(amru.SHANK_MASS, amru.AD)}
<geom name="foot{leg}" type="sphere" size="{RADIUS}" pos="{amru.AD} 0 0" mass="0" friction="0.6 0 0" contype="0"
conaffinity="1"/></body></body>
<body name="short{leg}" pos="{amru.OUTWARD + reach} 0 0" euler="0 {lower - math.pi} 0">
{joint(2, "slide", _turned_out(lower - math.pi))}{hinge.format("C")}{rod(amru.SHORT_MASS, amru.AB)}
<body name="long{leg}" euler="0 {upper - lower + math.pi} 0">{hinge.format("L")}{rod(amru.LONG_MASS, amru.BD)}</body>
</body></body></body>"""


def _brake(k: int) -> float:
    return (_reduction(k) * amru_walk.CONSTANT) ** 2 / amru_walk.RESISTANCE


def _turned_up(angle: float) -> str:
    """The axis z of the support in the axes of a body that is turned by `angle` [rad] about y."""
    return f"{-math.sin(angle)} 0 {math.cos(angle)}"


def _turned_out(angle: float) -> str:
    """The axis x of the support in the axes of a body that is turned by `angle` [rad] about y."""
    return f"{math.cos(angle)} 0 {math.sin(angle)}"


def standing_angles() -> tuple[float, float]:
    """The slopes [rad] of the bars AD and DF of a leg's pantograph while the robot stands."""
    height, reach = amru.STANDING_HEIGHT, amru.STANDING_REACH
    half = math.acos(math.hypot(height, reach) / (2.0 * amru.AB))
    alpha = math.atan2(height, reach)
    return alpha - half, alpha + half


class MujocoWalk:
    """AMRU5 walking in MuJoCo. `references` (n, 18) are the references of the drives every 10 ms."""

    def __init__(self, references: Array, integrator: Integrator = "implicitfast", loop_time: float = 0.02) -> None:
        self.references = references
        self.model = mujoco.MjModel.from_xml_string(model_text(loop_time))
        self.model.opt.integrator = INTEGRATORS[integrator]
        self.data = mujoco.MjData(self.model)
        driven = [self.model.joint(name) for leg in amru.LEGS for name in amru.leg_coordinates(leg)]
        self.at = np.array([int(joint.qposadr[0]) for joint in driven])
        offset = [0.0, amru.STANDING_HEIGHT, amru.STANDING_REACH]
        self.offset = np.array(offset * 6)  # the coordinates of the model are 0 where the robot stands
        self.kp, self.ki, self.kd = (np.array(gains * 6) for gains in zip(*amru_walk.GAINS, strict=True))

    def run(self, h: float) -> Array:
        """Position [m] and quaternion of the central body at all samples of 10 ms, shape (n, 7), for steps of h [s]."""
        return self.walked(h, gaps=False)[0]

    def walked(self, h: float, *, gaps: bool = True) -> tuple[Array, float]:
        """(rows of `run`, the largest gap of a loop [m], 0 if no `gaps` are wanted)."""
        model, data, T, filtering = self.model, self.data, amru_walk.SAMPLE, amru_walk.FILTER
        model.opt.timestep = h
        mujoco.mj_resetData(model, data)
        self.place()
        steps = round(T / h)
        integral, slope = np.zeros(DRIVES), np.zeros(DRIVES)
        before: Any = None
        rows, gap = np.empty((len(self.references), 7)), 0.0
        for k, wanted in enumerate(self.references):
            error = wanted - data.qpos[self.at] - self.offset
            before = error if before is None else before
            slope = (filtering * slope + self.kd * (error - before)) / (filtering + T)
            grown = integral + T * self.ki * error
            u = self.kp * error + slope + grown
            over = ((u > amru_walk.SUPPLY) & (error > 0.0)) | ((u < -amru_walk.SUPPLY) & (error < 0.0))
            grown = np.where(over, integral, grown)
            u = self.kp * error + slope + grown
            integral, before = grown, error
            data.ctrl[:] = np.clip(u, -amru_walk.SUPPLY, amru_walk.SUPPLY)
            mujoco.mj_step(model, data, steps)
            rows[k] = data.qpos[:7]
            if gaps and k % 10 == 0:
                gap = max(gap, self.gap())
        rows[:, 2] -= RADIUS
        return rows, gap

    def place(self) -> None:
        """Puts the legs where they are at the start of the walk, and closes the loops there."""
        q = np.array(amru_walk.initial_configuration())
        names = self.model.joint
        self.data.qpos[2] = q[2] + RADIUS
        standing = standing_angles()
        for leg in amru.LEGS:
            own = q[3 * leg + 3 : 3 * leg + 6]
            half = math.acos(math.hypot(own[1], own[2]) / (2.0 * amru.AB))
            alpha = math.atan2(own[1], own[2])
            upper, lower = alpha - half - standing[0], alpha + half - standing[1]
            self.data.qpos[self.at[3 * leg - 3 : 3 * leg]] = own - self.offset[:3]
            for name, value in (("A", upper), ("D", lower - upper), ("C", lower), ("L", upper - lower)):
                self.data.qpos[int(names(f"{name}{leg}").qposadr[0])] = value

    def gap(self) -> float:
        """The largest distance [m] between the two points of a loop."""
        model, data = self.model, self.data
        worst = 0.0
        for k in range(model.neq):
            ends = []
            for body, anchor in (
                (model.eq_obj1id[k], model.eq_data[k, :3]),
                (model.eq_obj2id[k], model.eq_data[k, 3:6]),
            ):
                ends.append(data.xpos[body] + data.xmat[body].reshape(3, 3) @ anchor)
            worst = max(worst, float(np.linalg.norm(ends[0] - ends[1])))
        return worst
