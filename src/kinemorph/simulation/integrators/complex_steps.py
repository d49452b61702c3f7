"""The linear systems of implicit steps for a complex sigma = a + i b, in the notation of `linear_steps`.

    G = [D_v (sigma - W) + R_w,  D_x] with D = (a R_z + [R_v R_x]) + i b R_z

Its real and imaginary part make one real system of twice the size, [[G_r, -G_i], [G_i, G_r]].
"""

from __future__ import annotations

from kinemorph.codegen.loops.elimination import substituted
from kinemorph.codegen.loops.loop_program import View
from kinemorph.simulation.integrators.linear_steps import chart_slope, factor_or_fail
from kinemorph.simulation.integrators.method import Site


class ComplexStep:
    """Writes code into the march that solves (a + i b - J) (u + i y) = r + i q, with the Jacobian J of ds/dt.

    J is given by the derivatives that a LinearStep computes, and never formed.
    """

    def __init__(self, site: Site, prefix: str = "complex_") -> None:
        self.site, self.loop = site, site.loop
        plant = site.plant
        self.n, self.nv, self.nx = plant.nv + plant.nx, plant.nv, plant.nx
        self.slope = chart_slope(plant)
        self.Rz, self.Rs, self.W = (site.own[name] for name in ("Rz", "Rs", "W"))
        n, scratch = self.n, self.loop.scratch
        self.D, self.G = scratch(f"{prefix}D", (n, n)), scratch(f"{prefix}G", (2 * n, 2 * n))
        self.LU, self.order = scratch(f"{prefix}LU", (2 * n, 2 * n)), scratch(f"{prefix}order", (2 * n,))
        self.a, self.b = scratch(f"{prefix}a"), scratch(f"{prefix}b")
        self.right, self.found = scratch("complex_right", (2 * n,)), scratch("complex_found", (2 * n,))

    def factor(self, a: View, b: View) -> None:
        """Writes code that factors a + i b - J, where J is the Jacobian of ds/dt; a singular matrix sets `failed`."""
        loop, n, nv = self.loop, self.n, self.nv
        Rz, Rs, D, G, W = self.Rz, self.Rs, self.D, self.G, self.W
        loop.copy(self.a, a)
        loop.copy(self.b, b)
        with loop.repeat(n) as i, loop.repeat(n) as c:
            loop.let(D[i, c], lambda a, m, r: a * m + r, self.a, Rz[i, c], Rs[i, nv + c])
            loop.copy(G[i, c], D[i, c])
            loop.let(G[n + i, c], lambda b, m: b * m, self.b, Rz[i, c])
        with loop.repeat(n) as i, loop.repeat(nv) as c:
            loop.let(
                G[i, c],
                lambda a, b, d, m, r: a * d - b * b * m + r,
                *(self.a, self.b, D[i, c], Rz[i, c], Rs[i, c]),
            )
            loop.let(G[n + i, c], lambda a, b, d, m: b * d + a * b * m, *(self.a, self.b, D[i, c], Rz[i, c]))
        for row, column, e in self.slope.places:
            with loop.repeat(n) as i:
                loop.let(G[i, column], lambda g, d, w: g - d * w, G[i, column], D[i, row], W[e])
                loop.let(
                    G[n + i, column],
                    lambda g, b, m, w: g - b * m * w,
                    *(G[n + i, column], self.b, Rz[i, row], W[e]),
                )
        with loop.repeat(n) as i, loop.repeat(n) as c:
            loop.let(G[i, n + c], lambda g: -g, G[n + i, c])
            loop.copy(G[n + i, n + c], G[i, c])
        factor_or_fail(loop, G, self.LU, self.order, self.site.failed)

    def solve(self, real: View, imaginary: View, right: View, turned: View) -> None:
        """Writes code that computes u (`real`) and y (`imaginary`) from r (`right`) and q (`turned`), each (ns,)."""
        loop, n, nv, nx = self.loop, self.n, self.nv, self.nx
        Rz, D, sums = self.Rz, self.D, self.right
        with loop.repeat(n) as i:
            for start, own, other, sign in ((0, right, turned, -1.0), (n, turned, right, 1.0)):
                loop.let(sums[start + i], lambda: 0.0)
                with loop.repeat(n) as c:
                    loop.let(sums[start + i], lambda s, m, r: s + m * r, sums[start + i], Rz[i, c], own[nv + c])
                with loop.repeat(nv) as c:
                    loop.let(
                        sums[start + i],
                        lambda s, d, r, b, m, q, sign=sign: s + d * r + sign * b * m * q,
                        *(sums[start + i], D[i, c], own[c], self.b, Rz[i, c], other[c]),
                    )
        loop.call(substituted(2 * n), [self.found], [self.LU, self.order, sums])
        for out, own, start, across, sign in ((real, right, 0, n, -1.0), (imaginary, turned, n, 0, 1.0)):
            with loop.repeat(nv) as i:
                loop.let(
                    out[nv + i],
                    lambda a, b, u, y, r, sign=sign: a * u + sign * b * y - r,
                    *(self.a, self.b, self.found[start + i], self.found[across + i], own[i]),
                )
            for row, column, e in self.slope.places:
                loop.let(
                    out[nv + row], lambda u, w, x: u - w * x, *(out[nv + row], self.W[e], self.found[start + column])
                )
            if nv:
                loop.copy(out.part(0, nv), self.found.part(start, nv))
            if nx:
                loop.copy(out.part(2 * nv, nx), self.found.part(start + nv, nx))
