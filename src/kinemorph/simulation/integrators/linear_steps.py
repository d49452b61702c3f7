"""The linear systems of implicit steps: (sigma - J) u = r with the exact Jacobian J of ds/dt, never formed.

The equations are those of the residual, r(t, s, z) = 0 with z = [a, dx/dt], whose derivatives R_z (the mass matrix),
R_s and R_t cost a fraction of those of the accelerations. With u = [u_w, u_v, u_x] and dw/dt = v + W w + ... near the
start of a step,

    D = sigma R_z + [R_v R_x],      u_v = (sigma - W) u_w - r_w,
    [D_v (sigma - W) + R_w,  D_x] [u_w; u_x] = R_z r_vx + D_v r_w,

so a system of nv + nx unknowns is factored in place of 2 nv + nx. The matrix W is zero except for planar, spherical and
free joints, whose velocities are in moving axes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from kinemorph.codegen.derivatives.differentiate import forward, jacobian
from kinemorph.codegen.graphs.evaluation import inlined
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.elimination import factored, substituted
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.asked_inputs import AskingLoop
from kinemorph.simulation.integrators.method import Shape, Site


class Entries(NamedTuple):
    """The nonzero entries of a matrix: a program (nv,) -> (entries,) for their values, and their rows and columns."""

    program: Program
    rows: tuple[int, ...]
    cols: tuple[int, ...]

    @property
    def places(self) -> Iterator[tuple[int, int, int]]:
        """Yields (row, column, index in the program's output) for each entry."""
        return zip(self.rows, self.cols, range(len(self.rows)), strict=True)


@lru_cache(maxsize=16)
def residual_derivatives(plant: Plant) -> Program:
    """The program (t, base, s, z, m, u, p) -> residual (n,), R_z (n, n), R_s (n, ns), R_t (n,) with n = nv + nx.

    R_z, R_s and R_t are the derivatives of the residual with respect to z = [a, dx/dt], s = [w, v, x] and t; see
    `plants.LocalInstant` for the letters.
    """
    return jacobian(plant.residual, "out", ("z", "s", "t"), values=True)


@lru_cache(maxsize=16)
def _derivatives_and_inputs(plant: Plant) -> Program:
    """The program of `residual_derivatives` with one more output, R_u (n, nu): the derivative by the inputs u."""
    return jacobian(plant.residual, "out", ("z", "s", "t", "u"), values=True)


def call_residual_derivatives(loop: LoopBuilder, plant: Plant, outs: Sequence[View], ins: Sequence[View]) -> None:
    """Writes the call of `residual_derivatives`; where foreign functions give inputs, their part by differences."""
    if not isinstance(loop, AskingLoop):
        loop.call(residual_derivatives(plant), outs, ins)
        return
    Ru = loop.scratch("residual_by_inputs", (plant.nv + plant.nx, plant.nu))
    _, _, Rs, Rt = outs
    loop.call(_derivatives_and_inputs(plant), [*outs, Ru], ins)
    loop.add_differences(plant.residual, ins, Ru, Rs, Rt)


@lru_cache(maxsize=16)
def chart_rate(plant: Plant) -> Program:
    """The program (t, base, s, m, u, p) -> dw/dt, shape (nv,), the rate of the local coordinates w in s = [w, v, x].

    `plants.LocalInstant` explains the letters.
    """
    rate = plant.rate
    return Program(f"{plant.name}.chart", rate.inputs, (Port("out", (plant.nv,)),), rate.graph, rate.refs[: plant.nv])


@lru_cache(maxsize=16)
def chart_slope(plant: Plant) -> Entries:
    """The matrix W (nv, nv) as a function of v: the derivative of dw/dt with respect to w at w = 0, the start of a
    step.

    w (nv,) are the local coordinates: the displacement of the configuration from that at the start of the step.
    """
    slope = jacobian(chart_rate(plant), "out", "s") if plant.nv else None

    def values(v: Any) -> list[Any]:
        flat = inlined(slope, _at_start(plant, v)) if slope else []
        return [flat[i * plant.ns + k] for i in range(plant.nv) for k in range(plant.nv)]

    return _entries(trace(values, {"v": (plant.nv,)}, name=f"{plant.name}.W", outputs={"out": (plant.nv**2,)}))


@lru_cache(maxsize=16)
def bending(plant: Plant) -> Program:
    """The program (eta) -> W(eta) eta / 2, shape (nv,), for a displacement eta (nv,); W is that of `chart_slope`.

    After a time h at the constant velocity eta / h, the local coordinates are w = eta + W(eta) eta / 2.
    """
    along = forward(chart_rate(plant), "s") if plant.nv else None

    def values(eta: Any) -> list[Any]:
        if along is None:
            return []
        rest = [0.0] * (plant.ns - plant.nv)
        return [0.5 * entry for entry in inlined(along, [*_at_start(plant, eta), [*eta, *rest]])]

    return trace(values, {"eta": (plant.nv,)}, name=f"{plant.name}.bending", outputs={"out": (plant.nv,)})


@lru_cache(maxsize=16)
def bending_slope(plant: Plant) -> Entries:
    """The derivative of the output of `bending` with respect to eta, a matrix (nv, nv)."""
    return _entries(jacobian(bending(plant), "out", "eta"))


def _at_start(plant: Plant, v: Any) -> list[Any]:
    """The inputs (t, base, s, m, u, p) of `Plant.rate` with the state s = [0, v, 0]; the others do not affect dw/dt,
    and are 0.
    """
    inputs: dict[str, Any] = {name: [0.0] * math.prod(shape) for name, shape in plant.ports.items()}
    inputs["s"] = [*[0.0] * plant.nv, *v, *[0.0] * plant.nx]
    return list(inputs.values())


def _entries(program: Program) -> Entries:
    """The entries of a square matrix that are not constant zeros; `program` returns the matrix row by row."""
    n = program.inputs[0].size
    kept = [k for k, ref in enumerate(program.refs) if program.graph.value_of(ref) != 0.0]
    refs = tuple(program.refs[k] for k in kept)
    chosen = Program(program.name, program.inputs, (Port("out", (len(kept),)),), program.graph, refs)
    return Entries(chosen, tuple(k // n for k in kept), tuple(k % n for k in kept))


class LinearStep:
    """Writes code into the march for the linear algebra of a step. J is taken at the start of the step, where w = 0."""

    def __init__(self, site: Site, prefix: str = "") -> None:
        self.site, self.plant, self.loop = site, site.plant, site.loop
        plant = self.plant
        self.n, self.nv, self.ns = plant.nv + plant.nx, plant.nv, plant.ns
        self.slope = chart_slope(plant)
        self.Rz, self.Rs, self.Rt, self.W = (site.own[name] for name in ("Rz", "Rs", "Rt", "W"))
        n, scratch = self.n, self.loop.scratch
        self.D, self.G = scratch(f"{prefix}D", (n, n)), scratch(f"{prefix}G", (n, n))
        self.LU, self.order = scratch(f"{prefix}LU", (n, n)), scratch(f"{prefix}order", (n,))
        self.sigma = scratch(f"{prefix}sigma")
        self.right, self.found = scratch("linear_right", (n,)), scratch("linear_found", (n,))

    @staticmethod
    def memory(plant: Plant) -> dict[str, Shape]:
        """The arrays kept from step to step: the derivatives, and whether they are those at the start of this step."""
        n = plant.nv + plant.nx
        entries = plant.recalled("chart slope", lambda: chart_slope(plant).program).outputs[0].shape
        return {"Rz": (n, n), "Rs": (n, plant.ns), "Rt": (n,), "W": entries, "linearized": ()}

    def linearize(self, rate: View) -> None:
        """Writes code that computes derivatives at the start of the step, where ds/dt is `rate`.

        They are those of the residual, R_z, R_s and R_t, and the matrix W of `chart_slope`.
        """
        site, loop = self.site, self.loop
        left = loop.scratch("linear_left", (self.n,))
        z = rate.part(self.nv, self.n)
        ins = [site.t, site.base, site.s, z, site.m, site.u, site.p]
        call_residual_derivatives(loop, self.plant, [left, self.Rz, self.Rs, self.Rt], ins)
        if self.slope.rows:
            loop.call(self.slope.program, [self.W], [site.s.part(self.nv, self.nv)])

    def factor(self, sigma: View) -> None:
        """Writes code that factors sigma - J; a singular matrix sets `failed`."""
        loop, n, nv = self.loop, self.n, self.nv
        Rz, Rs, D, G, W = self.Rz, self.Rs, self.D, self.G, self.W
        loop.copy(self.sigma, sigma)
        with loop.repeat(n) as i, loop.repeat(n) as c:
            loop.let(D[i, c], lambda s, a, b: s * a + b, self.sigma, Rz[i, c], Rs[i, nv + c])
        loop.copy(G, D)
        with loop.repeat(n) as i, loop.repeat(nv) as c:
            loop.let(G[i, c], lambda s, d, a: s * d + a, self.sigma, D[i, c], Rs[i, c])
        for row, column, e in self.slope.places:
            with loop.repeat(n) as i:
                loop.let(G[i, column], lambda g, d, w: g - d * w, G[i, column], D[i, row], W[e])
        factor_or_fail(loop, G, self.LU, self.order, self.site.failed)

    def solve(self, out: View, right: View, time: View | None = None) -> None:
        """Writes code for out = (sigma - J)^-1 (right + time * f_t), shape (ns,); without f_t if `time` is None.

        f_t, the partial derivative of ds/dt with respect to t, follows from the residual: R_z f_t = -R_t.
        """
        loop, n, nv, nx = self.loop, self.n, self.nv, self.plant.nx
        with loop.repeat(n) as i:
            if time is None:
                loop.let(self.right[i], lambda: 0.0)
            else:
                loop.let(self.right[i], lambda h, a: -h * a, time, self.Rt[i])
            with loop.repeat(n) as c:
                loop.let(self.right[i], _plus_product, self.right[i], self.Rz[i, c], right[nv + c])
            with loop.repeat(nv) as c:
                loop.let(self.right[i], _plus_product, self.right[i], self.D[i, c], right[c])
        loop.call(substituted(n), [self.found], [self.LU, self.order, self.right])
        with loop.repeat(nv) as i:
            loop.let(out[nv + i], lambda s, u, r: s * u - r, self.sigma, self.found[i], right[i])
        for row, column, e in self.slope.places:
            loop.let(out[nv + row], lambda u, w, x: u - w * x, out[nv + row], self.W[e], self.found[column])
        if nv:
            loop.copy(out.part(0, nv), self.found.part(0, nv))
        if nx:
            loop.copy(out.part(2 * nv, nx), self.found.part(nv, nx))


def factor_or_fail(loop: LoopBuilder, A: View, LU: View, order: View, failed: View) -> None:
    """Writes code for the LU factorization of A with row order `order`; where A is singular, `failed` becomes 1."""
    regular = loop.scratch("linear_regular")
    loop.call(factored(order.size), [LU, order, regular], [A])
    loop.let(failed, lambda failed, ok: failed.maximum(1.0 - ok), failed, regular)


def _plus_product(a: Any, b: Any, c: Any) -> Any:
    return a + b * c
