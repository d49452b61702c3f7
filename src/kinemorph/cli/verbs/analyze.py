"""The verb `analyze`: equilibria, poles, modes, feedback, the motions that loops allow, and motions that repeat."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kinemorph.cli.application import FAILED, WELL, Json, flag, option, put, reported_warnings, say, verb, working
from kinemorph.cli.options import option_values
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen
from kinemorph.cli.options.orbit_options import OrbitOptions
from kinemorph.cli.options.scene_options import SceneOptions
from kinemorph.cli.options.state_options import StateOptions
from kinemorph.cli.orbit_analyses import of_orbits, of_static_gait
from kinemorph.cli.output_files import write_text, wrote
from kinemorph.errors import KinemorphError
from kinemorph.model.system import System
from kinemorph.sheet import Sheet, hidden
from kinemorph.words import counted, listed

if TYPE_CHECKING:
    from kinemorph.analysis.small_motions.poles import Poles

COUNT = 6  # modes to show
REPEATING = ("orbit", "continuation", "diagram", "basin")  # analyses of motions that repeat


class Analysis(StrEnum):
    """The analyses that WHAT chooses from."""

    equilibrium = "equilibrium"
    poles = "poles"
    modes = "modes"
    lqr = "lqr"
    mobility = "mobility"
    assembly = "assembly"
    orbit = "orbit"
    continuation = "continuation"
    diagram = "diagram"
    basin = "basin"
    static = "static"


AT_REST = (Analysis.equilibrium, Analysis.poles, Analysis.modes)


class Result(NamedTuple):
    """The result of an analysis: what it shows, the files that were written, and whether the analysis succeeded."""

    sheet: Sheet
    files: list[Path]
    well: bool


@verb
def analyze(
    robot: RobotName,
    what: Annotated[Analysis, typer.Argument(metavar="WHAT", help=f"{', '.join(Analysis)}.")],
    stable: Annotated[bool, flag("--stable", "equilibrium: search for a stable equilibrium.")] = False,
    window: Annotated[
        str | None, option("poles, modes: show only frequencies in this range, in Hz: 0.5:20.", "LOW:HIGH")
    ] = None,
    count: Annotated[int, option("modes: how many to show.", min=1, max=12)] = COUNT,
    contacts: Annotated[
        bool,
        flag("--contacts", "equilibrium, poles, modes: let collision shapes touch the ground, as in simulate."),
    ] = False,
    plot: Annotated[Path | None, option("Write a picture: .png, .svg or .pdf.", "PATH")] = None,
    mode: Annotated[
        int | None, option("modes: number of the mode that --gif and --mp4 show.", default="1", min=1)
    ] = None,
    weight: Annotated[
        list[str] | None, option("lqr: a weight of a state, q.theta=10, or of an input, u.motor=0.1.", "NAME=VALUE")
    ] = None,
    every: Annotated[float | None, option("lqr: time between samples, in seconds.", "S")] = None,
    save: Annotated[
        Path | None, option("Write numbers: .json, poles and modes also .lst, .mod; lqr: the model, .toml.", "PATH")
    ] = None,
    *,
    state: StateOptions,
    repeating: OrbitOptions,
    films: Annotated[SceneOptions, "gif", "mp4"],
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Finds an equilibrium of a robot, its poles and modes, its mobility, configurations of its loops, or its orbits.

    equilibrium searches near --q or --start, or near the initial values of the file. poles and modes linearize about
    --q and --v or about --start, or about an equilibrium if neither is given. mobility counts the degrees of freedom
    that the loops leave. assembly lists the configurations in which the loops close while the joints of --lock keep
    their coordinates.

    lqr designs the state feedback of least cost about an equilibrium, or at --q, where its inputs hold the robot.
    Weights of inputs, such as --weight u.motor=0.1, also choose the inputs that it drives, by default all.

    orbit searches for a motion that repeats, near --q and --v or the initial values of the file, and lists its Floquet
    multipliers. A driven system needs --period, one without drive --section; the cycles of an automaton end after its
    edges. continuation follows the orbit over a range of a parameter (--over) and locates where it changes. diagram
    shows where the motion settles for many values of a parameter, basin which motion is reached from many starts.

    static turns a joint over a range (--over crank_joint=0:360deg:73) while the feet stand, and lists the torques and
    foot loads that hold every posture.
    """
    given = {**vars(state), **vars(films), **repeating.given()}
    given |= {"stable": stable, "window": window, "mode": mode, "plot": plot, "contacts": contacts, "weight": weight}
    given["every"] = option_values.above_zero(every, "--every", "s")
    _check(what, **given)
    option_values.picture(plot, "--plot")
    _check_save(save, what)
    system, band = state.begun(chosen(robot, reading)), option_values.window(window)
    if what in AT_REST:
        system = _touching(system, contacts)
    if what is Analysis.equilibrium:
        found = _equilibrium(system, state, stable, plot)
    elif what in (Analysis.mobility, Analysis.assembly):
        found = _of_loops(system, what, state)
    elif what is Analysis.lqr:
        found = _regulator(system, state, weight or [], every, save)
    elif what in REPEATING:
        found = Result(*of_orbits(system, what.value, state, repeating, plot))
    elif what is Analysis.static:
        found = Result(*of_static_gait(system, repeating, plot))
    else:
        found = _small_motions(system, what, state, band, count, plot, films, mode or 1, save)
    sheet, files, well = found
    if save is not None and save.suffix == ".json":
        write_text(save, json.dumps(sheet.data(), indent=2, allow_nan=False) + "\n")
        files.append(save)
    put(sheet.with_parts(hidden(files=wrote(files))), as_json)
    raise typer.Exit(WELL if well else FAILED)


