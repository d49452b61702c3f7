"""The variational equations of a plant, as a larger plant.

The derivative S = ds/dp of a state s = [w, v, x] (displacements, velocities, further states) by a parameter p,
in the tangent space at the state itself, obeys

    dS/dt = A S + df/dp,    ds/dt = f,    A = df/ds + the rotation of the tangent space

The base of the local coordinates moves with the motion, so that a displacement w of a joint with several axes also
rotates: with  dw/dt = v + Gamma(w, v) + ...  it changes by  dv + Gamma(w, v) - Gamma(v, w). All of these terms come
from the plant's own equations, evaluated on dual numbers. Where there are constraints, the motion is projected onto
them as in any run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import is_zero
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.laws import Laws
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Column, Law

LEVEL = 0  # the level of the dual numbers here, below those that laws and mechanics use inside
SEVERAL_AXES = ("spherical", "planar", "free")  # joints whose local coordinates rotate with the motion


def varied(plant: Plant, names: Sequence[str], initial: int) -> Plant:
    """A larger plant whose further states are the derivatives of the state, ns of them for each quantity.

    The quantities are the parameters and inputs ("u.elbow") in `names`, then `initial` initial values of the state.
    """
    nv, nx, ns = plant.nv, plant.nx, plant.ns
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

    def variations(at: LocalInstant) -> list[Any]:
        own, rest = at.s[:ns], at.s[ns:]
        here = at._replace(base=plant.laws.place(at.base, own, finished=False))
        still, v = [0.0] * nv, own[nv : 2 * nv]
        rates: list[Any] = []
        for k in range(count):
            S = rest[k * ns : (k + 1) * ns]
            moved = _dual([*still, *own[nv:]], S)
            u, p = (_dual(values, direction(k, group, len(values))) for group, values in (("u", at.u), ("p", at.p)))
            found = [_tangent(entry) for entry in plant.laws.rate(here._replace(s=moved, u=u, p=p))]
            if turns:
                along = [*_dual(still, v), *S[:nv], *own[2 * nv :]]
                turned = plant.laws.rate(here._replace(s=along))[:nv]
                found[:nv] = [one - _tangent(entry) for one, entry in zip(found[:nv], turned, strict=True)]
            rates += found
        return rates

    def motion(at: LocalInstant) -> LocalInstant:
        """The instant `at` of the larger plant as an instant of the given plant: s without the derivatives."""
        return at._replace(s=at.s[:ns])

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
    begun = {**plant.start, "x": (*plant.start["x"], *(0.0,) * len(columns))}
    return replace(
        plant,
        name=f"{plant.name} with sensitivities",
        x=(*plant.x, *columns),
        start=begun,
        outputs={},
        output_units={},
        laws=Laws(
            *(rate, residual, place, plant.laws.drift),
            constraints=of_motion(plant.laws.constraints),
            holding=holding if plant.laws.holding else None,
            dependence=of_motion(plant.laws.dependence),
            flatness=of_motion(plant.laws.flatness),
        ),
    )


def _dual(values: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    return [x if is_zero(dx) else Dual(x, dx, level=LEVEL) for x, dx in zip(values, tangents, strict=True)]


def _tangent(x: Any) -> Any:
    return x.tangent if isinstance(x, Dual) and x.level == LEVEL else 0.0
