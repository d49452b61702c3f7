"""One robot with a free base that falls onto the ground of its file, here and in MuJoCo.

The robot is put at a keyframe, or in its default pose, so high that its lowest collision point is DROP over the ground
of the file (z = 0 if it has none), with the controls of the keyframe, or zero. It runs as by `simulate FILE --ground`.
MuJoCo runs from the same start with the same controls twice: as the file says, and with contacts with the ground only,
which is what runs here. The latter is what our positions are compared with; falls are chaotic, so that positions agree
for a while only. A robot may also be shoved, by a force along x at the center of mass of its base, for half a second.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

DROP = 0.05  # [m]
UNTIL = 5.0  # [s]
FINE = 1e-3  # [s], between the samples of a run
PUSHED = (1.0, 1.5)  # [s], when a robot is shoved
LAST = 0.5  # [s], the end of a run, over which forces and speeds are averaged
SLOW, TURNING = 0.01, 0.05  # [m/s], [rad/s]: a base that is slower on average at the end rests
PLANE, HFIELD, FREE = 0, 1, 0  # mjtGeom, mjtJoint
NEVER = 1e6  # [m]: a pair with a margin below minus this never touches
NAMES = ("home", "stand", "standing", "stance", "default")  # keyframes that are preferred, in this order


class Path3(NamedTuple):
    """What came of a run: the base over time, and how the robot touches the ground."""

    t: np.ndarray  # [s], (n,)
    base: np.ndarray  # position [m] and quaternion (w, x, y, z) of the base, (n, 7)
    force: np.ndarray  # [N], vertical force of the ground, (n,)
    depth: float  # [m], the deepest that any point was in the ground
    deepest: float  # [s], when that was
    law: str = ""  # the normal force of the deepest contact, where it is known


class Drop(NamedTuple):
    """A robot that was dropped. Lengths in m, times in s; MuJoCo's as the file says, `there` with the ground only."""

    file: str
    name: str
    nv: int
    contacts: int
    start: str
    weight: float  # [N]
    outcome: str  # "finished", or why not
    depth: float | None = None
    depth_home: float | None = None
    carried: float | None = None  # vertical ground force over the weight, mean over LAST
    carried_home: float | None = None
    rests: bool = False  # whether the base rests at the end in MuJoCo
    carried_there: float | None = None
    rests_there: bool = False
    base: tuple[float, ...] = ()  # at the end: position and quaternion
    base_home: tuple[float, ...] = ()
    base_there: tuple[float, ...] = ()
    within_mm: float = 0.0  # [s], until which the base is within 1 mm of `there`
    within_cm: float = 0.0
    loops: float | None = None  # [m or rad], the largest gap of a loop
    told: tuple[str, ...] = ()
    shove: float = 0.0  # [N]
    depth_there: float | None = None
    deepest: float = 0.0  # [s], when the robot is deepest in the ground
    law: str = ""  # the kind of the normal force there
    stated: bool = False  # whether the file states this law
    unbalanced: float | None = None  # the error of the energy balance over the energy exchanged
    balanced: bool = False  # whether MuJoCo got inertias that bodies can have in place of those of the file
    step: float = 0.0  # [s], of MuJoCo


# ── the start ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def base_joint(robot: Any) -> Any:
    """The free joint to the world that carries the most velocities; None if another branch has more than its branch."""
    sizes: dict[str, int] = {}
    roots: dict[str, Any] = {}
    for joint in robot.joints:
        top = robot.path_to_root(joint.child)[-2]
        sizes[top] = sizes.get(top, 0) + joint.nv
        if joint.parent == "world":
            roots[top] = joint
    most = max(sizes, key=lambda name: sizes[name], default=None)
    found = roots.get(most) if most else None
    return found if found is not None and found.kind == "free" else None


def chosen_start(system: Any) -> str:
    """The name of the keyframe in which a robot begins; empty if it has none."""
    lower = {name.lower(): name for name in reversed(list(system.starts))}
    return next((lower[name] for name in NAMES if name in lower), next(iter(system.starts), ""))


def lowest(system: Any, q: Any) -> float:
    """The height [m] of the lowest collision point over its ground at a configuration (nq,)."""
    from kinemorph.mechanics.elements.contact.touching_points import touched_along
    from kinemorph.model.elements import Contact
    from kinemorph.simulation.results.body_poses import frame_matrices

    touching = [one for one in system.elements if isinstance(one, Contact)]
    found = np.inf
    for contact in touching:
        (pose,) = frame_matrices(system.robot, np.array([q], dtype=float), [contact.body]).swapaxes(0, 1)
        found = min(found, *(float(course.heights[0]) for course in touched_along(contact, pose)))
    return found


