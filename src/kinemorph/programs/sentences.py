"""The messages of a run as templates: the sentences of `simulate`, with gaps for numbers and names of the run.

A gap is one control character, which no name in a table contains. Each program has a function that fills the gaps:

    1  the time [s]                     5  a tenth of the step size [s]
    2  the name of a variable or event  6  the time between the last two events [s]
    3  a value                          7  the unit of the value
    4  the step size [s]                8  a number of events
"""

from __future__ import annotations

from typing import Any

from kinemorph.plants.loop_methods import SingularPerturbation, names_independent
from kinemorph.programs.job import Job
from kinemorph.simulation.results.outcome import comes_to_rest, stays_at_zero, stopped_after, stopped_by
from kinemorph.simulation.running.switches import endless
from kinemorph.simulation.stepping import failures
from kinemorph.simulation.stepping.domains import leaves_domain
from kinemorph.simulation.stepping.gimbal_lock import comes_to_lock
from kinemorph.simulation.stepping.sample_clocks import not_sampled

GAPS = {
    "time": "\1",
    "name": "\2",
    "value": "\3",
    "step": "\4",
    "tenth": "\5",
    "last": "\6",
    "unit": "\7",
    "count": "\b",
}


class Gap(float):
    """A number whose text is a gap, whatever its format; a tenth of a step size has a gap of its own."""

    def __new__(cls, name: str, value: float = 0.0) -> Gap:
        """A gap of GAPS that stands for a number; `value` is used where a sentence depends on the number."""
        made = super().__new__(cls, value)
        made.name = name
        return made

    name: str

    def __format__(self, spec: str) -> str:
        return GAPS[self.name]

    def __truediv__(self, other: Any) -> Gap:
        assert self.name == "step" and other == 10
        return Gap("tenth", float(self) / 10)


def sentences(job: Job) -> dict[str, str]:
    """The templates of a job by name: for each way in which its run may end, except for the one that ends well."""
    plant, t, name, first = job.plant, Gap("time"), GAPS["name"], job.first
    step = Gap("step", first.h) if first.fixed else None
    own = job.method.name
    return {
        "stopped_by": stopped_by(name, t),
        "stopped_after_one": stopped_after(1, t),
        "stopped_after": stopped_after(2, t).replace("2 events", f"{GAPS['count']} events"),
        "stays_at_zero": stays_at_zero(name, t),
        "comes_to_rest": comes_to_rest(name, t, Gap("last")),
        "endless": endless(name, t),
        "diverges": failures.diverges(plant, t, name, Gap("value"), GAPS["unit"], step),
        "rate_not_finite": failures.rate_not_finite(t, name),
        "breaks_constraints": failures.breaks_constraints(t),
        "impulses_not_found": failures.impulses_not_found(plant, t) if failures.has_impulses(plant) else "",
        "lost": _lost(job, t),
        "not_finite": failures.too_long_for_loops(plant, t, step) or failures.not_finite(plant, t, name, step)
        if step is not None
        else failures.not_finite(plant, t, name, step),
        "unsolved": failures.unsolved(plant, t, name, own),
        "grows": failures.grows(t, name, Gap("value")),
        "too_short": failures.too_short(t, name, own, first.options.min_step),
        "not_sampled": f"At t = {t:.9g} s " + not_sampled(name, GAPS["unit"], GAPS["value"]),
        "user_not_finite": f"At t = {t:.9g} s user code returned a number that is not finite: {name}. Check that "
        "it does not divide by 0.",
        "not_closed": f"The initial state of '{plant.name}' cannot be brought onto its constraints. Give another one.",
    }


def watch_sentences(job: Job) -> tuple[list[str], list[str]]:
    """The templates for formulas that leave their domain, and for gimbals that come to their singular angle.

    The gap for a name is that of the value in the first ones, and of the angle [deg] in the others.
    """
    t, text = Gap("time"), GAPS["name"]
    left = [leaves_domain(domain, t, text) for domain in job.domains]
    return left, [comes_to_lock(gimbal, t, text) for gimbal in job.gimbals]


def _lost(job: Job, t: float) -> str:
    """The template for velocities named as independent that do not determine the others any more."""
    if isinstance(job.plant.loops, SingularPerturbation) and not names_independent(job.plant.loops):
        return failures.undecided_direction(job.plant, t)
    return f"At t = {t:.9g} s {failures.HARDLY_DETERMINED}"
