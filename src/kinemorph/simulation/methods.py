"""The methods by name: our own, which run compiled, those of other libraries, and the names that MATLAB users know."""

from __future__ import annotations

from kinemorph.errors import UnsupportedError, did_you_mean
from kinemorph.simulation.integrators import diagonally_implicit, explicit, newmark, radau, rosenbrock
from kinemorph.simulation.stepping import Method

FAMILIES: tuple[tuple[Method, ...], ...] = (
    explicit.FAMILY,
    rosenbrock.FAMILY,
    diagonally_implicit.FAMILY,
    radau.FAMILY,
    newmark.FAMILY,
)
METHODS: dict[str, Method] = {method.name: method for family in FAMILIES for method in family}
ALIASES: dict[str, str] = {"ode45": "dormand_prince", "ode23": "bogacki_shampine", "ode113": "dop853"}
DEFAULT = "dop853"


def method_named(name: str | Method) -> Method:
    """A method by its name or an alias; a Method is itself."""
    if not isinstance(name, str):
        return name
    found = METHODS.get(ALIASES.get(name, name))
    if found is None:
        known = [*METHODS, *ALIASES]
        raise UnsupportedError(f"there is no method '{name}'.{did_you_mean(name, known)} Known: {', '.join(known)}.")
    return found
