"""Models whose numbers are Parameters: masses, friction and other regressor columns become Parameters by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kinemorph.analysis.identification.system_parameters import system_parameters
from kinemorph.analysis.identification.with_parameters import with_parameters
from kinemorph.deriving.parameter_functions import column_names
from kinemorph.errors import ModelError
from kinemorph.mechanics.recursions.regressors import OF_BODY
from kinemorph.model.parameter import Parameter, nominal_part, parameters_of
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.words import did_you_mean, listed

UNITS = {"m": "kg"} | dict.fromkeys(("hx", "hy", "hz"), "kg m") | dict.fromkeys(OF_BODY[4:], "kg m^2")
KEPT = "systems with Parameters"  # where a model keeps them, so that their compiled runs are used again
FREE = ("hx", "hy", "hz", "Ixy", "Ixz", "Iyz", "offset")  # columns that may have either sign


def parametrized(
    model: Robot | System, wanted: str | Sequence[str] | Mapping[str, float]
) -> tuple[System, list[Parameter]]:
    """The system in which all `wanted` names are Parameters, and these Parameters with the values to begin with.

    A name is that of a Parameter of the robot or of its elements, or one of `Dynamics.regressor_columns`, such as
    "forearm.m" or "elbow.coulomb", whose number becomes a Parameter. A mapping also gives their values. "all" means
    every Parameter that the model has. Raises ModelError for unknown names.
    """
    system = model if isinstance(model, System) else System(model)
    own = {one.name: one for one in (*system.robot.parameters, *parameters_of(system.elements))}
    names = list(own) if wanted == "all" else [wanted] if isinstance(wanted, str) else list(wanted)
    columns = column_names(system.robot)
    for name in names:
        if name not in own and name not in columns:
            known = [*own, *columns]
            raise ModelError(
                f"parameter '{name}': '{system.robot.name}' has no Parameter and no regressor column of this name."
                f"{did_you_mean(name, known)} Parameters: {listed(own) or 'none'}; see also "
                "Dynamics.regressor_columns."
            )
        if names.count(name) > 1:
            raise ModelError(f"parameter '{name}' is named {names.count(name)} times. Name it once.")
    if not names:
        raise ModelError(f"'{system.robot.name}': no parameter is named. Name at least one.")
    new = [name for name in names if name not in own]
    kept: dict[tuple[str, ...], System] = vars(model).setdefault(KEPT, {})
    if new:
        values = system_parameters(system)
        made = {name: Parameter(name, values[name], _unit(name)) for name in new}
        if tuple(new) not in kept:
            kept[tuple(new)] = with_parameters(system, made)
        own |= made
    elif () not in kept:
        kept[()] = system
    system = kept[tuple(new)]
    if isinstance(wanted, Mapping):
        own = {name: replace(one, value=float(wanted.get(name, one.value))) for name, one in own.items()}
    return system, [own[name] for name in names]


def with_values(system: System, values: Mapping[str, float]) -> System:
    """The system with other nominal values of its Parameters, by name; the others stay as they are."""
    own = (*system.robot.parameters, *parameters_of(system.elements))
    lookup = {one.name: replace(one, value=float(values.get(one.name, one.value))) for one in own}
    robot = nominal_part(system.robot, lookup)
    return replace(system, robot=robot, elements=nominal_part(system.elements, lookup))


def _unit(name: str) -> str:
    return UNITS.get(name.rpartition(".")[2], "")
