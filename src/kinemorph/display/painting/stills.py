"""A single picture of a model or out of a run, painted as a film is: solids with light and shadow, the ground.

What lies behind is hidden pixel by pixel, so thin plates on large faces come out whole; `draw` sorts facets, and has
axes with numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.display.cameras import CameraChoice
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.simulation.results.trajectory import Trajectory

if TYPE_CHECKING:
    from PIL.Image import Image


def model_still(
    model: Robot | System,
    q: Any = None,
    *,
    camera: CameraChoice = "iso",
    follow: str | None = None,
    size: float = 9.0,
    title: str | None = None,
) -> Image:
    """A model at q, or as it starts; `camera`, `follow` and `size` as for `animate`."""
    from kinemorph.display.painting.painter import Easel, scene_for

    scene = scene_for(model, camera, q=q, columns=(), title=title)
    return Easel(scene, camera=camera, follow=follow, size=size).frame(0)


def write_still(
    run: Trajectory,
    path: Path | str,
    t: float,
    *,
    camera: CameraChoice = "iso",
    size: float = 9.0,
    title: str | None = None,
) -> Path:
    """Writes what a run looks like at time t [s] as a .png; `camera` and `size` as for `animate`."""
    from kinemorph.display.painting.painter import Easel, scene_for

    if not run.t[0] <= t <= run.t[-1]:
        raise UnsupportedError(
            f"t is {t:g} s; expected a time of the run '{run.name}', from {run.t[0]:g} to {run.t[-1]:g} s."
        )
    scene = scene_for(run, camera, times=[t], columns=(), title=title)
    return save_still(Easel(scene, camera=camera, size=size).frame(0), path)


def save_still(picture: Image, path: Path | str) -> Path:
    """Writes a painted picture as a .png; the folder is made if need be."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.save(path)
    except (OSError, ValueError) as error:
        raise KinemorphError(f"cannot write '{path}': {error}. Choose another place, ending with .png.") from error
    return path
