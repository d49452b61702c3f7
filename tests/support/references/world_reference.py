"""The mechanics of a robot once more, by the textbook and in 40 digits: the truth for robots that cost others digits.

Poses are products of 4 x 4 matrices, straight from the declared joints. Every joint axis is a screw in world
coordinates; a body's center of mass moves with  c_i = dc/dv_i,  its orientation with  w_i. Then

    M = sum_b m c_i . c_j + w_i . I w_j + armature,    h_i = sum_b c_i . m (a - g) + w_i . (I alpha + omega x I omega)

Nothing of the package's own mechanics is used. Beside each quantity stands its natural scale: what it would change if
every declared length were off by its own size, all signs at their worst; rounding may cost a few 1e-16 of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath.ctx_mp import MPContext

from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot

exact = MPContext()
exact.dps = 40
Array = np.ndarray


def many(x: Any) -> Array:
    """Nested numbers as an array of 40-digit ones."""
    return np.vectorize(exact.mpf, otypes=[object])(np.array(x, dtype=object))


def plain(x: Any) -> Array:
    return np.array(x, dtype=object).astype(float)


ONE, ZERO = many(np.eye(4).tolist()), many([0, 0, 0])


def size(x: Array) -> float:
    return float(exact.sqrt(sum(part * part for part in x)))


def hat(w: Array) -> Array:
    x, y, z = w
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])


def placed(R: Any, p: Any) -> Array:
    T = ONE.copy()
    T[:3, :3], T[:3, 3] = R, p
    return T


def undone(T: Array) -> Array:
    return placed(T[:3, :3].T, -(T[:3, :3].T @ T[:3, 3]))


def turned(axis: Array, angle: Any) -> Array:
    """Rodrigues' formula for a unit axis."""
    K = hat(axis)
    return ONE[:3, :3] + exact.sin(angle) * K + (1 - exact.cos(angle)) * (K @ K)


def turned_by(quaternion: Array) -> Array:
    """Rotation of a quaternion wxyz of any length."""
    w, r = quaternion[0], quaternion[1:]
    return ((w * w - r @ r) * ONE[:3, :3] + 2 * np.outer(r, r) + 2 * w * hat(r)) / (w * w + r @ r)


def carried(T: Array, screw: Array) -> Array:
    """A screw [linear; angular] of a frame, in the frame where that one lies at T."""
    angular = T[:3, :3] @ screw[3:]
    return np.concatenate([T[:3, :3] @ screw[:3] + np.cross(T[:3, 3], angular), angular])


def steps(joint: Joint, q: Array) -> list[tuple[Array, list[Array]]]:
    """The motions of a joint, left to right, each with its screws in the frame after it."""
    u, u2, pitch = many(joint.axis), many(joint.axis2), many(evaluate_all((joint.pitch,)))[0]
    x, y, z = ONE[:3, :3]
    along, about = (lambda a: np.concatenate([a, ZERO])), (lambda a: np.concatenate([ZERO, a]))
    if joint.kind in ("revolute", "helical"):
        pitch = pitch if joint.kind == "helical" else 0 * pitch
        return [(placed(turned(u, q[0]), u * pitch * q[0]), [about(u) + pitch * along(u)])]
    if joint.kind == "prismatic":
        return [(placed(ONE[:3, :3], u * q[0]), [along(u)])]
    if joint.kind == "cylindrical":
        return [(placed(turned(u, q[0]), ZERO), [about(u)]), (placed(ONE[:3, :3], u * q[1]), [along(u)])]
    if joint.kind == "universal":
        return [(placed(turned(u, q[0]), ZERO), [about(u)]), (placed(turned(u2, q[1]), ZERO), [about(u2)])]
    if joint.kind == "gimbal":
        turns = [({"x": x, "y": y, "z": z}[letter], angle) for letter, angle in zip(joint.order, q, strict=True)]
        return [(placed(turned(axis, angle), ZERO), [about(axis)]) for axis, angle in turns]
    if joint.kind == "spherical":
        return [(placed(turned_by(q), ZERO), [about(x), about(y), about(z)])]
    if joint.kind in ("point_on_line", "point_on_plane"):
        ways = [u] if joint.kind == "point_on_line" else [x, y]
        slides = [(placed(ONE[:3, :3], way * q[k]), [along(way)]) for k, way in enumerate(ways)]
        return [*slides, (placed(turned_by(q[len(ways) :]), ZERO), [about(x), about(y), about(z)])]
    if joint.kind == "planar":
        return [(placed(turned(z, q[2]), x * q[0] + y * q[1]), [along(x), along(y), about(z)])]
    if joint.kind == "free":
        return [(placed(turned_by(q[3:]), q[:3]), [*map(along, (x, y, z)), *map(about, (x, y, z))])]
    return []


