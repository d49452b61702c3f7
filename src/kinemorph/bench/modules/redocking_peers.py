"""The time of MuJoCo and Pinocchio to follow an undocking and a docking: each builds a new model and makes a step.

Both interpret models, so that a new model needs no compilation. The rest of a docking is left to their users:

    MuJoCo      the module's bodies are deleted from the MjSpec and attached elsewhere; `recompile` carries over the
                state of joints that still exist. Users have to compute the state of the new joint, the impact
                and the momentum
    Pinocchio   joints and bodies are added to a new Model, one by one, with known inertias and poses; users have
                to compute states, impact and momentum

Their times do not include these computations. Before they are timed, their accelerations of all hinges have to agree
with ours to `AGREE`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.quaternions import rotation_to_quat
from kinemorph.bench.modules.redocking import NAMES, changing_run
from kinemorph.bench.peers.pinocchio_twin import matrix, twin_of_robot
from kinemorph.bench.timing import timed
from kinemorph.deriving.dynamics import derive
from kinemorph.model.body import Body
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.simulation.results.body_poses import frame_matrices
from kinemorph.simulation.results.trajectory import Segment

AGREE = 1e-10  # largest relative difference of accelerations that agree
MOVED = ("m8_rear", "m8_front")  # bodies of the module that undocks, from root to tip
HINGE = "m8_hinge"
REPEATS = 9


class Piece:
    """The robot and configuration at the beginning of a segment of our run, with accelerations to compare.

    The accelerations are those of the hinges at rest under given torques.
    """

    def __init__(self, segment: Segment) -> None:
        robot = segment.robot
        assert robot is not None
        self.robot, self.q = robot, segment.q[0]
        self.hinges = [joint.name for joint in robot.joints if joint.kind == "revolute"]
        self.at = [robot.v_slice(name).start for name in self.hinges]
        self.tau = np.zeros(robot.nv)
        self.tau[self.at] = np.cos(np.arange(len(self.at)))  # torques of hinges, which all libraries define alike
        a = derive(robot, backend="interpreter").forward_dynamics(self.q, np.zeros(robot.nv), self.tau)
        self.accelerations: Array = a[self.at]

    def difference(self, theirs: Array) -> float:
        """The largest difference of a peer's accelerations of the hinges from ours, relative to our largest one."""
        return float(np.abs(theirs - self.accelerations).max() / np.abs(self.accelerations).max())


class Rebuilt(NamedTuple):
    """A change of topology in a peer: its time [ms], and the relative difference of its accelerations from ours."""

    change: str
    ms: float
    difference: float


def peer_changes(repeats: int = REPEATS) -> dict[str, list[Rebuilt]]:
    """The changes of our run made by MuJoCo, if it is installed, and by Pinocchio; by name of the peer."""
    run = changing_run("rk4")
    pieces = [Piece(segment) for segment in run.segments]
    found = {"Pinocchio": [_by_pinocchio(name, piece, repeats) for name, piece in zip(NAMES, pieces[1:], strict=True)]}
    try:
        import mujoco  # noqa: F401
    except ImportError:
        return found
    return {"MuJoCo": _by_mujoco(pieces, repeats), **found}


# ── Pinocchio ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _by_pinocchio(change: str, piece: Piece, repeats: int) -> Rebuilt:
    """The result of Pinocchio, which builds a model of the piece, creates its data, and calls `aba` once."""
    twin = twin_of_robot(piece.robot)
    there, robot = twin.model, piece.robot
    joints = [
        (there.parents[k], there.joints[k], there.jointPlacements[k], there.names[k]) for k in range(1, there.njoints)
    ]
    bodies = [
        (twin.at[body.name][0], pin.Inertia(evaluate(body.mass), *_moments(body)), pin.SE3(twin.at[body.name][1]))
        for body in robot.bodies
    ]
    q, v, tau = twin.configuration(piece.q), np.zeros(there.nv), twin.velocity(piece.tau)

    def build() -> Any:
        model = pin.Model()
        for joint in joints:
            model.addJoint(*joint)
        for body in bodies:
            model.appendBodyToJoint(*body)
        data = model.createData()
        pin.aba(model, data, q, v, tau)
        return data

    taken, made = zip(*(timed(build) for _ in range(repeats)), strict=True)
    return Rebuilt(change, 1e3 * statistics.median(taken), piece.difference(twin.ours(made[-1].ddq)[piece.at]))


