"""Every MJCF file of the packages around MuJoCo, and our equations of each against MuJoCo's.

    python tests/support/peers/mjcf_peers.py docs/mjcf_read.md [FOLDER ...]      writes the table of all files anew

Folders are further collections of files, which are called by the name of the folder.

MuJoCo computes with contact, limits, equality, friction and fluid switched off, and without the rotor inertia of
tendons; what springs, dampers and tendons do is part of the generalized force that both sides are given. With
v_mj = B v (free joints: linear velocity in the world there, body twist here)

    M = B^T M_mj B        h = B^T (h_mj + M_mj Bdot v)        a = B^T (a_mj - Bdot v)        tau = B^T tau_mj

A last comparison is that of what acts: `qacc` with all that the file itself drives, pulls and brakes (actuators at
random controls and activations, springs, dampers, tendons, gravity compensation, fluid), with MuJoCo's constraints off.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.quaternions import quat_to_rotation
from kinemorph.formats.loading import examine
from kinemorph.formats.sources import Options
from kinemorph.mechanics.elements.ensemble import RESERVED, ensemble
from kinemorph.mechanics.elements.instant import SystemInstant, generalized
from kinemorph.mechanics.recursions.articulated_bodies import forward_dynamics
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.recursions.newton_euler import bias_forces
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements import Constraint
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

PACKAGES = ("gymnasium", "gymnasium_robotics", "dm_control", "mujoco", "robosuite")
STATES = 3
CLOSE = 1e-9  # of the largest entry
SCENE = "a scene or a part without any body"


class Peer(NamedTuple):
    """An MJCF file: its package's folder, and its path below the folder above."""

    root: Path
    name: str

    @property
    def path(self) -> Path:
        return self.root.parent / self.name


class Row(NamedTuple):
    """What came of a file: `errors` of poses [m, 1], of M, bias and qacc as shares of the largest entry; or a `reason`.

    Where nothing moves there are poses and masses alone. `acts` is the error of qacc with all that the file drives.
    """

    name: str
    bodies: int = 0
    nv: int = 0
    warnings: str = ""
    errors: tuple[float, ...] = ()
    acts: float | None = None
    reason: str = ""
    kind: str = ""  # of the reason


def peers(*packages: str) -> list[Peer]:
    """All XML files of the packages that are installed."""
    found = []
    for package in packages or PACKAGES:
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            found += peers_below(Path(spec.origin).parent)
    return found


def peers_below(root: Path) -> list[Peer]:
    """All XML files in a folder."""
    files = sorted(path for path in root.rglob("*") if path.suffix in (".xml", ".mjcf"))
    return [Peer(root, path.relative_to(root.parent).as_posix()) for path in files]


def compared(peer: Peer) -> Row:
    """Reads a file and compares it with what MuJoCo makes of it."""
    import mujoco

    mujoco.set_mju_user_warning(lambda message: None)  # or it writes a file here
    examination = examine(peer.path, options=Options(package_dirs=(peer.root,)))
    if examination.system is None:
        first = examination.errors[0]
        return Row(peer.name, reason=f"{first.problem} [{first.rule}]", kind=_kind(first.rule, first.problem))
    try:
        model = mujoco.MjModel.from_xml_path(str(peer.path))
    except ValueError as error:
        return Row(peer.name, reason=f"MuJoCo itself: {error}".splitlines()[0], kind="MuJoCo itself refuses it")
    if model.nbody == 1:
        return Row(peer.name, reason="the world alone has geoms", kind=SCENE)
    robot = examination.system.robot
    told = Counter(finding.rule for finding in examination.warnings)
    warnings = ", ".join(f"{count} {rule}" for rule, count in sorted(told.items()))
    errors = worst(robot, model)
    model = mujoco.MjModel.from_xml_path(str(peer.path))
    acts = acting_error(examination.system, model) if robot.nv else None
    return Row(peer.name, model.nbody - 1, robot.nv, warnings, errors, acts)


