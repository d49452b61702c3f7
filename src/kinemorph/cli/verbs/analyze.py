"""The verb on small motions: analyze. It parses, calls, prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import FAILED, WELL, Json, app, put, say, working
from kinemorph.cli.options import option_values
from kinemorph.cli.options.model_argument import RobotName, chosen, reads_models
from kinemorph.cli.options.scene_options import GifPath, Mp4Path, Sights
from kinemorph.cli.verbs.simulate import Q_HELP
from kinemorph.errors import KinemorphError
from kinemorph.formats.sources import Options
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

if TYPE_CHECKING:
    from kinemorph.analysis.small_motions.poles import Poles

COUNT = 6  # modes that are shown


class Analysis(StrEnum):
    """What `analyze` looks at."""

    equilibrium = "equilibrium"
    poles = "poles"
    modes = "modes"
    mobility = "mobility"
    assembly = "assembly"


@app.command()
@reads_models
def analyze(
    robot: RobotName,
    options: Options,
    what: Annotated[Analysis, typer.Argument(metavar="WHAT", help="equilibrium, poles, modes, mobility or assembly.")],
    q: Annotated[str | None, typer.Option(metavar="VALUES", help=f"{Q_HELP} Of a search: its guess.")] = None,
    v: Annotated[str | None, typer.Option(metavar="VALUES", help="Velocities, for poles and modes.")] = None,
    torque: Annotated[
        str | None, typer.Option("--torque", "--u", metavar="VALUES", help="Constant joint torques or forces.")
    ] = None,
    lock: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT", help="A joint that stays; for assembly, where it is. May be repeated."),
    ] = None,
    stable: Annotated[bool, typer.Option("--stable", metavar="", help="Seek a stable equilibrium.")] = False,
    window: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH", help="Only frequencies between these, in Hz.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, max=12, help="Modes to show.")] = COUNT,
    plot: Annotated[Path | None, typer.Option(metavar="PATH", help="Write a picture: .png, .svg or .pdf.")] = None,
    gif: GifPath = None,
    mp4: Mp4Path = None,
    mode: Annotated[int | None, typer.Option(min=1, help="The mode that moves.", show_default="1")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Write the figures: .json; poles also .lst, .mod.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Where a robot is at rest, how it swings about there and how fast, what its loops let it do.

    equilibrium, poles and modes are about small motions; mobility counts the freedoms that loops leave, and assembly
    lists the ways in which they close.
    """
    from kinemorph.display.tables import run_summaries, run_tables

    system = chosen(robot, options)
    model = system.robot
    acting: dict[str, Any] = {"u": option_values.values(torque, "--torque"), "locked": lock or ()}
    given = dict(v=v, stable=stable, window=window, gif=gif, mp4=mp4, mode=mode, torque=torque, lock=lock, plot=plot)
    _check(what, **given)
    option_values.picture(plot, "--plot")
    sights = Sights(gif=gif, mp4=mp4)
    band, guess, speeds = option_values.window(window), option_values.values(q, "--q"), option_values.values(v, "--v")
    _check_save(save, what)
    tables: Callable[[Any], list[Any]]
    if what is Analysis.equilibrium:
        data, files, well = _equilibrium(model, guess, acting, stable, plot)
        tables = run_tables.equilibrium_tables
    elif what in (Analysis.mobility, Analysis.assembly):
        data, tables, well = _of_loops(system, what, guess, lock)
        files = []
    else:
        with working(f"linearizing {model.name}"):
            found = _poles(model, guess, speeds, acting, band)
        if not len(found):
            say(f"note: no pole of {model.name} has a frequency within --window {window}")
        well, files = True, _drawn(found, what, count, plot, sights, mode or 1)
        data = run_summaries.poles_summary(found, count if what is Analysis.modes else None)
        tables = run_tables.poles_tables if what is Analysis.poles else run_tables.modes_tables
        if save is not None and save.suffix != ".json":
            files += found.save(save)
    if save is not None and save.suffix == ".json":
        from kinemorph.cli.emitted_forms import write_text

        write_text(save, json.dumps(data, indent=2, allow_nan=False) + "\n")
        files.append(save)
    data["files"] = [str(path) for path in files]
    for path in files:
        say(f"wrote {path}")
    put(data, as_json, tables)
    raise typer.Exit(WELL if well else FAILED)


