"""Run plans: named sets of options of runs, which a model file keeps in its tables [runs.NAME].

A plan is data. `simulation.planned_run.run_planned` carries it out, for `kinemorph simulate FILE --run NAME`, for the
studio and for `system.run(NAME)` in Python, so that all of them compute the same run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from typing import Any, TypeAlias

from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import dataclass
from kinemorph.model.input_reader import short
from kinemorph.words import did_you_mean, listed, quoted

# numbers in order, or some of them by name: (("elbow", 0.5),)
Numbers: TypeAlias = tuple[float, ...] | tuple[tuple[str, float], ...]
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
    `q`, `v`, `x`       the initial state: numbers in order, or some of them by name. Without q and v, a configuration
                        is chosen in which the robot does not stay at rest
    `inputs`            constant inputs, in order or by name
    `limits`            whether joints stop at their limits
    `friction`          whether the Coulomb friction of joints acts
    `contacts`          whether a robot from a file of another format, without contacts, gets those of its collision
                        shapes (`elements.contacts`)
    `dock`, `undock`    modules that dock and undock during the run
    """

    method: str = ""
    step: float | None = field(default=None, metadata={"kind": "time"})
    rtol: float | None = field(default=None, metadata={"kind": "number"})
    atol: float | None = field(default=None, metadata={"kind": "number"})
    max_step: float | None = field(default=None, metadata={"kind": "time"})
    time: float | None = field(default=None, metadata={"kind": "time"})
    output_step: float | None = field(default=None, metadata={"kind": "time"})
    q: Numbers = field(default=(), metadata={"kind": ("angle", "length")})
    v: Numbers = field(default=(), metadata={"kind": ("rate", "speed")})
    x: Numbers = field(default=(), metadata={"kind": "number"})
    inputs: Numbers = field(default=(), metadata={"kind": "number"})
    locked: tuple[str, ...] = ()
    loops: str = ""
    limits: bool = True
    friction: bool = True
    contacts: bool = True
    dock: tuple[PlannedDock, ...] = ()
    undock: tuple[PlannedUndock, ...] = ()

    def __post_init__(self) -> None:
        for name in GROUPS:
            object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        locked = (self.locked,) if isinstance(self.locked, str) else tuple(self.locked)
        object.__setattr__(self, "locked", locked)
        for name, kind in (("dock", PlannedDock), ("undock", PlannedUndock)):
            rows = tuple(kind(**row) if isinstance(row, Mapping) else row for row in getattr(self, name))
            object.__setattr__(self, name, rows)
        problems = []
        for name in ("step", "rtol", "atol", "max_step", "time", "output_step"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < math.inf:
                unit = "" if name in ("rtol", "atol") else " s"
                what = f"{name} is {value}{unit}, expected a finite number above 0"
                problems.append(Problem("run", "", what, f"Give a positive {name}.", name))
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
        given: Any = getattr(self, group)
        if not given:
            return None
        return dict(given) if isinstance(given[0], tuple) else list(given)

    @property
    def options(self) -> dict[str, Any]:
        """The fields that are keyword arguments of `simulate` and are given: method, step, rtol, atol, ..."""
        names = ("method", "step", "rtol", "atol", "max_step", "output_step", "loops")
        return {name: getattr(self, name) for name in names if getattr(self, name) not in (None, "")}


class RunPlans(Mapping[str, RunPlan]):
    """The run plans of a system by name. It cannot be changed, and equal plans have equal hashes."""

    def __init__(self, plans: Mapping[str, RunPlan | Mapping[str, Any]] | None = None) -> None:
        found = {}
        for name, plan in (plans or {}).items():
            if not isinstance(name, str) or not name.strip() or not name.isprintable():
                raise ModelError(
                    Problem("run", "", f"the name is {short(name)}, expected printable text", "Rename it.")
                )
            found[name] = plan if isinstance(plan, RunPlan) else _plan(name, plan)
        self._plans = found

    def __getitem__(self, name: str) -> RunPlan:
        return self._plans[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._plans)

    def __len__(self) -> int:
        return len(self._plans)

    def __hash__(self) -> int:
        return hash(frozenset(self._plans.items()))

    def __repr__(self) -> str:
        return f"RunPlans({self._plans!r})"

    def plan(self, name: str) -> RunPlan:
        """The plan of this name. Raises ModelError, with a similar name, if there is none."""
        if name in self._plans:
            return self._plans[name]
        known = f"expected one of: {quoted(self._plans)}" if self._plans else "the model has no runs"
        hint = did_you_mean(name, self._plans) or f" Add [runs.{name}] to the model file."
        raise ModelError(f"there is no run '{name}'; {known}.{hint}")


def _plan(name: str, data: Any) -> RunPlan:
    """The plan of a dict of its fields. Raises ModelError for an unknown field."""
    if not isinstance(data, Mapping):
        raise ModelError(
            Problem("run", name, f"it is {short(data)}, expected a RunPlan or a dict", "Give its options.")
        )
    known = [one.name for one in fields(RunPlan)]
    for key in data:
        if key not in known:
            what = f"the key {short(key)} is not known, expected one of {listed(known, 20)}"
            raise ModelError(Problem("run", name, what, did_you_mean(key, known).strip() or "Leave it out.", str(key)))
    return RunPlan(**data)


def _numbers(name: str, given: Any) -> Numbers:
    """Numbers in order as a tuple, or numbers by name as a tuple of pairs. Raises ModelError for anything else."""
    try:
        if isinstance(given, Mapping):
            given = tuple(given.items())
        if given is None:
            return ()
        if isinstance(given, Sequence) and given and isinstance(given[0], (tuple, list)):
            pairs = tuple((str(key), float(value)) for key, value in given)
            values = [value for _, value in pairs]
            found: Any = pairs
        else:
            found = tuple(float(value) for value in given)
            values = list(found)
        if not all(map(math.isfinite, values)):
            raise ValueError
    except (TypeError, ValueError):
        what = f"{name} is {short(given)}, expected finite numbers in order or by name"
        raise ModelError(Problem("run", "", what, "Correct the numbers.", name)) from None
    result: Numbers = found
    return result
