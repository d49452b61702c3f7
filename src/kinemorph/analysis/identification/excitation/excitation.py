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
from kinemorph.sheet import Facts, Field, Note, Part, Sheet, Table, attributes, fields, named, said
from kinemorph.shown import ShownExcitation
from kinemorph.words import counted

NEAR = 0.9  # limits of which more than this share is used stand out
WORST = 5  # unknowns that are named as the least certain
FACTS = (
    Field("", "joints that move"),
    Field("duration", "duration", "s"),
    *named("harmonics samples"),
    Field("", "unknowns"),
    Field("log_det", "log det of their information"),
    Field("gain", "standard deviations", "times smaller than of the median of random motions", 3),
    Field("draws", "random motions"),
    Field("steps", "steps of the search"),
    Field("seconds", "time of the search", "s", 3),
)
LIMITS = (
    *named("name", "name"),
    Field("quantity", "limit", form="word"),
    *(*named("least most lower upper", 4), *named("share", ".1%")),
)


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

    def sheet(self) -> Sheet:
        """How well the motion shows the unknowns, and how far it goes towards its limits."""
        element, unknowns = self.element, list(zip(self.names, self.deviations.tolist(), strict=True))
        worst = sorted(unknowns, key=lambda row: -row[1])[:WORST]
        counts = (len(element.joints), element.period, len(element.sines), len(self.t) - 1, len(self.names))
        found = (self.log_det, self.gain, len(self.random), self.steps, self.seconds)
        limits = [(*one[:4], *(x if np.isfinite(x) else None for x in one[4:6]), one.share) for one in self.limits]
        near = [k for k, one in enumerate(self.limits) if one.share > NEAR]
        parts: list[Part] = [
            Facts(tuple(zip(FACTS, counts + found, strict=True))),
            Note(said("Largest standard deviations: {names}.", names=", ".join(f"{n} {x:.3g}" for n, x in worst))),
            Table("limits", LIMITS, limits, "Limits", marked=near),
            Table("unknowns", fields("name deviation", name="unknown"), unknowns, "Unknowns, in SI units"),
            *(Note(text, "note") for text in self.assumed),
            attributes(element, "joints offset sines cosines"),
            attributes(self, "measured assumed"),
        ]
        return Sheet("Exciting motion of", self.robot.name, parts, "robot")

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
