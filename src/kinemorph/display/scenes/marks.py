"""Elements as one sees them: springs and dampers between their points."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.display.scenes.scene import Array, Figure, Mark
from kinemorph.model.system import Element
from kinemorph.simulation.trajectory import Trajectory


def marks_of(
    figure: Figure, elements: Sequence[Element], run: Trajectory | None = None, times: Array | None = None
) -> list[Mark]:
    """The marks of elements on a figure; with a run and the times [s] of the scene, those of forces too."""
    return []
