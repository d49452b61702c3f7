"""Contests with Pinocchio: for each algorithm our function, Pinocchio's function, and the difference of their results.

A contest is fair: both sides have the same outputs and states, and may store numbers that they compute once per robot.
Pinocchio offers CRBA and ABA in two conventions; the faster one counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.peers.pinocchio_twin import PinocchioTwin
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.model.robot import Robot

AGREE = 1e-9  # relative difference below which two results agree


class Peer(Protocol):
    """Pinocchio, called from C++ or from Python."""

    label: str

    def results(self, algorithm: str, q: Array, v: Array, x: Array) -> Array: ...

    def work(self, algorithm: str, q: Array, v: Array, x: Array) -> Callable[[], Any]: ...


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of the tables.

    `function`   the name of our function; `of_tip`: it is made for the last body of the robot
    `peer`       the names of Pinocchio's functions for the same results
    `axes`       the axes of each output: "v" has length nv and is reordered, "pose" means (bodies, 4, 4)
    `x`          the third state that it takes besides q and v: "a" or "tau"
    """

    name: str
    says: str
    function: str
    peer: tuple[str, ...]
    axes: tuple[tuple[str, ...], ...]
    x: str = "a"
    of_tip: bool = False


VECTOR, MATRIX = ("v",), ("v", "v")
_ROWS = (
    Algorithm("RNEA", "inverse dynamics", "inverse_dynamics", ("rnea",), (VECTOR,)),
    Algorithm("CRBA", "mass matrix", "mass_matrix", ("crba", "crba_world"), (MATRIX,)),
    Algorithm("ABA", "forward dynamics", "forward_dynamics", ("aba", "aba_world"), (VECTOR,), x="tau"),
    Algorithm("dRNEA", "RNEA by q, v and a", "inverse_dynamics_derivatives", ("drnea",), (MATRIX,) * 3),
    Algorithm("dABA", "ABA by q, v and tau", "forward_dynamics_derivatives", ("daba",), (MATRIX,) * 3, x="tau"),
    Algorithm("FK", "poses of all bodies", "forward_kinematics", ("fk",), (("pose",),)),
    Algorithm("Jacobian", "of the tip, in its own axes", "jacobian", ("jacobian",), (("6", "v"),), of_tip=True),
)
ALGORITHMS: dict[str, Algorithm] = {row.name: row for row in _ROWS}


def farthest_body(robot: Robot) -> str:
    """The name of the body with the most joints between it and the world; the first if there are several."""
    depth = {"world": 0}
    for joint in robot.order:
        depth[joint.child] = depth[joint.parent] + 1
    return max(robot.body_names, key=lambda name: depth[name])


def random_states(robot: Robot, n: int, seed: int = 0) -> dict[str, Array]:
    """n random states: q (n, nq); v, a and tau (n, nv).

    Angles are in [-pi, pi], lengths in [-1, 1] m, orientations are arbitrary, and limits of joints are ignored.
    """
    rng = np.random.default_rng([seed, 41])
    reach = {"rad": np.pi, "m": 1.0}
    q = np.stack(
        [rng.uniform(-reach[unit], reach[unit], n) if unit else rng.normal(size=n) for unit in robot.q_units], 1
    )
    for joint in robot.joints:
        turning = [k for k, unit in enumerate(joint.table.q_units, robot.q_slice(joint.name).start) if not unit]
        if turning:
            q[:, turning] /= np.linalg.norm(q[:, turning], axis=1, keepdims=True)
    v, a, tau = rng.normal(size=(3, n, robot.nv)) * np.array([1.0, 2.0, 5.0])[:, None, None]
    return {"q": q, "v": v, "a": a, "tau": tau}


