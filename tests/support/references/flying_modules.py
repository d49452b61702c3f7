"""An independent look at modules in free flight: every body by itself, in the world's axes, about its origin."""

from __future__ import annotations

import numpy as np

from kinemorph.model.changes.reroot import body_motion
from kinemorph.model.modules import Assembly


def cross_matrix(x):
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def bodies_of(segment, sample):
    """(pose R, p; twist [velocity of the point at the origin; angular velocity]) of every body, world axes."""
    found = {}
    for body in segment.robot.bodies:
        T, V = body_motion(segment.robot, body.name, segment.q[sample], segment.v[sample])
        R, p = np.array(T.R, dtype=float), np.array(T.p, dtype=float)
        u, w = R @ np.array(V[:3], dtype=float), R @ np.array(V[3:], dtype=float)
        found[body.name] = R, p, np.concatenate([u - np.cross(w, p), w])
    return found


def inertias_of(robot, states):
    """6 x 6 inertias of bodies about the world's origin, for twists as in `bodies_of`."""
    found = {}
    for body in robot.bodies:
        R, p, _ = states[body.name]
        c = R @ np.array(body.com) + p
        C = cross_matrix(c)
        m, I_c = body.mass, R @ np.array(body.inertia) @ R.T
        found[body.name] = np.block([[m * np.eye(3), -m * C], [m * C, I_c - m * C @ C]])
    return found


def momentum(segment, sample):
    """[linear; angular about the world's origin], shape (6,)."""
    states = bodies_of(segment, sample)
    inertias = inertias_of(segment.robot, states)
    total = np.zeros(6)
    for name, (_, _, V) in states.items():
        total += inertias[name] @ V
    return total


def kinetic_energy(inertias, twists):
    return 0.5 * sum(twists[name] @ inertias[name] @ twists[name] for name in twists)


def loss_of_locking(segment, assembly: Assembly, new=(), fixed=""):
    """(energy lost, twists after) at the end of a segment where the parts of `assembly`'s modules are free bodies under
    its hinges and dockings, and `new` (pairs of ports) lock: maximal coordinates, all rows at once. One body may be
    fixed in the world.
    """
    states = bodies_of(segment, -1)
    inertias = inertias_of(segment.robot, states)
    names = list(states)
    rows = []

    def add(a, b, free):
        """Body b moves in body a along the columns of `free` only."""
        allowed = np.array(free).reshape(6, -1) if len(free) else np.zeros((6, 0))
        across = np.linalg.svd(allowed)[0][:, allowed.shape[1] :].T if allowed.size else np.eye(6)
        block = np.zeros((len(across), 6 * len(names)))
        block[:, 6 * names.index(a) : 6 * names.index(a) + 6] = -across
        block[:, 6 * names.index(b) : 6 * names.index(b) + 6] = across
        rows.append(block)

    for module in assembly.modules:
        for joint in module.type.joints:
            parent, child = f"{module.name}_{joint.parent}", f"{module.name}_{joint.child}"
            R, p, _ = states[parent]
            axis, at = R @ np.array(joint.axis), R @ np.array(joint.placement.p) + p
            add(parent, child, np.concatenate([np.cross(at, axis), axis]))
    carried = {(m.name, port.side): f"{m.name}_{port.body}" for m in assembly.modules for port in m.type.ports}
    pairs = [((d.a, d.side_a), (d.b, d.side_b)) for d in assembly.dockings if d.joint is None]
    for a, b in [*pairs, *new]:
        add(carried[a], carried[b], ())
    if fixed:
        rows.append(np.kron(np.array(names) == fixed, np.eye(6)))
    J = np.concatenate(rows)
    M = np.zeros((6 * len(names), 6 * len(names)))
    for k, name in enumerate(names):
        M[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = inertias[name]
    V = np.concatenate([states[name][2] for name in names])
    # least change in the measure of M: with M = L L^T and y = L^T V, a plain projection
    L = np.linalg.cholesky(M)
    A = np.linalg.solve(L, J.T).T
    y = L.T @ V
    after = np.linalg.solve(L.T, y - np.linalg.pinv(A, rcond=1e-9) @ (A @ y))
    return 0.5 * (V @ M @ V - after @ M @ after), dict(zip(names, after.reshape(-1, 6), strict=True))
