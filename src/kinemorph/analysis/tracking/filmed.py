"""`Filmed`: points in the pictures of one camera, frame by frame; `load_view` reads them from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.tracking.files.comma_tables import read_pictures
from kinemorph.analysis.tracking.load_markers import warn_of
from kinemorph.analysis.tracking.markers import checked_points
from kinemorph.frozen import dataclass
from kinemorph.words import counted


@dataclass(frozen=True, eq=False, repr=False)
class Filmed:
    """Picture coordinates of k points in n frames of one camera.

    `view`        the name of the `View` that maps points in space to these pictures
    `names`       of the points, all different
    `times`       of the frames [s], shape (n,), increasing
    `pictures`    (u, v) [px], shape (n, k, 2); NaN where a point is missing
    `weights`     of the squared errors of pictures, shape (n, k); None gives all the weight 1
    `source`      what messages call the recording, usually the name of its file
    """

    view: str
    names: tuple[str, ...]
    times: Array
    pictures: Array
    weights: Array | None = None
    source: str = ""

    def __post_init__(self) -> None:
        self.__dict__.update(checked_points(self.source or self.view, self, "pictures", 2))

    def __len__(self) -> int:
        """The number of frames."""
        return len(self.times)

    def __repr__(self) -> str:
        points = counted(len(self.names), "marker")
        return f"<Filmed '{self.source}' in view '{self.view}': {counted(len(self), 'frame')} of {points}>"

    @property
    def seen(self) -> npt.NDArray[np.bool_]:
        """Whether each point was found in each picture, shape (n, k)."""
        return np.isfinite(self.pictures[:, :, 0])

    def save(self, path: str | Path) -> Path:
        """Writes a .csv file with the columns "t [s]", "foot.u [px]", "foot.v [px]", and weights where there are."""
        from kinemorph.analysis.tracking.load_markers import save_points

        return save_points(self, Path(path))


def load_view(path: str | Path, view: str, *, rate: float | None = None) -> Filmed:
    """The points in the pictures of one camera, from a .csv file with two columns for each marker.

    Columns are called "foot.u" and "foot.v", or "foot.x" and "foot.y", in picture units; files of DeepLabCut are read,
    too, with likelihoods as weights. `view` is the name of the camera, and `rate` the frames per second of a file with
    numbers of frames and no times.
    """
    path = Path(path)
    raw = read_pictures(path, rate)
    filmed = Filmed(view, tuple(raw.names), raw.times, raw.positions, raw.weights, path.name)
    warn_of(filmed, raw)
    return filmed
