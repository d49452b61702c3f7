"""One robot file that nobody here wrote: whether it is read, whether a peer agrees, and whether it acts as at home.

The peer reads the same file by its own parser: Pinocchio a URDF or an expanded xacro file, MuJoCo an MJCF file, Drake
an SDF file, and a URDF with rotors in Drake's own elements. M, bias forces and accelerations are those of the tree,
without loops, couplings, contacts and drives. What acts is compared by accelerations of the first instant at random
states:

    MJCF    all that the file drives, pulls and brakes, at random controls, with MuJoCo's constraints off
    URDF    joint damping; and mimic joints, as Pinocchio itself reads and eliminates them
    SDF     joint damping, springs, rotor inertias with gears, as Drake has them in continuous time
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from support.peers.mjcf_peers import accelerations, acting_error, share, shares, worst

STATES = 3
CLOSE = 1e-9  # of the largest entry; of accelerations, times the condition number of M


class Verdict(NamedTuple):
    """What came of a file.

    agree        read here and by the peer, and equal
    kinematic    read here for kinematics, because nothing that moves has a mass
    peer cannot  read here; the peer refuses it, or its accelerations are not finite
    no peer      read here; no peer is installed for the format, or nothing moves
    disagree     read here and by the peer, and not equal: `reason` has the errors
    right        refused here and by the peer, or a part that is no model
    strict       refused here, while the peer reads it and has finite accelerations: `reason` has the rule
    died         no answer within the time limit, or a crash
    """

    file: str
    format: str
    verdict: str
    reason: str = ""
    dropped: tuple[str, ...] = ()  # what does not act, by the rules of the warnings
    cause: str = ""  # of a refusal, one of CAUSES
    acts: float | None = None  # error of the accelerations with what acts; None where that is not compared
    named: bool = False  # the folder of the collection had to be named in `package_dirs`


class Heard(NamedTuple):
    """What a peer says of a file: errors of M, bias and accelerations beside ours, or why there are none."""

    finite: bool  # the peer reads the file, and its accelerations are finite
    said: str = ""
    errors: tuple[float, ...] | None = None
    absent: bool = False  # there is no peer, or nothing to compare
    acts: float | None = None


# ── here ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def judged(path: Path, format: str, root: Path) -> Verdict:
    """Reads a file here and by the peer."""
    from kinemorph.formats.loading import examine
    from kinemorph.formats.sources import Options

    name = path.relative_to(root.parent).as_posix()
    found, named = examine(path), False
    if found.system is None and any(one.rule == "path" for one in found.errors):
        found = examine(path, options=Options(package_dirs=(root,)))
        named = found.system is not None
    dropped = tuple(sorted({f"{one.rule}: {one.problem}"[:160] for one in found.warnings}))
    system = found.system if found.system and not found.system.robot.is_kinematic else None
    peer = PEERS[format](path, system, root)
    if found.system is None:
        first = found.errors[0]
        reason = f"[{first.rule}] {first.problem} / peer: {peer.said}"
        told = " ".join(one.problem for one in found.errors)
        return Verdict(name, format, "strict" if peer.finite else "right", reason, dropped, cause(first.rule, told))
    if found.system.robot.is_kinematic and found.system.robot.nv:
        return Verdict(name, format, "kinematic", "", dropped, named=named)
    if peer.errors is None:
        return Verdict(name, format, "no peer" if peer.absent else "peer cannot", peer.said, dropped, named=named)
    close = all(error < CLOSE for error in peer.errors)
    texts = ", ".join(f"{what} {error:.1e}" for what, error in zip(("M", "h", "a"), peer.errors, strict=False))
    reason = f"{peer.said}: {texts}" if peer.said else texts
    doubts = [text for text in dropped if not close and ("triangle inequality" in text or text.startswith("mass"))]
    reason = "; ".join([reason, *doubts[:1]])
    return Verdict(name, format, "agree" if close else "disagree", reason, dropped, "", peer.acts, named)


CAUSES = {  # of refusals: parts of a finding's sentence that tell them, in this order
    "no robot in it": ("expected <", "no bodies", "no links", "has no <link>", "no <model>", "is empty", "no model"),
    "names a missing file": ("does not exist", "is not found", "not found", "on the internet", "which is not there"),
    "xacro": ("xacro",),
    "no finite accelerations": ("infinite accelerations", "no mass", "singular"),
    "not well-formed": ("not well-formed", "XML"),
    "MuJoCo refuses it": ("MuJoCo cannot compile", "MuJoCo ended", "MuJoCo takes", "MuJoCo needs"),
}


def cause(rule: str, told: str) -> str:
    """The cause of a refusal, by the rule and the text of its findings."""
    found = next((name for name, parts in CAUSES.items() if any(part in told for part in parts)), "")
    return found or f"rule {rule}"


def random_state(robot: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, v, tau)."""
    from kinemorph.model.configuration import Dice, random_configuration

    q = np.array(random_configuration(robot, Dice(int(rng.integers(1 << 30)))), dtype=float)
    v, tau = rng.normal(size=(2, robot.nv))
    return q, v, tau