def _kind(rule: str, problem: str) -> str:
    if "expected <mujoco>" in problem:
        return "not a model: a part to be included" if "part" in problem else "not an MJCF file"
    if "does not exist" in problem:
        return "names a file that is not there"
    if "no bodies" in problem:
        return SCENE
    return "MuJoCo itself refuses it" if "MuJoCo cannot compile" in problem else f"refused by rule {rule}"


def worst(robot: Robot, model: object, states: int = STATES) -> tuple[float, ...]:
    """The largest errors of poses, and of M, bias and qacc as shares of the largest entry, over random states."""
    tree = resolve(replace(robot, loops=(), couplings=()))
    rng = np.random.default_rng(5)
    reference = Reference(robot, model)
    names = [model.body(i).name or f"body{i}" for i in range(1, model.nbody)]
    assert [float(robot.body(name).mass) for name in names] == model.body_mass[1:].tolist()
    errors = []
    for _ in range(states):
        q, v, tau = reference.random_state(rng)
        M, h, a, force = reference.answers(q, v, tau)
        state = (q.tolist(), v.tolist())
        poses = forward_kinematics(tree, state[0], names)
        off = [
            np.abs(np.array(pose.R) - R.reshape(3, 3)).max() + np.abs(np.array(pose.p) - p).max()
            for pose, R, p in zip(poses, reference.data.xmat[1:], reference.data.xpos[1:], strict=True)
        ]
        errors.append([max(off)])
        if robot.nv == 0:
            continue
        mine = (mass_matrix(tree, state[0]), bias_forces(tree, *state), forward_dynamics(tree, *state, force.tolist()))
        errors[-1] += shares([np.array(x, dtype=float) for x in mine], (M, h, a))
    return tuple(np.max(errors, axis=0).tolist())


def share(mine: np.ndarray, theirs: np.ndarray, least: float = 0.0) -> float:
    """The largest difference as a share of the largest entry, or of `least` if that is larger."""
    scale = max(float(np.abs(theirs).max()), least)
    return float(np.abs(mine - theirs).max()) / (scale or 1.0)