def prepared(system: Any, until: float = UNTIL) -> Any:
    """The run of `kinemorph simulate` from the raised start, or None if nothing can touch the ground."""
    from kinemorph.model.system import Settings
    from kinemorph.simulation.planned_run import prepared_run

    name = chosen_start(system)
    plan: dict[str, Any] = {"time": until, "output_step": FINE, "ground": True, **({"start": name} if name else {})}
    first = prepared_run(system, plan)
    robot = first.system.robot
    joint = base_joint(robot)
    if name:
        q = np.asarray(first.arguments_without_start["q"], dtype=float)
    else:
        from kinemorph.plants.robot_plant import shared_plant

        q = np.asarray(shared_plant(first.system).initial("q", first.arguments["q"]), dtype=float)
    height = lowest(first.system, q)
    if not np.isfinite(height):
        return None
    z = robot.q_slice(joint.name).start + 2
    names = list(robot.q_names)
    if name:
        return prepared_run(system, {**plan, "q": {names[z]: float(q[z] + DROP - height)}})
    q[z] += DROP - height
    settings = replace(system.settings, q=()) if isinstance(system.settings, Settings) else system.settings
    return prepared_run(replace(system, settings=settings), {**plan, "q": q.tolist()})


def shoved(system: Any, force: float) -> Any:
    """The system with a force [N] along x at the center of mass of its base, while it is shoved."""
    from kinemorph.elements import AppliedWrench, Table

    if not force:
        return system
    base = system.robot.body(base_joint(system.robot).child)
    begin, end = PUSHED
    times = (0.0, begin, begin + FINE, end, end + FINE, UNTIL)
    push = Table(times, tuple((on * force, 0.0, 0.0) for on in (0.0, 0.0, 1.0, 1.0, 0.0, 0.0)))
    shove = AppliedWrench("shove", base.name, push, point=tuple(float(x) for x in base.com))
    return replace(system, elements=(*system.elements, shove))


# ── here ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def path_here(system: Any, run: Any) -> Path3:
    """What came of our run."""
    from kinemorph.model.elements import Contact

    robot = system.robot
    here = robot.q_slice(base_joint(robot).name)
    names = [one.name for one in system.elements if isinstance(one, Contact)]
    force = np.sum([run[f"{name}.force_z"] for name in names], axis=0)
    margins = _margins(system)
    depths = np.nan_to_num([run[f"{name}.depth"] - margins[name] for name in names], nan=-np.inf)
    which, when = np.unravel_index(int(np.argmax(depths)), depths.shape)
    normal = next(one.normal for one in system.elements if one.name == names[which])
    base = np.asarray(run.q)[:, here.start : here.start + 7]
    return Path3(
        np.asarray(run.t), base, force, max(float(depths.max()), 0.0), float(run.t[when]), type(normal).__name__
    )


def _margins(system: Any) -> dict[str, float]:
    """For each contact by how much [m] its ground is raised, because its forces begin at a distance."""
    from kinemorph.model.elements import Contact, Plane

    found = {}
    levels = [one.ground for one in system.elements if isinstance(one, Contact) and isinstance(one.ground, Plane)]
    for one in system.elements:
        if isinstance(one, Contact):
            found[one.name] = 0.0
            if isinstance(one.ground, Plane):
                n = np.array(one.ground.normal, dtype=float)
                heights = [
                    float(n @ np.array(other.point, dtype=float))
                    for other in levels
                    if other.normal == one.ground.normal
                ]
                found[one.name] = float(n @ np.array(one.ground.point, dtype=float)) - min(heights)
    return found


# ── in MuJoCo ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def ground_only(model: Any) -> None:
    """Leaves only contacts of geoms that move with planes and height fields that do not."""
    fixed = model.body_weldid[model.geom_bodyid] == 0
    grounds = [k for k in range(model.ngeom) if fixed[k] and model.geom_type[k] in (PLANE, HFIELD)]
    masks = np.zeros(model.ngeom, dtype=np.int64)
    for bit, ground in enumerate(grounds):
        for k in range(model.ngeom):
            meets = (model.geom_contype[k] & model.geom_conaffinity[ground]) | (
                model.geom_contype[ground] & model.geom_conaffinity[k]
            )
            if meets and not fixed[k]:
                masks[k] |= 1 << bit
    model.geom_conaffinity[:] = masks
    model.geom_contype[:] = 0
    for bit, ground in enumerate(grounds):
        model.geom_contype[ground] = 1 << bit
        model.geom_conaffinity[ground] = 0
    for pair, ends in enumerate(zip(model.pair_geom1, model.pair_geom2, strict=True)):
        if not any(end in grounds for end in ends):
            model.pair_margin[pair] = -NEVER


