"""Run plans: named sets of options of runs, which a model file keeps in its tables [runs.NAME].

A plan is data. `simulation.planned_run.run_planned` carries it out, for `kinemorph simulate FILE --run NAME`, for the
studio and for `system.run(NAME)` in Python, so that all of them compute the same run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from numbers import Real
from typing import Any, TypeAlias

from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import dataclass
from kinemorph.model.starts import NamedRecords, Numbers, checked_numbers, given_numbers
from kinemorph.words import did_you_mean, listed

Label: TypeAlias = int | str  # a module or a side, by name or number
# names of the methods in `plants.loop_methods`
LOOP_METHOD_NAMES = ("projection", "baumgarte", "partitioning", "perturbation", "multipliers")
GROUPS = ("q", "v", "x", "inputs")  # the fields of a plan with numbers in order or by name


@dataclass(frozen=True)
class PlannedDock:
    """A docking in a run: side `side_a` of module `a` locks onto side `side_b` of module `b`.

    `at`        the time of the docking [s]; without it, the ports lock as soon as they are within tolerance
    `turn`      quarter turns about the normal, 0 to 3; by default the nearest
    `distance`  [m] and `angle` [rad]: tolerances about the legal pose; None for those of `simulation.docking`
    """

    a: Label
    side_a: Label
    b: Label
    side_b: Label
    at: float | None = field(default=None, metadata={"kind": "time"})
    turn: int | None = None
    distance: float | None = field(default=None, metadata={"kind": "length"})
    angle: float | None = field(default=None, metadata={"kind": "angle"})


@dataclass(frozen=True)
class PlannedUndock:
    """An undocking in a run: the docking at a side of a module opens at the time `at` [s]."""

    module: Label
    side: Label
    at: float = field(metadata={"kind": "time"})


@dataclass(frozen=True)
class RunPlan:
    """The options of a run; what is left out has the default of `kinemorph simulate`.

    `method`, `step` [s], `rtol`, `atol`, `max_step` [s], `loops`, `locked`   as in `simulate`
    `time`              the simulated time [s]; by default that of the settings
    `output_step`       the time between stored samples [s]
    `start`             a start of the system by name; q, v, x and inputs that are given take the place of its values
    `q`, `v`, `x`       the initial state: numbers in order, or some of them by name. Without q, v and a start, a
                        configuration is chosen in which the robot does not stay at rest
    `inputs`            constant inputs, in order or by name
    `limits`            whether joints stop at their limits
    `friction`          whether the Coulomb friction of joints acts
    `contacts`          whether a robot without contacts gets those of its collision shapes (`elements.contacts`)
    `ground`            whether z = 0 is ground if the model has none; by default that of the settings
    `dock`, `undock`    modules that dock and undock during the run
    """

    method: str = ""
    step: float | None = field(default=None, metadata={"kind": "time"})
    rtol: float | None = field(default=None, metadata={"kind": "number"})
    atol: float | None = field(default=None, metadata={"kind": "number"})
    max_step: float | None = field(default=None, metadata={"kind": "time"})
    time: float | None = field(default=None, metadata={"kind": "time"})
    output_step: float | None = field(default=None, metadata={"kind": "time"})
    start: str = ""
    q: Numbers = field(default=(), metadata={"kind": ("angle", "length")})
    v: Numbers = field(default=(), metadata={"kind": ("rate", "speed")})
    x: Numbers = field(default=(), metadata={"kind": "number"})
    inputs: Numbers = field(default=(), metadata={"kind": "number"})
    locked: tuple[str, ...] = ()
    loops: str = ""
    limits: bool = True
    friction: bool = True
    contacts: bool = True
    ground: bool | None = None
    dock: tuple[PlannedDock, ...] = ()
    undock: tuple[PlannedUndock, ...] = ()

    def __post_init__(self) -> None:
        for name in GROUPS:
            object.__setattr__(self, name, checked_numbers("run", name, getattr(self, name)))
        locked = (self.locked,) if isinstance(self.locked, str) else tuple(self.locked)
        object.__setattr__(self, "locked", locked)
        for name, kind in (("dock", PlannedDock), ("undock", PlannedUndock)):
            rows = tuple(kind(**row) if isinstance(row, Mapping) else row for row in getattr(self, name))
            object.__setattr__(self, name, rows)
        problems = []
        for name in ("step", "rtol", "atol", "max_step", "time", "output_step"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (Real, type(None))):
                unit = "" if name in ("rtol", "atol") else ", in seconds"
                what = f"{name} is {value!r:.60}, expected a number{unit}"
                problems.append(Problem("run", "", what, f"Give {name} as a number, without quotes.", name))
            elif value is not None and not 0.0 < float(value) < math.inf:
                unit = "" if name in ("rtol", "atol") else " s"
                what = f"{name} is {value}{unit}, expected a finite number above 0"
                problems.append(Problem("run", "", what, f"Give a positive {name}.", name))
        if not isinstance(self.start, str):
            what = f"start is {self.start!r:.60}, expected the name of a start of the model"
            remedy = "Name one, or leave it out. To continue a run, write system.run(plan, start=run)."
            problems.append(Problem("run", "", what, remedy, "start"))
        for name in ("limits", "friction", "contacts", "ground"):
            value = getattr(self, name)
            if not isinstance(value, bool) and (name != "ground" or value is not None):
                what = f"{name} is {value!r:.60}, expected true or false"
                problems.append(
                    Problem("run", "", what, f"Write {name} = true or {name} = false, without quotes.", name)
                )
        if self.step is not None and (self.rtol, self.atol) != (None, None):
            what = "step is given together with rtol or atol, but tolerances adapt the step size"
            problems.append(Problem("run", "", what, "Give either a step or tolerances.", "step"))
        if self.loops and self.loops not in LOOP_METHOD_NAMES:
            hint = did_you_mean(self.loops, LOOP_METHOD_NAMES).strip() or "Choose one of them."
            what = f"loops is {self.loops!r}, expected one of {listed(LOOP_METHOD_NAMES)}"
            problems.append(Problem("run", "", what, hint, "loops"))
        if problems:
            raise ModelError(problems)

    def numbers(self, group: str) -> list[float] | dict[str, float] | None:
        """The numbers of q, v, x or inputs as `simulate` takes them: a list, a dict by name, or None."""
        return given_numbers(getattr(self, group))

    @property
    def options(self) -> dict[str, Any]:
        """The fields that are keyword arguments of `simulate` and are given: method, step, rtol, atol, ..."""
        names = ("method", "step", "rtol", "atol", "max_step", "output_step", "start", "loops")
        return {name: getattr(self, name) for name in names if getattr(self, name) not in (None, "")}


class RunPlans(NamedRecords[RunPlan]):
    """The run plans of a system by name."""

    record = RunPlan
    kind = "run"
