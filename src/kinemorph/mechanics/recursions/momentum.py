"""Center of mass, momentum and the centroidal matrix; kinetic and potential energy.

Everything follows from the moments of mass that the links carry, moved to the world's axes or to the center of mass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinemorph.algebra.groups import Pose
from kinemorph.algebra.scalar import S, div
from kinemorph.algebra.turns import TurnFull, Vec3
from kinemorph.algebra.vectors import add, cross, dot, matvec, scale, sub
from kinemorph.mechanics.recursions.composite_bodies import composite_moments, momentum
from kinemorph.mechanics.recursions.kinematics import link_poses, link_twists
from kinemorph.mechanics.trees.moments import shifted_moments
from kinemorph.mechanics.trees.tree import Moments, Tree, over_limbs

Term = tuple[Callable[[S], S] | None, S]  # see `over_limbs`


def total_mass(tree: Tree) -> S:
    """The mass of all bodies [kg], including bodies fixed to the world."""
    total: S = tree.ground[0]
    for link in tree.links:
        total = total + link.mass
    return total


def center_of_mass(tree: Tree, q: Sequence[S]) -> Vec3:
    """Center of mass of all bodies in the world [m], shape (3,)."""
    return _divided(_first_moment(tree, link_poses(tree, q)), total_mass(tree))


def centroidal_matrix(tree: Tree, q: Sequence[S]) -> list[list[S]]:
    """The centroidal momentum matrix A_G(q), shape (6, nv), in world axes.

    A_G v = [linear momentum; angular momentum about the center of mass].
    """
    poses = link_poses(tree, q)
    center = _divided(_first_moment(tree, poses), total_mass(tree))
    composites = composite_moments(tree, tree.moves(q))
    columns: list[tuple[S, ...]] = [(0.0,) * 6] * tree.nv
    for link, pose, moments in zip(tree.links, poses, composites, strict=True):
        for k, axis in enumerate(link.axes):
            linear, angular = momentum(moments, axis)
            p, about_origin = matvec(pose.R, linear), matvec(pose.R, angular)
            columns[link.v + k] = (*p, *add(about_origin, cross(sub(pose.p, center), p)))
    return [[column[row] for column in columns] for row in range(6)]


def total_momentum(tree: Tree, q: Sequence[S], v: Sequence[S]) -> list[S]:
    """[linear momentum [N s]; angular momentum about the center of mass [N m s]], world axes, shape (6,)."""
    return [dot(row, v) for row in centroidal_matrix(tree, q)]


def kinetic_energy(tree: Tree, q: Sequence[S], v: Sequence[S]) -> S:
    """The kinetic energy [J], including that of the armatures (reflected rotor inertias)."""
    terms: list[Term] = []
    for index, (link, (u, w)) in enumerate(zip(tree.links, link_twists(tree, tree.moves(q), v), strict=True)):
        m, h, (xx, xy, xz, yy, yz, zz) = link.moments
        x, y, z = w
        own = [m * dot(u, u), 2.0 * dot(h, cross(u, w))]
        own += [(yy + zz) * (x * x), (xx + zz) * (y * y), (xx + yy) * (z * z)]
        own += [-2.0 * (xy * (x * y) + xz * (x * z) + yz * (y * z))]
        own += [armature * (v[link.v + k] * v[link.v + k]) for k, armature in enumerate(link.armature)]
        terms += [(tree.link_sums.get(index), term) for term in own]
    return 0.5 * over_limbs(terms)


def potential_energy(tree: Tree, q: Sequence[S]) -> S:
    """The potential energy [J] in uniform gravity; it is zero where the center of mass lies at the world's origin."""
    return -dot(tree.gravity, _first_moment(tree, link_poses(tree, q)))


def world_moments(moments: Moments, T_WB: Pose) -> Moments:
    """A link's moments of mass, given in its own frame, expressed about the world's origin and in its axes."""
    m, h, sigma = moments
    R = TurnFull(T_WB.R)
    return shifted_moments((m, R.out(h), R.out_symmetric(sigma)), T_WB.p)


def _first_moment(tree: Tree, poses: Sequence[Pose]) -> Vec3:
    """The first moment of mass of all bodies, integral of r dm [kg m], in the world frame."""
    terms: list[list[Term]] = [[(None, x)] for x in tree.ground[1]]
    for index, (link, pose) in enumerate(zip(tree.links, poses, strict=True)):
        for own, x in zip(terms, add(scale(link.mass, pose.p), matvec(pose.R, link.h)), strict=True):
            own.append((tree.link_sums.get(index), x))
    return (over_limbs(terms[0]), over_limbs(terms[1]), over_limbs(terms[2]))


def _divided(vector: Vec3, divisor: S) -> Vec3:
    return (div(vector[0], divisor), div(vector[1], divisor), div(vector[2], divisor))
