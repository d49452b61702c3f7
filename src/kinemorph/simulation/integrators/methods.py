"""The methods by name: our own, which run compiled, those of other libraries, and the names that MATLAB users know.

`METHODS` are our own, as data. `NOTES` says in a line what each is good for. `OUTSIDE` are the methods of SciPy and
SUNDIALS, which run in Python around the compiled rate (see `foreign`). `ALIASES` are MATLAB's names and the methods
that they mean here: the same formulas where we have them, else the nearest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kinemorph.errors import UnsupportedError
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators import (
    diagonally_implicit,
    explicit,
    linearly_implicit,
    newmark,
    radau,
    rosenbrock,
    symplectic,
    variational,
)
from kinemorph.simulation.integrators.method import Method
from kinemorph.words import did_you_mean

FAMILIES: tuple[tuple[Method, ...], ...] = (
    explicit.FAMILY,
    rosenbrock.FAMILY,
    diagonally_implicit.FAMILY,
    radau.FAMILY,
    newmark.FAMILY,
    symplectic.FAMILY,
    variational.FAMILY,
    linearly_implicit.FAMILY,
)
METHODS: dict[str, Method] = {method.name: method for family in FAMILIES for method in family}
DEFAULT = "dop853"
CONTACT = "extrapolated_contact"  # where something touches the ground
CONTACT_STEP = 1e-3  # [s]


class Note(NamedTuple):
    """What a method is good for, and whether it is for stiff systems."""

    text: str
    stiff: bool = False  # whether steps need not follow the fastest decay


NOTES: dict[str, Note] = {
    "euler": Note("explicit Euler; to compare with, not to use"),
    "heun": Note("Heun, two rates a step"),
    "rk4": Note("the classical Runge-Kutta method; fixed steps, the usual choice of other simulators"),
    "bogacki_shampine": Note("Bogacki-Shampine 3(2); loose tolerances, forces that are not smooth"),
    "dormand_prince": Note("Dormand-Prince 5(4); tolerances down to about 1e-8"),
    "dop853": Note("Dormand-Prince 8(5,3); the default: smooth motion at any tolerance"),
    "semi_implicit_euler": Note("v first, then q at the new v; what game engines do, cheap and robust"),
    "leapfrog": Note("kick-drift-kick (velocity Verlet), symmetric; long runs at fixed steps"),
    "yoshida4": Note("three leaps of which one goes back, symmetric; long runs, more accurate"),
    "variational": Note("discrete Euler-Lagrange; symplectic: momentum exact, energy bounded for ever; open trees"),
    "linearly_implicit_euler": Note("one linear solve a step; stiff springs and contacts in real time", True),
    "implicit_contact": Note("contact and gains at the end of the step; robots on the ground, at little cost", True),
    "implicit_contact_2": Note("the same with the tangent laid twice; more accurate", True),
    "implicit_contact_3": Note("the same, three times", True),
    "centered_contact": Note("contact at the end, gains at the middle of the step; errors several times smaller", True),
    "centered_contact_2": Note("the same with the tangent laid twice", True),
    "centered_contact_3": Note("the same, three times; impacts at large steps", True),
    "extrapolated_contact": Note(
        "a step and two half ones, extrapolated to order 2; the most accurate for contact", True
    ),
    "rosenbrock23": Note("Rosenbrock 2(3) of Shampine and Reichelt; stiff, loose tolerances", True),
    "rodas": Note("Rosenbrock 4(3) of Hairer and Wanner; stiff, tolerances down to about 1e-8", True),
    "radau": Note("Radau IIA of order 5; very stiff, tight tolerances", True),
    "newmark": Note("trapezoidal rule on the residual, EasyDyn's step control; stiff, no damping of its own", True),
    "linear_acceleration": Note("Newmark with beta 1/6; structures"),
    "central_difference": Note("Newmark with beta 0; structures, fixed steps"),
    "generalized_alpha": Note("Newmark that damps what is too fast for the step; stiff structures, constraints", True),
    "tr_bdf2": Note("trapezoid, then backward differences; stiff, damps what is too fast", True),
}


class MethodRow(NamedTuple):
    """A line of the table of methods."""

    name: str
    order: str  # a number, or a range
    adaptive: bool  # chooses its own steps where none is given
    stiff: bool
    text: str


OUTSIDE: dict[str, MethodRow] = {
    row.name: row
    for row in (
        MethodRow("scipy:RK23", "3", True, False, "Bogacki-Shampine 3(2) of SciPy"),
        MethodRow("scipy:RK45", "5", True, False, "Dormand-Prince 5(4) of SciPy"),
        MethodRow("scipy:DOP853", "8", True, False, "Dormand-Prince 8(5,3) of SciPy"),
        MethodRow("scipy:Radau", "5", True, True, "Radau IIA of order 5 of SciPy, with exact Jacobians"),
        MethodRow("scipy:BDF", "1-5", True, True, "backward differences of SciPy, with exact Jacobians"),
        MethodRow("scipy:LSODA", "1-12", True, True, "Adams or backward differences, whichever suits, by SciPy"),
        MethodRow("sundials:cvode-adams", "1-12", True, False, "Adams-Moulton of CVODE; smooth motion, costly rates"),
        MethodRow("sundials:cvode-bdf", "1-5", True, True, "backward differences of CVODE, with exact Jacobians"),
        MethodRow(
            "sundials:ida", "1-5", True, True, "backward differences of IDA; constraints and their forces as unknowns"
        ),
    )
}


class Alias(NamedTuple):
    """Another name: it means the first of the methods listed that exists; and why."""

    methods: tuple[str, ...]
    why: str

    @property
    def method(self) -> str:
        """The first of the methods that exists; "" where none does."""
        return next((name for name in self.methods if name in METHODS), "")


ALIASES: dict[str, Alias] = {
    "ode45": Alias(("dormand_prince",), "the same pair, Dormand-Prince 5(4)"),
    "ode23": Alias(("bogacki_shampine",), "the same pair, Bogacki-Shampine 3(2)"),
    "ode113": Alias(("dop853",), "both are for tight tolerances and smooth motion; one step in place of many"),
    "ode15s": Alias(("radau",), "both are stiff solvers up to order 5; one step in place of many"),
    "ode23s": Alias(("rosenbrock23",), "the same pair, Rosenbrock 2(3)"),
    "ode23t": Alias(("newmark",), "both are the trapezoidal rule, without damping of their own"),
    "ode23tb": Alias(("tr_bdf2", "rodas"), "both damp what is too fast for the step"),
}


def usual(plant: Plant, method: str | Method | None, step: float | None, exact: bool) -> tuple[Any, float | None]:
    """(method, step) of a run: where no method is named, one that takes contact at the end of steps, or the default; a
    method for contact has a step of its own.

    `exact`: tolerances are given, and a method has to keep them.
    """
    if method is not None:
        for_contact = isinstance(method, str) and METHODS.get(method) in linearly_implicit.FAMILY
        return method, CONTACT_STEP if for_contact and step is None and not exact else step
    if not plant.touches or exact:
        return DEFAULT, step
    return CONTACT, CONTACT_STEP if step is None else step


def method_named(name: str | Method) -> Method:
    """A method of our own by its name or an alias; a Method is itself."""
    if not isinstance(name, str):
        if not hasattr(name, "attempt"):
            raise UnsupportedError(f"method is {name!r}; expected a name, as '{DEFAULT}', or a Method.")
        return name
    found = METHODS.get(ALIASES[name].method if name in ALIASES else name)
    if found is None and name in OUTSIDE:
        raise UnsupportedError(
            f"method '{name}' is that of another library, for single runs by `simulate`. Here choose one of: "
            f"{', '.join(METHODS)}."
        )
    if found is None:
        known = [*METHODS, *ALIASES, *OUTSIDE]
        raise UnsupportedError(f"there is no method '{name}'.{did_you_mean(name, known)} Known: {', '.join(known)}.")
    return found


def method_rows() -> list[MethodRow]:
    """The table of all methods, for documents and the command line: ours, then those of other libraries."""
    rows = []
    for name, method in METHODS.items():
        note = NOTES.get(name, Note(""))
        rows.append(MethodRow(name, str(method.order), method.adaptive, note.stiff, note.text))
    return [*rows, *OUTSIDE.values()]


def alias_rows() -> list[tuple[str, str, str]]:
    """(MATLAB's name, the method here, why) for each alias."""
    return [(name, alias.method, alias.why) for name, alias in ALIASES.items() if alias.method]
