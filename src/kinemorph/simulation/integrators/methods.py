"""The methods by name: our own, which run compiled, those of other libraries, and the names that users of others know.

`METHODS` are our own, as data. `NOTES` says in a line what each is for. `OUTSIDE` are the methods of SciPy and
SUNDIALS, which run in Python and call the compiled rate (see `foreign`). `ALIASES` are names of MATLAB, of SciPy and of
textbooks, each with the method here that has the same formulas, or else the most similar one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinemorph.errors import UnsupportedError
from kinemorph.model.elements import Contact, HeightMap, Plane
from kinemorph.plants.programs import Plant
from kinemorph.sheet import Field, Sheet, Table, hidden
from kinemorph.simulation.integrators import (
    diagonally_implicit,
    explicit,
    linearly_implicit,
    newmark,
    radau,
    rosenbrock,
    symplectic,
    time_stepping,
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
    time_stepping.FAMILY,
)
METHODS: dict[str, Method] = {method.name: method for family in FAMILIES for method in family}
DEFAULT = "dop853"
CONTACT = "extrapolated_contact"  # the default for systems with contacts
RTOL, ATOL = 1e-8, 1e-10  # the default tolerances
CONTACT_RTOL, CONTACT_ATOL = 1e-3, 1e-5  # those of methods for contact, which are of order 2
FRICTION_RTOL, FRICTION_ATOL = 1e-4, 1e-6  # the same without contacts, where dry friction is stiff
CONTACT_LONGEST = linearly_implicit.SHORT  # the longest step that they choose: bodies do not pass each other
STEADY_LONGEST = 0.1  # [s], the same where nothing but planes and maps is touched, and nothing depends on time
CONTACT_STEP = 1e-3  # [s], the steps of methods for contact that do not estimate their error


YES = {True: "yes", False: ""}
COLUMNS = (  # of the table of methods
    *(Field("name", "method", form="name"), Field("order", "order")),
    *(
        Field("adaptive", "adaptive", form=YES),
        Field("stiff", "stiff", form=YES),
        Field("text", "what it is", form="name"),
    ),
)
OTHERS = (
    Field("name", "name", form="name"),
    *(Field("method", "is here", form="name"), Field("why", "because", form="name")),
)


class Note(NamedTuple):
    """A line that says what a method is for, and whether it is for stiff systems."""

    text: str
    stiff: bool = False  # whether steps may be longer than the fastest decay


NOTES: dict[str, Note] = {
    "euler": Note("explicit Euler; for comparison only"),
    "heun": Note("Heun; two evaluations of the rate per step"),
    "rk4": Note("the classical Runge-Kutta method; fixed steps, the usual choice of other simulators"),
    "bogacki_shampine": Note("Bogacki-Shampine 3(2); loose tolerances, forces that are not smooth"),
    "dormand_prince": Note("Dormand-Prince 5(4); tolerances down to about 1e-8"),
    "dop853": Note("Dormand-Prince 8(5,3); the default: smooth motion at any tolerance"),
    "semi_implicit_euler": Note("v first, then q with the new v; common in game engines, cheap and robust"),
    "leapfrog": Note("kick-drift-kick (velocity Verlet), symmetric; long runs at fixed steps"),
    "yoshida4": Note("three leapfrog steps, the middle one backwards; symmetric; long runs, more accurate"),
    "variational": Note("discrete Euler-Lagrange; symplectic: momentum exact, energy bounded for ever; open trees"),
    "linearly_implicit_euler": Note("one linear solve per step; stiff springs and contacts in real time", True),
    "implicit_contact": Note("contact and gains at the end of the step; robots on the ground, at little cost", True),
    "implicit_contact_2": Note("implicit_contact with two linearizations per step; more accurate", True),
    "implicit_contact_3": Note("implicit_contact with three linearizations per step", True),
    "centered_contact": Note("contact at the end, gains at the middle of the step; errors several times smaller", True),
    "centered_contact_2": Note("centered_contact with two linearizations per step", True),
    "centered_contact_3": Note("centered_contact with three linearizations per step; impacts at large steps", True),
    "extrapolated_contact": Note(
        "one step and two half steps, extrapolated to order 2; the most accurate for contact", True
    ),
    "moreau": Note("Moreau-Jean time-stepping of rigid contacts, impulses within steps; many contacts", True),
    "rosenbrock23": Note("Rosenbrock 2(3) of Shampine and Reichelt; stiff, loose tolerances", True),
    "rodas": Note("Rosenbrock 4(3) of Hairer and Wanner; stiff, tolerances down to about 1e-8", True),
    "radau": Note("Radau IIA of order 5; very stiff, tight tolerances", True),
    "newmark": Note("trapezoidal rule with EasyDyn's step control; stiff, no numerical damping", True),
    "linear_acceleration": Note("Newmark with beta 1/6; structures"),
    "central_difference": Note("Newmark with beta 0; structures, fixed steps"),
    "generalized_alpha": Note(
        "Newmark with damping of motions too fast for the step; stiff structures, constraints", True
    ),
    "tr_bdf2": Note("trapezoidal rule, then BDF2; stiff, damps motions too fast for the step", True),
}


class MethodRow(NamedTuple):
    """A row of the table of methods: name, order, whether it is adaptive and for stiff systems, and what it is for."""

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
        MethodRow("scipy:LSODA", "1-12", True, True, "Adams or backward differences of SciPy, switched automatically"),
        MethodRow(
            "sundials:cvode-adams",
            "1-12",
            True,
            False,
            "Adams-Moulton of CVODE; smooth motion, rates that are costly to evaluate",
        ),
        MethodRow("sundials:cvode-bdf", "1-5", True, True, "backward differences of CVODE, with exact Jacobians"),
        MethodRow(
            "sundials:ida", "1-5", True, True, "backward differences of IDA; constraints and their forces as unknowns"
        ),
    )
}


class Alias(NamedTuple):
    """What another name of a method means here: names of similar methods, the best first, and the reason for them.

    The first of these names that this package has a method for is used.
    """

    methods: tuple[str, ...]
    why: str

    @property
    def method(self) -> str:
        """The name of the first candidate that exists here; "" where none does."""
        return next((name for name in self.methods if name in METHODS), "")


ALIASES: dict[str, Alias] = {
    "ode45": Alias(("dormand_prince",), "the same pair, Dormand-Prince 5(4)"),
    "ode23": Alias(("bogacki_shampine",), "the same pair, Bogacki-Shampine 3(2)"),
    "ode113": Alias(("dop853",), "both are for tight tolerances and smooth motion; dop853 is a one-step method"),
    "ode15s": Alias(("radau",), "both are stiff solvers up to order 5; radau is a one-step method"),
    "ode23s": Alias(("rosenbrock23",), "the same pair, Rosenbrock 2(3)"),
    "ode23t": Alias(("newmark",), "both are the trapezoidal rule, without numerical damping"),
    "ode23tb": Alias(("tr_bdf2", "rodas"), "both damp motions that are too fast for the step"),
    "rk45": Alias(("dormand_prince",), "SciPy's name of the same pair, Dormand-Prince 5(4)"),
    "dopri5": Alias(("dormand_prince",), "Hairer's name of the same pair, Dormand-Prince 5(4)"),
    "rk23": Alias(("bogacki_shampine",), "SciPy's name of the same pair, Bogacki-Shampine 3(2)"),
    "verlet": Alias(("leapfrog",), "the same method, velocity Verlet"),
    "velocity_verlet": Alias(("leapfrog",), "the same method"),
    "symplectic_euler": Alias(("semi_implicit_euler",), "another name of the same method"),
}
NEAREST = {  # names of methods that this package does not have: what to take in their place
    "midpoint": "the explicit midpoint rule, of order 2; 'heun' is the nearest: two evaluations per step, order 2",
}


class Usual(NamedTuple):
    """How a run takes its steps where the user does not say it."""

    method: str | Method
    step: float | None  # [s]; None where the method chooses its steps
    rtol: float = RTOL
    atol: float = ATOL
    max_step: float = math.inf  # [s], the longest step that the method chooses


def usual(plant: Plant, method: str | Method | None, step: float | None, exact: bool) -> Usual:
    """The method, the step size and the tolerances of a run, with defaults in place of None.

    `exact` tells whether the user gave tolerances. Where the user gave neither a method nor tolerances, a plant with
    contacts or stiff friction gets a method for contact. Such methods choose their steps by loose tolerances of their
    own, or take steps of CONTACT_STEP if they do not estimate their error.
    """
    chosen = method if method is not None else CONTACT if plant.stiff and not exact else DEFAULT
    known = METHODS.get(chosen) if isinstance(chosen, str) else None
    if known not in linearly_implicit.FAMILY or step is not None or exact:
        return Usual(chosen, step)
    if not known.adaptive:
        return Usual(chosen, CONTACT_STEP)
    longest = STEADY_LONGEST if _is_steady(plant) else CONTACT_LONGEST
    tolerances = (CONTACT_RTOL, CONTACT_ATOL) if plant.touches else (FRICTION_RTOL, FRICTION_ATOL)
    return Usual(chosen, None, *tolerances, longest)


def _is_steady(plant: Plant) -> bool:
    """Whether long steps miss nothing: what acts is known not to depend on time, and no step can pass what is touched.

    A push in the middle of a step would not be seen at its start, nor in the middle.
    """
    if not plant.steady or plant.recipe is None or plant.automaton is not None:
        return False  # without a recipe there are laws of the user
    grounds = [one.ground for one in plant.elements if isinstance(one, Contact)]
    if plant.robot is not None and plant.robot.driven and any(isinstance(one, HeightMap) for one in grounds):
        return False  # the levers of driven joints are not known
    return all(type(one) in (Plane, HeightMap) for one in grounds)


def method_named(name: str | Method) -> Method:
    """Our own method with this name or alias; an object that is a Method already is returned unchanged."""
    if not isinstance(name, str):
        if not hasattr(name, "attempt"):
            raise UnsupportedError(f"method is {name!r}; expected a name, such as '{DEFAULT}', or a Method.")
        return name
    found = METHODS.get(ALIASES[name].method if name in ALIASES else name)
    if found is None and name in OUTSIDE:
        raise UnsupportedError(
            f"method '{name}' of another library works in single runs by `simulate` only. Choose one of: "
            f"{', '.join(METHODS)}."
        )
    if found is None and name.lower() != name and name.lower() in {*METHODS, *ALIASES}:
        return method_named(name.lower())
    if found is None and name in NEAREST:
        raise UnsupportedError(f"there is no method '{name}', {NEAREST[name]}.")
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


def methods_sheet() -> Sheet:
    """All methods, and the names of other software for them."""
    aliases = [(name, alias.method, alias.why) for name, alias in ALIASES.items() if alias.method]
    tables = Table("methods", COLUMNS, method_rows(), "methods"), Table("aliases", OTHERS, aliases, "other names")
    return Sheet("Integration methods of", "simulate", (hidden(default=DEFAULT), *tables))
