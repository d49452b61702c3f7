"""Closing loops again: the configuration nearest to one in which loops are open or coupled joints are off.

    closed = close_loops(robot, q, held="crank")

The residual is phi(q) of mechanics.loops, brought to zero by analysis.descent on all velocities but those of the joints
that are held. Where more than one configuration closes the loops, the shortest steps lead to one close to the start; to
carry a mechanism from one closed configuration to another without changing the way it is assembled, `follow_loops`
goes in small steps and closes it after each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kinemorph.analysis.descent import Array, Problem, descend
from kinemorph.analysis.ranges import Ranges
from kinemorph.deriving import Dynamics, derive
from kinemorph.errors import ShapeError
from kinemorph.model.configuration import difference, integrate
from kinemorph.model.couplings import followers
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

FARTHEST, SHORTEST = 0.15, 2e-3  # [rad or m], steps on the way of `follow_loops`
MOST_STEPS = 2000
THERE = 1e-9  # [rad or m], a joint that is held is where it was to go


@dataclass(frozen=True)
class Closed:
    """Where closing ended. True where all loops are closed.

    `q` (nq,), the nearest configuration found; `error` [m or rad], the largest opening that is left; `iterations`;
    `message`, a sentence.
    """

    q: Array
    error: float
    iterations: int
    converged: bool
    message: str

    def __bool__(self) -> bool:
        return self.converged


def close_loops(
    model: Robot | System | Dynamics,
    q: npt.ArrayLike,
    *,
    held: str | Sequence[str] = (),
    limits: bool = True,
    tolerance: float = 1e-11,
    iterations: int = 60,
) -> Closed:
    """The configuration near q (nq,) that closes all loops and has coupled joints follow their leaders.

    `model`       a robot, or its Dynamics: compiled functions are then used again from call to call
    `held`        joints that keep their coordinates
    `limits`      keep joints within their limits
    `tolerance`   the largest opening that counts as closed [m or rad]
    """
    return Closer(model, limits=limits, tolerance=tolerance, iterations=iterations).close(q, held)


def follow_loops(
    model: Robot | System | Dynamics,
    start: npt.ArrayLike,
    q: npt.ArrayLike,
    *,
    held: str | Sequence[str] = (),
    limits: bool = True,
    tolerance: float = 1e-11,
) -> Closed:
    """From a closed configuration `start` (nq,) to the one nearest to q (nq,), in small steps, closed after each.

    The joints that are `held` go all the way to their coordinates in q. Where the loops cannot be closed any farther on
    the way, the result is not converged and `q` is the last configuration that was closed.
    """
    return Closer(model, limits=limits, tolerance=tolerance).follow(start, q, held)


class Closer:
    """`close` and `follow` with functions that are made once, for who closes the same robot again and again."""

    def __init__(
        self,
        model: Robot | System | Dynamics,
        *,
        limits: bool = True,
        tolerance: float = 1e-11,
        iterations: int = 60,
    ) -> None:
        self.dynamics = model if isinstance(model, Dynamics) else derive(model)
        self.robot = self.dynamics.robot
        self.ranges = Ranges(self.robot, limits, ())
        self.tolerance = tolerance
        self.iterations = iterations

    def close(self, q: npt.ArrayLike, held: str | Sequence[str] = ()) -> Closed:
        """See `close_loops`."""
        start = self.ranges.inside(self._checked(q))
        if not self.robot.loops:  # coupled joints stand on their leaders already
            return Closed(start, 0.0, 0, True, "there are no loops to close.")
        fixed = self._fixed(held)

        def linearize(at: Array) -> tuple[Array, Array]:
            J = self.dynamics.constraint_jacobian(at, *self._parameters) @ self.ranges.leading
            return -self.dynamics.constraint_error(at, *self._parameters), np.where(fixed, 0.0, J)

        problem = Problem(linearize, self.ranges.moved, lambda at, push: fixed | self.ranges.held(at, push))
        if fixed.all():  # nothing may move, so there is nothing to descend on
            error = float(np.abs(linearize(start)[0]).max())
            return self._closed(start, error, 0)
        found = descend(problem, start, reached=self._met, iterations=self.iterations)
        return self._closed(found.q, float(np.abs(found.residual).max()), found.iterations)

    def follow(self, start: npt.ArrayLike, q: npt.ArrayLike, held: str | Sequence[str] = ()) -> Closed:
        """See `follow_loops`."""
        goal = self._checked(q)
        begun = self.close(start)
        if not begun:
            return begun
        drawn = self._of_joints(held)
        led = bool(drawn.any())
        drawn = drawn if led else np.ones_like(drawn)  # where nobody leads, all go toward q
        now, count, longest = begun, begun.iterations, FARTHEST
        for _ in range(MOST_STEPS):
            way = self._way(now.q, goal, drawn)
            length = float(np.abs(way).max(initial=0.0))
            found = self.close(integrate(self.robot, now.q, way * min(1.0, longest / max(length, longest))), held)
            count += found.iterations
            left = float(np.linalg.norm(self._way(found.q, goal, drawn)))
            if found and length <= longest and (left <= THERE or not led):
                return Closed(found.q, found.error, count, True, found.message)
            # limits hold a joint back, and loops one that nobody leads: then it comes no nearer
            nearer = bool(found) and left < np.linalg.norm(way) - 1e-3 * min(length, longest)
            now = found if nearer else now
            if not nearer and longest > SHORTEST:
                longest *= 0.5  # the end of the way is near
            elif not nearer:
                break
        else:
            return Closed(now.q, now.error, count, False, f"this is as far as {MOST_STEPS} steps go. Go nearer first.")
        if found and not led:
            return Closed(now.q, now.error, count, True, now.message)
        reason = found.message if not found else f"joints at a limit: {', '.join(self.ranges.at_limits(found.q))}."
        return Closed(now.q, now.error, count, False, f"this is as far as the loops close; {reason}")

    def _way(self, q: Array, goal: Array, drawn: npt.NDArray[np.bool_]) -> Array:
        """From q to the goal, (nv,), of the joints that are drawn there."""
        return np.where(drawn, difference(self.robot, q, goal), 0.0)

    # ── what the robot says ───────────────────────────────────────────────────────────────────────────────────────

    def _fixed(self, held: str | Sequence[str]) -> npt.NDArray[np.bool_]:
        """Velocities of the joints that are held, shape (nv,); those of coupled joints move with their leaders only."""
        return self._of_joints(held) | self._of_joints(tuple(self._leaders), followed=False)

    def _of_joints(self, joints: str | Sequence[str], *, followed: bool = True) -> npt.NDArray[np.bool_]:
        """Which velocities (nv,) are those of joints; a coupled joint stands for its leader."""
        chosen = np.zeros(self.robot.nv, dtype=bool)
        for joint in (joints,) if isinstance(joints, str) else joints:
            chosen[self.robot.v_slice(self._leaders.get(joint, joint) if followed else joint)] = True
        return chosen

    @cached_property
    def _leaders(self) -> dict[str, str]:
        return {joint: row.leader for joint, row in followers(self.robot.couplings).items()}

    @cached_property
    def _parameters(self) -> list[Array]:
        return [self.dynamics.nominal_parameters] if self.dynamics.parameters else []

    def _checked(self, q: npt.ArrayLike) -> Array:
        values = np.array(q, dtype=float)
        if values.shape != (self.robot.nq,) or not np.isfinite(values).all():
            raise ShapeError(
                f"close_loops: q has shape {values.shape}; expected ({self.robot.nq},) finite numbers for robot "
                f"'{self.robot.name}', one for each of q_names."
            )
        return values

    def _met(self, residual: Array) -> bool:
        return bool(np.abs(residual).max() <= self.tolerance)

    def _closed(self, q: Array, error: float, iterations: int) -> Closed:
        converged = error <= self.tolerance
        stuck = [] if converged else self.ranges.at_limits(q)
        blame = f" Joints at a limit: {', '.join(stuck)}." if stuck else ""
        message = (
            f"the loops are closed within {error:.1e} after {iterations} steps."
            if converged
            else f"the loops stay open by {error:.3g} m or rad after {iterations} steps.{blame} "
            "Start nearer to a closed configuration, or hold fewer joints."
        )
        return Closed(q, error, iterations, converged, message)
