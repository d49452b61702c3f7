"""The verb on gaits: gait. It parses, calls, prints.

`gait maps` tells into which clusters coupled maps fall; `gait ROBOT` lets a robot follow a gait by PD.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kinemorph.cli.application import WELL, Json, app, put, say, told, working
from kinemorph.cli.options import option_values
from kinemorph.cli.options.model_argument import ROBOT_HELP, chosen, reads_models
from kinemorph.cli.options.plot_options import Columns, Degrees, PlotPath, Plots
from kinemorph.cli.options.scene_options import GifPath, HtmlPath, Mp4Path, Sights, Speed
from kinemorph.cli.verbs.simulate import Q_HELP, Friction, Limits, SavePath, advancing, exit_code, wrote
from kinemorph.errors import KinemorphError
from kinemorph.formats.sources import Options
from kinemorph.model.system import System
from kinemorph.words import did_you_mean

MAPS_WORD = "maps"
TIME = 10.0  # [s]
STIFF = 3000.0  # [1/s], from which on explicit steps are too short
STIFFLY = {"method": "rodas", "rtol": 1e-6}


class Kind(StrEnum):
    """What makes the rhythm."""

    rhythmic = "rhythmic"
    serpenoid = "serpenoid"
    oscillators = "oscillators"
    maps = "maps"


_WAVES = ("amplitude", "frequency", "phase", "offset")
_CHAOS = ("map", "r", "coupling", "epsilon")
# options that mean something, by kind; those of `gait maps` under ""
OWN: dict[str, tuple[str, ...]] = {
    "": (*_CHAOS, "count", "seeds", "steps", "picture", "over"),
    Kind.rhythmic: (*_WAVES, "ramp"),
    Kind.serpenoid: (*_WAVES, "alternating", "ramp"),
    Kind.oscillators: (*_WAVES, "network", "adapt"),
    Kind.maps: (*_CHAOS, "amplitude", "offset", "every", "interpolation", "seed", "ramp"),
}
RUN = (
    *("joints", "gains", "time", "method", "step", "sample", "q", "ground"),
    *("save", "plot", "columns", "degrees", "html", "gif", "mp4", "speed"),
)


@app.command()
@reads_models
def gait(
    robot: Annotated[str, typer.Argument(metavar="ROBOT|maps", help=f"'maps', or: {ROBOT_HELP}", show_default=False)],
    options: Options,
    kind: Annotated[
        Kind | None, typer.Option(help="What a robot follows.", show_default="rhythmic", metavar="KIND")
    ] = None,
    joints: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Joints that move, with commas; all that have one axis.")
    ] = None,
    amplitude: Annotated[str | None, typer.Option(metavar="ANGLE", help="Of joints.", show_default="30deg")] = None,
    frequency: Annotated[float | None, typer.Option(help="In Hz.", show_default="0.5")] = None,
    phase: Annotated[
        str | None, typer.Option(metavar="ANGLE", help="From joint to joint.", show_default="60deg")
    ] = None,
    offset: Annotated[str | None, typer.Option(metavar="ANGLE", help="Of joints.", show_default="0")] = None,
    ramp: Annotated[float | None, typer.Option(help="Seconds in which it grows.", show_default="1")] = None,
    alternating: Annotated[
        bool, typer.Option("--alternating", metavar="", help="Of serpenoid: joints pitch and yaw by turns.")
    ] = False,
    network: Annotated[
        str | None, typer.Option(help="Of oscillators: chain, ring or all.", show_default="chain")
    ] = None,
    adapt: Annotated[float | None, typer.Option(help="Of oscillators: learning, 1/s.", show_default="0")] = None,
    map_: Annotated[
        str | None, typer.Option("--map", help="logistic, tent, sine or cubic.", show_default="logistic")
    ] = None,
    r: Annotated[float | None, typer.Option("--r", help="Of the map.", show_default="3.9")] = None,
    coupling: Annotated[str | None, typer.Option(help="Of maps: ring, chain or global.", show_default="global")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Strength of it, 0 to 1.", show_default="0.3")] = None,
    every: Annotated[float | None, typer.Option(help="Seconds between steps of maps.", show_default="0.5")] = None,
    interpolation: Annotated[
        str | None, typer.Option(help="Of maps: half-cosine or spline.", show_default="half-cosine")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the start of maps.", show_default="0")] = None,
    gains: Annotated[
        str | None, typer.Option(metavar="KP,KD", help="Of the PD controller; by default they suit the inertia.")
    ] = None,
    time: Annotated[float | None, typer.Option(help="Simulated time in seconds.", show_default="10")] = None,
    method: Annotated[str | None, typer.Option(help="Integrator by name; see simulate --methods.")] = None,
    step: Annotated[float | None, typer.Option(help="Equal steps of this size in seconds.")] = None,
    sample: Annotated[float | None, typer.Option(help="Time between stored states.", show_default="0.01")] = None,
    q: Annotated[str | None, typer.Option(metavar="VALUES", help=Q_HELP, show_default=False)] = None,
    ground: Annotated[
        bool | None,
        typer.Option(
            "--ground/--no-ground",
            help="Puts docked modules on the ground; so it is where they float and touch nothing.",
            show_default=False,
        ),
    ] = None,
    limits: Limits = True,
    friction: Friction = True,
    save: SavePath = None,
    plot: PlotPath = None,
    columns: Columns = None,
    degrees: Degrees = False,
    html: HtmlPath = None,
    gif: GifPath = None,
    mp4: Mp4Path = None,
    speed: Speed = None,
    count: Annotated[int | None, typer.Option(help="Of 'maps': how many.", show_default="6")] = None,
    seeds: Annotated[int | None, typer.Option(help="Of 'maps': how many starts.", show_default="100")] = None,
    steps: Annotated[int | None, typer.Option(help="Of 'maps': for each start.", show_default="20000")] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Of 'maps': draw clusters over r or epsilon.")
    ] = None,
    over: Annotated[str | None, typer.Option(help="Of the picture: r or epsilon.", show_default="epsilon")] = None,
    as_json: Json = False,
) -> None:
    """Lets a robot follow a gait by PD, and plots how far it comes; or tells which gaits coupled maps fall into.

    gait ROBOT moves the joints of a robot by a rhythm; --plot shows displacement, angles and torques. gait maps counts,
    over many random starts, into which clusters coupled maps fall and after how many steps all of it comes again.
    """
    given = dict(locals())
    given["map"] = given.pop("map_")
    alone = robot == MAPS_WORD
    _refuse(given, alone, kind or Kind.rhythmic)
    if alone:
        _tell_clusters(given, as_json)
        raise typer.Exit(WELL)
    system = chosen(robot, options)
    _follow(system, kind or Kind.rhythmic, given, as_json)


def _refuse(given: dict[str, Any], alone: bool, kind: Kind) -> None:
    """Refuses options that would do nothing."""
    meant = set(OWN[""]) if alone else {*OWN[kind], *RUN, "kind"}
    everything = {*RUN, "kind", *(name for names in OWN.values() for name in names)}
    where = "'gait maps'" if alone else f"a gait of kind '{kind.value}'"
    for name in sorted(everything - meant):
        if given[name] not in (None, False):
            raise KinemorphError(f"--{name} means nothing for {where}. Leave it out.")
    if given["over"] is not None and given["picture"] is None:
        raise KinemorphError(f"--over '{given['over']}' says what --picture shows. Give --picture as well.")


def _some(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """What was said."""
    return {name: given[name] for name in names if given[name] is not None}


# ── maps ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _tell_clusters(given: dict[str, Any], as_json: bool) -> None:
    from kinemorph.analysis.gait_clusters import gait_clusters
    from kinemorph.display.tables import gait_reports

    picture = option_values.picture(given["picture"], "--picture")
    with working("stepping maps"):
        found = gait_clusters(**_some(given, *_CHAOS, "count", "seeds", "steps"))
    data = gait_reports.cluster_summary(found)
    made = []
    if picture is not None:
        from kinemorph.display.charts.cluster_diagram import cluster_diagram

        with working("drawing"):
            cluster_diagram(**_some(given, *_CHAOS, "count", "over"), path=picture)
        made.append(picture)
    data["files"] = wrote(made)
    put(data, as_json, gait_reports.cluster_tables)


# ── robots ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _follow(given_system: System, kind: Kind, given: dict[str, Any], as_json: bool) -> None:
    from kinemorph.analysis.with_gait import gait_joints, with_gait
    from kinemorph.display.tables import gait_reports, run_summaries
    from kinemorph.model.elements.control.controllers import PD, PID
    from kinemorph.model.elements.control.model_based import ComputedTorque
    from kinemorph.model.elements.forces.joint_forces import with_joint_forces
    from kinemorph.simulation.simulate import simulate as run

    model = given_system.robot
    for name, unit in (("time", "s"), ("step", "s"), ("sample", "s"), ("frequency", "Hz"), ("every", "s")):
        option_values.above_zero(given[name], f"--{name}", unit)
    known = gait_joints(given_system)
    joints = tuple(option_values.names(given["joints"])) or known
    for joint in joints:
        if joint not in (one.name for one in model.joints):
            raise KinemorphError(
                f"--joints: robot '{model.name}' has no joint '{joint}'.{did_you_mean(joint, known)} Those with one "
                f"axis are {', '.join(known[:16]) or 'none'}."
            )
    if not joints:
        raise KinemorphError(f"robot '{model.name}' has no joint with one axis, so no gait can move it.")
    taken = {element.name for element in given_system.elements}
    if taken & {"gait", "gait_pd"}:
        raise KinemorphError(
            f"robot '{model.name}' has an element '{min(taken & {'gait', 'gait_pd'})}' already, and `gait` would add "
            "one of that name. Run it with `kinemorph simulate`, or rename it."
        )
    busy = [element for element in given_system.elements if isinstance(element, (PD, PID, ComputedTorque))]
    fought = {joint: element.name for element in busy for joint in element.joints if joint in joints}
    if fought:
        say(f"note: {_told(fought)} drive joints that the gait moves, too, and hold against it; --joints names others")
    kp, kd = _gains(given["gains"])
    element = _element(kind, joints, given)
    given_system = _placed(given_system, given["ground"])
    following = with_gait(given_system, element, kp=kp, kd=kd, name="gait_pd")
    system = with_joint_forces(following, limits=given["limits"], friction=given["friction"])
    shown = [*gait_reports.displacement_columns(model), *(f"q.{joint}" for joint in joints)]
    shown.append("gait_pd" if len(joints) == 1 else "gait_pd.*")
    html: Path | None = given["html"]
    plots = Plots(given["plot"], given["columns"] or ",".join(shown), given["degrees"], alone=True)
    sights = Sights(html=html, gif=given["gif"], mp4=given["mp4"], speed=given["speed"])
    place, until = option_values.values(given["q"], "--q"), given["time"] or TIME
    if place is None and model.loops:
        place = option_values.start(system, None, None)[0]
    how, notes = _method(system, given)
    with told(), advancing(model.name, until) as progress:
        trajectory = run(system, until, q=place, progress=progress, save=given["save"], **how)
    data = gait_reports.following_summary(model, trajectory, kind.value, joints, "gait_pd")
    files = [given["save"]] if given["save"] else []
    data["files"] = wrote(
        files,
        plots.write(trajectory),
        sights.write({model.name: trajectory}, columns=option_values.names(given["columns"])),
    )
    for line in [*notes, *run_summaries.acting_joints(system, following), *run_summaries.cautions(trajectory)]:
        say(f"note: {line}")
    put(data, as_json, gait_reports.following_tables)
    raise typer.Exit(exit_code(trajectory))


def _placed(system: System, ground: bool | None) -> System:
    """The system on the ground where that is wanted, or where it is made of modules that would fall."""
    from kinemorph.model.modules.ground_contacts import on_ground

    floats = system.assembly is not None and option_values.is_free(system.robot) and not _touches(system)
    return on_ground(system) if ground or (ground is None and floats) else system


def _told(fought: Mapping[str, str]) -> str:
    names = dict.fromkeys(fought.values())
    return ", ".join(f"'{name}' ({', '.join(j for j, by in fought.items() if by == name)})" for name in names)


def _touches(system: System) -> bool:
    """Whether something of it can touch."""
    from kinemorph.mechanics.elements.law import law_of

    return any(law_of(element).contact for element in system.elements)


def _method(system: System, given: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """(how to run, notes): stiff gains in the air want a method for stiff equations; on the ground there is one."""
    from kinemorph.analysis.with_gait import settling_rate

    how, notes = _some(given, "method", "step", "sample"), []
    pd = next(element for element in system.elements if element.name == "gait_pd")
    ground = _touches(system)
    if option_values.is_free(system.robot) and not ground:
        notes.append(f"nothing holds {system.robot.name}, and it has no ground to touch: it falls")
    if "method" in how or "step" in how or ground or settling_rate(system, pd) < STIFF:
        return how, notes
    notes.append("gains are stiff for what they move, so rodas with rtol 1e-6 is taken; --method chooses another")
    return {**how, **STIFFLY}, notes


def _gains(text: str | None) -> tuple[float | None, float | None]:
    """`300,40`; without the second, joints are critically damped."""
    if text is None:
        return None, None
    found = option_values.values(text, "--gains")
    if not isinstance(found, list) or len(found) > 2 or min(found) < 0.0:
        raise KinemorphError(f"--gains is '{text}'; expected kp, or kp and kd with a comma, not below 0: 300,40.")
    return found[0], found[1] if len(found) == 2 else None


def _element(kind: Kind, joints: tuple[str, ...], given: dict[str, Any]) -> Any:
    """The gait that was asked for."""
    from kinemorph.mechanics.elements.gaits.map_steps import COUPLINGS, MAPS
    from kinemorph.model import elements

    numbers = _some(given, "amplitude", "phase", "offset")
    read = {name: option_values.number(text, f"--{name}") for name, text in numbers.items()}
    words = {"map": tuple(MAPS), "coupling": COUPLINGS, "interpolation": ("half-cosine", "spline")}
    words["network"] = ("chain", "ring", "all")
    for name, choices in words.items():
        if given[name] is not None and given[name] not in choices:
            hint = did_you_mean(given[name], choices)
            raise KinemorphError(f"--{name} is '{given[name]}'; expected one of {', '.join(choices)}.{hint}")
    for name in ("ramp", "adapt"):
        if given[name] is not None and not 0.0 <= given[name] < math.inf:
            raise KinemorphError(f"--{name} is {given[name]:g}; expected a finite number of at least 0.")
    said = {**_some(given, *(name for name in OWN[kind] if name not in read and name != "alternating")), **read}
    if "phase" in said:
        said["phase_step"] = said.pop("phase")
    if kind is Kind.serpenoid:
        said |= {"layout": "alternating"} if given["alternating"] else {}
        said |= {"turn": said.pop("offset")} if "offset" in said else {}
    table: dict[Kind, Any] = {
        Kind.rhythmic: elements.Rhythmic,
        Kind.serpenoid: elements.Serpenoid,
        Kind.oscillators: elements.PhaseOscillators,
        Kind.maps: elements.CoupledMaps,
    }
    return table[kind]("gait", joints, **said)