@dataclass
class Place:
    """A frame at one instant: pose, twist, acceleration, the velocities that move it, and the way to it [m]."""

    pose: Array
    twist: Array  # in world coordinates, as is its rate
    rate: Array
    moved_by: list[int]
    way: float  # length of all steps from the world
    moving_way: float  # of those after the first moving joint


class WorldReference:
    """A robot at (q, v). 40-digit arrays, but for the scales."""

    def __init__(self, robot: Robot, q: Any, v: Any) -> None:
        self.robot, nv = robot, robot.nv
        q, self.v = many(q).reshape(-1), many(v).reshape(-1)
        six = many([0] * 6)
        self.screws, self.rates, self.ways = [six] * nv, [six] * nv, [0.0] * nv
        self.lengths, self.turns = np.zeros(nv), np.zeros(nv)  # of each screw's linear and angular part, by itself
        self.places = {"world": Place(ONE, six, six, [], 0.0, 0.0)}
        for joint in robot.order:
            self.places[joint.child] = self._beyond(joint, q[robot.q_slice(joint.name)])
        for frame in robot.frames:
            at, T = self.places[frame.body], matrix(frame.placement)
            way = size(T[:3, 3])
            self.places[frame.name] = Place(
                at.pose @ T, at.twist, at.rate, at.moved_by, at.way + way, at.moving_way + way
            )
        self._equations()

    def _beyond(self, joint: Joint, q: Array) -> Place:
        at = self.places[joint.parent]
        T, twist, rate, moved_by = at.pose, at.twist, at.rate, list(at.moved_by)
        lengths, moving = [size(many(evaluate_all(joint.placement.p)))], 0.0
        T = T @ matrix(joint.placement)
        first = self.robot.v_slice(joint.name).start
        moving += lengths[0] if moved_by else 0.0
        for motion, screws in steps(joint, q):
            T, step = T @ motion, size(motion[:3, 3])
            lengths.append(step)
            moving += step if moved_by else 0.0
            own = range(first, first + len(screws))
            for k, screw in zip(own, screws, strict=True):
                self.screws[k], self.ways[k] = carried(T, screw), at.way + sum(lengths)
                self.lengths[k], self.turns[k] = size(screw[:3]), size(screw[3:])
                twist = twist + self.screws[k] * self.v[k]
            for k in own:  # all ride on the frame after the motion
                s, w = self.screws[k], twist[3:]
                self.rates[k] = np.concatenate([np.cross(w, s[:3]) + np.cross(twist[:3], s[3:]), np.cross(w, s[3:])])
                rate = rate + self.rates[k] * self.v[k]
            moved_by, first = moved_by + list(own), first + len(screws)
        back = matrix(joint.child_placement)
        last = size(back[:3, 3])
        way, moving = at.way + sum(lengths) + last, at.moving_way + moving + (last if moved_by else 0.0)
        return Place(T @ undone(back), twist, rate, moved_by, way, moving)

    def levers(self, frame: Place, extra: float = 0.0) -> Array:
        """How far a point of a frame could move per unit of each velocity, if all steps lay in one line."""
        result = np.zeros(self.robot.nv)
        for k in frame.moved_by:
            result[k] = self.lengths[k] + self.turns[k] * (frame.way - self.ways[k] + extra)
        return result

    def _equations(self) -> None:
        robot, nv = self.robot, self.robot.nv
        g = many(evaluate_all(robot.gravity))
        armature = many([x for joint in robot.joints for x in evaluate_all(joint.armature)]).reshape(-1)
        self.M, self.Mdot = np.diag(armature) if nv else many(np.zeros((0, 0))), many(np.zeros((nv, nv)).tolist())
        self.h, self.g = many([0] * nv), many([0] * nv)
        self.potential = self.potential_scale = exact.mpf(0)
        self.M_scale, self.h_scale, self.g_scale = plain(self.M), np.zeros(nv), np.zeros(nv)
        self.C_scale = np.zeros((nv, nv))  # by levers from the root: that is where the matrix is summed
        speed = np.abs(plain(self.v))
        for body in robot.bodies:
            at = self.places[body.name]
            m, com = many([evaluate_all((body.mass,))])[0][0], many(evaluate_all(body.com))
            R, used = at.pose[:3, :3], at.moved_by
            c, I = R @ com + at.pose[:3, 3], R @ many(evaluate_all(body.inertia)) @ R.T
            w, alpha = at.twist[3:], at.rate[3:]
            u = at.twist[:3] + np.cross(w, c)
            a = at.rate[:3] + np.cross(alpha, c) + np.cross(w, u)
            self.potential = self.potential - m * (g @ c)
            self.potential_scale += m * size(g) * (at.way + size(com))
            if not used:
                continue
            S, Sdot = np.array([self.screws[k] for k in used]), np.array([self.rates[k] for k in used])
            J, W = S[:, :3] + np.cross(S[:, 3:], c), S[:, 3:]
            Jdot = Sdot[:, :3] + np.cross(Sdot[:, 3:], c) + np.cross(S[:, 3:], u)
            Wdot, Idot, on = Sdot[:, 3:], hat(w) @ I - I @ hat(w), np.ix_(used, used)
            half = m * (Jdot @ J.T) + Wdot @ I @ W.T
            self.M[on] = self.M[on] + m * (J @ J.T) + W @ I @ W.T
            self.Mdot[on] = self.Mdot[on] + half + half.T + W @ Idot @ W.T
            self.h[used] = self.h[used] + J @ (m * (a - g)) + W @ (I @ alpha + np.cross(w, I @ w))
            self.g[used] = self.g[used] - J @ (m * g)

            reach, spin = size(com), float(np.dot(self.turns[used], speed[used]))
            far, near = self.levers(at, reach)[used], np.array([size(row) for row in J])
            mass, moment = float(m), float(sum(np.diag(I)))
            turns, drift = self.turns[used], float(np.dot(self.lengths[used], speed[used]))
            worst = size(g) + spin * spin * (at.moving_way + reach) + 2.0 * spin * drift
            self.M_scale[on] += mass * (np.outer(near, far) + np.outer(far, near)) + moment * np.outer(turns, turns)
            self.h_scale[used] += mass * (far * size(a - g) + near * worst) + turns * moment * spin * spin
            self.g_scale[used] += mass * far * size(g)
            arms = self.lengths[used] + turns * (at.moving_way + reach)
            swept = mass * (spin * np.outer(arms, arms) + drift * (np.outer(turns, arms) + np.outer(arms, turns)))
            self.C_scale[on] += swept + spin * moment * np.outer(turns, turns)
        self.kinetic = (self.v @ self.M @ self.v) / 2 if nv else exact.mpf(0)

    def accelerations(self, tau: Any) -> Array:
        """a with  M a + h = tau."""
        rest = many(tau) - self.h
        return np.array(list(exact.lu_solve(exact.matrix(self.M.tolist()), exact.matrix(rest.tolist()))))

    def jacobian(self, frame: str, reference: str) -> tuple[Array, Array]:
        """(6, nv), and the scale of its linear rows per column (nv,): levers from the world, where it is summed."""
        at, J = self.places[frame], many(np.zeros((6, self.robot.nv)).tolist())
        seen = {"world": ONE, "local": undone(at.pose), "local_world_aligned": placed(ONE[:3, :3], -at.pose[:3, 3])}
        for k in at.moved_by:
            J[:, k] = carried(seen[reference], self.screws[k])
        ways = np.array(self.ways) if reference == "world" else at.way
        return J, self.lengths + self.turns * ways


def matrix(pose: Any) -> Array:
    R, p = evaluate_all(pose)
    return placed(many(R), many(p))
