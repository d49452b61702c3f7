"""`sensitivities`: exact derivatives of a motion with respect to parameters, inputs and the initial state.

The derivatives are integrated together with the motion, as further states of the plant (`variational_plant`), by any
integration method and under the same error control; they jump at the edges of an automaton (`saltation`). How the
initial state changes is in `start_slopes`, the end of a motion alone in `varied_run`. Derivatives of poles are in
`pole_sensitivities`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.linearize import Model
from kinemorph.analysis.small_motions.saltation import edge_slopes, of_contacts
from kinemorph.analysis.small_motions.start_slopes import memory_given, start_of
from kinemorph.analysis.small_motions.variation import Variation
from kinemorph.analysis.small_motions.variational_plant import check_method, varied
from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.plants.user_laws import Law
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.integrators.methods import DEFAULT
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate
from kinemorph.words import did_you_mean, quoted


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Derivatives of a motion at n times with respect to k quantities, such as parameters. Made by `sensitivities`.

    `trajectory`      the motion, at the times `t` (n,)
    `q` (n, nv, k)    derivatives of the configuration, with one entry per velocity: for a joint with one axis the
                      derivative of its coordinate, for a quaternion that of a small rotation in body axes [rad]
    `v` (n, nv, k)    derivatives of the velocities
    `x` (n, nx, k)    derivatives of the further states
    `names`, `units`  of the k quantities
    `edge_times`      (edges, k): derivatives of the times of the edges that were taken, in the order of their events
    `note`            why there are no derivatives after an edge, where they are nan; empty where there are

    At an edge there are two samples, one just before it and one just after it.

    With `found = sensitivities(...)`, `found["q.elbow", "l1"]` is the derivative of the elbow's coordinate with respect
    to the parameter l1, shape (n,), and `found.unit("q.elbow", "l1")` is its unit.
    """

    trajectory: Trajectory
    t: Array
    q: Array
    v: Array
    x: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    edge_times: Array = field(default_factory=lambda: np.zeros((0, 0)))
    note: str = ""

    def __getitem__(self, key: tuple[str, str]) -> Array:
        column, name = self._columns, self._place(key[1])
        if key[0] not in column:
            raise ShapeError(
                f"sensitivities have no column '{key[0]}'.{did_you_mean(key[0], column)} Known: {quoted(column)}."
            )
        group, k, _ = column[key[0]]
        found: Array = getattr(self, group)[:, k, name]
        return found

    def unit(self, column: str, name: str) -> str:
        """The unit of the derivative of a column with respect to a quantity, as "rad/m" or "(rad/s)/(N m)"."""
        self[column, name]
        above, below = self._columns[column][2], self.units[self._place(name)]
        return f"{_grouped(above)}/{_grouped(below)}" if below else above

    @property
    def _columns(self) -> dict[str, tuple[str, int, str]]:
        plant = self.trajectory.segments[0].plant
        found = {f"q.{c.name}": ("q", k, c.unit.removesuffix("/s")) for k, c in enumerate(plant.v)}
        found |= {f"v.{c.name}": ("v", k, c.unit) for k, c in enumerate(plant.v)}
        return found | {c.name: ("x", k, c.unit) for k, c in enumerate(plant.x)}

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ShapeError(
                f"sensitivities with respect to '{name}' were not computed.{did_you_mean(name, self.names)} "
                f"Known: {quoted(self.names)}."
            )
        return self.names.index(name)


def _grouped(unit: str) -> str:
    return f"({unit})" if "/" in unit or " " in unit else unit or "1"


def sensitivities(
    model: Model,
    until: float,
    parameters: str | Sequence[str] = (),
    *,
    initial: str | Sequence[str] = (),
    q: Any = None,
    v: Any = None,
    x: Any = None,
    u: Any = None,
    p: Any = None,
    m: Any = None,
    forces: Law | None = None,
    locked: str | Sequence[str] = (),
    most_events: int | None = None,
    method: str | Method = DEFAULT,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    output_step: float | Sequence[float] | None = None,
    start: float = 0.0,
) -> Sensitivities:
    """A motion from time `start` to `until` [s] and its derivatives with respect to the named quantities.

    `parameters`    names of the robot's parameters ("all" for every one), and "u.elbow" for a constant input
    `initial`       names of initial values: "q.NAME" and "v.NAME" with the name of a velocity, such as "q.elbow" (for a
                    joint with several axes, a displacement along that axis); a further state by its own name; or "all"

    The other arguments are those of `simulate`. Tolerances apply to the derivatives, too; without a step they are 1e-9
    and 1e-11.

    Where there are constraints, the initial state satisfies them after a change too: values named in `q`, `v` or
    `initial` are kept, the others follow by the smallest change, and "all" chooses independent values. Points that are
    held where they are at the start move with the state, unless `m` gives their place. Without constraints, the initial
    state does not change with the parameters.

    The derivatives continue through the edges of an automaton and the events of rigid contacts: they jump there, and
    `edge_times` are the derivatives of the times of these events. `most_events` ends the motion after so many of them.
    Where an event has no derivatives, because its guard only touches zero or because another one is met at the same
    time, derivatives are nan from there on, and `note` gives the reason.
    """
    check_method(method)
    plant, names = with_parameters(model, parameters, forces, locked)
    begun = start_of(plant, q=q, v=v, x=x, u=u, p=p, m=m, t=start)
    first = begun.names(initial)
    if not names and not first:
        raise UnsupportedError("sensitivities: no quantity is named. Name at least one in `parameters` or `initial`.")
    whole = Variation(plant, names, len(first))
    run = simulate(
        varied(plant, names, len(first)),
        until,
        q=begun.point.q if plant.nv else None,
        v=begun.point.v if plant.nv else None,
        x=np.concatenate([begun.point.x, begun.slopes(names, first).ravel()]),
        p=p,
        m=memory_given(begun, whole),
        inputs=begun.point.u if plant.nu else None,
        most_events=most_events,
        method=method,
        step=step,
        rtol=1e-9 if rtol is None and step is None else rtol,
        atol=1e-11 if atol is None and step is None else atol,
        output_step=output_step,
        start=start,
    )
    return unpacked(plant, run, names, first)


