"""`verify`: checks of a derived model at random states.

    print(verify(robot))

There are four kinds of checks. Poses, masses and energies must be those of the Robot's own data, computed a second
time without the tree that everything else uses (analysis.verification.declared_model). The laws of mechanics
(analysis.verification.laws) hold for any correct equations of motion. Another formulation must give the same numbers.
Compiled functions must give the numbers of the interpreter, which defines what a program computes. A model that passes
is that of the Robot as declared; no check can tell whether that is the robot the user meant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.verification.laws import LAWS, ROUNDING, Law, condition_numbers
from kinemorph.analysis.verification.sampling import Sample, WorstError, drawn, largest
from kinemorph.analysis.verification.verdict import Check, Verification, judged
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.deriving.function_names import CONSTRAINT_FUNCTIONS, STATE_FUNCTIONS
from kinemorph.errors import KinemorphError, ShapeError, UnsupportedError
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.model.robot import Robot, not_a_model
from kinemorph.model.system import System

DENSE_LIMIT = 12  # most dof with which another formulation's own mass matrix and forward dynamics are compared too
AT_REST = (  # checks of rules that hold where the time alone moves nothing
    *("energy as declared", "derivatives", "links as written", "bias forces", "passivity", "kinetic energy"),
    *("power balance", "momentum", "jacobian", "jacobian rate"),
)
SIZE_LIMITS = {"dalembert": 12}  # a lower limit for a formulation whose cost grows faster
SIZE_LIMIT = 60  # most dof with which other formulations, whose cost grows with the square of the dof, are compared


def verify(
    model: Robot | System | Dynamics,
    *,
    states: int = 8,
    seed: int = 0,
    formulations: str | Sequence[str] | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Verification:
    """Checks a derived model at random states.

    A Robot or a System is derived first, and compiled in the least time. To check the functions that you use, as they
    were compiled for speed, give their Dynamics. Elements of a System that do not fit its robot raise a ModelError.

    `states`        the number of random states
    `seed`          the seed of the random states; the same seed gives the same result
    `formulations`  names of the formulations to compare with; by default all others, up to 60 degrees of freedom
                    ("dalembert" up to 12)
    `progress`      is called before each check with its name and the fraction of the checks that are done
    """
    if isinstance(model, System):
        ensemble(model.robot, model.members)
    if isinstance(model, Robot | System):
        model = derive(model, few_calls=True)
    if not isinstance(model, Dynamics):
        raise not_a_model(model, "a Robot, a System or a Dynamics")
    model.robot.check_masses("verify")
    if states < 1:
        raise ShapeError(f"verify: states is {states}; expected 1 or more random states.")
    formulations = (formulations,) if isinstance(formulations, str) else formulations
    for name in formulations or ():
        if name not in FORMULATIONS:
            raise UnsupportedError(f"verify: formulation '{name}' is unknown. Choose from: {', '.join(FORMULATIONS)}.")
    sample = drawn(model, states, seed)
    rows = [*LAWS, *_other_formulations(model, formulations), _same_as_interpreter()]
    checks = []
    for k, row in enumerate(rows):
        if progress is not None:
            progress(row.name, k / len(rows))
        checks.append(_checked(row, sample))
    return Verification(model.robot.name, model.formulation, model.backend, states, seed, tuple(checks))


def _checked(law: Law, sample: Sample) -> Check:
    """The result of one check: skipped where it does not apply to the model, failed where a function raises."""
    if not sample.dynamics.robot.nv:
        return Check(law.name, law.says, "skipped", note="the robot has no movable joint.")
    if sample.dynamics.robot.is_timed and law.name in AT_REST:
        return Check(law.name, law.says, "skipped", note="the time moves joints: another rule holds.")
    try:
        worst, where, note = law.measure(sample)
    except UnsupportedError as refusal:
        return Check(law.name, law.says, "skipped", note=str(refusal))
    except KinemorphError as error:
        return judged(law.name, law.says, float("nan"), law.tolerance, str(error))
    seen = "" if worst <= law.tolerance else where
    return judged(law.name, law.says, worst, law.tolerance, "; ".join(filter(None, (seen, note))))


# ── other formulations ────────────────────────────────────────────────────────────────────────────────────────────────


def _other_formulations(model: Dynamics, wanted: Sequence[str] | None) -> list[Law]:
    names = [name for name in FORMULATIONS if name != model.formulation] if wanted is None else wanted
    return [
        Law(
            f"formulation {name}",
            f"Formulation '{name}' gives the same M, h and ID.",
            ROUNDING,
            _agrees_with(name, asked=wanted is not None),
        )
        for name in names
    ]


def _agrees_with(name: str, *, asked: bool) -> Callable[[Sample], WorstError]:
    """The check that formulation `name` gives the same numbers.

    Inverse dynamics is compared for random and for all unit accelerations, which covers all of M and h. `asked` is true
    where the user named the formulation: then it is compared whatever the size of the robot.
    """

    def error(s: Sample) -> WorstError:
        d, nv = s.dynamics, s.dynamics.robot.nv
        limit = size_limit(name)
        if nv > limit and not asked:
            raise UnsupportedError(
                f"the robot has {nv} degrees of freedom; by default formulation '{name}' is only compared for robots "
                f"with at most {limit}. Pass formulations=['{name}'] to compare it, which takes longer."
            )
        kept: dict[str, Any] = {"parameters": [p.name for p in d.parameters], "constraints": d.constraints}
        other = derive(d.robot, name, **kept, backend="interpreter")  # type: ignore[arg-type]
        errors = [inverse_dynamics_error(s, d.inverse_dynamics, other.inverse_dynamics)]
        if nv > DENSE_LIMIT:
            note = f"M is compared by ID at unit accelerations; M and FD are compared directly up to {DENSE_LIMIT} dof"
            return errors[0]._replace(note=note)
        M = s.call(other.mass_matrix)
        errors.append(s.worst(s.call(d.mass_matrix) - M, M))
        ours, theirs = (s.call(way.forward_dynamics, still=True) for way in (d, other))
        errors.append(s.worst((ours - theirs) / condition_numbers(s)[:, None], ours, theirs))
        return largest(errors)

    return error


def size_limit(formulation: str) -> int:
    """The largest number of degrees of freedom for which a formulation is compared unless it is asked for."""
    return SIZE_LIMITS.get(formulation, SIZE_LIMIT)


def inverse_dynamics_error(s: Sample, one: CompiledFunction, other: CompiledFunction) -> WorstError:
    """The largest relative difference of two functions of inverse dynamics, at random and at all unit accelerations.

    A difference beyond rounding is looked at again with more digits of the other function: where a rotor spins fast,
    the sums of twists about the world's origin cancel, and their rounding is larger than what it hides.
    """
    pushes = np.concatenate([s.a[:, None], _units(len(s.q), s.dynamics.robot.nv)], axis=1)
    wide = replace(s, q=s.q[:, None], v=s.v[:, None], a=pushes, wrenches=0.0 * s.wrenches[:, None])
    ours = wide.call(one)

    def error(theirs: Array) -> WorstError:
        return s.worst(ours - theirs, ours, theirs, floor=s.weight, by_joint=False)

    found = error(wide.call(other))
    return found if found.worst <= ROUNDING else error(wide.extended(other))


def _units(n: int, nv: int) -> Array:
    """The zero acceleration and all unit accelerations, for each of n states, shape (n, 1 + nv, nv)."""
    return np.broadcast_to(np.vstack([np.zeros(nv), np.eye(nv)]), (n, 1 + nv, nv))


# ── the interpreter ───────────────────────────────────────────────────────────────────────────────────────────────────

SOLVING = (".forward_dynamics", ".constraint_forces")
FORCES = {"mass_matrix", "inverse_dynamics", "bias_forces", "gravity_forces", "coriolis_matrix", "energy"}


def _same_as_interpreter() -> Law:
    return Law(
        "compiled code",
        "Every compiled function gives the numbers of the interpreter, for one state and for a batch.",
        ROUNDING,
        _compiled_is_interpreted,
    )


def _compiled_is_interpreted(s: Sample) -> WorstError:
    if s.dynamics.backend == "interpreter":
        raise UnsupportedError("the model is evaluated by the interpreter, so there is no compiled code to check.")
    condition = condition_numbers(s)
    errors = []
    for function in _every_function(s.dynamics):
        inputs = s.inputs(function.program)
        expected = _outputs(build(function.program, "interpreter")(*inputs))
        batch = _outputs(function(*inputs))
        first = [x if port.name == "p" else x[0] for x, port in zip(inputs, function.program.inputs, strict=True)]
        single = _outputs(function(*first))
        floor = s.weight if function.name.removeprefix(f"{s.dynamics.robot.name}.") in FORCES else 1e-3
        for ours, alone, exact in zip(batch, single, expected, strict=True):
            gap = np.concatenate([ours - exact, (alone - exact[0])[None]])
            if function.name.endswith(SOLVING):  # solving with M amplifies rounding errors by cond(M)
                gap = gap / np.append(condition, condition[0])[:, None]
            error = s.worst(gap, np.concatenate([exact, exact[:1]]), floor=floor, by_joint=False)
            errors.append(WorstError(error.worst, f"largest in function '{function.name}'"))
    return largest(errors)


def _every_function(d: Dynamics) -> list[CompiledFunction]:
    """The compiled functions of a model, and those of one of its frames."""
    names = STATE_FUNCTIONS if d.robot.is_open else (*STATE_FUNCTIONS, *CONSTRAINT_FUNCTIONS)
    functions = [getattr(d, name) for name in names]
    end = d.robot.frames[0].name if d.robot.frames else d.robot.body_names[-1]
    return [*functions, d.pose(end), d.jacobian(end), d.jacobian_rate(end)]


def _outputs(result: Any) -> list[Array]:
    return [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]
