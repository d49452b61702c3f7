"""The ground of contacts, as far as a scene reaches; where nothing touches, a floor below the lowest point."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.display.scenes.scene import Array, Part
from kinemorph.model.system import Element


def grounds_of(elements: Sequence[Element], box: Array) -> tuple[tuple[Part, ...], float]:
    """The surfaces of the ground, and the height of the level floor [m], for what is seen within a box (2, 3) [m]."""
    return (), float(box[0, 2])
