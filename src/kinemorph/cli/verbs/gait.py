"""The verb `gait`: `gait ROBOT` makes a robot follow a gait, `gait maps` counts the clusters of coupled maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from kinemorph.cli.application import Json, option, put, reported_warnings, say, verb, working
from kinemorph.cli.options import option_values
from kinemorph.cli.options.gait_options import MAP, OWN, ClusterOptions, GaitOptions, Kind, given
from kinemorph.cli.options.model_argument import ROBOT_HELP, ReadingOptions, chosen
from kinemorph.cli.options.option_values import Values
from kinemorph.cli.options.plot_options import PlotOptions
from kinemorph.cli.options.run_options import RunOptions, progress_bar, report_run
from kinemorph.cli.options.scene_options import SceneOptions
from kinemorph.cli.options.state_options import StateOptions
from kinemorph.cli.output_files import wrote
from kinemorph.errors import KinemorphError
from kinemorph.model.system import System
from kinemorph.sheet import hidden
from kinemorph.words import did_you_mean, listed

TIME = 10.0  # [s], default of --time
STIFF = 3000.0  # [1/s], settling rate above which the steps of an explicit method would be too short
STIFF_METHOD = {"method": "rodas", "rtol": 1e-6}
ADDED = ("gait", "gait_pd")  # names of the two elements that this verb adds: the gait and its controller


@verb
def gait(
    robot: Annotated[str, typer.Argument(metavar="ROBOT|maps", help=f"'maps', or: {ROBOT_HELP}", show_default=False)],
    time: Annotated[float | None, option("Simulated time in seconds.", default="10")] = None,
    ground: Annotated[
        bool | None,
        option(
            "Put docked modules on the ground.",
            names=("--ground/--no-ground",),
            default="--ground for modules that float and touch nothing",
        ),
    ] = None,
    *,
    pattern: GaitOptions,
    run: Annotated[RunOptions, "method", "step", "output_step", "limits", "friction", "save"],
    state: Annotated[StateOptions, "q"],
    plots: Annotated[PlotOptions, "plot", "columns", "degrees"],
    scenes: Annotated[SceneOptions, "html", "gif", "mp4", "speed"],
    clusters: ClusterOptions,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Makes a robot follow a gait by PD control and measures how far it moves; or counts clusters of coupled maps.

    `gait ROBOT` moves the joints of a robot rhythmically; --plot shows displacement, angles and torques. `gait maps`
    starts coupled maps at many random values and counts how often each pattern of clusters and each period occurs.
    """
    kind, maps = pattern.kind or Kind.rhythmic, robot == "maps"
    where = "'gait maps'" if maps else f"a gait of kind '{kind.value}'"
    run_only = {**vars(run), **vars(state), **vars(plots), **vars(scenes), "time": time, "ground": ground}
    values = {**vars(pattern), **vars(clusters), **run_only, "limits": None, "friction": None}
    used = {*MAP, *vars(clusters)} if maps else {*OWN[kind], *run_only, "kind", "joints", "gains"}
    for name in sorted(set(values) - used):
        if values[name] not in (None, False):
            raise KinemorphError(f"--{name} is not used by {where}. Leave --{name} out.")
    if maps:
        _count_clusters(pattern, clusters, as_json)
        return
    option_values.above_zero(time, "--time", "s")
    pattern.check()
    _follow(chosen(robot, reading), pattern, run, state, plots, scenes, time or TIME, ground, as_json)


def _count_clusters(pattern: GaitOptions, clusters: ClusterOptions, as_json: bool) -> None:
    """Runs `gait maps`: counts the clusters of coupled maps, prints them, and draws them if asked to."""
    from kinemorph.analysis.gait_clusters import gait_clusters

    picture = option_values.picture(clusters.picture, "--picture")
    values = vars(pattern) | vars(clusters)
    with working("stepping maps"):
        found = gait_clusters(**given(values, *MAP, "count", "seeds", "steps"))
    if picture is not None:
        from kinemorph.display.charts.plot_clusters import plot_clusters

        with working("drawing"):
            plot_clusters(**given(values, *MAP, "count", "over"), path=picture)
    put(found.sheet().with_parts(hidden(files=wrote([picture] if picture else []))), as_json)