def shares(mine: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> list[float]:
    """Errors of M, bias and accelerations as shares of the largest entry.

    A bias that is below the largest entry of M, which is the force of an acceleration of 1, is a share of that.
    """
    least = 0.0, float(np.abs(theirs[0]).max()), 0.0
    return [share(x, y, z) for x, y, z in zip(mine, theirs, least, strict=True)]


def acting_error(system: System, model: object, states: int = STATES) -> float:
    """The largest error of qacc as a share of the largest entry, with all that acts, at random states and controls."""
    tree = resolve(replace(system.robot, loops=(), couplings=()))
    rng = np.random.default_rng(7)
    reference = Reference(system.robot, model, acts=True)
    errors = []
    for _ in range(states):
        q, v, _ = reference.random_state(rng)
        controls, activations = reference.random_commands(rng)
        a = reference.answers(q, v, np.zeros(model.nv))[2]
        errors.append(share(accelerations(system, tree, q, v, controls, activations), a))
    return max(errors)


def accelerations(
    system: System, tree: object, q: np.ndarray, v: np.ndarray, controls: dict[str, float], states: dict[str, float]
) -> np.ndarray:
    """Our accelerations (nv,) of the first instant, without constraints, by the recursion over plain numbers."""
    robot = replace(system.robot, loops=(), couplings=())
    free = [element for element in system.elements if not isinstance(element, Constraint)]
    all_of = ensemble(robot, [_unstopped(element) for element in free])
    x = [states[slot.name.partition(".")[0]] for slot in all_of.states]
    u = [controls[slot.name] for slot in all_of.inputs]
    m = [slot.start for slot in all_of.memory]
    instant = SystemInstant(all_of, tree, 0.0, q.tolist(), v.tolist(), x, m, u, {})
    found = instant.gathered()
    damping = [float(d) for joint in robot.joints for d in joint.damping]
    loads = np.array(generalized(instant.motions, found.loads), dtype=float)
    tau = np.array(found.torques, dtype=float) + loads - np.array(damping) * v
    return np.array(forward_dynamics(tree, q.tolist(), v.tolist(), tau.tolist()), dtype=float)


def _unstopped(element: object) -> object:
    """A tendon without its stops and its friction, which are constraints in MuJoCo; any other element as it is."""
    if type(element).__name__ != "Tendon":
        return element
    return replace(element, lower=-np.inf, upper=np.inf, friction=0.0)


class Reference:
    """MuJoCo's answers in our convention, for a robot whose q is qpos.

    What the file drives and the fluid are off, unless it `acts`. An activation is that of the instant, also where the
    file asks for that of the end of the step (`actearly`).
    """

    def __init__(self, robot: Robot, model: object, *, acts: bool = False) -> None:
        import mujoco

        self.robot, self.model, self.mujoco = robot, model, mujoco
        flags = mujoco.mjtDisableBit
        model.opt.disableflags |= flags.mjDSBL_CONSTRAINT | flags.mjDSBL_CONTACT
        model.opt.enableflags = 0
        model.actuator_actearly[:] = False
        if not acts:
            model.opt.disableflags |= flags.mjDSBL_ACTUATION
            model.opt.density = model.opt.viscosity = 0.0
            model.tendon_armature[:] = 0.0
        self.data = mujoco.MjData(model)
        assert (robot.nq, robot.nv) == (model.nq, model.nv)

    def random_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, v, tau): angles all around, lengths within a meter of where they start."""
        q = np.array(self.model.qpos0)
        for joint in self.robot.joints:
            at = self.robot.q_slice(joint.name)
            for k, unit in zip(range(at.start, at.stop), joint.table.q_units, strict=True):
                q[k] += rng.uniform(-np.pi, np.pi) if unit == "rad" else rng.uniform(-1.0, 1.0)
            turning = [k for k, unit in zip(range(at.start, at.stop), joint.table.q_units, strict=True) if not unit]
            if turning:
                turn = rng.normal(size=4)
                q[turning] = turn / np.linalg.norm(turn)
        v, tau = rng.normal(size=(2, self.robot.nv))
        return q, v, tau

    def random_commands(self, rng: np.random.Generator) -> tuple[dict[str, float], dict[str, float]]:
        """(control, activation) of every actuator by its name; controls exceed their ranges now and then."""
        model, controls, activations = self.model, {}, {}
        for k in range(model.nactuator):
            name = model.actuator(k).name or f"actuator{k}"
            name = f"{name}~2" if name in RESERVED else name
            at, first = model.actuator_ctrladr[k], model.actuator_actadr[k]
            for i in range(at, at + model.actuator_ctrlnum[k]):
                low, high = model.actuator_ctrlrange[i] if model.actuator_ctrllimited[i] else (-1.0, 1.0)
                self.data.ctrl[i] = controls[name] = rng.uniform(1.2 * low - 0.2 * high, 1.2 * high - 0.2 * low)
            for i in range(first, first + model.actuator_actnum[k]) if first >= 0 else ():
                low, high = model.actuator_actrange[k] if model.actuator_actlimited[k] else (0.0, 1.0)
                self.data.act[i] = activations[name] = rng.uniform(low, high)
        return controls, activations

    def answers(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, ...]:
        """(M, bias, a, generalized force without the actuators) in our velocities."""
        model, data, mujoco = self.model, self.data, self.mujoco
        B, rate = self._turned(q, v)
        data.qpos[:], data.qvel[:] = q, B @ v
        data.qfrc_applied[:] = tau
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        force = data.qfrc_passive + data.qfrc_actuator + tau
        return B.T @ M @ B, B.T @ (data.qfrc_bias + M @ rate), B.T @ (data.qacc - rate), B.T @ force

    def _turned(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(B, Bdot v)."""
        B, rate = np.eye(self.robot.nv), np.zeros(self.robot.nv)
        for joint in self.robot.joints:
            if joint.kind == "free":
                at_q, at = self.robot.q_slice(joint.name), self.robot.v_slice(joint.name)
                R = np.array(quat_to_rotation(q[at_q][3:].tolist()))
                B[at.start : at.start + 3, at.start : at.start + 3] = R
                rate[at.start : at.start + 3] = R @ np.cross(v[at][3:], v[at][:3])
        return B, rate


