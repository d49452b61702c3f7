"""Gimbals that come to their singular angle in a run, where two of their three axes are parallel (gimbal lock).

The angles of a gimbal do not describe a motion through that angle: one direction of rotation is missing there, the mass
matrix is singular, and the rates of the first and the third angle have no finite value. A method may step over the
angle without noticing it, so a run is ended where the second angle has passed it between two samples. Where an event
makes the angle jump, nothing is passed: the motion after the jump is watched from the state after it.

A gimbal with rotor inertia (armature) on its first or third turn has no singular mass matrix, and is not watched.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinemorph.algebra.arrays import Array
from kinemorph.mechanics.formulations.driven_dynamics import state_formulation
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.joint import EULER_ORDERS
from kinemorph.model.parameter import evaluate
from kinemorph.plants.programs import Plant
from kinemorph.simulation.results.event_log import Jumped, cut_at_jumps

AT = 1e-9  # [rad] nearer to the singular angle than this a gimbal is at it
CLOSE = 1e-2  # [rad] the same, in a run that has failed, whose steps dwindle or whose velocities have no meaning


class Gimbal(NamedTuple):
    """A gimbal: the name of its joint, the index in q of its second angle, and one of its singular angles [rad]."""

    name: str
    second: int
    angle: float

    def sheet(self, q: Array) -> Array:
        """The number of singular angles, counted from `angle`, that the second angle of q (..., nq) has passed."""
        found: Array = np.floor((q[..., self.second] - self.angle) / np.pi)
        return found

    def nearest(self, q: Array) -> Array:
        """The singular angle [rad] nearest to the second angle of q (..., nq)."""
        found: Array = self.angle + np.pi * np.round((q[..., self.second] - self.angle) / np.pi)
        return found

    def is_near(self, q: Array, edge: float) -> NDArray[np.bool_]:
        """Where the second angle of q (..., nq) is nearer than `edge` [rad] to a singular angle.

        Angles of motions that diverge, so large that their digits do not show this, are not near.
        """
        angle = q[..., self.second]
        found: NDArray[np.bool_] = (np.abs(angle - self.nearest(q)) < edge) & (np.spacing(np.abs(angle)) < edge)
        return found


class GimbalWatch:
    """Watches the gimbals of a robot during a run. It does nothing for robots without gimbals."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.gimbals = _gimbals_of(plant)

    def are_passed(self, q: Array, begin: Array) -> NDArray[np.bool_]:
        """Where q (..., nq) is at a singular angle, or beyond one as seen from a configuration `begin` (..., nq)."""
        found = np.zeros(q.shape[:-1], dtype=bool)
        for gimbal in self.gimbals:
            found |= gimbal.is_near(q, AT) | (gimbal.sheet(q) != gimbal.sheet(begin))
        return found

    def passed(self, t: Array, q: Array, begin: Array, p: Array) -> tuple[int, str] | None:
        """(sample, message) of the first of n samples in which a gimbal has passed a singular angle, else None.

        The samples are t (n,) [s] and q (n, nq), `begin` (nq,) is a configuration before them, and p (np,) are the
        values of the plant's parameters. Beyond the angle q may mean nothing, so the message names the angle that is
        nearest to the sample before.
        """
        bad = np.flatnonzero(self.are_passed(q, begin))
        if not len(bad):
            return None
        k = int(bad[0])
        first = next(one for one in self.gimbals if one.is_near(q[k], AT) or one.sheet(q[k]) != one.sheet(begin))
        return k, self._message(first, float(t[k]), q[k - 1] if k else begin, p)

    def is_close(self, q: Array) -> bool:
        """Whether a gimbal is within `CLOSE` of a singular angle at the configuration q (nq,)."""
        return any(gimbal.is_near(q, CLOSE) for gimbal in self.gimbals)

    def near(self, t: float, q: Array, p: Array) -> str | None:
        """A message about a gimbal that is close to a singular angle in a run that fails there, or None."""
        close = [gimbal for gimbal in self.gimbals if gimbal.is_near(q, CLOSE)]
        return self._message(close[0], t, q, p) if close else None

    def _message(self, gimbal: Gimbal, t: float, q: Array, p: Array) -> str:
        robot = self.plant.robot
        assert robot is not None
        at = np.array(q, dtype=float)
        at[gimbal.second] = angle = float(gimbal.nearest(q))
        lookup = {column.name: value for column, value in zip(self.plant.p, p.tolist(), strict=False)}
        tree = resolve(robot, lookup | {"t": t}) if robot.is_timed else resolve(robot, lookup)
        M = np.array(state_formulation(robot).mass_matrix(tree, at.tolist()), dtype=float)
        cond = np.linalg.cond(M) if np.isfinite(M).all() else np.inf
        return comes_to_lock(gimbal, t, f"{np.degrees(angle):.6g}", f" (cond M = {cond:.2g})")


class GimbalPath:
    """How the gimbals of one run have moved so far: samples one after the other, with jumps between them."""

    def __init__(self, watch: GimbalWatch, begin: Array) -> None:
        """`begin` (nq,) is the configuration at the start of the run."""
        self.watch, self.begin = watch, np.array(begin)
        self.waiting: list[Jumped] = []  # jumps after the last sample so far

    def passed(self, t: Array, q: Array, p: Array, jumps: Iterable[Jumped] = ()) -> tuple[float, str] | None:
        """(time [s], message) of the first new sample in which a gimbal has passed a singular angle, else None.

        The samples are t (n,) [s] and q (n, nq); `jumps` are those since the last call. The states right before jumps
        count as samples, those right after them as new beginnings.
        """
        if not self.watch.gimbals:
            return None
        waiting = [*self.waiting, *jumps]
        due = [one for one in waiting if len(t) and one.t <= t[-1]]
        self.waiting = waiting[len(due) :]
        nq = q.shape[-1]
        cuts = [Jumped(one.t, one.before[:nq], one.after[:nq]) for one in due]
        for k, (times, some) in enumerate(cut_at_jumps(t, q, cuts)):
            left = self.watch.passed(times, some, some[0] if k else self.begin, p)
            if left is not None:
                return float(times[left[0]]), left[1]
            self.begin = some[-1] if len(some) else self.begin
        return None


def comes_to_lock(gimbal: Gimbal, t: float, degrees: str, condition: str = "") -> str:
    """The message of a run that ends at t [s] because a gimbal comes to its singular angle, in `degrees` as text.

    `condition` may say how singular the mass matrix is.
    """
    return (
        f"At t = {t:.9g} s gimbal '{gimbal.name}' comes to its singular angle: at {gimbal.name}.second = "
        f"{degrees} deg its first and third axis are parallel, and the mass matrix is singular{condition}. Use a "
        "spherical joint, another order of axes, or rotor inertia (armature)."
    )


def _gimbals_of(plant: Plant) -> list[Gimbal]:
    """The gimbals of a plant whose mass matrix is singular where two of their axes are parallel."""
    robot, found = plant.robot, []
    if robot is None:
        return []
    for joint in robot.joints:
        if joint.kind != "gimbal" or joint.driven:
            continue
        moves = not set(plant.locked) & set(range(*robot.v_slice(joint.name).indices(robot.nv)))
        if moves and not any(evaluate(joint.armature[k]) for k in (0, 2)):
            angle = 0.0 if joint.order in EULER_ORDERS else np.pi / 2
            found.append(Gimbal(joint.name, robot.q_slice(joint.name).start + 1, angle))
    return found
