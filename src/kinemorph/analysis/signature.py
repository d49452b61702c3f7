"""A signature: the checks of a model and of its runs, and numbers of the model, as rows that can be computed again.

    before = signature(system, runs)
    ...
    for change in changes(before, signature(system, runs)):
        print(change)

Rows have five parts: laws of mechanics, formulations beside the recursion, code beside the interpreter, values of the
model at random states, and runs. Values are numbers, not digests: they are compared with a tolerance, so that another
computer finds the same ones, and a model of which a mass is changed by 1e-6 does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.audit import audit
from kinemorph.analysis.verification.exported_code import exported_c_error, exported_python_error
from kinemorph.analysis.verification.formulation_errors import FUNCTIONS, Functions, formulation_errors
from kinemorph.analysis.verification.laws import ROUNDING, condition_numbers
from kinemorph.analysis.verification.sampling import Sample, drawn
from kinemorph.analysis.verification.verdict import Check, Judged, check_parts, judged
from kinemorph.analysis.verification.verify import DENSE_LIMIT, verify
from kinemorph.codegen.building.compile import build
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.frozen import dataclass
from kinemorph.model.configuration import integrate
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import shared_plant
from kinemorph.sheet import Sheet
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.domains import NEAR, DomainWatch

SAME = 1e-9  # relative tolerance of values
AMPLIFIED = 1e-14  # tolerance of accelerations, times the condition number of M, where that is larger
MOVED, FEW = 0.1, 4  # displacement [rad or m] from the initial state, and number of states, for values of a plant
HALVINGS = 20  # of the displacement, for robots with formulas that have a domain
# functions of the robot whose values are kept, and what they are
VALUES = {
    "mass_matrix": "M(q) times a vector",
    "bias_forces": "h(q, v)",
    "inverse_dynamics": "ID(q, v, a)",
    "forward_dynamics": "FD(q, v, tau)",
    "energy": "T(q, v) and V(q)",
    "center_of_mass": "the center of mass",
}
RATES = "rates of the system"
COMPILED = "compiled code"  # the law of `verify` that belongs to the part "code"
PARTS = ("laws", "formulations", "code", "values", "runs")


class Row(NamedTuple):
    """A row of a signature: a check of one part, the operations that it counts, and the numbers that it found."""

    part: str
    check: Check
    ops: tuple[int, ...] = ()
    numbers: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """The name of the row, unique within a signature."""
        return f"{self.part}: {self.check.name}"

    def as_dict(self) -> dict[str, Any]:
        """The row as data for JSON."""
        found = {"part": self.part, **self.check.as_dict()}
        found |= {"ops": list(self.ops)} if self.ops else {}
        return found | ({"numbers": list(self.numbers)} if self.numbers else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Row:
        """The row of the data of `as_dict`; raises KeyError, TypeError or ValueError where they are others."""
        fields = {key: data[key] for key in ("name", "says", "status", "worst", "tolerance", "note")}
        texts = ("name", "says", "status", "note")
        if not all(isinstance(fields[key], str) for key in texts) or not isinstance(data["part"], str):
            raise TypeError("a name is not a text")
        for key in ("worst", "tolerance"):
            fields[key] = None if fields[key] is None else float(fields[key])
        numbers = tuple(float(number) for number in data.get("numbers", ()))
        return cls(data["part"], Check(**fields), tuple(int(count) for count in data.get("ops", ())), numbers)


@dataclass(frozen=True)
class Signature(Judged):
    """The rows of a signature, with the number and the seed of the random states at which they were computed.

    As a bool it is True where no check failed.
    """

    rows: tuple[Row, ...]
    states: int
    seed: int

    @property
    def checks(self) -> tuple[Check, ...]:  # type: ignore[override]
        """The checks of all rows."""
        return tuple(row.check for row in self.rows)

    def sheet(self) -> Sheet:
        """One row per check, and how many of them passed."""
        over = f"{self.states} random states, seed {self.seed}"
        return Sheet("Signature over", over, check_parts(self.checks))

    def part(self, name: str) -> tuple[Row, ...]:
        """The rows of one of the PARTS."""
        return tuple(row for row in self.rows if row.part == name)


class Repeat(NamedTuple):
    """What a run needs to be carried out again from its model: options of `simulate`, as plain data.

    `problem` is a sentence where that is not possible; then there are no options.
    """

    name: str
    options: Mapping[str, Any]
    problem: str = ""


def signature(
    system: System, runs: Mapping[str, Trajectory] | None = None, *, states: int = 8, seed: int = 0
) -> Signature:
    """All rows for a system and for runs of it, {name: run}. `states` and `seed` are those of random states."""
    rows = [*_robot_rows(system, states, seed), *_plant_rows(system, seed)]
    for name, run in (runs or {}).items():
        rows += run_rows(name, run)
    return Signature(tuple(rows), states, seed)


# ── the robot ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _robot_rows(system: System, states: int, seed: int) -> list[Row]:
    """The rows of the parts "laws", "formulations", "code", and the values of the robot's functions."""
    robot = system.robot
    if not robot.nv:
        check = Check("robot", "The robot moves.", "skipped", note="the robot has no movable joint.")
        return [Row("laws", check)]
    sample = drawn(derive(robot, backend="interpreter"), states, seed)
    exporting = _begun(lambda: exported_c_error(sample))  # the C compiler works while the other rows are computed
    checks = verify(derive(robot, few_calls=True), states=states, seed=seed, formulations=()).checks
    formulations = _formulation_rows(sample)
    llvm = next(check for check in checks if check.name == COMPILED)
    says = "Exported C code, compiled by the C compiler, gives M, h, ID and FD of the interpreter."
    in_python = "Exported Python code, which needs only NumPy, gives M, h, ID and FD of the interpreter."
    exported = _measured("exported C", says, exporting)
    return [
        *(Row("laws", check) for check in checks if check.name != COMPILED),
        *formulations,
        Row("code", Check("LLVM", *tuple(vars(llvm).values())[1:])),
        Row("code", exported),
        Row("code", _measured("exported Python", in_python, lambda: exported_python_error(sample))),
        *_value_rows(sample),
    ]


