"""Planned runs: a system and a RunPlan, carried out in the same way by the command line, the studio and Python.

`simulate` computes exactly what it is given. A planned run adds what a user of a model file expects: joints stop at
their limits, their friction acts, the collision shapes of URDF, SDF and MJCF files touch the ground, a robot without an
initial state starts where it does not stay at rest, and one that falls freely is simulated for one second only.
Therefore it is a function of its own and not an option of `simulate`.
All numbers of a run follow from the system and the plan, so that runs of the same plan agree bitwise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinemorph.errors import ModelError, PlanWarning, users_level
from kinemorph.frozen import kept_in
from kinemorph.mechanics.constraints.stances import closed_stance
from kinemorph.mechanics.elements.contact.touching_points import touched_along
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.contacts_from_shapes import contacts, has_own_ground
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.elements.contact.unstopped import touched_grounds
from kinemorph.model.elements.forces.joint_forces import with_joint_forces
from kinemorph.model.meshes import file_state
from kinemorph.model.modules.docked_sides import module_name
from kinemorph.model.robot import Robot
from kinemorph.model.run_plans import RunPlan, RunPlans
from kinemorph.model.shapes import MeshFile
from kinemorph.model.system import Settings, System
from kinemorph.model.topology import WORLD
from kinemorph.plants.robot_plant import shared_plant
from kinemorph.simulation.docking.changes import ANGLE, DISTANCE, Change, Dock, Undock
from kinemorph.simulation.prepared import prepared
from kinemorph.simulation.results.body_poses import frame_matrices
from kinemorph.simulation.results.stops import begun_beyond
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.running.execution import Progress
from kinemorph.simulation.running.phase_times import PhaseTimes
from kinemorph.simulation.simulate import simulate
from kinemorph.words import listed

FREE_TIME = 1.0  # [s], default duration of a run in which the robot falls freely
LISTED = 6  # coordinates of an initial state that a note lists

BEGINNING = ("q", "v")  # options of a note about the initial state
IN_PYTHON = {"ground": "ground = true", "no-ground": "ground = false"}  # keys of a run for flags of the command line


class Note(NamedTuple):
    """Something that the user of a run did not choose: what it is, and what other `options` of the run do."""

    what: str  # a sentence without its subject, the robot: "starts at rest at q1 = 0.6"
    options: tuple[str, ...]
    effect: str  # "choose another initial state"

    def told(self, mark: str = "") -> str:
        """The note as text; `mark` is written before every option: "--" on the command line."""
        named = [mark + name if mark else IN_PYTHON.get(name, name) for name in self.options]
        return f"{self.what}; {' and '.join(named)} {self.effect}"


class PreparedRun(NamedTuple):
    """A planned run that is ready to be carried out.

    `system` has the elements for joint limits, friction and contacts that were added. `arguments` are those of
    `simulate`. `notes` tell what was chosen for the user.
    """

    system: System
    until: float
    arguments: dict[str, Any]
    notes: tuple[Note, ...]

    @property
    def arguments_without_start(self) -> dict[str, Any]:
        """The arguments, with the values of a start in place of its name."""
        given = dict(self.arguments)
        if not given.pop("start", ""):
            return self.arguments
        first = dict(prepared(self.system, self.until, shared_plant(self.system), **self.arguments).first)
        return {**given, "inputs": first.pop("u"), **first}

    def run(self, **options: Any) -> Trajectory:
        """Computes the run; `options` are further arguments of `simulate`, such as progress and save."""
        return simulate(self.system, self.until, **self.arguments, **options)


def run_planned(
    system: System | Robot,
    plan: RunPlan | Mapping[str, Any] | str | None = None,
    *,
    start: Trajectory | None = None,
    progress: Progress | None = None,
    save: str | Path | None = None,
    callback: Callable[..., Any] | None = None,
    every: float | None = None,
    watch: Callable[[Trajectory], Any] | None = None,
) -> Trajectory:
    """Carries out a run plan: one of the system's `runs` by its name, a RunPlan or its fields, or by default the run of
    `kinemorph simulate` without options.

        system = load("organism.toml")
        run = run_planned(system, "crawl")              also as system.run("crawl")
        run = run_planned(system, {"time": 2.0})        also as system.run({"time": 2.0})
        more = run_planned(system, {"time": 2.0}, start=run)    another 2 s, with the same contacts, stops and friction

    `progress`, `save`, `callback`, `every` and `watch` are those of `simulate`. A PlanWarning says what the user
    did not choose, such as the initial state. Raises ModelError for an unknown name.
    """
    phases = PhaseTimes()
    prepared = prepared_run(system, plan, start)
    for note in prepared.notes:
        warnings.warn(f"{prepared.system.name} {note.told()}", PlanWarning, stacklevel=users_level())
    with phases.within("outside"):  # a clock of its own counts there
        run = prepared.run(progress=progress, save=save, callback=callback, every=every, watch=watch)
    beyond = "" if start else begun_beyond(run.segments[0].plant, run.segments[0].q[0])
    if beyond:
        told = f"{prepared.system.name}: {beyond}. Begin within the limits: give q, or a `start` of the model."
        warnings.warn(told, PlanWarning, stacklevel=users_level())
    return replace(run, statistics=phases.added_to(run.statistics))


def prepared_run(
    system: System | Robot, plan: RunPlan | Mapping[str, Any] | str | None = None, start: Trajectory | None = None
) -> PreparedRun:
    """A planned run with all that it needs: the elements that are added, the initial state, the time and the events.

    It continues the run `start`, if there is one.
    """
    whole = system if isinstance(system, System) else System(system)
    chosen = plan_of(whole, plan)
    acting, made, (*notes,) = _equipped(system, chosen)
    begins = acting.start(chosen.start) if chosen.start else None
    until = chosen.time
    if until is None:
        until = acting.settings.time
        if acting.robot.is_free and not made and until == Settings().time:
            until = FREE_TIME
            falls = f"is fixed to nothing and falls, so it is simulated for {until:g} s only"
            notes.append(Note(falls, ("time",), "chooses another time"))
    if begins is not None:
        until += begins.t
    if start is not None:
        if begins is not None:
            raise ModelError(
                f"the plan begins at '{chosen.start}', and a run to continue is given. Leave one of them out."
            )
        until += float(start.t[-1])
        notes = [note for note in notes if note.options != BEGINNING]
    arguments: dict[str, Any] = {group: chosen.numbers(group) for group in ("q", "v", "x", "inputs")}
    arguments |= {"locked": chosen.locked, "events": planned_events(chosen), **chosen.options}
    arguments |= {} if start is None else {"start": start}
    return PreparedRun(acting, until, arguments, tuple(notes))


class _Equipped(NamedTuple):
    """A system with all that a plan adds to it, the contacts among this, and notes for its user."""

    system: System
    made: tuple[Contact, ...]
    notes: tuple[Note, ...]


def _equipped(model: System | Robot, plan: RunPlan) -> _Equipped:
    """The system of a model with what a plan adds. It is kept with the model: hulls of meshes, contacts and the plant
    are made for its first run only, and again where a mesh file has changed.
    """
    placed = bool(plan.start or plan.q or plan.v)
    meshes = kept_in(model, "mesh files", lambda: _mesh_files(model.robot if isinstance(model, System) else model))
    choice = (plan.limits, plan.friction, plan.contacts, plan.ground, placed, tuple(map(file_state, meshes)))
    kept: dict[Any, _Equipped] = kept_in(model, "systems of runs", dict)
    if choice not in kept:
        whole = on_ground(model if isinstance(model, System) else System(model), plan)
        acting = with_joint_forces(whole, limits=plan.limits, friction=plan.friction)
        made = missing_contacts(whole) if plan.contacts else ()
        acting = replace(acting, elements=(*acting.elements, *made)) if made else acting
        notes = _ground_notes(whole, made, plan)
        if not placed:
            acting, note = begun(acting, None, None)
            notes += [] if note is None else [note]
        kept[choice] = _Equipped(acting, made, tuple(notes))
    return kept[choice]


def _mesh_files(robot: Robot) -> list[MeshFile]:
    """The mesh files that bodies touch with."""
    return [shape for body in robot.bodies for shape in body.collisions if isinstance(shape, MeshFile)]


def on_ground(system: System, plan: RunPlan) -> System:
    """The system with the ground that a plan asks for."""
    return system if plan.ground is None else replace(system, settings=replace(system.settings, ground=plan.ground))


def _ground_notes(system: System, made: Sequence[Contact], plan: RunPlan) -> list[Note]:
    """A note where contacts are `made` with z = 0 by default, or none as there is no ground; `plan` may ask for it."""
    robot, asked = system.robot, system.settings.ground
    has_own = has_own_ground(robot) or bool(touched_grounds(system.elements))
    if has_own and asked is not None:
        return [Note("has a ground of its own", ("ground" if asked else "no-ground",), "has no effect")]
    if asked and not made:
        return [Note("has no contacts of collision shapes in this run", ("ground",), "has no effect")]
    if made and asked is None and not has_own:
        what = "touches the ground z = 0, which its model does not have"
        return [Note(what, ("no-ground",), "leaves it out")]
    if plan.contacts and asked is False and plan.ground is None and not system.source:  # else see `inactive_data`
        return [Note("finds no ground, because its file has none", ("ground",), "adds the plane z = 0")]
    return []


def missing_contacts(system: System) -> tuple[Contact, ...]:
    """The contacts of the collision shapes of a model that has no contacts of its own."""
    return () if touched_grounds(system.elements) else contacts(system)


def plan_of(system: System, plan: RunPlan | Mapping[str, Any] | str | None) -> RunPlan:
    """The plan that is meant by a plan, by its fields, by the name of one of the system's runs, or by None, the default
    plan.
    """
    if plan is None:
        return RunPlan()
    if isinstance(plan, str):
        return RunPlans(system.runs).called(plan)
    if isinstance(plan, Mapping):
        return RunPlans({"given": plan}).called("given")
    if not isinstance(plan, RunPlan):
        raise ModelError(
            f"{plan!r:.60} is given as a run, expected the name of a run in the model file, or options such as "
            '{"time": 2.0}.'
        )
    return plan


def changed_plan(plan: RunPlan, **given: Any) -> RunPlan:
    """A plan with some fields replaced; a given step takes the place of tolerances, and tolerances that of a step."""
    if given.get("step") is not None:
        given = {"rtol": None, "atol": None, **given}
    elif given.get("rtol") is not None or given.get("atol") is not None:
        given = {"step": None, **given}
    return replace(plan, **given)


def planned_events(plan: RunPlan) -> list[Change]:
    """The dockings and undockings of a plan as events of `simulate`."""
    docks: list[Change] = [
        Dock(
            module_name(row.a), row.side_a, module_name(row.b), row.side_b, row.at, row.turn,
            DISTANCE if row.distance is None else row.distance, ANGLE if row.angle is None else row.angle,
        )
        for row in plan.dock
    ]  # fmt: skip
    return [*docks, *(Undock(module_name(row.module), row.side, row.at) for row in plan.undock)]


def begun(system: System, q: Any, v: Any) -> tuple[System, Note | None]:
    """The system with an initial configuration. Where neither the user nor the system gives an initial state, one is
    chosen in which the robot does not stay at rest, and the note names it.
    """
    robot = system.robot
    if q is not None or v is not None or system.settings.q or system.settings.v:
        return system, None
    stance = [float(value) for value in closed_stance(robot)[0]]
    pose = put_down(system, stance)
    raised = max((high - low for high, low in zip(pose, stance, strict=True)), default=0.0)
    lifted = f"is raised by {raised:.3g} m onto the ground z = 0 and " if raised else ""
    moved = [
        f"{name} = {value:g}" for name, value in zip(robot.q_names, pose, strict=True) if value and name[-2:] != "qw"
    ]
    where = listed(moved, LISTED) if moved else "the neutral configuration"
    settings = replace(system.settings, q=tuple(pose), stated_q=())
    note = Note(f"{lifted}starts at rest at {where}", BEGINNING, "choose another initial state")
    return replace(system, settings=settings), note


def put_down(system: System, q: list[float]) -> list[float]:
    """A configuration (nq,) in which free robots that begin in the ground z = 0 are raised onto it."""
    robot, raised = system.robot, list(q)
    level = [one for one in system.elements if isinstance(one, Contact) and one.ground == Plane()]
    for joint in robot.joints if level else ():
        if joint.kind != "free" or joint.parent != WORLD:
            continue
        deepest = 0.0
        for contact in level:
            if joint.child in robot.path_to_root(robot.frame(contact.body).body):
                (pose,) = frame_matrices(robot, np.array([q]), [contact.body]).swapaxes(0, 1)
                deepest = max(deepest, *(-float(course.heights[0]) for course in touched_along(contact, pose)))
        raised[robot.q_slice(joint.name).start + 2] += deepest
    return raised
