"""Virtual constraints: joints that motors keep on curves over a phase variable, such as the angle of the stance leg."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from kinemorph.algebra.tables import lookup, spline_basis
from kinemorph.model.elements.control.references import as_rows
from kinemorph.model.elements.control.wiring import Names, Numbers, as_names, as_numbers
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.parameter import Parameter, Value


@dataclass(frozen=True)
class VirtualConstraints:
    """Motors keep joints on Bezier polynomials over a phase variable s of the configuration: y = q - b(s) = 0.

        s = (theta - start) / (end - start),      theta = sum of weights q_j over the joints `phase`

    `joints`        the joints that are kept on the curves
    `coefficients`  a row of n numbers or Parameters for each of them: the Bezier coefficients of degree n - 1. The
                    first one is the position at s = 0, the last one that at s = 1
    `phase`         joints of one axis, and their `weights`, one for all or one for each: theta [rad]
    `start`, `end`  theta at s = 0 and at s = 1 [rad]. Outside, the polynomials continue
    `drives`        actuators or motors to drive in place of the joints
    `control`       "linearization": the torques for which y'' = -kp y - kd y' holds exactly, whatever else acts on the
                    robot and holds it (input-output linearization; there have to be no limits on the torques);
                    "pd": the torques -kp y - kd y'
    `kp`, `kd`      gains, one for all joints or one for each; for "linearization" in [1/s^2] and [1/s]

    Its signals are "name.hip", the torque of the joint "hip" [N m], "name.hip.error" and "name.hip.error_rate", y and
    y', and "name.phase", s. The motion on y = 0 is known as the zero dynamics.

        E. R. Westervelt, J. W. Grizzle, D. E. Koditschek, Hybrid zero dynamics of planar biped walkers, IEEE
        Transactions on Automatic Control 48 (2003) 42-56.
    """

    name: str
    joints: Names
    coefficients: tuple[Numbers, ...] = field(metadata=declaration("joint coordinate", rows=True))
    phase: Names
    weights: Numbers = declared((1.0,), unit="rad/{signal}")
    start: Value = declared(0.0, "angle")
    end: Value = declared(1.0, "angle")
    drives: Names = ()
    control: Literal["linearization", "pd"] = "linearization"
    kp: Numbers = declared((400.0,), unit="{gain}")
    kd: Numbers = declared((40.0,), unit="{gain} s")

    def __post_init__(self) -> None:
        as_names(self, "joints", "phase", "drives")
        as_numbers(self, "weights", "kp", "kd")
        as_rows(self, "coefficients")

    @classmethod
    def fitted(
        cls,
        name: str,
        joints: Names,
        phase: Names,
        run: Any,
        *,
        weights: Numbers = (1.0,),
        degree: int = 6,
        **more: Any,
    ) -> VirtualConstraints:
        """Virtual constraints along a motion, by least squares; coefficients, start and end are Parameters.

        `run` is a Trajectory over one step, or any mapping from columns "q.hip" to their values over time. The names of
        the parameters are "name.hip.0" and so on, "name.start" and "name.end"; `more` are further fields.
        """
        joints, phase = ((given,) if isinstance(given, str) else tuple(given) for given in (joints, phase))
        shares = np.broadcast_to(np.asarray(weights, dtype=float), (len(phase),))
        theta = sum(share * np.asarray(run[f"q.{joint}"]) for share, joint in zip(shares, phase, strict=True))
        ends = float(theta[0]), float(theta[-1])
        s = (theta - ends[0]) / (ends[1] - ends[0])
        basis = np.stack([np.asarray(lookup(table, s)) for table in spline_basis(degree + 1, degree)], axis=1)
        rows = []
        for joint in joints:
            found = np.linalg.lstsq(basis, np.asarray(run[f"q.{joint}"]), rcond=None)[0]
            rows.append(tuple(Parameter(f"{name}.{joint}.{k}", float(one)) for k, one in enumerate(found)))
        start, end = (
            Parameter(f"{name}.{what}", value, "rad") for what, value in zip(("start", "end"), ends, strict=True)
        )
        return cls(name, joints, tuple(rows), phase, tuple(map(float, shares)), start, end, **more)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the coefficients, of start and of end that are Parameters, in this order."""
        every = [*(one for row in self.coefficients for one in row), self.start, self.end]  # type: ignore[union-attr]
        return tuple(one.name for one in every if isinstance(one, Parameter))
