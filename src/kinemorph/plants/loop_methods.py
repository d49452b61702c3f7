"""How a run keeps loops closed: methods side by side, as data.

    projection      accelerations that keep the constraints; after each step q and v go back onto them. The default
    baumgarte       accelerations that bring errors back like a damped spring; alpha and beta want tuning
    partitioning    independent coordinates are integrated, dependent ones solved for at every look at the motion
    perturbation    dependent coordinates follow a fast motion of their own, d phi/dt = -phi / epsilon (Kamidi et al.)
    multipliers     accelerations that keep the constraints and nothing else; errors grow

Projection moves what is cheapest to move, as the mass matrix measures it; partitioning and perturbation move dependent
coordinates only. Which coordinates are dependent is part of the run's memory: it is chosen at the start, and again
where the choice would get stuck. The same method keeps the constraints of elements.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from kinemorph.errors import UnsupportedError
from kinemorph.words import did_you_mean

DEGRADED = 1e-3  # of a row's square, what dependent velocities have to make up: below, they are chosen again
LOST = 1e-5  # below, those that were named do not follow from the others


@dataclass(frozen=True)
class Projection:
    """Back onto the constraints after every step, by the least displacement and change of velocity as M measures.

    `tolerance` is how far a row may be off, against the size of its loop; for velocities ten times that per second.
    With `stages` the motion is looked at on the constraints within steps, too: slower, but with fewer steps where the
    tolerance is tight and the motion passes singular configurations.
    """

    tolerance: float = 1e-12
    stages: bool = False


@dataclass(frozen=True)
class Baumgarte:
    """J a = gamma - 2 alpha d phi/dt - beta^2 phi, with `alpha` and `beta` [1/s]; equal ones damp critically."""

    alpha: float = 20.0
    beta: float = 20.0


@dataclass(frozen=True)
class Partitioning:
    """Independent velocities, by the names of their joints, are integrated; the others follow from the constraints.

    Where none are named they are chosen, and chosen again where the choice degrades. `tolerance` as for Projection.
    """

    independent: tuple[str, ...] | None = None
    tolerance: float = 1e-12


@dataclass(frozen=True)
class SingularPerturbation:
    """Dependent coordinates z of the fast motion  J_z dz/dt = -phi / epsilon - J_q dq/dt; `epsilon` [s].

    Errors of the start fall as exp(-t / epsilon). A method of fixed steps wants steps below 2.8 epsilon; steps that
    choose their size end at samples. `independent` as for Partitioning. Velocities of a run are those of the fast
    motion: they differ from velocities that keep the loops by about phi / epsilon. A run ends where it comes by a
    singular configuration, in which no choice of dependent coordinates follows the others. (Kamidi, Williams, Ben-Tzvi;
    docs/errata.md E003)
    """

    epsilon: float = 0.01
    independent: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Multipliers:
    """Accelerations keep the constraints; nothing is done against errors that grow."""


def names_independent(method: LoopMethod) -> tuple[str, ...] | None:
    """The joints that are named as independent; None where the method chooses, or needs none."""
    given = method.independent if isinstance(method, Partitioning | SingularPerturbation) else None
    return (given,) if isinstance(given, str) else given


LoopMethod = Projection | Baumgarte | Partitioning | SingularPerturbation | Multipliers

LOOP_METHODS: dict[str, LoopMethod] = {
    "projection": Projection(),
    "baumgarte": Baumgarte(),
    "partitioning": Partitioning(),
    "perturbation": SingularPerturbation(),
    "multipliers": Multipliers(),
}


def loop_method(given: str | LoopMethod | None) -> LoopMethod:
    """The method of that name, or the given one; projection where it is None."""
    if given is None:
        return LOOP_METHODS["projection"]
    if isinstance(given, str) and given in LOOP_METHODS:
        return LOOP_METHODS[given]
    if not isinstance(given, LoopMethod):
        hint = did_you_mean(given, LOOP_METHODS) if isinstance(given, str) else ""
        raise UnsupportedError(
            f"loops is {given!r}; expected one of {', '.join(LOOP_METHODS)}, or data such as Projection().{hint}"
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