def _moments(body: Body) -> tuple[Array, Array]:
    return np.array(evaluate_all(body.com)), np.array(evaluate_all(body.inertia))


# ── MuJoCo ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _by_mujoco(pieces: Sequence[Piece], repeats: int) -> list[Rebuilt]:
    """The results of MuJoCo, which deletes the module, adds it where it docks next, and compiles the model again."""
    import mujoco

    from kinemorph.bench.peers.mujoco_twin import MujocoTwin

    found = []
    for change, old, new in zip(NAMES, pieces, pieces[1:], strict=False):
        spec, host, parts = MujocoTwin(old.robot).spec, _host(new.robot), _parts(new)
        taken = []
        for _ in range(repeats):
            mine = spec.copy()
            model = mine.compile()
            data = mujoco.MjData(model)
            start = time.process_time()
            mine.delete(mine.body(MOVED[0]))
            at = mine.worldbody if host == "world" else mine.body(host)
            for part, joint in parts:
                at = at.add_body(**part)
                if joint is not None:
                    at.add_joint(**joint)
            model, data = mine.recompile(model, data)
            mujoco.mj_step(model, data)
            taken.append(time.process_time() - start)
        found.append(Rebuilt(change, 1e3 * statistics.median(taken), new.difference(_hinges(model, new))))
    return found


def _host(robot: Robot) -> str:
    """The name of the body that the undocking module is attached to, or "world"."""
    return next(joint.parent for joint in robot.joints if joint.child == MOVED[0])


def _parts(piece: Piece) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Arguments of MuJoCo's `add_body` and `add_joint` for the bodies of the module, from root to tip.

    A body that is fixed to its parent has None in place of the arguments of its joint.
    """
    import mujoco

    robot, host = piece.robot, _host(piece.robot)
    T_host, (T,) = np.eye(4), frame_matrices(robot, piece.q[None], [MOVED[0]])[0]
    if host != "world":  # a body of MuJoCo has the frame of the joint that carries it
        carrying = next(joint for joint in robot.joints if joint.child == host)
        T_host = frame_matrices(robot, piece.q[None], [host])[0, 0] @ matrix(carrying.child_placement)
    poses = [np.linalg.inv(T_host) @ T, matrix(robot.joint(HINGE).placement)]
    free = {"name": f"{MOVED[0]}_free", "type": mujoco.mjtJoint.mjJNT_FREE}
    hinge = {"name": HINGE, "type": mujoco.mjtJoint.mjJNT_HINGE, "axis": list(robot.joint(HINGE).axis)}
    found: list[tuple[dict[str, Any], dict[str, Any] | None]] = []
    for name, pose, joint in zip(MOVED, poses, (free if host == "world" else None, hinge), strict=True):
        com, I = _moments(robot.body(name))
        part = {
            "name": name,
            "pos": pose[:3, 3],
            "quat": rotation_to_quat(pose[:3, :3].tolist()),
            "mass": evaluate(robot.body(name).mass),
            "ipos": com,
            "fullinertia": [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]],
            "explicitinertial": True,
        }
        found.append((part, joint))
    return found


def _hinges(model: Any, piece: Piece) -> Array:
    """MuJoCo's accelerations of all hinges in the state of a piece, shape (hinges,)."""
    import mujoco

    data = mujoco.MjData(model)
    peers = [model.joint(name if name == HINGE else f"{name}.0.0") for name in piece.hinges]
    for peer, name, at in zip(peers, piece.hinges, piece.at, strict=True):
        data.qpos[peer.qposadr] = piece.q[piece.robot.q_slice(name)]
        data.qfrc_applied[peer.dofadr] = piece.tau[at]
    mujoco.mj_forward(model, data)
    return np.array([data.qacc[peer.dofadr[0]] for peer in peers])
