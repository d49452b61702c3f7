"""A linearization at rest: near an equilibrium, or where inputs can hold the plant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinemorph.analysis.small_motions.equilibrium import equilibrium
from kinemorph.analysis.small_motions.linearize import Linearization, Model, linearize
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.model.input_reader import short
from kinemorph.plants.robot_plant import plant as as_plant

STEPS = 8  # Newton steps towards inputs that hold the plant


def inputs_of(what: str, names: Sequence[str], weights: Any) -> list[int]:
    """The numbers of the inputs that a dict of weights names; all inputs for other weights."""
    if not isinstance(weights, Mapping):
        return [*range(len(names))]
    for name in weights:
        if name not in names:
            raise ShapeError(f"{what} names '{name}', which is no input. Known inputs: {', '.join(names) or 'none'}.")
    return [k for k, name in enumerate(names) if name in weights]


def linear_at_rest(what: str, model: Model | Linearization, R: Any, **given: Any) -> Linearization:
    """The linear equations about a point at rest: those given, at the equilibrium near the start, or at q.

    `given` are arguments of `linearize`. Where q is given and u is not, the inputs that R names, and further states,
    take the values that hold the plant there. Raises UnsupportedError where it does not rest.
    """
    if isinstance(model, Linearization):
        for name, value in given.items():
            if value is not None and value != () and name != "outputs":
                raise UnsupportedError(f"{what}: {name} is given, but the Linearization has it. Leave {name} out.")
        return _resting(what, model)
    given["t"] = given["t"] or 0.0
    options = {name: given.pop(name) for name in ("forces", "locked")}
    plant, outputs = as_plant(model, **options), given.pop("outputs")
    if given["q"] is None and given["v"] is None:
        own = {name: given[name] for name in ("u", "x", "p", "m", "t")}
        found = equilibrium(plant, **own)
        if not found:
            raise UnsupportedError(f"{what}: {found.message} Give q, the configuration to hold.")
        given |= {"q": found.q, "x": found.x, "m": found.m}
        return _resting(what, linearize(plant, **given, outputs=outputs))
    if isinstance(given["q"], str):  # the name of a start is known to the system, not to its plant
        return _resting(what, linearize(model, **given, **options, outputs=outputs))
    linear = linearize(plant, **given, outputs=outputs)
    if given["u"] is None and not linear.at_rest:
        chosen = inputs_of(what, linear.input_names, R)
        for _ in range(STEPS):
            slopes = np.hstack([linear.B[:, chosen], linear.A[:, 2 * plant.nv :]])
            step = np.linalg.lstsq(linear.dual @ slopes, -linear.dual @ linear.drift, rcond=None)[0]
            u, x = linear.point.u.copy(), linear.x + step[len(chosen) :]
            u[chosen] += step[: len(chosen)]
            linear = linearize(plant, **{**vars(linear.point), "u": u, "x": x}, outputs=outputs)
            if np.abs(step).max(initial=0.0) <= 1e-12 * max(1.0, np.abs(u).max(initial=0.0)):
                break
    return _resting(what, linear)


def _resting(what: str, linear: Linearization) -> Linearization:
    if linear.at_rest:
        return linear
    worst = int(np.argmax(np.abs(linear.drift)))
    raise UnsupportedError(
        f"{what}: '{linear.plant.name}' does not rest at this state: '{linear.state_names[worst]}' changes at a rate "
        f"of {short(float(linear.drift[worst]))}. Take a state from `equilibrium`, give the inputs u that hold it, or "
        "give a run as along=."
    )