def _begun(begin: Callable[[], Callable[[], Any]]) -> Callable[[], Any]:
    """The function that `begin` returns; where it raises an error, a function that raises the same error."""
    try:
        return begin()
    except KinemorphError as error:
        raised = error

        def refused() -> Any:
            raise raised

        return refused


def _measured(name: str, says: str, measure: Callable[[], Any]) -> Check:
    """The check of an error that a function measures; skipped where it does not apply, failed where it raises."""
    try:
        found = measure()
    except UnsupportedError as refusal:
        return Check(name, says, "skipped", note=str(refusal))
    except KinemorphError as error:
        return judged(name, says, math.nan, ROUNDING, str(error))
    return judged(name, says, found.worst, ROUNDING, "" if found.worst <= ROUNDING else found.where)


def _formulation_rows(sample: Sample) -> list[Row]:
    """A row for every formulation, with the operations of its inverse and forward dynamics."""
    robot = sample.dynamics.robot
    wanted = FUNCTIONS if robot.nv <= DENSE_LIMIT else {"id": FUNCTIONS["id"]}  # the others take seconds to trace

    def make(name: str) -> Functions:
        dynamics = derive(robot, name, backend="interpreter")  # type: ignore[arg-type]
        return {key: getattr(dynamics, function) for key, function in wanted.items()}

    says = "It gives the inverse dynamics of the recursion."
    rows = []
    for row in formulation_errors(sample, make):
        if row.note:
            check = Check(row.formulation, says, "skipped", note=row.note)
        elif row.error is None:
            check = Check(row.formulation, "The recursion, to which the others are compared.", "passed")
        else:
            check = judged(row.formulation, says, row.error, ROUNDING)
        rows.append(Row("formulations", check, tuple(count for count in (row.id_ops, row.fd_ops) if count)))
    return rows


def _value_rows(sample: Sample) -> list[Row]:
    """The values of the robot's functions at the states of the sample."""
    rows, d = [], sample.dynamics
    amplified = max(SAME, AMPLIFIED * float(np.nan_to_num(condition_numbers(sample), nan=0.0).max(initial=0.0)))
    for name, says in VALUES.items():
        found = sample.call(getattr(d, name))
        parts = [np.asarray(part) for part in (found if isinstance(found, tuple) else (found,))]
        if name == "mass_matrix":
            parts = [np.einsum("nij,nj->ni", parts[0], sample.a)]
        values = np.concatenate([part.reshape(len(sample.q), -1) for part in parts], axis=1)
        rows.append(_values(name, says, values, amplified if name == "forward_dynamics" else SAME))
    return rows


def _values(name: str, says: str, values: Array, tolerance: float) -> Row:
    """A row of values (n, k); it passes where all of them are finite."""
    check = Check(name, says, "passed", None, tolerance)
    if not np.isfinite(values).all():
        return Row("values", Check(name, says, "failed", None, tolerance, "a value is not a finite number"))
    return Row("values", check, (len(values),), tuple(float(value) for value in values.ravel()))


# ── the system ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _plant_rows(system: System, seed: int) -> list[Row]:
    """The rates of the state of the whole system, with its elements, near its initial state."""
    name, says = RATES, "The rates of the state with all elements, near the initial state."
    if not system.elements and system.automaton is None:
        return []
    try:
        plant = shared_plant(system)
        rng = np.random.default_rng(seed)
        w, v = rng.normal(size=(2, FEW, plant.nv))
        first = {group: plant.initial(group) for group in "qxmup"}
        reach = _reach(plant, first, w)
        s = np.concatenate([reach * w, v, np.broadcast_to(first["x"], (FEW, plant.nx))], axis=1)
        held = {"t": 0.0, "base": first["q"], "s": s, "m": first["m"], "u": first["u"], "p": first["p"]}
        program = plant.rate.traced
        values = np.asarray(build(program, "interpreter")(*(held[port.name] for port in program.inputs)))
    except KinemorphError as error:
        return [Row("values", Check(name, says, "skipped", note=str(error)))]
    return [_values(name, says, values, SAME)]


