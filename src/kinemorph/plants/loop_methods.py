"""How a run keeps loops closed: the constraint methods, as data.

    projection      accelerations satisfy the constraints; after each step q and v are projected onto them. The default
    baumgarte       accelerations reduce errors like a damped spring; alpha and beta need tuning
    partitioning    independent coordinates are integrated, and each evaluation of the motion solves for dependent ones
    perturbation    dependent coordinates follow a fast motion of their own, d phi/dt = -phi / epsilon (Kamidi et al.)
    multipliers     accelerations satisfy the constraints and nothing else is done; errors grow

Projection takes the smallest correction, as the mass matrix measures it; partitioning and perturbation correct
dependent coordinates only. Which coordinates are dependent is part of the run's memory: the choice is made at the
start, and again before it becomes singular. The same method keeps the constraints of elements.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from kinemorph.errors import UnsupportedError
from kinemorph.words import did_you_mean

DEGRADED = 1e-3  # the margin of dependent velocities (constrained_motion.dependence) below which others are chosen
LOST = 1e-5  # the margin below which velocities that the user named do not determine the others


@dataclass(frozen=True)
class Projection:
    """Projects the state onto the constraints after every step, by the smallest change of q and v in the metric of M.

    `tolerance` is the largest error of a constraint row, relative to the size of its loop; for velocities it is ten
    times as large, per second. With `stages` the state is projected wherever the motion is evaluated within a step too:
    slower, but with fewer steps where the tolerance is tight and the motion passes singular configurations.
    """

    tolerance: float = 1e-12
    stages: bool = False


@dataclass(frozen=True)
class Baumgarte:
    """Baumgarte stabilization: J a = gamma - 2 alpha d phi/dt - beta^2 phi, critically damped if alpha = beta [1/s].

    J a = gamma are the constraints on accelerations, phi the errors of the constraints.
    """

    alpha: float = 20.0
    beta: float = 20.0


@dataclass(frozen=True)
class Partitioning:
    """Integrates independent velocities, named by their joints; the others follow from the constraints.

    Without `independent`, a run chooses them, and chooses again where the choice degrades. `tolerance` is that of
    Projection.
    """

    independent: tuple[str, ...] | None = None
    tolerance: float = 1e-12


@dataclass(frozen=True)
class SingularPerturbation:
    """Dependent coordinates z follow a fast motion,  J_z dz/dt = -phi / epsilon - J_q dq/dt,  with `epsilon` [s].

    Initial errors decay as exp(-t / epsilon). Fixed steps have to be below 2.8 epsilon; adaptive steps end at sample
    times. `independent` is that of Partitioning. Velocities of a run are those of the fast motion: they differ from
    velocities that satisfy the constraints by about phi / epsilon. A run fails near a singular configuration, where no
    choice of dependent coordinates is determined by the others. (Kamidi, Williams, Ben-Tzvi; docs/errata.md E003)
    """

    epsilon: float = 0.01
    independent: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Multipliers:
    """Accelerations satisfy the constraints; errors of positions and velocities are not corrected, and grow."""


def names_independent(method: LoopMethod) -> tuple[str, ...] | None:
    """The joints that the user named as independent; None where the method chooses them, or needs none."""
    given = method.independent if isinstance(method, Partitioning | SingularPerturbation) else None
    return (given,) if isinstance(given, str) else given


def leaves_errors(method: LoopMethod) -> bool:
    """Whether states of a run may have constraint errors, because the method does not correct coordinates at once."""
    return isinstance(method, Baumgarte | SingularPerturbation | Multipliers)


LoopMethod = Projection | Baumgarte | Partitioning | SingularPerturbation | Multipliers

LOOP_METHODS: dict[str, LoopMethod] = {
    "projection": Projection(),
    "baumgarte": Baumgarte(),
    "partitioning": Partitioning(),
    "perturbation": SingularPerturbation(),
    "multipliers": Multipliers(),
}


def loop_method(given: str | LoopMethod | None) -> LoopMethod:
    """The constraint method with this name; a method that is given is checked and returned; None means projection."""
    if given is None:
        return LOOP_METHODS["projection"]
    if isinstance(given, str) and given in LOOP_METHODS:
        return LOOP_METHODS[given]
    if not isinstance(given, LoopMethod):
        hint = did_you_mean(given, LOOP_METHODS) if isinstance(given, str) else ""
        raise UnsupportedError(
            f"loops is {given!r}; expected one of {', '.join(LOOP_METHODS)}, or an object such as Projection().{hint}"
        )
    for field in fields(given):
        value = getattr(given, field.name)
        if field.name in ("independent", "stages"):
            continue
        numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not numeric or not (0.0 < value < float("inf") or (value == 0.0 and isinstance(given, Baumgarte))):
            raise UnsupportedError(
                f"loops: {field.name} of {type(given).__name__} is {value!r}; expected a finite number above 0."
            )
    return given
