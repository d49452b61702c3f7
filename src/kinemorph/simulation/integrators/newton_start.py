"""The initial accelerations of a run whose equations are a residual: they solve r(t, s, z) = 0 at the initial state.

The velocity of a coordinate without inertia (a pressure, a current) follows from its equation and cannot be chosen, and
its acceleration is in no equation. At the start, Newton's iteration finds the velocities of such coordinates
from the rows without accelerations, then all accelerations from the other rows and the time derivatives of these,

    R_v a + R_w v + R_t = 0.

Newton steps have the least norm, so unknowns that are not determined stay zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.codegen.derivatives.differentiate import pattern
from kinemorph.codegen.loops.block_routines import routine
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.linear_steps import call_residual_derivatives
from kinemorph.simulation.integrators.method import Site
from kinemorph.vocabulary.blocks import LeastSquares

ITERATIONS = 100  # the most Newton iterations
ROUNDING = 1e-14  # smaller changes count as zero


def solve_start(site: Site, z: View) -> None:
    """Writes code that finds the accelerations z (nv,) at the initial time and state, for a plant without states x.

    It also finds the velocities, in s, of coordinates without inertia.
    """
    n = site.plant.nv
    rows, columns = without_inertia(site.plant)
    with site.loop.repeat(n) as i:
        site.loop.let(z[i], lambda: 0.0)
    if rows and columns:
        _newton(site, z, "velocities", rows, columns)
    _newton(site, z, "accelerations", rows, range(n))


def without_inertia(plant: Plant) -> tuple[list[int], list[int]]:
    """The rows of the residual that contain no acceleration, and the coordinates whose acceleration is in no row."""
    seen = pattern(plant.residual, "out", "z")
    return np.flatnonzero(~seen.any(axis=1)).tolist(), np.flatnonzero(~seen.any(axis=0)).tolist()


def _newton(site: Site, z: View, sought: str, rows: Sequence[int], columns: Sequence[int]) -> None:
    """Writes code for a least-squares Newton iteration; `sought` is "velocities" or "accelerations".

    Velocities are found for the coordinates `columns`, from the equations `rows` alone. Accelerations are found for all
    coordinates, from the other equations and the time derivatives of `rows`.
    """
    loop, n = site.loop, site.plant.nv
    left, Rz, Rs, Rt = (
        loop.scratch(f"start_{name}", shape)
        for name, shape in (("left", (n,)), ("Rz", (n, n)), ("Rs", (n, site.plant.ns)), ("Rt", (n,)))
    )
    going, passes, size = (loop.scratch(f"start_{name}") for name in ("going", "passes", "size"))
    count, width = (len(rows), len(columns)) if sought == "velocities" else (n, n)
    system = loop.scratch(f"start_{sought}", (count * width + count,))
    found = loop.scratch(f"start_{sought}_found", (width + 1,))
    unknown = loop.scratch(f"start_{sought}_unknown", (width,))
    v = site.s.part(n, n)
    loop.let(going, lambda: 1.0)
    loop.let(passes, lambda: 0.0)
    with loop.while_(going):
        ins = residual_inputs(site, site.t, site.s, z)
        call_residual_derivatives(loop, site.plant, [left, Rz, Rs, Rt], ins)
        if sought == "velocities":
            for k, row in enumerate(rows):
                for j, column in enumerate(columns):
                    loop.copy(system[k * width + j], Rs[row, n + column])
                loop.copy(system[count * width + k], left[row])
        else:
            loop.copy(system.part(0, n * n), Rz)
            loop.copy(system.part(n * n, n), left)
            for row in rows:  # their time derivatives
                loop.copy(system.part(row * n, n), Rs[row].part(n, n))
                loop.let(
                    system[n * n + row],
                    lambda Rs, Rt, v, a: Rt + sum((x * y for x, y in zip(Rs, [*v, *a], strict=True)), 0.0),
                    *(Rs[row], Rt[row], v, z),
                )
        loop.call(routine(LeastSquares(count, width, 1)), [found], [system])
        for j, column in enumerate(columns):
            loop.copy(unknown[j], (v if sought == "velocities" else z)[column])
        correct(loop, unknown, found.part(0, width), size)
        for j, column in enumerate(columns):
            loop.copy((v if sought == "velocities" else z)[column], unknown[j])
        loop.let(passes, lambda k: k + 1.0, passes)
        loop.let(
            going,
            lambda size, rtol, atol, k: (size > tolerance(rtol, atol)) * (k < ITERATIONS),
            *(size, site.rtol, site.atol, passes),
        )


def residual_inputs(site: Site, t: View, s: View, z: View) -> list[View]:
    """Views of the inputs (t, base, s, z, m, u, p) of `Plant.residual`; z = [a, dx/dt] are the rates.

    `plants.LocalInstant` explains the other letters.
    """
    return [t, site.base, s, z, site.m, site.u, site.p]


def correct(loop: LoopBuilder, z: View, change: View, size: View) -> None:
    """Writes code that subtracts `change` from z, shape (n,), and sets size = |change| / (sqrt(n) (1 + |z|))."""
    n = z.size
    with loop.repeat(n) as i:
        loop.let(z[i], lambda z, d: z - d, z[i], change[i])
    loop.let(size, lambda z, d: norm(d) / (math.sqrt(max(n, 1)) * (1.0 + norm(z))), z, change)


def tolerance(rtol: Any, atol: Any) -> Any:
    """EasyDyn's tolerance for changes of accelerations, sqrt(rtol atol) / 100, but never below rounding."""
    return (0.01 * (rtol * atol).sqrt()).maximum(ROUNDING)


def norm(values: Any) -> Any:
    """The Euclidean norm of a sequence of traced expressions."""
    total: Any = sum(value * value for value in values)
    return total.sqrt() if len(values) else 0.0
