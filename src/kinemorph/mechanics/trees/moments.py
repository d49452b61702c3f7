"""Moments of mass: their sum for two bodies, and their change to another origin or frame.

A rigid body has the mass m [kg], the first moment h = integral of r dm [kg m] and the second moment
Sigma = integral of r r^T dm [kg m^2].
"""

from __future__ import annotations

from kinemorph.algebra.turns import Vec3
from kinemorph.mechanics.trees.motions import Move
from kinemorph.mechanics.trees.tree import Moments


def moved_moments(move: Move, moments: Moments) -> Moments:
    """The moments of a link, given in its own frame, expressed in the frame and about the origin of its parent."""
    m, h, sigma = shifted_moments(moments, (0.0, 0.0, move.slide))
    return shifted_moments((m, move.out(h), move.out_symmetric(sigma)), move.p)


def shifted_moments(moments: Moments, p: Vec3) -> Moments:
    """The moments of a body after a shift by p [m] of all its points:  Sigma' = Sigma + p h^T + h p^T + m p p^T."""
    m, (hx, hy, hz), (xx, xy, xz, yy, yz, zz) = moments
    px, py, pz = p
    kx, ky, kz = hx + m * px, hy + m * py, hz + m * pz
    sigma = (
        xx + px * (hx + kx),
        xy + (px * hy + py * kx),
        xz + (px * hz + pz * kx),
        yy + py * (hy + ky),
        yz + (py * hz + pz * ky),
        zz + pz * (hz + kz),
    )
    return m, (kx, ky, kz), sigma


def joined_moments(one: Moments, other: Moments) -> Moments:
    """The moments of two bodies together: their sum."""
    (m, (hx, hy, hz), s), (n, (kx, ky, kz), t) = one, other
    a, b, c, d, e, f = s
    u, v, w, x, y, z = t
    return m + n, (hx + kx, hy + ky, hz + kz), (a + u, b + v, c + w, d + x, e + y, f + z)
