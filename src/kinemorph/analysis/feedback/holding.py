"""A linearization at rest: near an equilibrium, or where inputs can hold the plant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinemorph.analysis.small_motions.equilibrium import equilibrium
from kinemorph.analysis.small_motions.linearize import Linearization, Model, linearize
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.model.input_reader import short
from kinemorph.plants.robot_plant import named_parameters
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.simulation.stepping.chosen_start import state_at

STEPS = 8  # Newton steps towards inputs that hold the plant


def inputs_of(what: str, names: Sequence[str], weights: Any) -> list[int]:
    """The numbers of the inputs that a dict of weights names; all inputs for other weights."""
    if not isinstance(weights, Mapping):
        return [*range(len(names))]
    for name in weights:
        if name not in names:
            raise ShapeError(f"{what} names '{name}', which is no input. Known inputs: {', '.join(names) or 'none'}.")
    return [k for k, name in enumerate(names) if name in weights]


def linear_at_rest(
    what: str, model: Model | Linearization, R: Any, outputs: Any, state: dict[str, Any]
) -> Linearization:
    """The linear equations about a point at rest: those given, at the equilibrium near the start, or at q.

    `state` are arguments of `linearize`. Where q is given and u is not, the inputs that R names, and further states,
    take the values that hold the plant there. Raises UnsupportedError where it does not rest.
    """
    if isinstance(model, Linearization):
        if state:
            raise UnsupportedError(f"{what}: {', '.join(state)} is given, but the Linearization has it. Leave it out.")
        return _resting(what, model)
    made = {name: state.pop(name) for name in ("forces", "locked") if name in state}
    plant = as_plant(model, parameters=named_parameters(model, state.get("p")), **made)
    if state.get("q") is None and state.get("v") is None:
        found = equilibrium(plant, **state)
        if not found:
            raise UnsupportedError(f"{what}: {found.message} Give q, the configuration to hold.")
        state |= {"q": found.q, "x": found.x, "m": found.m}
    t = state.pop("t", 0.0)
    given = state_at(model, plant, t, **({group: None for group in ("q", "v", "x", "m", "u", "p")} | state))
    linear = linearize(plant, **given, t=t, outputs=outputs)
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
