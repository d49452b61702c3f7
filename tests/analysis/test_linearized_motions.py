"""The matrices of `linearize` along a motion give the motions beside it, as central differences of runs find them.

Small changes z of the state and du of constant inputs obey  dz/dt = A(t) z + B(t) du,  with A and B at the states of
the run. The equation is solved by collocation at Gauss nodes, which uses nothing but the matrices of `linearize`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Legendre, Polynomial

from kinemorph.analysis.small_motions.linearize import independent, linearize
from kinemorph.analysis.small_motions.plant_derivatives import slopes_of
from kinemorph.analysis.small_motions.start_slopes import start_of
from kinemorph.model.configuration import difference, integrate
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.initial_state import closed_start
from support.specimens.every_specimen import SPECIMENS

Array = np.ndarray
EXACT = 1e-6  # relative
UNSEEN = 1e-11  # smaller changes of the state at the end cannot be seen in runs
CHANGES = (1e-2, 1e-3, 1e-4, 1e-5)
SPAN = 0.1  # [s]
WEIGHTS = (1 / 12, -8 / 12, 8 / 12, -1 / 12)  # of central differences of order 4
NODES, SAMPLES = 6, 4000
ALIKE, SHORTEST = 1e-9, 1e-8  # panels
BRIEF = ("pid", "knife edge")
JUMPS = ("rigid", "impact", "edge", "pantograph")  # their states or forces jump
STARTS = {"dc motor": {"x": {"drive.current": 0.4}}}  # at 0 its efficiency has a kink


def collocation() -> tuple[Array, Array, Array]:
    """(nodes (n,), integrals of their polynomials up to each node (n, n), and over the panel (n,)) on [0, 1]."""
    nodes = 0.5 * (Legendre.basis(NODES).roots() + 1.0)
    bases = [Polynomial.fromroots(np.delete(nodes, k)) for k in range(NODES)]
    wholes = [(base / base(node)).integ() for base, node in zip(bases, nodes, strict=True)]
    return nodes, np.array([whole(nodes) for whole in wholes]).T, np.array([whole(1.0) for whole in wholes])


GAUSS = collocation()


class Beside:
    """The motions beside that of one specimen: by its linear equations, and by runs."""

    def __init__(self, name: str) -> None:
        specimen = SPECIMENS[name]
        self.plant, self.span = plant(specimen.varied()[0]), min(specimen.until, SPAN)
        given = {key: value for key, value in specimen.options.items() if key in ("q", "v", "u", "x")}
        given |= STARTS.get(name, {})
        self.at = start_of(self.plant, **given).point
        self.basis = independent(slopes_of(self.plant), self.at)[0]

    def _run(self, q: Array, v: Array, x: Array, u: Array, times: Any) -> Any:
        found = simulate(
            self.plant, self.span, q=q, v=v, x=x, m=self.at.m, inputs=u, rtol=1e-12, atol=1e-14, output_step=times
        )
        assert found.outcome.ok, found.outcome.message
        return found

    def _turning(self, q: Array, v: Array) -> Array:
        """What displacements w change by where their coordinates move with q, beside coordinates about a fixed q.

        It is the derivative (nv, nv) of  difference(place(q, v t), place(q, v t + w))  by t and by w.
        """
        robot, place, h = self.plant.dynamics.robot, slopes_of(self.plant).place, 0.003  # type: ignore[union-attr]
        rest, found = np.zeros(self.plant.ns - len(v)), np.zeros((len(v), len(v)))
        for a, wa in zip((-2, -1, 1, 2), WEIGHTS, strict=True):
            ahead = place(q, np.concatenate([a * h * v, rest]))
            for j, unit in enumerate(np.eye(len(v))):
                for b, wb in zip((-2, -1, 1, 2), WEIGHTS, strict=True):
                    beside = place(q, np.concatenate([a * h * v + b * h * unit, rest]))
                    found[:, j] += wa * wb * difference(robot, ahead, beside) / h**2
        return found

    def by_matrices(self) -> Array:
        """The changes of the state at the end by those along the basis, and by inputs: (ns, n + nu)."""
        samples = self._run(self.at.q, self.at.v, self.at.x, self.at.u, self.span / SAMPLES)
        ns, nu = self.plant.ns, self.plant.nu

        def panel(Z: Array, begin: float, size: float) -> Array:
            A, B = map(np.array, zip(*(self._matrices(samples, begin + size * node) for node in GAUSS[0]), strict=True))
            B = np.concatenate([np.zeros((NODES, ns, Z.shape[1] - nu)), B], axis=2)
            left = np.eye(NODES * ns) - size * np.einsum("jk,kab->jakb", GAUSS[1], A).reshape(NODES * ns, NODES * ns)
            right = (Z + size * np.einsum("jk,kab->jab", GAUSS[1], B)).reshape(NODES * ns, -1)
            inside = np.linalg.solve(left, right).reshape(NODES, ns, -1)
            found: Array = Z + size * np.einsum("k,kab->ab", GAUSS[2], A @ inside + B)
            return found

        def halved(Z: Array, begin: float, size: float, whole: Array) -> Array:
            """Z after a panel that is halved until its result does not change: at kinks its order is lost."""
            middle = panel(Z, begin, 0.5 * size)
            end = panel(middle, begin + 0.5 * size, 0.5 * size)
            if np.abs(end - whole).max() <= ALIKE * np.abs(end).max() or size < SHORTEST * self.span:
                return end
            middle = halved(Z, begin, 0.5 * size, middle)
            last = panel(middle, begin + 0.5 * size, 0.5 * size)
            return halved(middle, begin + 0.5 * size, 0.5 * size, last)

        Z = np.hstack([self.basis, np.zeros((ns, nu))])
        return halved(Z, 0.0, self.span, panel(Z, 0.0, self.span))

    def _matrices(self, samples: Any, t: float) -> tuple[Array, Array]:
        """(A, B) of `linearize` at a time of the run, with displacements in coordinates that move with q."""
        now, nv = samples.at(t), self.plant.nv
        made = linearize(self.plant, now.q, now.v, now.x, self.at.u, t=t, m=self.at.m)
        A = made.A.copy()
        A[:nv, :nv] += self._turning(now.q, now.v)
        return A, made.B

    def by_runs(self, h: float) -> Array:
        """The same by central differences of order 4, with a change of size h."""
        robot, nv = self.plant.dynamics.robot, self.plant.nv  # type: ignore[union-attr]
        middle = self._run(self.at.q, self.at.v, self.at.x, self.at.u, self.span).q[-1]

        def end(change: Array, du: Array) -> Array:
            q = integrate(robot, self.at.q, change[:nv])
            v, x = self.at.v + change[nv : 2 * nv], self.at.x + change[2 * nv :]
            if self.plant.laws.constraints is not None:
                q, v, *_ = closed_start(self.plant, 0.0, (q, v, x, *self.at.inputs[3:]), (q, v, None))
            last = self._run(q, v, x, self.at.u + du, self.span)
            return np.concatenate([difference(robot, middle, last.q[-1]), last.v[-1], last.segments[-1].x[-1]])

        changes = np.vstack([self.basis.T, np.zeros((self.plant.nu, self.plant.ns))])
        inputs = np.vstack([np.zeros((self.basis.shape[1], self.plant.nu)), np.eye(self.plant.nu)])
        found = []
        for change, du in zip(changes, inputs, strict=True):
            a, b, c, d = (end(k * h * change, k * h * du) for k in (1.0, -1.0, 2.0, -2.0))
            found.append((8.0 * (a - b) - (c - d)) / (12.0 * h))
        return np.array(found).T


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in BRIEF))
        for name in SPECIMENS
        if not name.startswith(JUMPS)
    ],
)
def test_matrices_along_a_motion_give_the_motions_beside_it(name: str, record_property: Any) -> None:
    beside = Beside(name)
    if beside.plant.ticks:
        pytest.skip("samples change memory, which linearize holds constant")
    exact, errors = beside.by_matrices(), np.full(0, np.inf)
    for h in CHANGES:
        wanted = beside.by_runs(h)
        gaps = np.abs(exact - wanted).max(axis=0)
        found = np.where(gaps * h < UNSEEN, 0.0, gaps / np.abs(wanted).max(axis=0))
        errors = np.minimum(errors, found) if len(errors) else found
    error = errors.max(initial=0.0)
    record_property("figure", ("linearized motions", "relative error", float(error)))
    assert error < EXACT
