"""The variational equations of a plant, as a larger plant.

The derivative S = ds/dp of a state s = [w, v, x] (displacements, velocities, further states) by a parameter p,
in the tangent space at the state itself, obeys

    dS/dt = A S + df/dp,    ds/dt = f,    A = df/ds + the rotation of the tangent space

The base of the local coordinates moves with the motion, so that a displacement w of a joint with several axes also
rotates: with  dw/dt = v + Gamma(w, v) + ...  it changes by  dv + Gamma(w, v) - Gamma(v, w). All of these terms come
from the plant's own equations, evaluated on dual numbers.

Where there are constraints, the motion is brought back onto them after every step, and S is multiplied by the
derivative of this correction. At a state on the constraints that derivative is the projection of S onto their tangent
space, along the same directions in which the motion is corrected: S satisfies the differentiated constraints as well as
the motion satisfies the constraints themselves, and does not drift in long runs.

The memory m of elements has derivatives too, as further memory. They change where m does: at a sample time the new
memory is a function of the state, of m and of p, and its derivatives come from the same dual numbers. At an edge of an
automaton, and at an event of rigid contacts, S, m and the derivatives of m jump; see `saltation`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kinemorph.algebra.dual import Direction
from kinemorph.analysis.small_motions.local_coordinates import velocity
from kinemorph.analysis.small_motions.saltation import varied_jumps
from kinemorph.analysis.small_motions.variation import Variation, slope_name
from kinemorph.errors import ModelWarning, UnsupportedError, users_level
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.parameter import parameters_of
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.laws import Laws
from kinemorph.plants.programs import Plant
from kinemorph.plants.sample_instants import Tick
from kinemorph.plants.user_laws import Law
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.integrators.methods import method_named
from kinemorph.simulation.integrators.time_stepping import TimeStepping
from kinemorph.words import quoted

SEVERAL_AXES = ("spherical", "planar", "free")  # joints whose local coordinates rotate with the motion


def check_method(method: str | Method) -> None:
    """Raises UnsupportedError for a method whose steps have no derivatives here."""
    found = method_named(method)
    if found.name == "variational":
        raise UnsupportedError(
            "sensitivities: the variational method needs a Lagrangian, and the equations of the derivatives have none. "
            "Use method='dop853', or 'leapfrog' with a step."
        )
    if isinstance(found, TimeStepping):
        raise UnsupportedError(
            f"sensitivities: method '{found.name}' takes steps in which contacts open and close without being located, "
            "and derivatives jump at these events. Use method='dop853', which locates them."
        )


def varied(plant: Plant, names: Sequence[str], initial: int) -> Plant:
    """A larger plant whose further states are the derivatives of the state, ns of them for each quantity.

    The quantities are the parameters and inputs ("u.elbow") in `names`, then `initial` initial values of the state.
    The derivatives of memory are further memory, before the plant's own; see `Variation`.
    """
    _check_memory(plant)
    _tell_jumps(plant, names)
    whole = Variation(plant, tuple(names), initial)
    laws, motion = plant.laws, whole.motion

    def rate(at: LocalInstant) -> list[Any]:
        return [*laws.rate(motion(at)), *_variations(whole, at)]

    def residual(at: LocalInstant, z: Any) -> list[Any]:
        n = plant.nv + plant.nx
        left = laws.residual(motion(at), z[:n])
        return [*left, *(one - other for one, other in zip(z[n:], _variations(whole, at), strict=True))]

    def place(base: Any, s: Any, *, finished: bool = True) -> Any:
        return laws.place(base, s[: plant.ns], finished=finished)

    def of_motion(law: Law | None) -> Law | None:
        """The law of the larger plant that evaluates `law` on the motion and ignores the derivatives."""
        return law and (lambda at: law(motion(at)))

    memory = whole.memory_columns
    return replace(
        plant,
        name=f"{plant.name} with sensitivities",
        x=(*plant.x, *whole.state_columns),
        m=(*memory, *plant.m),
        contact_modes=tuple(len(memory) + k for k in plant.contact_modes),
        ticks=tuple(_wider(tick, whole) for tick in plant.ticks),
        start={
            **plant.start,
            "x": (*plant.start["x"], *(0.0,) * len(whole.state_columns)),
            "m": (*(0.0,) * len(memory), *plant.start["m"]),
        },
        outputs={},
        output_units={},
        laws=Laws(
            *(rate, residual, place, laws.drift),
            constraints=of_motion(laws.constraints),
            holding=(lambda at: _holding(whole, at)) if laws.holding else None,
            dependence=of_motion(laws.dependence),
            flatness=of_motion(laws.flatness),
            stored=of_motion(laws.stored),
            jumps=varied_jumps(whole) if laws.jumps and whole.remembers else None,
        ),
    )


def _variations(whole: Variation, at: LocalInstant) -> list[Any]:
    """The rates of the derivatives by all quantities, one after the other."""
    plant = whole.plant
    nv, own, along = plant.nv, whole.centered(at), Direction()
    turns = any(place.kind in SEVERAL_AXES for place in plant.manifold)
    rates: list[Any] = []
    for k in range(whole.count):
        found = along.tangents(plant.laws.rate(whole.displaced(along, at, k)))
        if turns:
            S = whole.slopes(at, k)
            drifting = [*along.all_moved([0.0] * nv, own.s[nv : 2 * nv]), *S[:nv], *own.s[2 * nv :]]
            turned = along.tangents(plant.laws.rate(own._replace(s=drifting))[:nv])
            found[:nv] = [one - other for one, other in zip(found[:nv], turned, strict=True)]
        rates += found
    return rates


def _holding(whole: Variation, at: LocalInstant) -> dict[str, Any]:
    """The state with the motion brought onto the constraints, and its derivatives multiplied by the derivative of that.

    The derivatives are those in the tangent space at the corrected configuration.
    """
    plant, along = whole.plant, Direction()
    nv, holding = plant.nv, plant.laws.holding
    assert holding is not None
    better = holding(whole.motion(at))
    out = list(better["out"])
    for k in range(whole.count):
        near = holding(whole.displaced(along, at, k))["out"]
        moved = velocity(plant, along.values(near[:nv]), along.tangents(near[:nv]))
        out += [*moved, *along.tangents(near[nv:])]
    return {"out": out, "error": better["error"]}


def _check_memory(plant: Plant) -> None:
    """Raises UnsupportedError where memory changes in a manner that has no derivatives here."""
    called = [stage for tick in plant.ticks for stage in tick.stages if stage.runs != "compiled"]
    if called:
        name, language = plant.elements[called[0].samplers[0][0]].name, called[0].runs.capitalize()
        raise UnsupportedError(
            f"sensitivities: controller '{name}' is a {language} function, which has no derivatives. "
            "Write it as `elements.Sampled`, which is traced."
        )
    known = (len(plant.automaton.edges) if plant.automaton else 0) + len(plant.contact_guards)
    if any(plant.settlers) or len(plant.guards) > known:
        raise UnsupportedError(
            "sensitivities: the system has elements whose memory changes at events or after steps, such as contacts "
            "that stick, and these changes have no derivatives. Leave these elements out."
        )


def _tell_jumps(plant: Plant, names: Sequence[str]) -> None:
    """Warns where elements jump at instants that move with the motion or with the parameters `names`."""
    laws = [(element, law_of(element)) for element in plant.elements]
    read = {name for element, law in laws for text in law.reads(element) for name in text.split("|")}
    follows = any(law.accelerations for _, law in laws) or any(name.endswith(".acceleration") for name in read)
    for element, law in laws:
        heard = any(f"{name}.".startswith(f"{element.name}.") for name in read)
        for jump in law.jumps(element):
            moved = [one.name for one in parameters_of(jump.by) if one.name in names]
            if (jump.by is None or moved) and (follows or not jump.acceleration) and (heard or not jump.signal):
                by = quoted(moved) if moved else "the motion"
                wrong = f"derivatives by {by}" if moved else "derivatives"
                warnings.warn(
                    f"sensitivities: element '{element.name}': {jump.what}, at instants that move with {by}; expected "
                    f"no such jumps, which {wrong} leave out, so that they are not exact. {jump.remedy}",
                    ModelWarning,
                    stacklevel=users_level(),
                )


def _wider(tick: Tick, whole: Variation) -> Tick:
    """The tick, which also writes the derivatives of the memory that it writes."""
    known = {whole.plant.m[k].name for k in whole.sloped}
    further = (slope_name(m, label) for label in whole.labels for m in tick.writes if m in known)
    return tick._replace(writes=(*tick.writes, *further))
