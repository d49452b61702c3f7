"""The variational equations of a plant, as a larger plant.

The derivative S = ds/dp of a state s = [w, v, x] (displacements, velocities, further states) by a parameter p,
in the tangent space at the state itself, obeys

    dS/dt = A S + df/dp,    ds/dt = f,    A = df/ds + the rotation of the tangent space

The base of the local coordinates moves with the motion, so that a displacement w of a joint with several axes also
rotates: with  dw/dt = v + Gamma(w, v) + ...  it changes by  dv + Gamma(w, v) - Gamma(v, w). All of these terms come
from the plant's own equations, evaluated on dual numbers. Where there are constraints, the motion is projected onto
them as in any run.

The memory m of sampled controllers has derivatives too, as further memory. They change where m does: at a sample time
the new memory is a function of the state, of m and of p, and its derivatives come from the same dual numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import is_zero
from kinemorph.errors import UnsupportedError
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.laws import Laws
from kinemorph.plants.programs import Plant
from kinemorph.plants.sample_instants import Tick
from kinemorph.plants.user_laws import Column, Law

LEVEL = 0  # the level of the dual numbers here, below those that laws and mechanics use inside
SEVERAL_AXES = ("spherical", "planar", "free")  # joints whose local coordinates rotate with the motion


def varied(plant: Plant, names: Sequence[str], initial: int) -> Plant:
    """A larger plant whose further states are the derivatives of the state, ns of them for each quantity.

    The quantities are the parameters and inputs ("u.elbow") in `names`, then `initial` initial values of the state.
    """
    nv, nx, ns, nm = plant.nv, plant.nx, plant.ns, len(plant.m)
    sampled = bool(plant.ticks)
    _check_memory(plant)
    count = len(names) + initial
    p_names = [column.name for column in plant.p]
    turns = any(place.kind in SEVERAL_AXES for place in plant.manifold)

    def direction(k: int, group: str, size: int) -> list[float]:
        """The derivative of the inputs ("u") or the parameters ("p") with respect to quantity k."""
        unit = [0.0] * size
        if k < len(names):
            if group == "u" and names[k].startswith("u."):
                unit[plant.index("u", names[k][2:])] = 1.0
            elif group == "p" and names[k] in p_names:
                unit[p_names.index(names[k])] = 1.0
        return unit

    def displaced(at: LocalInstant, k: int) -> LocalInstant:
        """The instant of the given plant, on dual numbers that move it along the derivative by quantity k."""
        own = motion(at)
        S, memory = at.s[(k + 1) * ns : (k + 2) * ns], at.m[(k + 1) * nm : (k + 2) * nm] if sampled else [0.0] * nm
        u, p = (_dual(values, direction(k, group, len(values))) for group, values in (("u", at.u), ("p", at.p)))
        moved = _dual([*[0.0] * nv, *own.s[nv:]], S)
        base = plant.laws.place(own.base, own.s, finished=False)
        return own._replace(base=base, s=moved, m=_dual(own.m, memory), u=u, p=p)

    def variations(at: LocalInstant) -> list[Any]:
        own = at.s[:ns]
        still, v = [0.0] * nv, own[nv : 2 * nv]
        rates: list[Any] = []
        for k in range(count):
            near = displaced(at, k)
            found = [_tangent(entry) for entry in plant.laws.rate(near)]
            if turns:
                S = at.s[(k + 1) * ns : (k + 2) * ns]
                along = [*_dual(still, v), *S[:nv], *own[2 * nv :]]
                turned = plant.laws.rate(motion(at)._replace(base=near.base, s=along))[:nv]
                found[:nv] = [one - _tangent(entry) for one, entry in zip(found[:nv], turned, strict=True)]
            rates += found
        return rates

    def motion(at: LocalInstant) -> LocalInstant:
        """The instant `at` of the larger plant as one of the given plant: state and memory without the derivatives."""
        return at._replace(s=at.s[:ns], m=at.m[:nm])

    def sample(samplers: Any, at: LocalInstant) -> dict[str, Any]:
        """The memory after a sample, and its derivatives."""
        assert plant.laws.jumps is not None
        new = list(plant.laws.jumps.sample(samplers, motion(at))["m"])
        for k in range(count):
            new += [_tangent(entry) for entry in plant.laws.jumps.sample(samplers, displaced(at, k))["m"]]
        return {"m": new}

    def rate(at: LocalInstant) -> list[Any]:
        return [*plant.laws.rate(motion(at)), *variations(at)]

    def residual(at: LocalInstant, z: Any) -> list[Any]:
        n = nv + nx
        left = plant.laws.residual(motion(at), z[:n])
        return [*left, *(one - other for one, other in zip(z[n:], variations(at), strict=True))]

    def place(base: Any, s: Any, *, finished: bool = True) -> Any:
        return plant.laws.place(base, s[:ns], finished=finished)

    def holding(at: LocalInstant) -> dict[str, Any]:
        """The state with the motion projected onto the constraints; the derivatives are left as they are."""
        assert plant.laws.holding is not None
        better = plant.laws.holding(motion(at))
        return {"out": [*better["out"], *at.s[ns:]], "error": better["error"]}

    def of_motion(law: Law | None) -> Law | None:
        """The law of the larger plant that evaluates `law` on the motion and ignores the derivatives."""
        return law and (lambda at: law(motion(at)))

    labels = [*names, *(f"initial {k}" for k in range(initial))]
    entries = [*(f"q.{c.name}" for c in plant.v), *(f"v.{c.name}" for c in plant.v), *(c.name for c in plant.x)]
    columns = tuple(Column(f"d {entry} / d {label}") for label in labels for entry in entries)
    memory = tuple(Column(f"d {m.name} / d {label}") for label in labels for m in plant.m) if sampled else ()
    begun = {**plant.start, "x": (*plant.start["x"], *(0.0,) * len(columns))}
    begun["m"] = (*plant.start["m"], *(0.0,) * len(memory))
    return replace(
        plant,
        name=f"{plant.name} with sensitivities",
        x=(*plant.x, *columns),
        m=(*plant.m, *memory),
        ticks=tuple(_wider(tick, labels) for tick in plant.ticks),
        start=begun,
        outputs={},
        output_units={},
        laws=Laws(
            *(rate, residual, place, plant.laws.drift),
            constraints=of_motion(plant.laws.constraints),
            holding=holding if plant.laws.holding else None,
            dependence=of_motion(plant.laws.dependence),
            flatness=of_motion(plant.laws.flatness),
            stored=of_motion(plant.laws.stored),
            jumps=replace(plant.laws.jumps, sample=sample) if sampled and plant.laws.jumps else None,
        ),
    )


def _check_memory(plant: Plant) -> None:
    """Raises UnsupportedError where memory changes in a manner that has no derivatives here."""
    python = [
        plant.elements[stage.samplers[0][0]].name for tick in plant.ticks for stage in tick.stages if stage.python
    ]
    if python:
        raise UnsupportedError(
            f"sensitivities: controller '{python[0]}' is a Python function, which has no derivatives. "
            "Write it as `elements.Sampled`, which is traced."
        )
    if any(plant.settlers) or (plant.ticks and plant.guards):
        raise UnsupportedError(
            "sensitivities: the system has elements whose memory changes at events or after steps, such as contacts "
            "that stick, and these changes have no derivatives. Leave these elements out."
        )


def _wider(tick: Tick, labels: Sequence[str]) -> Tick:
    """The tick, which also writes the derivatives of the memory that it writes."""
    return tick._replace(writes=(*tick.writes, *(f"d {m} / d {label}" for label in labels for m in tick.writes)))


def _dual(values: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    return [x if is_zero(dx) else Dual(x, dx, level=LEVEL) for x, dx in zip(values, tangents, strict=True)]


def _tangent(x: Any) -> Any:
    return x.tangent if isinstance(x, Dual) and x.level == LEVEL else 0.0
