"""The values of a plant's groups at the start of a run: those that the user gives, else its defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.quaternions import quat_normalize
from kinemorph.errors import ShapeError
from kinemorph.model.parameter import parameters_of
from kinemorph.model.units import numbers_in_si
from kinemorph.plants.user_laws import Column, completed
from kinemorph.words import did_you_mean, quoted

if TYPE_CHECKING:
    from kinemorph.plants.programs import Plant

# what messages call one number of each group of a plant
WORDS = {"q": "coordinate", "v": "velocity", "x": "state", "m": "memory", "u": "input", "p": "parameter"}
SUPPLIED, DISSIPATED = ACCOUNT = ("supplied energy", "dissipated energy")  # states that a run adds to count energy


def initial_values(plant: Plant, group: str, given: Any = None) -> Array:
    """The values of a group ("q", "v", "x", "m", "u", "p"): those given, in order or by name, else the defaults.

    States x may be given without the accounts of energy, which then begin at 0, and parameters p without those of rigid
    contacts. A number may be a text with a unit, such as "30 deg". Raises ShapeError for a wrong length, an unknown
    name, a unit that does not fit, or a number that is not finite.
    """
    columns: tuple[Column, ...] = getattr(plant, group)
    values = np.array(plant.start[group], dtype=float)
    if given is None:
        return values
    given = in_si(plant, group, given)
    if isinstance(given, Mapping):
        for name, value in given.items():
            values[plant.index(group, name)] = value
    else:
        try:
            optional = {"p": plant.optional, "u": plant.nu - plant.given}.get(group, 0)
            values = completed(np.array(given, dtype=float), values, optional)
        except (TypeError, ValueError):
            raise ShapeError(
                f"{group} is {given!r}; expected {len(columns)} numbers in order, or a dict of numbers by name."
            ) from None
        counted = [0.0 for column in columns if group == "x" and column.name in ACCOUNT]  # they come last
        values = np.append(values, counted) if values.shape == (len(columns) - len(counted),) else values
    if values.shape != (len(columns),):
        columns = columns[: plant.given] if group == "u" else columns
        listed = ", ".join(column.name for column in columns) or "none"
        named = _numbers(plant) if group == "p" else []
        remedy = f" Give parameters of the model by name: {{'{named[0]}': value}}." if named and not columns else ""
        raise ShapeError(
            f"{group} has shape {values.shape}; expected ({len(columns)},), in this order: {listed}.{remedy}"
        )
    finite = np.isfinite(values)
    if not finite.all():
        k = int(finite.argmin())
        raise ShapeError(
            f"{group} '{columns[k].name}' is {values[k]}; expected a finite number. Check how it was computed."
        )
    if group == "p":
        check_contact_numbers(plant, values)
    return _placed(plant, values) if group == "q" else values


def in_si(plant: Plant, group: str, given: Any) -> Any:
    """The numbers of a group as they are given, in order or by name, with texts such as "30 deg" in SI."""
    columns: tuple[Column, ...] = getattr(plant, group)
    if isinstance(given, Mapping):
        given = {columns[plant.index(group, name)].name: value for name, value in given.items()}
    return numbers_in_si(group, given, {column.name: column.unit for column in columns})


def unknown_name(plant: Plant, group: str, name: str) -> ShapeError:
    """The error for a name that a group of the plant does not have; of parameters it lists those of the model, too."""
    fixed = _numbers(plant) if group == "p" else []
    if name in fixed:
        return ShapeError(
            f"plant '{plant.name}' was made with the number of parameter '{name}'. Name it where the plant is made: "
            f"parameters=['{name}']."
        )
    known = [*dict.fromkeys([*(column.name for column in getattr(plant, group)), *fixed])]
    said = f"plant '{plant.name}' has no {WORDS[group]} '{name}'; expected one of {quoted(known)} in {group}"
    return ShapeError(f"{said}.{did_you_mean(name, known) or ' Choose one of them.'}")


def _numbers(plant: Plant) -> list[str]:
    """The names of parameters of the robot and of elements that are plain numbers in the plant."""
    own = plant.robot.parameters if plant.robot else ()
    kept = {column.name for column in plant.p}
    return [one.name for one in (*own, *parameters_of(plant.elements)) if one.name not in kept]


def check_contact_numbers(plant: Plant, p: Array) -> None:
    """Raises ShapeError for parameters p (..., np) of rigid contacts that no contact has: mu < 0, restitution > 1."""
    for k in range(len(plant.p) - plant.optional, len(plant.p)):
        name, column = plant.p[k].name, p[..., k]
        most = 1.0 if name.endswith(".restitution") else np.inf
        wrong = column[(column < 0.0) | (column > most)]
        if wrong.size:
            limits = "from 0 to 1" if most == 1.0 else "0 or more"
            raise ShapeError(f"p '{name}' is {wrong.flat[0]:g}; expected a number {limits}. Correct the value.")


def _placed(plant: Plant, q: Array) -> Array:
    """A configuration with normalized quaternions; raises ShapeError where a quaternion is zero."""
    placed = q.copy()
    for joint in plant.manifold:
        first = {"spherical": joint.q, "free": joint.q + 3}.get(joint.kind)
        if first is None:
            continue
        if not q[first : first + 4].any():
            named = plant.q[first].name.rpartition(".")[0]
            raise ShapeError(f"q: the quaternion of '{named}' is zero; expected a rotation, as (1, 0, 0, 0).")
        placed[first : first + 4] = quat_normalize(q[first : first + 4].tolist())
    return placed
