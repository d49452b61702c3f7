"""The law of a joint whose motion is prescribed."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.algebra.scalar import S
from kinemorph.mechanics.elements.checks import one_axis, wrong
from kinemorph.mechanics.elements.constraints.constraint_texts import text_problems, text_value
from kinemorph.mechanics.elements.constraints.row_forces import RowForces
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.elements.forces.applied import course_problems, over_time
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import register
from kinemorph.model.elements.constraints.prescribed import PrescribedMotion
from kinemorph.model.expressions import names_in
from kinemorph.model.robot import Robot


class PrescribedMotionLaw(RowForces):
    """The row q - motion(t) of a joint; its multiplier is the effort [N m or N] along the joint."""

    accelerations = True

    def unit(self, element: PrescribedMotion) -> str:
        return f"tau.{element.joint}"

    def problems(self, element: PrescribedMotion, robot: Robot) -> list[str]:
        found = one_axis(element, "joint", element.joint, robot)
        return found if isinstance(element.motion, str) else found + course_problems(element, "motion", 1)

    def problems_among(self, element: PrescribedMotion, ensemble: Ensemble) -> list[str]:
        if not isinstance(element.motion, str):
            return []
        found = text_problems(element, element.motion, ensemble, v=False)
        what, remedy = "expected a function of time", f'Use a Constraint: rows = "q.{element.joint} - (...)".'
        return found or [
            wrong(element.name, f"'{element.motion}' names the coordinate '{name}'; {what}", remedy, "motion")
            for name in names_in(element.motion)
            if name.startswith("q.") and name in ensemble.sources
        ]

    def row_names(self, element: PrescribedMotion) -> tuple[Sequence[str], Sequence[str]]:
        return ("",), ()

    def position_rows(self, element: PrescribedMotion, view: ElementView) -> Sequence[S]:
        if isinstance(element.motion, str):
            wanted = text_value(element, element.motion, view)
        else:
            (wanted,) = over_time(element, "motion", element.motion, 1, view)
        return [view.hinge(element.joint).q - wanted]


register(PrescribedMotion, PrescribedMotionLaw())