# ── the page ──────────────────────────────────────────────────────────────────────────────────────────────────────────

PAGE = """# MJCF files of other packages, read and compared

Every XML file in {packages} is read and compared with MuJoCo: the poses of all
bodies, M from `mj_fullM`, `qfrc_bias`, and `qacc` under the same generalized forces, at {states} random states, with
contact, limits, equality, friction loss, actuators and fluid off. Errors of poses are absolute (positions in meters,
entries of rotation matrices without unit), the others are relative to the largest entry (of the bias: or of M, if that
is larger). The column "acts" is the error of `qacc` with all that the file itself drives, pulls and brakes: actuators
at random controls and activations, springs, dampers, tendons, gravity compensation and fluid, without MuJoCo's
constraints. The column "bodies" counts the bodies of MuJoCo, without the massless bodies that are added where a body
has several joints. Warnings are counted by rule; they name data that have no counterpart in our model.

{found} XML files were found. MuJoCo compiles {compiled} of them, and {whole} of these have a body;
**{compared} of {whole} are compared, {share:.0f} %** ({moving} with joints, {still} where nothing moves, by poses and
masses). The largest errors are {pose:.1e} (poses), {M:.1e} (M), {h:.1e} (bias) and {a:.1e} (acceleration).
**{acting} of {moving} files with joints act as in MuJoCo**, to 1e-9; the others name in a warning what does not act.
The other files, by reason:

| reason | files |
|---|---|
{reasons}

Made by `python tests/support/peers/mjcf_peers.py docs/mjcf_read.md [FOLDER ...]`, with {versions}.
Assets that are missing in a folder are replaced as [robots_read.md](robots_read.md) says.

## How MJCF is translated

| MJCF | Kinemorph |
|---|---|
| body with one joint, or none | body; a body without a joint gets the fixed joint `<body>_root` or `<body>_weld` |
| body with several joints | a chain, with massless bodies named `body~joint` between the joints |
| hinge, slide, ball, free | revolute, prismatic, spherical, free; `ref` is in the placement, so that q equals qpos |
| free joint with armature | three slides `joint.x`, `joint.y`, `joint.z` and a ball: its v is MuJoCo's |
| site | frame |
| connect, weld | loop of kind spherical, fixed; an exact constraint, whereas MuJoCo's is soft |
| joint equality | coupling, if the polynomial is of first order, else an element `Constraint` |
| tendon equality | element `Constraint`, if the tendons are fixed |
| actuator on a joint, fixed tendon or site | element `Actuator`; rotor inertia and damping go to the joint or tendon |
| fixed tendon | element `Tendon`; its stops and its friction are compliant, whereas MuJoCo's are constraints |
| spring or curved damper of a hinge or slide | element `TorsionSpring` named `<joint> spring` |
| spring of a ball or free joint | element `Bushing` named `<joint> spring` |
| gravity compensation of bodies | element `WeightSupport`, one for each share of the weight |
| density, viscosity, wind, fluidshape | element `Fluid` |
| sensors of joints, tendons, actuators, sites, frames, subtrees | `Meter`, `IMU`, `Probe`, `ForceTorqueSensor`, ... |
| geom in contact, geom in groups 0 to 2 | collision shape, shape to draw; for the world on the body `world~geoms` |
| friction, groups, priority, margin, solref, solimp of geoms | `surface` of the shape ([contact.md](contact.md)) |
| contact pair with a plane or height field | `surface` of the other geom, with a priority above all others |
| plane, height field | `HalfSpace`, `Terrain` among the collision shapes: the only ground for contacts |
| name of a geom | name of its contact |
| options, exclusions, contact pairs, all softness | kept in `system.file_data` and written again |
| qpos0, gravity | initial configuration of a run, gravity |
| keyframe | start of the same name, or `key0` ...: q, v and time; ctrl and act as inputs and states of actuators |
| flags of `option` that disable forces, limits, contact or equalities | these data are left out |
| two objects with the same name | the second name ends in `~2` |
| actuator called `a`, `m`, `q`, `t`, `u`, `v` | its name ends in `~2`, but inputs by the name in the file reach it |

Spatial tendons, rotor inertias of tendons, springs that yield, muscles, DC motors, PID and so3 actuators, adhesion,
slider-cranks, actuators of plugins, delays of actuators, other sensors and equalities, mocap, plugins, skins, flexes,
other contact pairs, contacts of moving bodies with each other and with fixed geoms, torsional and rolling friction,
parameters that override those of contacts, and the softness of limits, friction and equalities (solref, solimp, margin)
are left out, with a warning for each kind. Activations are those of the instant, also where the file asks for the end
of the step (`actearly`), with a warning. Textures, custom data, lights, cameras and the sizes of MuJoCo's memory are
left out without a warning.

A file is first read by our own parser, with all files that it names: includes, meshes, height fields, models. All of
them must be in the [root of the model](files.md#limits-and-safety) or in `package_dirs`, after symbolic links are
resolved. They are read once, and MuJoCo gets their bytes under generated names. MuJoCo compiles them in a separate
process that may use 3 s of processor time (1 s more for every 4 MB) and 2 GiB of memory.

## Compared

| file | bodies | nv | warnings | poses | M | bias | qacc | acts |
|---|---|---|---|---|---|---|---|---|
{rows}

## Not compared

| file | reason |
|---|---|
{refused}
"""


