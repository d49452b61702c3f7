"""Time-stepping for rigid contacts: contacts open, close, stick and slide within steps, and no event is located.

`Plant.time_step` is a whole step of Moreau and Jean (plants.jumps.time_step), of order 1. It is for many contacts,
for which locating every event takes longer than steps of fixed size. Restitution is Newton's, whatever the law of the
contacts is.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinemorph.codegen.loops.loop_program import View
from kinemorph.errors import UnsupportedError
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import Shape, Site


@dataclass(frozen=True)
class TimeStepping:
    """A time-stepping method for rigid contacts, see the docstring of this file."""

    name: str
    order: int = 1
    adaptive: bool = False
    degree: int = 1  # the dense output is a straight line
    opens_contacts: bool = True  # no contact is a constraint between steps: modes are not used

    def memory(self, plant: Plant) -> dict[str, Shape]:
        """The memory after a step; raises UnsupportedError where the plant has no rigid contacts."""
        if plant.laws.time_step is None:
            raise UnsupportedError(
                f"method '{self.name}' is for rigid contacts, and '{plant.name}' has none. Use method='dop853', or "
                "'implicit_contact' for soft contacts."
            )
        return {"pushed": (len(plant.m),)}

    def attempt(self, site: Site) -> None:
        """Writes the call of one step."""
        program = site.plant.time_step
        assert program is not None
        site.loop.call(
            program, [site.new, site.own["pushed"]], [site.t, site.base, site.s, site.h, site.m, site.u, site.p]
        )

    def advance(self, site: Site) -> None:
        """Writes code that keeps the mean forces of contacts over the step in memory, for the columns of a run."""
        site.loop.copy(site.m, site.own["pushed"])
        site.loop.copy(site.m_next, site.own["pushed"])

    def prepare(self, site: Site) -> None:
        """Writes code for the dense output: the straight line between both ends of the step."""
        with site.loop.repeat(site.plant.ns) as i:
            site.loop.let(site.dense[0, i], lambda new, old: new - old, site.new[i], site.s_old[i])

    def control(self, site: Site, taken: View, out: View) -> None:
        """All steps have the same size."""
        site.loop.copy(out, taken)


FAMILY = (TimeStepping("moreau"),)