def _check(what: Analysis, **given: Any) -> None:
    """Raises KinemorphError for an option that this analysis does not use. `given` are options by name."""
    unused = {
        Analysis.equilibrium: ("v", "window", "gif", "mp4", "mode"),
        Analysis.poles: ("stable", "gif", "mp4", "mode"),
        Analysis.modes: ("stable",),
        Analysis.lqr: ("v", "window", "gif", "mp4", "mode", "stable", "plot"),
        Analysis.mobility: ("v", "window", "gif", "mp4", "mode", "stable", "torque", "lock", "plot"),
        Analysis.assembly: ("v", "window", "gif", "mp4", "mode", "stable", "torque", "plot"),
        Analysis.orbit: ("window", "gif", "mp4", "mode", "stable", "over"),
        Analysis.continuation: ("window", "gif", "mp4", "mode", "stable"),
        Analysis.diagram: ("window", "gif", "mp4", "mode", "stable", "cycles", "nodes"),
        Analysis.basin: ("window", "gif", "mp4", "mode", "stable", "nodes"),
        Analysis.static: ("window", "gif", "mp4", "mode", "stable", "start", "q", "v", "torque", "lock"),
    }[what]
    unused += () if what in AT_REST else ("contacts",)
    unused += () if what is Analysis.lqr else ("weight", "every")
    unused += () if what in REPEATING else ("period", "section", "edges", "cycles", "nodes")
    unused += () if what in (*REPEATING, Analysis.static) else ("over",)
    for name in unused:
        if given[name]:
            raise KinemorphError(f"--{name} is not used by 'analyze {what.value}'. Leave --{name} out.")
    if given["mode"] is not None and given["gif"] is None and given["mp4"] is None:
        raise KinemorphError(
            f"--mode {given['mode']} chooses the mode that --gif and --mp4 show. Give one of these two as well."
        )


def _check_save(save: Path | None, what: Analysis) -> None:
    """Raises KinemorphError for an unknown ending of --save. Poles and modes may have none: then both .lst and .mod
    are written.
    """
    own = {Analysis.poles: (".lst", ".mod"), Analysis.modes: (".lst", ".mod"), Analysis.lqr: (".toml",)}
    known = (".json", *own.get(what, ()))
    if save is not None and save.suffix not in known and (save.suffix or ".lst" not in known):
        raise KinemorphError(
            f"--save is '{save}'; expected a file name that ends in {listed(known)}. Change the ending."
        )


def _touching(system: System, contacts: bool) -> System:
    """The system with the contacts of its collision shapes; without --contacts a note on those that do not act."""
    from kinemorph.model.elements.inactive import inactive_data
    from kinemorph.model.run_plans import RunPlan
    from kinemorph.simulation.planned_run import missing_contacts, on_ground

    if contacts:  # asked for, also where the file has no ground
        standing = on_ground(system, RunPlan(ground=True)) if system.robot.is_free else system
        with reported_warnings():
            return replace(system, elements=(*system.elements, *missing_contacts(standing)))
    shapes = inactive_data(system).shapes if system.robot.is_free else ()
    if shapes:
        bodies = counted(len(shapes), "body", "bodies")
        say(f"note: the collision shapes of {bodies} do not act; --contacts lets them touch the ground")
    return system


def _acting(system: System, state: StateOptions) -> dict[str, Any]:
    """Inputs and locked joints, as keyword arguments of `equilibrium` and `poles`."""
    return {"u": state.inputs(system), "locked": state.lock or ()}


def _equilibrium(system: System, state: StateOptions, stable: bool, plot: Path | None) -> Result:
    """Searches for an equilibrium and draws the robot there if a path is given."""
    model, guess = system.robot, state.values("q") or state.start or _initial(system)
    from kinemorph.analysis.small_motions.equilibrium import equilibrium

    with working(f"searching for an equilibrium of {model.name}"):
        found = equilibrium(
            system, _initial(system) if guess is None else guess, stable=stable, **_acting(system, state)
        )
    files: list[Path] = []
    if plot is not None:
        from kinemorph.display.canvas import save
        from kinemorph.display.painting.draw import draw

        word = {True: "stable", False: "not stable", None: "marginal"}[found.stable]
        title = f"{model.name.replace('_', ' ')}: " + (f"equilibrium, {word}" if found else "no equilibrium")
        files.append(save(draw(model, found.q, title=title), plot))
    if not found:
        say(f"failed: {found.message}")
    return Result(found.sheet(), files, bool(found.converged))