def run_there(model: Any, qpos: np.ndarray, qvel: np.ndarray, ctrl: Any, act: Any, shove: float = 0.0) -> Path3:
    """MuJoCo's run from a start, shoved by a force [N]."""
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    if ctrl is not None:
        data.ctrl[:] = ctrl
    if act is not None and model.na:
        data.act[:] = act
    fixed = model.body_weldid[model.geom_bodyid] == 0
    joint = _base(model)
    at, body = int(model.jnt_qposadr[joint]), int(model.jnt_bodyid[joint])
    steps = round(UNTIL / model.opt.timestep)
    t, base, force, depth, deepest = [], [], [], 0.0, 0.0
    wrench = np.zeros(6)
    for _ in range(steps):
        data.xfrc_applied[body, 0] = shove if PUSHED[0] <= data.time < PUSHED[1] else 0.0
        mujoco.mj_step(model, data)
        pushed = 0.0
        for k in range(data.ncon):
            one = data.contact[k]
            a, b = one.geom
            if a < 0 or b < 0 or fixed[a] == fixed[b]:
                continue
            mujoco.mj_contactForce(model, data, k, wrench)
            up = (one.frame.reshape(3, 3).T @ wrench[:3])[2]
            pushed += up if fixed[a] else -up
            if -one.dist > depth:
                depth, deepest = -float(one.dist), float(data.time)
        t.append(data.time)
        base.append(data.qpos[at : at + 7].copy())
        force.append(pushed)
    return Path3(np.array(t), np.array(base), np.array(force), depth, deepest)


def _peer_floats(path: Path) -> bool:
    """Whether MuJoCo reads an MJCF file, and the most velocities of it are above a free joint."""
    import mujoco

    mujoco.set_mju_user_warning(lambda message: None)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return False
    free = [int(model.dof_treeid[model.jnt_dofadr[k]]) for k in range(model.njnt) if model.jnt_type[k] == FREE]
    sizes = np.bincount(model.dof_treeid) if model.nv else np.zeros(1)
    return any(sizes[tree] == sizes.max() for tree in free)


def _base(model: Any) -> int:
    """The number of the free joint with the most velocities above it."""
    free = [k for k in range(model.njnt) if model.jnt_type[k] == FREE]
    sizes = [int((model.dof_treeid == model.dof_treeid[model.jnt_dofadr[k]]).sum()) for k in free]
    return free[int(np.argmax(sizes))]


# ── both ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def carried(path: Path3, weight: float) -> float:
    """The vertical force of the ground over the weight, mean over the end of a run; NaN without gravity."""
    return float(path.force[path.t > path.t[-1] - LAST].mean() / weight) if weight else math.nan


def rests(path: Path3) -> bool:
    """Whether the base moves and turns slowly at the end of a run."""
    late = path.t > path.t[-1] - LAST
    first, last = path.base[late][0], path.base[-1]
    turned = 2.0 * np.arccos(min(abs(float(first[3:] @ last[3:])), 1.0))
    return bool(np.linalg.norm(last[:3] - first[:3]) < SLOW * LAST and turned < TURNING * LAST)


def agreement(here: Path3, there: Path3, distance: float) -> float:
    """The time [s] until which the positions of the base are no farther apart than a distance [m]."""
    apart = np.linalg.norm(
        np.column_stack([np.interp(there.t, here.t, here.base[:, k]) for k in range(3)]) - there.base[:, :3], axis=1
    )
    beyond = np.flatnonzero(~(apart <= distance))
    return float(there.t[beyond[0]] if len(beyond) else there.t[-1])


def peer_model(path: Path, format: str, system: Any) -> tuple[Any, bool]:
    """MuJoCo's model: of the file, or for other formats of our own MJCF of it. Without any ground it gets z = 0.

    Where MuJoCo refuses inertias that no body can have, it replaces them (`balanceinertia`); the second value says so.
    """
    import mujoco

    from kinemorph.formats.loading import save

    mujoco.set_mju_user_warning(lambda message: None)
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = path
        if format != "mjcf":
            source = Path(folder) / "robot.xml"
            save(system, source)
        try:
            return _grounded(mujoco.MjSpec.from_file(str(source))), False
        except ValueError:
            spec = mujoco.MjSpec.from_file(str(source))
            spec.compiler.balanceinertia = True
            return _grounded(spec), True


