"""`pole_sensitivities`: exact derivatives of poles with respect to parameters, from left and right eigenvectors.

Let r be the residual of the equations of motion. A motion  w = psi_w e^(lambda t), x = psi_x e^(lambda t)  of their
linear form satisfies N(lambda) psi = 0,

    N(lambda) psi = r_w psi_w + r_v lambda psi_w + r_a lambda^2 psi_w + r_x psi_x + r_dx lambda psi_x

With the left eigenvector eta, eta^T N = 0, the derivative of the pole lambda with respect to a parameter p is

    d lambda / dp = - (eta^T dN/dp psi) / (eta^T dN/dlambda psi)

dN/dp is a total derivative, because the equilibrium changes with p as well. eta^T N psi is one number for any robot: a
forward sweep along psi, weighted by eta, and the gradient of the result give the derivatives with respect to all
parameters at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.eigenproblems import Complex
from kinemorph.analysis.small_motions.equilibrium_slopes import equilibrium_slopes
from kinemorph.analysis.small_motions.linearize import Model
from kinemorph.analysis.small_motions.plant_derivatives import (
    Blocks,
    Point,
    Slopes,
    built,
    point_of,
    regular_solve,
    slopes_of,
)
from kinemorph.analysis.small_motions.poles import Poles, poles
from kinemorph.analysis.small_motions.sensitivities import named_units, with_parameters
from kinemorph.analysis.small_motions.usual_point import usual_point
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import forward, reverse
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Law
from kinemorph.words import did_you_mean, quoted

MULTIPLE = 1e-7  # a pole is multiple where eta^T dN/dlambda psi is below this, relative to the size of its terms


@dataclass(frozen=True, eq=False)
class PoleSensitivities:
    """Derivatives of n poles with respect to m parameters. Made by `pole_sensitivities`.

    `values` (n, m) complex: values[j, k] = d lambda_j / d p_k, with the `names` and `units` of the parameters.
    Multiple poles have no derivative: their rows are NaN, and `note` gives their numbers.
    """

    poles: Poles
    values: Complex
    names: tuple[str, ...]
    units: tuple[str, ...]
    note: str = ""

    def __getitem__(self, name: str) -> Complex:
        """The derivatives d lambda / d p of all poles with respect to the named parameter, shape (n,)."""
        if name not in self.names:
            raise ShapeError(
                f"sensitivities with respect to '{name}' were not computed.{did_you_mean(name, self.names)} "
                f"Known: {quoted(self.names)}."
            )
        return self.values[:, self.names.index(name)]

    @property
    def omega(self) -> Array:
        """d omega / d p, the derivatives of the imaginary parts [rad/s per unit of p], shape (n, m)."""
        return self.values.imag

    @property
    def alpha(self) -> Array:
        """d alpha / d p, the derivatives of the real parts [1/s per unit of p], shape (n, m)."""
        return self.values.real


def pole_sensitivities(
    model: Model,
    parameters: str | Sequence[str],
    q: Any = None,
    x: Any = None,
    u: Any = None,
    *,
    p: Any = None,
    t: float = 0.0,
    forces: Law | None = None,
    locked: str | Sequence[str] = (),
) -> PoleSensitivities:
    """Derivatives of the poles of a plant at rest with respect to the named parameters ("all" for every one).

    At an equilibrium they include the change of the equilibrium with the parameters; elsewhere q and x stay fixed.
    Without q and x the state is that of `poles`. A constant input is named as "u.elbow". The other arguments are those
    of `linearize`.
    """
    plant, names = with_parameters(model, parameters, forces, locked)
    if not names:
        raise UnsupportedError("pole_sensitivities: no parameter is named. Name at least one.")
    usual = q is None and x is None
    point = usual_point(plant, u=u, p=p, t=t).point if usual else point_of(plant, q, None, x, u, p, t)
    if point.v.any():
        raise UnsupportedError(
            f"pole_sensitivities: the initial velocity of plant '{plant.name}' is not zero; expected a state at rest. "
            "Make the plant with initial velocities of zero."
        )
    found = poles(plant, **vars(point))
    work = _Work(slopes_of(plant), point, still=not found.note)
    rows = [work.derivative(complex(value), vector) for value, vector in zip(found.values, found.vectors, strict=True)]
    whole = np.array(rows, dtype=complex).reshape(len(found), len(plant.p) + plant.nu)
    values = whole[:, [_place(plant, name) for name in names]]
    multiple = [str(k + 1) for k in range(len(found)) if np.isnan(values[k]).any()]
    note = f"Multiple poles, number {', '.join(multiple)}, have no derivative." if multiple else ""
    units = named_units(plant)
    return PoleSensitivities(found, values, names, tuple(units[name] for name in names), note)


def _place(plant: Plant, name: str) -> int:
    """The index of a parameter, or of an input "u.elbow", in [p, u]."""
    return len(plant.p) + plant.index("u", name[2:]) if name.startswith("u.") else plant.index("p", name)


class _Work:
    """The programs and numbers that the derivatives of all poles share.

    s = [w, v, x] is the state (ns,), with local coordinates w of the configuration, and z = [a, dx/dt] (nv + nx,).
    `still` tells whether the state is an equilibrium.
    """

    def __init__(self, slopes: Slopes, point: Point, *, still: bool) -> None:
        self.slopes, self.point, plant = slopes, point, slopes.plant
        self.z = np.zeros(slopes.n) if still else slopes.rate(point)[plant.nv :]
        self.blocks: Blocks = slopes.blocks(point, self.z)
        along = forward(plant.residual, ("s", "z"))
        self.gradient: CompiledFunction = built(reverse(along, "d_out", by=("s", "z", "p", "u")))
        t, base, s, m, u, p = point.inputs
        self.at = (t, base, s, self.z, m, u, p)
        self.by_p: Array = slopes.by_data(point, self.z)  # of the residual
        self.ds, self.dz = self._shift() if still else self._at_fixed_state()

    def _at_fixed_state(self) -> tuple[Array, Array]:
        """(ds/d[p, u], dz/d[p, u]) where the state s stays fixed, shapes (ns, np + nu) and (nv + nx, np + nu).

        The first is 0. z = [a, dx/dt] changes, because the equations of motion have to hold for all p and u.
        """
        dz = -regular_solve(self.slopes.plant, self.blocks.z, self.by_p)
        return np.zeros((self.slopes.plant.ns, self.by_p.shape[1])), dz

    def _shift(self) -> tuple[Array, Array]:
        """(ds/d[p, u], dz/d[p, u]) of an equilibrium, shapes (ns, np + nu) and (nv + nx, np + nu).

        The second is 0: the robot stays at rest.
        """
        ds = equilibrium_slopes(self.slopes, self.point, self.blocks, self.by_p)
        return ds, np.zeros((self.slopes.n, self.by_p.shape[1]))

    def derivative(self, value: complex, vector: Complex) -> Complex:
        """The derivatives of one pole with respect to [p, u], shape (np + nu,); nan for a multiple pole.

        `value` is the pole, `vector` (ns,) its motion in all states.
        """
        nv, blocks = self.slopes.plant.nv, self.blocks
        psi_w, psi_x = vector[:nv], vector[2 * nv :]
        along_s = np.concatenate([psi_w, value * psi_w, psi_x])
        along_z = np.concatenate([value * value * psi_w, value * psi_x])
        N = np.hstack([blocks.w + value * blocks.v + value**2 * blocks.z[:, :nv], blocks.x + value * blocks.z[:, nv:]])
        left, sizes, _ = np.linalg.svd(N)
        eta = left[:, -1].conj()
        slope = (blocks.v + 2.0 * value * blocks.z[:, :nv]) @ psi_w + blocks.z[:, nv:] @ psi_x
        turn = eta @ slope
        repeated = len(sizes) > 1 and sizes[-2] <= 1e-10 * sizes[0]
        if repeated or abs(turn) <= MULTIPLE * float(np.linalg.norm(slope)):
            return np.full(self.by_p.shape[1], np.nan, dtype=complex)
        g_s, g_z, g_p = self._weighted(eta, along_s, along_z)
        found: Complex = -(g_p + g_s @ self.ds + g_z @ self.dz) / turn
        return found

    def _weighted(self, eta: Complex, along_s: Complex, along_z: Complex) -> tuple[Complex, Complex, Complex]:
        """Gradients of the number eta^T N psi with respect to s, z and [p, u]; psi is given by its motion in s and z.

        eta, psi and N are the left and the right eigenvector and the matrix of this file's docstring. The number is
        bilinear in eta and psi, so that four real gradients make up the complex one.
        """
        totals: list[Complex] = [np.zeros(0, complex)] * 3
        for weight, factor in ((eta.real, 1.0 + 0.0j), (eta.imag, 1.0j)):
            for part, more in (("real", 1.0 + 0.0j), ("imag", 1.0j)):
                d_s, d_z = getattr(along_s, part), getattr(along_z, part)
                g_s, g_z, g_p, g_u = self.gradient(*self.at, d_s.copy(), d_z.copy(), weight.copy())
                parts = (g_s, g_z, np.concatenate([g_p, g_u]))
                totals = [
                    factor * more * new + (old if len(old) else 0.0) for old, new in zip(totals, parts, strict=True)
                ]
        return totals[0], totals[1], totals[2]
