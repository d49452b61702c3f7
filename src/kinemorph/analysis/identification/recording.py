"""`Recording`: what was measured during one motion of a robot, sample by sample.

A recording has times and configurations, and whatever else was measured: velocities, accelerations, forces of the
actuators, wrenches through joints, inputs of a system such as motor voltages. Rates that were not measured are found
from configurations by `rates`. Recordings come from files by `read_recording`, and from runs by `Recording.of`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.recorded_tables import check_times
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.words import listed

if TYPE_CHECKING:
    from kinemorph.model.elements.drives.motors import DCMotor
    from kinemorph.simulation.results.trajectory import Trajectory

LARGEST = 1e12  # no measured quantity is larger in SI units
SHOWN = 3  # samples that a message names


@dataclass(frozen=True, eq=False)
class Recording:
    """Measured samples of one motion, all at the same times. What was not measured is None or missing.

    `name`        what messages call it, usually the name of its file
    `t`           times of the samples [s], shape (n,), increasing; their distances may differ
    `q`           configurations, shape (n, nq)
    `v`, `a`      velocities and accelerations, shape (n, nv) each
    `tau`         generalized forces of the actuators [N m or N], shape (n, nv)
    `wrenches`    by joint: the wrench [force; moment] measured through it [N, N m], shape (n, 6), of the parent on the
                  child, in the axes of the joint frame on the child and about its origin
    `inputs`      by name of an input of the system, such as a motor voltage: its values, shape (n,)
    `outputs`     by name of a further state or an output of the system, such as a motor current: its values, shape (n,)
    """

    name: str
    t: Array
    q: Array
    v: Array | None = None
    a: Array | None = None
    tau: Array | None = None
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    inputs: Mapping[str, Array] = field(default_factory=dict)
    outputs: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own = self.__dict__
        own["t"], own["q"] = self._checked("t", self.t, 1), self._checked("q", self.q, 2)
        for group in ("v", "a", "tau"):
            if own[group] is not None:
                own[group] = self._checked(group, own[group], 2)
        own["wrenches"] = {joint: self._checked(f"wrench of {joint}", x, 2) for joint, x in self.wrenches.items()}
        own["inputs"] = {name: self._checked(f"input {name}", x, 1) for name, x in self.inputs.items()}
        own["outputs"] = {name: self._checked(f"output {name}", x, 1) for name, x in self.outputs.items()}
        check_times(self.name, self.t)

    def _checked(self, what: str, values: npt.ArrayLike, axes: int) -> Array:
        """The values as a new array that cannot be written to; raises ShapeError where it is not as expected."""
        found = np.array(values, dtype=float)
        if found.ndim != axes or found.shape[:1] != np.shape(self.t)[:1]:
            expected = "(n,)" if axes == 1 else "(n, width)"
            raise ShapeError(
                f"recording '{self.name}': {what} has shape {found.shape}; expected {expected} with n = "
                f"{np.size(self.t)}, the number of times. Give one row for each time."
            )
        bad = np.flatnonzero(~np.isfinite(found.reshape(len(found), -1)).all(axis=1))
        if len(bad):
            raise ShapeError(
                f"recording '{self.name}': {what} is not a finite number in {len(bad)} of {len(found)} samples "
                f"(number {listed((bad + 1).tolist(), SHOWN)}). Remove these samples, or measure again."
            )
        large = np.argwhere(np.abs(found) > LARGEST)
        if len(large) and what != "t":
            raise ShapeError(
                f"recording '{self.name}': {what} is {found[tuple(large[0])]:g} in sample {large[0][0] + 1}; expected "
                f"at most {LARGEST:g} in SI units. Remove what marks missing samples, or correct the unit."
            )
        found.flags.writeable = False
        return found

    def __len__(self) -> int:
        """The number of samples."""
        return len(self.t)

    def __repr__(self) -> str:
        measured = [group for group in ("v", "a", "tau") if getattr(self, group) is not None]
        measured += [f"wrench.{joint}" for joint in self.wrenches] + [f"u.{name}" for name in self.inputs]
        measured += list(self.outputs)
        span = f"{self.t[0]:g} to {self.t[-1]:g} s" if len(self) else "empty"
        return f"<Recording '{self.name}': {span}, {len(self)} samples of {listed(['q', *measured])}>"

    def part(self, first: int, last: int) -> Recording:
        """The samples from index `first` up to, and without, index `last`."""
        return self.chosen(slice(first, last))

    def chosen(self, rows: slice | npt.NDArray[np.bool_]) -> Recording:
        """The samples in a slice, or those where an array of one truth value for each sample is True."""

        def cut(x: Array | None) -> Array | None:
            return None if x is None else x[rows]

        return replace(
            self,
            t=self.t[rows],
            q=self.q[rows],
            v=cut(self.v),
            a=cut(self.a),
            tau=cut(self.tau),
            wrenches={joint: x[rows] for joint, x in self.wrenches.items()},
            inputs={name: x[rows] for name, x in self.inputs.items()},
            outputs={name: x[rows] for name, x in self.outputs.items()},
        )

    @classmethod
    def of(cls, run: Trajectory, name: str | None = None) -> Recording:
        """The samples of a run: q, v, a, the inputs, and the forces of the actuators.

        The forces are all generalized forces of the run except what identification explains by the joints themselves:
        damping of joints, friction of the elements `JointFriction` and of the shafts of motors with rigid
        transmissions, and offsets that `with_parameters` wrote. So the force of a motor is that of its current. Where
        two segments of a run meet, the sample before the event is left out.
        """
        plant = run.segments[0].plant
        robot = plant.robot
        if robot is None or len(run.stretches) > 1:
            reason = "has no robot" if robot is None else "changes its system"
            raise UnsupportedError(
                f"run '{run.name}' {reason}, so it has no coordinates to identify. Give a run of one robot, or one of "
                "run.stretches."
            )
        from kinemorph.analysis.identification.system_parameters import offset_of
        from kinemorph.model.elements.drives.motors import DCMotor
        from kinemorph.model.elements.forces.applied import AppliedEffort
        from kinemorph.model.elements.forces.joint_forces import JointFriction
        from kinemorph.model.parameter import evaluate_all

        tau = run.tau.copy()
        for joint in robot.joints:
            if not joint.driven and joint.damping:
                part = robot.v_slice(joint.name)
                tau[:, part] += np.array(evaluate_all(joint.damping)) * run.v[:, part]
        for element in plant.elements:
            if isinstance(element, JointFriction):
                for k, velocity in enumerate(robot.v_names):
                    column = f"{element.name}.{velocity}"
                    if column in run.columns:
                        tau[:, k] -= run[column]
            elif isinstance(element, DCMotor) and element.is_rigid:
                tau[:, robot.axis_places[element.joint].v] += _shaft_friction(element, run[f"{element.name}.speed"])
            elif isinstance(element, AppliedEffort):
                tau[:, robot.axis_places[element.joint].v] += offset_of(element) or 0.0
        kept = np.append(np.diff(run.t) > 0.0, True)
        inputs = {column.name: run.u[kept, k] for k, column in enumerate(plant.u)}
        return cls(name or run.name, run.t[kept], run.q[kept], run.v[kept], run.a[kept], tau[kept], inputs=inputs)


def run_lengths(at: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """The lengths of the runs of True in an array (n,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], at.astype(int), [0]])))
    return np.asarray(edges[1::2] - edges[::2])


def _shaft_friction(motor: DCMotor, speed: Array) -> Array:
    """The friction of the shaft of a motor at its speeds [rad/s], shape (n,), as a force at the joint [N m or N]."""
    from kinemorph.mechanics.elements.drives.motors import gentle_sign
    from kinemorph.model.parameter import evaluate_all

    n, viscous, coulomb, slow = evaluate_all((motor.reduction, motor.viscous, motor.coulomb, motor.slow))
    found: Array = n * (viscous * speed + coulomb * gentle_sign(speed, slow))
    return found