def answers_here(robot: Any, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, ...]:
    """(M, bias, accelerations) of our robot as a tree."""
    from kinemorph.mechanics.recursions.articulated_bodies import forward_dynamics
    from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
    from kinemorph.mechanics.recursions.newton_euler import bias_forces
    from kinemorph.mechanics.trees.resolve import resolve

    tree = resolve(replace(robot, loops=(), couplings=()))
    state = q.tolist(), v.tolist()
    found = mass_matrix(tree, state[0]), bias_forces(tree, *state), forward_dynamics(tree, *state, tau.tolist())
    M, h, a = (np.array(one, dtype=float) for one in found)
    return M, h, a


def errors_beside(mine: tuple[np.ndarray, ...], theirs: tuple[np.ndarray, ...]) -> list[float]:
    """The errors of M, bias and accelerations, the last divided by the condition of M."""
    errors = shares(mine, theirs)
    errors[2] /= _condition(theirs[0])
    return errors


def _condition(M: np.ndarray) -> float:
    return max(float(np.linalg.cond(M)), 1.0)


# ── Pinocchio ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _by_pinocchio(path: Path, system: Any, root: Path) -> Heard:
    """Pinocchio on a URDF; a xacro file is expanded by xacro itself."""
    import pinocchio as pin

    from kinemorph.model.conventions.conversions import to_convention

    try:
        if path.suffix.lower() == ".xacro":
            import xacro

            build = partial(pin.buildModelFromXML, xacro.process_file(str(path)).toxml())
        else:
            build = partial(pin.buildModelFromUrdf, str(path))
        model = build()
    except BaseException as error:  # a peer may raise whatever it likes
        return Heard(False, f"{type(error).__name__}: {error}".splitlines()[0][:120])
    data, rng = model.createData(), np.random.default_rng(7)
    if model.nv == 0:
        return Heard(True, "nothing moves", absent=True)
    if system is None:
        model.lowerPositionLimit[:], model.upperPositionLimit[:] = -1.0, 1.0
        a = pin.aba(model, data, pin.randomConfiguration(model), *rng.normal(size=(2, model.nv)))
        return Heard(bool(np.isfinite(a).all()), "reads it")
    robot = system.robot
    unbounded = [model.names[k] for k in range(1, model.njoints) if model.joints[k].nq == 2 and model.joints[k].nv == 1]
    joints = [name for name in model.names if name != "universe"]
    if model.nv != robot.nv:
        return Heard(True, f"has {model.nv} velocities, here {robot.nv}", (1.0,))
    model.gravity.linear = np.array(robot.gravity, dtype=float)
    there_by = {"joints": joints, "unbounded": unbounded}
    found, acts = np.zeros(3), 0.0
    damping = np.array([float(d) for joint in robot.joints for d in joint.damping])
    for _ in range(STATES):
        q, v, tau = random_state(robot, rng)
        there, _ = to_convention(robot, "pinocchio", q, v, **there_by)
        B = to_convention(robot, "pinocchio", q, np.eye(robot.nv), **there_by)[1].T  # v there = B v
        upper = np.triu(pin.crba(model, data, there))
        M = upper + np.triu(upper, 1).T
        h = pin.rnea(model, data, there, B @ v, np.zeros(model.nv))
        a = pin.aba(model, data, there, B @ v, np.linalg.solve(B.T, tau))
        if not np.isfinite(a).all():
            return Heard(False, "accelerations are not finite")
        M_here = B.T @ M @ B
        mine = answers_here(robot, q, v, tau)
        found = np.maximum(found, errors_beside(mine, (M_here, B.T @ h, np.linalg.solve(B, a))))
        braked = np.linalg.solve(B, pin.aba(model, data, there, B @ v, -model.damping * (B @ v)))
        acts = max(acts, share(answers_here(robot, q, v, -damping * v)[2], braked, 1.0) / _condition(M_here))
    if robot.couplings:
        reduced = None
        with suppress(ValueError):  # "the parent joint of the mimic joint is not in the kinematic tree"
            reduced = build(mimic=True)
        acts = max(acts, _mimic_error(reduced, model, robot, there_by))
    return Heard(True, "", tuple(found.tolist()), acts=acts)


