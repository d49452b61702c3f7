"""Torques as splines over the time of a phase, whose coefficients may be parameters: what an optimal gait looks for."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.errors import ModelError, Problem
from kinemorph.model.elements.control.references import as_rows
from kinemorph.model.elements.control.wiring import Names, Numbers, as_names
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.parameter import Parameter, Value


@dataclass(frozen=True)
class TorqueSpline:
    """Commands u(t) for joints, actuators or motors [N m or N]: a spline for each of them.

    `drives`        the joints, actuators or motors that get the commands; the signals are "name.target"
    `coefficients`  a row of n numbers or Parameters for each target: those of n B-splines
    `duration`      the time [s] over which the spline extends; after it, its last piece continues
    `degree`        the degree of its pieces. With n = degree + 1 there is one piece: a Bezier polynomial

    The time counts from the beginning of the run; if a phase of the automaton names the element, from the beginning of
    that phase, and in the other phases the commands are 0. `TorqueSpline.free` makes one whose coefficients are
    Parameters, as `optimize_gait` needs it.
    """

    name: str
    drives: Names
    coefficients: tuple[Numbers, ...] = field(metadata=declaration(unit="{out}", rows=True))
    duration: Value = declared(1.0, "time", above=0.0)
    degree: int = declared(3, least=0)

    def __post_init__(self) -> None:
        as_names(self, "drives")
        as_rows(self, "coefficients")

    @classmethod
    def free(
        cls, name: str, drives: Names, duration: Value = 1.0, *, count: int = 8, degree: int = 3, value: float = 0.0
    ) -> TorqueSpline:
        """A spline with `count` coefficients for each target, all of them Parameters.

        Their names are "name.target.0" and so on; `value` is their nominal value.
        """
        if not isinstance(count, int) or count < 1:
            what = f"count is {count!r}; expected a whole number of at least 1"
            raise ModelError(Problem("element", name, what, "Give 1 or more, or leave `count` out.", "count"))
        targets = (drives,) if isinstance(drives, str) else tuple(drives)
        rows = tuple(tuple(Parameter(f"{name}.{target}.{k}", value) for k in range(count)) for target in targets)
        return cls(name, targets, rows, duration, degree)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the coefficients that are Parameters, in order."""
        return tuple(one.name for row in self.coefficients for one in row if isinstance(one, Parameter))  # type: ignore[union-attr]
