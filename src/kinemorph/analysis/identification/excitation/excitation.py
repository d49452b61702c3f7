"""`Excitation`: the result of `excite`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.excitation.motion_limits import LimitUse
from kinemorph.analysis.identification.excitation.zones import Zone
from kinemorph.errors import StorageError
from kinemorph.model.elements.control.references import FourierSeries
from kinemorph.model.robot import Robot
from kinemorph.shown import ShownExcitation
from kinemorph.words import counted


@dataclass(frozen=True, eq=False, repr=False)
class Excitation(ShownExcitation):
    """A motion that shows the parameters of a robot. Made by `excite`.

    `robot`             the robot that moves
    `element`           the motion as a reference element, for controllers to follow
    `t` (N,) [s]        the times of the samples of a recording of one period; q (N, nq), v, a and tau (N, nv) there.
                        tau are the forces of the model, with the damping and friction of its joints
    `names`             the unknown parameters; those of bodies stand for the combinations of `base_parameters`
    `measured`, `noise` the velocities whose forces are measured, and the standard deviations of these [N m or N]
    `information`       H, the inverse covariance of the unknowns from such a recording, shape (unknowns, unknowns)
    `limits`            how far the motion goes towards each limit, on a grid ten times as fine as that of the search
    `assumed`           sentences about what was assumed or left out
    `random`            log det H of random series within the same limits, shape (draws,)
    `zones`             boxes that were kept
    `steps`, `seconds`  of the search
    """

    robot: Robot
    element: FourierSeries
    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    names: tuple[str, ...]
    measured: tuple[str, ...]
    noise: Array
    information: Array
    limits: tuple[LimitUse, ...]
    assumed: tuple[str, ...]
    random: Array
    zones: tuple[Zone, ...]
    steps: int
    seconds: float

    @cached_property
    def log_det(self) -> float:
        """log det H. Its differences between motions do not depend on the choice of base parameters."""
        scale = np.sqrt(np.diag(self.information))
        return float(np.linalg.slogdet(self.information / np.outer(scale, scale))[1] + 2.0 * np.log(scale).sum())

    @cached_property
    def deviation(self) -> float:
        """The geometric mean of the standard deviations along the axes of the ellipsoid of H: det(H)^(-1 / 2 n)."""
        return float(np.exp(-0.5 * self.log_det / len(self.names)))

    @cached_property
    def deviations(self) -> Array:
        """The standard deviation of each unknown, in its unit, shape (unknowns,), if the noise of forces is white."""
        scale = np.sqrt(np.diag(self.information))
        return np.asarray(np.sqrt(np.diag(np.linalg.inv(self.information / np.outer(scale, scale)))) / scale)

    @cached_property
    def gain(self) -> float:
        """How many times smaller `deviation` is than the median of those of the random series."""
        return float(np.exp(0.5 * (self.log_det - np.median(self.random)) / len(self.names)))

    def __repr__(self) -> str:
        return (
            f"<Excitation of '{self.robot.name}': {self.element.period:g} s, {counted(len(self.names), 'unknown')}, "
            f"gain {self.gain:.3g}>"
        )

    def __str__(self) -> str:
        series = f"{len(self.element.sines)} harmonics of {1.0 / self.element.period:.4g} Hz"
        lines = [
            f"'{self.robot.name}': {self.element.period:g} s, {series}, {counted(len(self.names), 'unknown')}, found "
            f"in {counted(self.steps, 'step')} and {self.seconds:.3g} s",
            f"log det H = {self.log_det:.5g}; standard deviations {self.gain:.3g} times smaller than the median of "
            f"{len(self.random)} random series (geometric mean)",
            *(f"    {one.quantity} of {one.name}: {one.least:.4g} to {one.most:.4g}, limits {one.lower:.4g} to "
              f"{one.upper:.4g}" for one in self.limits if one.share > 0.98),
            *self.assumed,
        ]  # fmt: skip
        return "\n".join(lines)

    def write_csv(self, path: str | Path) -> Path:
        """Writes the samples as a text file and returns its path: t [s], then q, v, a and tau, each by joint."""
        robot, names = self.robot, ["t [s]"]
        forces = ["N m" if unit.startswith("rad") else "N" for unit in robot.v_units]
        groups = {"q": robot.q_units, "v": robot.v_units, "a": [f"{unit}^2" for unit in robot.v_units], "tau": forces}
        for group, units in groups.items():
            columns = robot.q_names if group == "q" else robot.v_names
            names += [f"{group}.{name}" + f" [{unit}]" * bool(unit) for name, unit in zip(columns, units, strict=True)]
        rows = np.column_stack([self.t, self.q, self.v, self.a, self.tau])
        text = ",".join(names) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows.tolist())
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise StorageError(f"'{path}' cannot be written: {error.strerror}. Choose another place.") from None
        return Path(path)
