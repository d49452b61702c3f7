"""A single picture out of a run, painted as a film is: solids with light and shadow, forces of contacts, the ground."""

from __future__ import annotations

from pathlib import Path

from kinemorph.display.cameras import CameraChoice
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.simulation.trajectory import Trajectory


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
    from kinemorph.display.films.easels import Easel, scene_for

    if not run.t[0] <= t <= run.t[-1]:
        raise UnsupportedError(
            f"t is {t:g} s; expected a time of the run '{run.name}', from {run.t[0]:g} to {run.t[-1]:g} s."
        )
    path = Path(path)
    scene = scene_for(run, camera, times=[t], columns=(), title=title)
    picture = Easel(scene, camera=camera, size=size).frame(0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.save(path)
    except (OSError, ValueError) as error:
        raise KinemorphError(f"cannot write '{path}': {error}. Choose another place, ending with .png.") from error
    return path