def _grounded(spec: Any) -> Any:
    """The model of a specification, on the plane z = 0 if it has neither a plane nor a height field."""
    import mujoco

    model = spec.compile()
    fixed = model.body_weldid[model.geom_bodyid] == 0
    if not (fixed & np.isin(model.geom_type, (PLANE, HFIELD))).any():
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])
        model = spec.compile()
    return model


def dropped(path: Path, format: str, root: Path, shove: float = 0.0) -> Drop | None:
    """Drops the robot of a file, and shoves it by a force [N]; None if it has no free base, or no collision shape."""
    from kinemorph.formats.loading import examine
    from kinemorph.formats.sources import Options
    from kinemorph.model.conventions.conversions import to_convention
    from kinemorph.model.elements import Contact
    from kinemorph.model.elements.contact.contacts_from_shapes import default_normal

    name = path.relative_to(root.parent).as_posix()
    if format == "mjcf" and not _peer_floats(path):
        return None
    base = None if format == "mjcf" else "free"
    found = examine(path, options=Options(package_dirs=(root,), base=base))
    if found.system is None:
        first = found.errors[0]
        return Drop(name, path.stem, 0, 0, "", 0.0, f"refused: [{first.rule}] {first.problem}"[:200])
    system = found.system
    if system.robot.is_kinematic or base_joint(system.robot) is None:
        return None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ready = prepared(shoved(system, shove))
        if ready is None:
            return None
        run = ready.run()
    robot = ready.system.robot
    moving = sum(float(body.mass) for body in robot.bodies)
    gravity = float(np.linalg.norm([float(x) for x in robot.gravity]))
    weight = moving * gravity
    count = sum(isinstance(one, Contact) for one in ready.system.elements)
    sentences = sorted({f"{one.category.__name__}: {one.message}" for one in told})
    outcome = "finished" if run.outcome.ok else run.outcome.message
    result = Drop(
        name, robot.name, robot.nv, count, chosen_start(system), weight, outcome,
        told=tuple(sentences), shove=shove,
        loops=float(np.max(run.loop_error)) if robot.loops or robot.couplings else None,
    )  # fmt: skip
    here = path_here(ready.system, run)
    stated = here.law != type(default_normal(robot)).__name__
    result = result._replace(depth=here.depth, deepest=here.deepest, law=here.law, stated=stated)
    result = result._replace(base=tuple(here.base[-1].tolist()), unbalanced=_unbalanced(run))
    if run.outcome.ok:
        result = result._replace(carried=carried(here, weight))
    try:
        model, balanced = peer_model(path, format, system)
    except ValueError:  # MuJoCo refuses what we wrote
        return result
    result = result._replace(balanced=balanced)
    result = result._replace(weight=(weight := float(model.body_mass[model.body_weldid != 0].sum()) * gravity))
    if run.outcome.ok:
        result = result._replace(carried=carried(here, weight))
    qpos, qvel = to_convention(robot, "mujoco", run.q[0], run.v[0])
    key = _key(model, chosen_start(system))
    ctrl = model.key_ctrl[key] if key is not None else None
    act = model.key_act[key] if key is not None and model.na else None
    home = run_there(model, qpos, qvel, ctrl, act, shove)
    if format != "mjcf" and not home.depth <= DROP:  # its steps, which no file states, are too long: it flies off
        model.opt.timestep *= 0.1
        home = run_there(model, qpos, qvel, ctrl, act, shove)
    result = result._replace(
        depth_home=home.depth,
        carried_home=carried(home, weight),
        rests=rests(home),
        base_home=tuple(home.base[-1].tolist()),
    )
    ground_only(model)
    there = run_there(model, qpos, qvel, ctrl, act, shove)
    return result._replace(
        step=float(model.opt.timestep),
        depth_there=there.depth,
        carried_there=carried(there, weight),
        rests_there=rests(there),
        base_there=tuple(there.base[-1].tolist()),
        within_mm=agreement(here, there, 1e-3),
        within_cm=agreement(here, there, 1e-2),
    )


def _unbalanced(run: Any) -> float | None:
    """The largest error of the energy balance of a run over the energy that it exchanged; None if it has none."""
    from kinemorph.simulation.running.energy_check import energy_error

    found = energy_error(run.segments, run.events)
    return None if found is None else found.share


def _key(model: Any, start: str) -> int | None:
    """The number of a keyframe by the name of a start."""
    if not start:
        return None
    names = [model.key(k).name or f"key{k}" for k in range(model.nkey)]
    return names.index(start) if start in names else None
