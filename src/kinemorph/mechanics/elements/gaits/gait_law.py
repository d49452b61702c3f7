"""The base of laws of gaits: joint paths that begin at rest, at the offset of the gait or at its `initial` values."""

from __future__ import annotations

from typing import Any

from kinemorph.algebra.scalar import S
from kinemorph.mechanics.elements.control.channels import Wish, each, ramped
from kinemorph.mechanics.elements.control.references import PathLaw, optional_numbers
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.model.robot import Robot


class GaitLaw(PathLaw):
    """The abstract base of laws of gaits whose amplitude grows during the first `ramp` seconds."""

    def problems(self, element: Any, robot: Robot) -> list[str]:
        return [*super().problems(element, robot), *optional_numbers(element, "initial")]

    def ramped(self, element: Any, view: ElementView, k: int, wish: Wish, offset: S) -> Wish:
        """The path of joint k, which begins at `initial`, or else at `offset`, and grows into the path `wish`."""
        initial = each(view.value(element.initial), max(len(element.joints), 1))[k] if element.initial else offset
        return ramped(wish, view.t, element.ramp, initial)
