"""The equations of motion from the energies alone, by nested dual numbers: an independent check on the recursions.

With the Lagrangian L = T(q, v) - V(q), velocities v that belong to a Lie group joint by joint (Hamel, Euler-Poincare),
and momenta p_k = dT/dv_k,

    tau_k = d/dt p_k - (ad_v^T p)_k - dL/d(xi_k)

where dL/d(xi_k) is the derivative as the configuration moves along the k-th velocity alone. For joints with one axis
the middle term is zero and this is Lagrange's equation in its usual form. d/dt is one direction of dual numbers (q
moves with v, v with a), each partial derivative another one inside it; no kinematic recursion of the Newton-Euler kind
is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.groups import cobracket
from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.recursions.kinematics import configuration_rate, dense
from kinemorph.mechanics.recursions.momentum import kinetic_energy, potential_energy
from kinemorph.mechanics.trees.tree import Tree


def inverse_dynamics(tree: Tree, q: Sequence[S], v: Sequence[S], a: Sequence[S]) -> list[S]:
    """Generalized forces, shape (nv,), that give the acceleration `a` at (q, v)."""
    qdot = configuration_rate(tree, q, v)
    time = Direction()
    q_t, v_t = time.all_moved(q, qdot), time.all_moved(v, a)
    momenta = [_momentum(tree, q_t, v_t, k) for k in range(tree.nv)]
    turned = _carried_momenta(tree, v, time.values(momenta))
    return [time.tangent(momenta[k]) + turned[k] - _slope(tree, q, v, k) for k in range(tree.nv)]


def mass_matrix(tree: Tree, q: Sequence[S]) -> list[list[S]]:
    """The mass matrix M(q), shape (nv, nv): the second derivatives of the kinetic energy by the velocities."""
    along = Direction()
    columns = []
    for k in range(tree.nv):
        v = [along.moved(0.0, float(j == k)) for j in range(tree.nv)]
        columns.append([along.tangent(_momentum(tree, q, v, j)) for j in range(tree.nv)])
    return [[columns[k][j] for k in range(tree.nv)] for j in range(tree.nv)]


def _momentum(tree: Tree, q: Sequence[S], v: Sequence[S], k: int) -> S:
    """The generalized momentum p_k = dT/dv_k, where T is the kinetic energy."""
    along = Direction()
    varied = [along.moved(x, float(j == k)) for j, x in enumerate(v)]
    return along.tangent(kinetic_energy(tree, q, varied))


def _slope(tree: Tree, q: Sequence[S], v: Sequence[S], k: int) -> S:
    """dL/d(xi_k): the rate of the Lagrangian as the configuration moves along the k-th velocity, with v constant."""
    unit = [1.0 if j == k else 0.0 for j in range(tree.nv)]
    along = Direction()
    moving = along.all_moved(q, configuration_rate(tree, q, unit))
    return along.tangent(kinetic_energy(tree, moving, v)) - along.tangent(potential_energy(tree, moving))


def _carried_momenta(tree: Tree, v: Sequence[S], p: Sequence[S]) -> list[S]:
    """-(ad_v^T p), shape (nv,), joint by joint: zero for one axis, the gyroscopic term for a joint with several axes.

    The momenta p of a joint are the components of a wrench along the joint's axes. The bracket of two joint velocities
    has components along these axes only, so the other components of the wrench may be set to zero. Armatures are left
    out: an armature is a number on the diagonal of M, not a body that turns with the link.
    """
    carried: list[S] = [0.0] * tree.nv
    for link in tree.links:
        if len(link.axes) == 1:
            continue
        twist: list[S] = [0.0] * 6
        wrench: list[S] = [0.0] * 6
        for k, axis in enumerate(link.axes):
            ((component, _),) = axis
            rate = v[link.v + k]
            twist[component], wrench[component] = rate, p[link.v + k] - link.armature[k] * rate
        turned = cobracket(twist, wrench)
        for k, axis in enumerate(link.axes):
            carried[link.v + k] = dot(dense(axis), turned)
    return carried