# ── robots ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _follow(
    system: System,
    pattern: GaitOptions,
    run: RunOptions,
    state: StateOptions,
    plots: PlotOptions,
    scenes: SceneOptions,
    time: float,
    ground: bool | None,
    as_json: bool,
) -> None:
    """Runs `gait ROBOT`: simulates the robot with its gait for `time` [s], and reports the run."""
    from kinemorph.analysis import followed_gait
    from kinemorph.analysis.with_gait import with_gait
    from kinemorph.mechanics.constraints.stances import closed_stance
    from kinemorph.model.elements.forces.joint_forces import with_joint_forces
    from kinemorph.simulation.results.run_notes import acting_joints, inactive_notes
    from kinemorph.simulation.simulate import simulate

    model, joints = system.robot, _joints(system, pattern)
    _check_elements(system, joints)
    kp, kd = pattern.proportional_derivative()
    placed, element, q = _placed(system, ground), pattern.element(joints), state.values("q")
    if q is None and model.loops:
        q = closed_stance(placed.robot)[0].tolist()
    element = replace(element, initial=_positions(placed, joints, q))
    following = with_gait(placed, element, kp=kp, kd=kd, name=ADDED[1])
    system = with_joint_forces(following, limits=run.limits is not False, friction=run.friction is not False)
    method, notes = _method(system, run)
    with reported_warnings(), progress_bar(model.name, time) as progress:
        trajectory = simulate(replace(system, source=""), time, q=q, progress=progress, **run.given, **method)
        steps = followed_gait.finer_steps(trajectory) if trajectory.outcome.ok else None
        finer, places = None, followed_gait.displacement_columns(model)
        if steps and places:  # the distance is printed, and has to be right
            finer_options = {**run.given, **method, **steps, "save": None}
            finer = simulate(replace(system, source=""), time, q=q, progress=progress, **finer_options)
    kind = (pattern.kind or Kind.rhythmic).value
    sheet = followed_gait.following_sheet(model, trajectory, kind, joints, ADDED[1])
    if finer is not None:
        notes += followed_gait.convergence_notes(model, trajectory, finer)
    columns = [*places, *(f"q.{joint}" for joint in joints)]
    columns.append(ADDED[1] if len(joints) == 1 else f"{ADDED[1]}.*")
    notes += acting_joints(system, following) + inactive_notes(system)
    report_run(
        trajectory, sheet, save=run.save, plots=plots, scenes=scenes, notes=notes, as_json=as_json, columns=columns
    )


def _positions(system: System, joints: Sequence[str], q: Values | None) -> tuple[float, ...]:
    """The positions of joints [rad or m] at the start of a run from q; the gait has to begin there."""
    robot, whole = system.robot, system.initial_state()[0]
    named = q if isinstance(q, dict) else dict(zip(robot.q_names, q or (), strict=False))
    known = {**dict(zip(robot.q_names, map(float, whole), strict=True)), **named}
    return tuple(known[robot.joint(joint).q_names[0]] for joint in joints)


def _joints(system: System, pattern: GaitOptions) -> tuple[str, ...]:
    """The names of the joints that the gait moves: those of --joints, or all joints with one axis."""
    from kinemorph.analysis.with_gait import gait_joints

    robot, known = system.robot, gait_joints(system)
    joints = tuple(option_values.names(pattern.joints)) or known
    for joint in joints:
        if joint not in robot.joint_names:
            raise KinemorphError(
                f"--joints: robot '{robot.name}' has no joint '{joint}'.{did_you_mean(joint, known)} Joints with one "
                f"axis: {listed(known, 16)}."
            )
    if not joints:
        raise KinemorphError(
            f"robot '{robot.name}' has no joint with one axis, so no gait can move it. Choose another robot."
        )
    return joints


def _check_elements(system: System, joints: Sequence[str]) -> None:
    """Raises KinemorphError if an element has a name in ADDED; prints a note about controllers that oppose the gait."""
    from kinemorph.model.elements.control.controllers import PD, PID
    from kinemorph.model.elements.control.model_based import ComputedTorque

    taken = {element.name for element in system.elements} & set(ADDED)
    if taken:
        raise KinemorphError(
            f"robot '{system.robot.name}' has an element '{min(taken)}' already, and `gait` would add another. "
            "Run the robot with `kinemorph simulate`, or rename the element."
        )
    controllers = [element for element in system.elements if isinstance(element, (PD, PID, ComputedTorque))]
    shared = {element.name: [joint for joint in element.joints if joint in joints] for element in controllers}
    against = [f"'{name}' ({listed(names)})" for name, names in shared.items() if names]
    if against:
        say(
            f"note: the controllers {listed(against)} act on joints that the gait moves, and work against it; --joints "
            "chooses other joints"
        )


def _placed(system: System, ground: bool | None) -> System:
    """The system, with its modules put on the ground where --ground asks for it.

    Without --ground and --no-ground, only modules that would otherwise fall freely are put on the ground.
    """
    from kinemorph.model.modules.ground_contacts import on_ground

    floats = system.assembly is not None and system.robot.is_free and not _touches(system)
    return on_ground(system) if ground or (ground is None and floats) else system


def _touches(system: System) -> bool:
    """Whether the system has elements for contact."""
    from kinemorph.mechanics.elements.law import law_of

    return any(law_of(element).contact for element in system.elements)


def _method(system: System, run: RunOptions) -> tuple[dict[str, Any], list[str]]:
    """(arguments of `simulate` that choose a method, notes).

    Stiff gains need a method for stiff equations. Systems in contact have one by default.
    """
    from kinemorph.analysis.with_gait import settling_rate

    notes = []
    pd = next(element for element in system.elements if element.name == ADDED[1])
    ground = _touches(system)
    if system.robot.is_free and not ground:
        notes.append(f"{system.robot.name} is fixed to nothing and has no ground to stand on, so it falls")
    if run.method or run.step or ground or settling_rate(system, pd) < STIFF:
        return {}, notes
    notes.append(
        "the gains are stiff for this inertia, so the method rodas with rtol 1e-6 is used; --method chooses another"
    )
    return STIFF_METHOD, notes
