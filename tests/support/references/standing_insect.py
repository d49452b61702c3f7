"""An insect that stands on six legs, as the minimum of an energy, with NumPy alone and in cgs units.

The numbers are those of requirement 3.7, written down again; nothing is taken from the package. The animal is
symmetric, so that one half of it is enough: the unknowns are x, z and pitch of the body, then five angles for each of
three legs. The energy has gravity, a spring in every joint, and springs of the ground under each foot, upward and along
the ground to the place where the foot stands in the stance. Derivatives are by complex steps; Newton's method finds the
minimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

GRAVITY = 981.0  # [cm/s^2]
BODY = 2.24  # [g]
LENGTHS = np.array([[0.60, 0.62, 0.52], [0.72, 0.78, 0.78], [0.80, 0.92, 1.12]])  # coxa, femur, tibia [cm]
MASSES = np.array([[0.024, 0.012, 0.004], [0.034, 0.018, 0.007], [0.044, 0.026, 0.011]])  # [g]
HIPS = np.array([[0.75, 0.32, -0.15], [0.25, 0.38, -0.15], [-0.25, 0.36, -0.15]])  # [cm]
FEET = np.array([[1.50, 1.20], [0.05, 1.80], [-1.55, 1.60]])  # x and outward [cm]
SLOPES = np.radians([50.0, 40.0, 35.0])  # of the coxae, downward
HEIGHT = 0.75  # of the body above the ground [cm]
UP, ALONG = 5e4, 2e4  # stiffness of the ground [dyn/cm]
OUTWARD = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # columns: outward, up, forward


class Standing(NamedTuple):
    """The animal at rest: error [rad] and effort [(dyn cm)^2] of each leg (3,), reactions [dyn] (3, 3), unknowns."""

    errors: np.ndarray
    efforts: np.ndarray
    reactions: np.ndarray
    unknowns: np.ndarray


def turn(axis: int, angle: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.zeros((*np.shape(angle), 3, 3), dtype=np.result_type(angle, float))
    R[..., axis, axis] = 1.0
    R[..., i, i] = R[..., j, j] = np.cos(angle)
    R[..., i, j], R[..., j, i] = -np.sin(angle), np.sin(angle)
    return R


def points(k: int, angles: np.ndarray) -> list[np.ndarray]:
    """Centers of mass of coxa, femur and tibia of leg k, then its foot, each (..., 3) in the axes of the body [cm]."""
    coxa, femur, tibia = LENGTHS[k]
    R = OUTWARD @ turn(2, angles[..., 0]) @ turn(1, angles[..., 1]) @ turn(0, angles[..., 2])
    found, knee = [HIPS[k] + 0.375 * coxa * R[..., 0]], HIPS[k] + coxa * R[..., 0]
    R = R @ turn(2, angles[..., 3])
    found, ankle = [*found, knee + 0.5 * femur * R[..., 0]], knee + femur * R[..., 0]
    R = R @ turn(2, angles[..., 4])
    return [*found, ankle + 0.5 * tibia * R[..., 0], ankle + tibia * R[..., 0]]


def stance() -> np.ndarray:
    """The angles (3, 5) at which the plane of each leg is vertical and its foot at its place, found by Newton."""
    found = []
    for k in range(3):
        azimuth = np.arctan2(FEET[k, 0] - HIPS[k, 0], FEET[k, 1] - HIPS[k, 1])
        R = turn(1, -azimuth) @ turn(2, -SLOPES[k])
        hip = [np.arctan2(R[1, 0], R[0, 0]), -np.arcsin(R[2, 0]), np.arctan2(R[2, 1], R[2, 2])]
        angles = np.array([*hip, 1.9, -1.7])
        for _ in range(30):
            steps = angles + 1e-30j * np.eye(5)[3:]
            J = points(k, steps)[3].imag.T / 1e-30
            gap = points(k, angles)[3] - [*FEET[k], -HEIGHT]
            angles[3:] -= np.linalg.lstsq(J, gap, rcond=None)[0]
        assert np.abs(points(k, angles)[3] - [*FEET[k], -HEIGHT]).max() < 1e-13
        found.append(angles)
    return np.array(found)


def placed(u: np.ndarray) -> list[list[np.ndarray]]:
    """The points of the three legs in the world, for unknowns u (..., 18)."""
    base = np.stack([u[..., 0], 0.0 * u[..., 0], u[..., 1]], axis=-1)
    R = turn(1, u[..., 2])
    moved = [points(k, u[..., 3 + 5 * k : 8 + 5 * k]) for k in range(3)]
    return [[base + np.einsum("...ij,...j->...i", R, point) for point in leg] for leg in moved]


def weight_energy(u: np.ndarray) -> np.ndarray:
    """The potential energy of gravity [erg] of one half of the animal."""
    rows = placed(u)
    legs = sum(m * leg[n][..., 2] for own, leg in zip(MASSES, rows, strict=True) for n, m in enumerate(own))
    return GRAVITY * (0.5 * BODY * u[..., 1] + legs)


def energy(u: np.ndarray, stiffness: float, rest: np.ndarray, along: float) -> np.ndarray:
    """The potential energy [erg] of one half of the animal: gravity, joints and ground."""
    found = weight_energy(u) + 0.5 * stiffness * np.sum((u[..., 3:] - rest.ravel()) ** 2, axis=-1)
    for foot, place in zip((leg[3] for leg in placed(u)), FEET, strict=True):
        depth = np.where(foot[..., 2].real < 0.0, foot[..., 2], 0.0)
        found = found + 0.5 * UP * depth**2 + 0.5 * along * np.sum((foot[..., :2] - place) ** 2, axis=-1)
    return found


def slope(function, u: np.ndarray, *data) -> np.ndarray:
    """The gradient (18,) of a function of the unknowns, by complex steps."""
    return function(u + 1e-30j * np.eye(len(u)), *data).imag / 1e-30


def standing(stiffness: float, *, along: float = ALONG, start: np.ndarray | None = None) -> Standing:
    """The animal at rest with joints of this stiffness [dyn cm/rad], searched from the unknowns `start`."""
    rest, h = stance(), 1e-6
    u = np.array([0.0, HEIGHT - 0.0085, 0.0, *rest.ravel()]) if start is None else start.copy()
    for _ in range(80):
        g = slope(energy, u, stiffness, rest, along)
        sides = [[slope(energy, u + s * h * e, stiffness, rest, along) for s in (1, -1)] for e in np.eye(18)]
        H = np.array([(a - b) / (2.0 * h) for a, b in sides])
        step = -np.linalg.solve(0.5 * (H + H.T), g)
        share = min(1.0, 0.2 / np.abs(step).max())
        u = u + share * step
        if np.abs(step).max() < 1e-12:
            break
    else:
        raise AssertionError("no minimum of the energy was found")
    assert np.linalg.eigvalsh(0.5 * (H + H.T)).min() > 0.0
    off = u[3:].reshape(3, 5) - rest
    feet = np.array([leg[3] for leg in placed(u)])
    reactions = np.column_stack([along * (FEET - feet[:, :2]), -UP * feet[:, 2]])
    return Standing(np.abs(off).mean(axis=1), np.sum((stiffness * off) ** 2, axis=1), reactions, u)


def least_effort(u: np.ndarray) -> float:
    """The least sum of squared torques [(dyn cm)^2] of one half at the posture u, over all forces of the ground.

    The forces have to carry the body; no other condition is put on them, so that no controller can do with less.
    """
    gravity = slope(weight_energy, u)
    rows = placed(u + 1e-30j * np.eye(18))
    J = np.concatenate([(leg[3].imag / 1e-30).T for leg in rows])  # (9, 18): feet by unknowns
    A, b = -J.T, -gravity  # torques and forces on the body: gravity - J^T F
    particular = np.linalg.lstsq(A[:3], b[:3], rcond=None)[0]
    free = np.linalg.svd(A[:3])[2][3:].T
    left = A[3:] @ particular - b[3:]
    best = np.linalg.lstsq(A[3:] @ free, -left, rcond=None)[0]
    return float(np.sum((left + A[3:] @ free @ best) ** 2))
