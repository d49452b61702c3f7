"""`varied_run`: the end of a motion through the edges of an automaton, with its derivatives.

For a walk it is the return map with its exact slope: a run that ends after n edges gives the state just after the last
one as a function of the initial state. All of it is one march, jumps included; see `saltation`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.saltation import edge_slopes
from kinemorph.analysis.small_motions.start_slopes import memory_given, start_of
from kinemorph.analysis.small_motions.variation import Variation
from kinemorph.analysis.small_motions.variational_plant import check_method, varied
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.integrators.methods import DEFAULT
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.running.patience import Patience
from kinemorph.simulation.running.switches import Switches, log_format
from kinemorph.simulation.stepping.failures import explained
from kinemorph.simulation.stepping.step_options import check_positive, step_options
from kinemorph.simulation.stepping.stepper import Stepper

ROWS = 2  # samples in one call: only the end of the motion is wanted


@dataclass(frozen=True, eq=False)
class VariedRun:
    """The end of a motion and its derivatives by k quantities. Made by `varied_run`.

    `t`                 the time of the end [s]: `until`, or that of the last edge
    `q`, `v`, `x`, `m`  the state there, just after the last edge if an edge ended the motion
    `slopes` (ns, k)    derivatives of the state [w, v, x] at the end; w are displacements of the configuration, one
                        entry per velocity. If an edge ended the motion, they are those of the state just after the
                        edge, whose time changes too
    `memory_slopes`     (nm, k): derivatives of the memory m at the end; 0 for the phase
    `edges`             the names of the n edges that were taken
    `times` (n,)        their times [s]
    `time_slopes`       (n, k): derivatives of their times
    `names`             of the k quantities
    `message`           why there are no derivatives, which are then nan, or why the run failed; empty where all is well
    """

    t: float
    q: Array
    v: Array
    x: Array
    m: Array
    slopes: Array
    memory_slopes: Array
    edges: tuple[str, ...]
    times: Array
    time_slopes: Array
    names: tuple[str, ...]
    message: str = ""


def varied_run(
    plant: Plant,
    until: float,
    parameters: Sequence[str] = (),
    *,
    initial: str | Sequence[str] = (),
    slopes: Array | None = None,
    most_events: int | None = None,
    q: Any = None,
    v: Any = None,
    x: Any = None,
    u: Any = None,
    p: Any = None,
    m: Any = None,
    method: str | Method = DEFAULT,
    step: float | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-11,
    start: float = 0.0,
) -> VariedRun:
    """The end of the motion of a plant, at the time `until` [s] or after `most_events` edges, with its derivatives.

    The quantities are `parameters` that the plant keeps as inputs, or its inputs ("u.elbow"), then named `initial`
    values as in `sensitivities`. In place of `initial`, `slopes` (ns, k) may give the derivatives of the initial state
    s = [w, v, x] itself, with a column for each parameter and then one for each further quantity; they have to satisfy
    the differentiated constraints. The other arguments are those of `simulate`; compiled code is cached with the plant.
    """
    check_method(method)
    first = start_of(plant, q=q, v=v, x=x, u=u, p=p, m=m, t=start)
    if slopes is None:
        names = first.names(initial)
        S = first.slopes(parameters, names)
    else:
        S = np.asarray(slopes, dtype=float).T
        names = tuple(f"initial {k}" for k in range(len(S) - len(parameters)))
        if S.ndim != 2 or S.shape[1] != plant.ns or len(S) < len(parameters):
            raise ShapeError(
                f"slopes has shape {np.shape(slopes)}; expected ({plant.ns}, k) with a column for each of the "
                f"{len(parameters)} parameters, then one for each further quantity."
            )
    if not len(S):
        raise UnsupportedError("varied_run: no quantity is named. Name at least one in `parameters` or `initial`.")
    whole = Variation(plant, tuple(parameters), len(names))
    wide = varied_plant(whole)
    point = first.point
    stepper = Stepper.made(wide, step_options(wide, method, step, rtol, atol, math.inf), rows=ROWS)
    check_positive(most_events=most_events)
    if most_events is not None:
        stepper.most_jumps = most_events
    further = np.concatenate([point.x, S.ravel()])
    q, v = (point.q, point.v) if plant.nv else (None, None)
    stepper.begin(start, q, v, further, u=point.u, p=point.p, m=memory_given(first, whole))
    events, message, by_edge = _marched(stepper, float(until))
    return _ended(whole, stepper, events, message, by_edge, (*parameters, *names))


def varied_plant(whole: Variation) -> Plant:
    """The larger plant of `varied`; it is cached with the plant."""
    key = ("varied", whole.names, whole.initial)
    if key not in whole.plant.kept:
        whole.plant.kept[key] = varied(whole.plant, whole.names, whole.initial)
    found: Plant = whole.plant.kept[key]
    return found


def _marched(stepper: Stepper, until: float) -> tuple[list[Event], str, bool]:
    """Advances a stepper to the time `until` [s].

    Returns the edges that were taken, a message where the march fails, and whether an edge ended it.
    """
    events: list[Event] = []
    patience, switches = Patience(stepper, stepper.t, until), Switches()
    form = log_format(stepper.watch) if stepper.watch else None
    while stepper.t < until:
        marched = stepper.through(np.array([until]), until)
        for event in () if marched.jumps is None or form is None else map(form.event, marched.jumps):
            events.append(event)
            endless = switches.endless(event.t, event.name)
            if endless is not None:
                return events, endless, False
        if marched.status in (Status.ENOUGH, Status.STOPPED):
            return events, "", True
        if marched.status is Status.TICK:
            stepper.tick()
        elif marched.status not in (Status.GOING, Status.BUDGET, Status.LOGGED):
            return events, explained(stepper, marched.status), False
        reason = patience.look()
        if reason is not None:
            return events, reason, False
    return events, "", False


def _ended(
    whole: Variation, stepper: Stepper, events: Sequence[Event], message: str, by_edge: bool, names: tuple[str, ...]
) -> VariedRun:
    """The results of a run that has ended at the state of `stepper`."""
    plant, k = whole.plant, whole.count
    t, q, v, both = stepper.state
    x, m = both[: plant.nx], stepper.m[len(stepper.m) - len(plant.m) :]
    slopes = both[plant.nx :].reshape(k, plant.ns).T.copy()
    memory_slopes = np.zeros((len(plant.m), k))
    memory_slopes[list(whole.sloped)] = whole.by_quantity(stepper.m)[:, : len(whole.sloped)].T
    time_slopes, ended = edge_slopes(whole, events)
    if by_edge:
        s = np.concatenate([np.zeros(plant.nv), v, x])
        slopes += np.outer(plant.compiled("rate")(t, q, s, m, stepper.u, stepper.p), time_slopes[-1])
    if message or ended:
        slopes[:], memory_slopes[:] = np.nan, np.nan
    edges, times = tuple(event.name for event in events), np.array([event.t for event in events])
    ends = (t, q, v, x, m, slopes, memory_slopes, edges, times, time_slopes, names)
    return VariedRun(*ends, message=message or ended)
