"""The variables of an FMU, in the order of their value references.

    0                     the time
    1 + k                 column k of the model: q, v, x, m, u, p
    then                  the rates of q, v and x; further outputs; event indicators

q, v and x are outputs whose initial values may be set; u are inputs; p are parameters, which may be tuned. Memory of
elements (m), rates, generalized forces and event indicators can be read only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinemorph.plants.initial_values import ACCOUNT
from kinemorph.plants.programs import Plant
from kinemorph.programs.fmi.observed import observed_columns
from kinemorph.programs.job import Job
from kinemorph.programs.job_tables import bare
from kinemorph.simulation.results.columns import per_second

# characters that no XML 1.0 document may contain, and those that its readers change in attributes
ILLEGAL = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
STRUCTURED = re.compile(r"(der\()?[A-Za-z_]\w*(\[\d+\])?(\.[A-Za-z_]\w*(\[\d+\])?)*(?(1)\))", re.ASCII)


class Variable(NamedTuple):
    """A variable: its value reference, its name, and what an importing tool may do with it, in the words of FMI."""

    reference: int
    name: str
    unit: str
    causality: str
    variability: str
    initial: str = ""  # "exact", "approx" or "calculated"; empty for the time and for inputs
    start: float | None = None
    rate_of: int | None = None  # the value reference of the state whose rate it is
    description: str = ""

    @property
    def is_state(self) -> bool:
        """Whether it is a continuous state."""
        return self.description in STATES

    @property
    def is_for_exchange(self) -> bool:
        """Whether it belongs to model exchange alone: the rate of a state, or an event indicator."""
        return self.rate_of is not None or self.description == INDICATOR

    @property
    def is_unknown_at_first(self) -> bool:
        """Whether initialization computes it, so that the model structure has to list it."""
        told = self.causality == "output" or self.is_state or self.rate_of is not None
        return told and self.initial in ("approx", "calculated")


TEXTS = {
    "q": "configuration coordinate",
    "v": "velocity",
    "x": "continuous state",
    "m": "memory of an element",
    "u": "input",
    "p": "parameter",
}
OBSERVED = ("output", "generalized force")
INDICATOR = "event indicator"
STATES = [TEXTS[group] for group in "qvx"]


def clean(text: str) -> str:
    """A text of a model without characters that XML cannot contain; each becomes a space."""
    return ILLEGAL.sub(" ", bare(text))


def variables(job: Job) -> list[Variable]:
    """All variables of the FMU of a job; their names differ from each other."""
    made, taken = [], set[str]()
    for one in _variables(job):
        name, number = one.name, 2
        while name in taken:
            name, number = f"{one.name}_{number}", number + 1
        taken.add(name)
        made.append(one._replace(name=name))
    return made


def is_structured(made: Sequence[Variable]) -> bool:
    """Whether all names are hierarchical names by the rules of FMI, such as q.arm.elbow and der(q.arm.elbow)."""
    return all(STRUCTURED.fullmatch(one.name) for one in made)


def _variables(job: Job) -> Iterator[Variable]:
    yield Variable(0, "time", "s", "independent", "continuous", description="time")
    columns = [*_columns(job)]
    yield from columns
    states = [one for one in columns if one.is_state]
    reference = 1 + len(columns)
    for k, state in enumerate(states):
        rate = Variable(
            reference + k, f"der({state.name})", per_second(state.unit), "local", "continuous", "calculated"
        )
        yield rate._replace(rate_of=state.reference, description="rate of a continuous state")
    reference += len(states)
    for k, column in enumerate(observed_columns(job.plant)):
        force = column.name.startswith("tau.")
        kind, text = ("local", OBSERVED[1]) if force else ("output", OBSERVED[0])
        one = Variable(reference + k, clean(column.name), clean(column.unit), kind, "continuous", "calculated")
        yield one._replace(description=text)
    reference += len(observed_columns(job.plant))
    for k in range(job.guards.count if job.guards else 0):
        one = Variable(reference + k, f"indicator[{k + 1}]", "", "local", "continuous", "calculated")
        yield one._replace(description=INDICATOR)


def _columns(job: Job) -> Iterator[Variable]:
    """The variables of the columns of a model."""
    first = job.first
    starts = {"q": first.state.q, "v": first.state.v, "x": first.state.x, "m": None, "u": first.u, "p": first.p}
    reference = 1
    for group, start in starts.items():
        for k, column in enumerate(job.columns(group)):
            one = Variable(
                reference, clean(f"{group}.{column.name}"), clean(column.unit), *_kind(job.plant, group, column.name)
            )
            yield one._replace(start=None if start is None else float(start[k]), description=TEXTS[group])
            reference += 1


def _kind(plant: Plant, group: str, name: str) -> tuple[str, str, str]:
    """Causality, variability and the kind of the initial value of a column.

    Initial values of coordinates and velocities are a first guess where there are constraints, or quaternions.
    """
    if group in "qv":
        guessed = plant.constraint_names or plant.nq != plant.nv
        return "output", "continuous", "approx" if guessed else "exact"
    if group == "x":
        return "local" if name in ACCOUNT else "output", "continuous", "exact"
    return {
        "m": ("local", "discrete", "calculated"),
        "u": ("input", "continuous", ""),
        "p": ("parameter", "tunable", "exact"),
    }[group]