class Contest:
    """The comparison of one algorithm for one robot in Kinemorph and in Pinocchio; `tip` is a body for Jacobians.

    Our `function` is that of the dynamics which the algorithm names, unless it is given.
    """

    def __init__(
        self,
        twin: PinocchioTwin,
        algorithm: Algorithm,
        dynamics: Dynamics,
        tip: str,
        function: CompiledFunction | None = None,
    ) -> None:
        self.twin, self.algorithm, self.tip = twin, algorithm, tip
        found = getattr(dynamics, algorithm.function)
        self.function: CompiledFunction = function or (found(tip) if algorithm.of_tip else found)

    def states(self, n: int, seed: int = 0) -> dict[str, Array]:
        """Random states of the robot, see `random_states`."""
        return random_states(self.twin.robot, n, seed)

    def inputs(self, states: dict[str, Array]) -> list[Array]:
        """The arrays of the states that our function takes, in the order of its inputs."""
        return [states[port.name] for port in self.function.program.inputs]

    def outputs(self, n: int) -> list[Array]:
        """Arrays for the results of our function at n states, filled with NaN."""
        return [np.full((n, *port.shape), np.nan) for port in self.function.program.outputs]

    def peer_states(self, states: dict[str, Array]) -> tuple[Array, Array, Array]:
        """The states in Pinocchio's convention: q, v, and a or tau."""
        twin = self.twin
        q, v, x = twin.configuration(states["q"]), twin.velocity(states["v"]), twin.velocity(states[self.algorithm.x])
        return np.ascontiguousarray(q), np.ascontiguousarray(v), np.ascontiguousarray(x)

    @cached_property
    def input_bytes(self) -> int:
        """The memory of the inputs of one state [byte]."""
        return int(8 * sum(port.size for port in self.function.program.inputs))

    @cached_property
    def state_bytes(self) -> int:
        """The memory of the inputs and outputs of one state [byte]."""
        return self.input_bytes + int(8 * sum(port.size for port in self.function.program.outputs))

    def difference(self, ours: list[Array], flat: Array) -> float:
        """The largest relative difference of our results from Pinocchio's, over all states and outputs.

        `flat` (n, size) has Pinocchio's outputs one after the other, each flattened.
        """
        worst, start = 0.0, 0
        for mine, axes in zip(ours, self.algorithm.axes, strict=True):
            shape = self._peer_shape(axes)
            size = int(np.prod(shape))
            theirs = self._in_our_order(flat[:, start : start + size].reshape(-1, *shape), axes)
            start += size
            gap, scale = (np.abs(x).reshape(len(mine), -1).max(axis=1) for x in (mine - theirs, theirs))
            worst = max(worst, float((gap / np.maximum(scale, 1e-300)).max()), key=lambda x: (np.isnan(x), x))
        return worst

    def _peer_shape(self, axes: tuple[str, ...]) -> tuple[int, ...]:
        if axes == ("pose",):
            return (self.twin.model.njoints - 1, 4, 4)
        return tuple(self.twin.model.nv if axis == "v" else int(axis) for axis in axes)

    def _in_our_order(self, values: Array, axes: tuple[str, ...]) -> Array:
        if axes == ("pose",):
            at = [self.twin.at[name] for name in self.twin.robot.body_names]
            poses = np.concatenate([np.broadcast_to(np.eye(4), (len(values), 1, 4, 4)), values], axis=1)
            return np.stack([poses[:, index] @ pose for index, pose in at], axis=1)
        if axes == ("6", "v"):  # Pinocchio's is the twist of the tip's joint, ours that of the tip's own frame
            values = self.twin.seen_from(self.tip) @ values
        return self.twin.ours(values, tuple(k for k, axis in enumerate(axes, 1) if axis == "v"))


def contests(twin: PinocchioTwin, names: list[str]) -> list[Contest]:
    """The comparisons of one robot with Pinocchio, one for each named algorithm."""
    dynamics, tip = derive(twin.robot), farthest_body(twin.robot)
    return [Contest(twin, ALGORITHMS[name], dynamics, tip) for name in names]
