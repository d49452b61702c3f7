"""`View`: how one camera maps points in space to picture coordinates, by parallel or central projection.

With the matrix P (3, 4) of the view, a point X [m] has the picture coordinates

    u = (P1 X + p1) / (P3 X + p3),     v = (P2 X + p2) / (P3 X + p3)

The direct linear transformation (Abdel-Aziz & Karara 1971) has p3 = 1 and eleven free numbers, in the order
L1 ... L4 of u, L5 ... L8 of v, L9 ... L11 of the denominator. In a parallel projection the denominator is 1: this is a
telecentric camera, or one that is far away. Picture coordinates have any unit, here called px.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ShapeError
from kinemorph.frozen import dataclass
from kinemorph.words import listed


@dataclass(frozen=True, eq=False)
class View:
    """One camera: its name and its calibration.

    `matrix`      (3, 4), from points [m] to homogeneous picture coordinates [px]; None before calibration
    `deviation`   standard deviation of a picture coordinate [px], from noise of digitizing; None where it is unknown
    `residual`    root mean square error of the calibration [px]; None where the matrix was given
    """

    name: str
    matrix: Array | None = None
    deviation: float | None = None
    residual: float | None = None

    def __post_init__(self) -> None:
        if self.matrix is None:
            return
        matrix = np.array(self.matrix, dtype=float)
        sound = matrix.shape == (3, 4) and np.isfinite(matrix).all() and matrix[2].any()
        if not sound or np.linalg.matrix_rank(matrix[:2, :3]) < 2:
            raise ShapeError(
                f"view '{self.name}': its matrix has shape {matrix.shape}; expected finite numbers of shape (3, 4) "
                "whose first two rows differ and whose last row is not 0. Calibrate the view from known points by "
                "`calibrated`."
            )
        if self.deviation is not None and not 0.0 < self.deviation < np.inf:
            raise ShapeError(
                f"view '{self.name}': deviation is {self.deviation:g} px; expected a number larger than 0, or None "
                "where it is unknown."
            )
        matrix.flags.writeable = False
        self.__dict__["matrix"] = matrix

    @classmethod
    def orthographic(
        cls,
        name: str,
        *,
        look: Sequence[float],
        up: Sequence[float],
        scale: float,
        center: Sequence[float] = (0.0, 0.0),
        deviation: float | None = None,
    ) -> View:
        """A parallel projection: `look` is the direction of sight, `up` the direction of v in the picture.

        `scale` [px/m] is the number of picture units in one meter, and `center` [px] (2,) the picture of the origin. A
        lateral view of an animal that walks along x, with z up, has look=(0, 1, 0) and up=(0, 0, 1); a ventral one,
        from below, look=(0, 0, 1) and up=(0, -1, 0).
        """
        along, upward = np.array(look, dtype=float), np.array(up, dtype=float)
        three = along.shape == upward.shape == (3,) and np.shape(center) == (2,)
        right = np.cross(along, upward) if three else np.zeros(3)
        if not 0.0 < scale < np.inf or not np.linalg.norm(right) > 0.0:
            raise ShapeError(
                f"view '{name}': look is {listed(look)}, up is {listed(up)}, scale is {scale:g} px/m and center is "
                f"{listed(center)}; expected two directions (x, y, z) that differ, a scale larger than 0, and (u, v)."
            )
        right /= np.linalg.norm(right)
        upward = np.cross(right, along / np.linalg.norm(along))
        rows = [[*(scale * right), center[0]], [*(scale * upward), center[1]], [0.0, 0.0, 0.0, 1.0]]
        return cls(name, np.array(rows), deviation)

    @classmethod
    def dlt(cls, name: str, coefficients: npt.ArrayLike, *, deviation: float | None = None) -> View:
        """A central projection by the eleven coefficients L1 ... L11 of the direct linear transformation."""
        found = np.array(coefficients, dtype=float).ravel()
        if found.shape != (11,):
            raise ShapeError(
                f"view '{name}': {found.size} coefficients were given; expected the 11 of the direct linear "
                "transformation, L1 to L11, for points in m."
            )
        return cls(name, np.append(found, 1.0).reshape(3, 4), deviation)

    @property
    def coefficients(self) -> Array:
        """L1 ... L11 of the direct linear transformation, shape (11,).

        Raises ShapeError for a camera in whose plane the origin lies: the last entry of its matrix, which these
        coefficients are divided by, is 0.
        """
        matrix = self.calibrated_matrix
        if matrix[2, 3] == 0.0:
            raise ShapeError(
                f"view '{self.name}' has no eleven coefficients: the origin of the axes lies in the plane of the "
                "camera. Use its matrix, or put the origin to another place."
            )
        found: Array = (matrix / matrix[2, 3]).ravel()[:11]
        return found

    @property
    def calibrated_matrix(self) -> Array:
        """The matrix (3, 4); raises ShapeError where the view has no calibration."""
        if self.matrix is None:
            raise ShapeError(
                f"view '{self.name}' has no calibration. Give known points and their pictures to `calibrated`, or the "
                "eleven coefficients to `View.dlt`."
            )
        return self.matrix

    def project(self, points: npt.ArrayLike) -> Array:
        """The picture coordinates [px], shape (..., 2), of points [m], shape (..., 3); NaN of missing points."""
        return projected(self.calibrated_matrix, np.asarray(points, dtype=float))[0]


def projected(matrix: Array, points: Array) -> tuple[Array, Array]:
    """Picture coordinates (..., 2) of points (..., 3), and their slopes by the points, shape (..., 2, 3)."""
    above = points @ matrix[:, :3].T + matrix[:, 3]
    pictures = above[..., :2] / above[..., 2:]
    slopes = (matrix[:2, :3] - pictures[..., :, None] * matrix[2, :3]) / above[..., 2:, None]
    return pictures, slopes