def _mimic_error(reduced: Any, model: Any, robot: Any, there_by: dict[str, Any]) -> float:
    """The error of accelerations of the joints that lead, with mimic joints as Pinocchio eliminates them."""
    import pinocchio as pin

    from kinemorph.model.conventions.conversions import to_convention

    if reduced is None or robot.nv - len(robot.couplings) != reduced.nv or any(joint.nv > 1 for joint in robot.joints):
        return 0.0  # there are mimics that Pinocchio does not eliminate, or joints whose velocities differ
    reduced.gravity.linear = model.gravity.linear
    rng, largest = np.random.default_rng(9), 0.0
    leaders = [k for k in range(1, reduced.njoints) if "Mimic" not in reduced.joints[k].shortname()]
    for _ in range(STATES):
        data = reduced.createData()  # a second crba on the same data adds to entries of mimic joints
        q, v, tau = random_state(robot, rng)
        G = _follow(robot, q)
        v = G @ v
        there, v_there = to_convention(robot, "pinocchio", q, v, **there_by)
        _, order = to_convention(robot, "pinocchio", q, np.arange(robot.nv, dtype=float), **there_by)
        q_led, v_led, places = np.zeros(reduced.nq), np.zeros(reduced.nv), np.zeros(reduced.nv, dtype=int)
        for k in leaders:
            new, old = reduced.joints[k], model.joints[model.getJointId(reduced.names[k])]
            q_led[new.idx_q : new.idx_q + new.nq] = there[old.idx_q : old.idx_q + old.nq]
            v_led[new.idx_v : new.idx_v + new.nv] = v_there[old.idx_v : old.idx_v + old.nv]
            places[new.idx_v : new.idx_v + new.nv] = np.rint(order[old.idx_v : old.idx_v + old.nv]).astype(int)
        M, h, _ = answers_here(robot, q, v, tau)
        led = G[:, places]
        mine = np.linalg.solve(led.T @ M @ led, tau[places] - led.T @ h)
        upper = np.triu(pin.crba(reduced, data, q_led))
        M_led = upper + np.triu(upper, 1).T
        theirs = np.linalg.solve(M_led, tau[places] - pin.rnea(reduced, data, q_led, v_led, np.zeros(reduced.nv)))
        largest = max(largest, share(mine, theirs, 1.0) / _condition(M_led))
    return largest