class Tally(NamedTuple):
    """All rows, sorted: compared or refused; `whole` counts the models that MuJoCo compiles and that have a body."""

    compared: list[Row]
    refused: list[Row]
    kinds: Counter[str]
    whole: int
    worst: tuple[float, ...]


def tally(rows: list[Row]) -> Tally:
    """The counts. What MuJoCo compiles but we refuse, for another reason than that it has no body, is against us."""
    good = [row for row in rows if row.errors]
    bad = [row for row in rows if not row.errors]
    kinds = Counter(row.kind for row in bad)
    ours = sum(count for kind, count in kinds.items() if kind.startswith("refused"))
    worst = tuple(max((row.errors[k] for row in good if len(row.errors) > k), default=0.0) for k in range(4))
    return Tally(good, bad, kinds, len(good) + ours, worst)


def page(rows: list[Row], folders: Sequence[str] = ()) -> str:
    """The table of all files; `folders` are the names of those that are not packages."""
    from importlib.metadata import version

    installed = [name for name in PACKAGES if find_spec(name) is not None]

    good, bad, kinds, whole, (pose, M, h, a) = tally(rows)
    lines = []
    for row in good:
        errors = [f"{error:.1e}" for error in row.errors] + ["-"] * (4 - len(row.errors))
        errors.append("-" if row.acts is None else f"{row.acts:.1e}")
        cells = (row.name, row.bodies, row.nv, row.warnings or "-", *errors)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return PAGE.format(
        packages=", ".join([*installed, *folders]),
        states=STATES,
        found=len(rows),
        compiled=whole + kinds[SCENE],
        whole=whole,
        compared=len(good),
        share=100.0 * len(good) / whole,
        moving=sum(row.nv > 0 for row in good),
        acting=sum(row.acts is not None and row.acts < CLOSE for row in good),
        still=sum(row.nv == 0 for row in good),
        pose=pose,
        M=M,
        h=h,
        a=a,
        reasons="\n".join(f"| {kind} | {count} |" for kind, count in kinds.most_common()),
        versions=", ".join(f"{name} {version(name)}" for name in installed),
        rows="\n".join(lines),
        refused="\n".join(f"| {row.name} | {row.reason.replace('|', '/')} |" for row in bad),
    )


if __name__ == "__main__":
    below = [Path(folder).resolve() for folder in sys.argv[2:]]
    made = []
    for one in [*peers(), *(peer for folder in below for peer in peers_below(folder))]:
        made.append(compared(one))
        print(made[-1], file=sys.stderr)
    Path(sys.argv[1]).write_text(page(made, [folder.name for folder in below]), encoding="utf-8")
