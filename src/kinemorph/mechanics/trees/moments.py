"""Moments of mass: their sum for two bodies, and their change to another origin or frame.

A rigid body is its mass m [kg], h = integral of r dm [kg m] and Sigma = integral of r r^T dm [kg m^2].
"""

from __future__ import annotations

from kinemorph.algebra.turns import Vec3
from kinemorph.mechanics.trees.motions import Move
from kinemorph.mechanics.trees.tree import Moments


def moved_moments(move: Move, moments: Moments) -> Moments:
    """Moments about a link's origin, taken to the parent's frame and origin."""
    m, h, sigma = shifted_moments(moments, (0.0, 0.0, move.slide))
    return shifted_moments((m, move.out(h), move.out_symmetric(sigma)), move.p)


def shifted_moments(moments: Moments, p: Vec3) -> Moments:
    """Moments of the same mass after every point r has become r + p:  Sigma + p h^T + h p^T + m p p^T."""
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
    """Moments of two bodies together."""
    (m, (hx, hy, hz), s), (n, (kx, ky, kz), t) = one, other
    a, b, c, d, e, f = s
    u, v, w, x, y, z = t
    return m + n, (hx + kx, hy + ky, hz + kz), (a + u, b + v, c + w, d + x, e + y, f + z)