def _follow(robot: Any, q: np.ndarray) -> np.ndarray:
    """Puts the joints that follow where they belong in q; gives G (nv, nv): v = G v, from the leaders' velocities."""
    G = np.eye(robot.nv)
    for _ in robot.couplings:  # a leader may itself follow
        for one in robot.couplings:
            at, leader = robot.q_slice(one.joint).start, robot.q_slice(one.leader).start
            q[at] = float(one.multiplier) * q[leader] + float(one.offset)
            G[robot.v_slice(one.joint)] = float(one.multiplier) * G[robot.v_slice(one.leader)]
    return G


# ── MuJoCo ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _by_mujoco(path: Path, system: Any, root: Path) -> Heard:
    """MuJoCo on an MJCF file."""
    import mujoco

    mujoco.set_mju_user_warning(lambda message: None)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        return Heard(False, str(error).splitlines()[0][:120])
    if model.nbody == 1:
        return Heard(False, "the world alone has geoms", absent=True)
    if model.nv == 0:
        return Heard(True, "nothing moves", absent=True)
    if system is None:
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        return Heard(bool(np.isfinite(data.qacc).all()), "reads it")
    errors = worst(system.robot, model)[1:]
    acts = acting_error(system, mujoco.MjModel.from_xml_path(str(path)))
    return Heard(True, "", errors, acts=acts)


# ── Drake ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def _models_below(root: Path) -> dict[str, Path]:
    """The folders that Gazebo's `model://NAME` may mean, by their names."""
    return {config.parent.name: config.parent for config in sorted(root.rglob("model.config"), reverse=True)}


def _by_drake(path: Path, system: Any, root: Path) -> Heard:
    """Drake on an SDF or URDF file."""
    if find_spec("pydrake") is None:
        return Heard(True, "Drake is not installed", absent=True)
    from kinemorph.mechanics.trees.resolve import resolve
    from support.peers.drake_peer import DrakePeer, finite_accelerations, without_loops

    if system is None:
        return Heard(*finite_accelerations(path, _models_below(root)))
    robot = system.robot
    try:
        peer = DrakePeer(robot, without_loops(path, robot), packages=_models_below(root))
    except (RuntimeError, ValueError, StopIteration) as error:
        return Heard(False, str(error).splitlines()[0][:120])
    if robot.nv == 0:
        return Heard(True, "nothing moves", absent=True)
    if peer.plant.num_velocities() != robot.nv:
        return Heard(True, f"has {peer.plant.num_velocities()} velocities, here {robot.nv}", (1.0,))
    rng, found, acts = np.random.default_rng(7), np.zeros(3), 0.0
    tree = resolve(replace(robot, loops=(), couplings=()))
    for _ in range(STATES):
        q, v, tau = random_state(robot, rng)
        M, h = peer.mass_matrix(q), peer.bias_forces(q, v)
        a = np.linalg.solve(M, tau - h)
        if not np.isfinite(a).all():
            return Heard(False, "accelerations are not finite")
        found = np.maximum(found, errors_beside(answers_here(robot, q, v, tau), (M, h, a)))
        if not peer.constrained:
            mine = accelerations(system, tree, q, v, Nothing(), Nothing())
            acts = max(acts, share(mine, peer.accelerations(q, v), 1.0) / _condition(M))
    return Heard(True, "", tuple(found.tolist()), acts=None if peer.constrained else acts)


class Nothing(dict[str, float]):
    """Inputs and states of drives, all zero."""

    def __missing__(self, name: str) -> float:
        return 0.0


def _of_urdf(path: Path, system: Any, root: Path) -> Heard:
    """Pinocchio, or Drake where a file has rotors in Drake's own elements."""
    if b"<drake:rotor_inertia" not in path.read_bytes() or find_spec("pydrake") is None:
        return _by_pinocchio(path, system, root)
    from kinemorph.formats.loading import examine
    from kinemorph.formats.sources import Options

    # Drake has a URDF on a free base, unless the file itself joins it to the world
    free = examine(path, options=Options(package_dirs=(root,), base="free")).system if system else None
    return _by_drake(path, free, root)


PEERS = {"urdf": _of_urdf, "xacro": _by_pinocchio, "mjcf": _by_mujoco, "sdf": _by_drake}