def _reach(plant: Plant, first: Mapping[str, Array], w: Array) -> float:
    """How far [rad or m] states are displaced by w (FEW, nv) so that all formulas of the robot stay in their domains.

    It is MOVED where there are no such formulas, or where the initial state itself is at the edge of a domain.
    """
    watch, reach = DomainWatch(plant), MOVED
    if not watch.domains or plant.robot is None:
        return MOVED
    for _ in range(HALVINGS):
        q = np.array([integrate(plant.robot, first["q"], reach * row) for row in w])
        if watch.left(np.zeros(FEW), q, first["p"], NEAR) is None:
            return reach
        reach *= 0.5
    return MOVED


# ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def run_rows(name: str, run: Trajectory) -> list[Row]:
    """The rows of a run's audit, each with the name of the run."""
    try:
        checks = audit(run).checks
    except KinemorphError as error:
        return [Row("runs", Check(f"{name}, audit", "The run can be audited.", "skipped", note=str(error)))]
    return [Row("runs", Check(f"{name}, {c.name}", *tuple(vars(c).values())[1:])) for c in checks]


def repeat_of(name: str, run: Trajectory, system: System) -> Repeat:
    """The options with which `simulate` carries out a run of a system again."""
    if len(run.stretches) > 1:
        return Repeat(name, {}, "modules dock or undock in this run, which cannot be repeated from the model alone.")
    first, plant = run.segments[0], shared_plant(system)
    own = {group: [column.name for column in getattr(plant, group)] for group in "qvxu"}
    its = {group: [column.name for column in getattr(first.plant, group)] for group in "qvxu"}
    if any(own[group] != its[group] for group in "qvu") or not {*own["x"]} <= {*its["x"]}:  # x may account for energy
        return Repeat(name, {}, "it is a run of another system: its variables are not those of the model.")
    held = first.u[0]
    if any((segment.u != held).any() for segment in run.segments):
        return Repeat(name, {}, "its inputs changed with the time, and are not part of the model.")
    t = run.t
    options: dict[str, Any] = {key: run.settings.get(key) for key in ("method", "step", "rtol", "atol")}
    if options["step"] is not None:
        options |= {"rtol": None, "atol": None}
    options |= {group: [float(x) for x in getattr(first, group)[0]] for group in "qv"}
    options["x"] = {key: float(x) for key, x in zip(its["x"], first.x[0], strict=True) if key in own["x"]}
    options |= {"inputs": [float(x) for x in held] if held.any() else None}
    options |= {"until": float(run.settings.get("until") or t[-1]), "start": float(t[0])}
    options |= {"output_step": float(t[1] - t[0]) if len(t) > 1 else None}
    return Repeat(name, options)


def repeated(repeat: Repeat, system: System) -> Trajectory:
    """The run that a Repeat describes, carried out with this system."""
    options = dict(repeat.options)
    return simulate(system, options.pop("until"), **options)


# ── changes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def changes(before: Signature, after: Signature) -> list[tuple[str, str]]:
    """(name of the row, what changed) for every row of `before` that does not hold in `after`.

    A row holds where its check has the same verdict and its values differ by at most its tolerance. Rows that are
    skipped in one of the two, because a computer has no C compiler for instance, are not compared, nor are rows of
    `after` that `before` does not have, such as checks that a newer version added.
    """
    now = {row.name: row for row in after.rows}
    found = []
    for row in before.rows:
        other = now.get(row.name)
        if row.check.status == "skipped" or (other and other.check.status == "skipped"):
            continue
        if other is None:
            found.append((row.name, "this row is not computed for the model."))
        elif row.check.status != other.check.status:
            seen = "" if other.check.worst is None else f" (worst {other.check.worst:.1e})"
            found.append((row.name, f"it was {row.check.status} and is {other.check.status}{seen}."))
        elif row.numbers or other.numbers:
            found += _apart(row, other)
    return found


def _apart(row: Row, other: Row) -> list[tuple[str, str]]:
    """The name and the largest difference of two rows of values, where that is above the tolerance."""
    count = row.ops[0] if row.ops else 1
    if len(row.numbers) != len(other.numbers) or count < 1 or len(row.numbers) % count:
        return [(row.name, f"it had {len(row.numbers)} values and has {len(other.numbers)}.")]
    one, two = (np.array(each.numbers).reshape(count, -1) for each in (row, other))
    scale = np.abs(one).max(axis=0)  # of every value over all states
    scale = np.maximum(scale, 1e-3 * scale.max(initial=0.0))
    with np.errstate(all="ignore"):
        ratio = np.where(one == two, 0.0, np.abs(one - two) / scale)
    worst = float(np.nan_to_num(ratio, nan=math.inf).max(initial=0.0))
    tolerance = SAME if row.check.tolerance is None else min(row.check.tolerance, 1e-6)
    return [(row.name, f"its values differ by {worst:.1e}, more than {tolerance:.0e}.")] if worst > tolerance else []