def _check(what: Analysis, **given: Any) -> None:
    """Refuses options that would do nothing."""
    means_nothing = {
        Analysis.equilibrium: ("v", "window", "gif", "mp4", "mode"),
        Analysis.poles: ("stable", "gif", "mp4", "mode"),
        Analysis.modes: ("stable",),
        Analysis.mobility: ("v", "window", "gif", "mp4", "mode", "stable", "torque", "lock", "plot"),
        Analysis.assembly: ("v", "window", "gif", "mp4", "mode", "stable", "torque", "plot"),
    }[what]
    for name in means_nothing:
        if given[name]:
            raise KinemorphError(f"--{name} means nothing for '{what.value}'. Leave it out.")
    if given["mode"] is not None and given["gif"] is None and given["mp4"] is None:
        raise KinemorphError(f"--mode {given['mode']} says what --gif and --mp4 show. Give one of them as well.")


def _check_save(save: Path | None, what: Analysis) -> None:
    """Poles without an ending are written as .lst and .mod."""
    known = (".json", ".lst", ".mod") if what in (Analysis.poles, Analysis.modes) else (".json",)
    if save is not None and save.suffix not in known and (save.suffix or known == (".json",)):
        raise KinemorphError(f"--save '{save}': use a name that ends in {', '.join(known)}.")


def _equilibrium(
    model: Robot, guess: Any, chosen: dict[str, Any], stable: bool, plot: Path | None
) -> tuple[dict[str, Any], list[Path], bool]:
    """(data, files, whether one was found)."""
    from kinemorph.analysis.small_motions.equilibrium import equilibrium
    from kinemorph.display.tables import run_summaries

    with working(f"seeking an equilibrium of {model.name}"):
        found = equilibrium(model, guess, stable=stable, **chosen)
    files: list[Path] = []
    if plot is not None:
        from kinemorph.display.canvas import save
        from kinemorph.display.painting.draw import draw

        word = {True: "stable", False: "not stable", None: "marginal"}[found.stable]
        title = f"{model.name.replace('_', ' ')}: " + (f"equilibrium, {word}" if found else "no equilibrium")
        files.append(save(draw(model, found.q, title=title), plot))
    if not found:
        say(f"failed: {found.message}")
    return run_summaries.equilibrium_summary(found), files, found.converged


def _of_loops(
    system: System, what: Analysis, guess: Any, lock: list[str] | None
) -> tuple[dict[str, Any], Callable[[Any], list[Any]], bool]:
    """(data, its tables, whether the loops close): what loops let a robot do."""
    from kinemorph.analysis.loops.assembly_modes import assembly_modes
    from kinemorph.analysis.loops.mobility import mobility
    from kinemorph.display.tables import loop_reports
    from kinemorph.plants.robot_plant import plant

    robot, at = system.robot, None if guess is None else plant(system).initial("q", guess)
    if what is Analysis.mobility:
        with working(f"moving {robot.name} about"):
            freedom = mobility(system, at)
        return loop_reports.mobility_summary(robot, freedom), loop_reports.mobility_tables, freedom.closed
    with working(f"closing {robot.name}"):
        ways = assembly_modes(system, at, held=lock)
    if not ways:
        say(f"failed: {ways.message}")
    return loop_reports.assembly_summary(robot, ways), loop_reports.assembly_tables, bool(len(ways))


def _poles(model: Robot, q: Any, v: Any, chosen: dict[str, Any], band: tuple[float, float] | None) -> Poles:
    """Poles at the state given; where none is, at the equilibrium nearest to the neutral configuration."""
    from kinemorph.analysis.small_motions.equilibrium import equilibrium
    from kinemorph.analysis.small_motions.poles import poles

    if q is None:
        found = equilibrium(model, stable=False, **chosen)
        q = found.q if found else None
        named = zip(model.q_names, found.q, strict=True)
        listed = ", ".join([f"{name} = {value:.6g}" for name, value in named if abs(value) > 1e-9][:6])
        if not found:
            say(f"note: no equilibrium of {model.name} was found, so this is about the neutral configuration")
        else:
            say(f"note: about the equilibrium at {listed or 'the neutral configuration'}; --q chooses another state")
    return poles(model, q, v, window=band, **chosen)


def _drawn(found: Poles, what: Analysis, count: int, plot: Path | None, sights: Sights, mode: int) -> list[Path]:
    """Writes the pictures asked for."""
    files: list[Path] = []
    if plot is not None and what is Analysis.poles:
        from kinemorph.display.charts.pole_map import pole_map

        pole_map(found, path=plot)
        files.append(plot)
    elif plot is not None:
        from kinemorph.display.painting.mode_shapes import mode_shapes

        mode_shapes(found, count, path=plot)
        files.append(plot)
    for path in (sights.gif, sights.mp4):
        if path is not None:
            from kinemorph.display.painting.animate import animate_mode

            with working("painting"):
                files.append(animate_mode(found, mode, path))
    return files