def _initial(system: System) -> tuple[float, ...] | None:
    """The initial values of the coordinates, where the model declares them."""
    return system.settings.q or None


def _of_loops(system: System, what: Analysis, state: StateOptions) -> Result:
    """The mobility of a robot with loops, or the configurations in which its loops close."""
    from kinemorph.analysis.loops.closed_configurations import closed_configurations
    from kinemorph.analysis.loops.mobility import mobility
    from kinemorph.plants.robot_plant import plant

    robot, guess = system.robot, state.values("q")
    at = None if guess is None else plant(system).initial("q", guess)
    if what is Analysis.mobility:
        with working(f"counting the degrees of freedom of {robot.name}"):
            freedom = mobility(system, at)
        return Result(freedom.sheet(), [], freedom.closed)
    with working(f"closing the loops of {robot.name}"):
        found = closed_configurations(system, at, held=state.lock)
    if not found:
        say(f"failed: {found.message}")
    return Result(found.sheet(), [], bool(len(found)))


def _regulator(
    system: System, state: StateOptions, weight: list[str], every: float | None, save: Path | None
) -> Result:
    """The regulator of least cost, whose weights are 1 unless given; what its inputs cannot stabilize is named."""
    from kinemorph.analysis.feedback.lqr import lqr
    from kinemorph.analysis.feedback.weights import known_name
    from kinemorph.analysis.small_motions.plant_derivatives import state_names
    from kinemorph.formats.loading import save as save_model
    from kinemorph.plants.robot_plant import plant

    named = option_values.values(",".join(weight) or None, "--weight") or {}
    if isinstance(named, list):
        raise KinemorphError(f"--weight is '{weight[0]}'; expected a name and a value. Write --weight q.theta=10.")
    made = plant(system)
    names, inputs = state_names(made), [f"u.{column.name}" for column in made.u]
    named = {known_name("--weight", name, (*names, *inputs)): value for name, value in named.items()}
    R = {name[2:]: value for name, value in named.items() if name in inputs}
    Q = dict.fromkeys(names, 1.0) | {name: value for name, value in named.items() if name in names}
    at = _acting(system, state) | ({"q": q} if (q := state.values("q")) else {})
    with working(f"designing feedback for {system.robot.name}"):
        found = lqr(system, Q, R or 1.0, sample=every, leave_out=True, **at)
    begun = replace(system.settings, q=tuple(found.q.tolist()), v=(), stated_q=None, stated_v=None)
    closed = replace(system, elements=(*system.elements, found.element()), settings=begun)
    files = [*save_model(closed, save)] if save is not None and save.suffix == ".toml" else []
    return Result(found.sheet(), files, True)


def _small_motions(
    system: System,
    what: Analysis,
    state: StateOptions,
    band: tuple[float, float] | None,
    count: int,
    plot: Path | None,
    films: SceneOptions,
    mode: int,
    save: Path | None,
) -> Result:
    """The poles of a robot, or its first `count` modes with their shapes, within the frequency band [Hz] if given."""
    with working(f"linearizing {system.robot.name}"):
        found = _poles(system, state, band)
    if not len(found):
        say(f"note: no pole of {system.robot.name} has a frequency within --window; choose a wider one")
    files = _drawn(found, what, count, plot, films, mode)
    if save is not None and save.suffix != ".json":
        files += found.save(save)
    return Result(found.sheet() if what is Analysis.poles else found.modes_sheet(count), files, True)


def _poles(system: System, state: StateOptions, band: tuple[float, float] | None) -> Poles:
    """The poles about the state of --q and --v or of --start; without these about the state that `poles` takes."""
    from kinemorph.analysis.small_motions.poles import poles

    q, v = state.values("q") or state.start, state.values("v")
    found = poles(system, q, v, window=band, **_acting(system, state))
    if q is None and v is None:
        missing = f"no equilibrium of {system.name} was found, so it is " if found.about == "the initial state" else ""
        say(f"note: {missing}linearized about {found.about}; --q chooses another state")
    return found


def _drawn(found: Poles, what: Analysis, count: int, plot: Path | None, films: SceneOptions, mode: int) -> list[Path]:
    """Writes the pictures and films of poles or modes that the options ask for; returns their paths."""
    files: list[Path] = []
    if plot is not None and what is Analysis.poles:
        from kinemorph.display.charts.plot_poles import plot_poles

        plot_poles(found, path=plot)
        files.append(plot)
    elif plot is not None:
        from kinemorph.display.painting.draw_modes import draw_modes

        draw_modes(found, count, path=plot)
        files.append(plot)
    for path in (films.gif, films.mp4):
        if path is not None:
            from kinemorph.display.painting.animate import animate_mode

            with working("painting"):
                files.append(animate_mode(found, mode, path))
    return files
