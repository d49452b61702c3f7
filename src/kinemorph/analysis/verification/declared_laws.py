"""Checks of a derived model against the robot that it was derived from.

Equations may obey every law of mechanics and still describe another robot: all formulations start from one resolved
tree. So poses, the mass matrix and the energies are computed a second time from the declared data
(analysis.verification.declared_model), and the recursions are run on the links as the user wrote them. Gravity is
covered by the potential energy, forces and Jacobians by the laws that relate them to energies and poses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.verification.declared_model import Declared, as_declared
from kinemorph.analysis.verification.sampling import Sample, WorstError, largest
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.mechanics.formulations.driven_dynamics import state_formulation
from kinemorph.mechanics.trees.resolve import resolve

NEAR = 1e-3  # [m], position errors are divided by the robot's reach, or by this where the reach is smaller


def poses_as_declared(s: Sample) -> WorstError:
    """The error of the poses of all bodies and frames against the products of the declared joint poses.

    Errors of positions are relative to the robot's reach.
    """
    d, right = s.dynamics, as_declared(s.dynamics.robot, s.q)
    found = dict(zip(d.robot.body_names, s.call(d.forward_kinematics).swapaxes(0, 1), strict=True))
    found |= {frame.name: s.call(d.pose(frame.name)) for frame in d.robot.frames}
    unit = np.ones((len(s.q), 3, 4))
    unit[:, :, 3] = np.maximum(right.reach, NEAR)[:, None]
    errors = []
    for name, pose in found.items():
        error = s.worst((pose - right.poses[name])[:, :3] / unit, np.ones(len(s.q)), by_joint=False)
        errors.append(WorstError(error.worst, f"'{name}': {error.where}"))
    return largest(errors)


def mass_as_declared(s: Sample) -> WorstError:
    """The error of the mass matrix M against the sum over bodies of J^T I J, plus the armatures.

    J and I are the Jacobian and the inertia of a body. The error of entry (i, j) is relative to sqrt(s_i s_j), where s
    bounds the diagonal of M.
    """
    right = as_declared(s.dynamics.robot, s.q)
    size = np.sqrt(right.mass_size)
    gap = _over(s.call(s.dynamics.mass_matrix) - right.mass_matrix, size[:, :, None] * size[:, None, :])
    return s.worst(gap, np.ones(len(gap)))


def energy_as_declared(s: Sample) -> WorstError:
    """The error of the energies against v . M v / 2 with the declared M, and the sum of -m g . c over bodies.

    m and c are the mass and the center of mass of a body, g is gravity.
    """
    right = as_declared(s.dynamics.robot, s.q)
    kinetic, potential = s.call(s.dynamics.energy)
    gap = _over(kinetic - 0.5 * np.einsum("ni,nij,nj->n", s.v, right.mass_matrix, s.v), _kinetic_size(s, right))
    moving = s.worst(gap, np.ones(len(gap)))
    gap = (potential - right.potential) / np.maximum(right.potential_size, s.weight)
    resting = s.worst(gap, np.ones(len(gap)))
    return largest(
        [WorstError(moving.worst, f"kinetic: {moving.where}"), WorstError(resting.worst, f"potential: {resting.where}")]
    )


def _kinetic_size(s: Sample, right: Declared) -> Array:
    """An upper bound of the kinetic energy [J], shape (n,), in which terms of different velocities do not cancel."""
    return np.asarray(0.5 * (np.abs(s.v) * np.sqrt(right.mass_size)).sum(axis=1) ** 2)


def _over(gap: Array, size: Array) -> Array:
    """gap / size, entry by entry; 0 where the gap is 0, also if the size is 0."""
    with np.errstate(all="ignore"):
        return np.where(gap == 0.0, 0.0, gap / size)


def same_on_links_as_written(s: Sample) -> WorstError:
    """The error of M and inverse dynamics against recursions on the links as the user declared them.

    `derive` moves the frames of links and regroups their masses, which must not change any result.
    """
    d = s.dynamics

    def written(q: Any, v: Any, a: Any, p: Any) -> dict[str, Any]:
        tree = resolve(d.robot, {parameter.name: x for parameter, x in zip(d.parameters, p, strict=True)})
        row = state_formulation(d.robot)
        return {"M": row.mass_matrix(tree, q), "tau": row.inverse_dynamics(tree, q, v, a)}

    shapes = {"q": s.q.shape[1:], "v": s.v.shape[1:], "a": s.a.shape[1:], "p": d.nominal_parameters.shape}
    M, tau = s.call(build(trace(written, shapes, name=f"{d.robot.name}.as_written"), "interpreter"))
    forces = s.call(d.inverse_dynamics, still=True)
    return largest([s.worst(s.call(d.mass_matrix) - M, M), s.worst(forces - tau, tau, floor=s.weight)])
