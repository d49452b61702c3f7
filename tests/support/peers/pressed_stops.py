"""MJCF robots of others that are pressed against all their joint limits until they rest, here and in MuJoCo.

    python tests/support/peers/pressed_stops.py FOLDER ...

Robots with a free base are hung up by it. Geoms are left out, so that nothing touches and no mesh is needed; bodies
keep the inertia that MuJoCo finds. Dry friction is left out, because it holds joints anywhere. Every joint with limits
is pressed against one of them by an effort under which a stop of MuJoCo's default softness gives way by PRESSED rad or
m. The actuators, springs, tendons and equalities of the file act, with all controls at zero; equalities are as soft as
the file says. Both simulators get the same text, and begin in its neutral pose.
Where ours rests in another posture, MuJoCo is started there, and has to stay.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np

from kinemorph import load_text
from kinemorph.simulation.planned_run import prepared_run

PRESSED = 0.005
USUAL = 5e4  # [1/s^2], the stiffness of MuJoCo's default stop over its inertia
LONGEST = 60.0  # [s] that MuJoCo may take to come to rest
UNTIL = 10.0  # [s] of our runs, or as long as MuJoCo takes
FAR = 0.1  # [rad or m]: robots with saturated drives can rest in several postures, which differ by more
SLOW = 1e-6  # [rad/s or m/s], of joints at rest
SIMPLE = (2, 3)  # mjtJoint: slide, hinge


class Pressed(NamedTuple):
    """A robot against its stops: how far its joints are from MuJoCo's, and how deep in their stops. In rad, m and s."""

    name: str
    side: str  # "upper" or "lower"
    joints: int
    loops: int  # equalities of points and frames
    off: float  # the largest difference of a joint coordinate
    worst: str  # the joint with this difference
    deepest: float  # beyond a limit, in MuJoCo
    moving: float  # the fastest joint at the end
    moving_there: float

    @property
    def rests(self) -> bool:
        """Whether MuJoCo comes to rest."""
        return self.moving_there < SLOW


def bare_text(path: Path) -> str:
    """The file without free joints, geoms and dry friction, each body with the inertia that MuJoCo computes."""
    spec = mujoco.MjSpec.from_file(str(path))
    for part in (*spec.keys, *spec.excludes, *spec.pairs, *spec.sensors, *spec.cameras, *spec.lights, *spec.skins):
        spec.delete(part)
    shown = [geom for geom in spec.geoms if geom.type == mujoco.mjtGeom.mjGEOM_MESH]
    if all(body.explicitinertial or not body.geoms for body in spec.bodies[1:]):
        shown = list(spec.geoms)
    for geom in shown:
        spec.delete(geom)
    for part in (*spec.meshes, *spec.materials, *spec.textures, *spec.hfields):
        spec.delete(part)
    model = spec.compile()
    for body in spec.bodies[1:]:
        k = body.id
        body.explicitinertial = True
        body.mass, body.ipos, body.iquat = model.body_mass[k], model.body_ipos[k], model.body_iquat[k]
        body.inertia = model.body_inertia[k]
        body.fullinertia[:] = np.nan
    for joint in list(spec.joints):
        joint.frictionloss = 0.0
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            spec.delete(joint)
    for geom in list(spec.geoms):
        spec.delete(geom)
    spec.compile()
    return str(spec.to_xml())


def pressed(name: str, text: str, side: str, *, soft: bool = True) -> Pressed | None:
    """The robot of a text, pressed against its upper or lower limits; None if it has none. `soft` equalities are as
    the file says.
    """
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    limited = [j for j in range(model.njnt) if int(model.jnt_type[j]) in SIMPLE and model.jnt_limited[j]]
    if not limited:
        return None
    for j in limited:
        v = model.jnt_dofadr[j]
        data.qfrc_applied[v] = (1.0 if side == "upper" else -1.0) * PRESSED * USUAL / model.dof_invweight0[v]
    _rest(model, data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        system: Any = load_text(text, "mjcf", soft_equalities=soft)
        robot, force = system.robot, [0.0] * system.robot.nv
        for j in limited:
            force[robot.v_slice(model.joint(j).name).start] = float(data.qfrc_applied[model.jnt_dofadr[j]])
        plan = {"time": max(UNTIL, data.time), "q": model.qpos0.tolist()}
        run = prepared_run(system, plan).run(forces=lambda t, q, v: force)
    if not run.outcome.ok:
        raise ArithmeticError(str(run.outcome))
    ends = {j: float(run.q[-1][robot.q_slice(model.joint(j).name).start]) for j in limited}
    if any(abs(data.qpos[model.jnt_qposadr[j]] - q) > FAR for j, q in ends.items()):  # another posture
        data.time, data.qvel[:] = 0.0, 0.0
        for j, q in ends.items():
            data.qpos[model.jnt_qposadr[j]] = q
        _rest(model, data)
    off, beyond = {}, 0.0
    for j in limited:
        q, joint = float(data.qpos[model.jnt_qposadr[j]]), model.joint(j).name
        off[joint] = abs(ends[j] - q)
        low, high = model.jnt_range[j]
        beyond = max(beyond, float(low) - q, q - float(high))
    worst = max(off, key=lambda joint: off[joint])
    moving = (float(np.abs(run.v[-1]).max()), float(np.abs(data.qvel).max()))
    loops = int(np.sum(model.eq_type < 2))
    return Pressed(name, side, len(off), loops, off[worst], worst, beyond, *moving)


def _rest(model: Any, data: Any) -> None:
    """Runs MuJoCo until it rests, or LONGEST."""
    while data.time < LONGEST and not (data.time > 2.0 and np.abs(data.qvel).max() < 1e-9):
        mujoco.mj_step(model, data)


def scenes(folder: Path) -> Iterator[Path]:
    """The files of robots in the folders of a folder."""
    for each in sorted(path for path in folder.iterdir() if path.is_dir()):
        yield from (file for file in sorted(each.glob("*.xml")) if "scene" not in file.name)


def main(folders: list[str]) -> None:
    """Prints a line for each robot, side, and way to take equalities that makes a difference."""
    print("| file | side | equalities | joints | off [mrad, mm] | joint | deepest there [mrad, mm] | speed, there |")
    for file in (file for folder in folders for file in scenes(Path(folder))):
        name = f"{file.parent.name}/{file.name}"
        try:
            text = bare_text(file)
            for side, soft in ((side, soft) for side in ("upper", "lower") for soft in (False, True)):
                if soft and "<equality>" not in text:
                    continue
                found = pressed(name, text, side, soft=soft)
                if found is None:
                    continue
                print(
                    f"| {name} | {side} | {'soft' if soft else 'exact'} | {found.joints} | {1e3 * found.off:.3f} | "
                    f"{found.worst} | {1e3 * found.deepest:.1f} | {found.moving:.0e}, {found.moving_there:.0e} |",
                    flush=True,
                )
        except Exception as error:  # of any robot; the others follow
            print(f"| {name} | {type(error).__name__}: {str(error).splitlines()[0][:150]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