def with_parameters(
    model: Model, wanted: str | Sequence[str], forces: Law | None, locked: str | Sequence[str]
) -> tuple[Plant, tuple[str, ...]]:
    """(the plant of a model with the named parameters p as inputs, the names of all wanted quantities).

    If `wanted` is "all", these are the names of all parameters.
    """
    if isinstance(model, Plant):
        known = [column.name for column in model.p]
        names = tuple(known) if wanted == "all" else (wanted,) if isinstance(wanted, str) else tuple(wanted)
        for name in (name for name in names if not name.startswith("u.") and name not in known):
            raise ModelError(
                f"parameter '{name}': plant '{model.name}' was made with the parameters {quoted(known)}."
                f"{did_you_mean(name, known)} Name '{name}' in `parameters` where you make the plant."
            )
        plant = as_plant(model, forces=forces, locked=locked)
    else:
        names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        own = [name for name in names if not name.startswith("u.")]
        plant = as_plant(model, forces=forces, locked=locked, parameters="all" if wanted == "all" else own or None)
        names = tuple(column.name for column in plant.p) if wanted == "all" else names
    for name in names:
        if name.startswith("u."):
            plant.index("u", name[2:])
        if names.count(name) > 1:
            raise ModelError(f"sensitivities: '{name}' is named {names.count(name)} times. Name it once.")
    return plant, names


def unpacked(plant: Plant, run: Trajectory, names: Sequence[str], initial: Sequence[str] = ()) -> Sensitivities:
    """The motion and its derivatives, from a run of the larger plant that integrates both.

    The derivatives are those by parameters and inputs, `names`, and by `initial` values.
    """
    nv, nx, ns, whole = plant.nv, plant.nx, plant.ns, Variation(plant, tuple(names), len(initial))
    own = slice(len(whole.memory_columns), None)
    segments = tuple(replace(part, plant=plant, x=part.x[:, :nx], m=part.m[:, own]) for part in run.segments)
    wide = np.concatenate([part.x for part in run.segments])[:, nx:]
    S = wide.reshape(len(wide), whole.count, ns).transpose(0, 2, 1)
    contacts = of_contacts(plant)
    edges = [event for event in run.events if event.kind in ("edge", "stop") or event.name in contacts]
    edges = edges if whole.hybrid else []
    edge_times, note = edge_slopes(whole, edges)
    if note:  # a segment begins at each edge, with a second sample at the same time
        last = edges[int(np.isfinite(edge_times).all(axis=1).sum())].t
        begins = np.concatenate([np.arange(len(part.t)) == 0 for part in segments])
        t = np.concatenate([part.t for part in segments])
        S[(t > last) | ((t == last) & begins)] = np.nan
    units = named_units(plant)
    labels = (*names, *initial)
    return Sensitivities(
        replace(run, segments=segments, events=tuple(_of_motion(event, nx, own) for event in run.events)),
        np.concatenate([part.t for part in segments]),
        S[:, :nv],
        S[:, nv : 2 * nv],
        S[:, 2 * nv :],
        labels,
        tuple(units[name] for name in labels),
        edge_times,
        note,
    )


def _of_motion(event: Event, nx: int, own: slice) -> Event:
    """An event of the larger plant as one of the motion alone: its first nx states, and its `own` memory."""
    before, after = (
        {**state, "x": state["x"][:nx], "m": state["m"][own]} if "m" in state else state
        for state in (event.before, event.after)
    )
    return replace(event, before=before, after=after)


def named_units(plant: Plant) -> Mapping[str, str]:
    """The units of coordinates "q.", velocities "v.", inputs "u.", extra states and parameters, by name."""
    units = {f"q.{c.name}": c.unit.removesuffix("/s") for c in plant.v}
    units |= {f"v.{c.name}": c.unit for c in plant.v} | {f"u.{c.name}": c.unit for c in plant.u}
    units |= {c.name: c.unit for c in plant.x} | {c.name: c.unit for c in plant.p}
    robot = plant.robot
    if isinstance(robot, Robot):
        units |= {parameter.name: parameter.unit for parameter in robot.parameters}
    return units
