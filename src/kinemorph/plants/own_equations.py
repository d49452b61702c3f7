"""Plants of your own equations: first-order rates, or a second-order residual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.linear import least_squares
from kinemorph.algebra.scalar import less
from kinemorph.errors import ModelError, ShapeError
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.laws import Laws
from kinemorph.plants.programs import Place, Plant
from kinemorph.plants.user_laws import Column, Law, checked_length, columns, of_groups, split
from kinemorph.words import quoted


def first_order(
    rates: Law,
    states: Mapping[str, str],
    *,
    start: Sequence[float] | None = None,
    inputs: Mapping[str, str] | None = None,
    parameters: Mapping[str, float] | None = None,
    outputs: Mapping[str, Law] | None = None,
    output_units: Mapping[str, str] | None = None,
    name: str = "equations",
) -> Plant:
    """The plant with  dx/dt = rates(t, x, u, p).  `states` and `inputs` map names to units, `parameters` to values.

    `start` are the initial values of x, 0 by default. `outputs` maps names to laws of one number each, and
    `output_units` to their units.
    """
    x = columns(states)
    rate = partial(_rates_of, rates, len(x))
    return _of_equations(
        name, (), x, start, inputs, parameters, outputs, output_units, rate, partial(_left_by_rates, rate)
    )


def _rates_of(rates: Law, n: int, at: LocalInstant) -> list[Any]:
    """The n rates of the states by a user law."""
    value = of_groups(rates, {"t": at.t, "x": at.s, "u": at.u, "p": at.p}, "rates")
    return checked_length(value, n, "the law of rates")


def _left_by_rates(rate: Law, at: LocalInstant, z: Any) -> list[Any]:
    """The rates z minus the rates dx/dt that the user law gives, shape (nx,): zero where z is right."""
    return [one - other for one, other in zip(z, rate(at), strict=True)]


def second_order(
    residual: Law,
    coordinates: Mapping[str, str],
    *,
    start: Sequence[float] | None = None,
    inputs: Mapping[str, str] | None = None,
    parameters: Mapping[str, float] | None = None,
    outputs: Mapping[str, Law] | None = None,
    output_units: Mapping[str, str] | None = None,
    name: str = "equations",
) -> Plant:
    """The plant with  residual(t, q, v, a, u, p) = 0.  `coordinates` maps the names of q to units, each a plain number.

    Implicit methods accept rows without accelerations (a pressure, a current); explicit methods solve for a, which has
    to enter linearly and with a regular matrix.
    """
    q = columns(coordinates)
    left = partial(_left_by_residual, residual, len(q))
    rate = partial(_accelerated, left, len(q))
    return _of_equations(name, q, (), start, inputs, parameters, outputs, output_units, rate, left)


def _left_by_residual(residual: Law, n: int, at: LocalInstant, z: Any) -> list[Any]:
    """The residual of a user law with n coordinates, at the accelerations z."""
    place = _place(n, at.base, at.s)
    given = {"t": at.t, "q": place, "v": at.s[n:], "a": z, "u": at.u, "p": at.p}
    return checked_length(of_groups(residual, given, "residual"), n, "the residual")


def _accelerated(left: Law, n: int, at: LocalInstant) -> list[Any]:
    """[v, a]: the velocities, and the accelerations a at which the residual is zero; it has to be linear in a."""
    rest = left(at, [0.0] * n)
    along = Direction()
    slopes = []
    for k in range(n):
        z = [along.moved(0.0, float(j == k)) for j in range(n)]
        slopes.append(along.tangents(left(at, z)))
    found, rank = least_squares(list(zip(*slopes, strict=True)), [[-entry] for entry in rest])
    regular = less(n - 0.5, rank)  # accelerations that are not determined are not a number
    return [*at.s[n:], *(row[0] / regular for row in found)]


def _of_equations(
    name: str,
    q: tuple[Column, ...],
    x: tuple[Column, ...],
    start: Sequence[float] | None,
    inputs: Mapping[str, str] | None,
    parameters: Mapping[str, float] | None,
    outputs: Mapping[str, Law] | None,
    output_units: Mapping[str, str] | None,
    rate: Law,
    residual: Law,
) -> Plant:
    if not q and not x:
        raise ModelError(f"plant '{name}' has no states. Name at least one state, with its unit: {{'x': 'm'}}.")
    u = columns(inputs)
    first = q or x
    values = tuple(map(float, start)) if start is not None else (0.0,) * len(first)
    if len(values) != len(first):
        names = quoted(column.name for column in first)
        raise ShapeError(
            f"plant '{name}': start has {len(values)} numbers; expected {len(first)}, the initial values of {names}. "
            "Give them in this order, or leave start out to begin at 0."
        )
    return Plant(
        name=name,
        q=q,
        v=tuple(Column(column.name, f"{column.unit}/s" if column.unit else "1/s") for column in q),
        x=x,
        m=(),
        u=u,
        p=tuple(Column(key) for key in (parameters or {})),
        laws=Laws(rate, residual, partial(_place, len(q)), partial(_drift, len(q))),
        start={
            "q": values if q else (),
            "v": (0.0,) * len(q),
            "x": () if q else values,
            "m": (),
            "u": (0.0,) * len(u),
            "p": tuple(map(float, (parameters or {}).values())),
        },
        outputs=outputs or {},
        output_units=output_units or {},
        manifold=tuple(Place("prismatic", k, k) for k in range(len(q))),
    )


def _place(n: int, base: Any, s: Any, *, finished: bool = True) -> list[Any]:
    """The n coordinates q = base + w at the state s = [w, v, x]; w is the displacement from `base`."""
    return [one + other for one, other in zip(base, s[:n], strict=True)]


def _drift(n: int, s: Any, h: Any) -> list[Any]:
    """The n displacements w + h v after the time h [s] at the constant velocity v, where s = [w, v, x] at its start."""
    w, v, _ = split(s, n)
    return [one + h * rate for one, rate in zip(w, v, strict=True)]
