"""`static_gait`: a motion so slow that every posture is an equilibrium, with the torques and foot loads that hold it.

At every posture of a prescribed motion, loops are closed and feet stand where they are held. Torques of the motors and
multipliers of all constraints balance gravity and the forces of passive elements:

    S tau + J^T lambda = g(q) - forces of elements

Where torques and multipliers are not unique, as those of several feet that stand, the smallest ones are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.plant_derivatives import point_of
from kinemorph.errors import KinemorphError, ModelError, UnsupportedError
from kinemorph.mechanics.elements.ensemble import FORCE_UNITS
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.elements.phases.automaton import Automaton
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant as plant_of
from kinemorph.sheet import Facts, Field, Sheet, Table, Verdict, hidden, said
from kinemorph.shown import ShownGaits
from kinemorph.simulation.stepping.initial_state import closed_start
from kinemorph.words import counted, did_you_mean, quoted

BALANCED = 1e-7  # forces that are left, relative to the largest one, up to which a posture counts as balanced
SMALL = 0.1  # [rad or m], the largest change of a coordinate from one posture to the next; larger ones are divided
ACTIVE = (".control.", ".drives.", ".gaits.")  # folders of elements whose torques are looked for, not given


@dataclass(frozen=True, eq=False, repr=False)
class StaticGait(ShownGaits):
    """Postures in equilibrium along a motion. As a bool, True where all are balanced and no margin is negative.

    `motion`        by name, the coordinates that were prescribed, (n,) each
    `q` (n, nq)     all coordinates, by the names `plant.q`
    `torques`       by joint, the torque of its motor (n,) [N m or N]
    `loads`         by row of a held foot, "stance.z", the force on the foot (n,) [N], along the axes of its Hold
    `margins`       by name, numbers (n,) that are positive where a condition holds: "stance load" [N], "stance cone"
                    [N], "hip torque" [N m], "support" [m]
    `unbalanced`    (n,): the largest force that nothing balances [N m or N]
    `message`       the outcome as a sentence
    """

    plant: Plant
    motion: Mapping[str, Array]
    q: Array
    torques: Mapping[str, Array]
    loads: Mapping[str, Array]
    margins: Mapping[str, Array]
    unbalanced: Array
    holds: bool
    message: str

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        return f"<StaticGait of '{self.plant.name}': {counted(len(self.q), 'posture')}, holds: {self.holds}>"

    def sheet(self) -> Sheet:
        """Whether every posture holds, the largest torques and the smallest margins; `postures_table` lists them."""
        torques = [
            (
                Field(
                    "",
                    said("largest torque of {name}", name=name),
                    FORCE_UNITS[self.plant.v[_velocity(self.plant, name)].unit],
                    6,
                ),
                np.abs(values).max(),
            )
            for name, values in self.torques.items()
        ]
        least = {name: values.min() for name, values in self.margins.items()}
        margins = [(Field("", said("smallest margin: {name}", name=name), form=6), one) for name, one in least.items()]
        known = hidden(message=self.message, motion=self.motion, torques=self.torques, loads=self.loads, margins=least)
        parts = (Verdict(self.holds, self.message, "holds"), Facts([*torques, *margins]), known)
        return Sheet("Static gait of", self.plant.name, (*parts, hidden(unbalanced=self.unbalanced.max(initial=0.0))))

    def postures_table(self) -> Table:
        """The coordinates, torques and foot loads of every posture."""
        named = {**self.motion, **{f"torque of {name}": values for name, values in self.torques.items()}}
        named |= {f"force {name}": values for name, values in self.loads.items()}
        columns = [Field("", said("{name}", name=name), form=6) for name in named]
        return Table("", columns, [*zip(*named.values(), strict=True)], "Postures")


def static_gait(
    model: System,
    motion: Mapping[str, Sequence[float]],
    *,
    phase: str | None = None,
    motors: Sequence[str] | None = None,
    friction: float | None = None,
    limit: float | None = None,
    ground: float = 0.0,
) -> StaticGait:
    """The torques and foot loads that hold a robot in every posture of a prescribed motion.

        static_gait(library.bolt_like(), {"crank_joint": np.linspace(-0.6, 0.0, 50)}, friction=0.6, limit=25.0)

    `motion`        coordinates by name, each with a value for every posture; the other coordinates follow from loops
                    and from feet that stand, near those of the initial state and of the posture before
    `phase`         the phase of the automaton in which the robot stands, by default the first one with a `Hold`; the
                    points of its Holds are the feet that stand, at the height `ground` [m] and at x = y = 0 for the
                    first of them
    `motors`        joints of one axis whose motors hold the robot, by default those of `motion`
    `friction`      the coefficient of friction; with it there is a margin to the friction cone
    `limit`         the largest torque of a motor [N m or N]; with it there is a margin to it

    Controllers, actuators and motors of the model do not act: their torques are what is looked for.
    """
    n = _count(motion)
    system, number = _passive(model, phase)
    plant = plant_of(system)
    feet = [one for one in system.elements if isinstance(one, Hold) and _stands(system, one.name, number)]
    joints = tuple(motors) if motors is not None else tuple(name.removeprefix("q.") for name in motion)
    places = [_velocity(plant, joint) for joint in joints]
    for name in motion:
        plant.index("q", name.removeprefix("q."))
    found = _Standing(plant, system, feet, number, ground)
    rows = [found.posture({name: values[k] for name, values in motion.items()}, places) for k in range(n)]
    q, torques, forces, left, sizes = (np.array(part) for part in zip(*rows, strict=True))
    loads = {name: forces[:, plant.constraint_names.index(name)] for name in found.row_names}
    torque_of = {joint: torques[:, k] for k, joint in enumerate(joints)}
    margins = _margins(plant, system, feet, loads, torque_of, q, friction, limit)
    balanced = left <= BALANCED * np.maximum(sizes, 1.0)
    message = _message(plant, motion, balanced, left, margins, found, q)
    holds = bool(balanced.all()) and all(bool((values >= 0.0).all()) for values in margins.values())
    arrays = {name: np.asarray(values, dtype=float) for name, values in motion.items()}
    return StaticGait(plant, arrays, q, torque_of, loads, margins, left, holds, message)


class _Standing:
    """Postures of a robot whose feet stand, one after the other."""

    def __init__(self, plant: Plant, system: System, feet: Sequence[Hold], phase: int | None, ground: float) -> None:
        self.plant = plant
        memory: dict[str, float] = {} if phase is None else {"phase": float(phase)}
        self.point = point_of(plant, m=memory or None)
        self.row_names = [f"{foot.name}.{axis}" for foot in feet for axis in foot.axes]
        self.worst: list[str] = []  # by posture, the velocity along which the largest force is left
        if plant.laws.jumps is not None and plant.laws.jumps.enter is not None:
            m = np.array(plant.compiled("entering")(*self.point.inputs))  # feet stand as far apart as they do now
            names = [column.name for column in plant.m]
            for k, foot in enumerate(feet):
                for axis in "xyz":
                    place = f"{foot.name}.{axis}.held"
                    if place in names and (axis == "z" or k == 0):
                        m[names.index(place)] = ground if axis == "z" else 0.0
            self.point = replace(self.point, m=m)

    def posture(self, given: Mapping[str, float], motors: Sequence[int]) -> tuple[Array, Array, Array, float, float]:
        """(q, torques, multipliers of all rows, largest unbalanced force, largest force) at given coordinates."""
        plant, still = self.plant, np.zeros(self.plant.nv)
        q = self._closed({name.removeprefix("q."): float(value) for name, value in given.items()})
        self.point = here = replace(self.point, q=q, v=still)
        assert plant.dynamics is not None
        needed = plant.dynamics.inverse_dynamics(q, still, still)
        if plant.laws.efforts is not None:
            needed = needed - np.asarray(plant.compiled("efforts")(*here.inputs)[0])
        J = plant.compiled("constraints")(*here.inputs)[2] if plant.laws.constraints else np.zeros((0, plant.nv))
        A = np.hstack([np.eye(plant.nv)[:, list(motors)], J.T])
        solution = np.linalg.lstsq(A, needed, rcond=1e-10)[0]
        left = np.abs(A @ solution - needed)
        self.worst.append(plant.v[int(np.argmax(left))].name)
        sizes = [float(part.max(initial=0.0)) for part in (left, np.abs(needed))]
        return q, solution[: len(motors)], solution[len(motors) :], sizes[0], sizes[1]

    def _closed(self, wanted: Mapping[str, float]) -> Array:
        """The posture with these coordinates, on the way from the last one in small steps: loops stay on one branch."""
        plant, here, still = self.plant, self.point, np.zeros(self.plant.nv)
        places = [plant.index("q", name) for name in wanted]
        q, first = np.array(here.q), np.array(here.q[places])
        change = np.array([*wanted.values()]) - first
        count = max(1, int(np.ceil(np.abs(change).max(initial=0.0) / SMALL)))
        others = (here.x, here.m, here.u, here.p)
        for k in range(1, count + 1):
            q[places] = first + change * k / count
            named = dict(zip(wanted, q[places].tolist(), strict=True))
            try:
                q = np.array(closed_start(plant, here.t, (q, still, *others), (named, still, None)).q)
            except KinemorphError as error:
                at = ", ".join(f"{name} = {value:.6g}" for name, value in named.items())
                raise UnsupportedError(f"static_gait: '{plant.name}' has no posture at {at}: {error}") from None
        return q


def _count(motion: Mapping[str, Sequence[float]]) -> int:
    sizes = {name: np.shape(values) for name, values in motion.items()}
    if not motion or any(len(shape) != 1 for shape in sizes.values()) or len(set(sizes.values())) != 1:
        raise UnsupportedError(
            f"static_gait: the motion has columns of shape {sizes or 'none'}; expected lists of the same length, as "
            "{'crank_joint': [0.0, 0.1, 0.2]}."
        )
    return int(next(iter(sizes.values()))[0])


def _passive(model: System, phase: str | None) -> tuple[System, int | None]:
    """(the system without controllers, actuators and motors, and without edges; the number of the phase)."""
    if not isinstance(model, System):
        raise UnsupportedError("static_gait: expected a System, with a `Hold` for each foot that stands.")
    kept, automaton = passive_elements(model), model.automaton
    if automaton is None:
        return replace(model, elements=kept), None
    holds = {one.name for one in kept if isinstance(one, Hold)}
    standing = [one.name for one in automaton.phases if holds & set(one.elements)]
    known = [one.name for one in automaton.phases]
    if phase is not None and phase not in known:
        raise ModelError(
            f"static_gait: '{model.name}' has no phase '{phase}'.{did_you_mean(phase, known)} Known: {quoted(known)}."
        )
    chosen = phase or (standing or known)[0]
    acting = {one.name for one in kept}
    phases = tuple(
        replace(one, elements=tuple(name for name in one.elements if name in acting)) for one in automaton.phases
    )
    return replace(model, elements=kept, automaton=Automaton(phases, initial=chosen)), known.index(chosen)


def passive_elements(model: System, others: tuple[type, ...] = ()) -> tuple[Any, ...]:
    """The elements of a system without controllers, actuators and motors, and without those of the kinds `others`.

    What reads a signal of an element that is left out, such as the integral of a torque, is left out, too.
    """
    kept = [
        one
        for one in model.elements
        if not any(word in type(one).__module__ for word in ACTIVE) and not isinstance(one, others)
    ]
    while True:
        gone = {one.name for one in model.elements} - {one.name for one in kept}
        left = [one for one in kept if not any(text.partition(".")[0] in gone for text in law_of(one).reads(one))]
        if len(left) == len(kept):
            return tuple(kept)
        kept = left


def _stands(system: System, name: str, phase: int | None) -> bool:
    acts = None if system.automaton is None else system.automaton.acts_in(name)
    return acts is None or phase in acts


def _velocity(plant: Plant, joint: str) -> int:
    """The index of the velocity of a joint of one axis."""
    return plant.index("v", joint)


def _margins(
    plant: Plant,
    system: System,
    feet: Sequence[Hold],
    loads: Mapping[str, Array],
    torques: Mapping[str, Array],
    q: Array,
    friction: float | None,
    limit: float | None,
) -> dict[str, Array]:
    """Numbers (n,) that are positive where a condition holds, by name."""
    found: dict[str, Array] = {}
    if limit is not None:
        found |= {f"{joint} torque": limit - np.abs(values) for joint, values in torques.items()}
    for foot in feet:
        if "z" not in foot.axes or foot.along != "world":
            continue
        up = loads[f"{foot.name}.z"]
        found[f"{foot.name} load"] = up
        if friction is not None:
            along = [loads[f"{foot.name}.{axis}"] ** 2 for axis in foot.axes if axis != "z"]
            found[f"{foot.name} cone"] = friction * up - np.sqrt(np.sum(along, axis=0))
    if len(feet) > 1 and plant.dynamics is not None:
        com = np.array([plant.dynamics.center_of_mass(row) for row in q])[:, :2]
        points = [[_place(plant, foot, row) for foot in feet] for row in q]
        found["support"] = np.array(
            [support_margin(at, np.array(under)) for at, under in zip(com, points, strict=True)]
        )
    return found


def _place(plant: Plant, foot: Hold, q: Array) -> Array:
    """Where the point of a foot is on the ground, (x, y) [m]."""
    assert plant.dynamics is not None
    pose = np.asarray(plant.dynamics.pose(foot.body)(q))
    place: Array = (pose[:3, :3] @ np.asarray(foot.point, dtype=float) + pose[:3, 3])[:2]
    return place


def support_margin(com: Array, feet: Array) -> float:
    """The distance [m] of the center of mass from the edge of the polygon of the feet (k, 2); negative outside.

    Feet on one line count as the line: the margin is then the distance to its nearer end.
    """
    center = feet.mean(axis=0)
    sizes, axes = np.linalg.svd(feet - center)[1:]
    if len(sizes) < 2 or sizes[1] < 1e-9 * max(sizes[0], 1e-300):
        along = (feet - center) @ axes[0]
        at = float((com - center) @ axes[0])
        return float(min(at - along.min(), along.max() - at))
    from scipy.spatial import ConvexHull

    edges = ConvexHull(feet).equations  # outward normals and offsets
    return float(-(edges[:, :2] @ com + edges[:, 2]).max())


def _message(
    plant: Plant,
    motion: Mapping[str, Any],
    balanced: Any,
    left: Array,
    margins: Mapping[str, Array],
    found: _Standing,
    q: Array,
) -> str:
    name, count = plant.name, counted(len(q), "posture")
    if not balanced.all():
        k = int(np.argmax(left))
        at = ", ".join(f"{key} = {values[k]:.6g}" for key, values in motion.items())
        return (
            f"'{name}' is not in equilibrium at {int((~balanced).sum())} of {count}: at {at} a force of {left[k]:.3g} "
            f"is left at '{found.worst[k]}'. Name more motors, or let more feet stand."
        )
    broken = {key: values for key, values in margins.items() if (values < 0.0).any()}
    if broken:
        key = min(broken, key=lambda one: float(broken[one].min()))
        k = int(np.argmin(broken[key]))
        at = ", ".join(f"{one} = {values[k]:.6g}" for one, values in motion.items())
        return f"'{name}' does not hold all of {count}: the margin '{key}' is {broken[key][k]:.4g} at {at}."
    return f"'{name}' is in equilibrium at all of {count}."
