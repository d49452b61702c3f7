"""The verb `analyze`: equilibria, poles, modes, and the motions that loops allow."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kinemorph.cli.application import FAILED, WELL, Json, flag, option, put, say, verb, working
from kinemorph.cli.options import option_values
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen
from kinemorph.cli.options.scene_options import SceneOptions
from kinemorph.cli.options.state_options import StateOptions
from kinemorph.cli.output_files import write_text, wrote
from kinemorph.errors import KinemorphError
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

if TYPE_CHECKING:
    from kinemorph.analysis.small_motions.poles import Poles

COUNT = 6  # modes to show


class Analysis(StrEnum):
    """The analyses."""

    equilibrium = "equilibrium"
    poles = "poles"
    modes = "modes"
    mobility = "mobility"
    assembly = "assembly"


class Result(NamedTuple):
    """The result of an analysis: data, the function that makes tables of them, files, and whether it succeeded."""

    data: dict[str, Any]
    tables: Callable[[Any], list[Any]]
    files: list[Path]
    well: bool


@verb
def analyze(
    robot: RobotName,
    what: Annotated[Analysis, typer.Argument(metavar="WHAT", help=f"{', '.join(Analysis)}.")],
    stable: Annotated[bool, flag("--stable", "equilibrium: search for a stable one.")] = False,
    window: Annotated[str | None, option("poles, modes: only frequencies in this range, in Hz.", "LOW:HIGH")] = None,
    count: Annotated[int, option("modes: how many to show.", min=1, max=12)] = COUNT,
    plot: Annotated[Path | None, option("Write a picture: .png, .svg or .pdf.", "PATH")] = None,
    mode: Annotated[int | None, option("modes: the one that --gif and --mp4 show.", default="1", min=1)] = None,
    save: Annotated[Path | None, option("Write the numbers: .json; poles also .lst, .mod.", "PATH")] = None,
    *,
    state: StateOptions,
    films: Annotated[SceneOptions, "gif", "mp4"],
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Finds where a robot is at rest, its poles and modes there, and the motions that its loops allow.

    equilibrium, poles and modes are about small motions; --q is the initial guess of the search for an equilibrium.
    mobility counts the degrees of freedom that loops leave, and assembly lists the configurations in which they close,
    with the joints of --lock where they are.
    """
    given = {**vars(state), **vars(films), "stable": stable, "window": window, "mode": mode, "plot": plot}
    _check(what, **given)
    option_values.picture(plot, "--plot")
    _check_save(save, what)
    system, band = chosen(robot, reading), option_values.window(window)
    if what is Analysis.equilibrium:
        found = _equilibrium(system.robot, state, stable, plot)
    elif what in (Analysis.mobility, Analysis.assembly):
        found = _of_loops(system, what, state)
    else:
        found = _small_motions(system.robot, what, state, band, count, plot, films, mode or 1, save)
    data, tables, files, well = found
    if save is not None and save.suffix == ".json":
        write_text(save, json.dumps(data, indent=2, allow_nan=False) + "\n")
        files.append(save)
    data["files"] = wrote(files)
    put(data, as_json, tables)
    raise typer.Exit(WELL if well else FAILED)


def _check(what: Analysis, **given: Any) -> None:
    """Refuses options that this analysis does not use."""
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
    """Refuses an unknown ending; poles without an ending are written as .lst and .mod."""
    known = (".json", ".lst", ".mod") if what in (Analysis.poles, Analysis.modes) else (".json",)
    if save is not None and save.suffix not in known and (save.suffix or known == (".json",)):
        raise KinemorphError(f"--save '{save}': use a name that ends in {', '.join(known)}.")


def _acting(state: StateOptions) -> dict[str, Any]:
    """Inputs and locked joints, as analyses of small motions take them."""
    return {"u": state.values("torque"), "locked": state.lock or ()}


def _equilibrium(model: Robot, state: StateOptions, stable: bool, plot: Path | None) -> Result:
    from kinemorph.analysis.small_motions.equilibrium import equilibrium
    from kinemorph.display.tables import run_summaries, run_tables

    with working(f"searching for an equilibrium of {model.name}"):
        found = equilibrium(model, state.values("q"), stable=stable, **_acting(state))
    files: list[Path] = []
    if plot is not None:
        from kinemorph.display.canvas import save
        from kinemorph.display.painting.draw import draw

        word = {True: "stable", False: "not stable", None: "marginal"}[found.stable]
        title = f"{model.name.replace('_', ' ')}: " + (f"equilibrium, {word}" if found else "no equilibrium")
        files.append(save(draw(model, found.q, title=title), plot))
    if not found:
        say(f"failed: {found.message}")
    return Result(run_summaries.equilibrium_summary(found), run_tables.equilibrium_tables, files, bool(found.converged))


def _of_loops(system: System, what: Analysis, state: StateOptions) -> Result:
    """The motions that the loops of a robot allow, or the configurations in which they close."""
    from kinemorph.analysis.loops.closed_configurations import closed_configurations
    from kinemorph.analysis.loops.mobility import mobility
    from kinemorph.display.tables import loop_reports
    from kinemorph.plants.robot_plant import plant

    robot, guess = system.robot, state.values("q")
    at = None if guess is None else plant(system).initial("q", guess)
    if what is Analysis.mobility:
        with working(f"counting the degrees of freedom of {robot.name}"):
            freedom = mobility(system, at)
        data = loop_reports.mobility_summary(robot, freedom)
        return Result(data, loop_reports.mobility_tables, [], freedom.closed)
    with working(f"closing the loops of {robot.name}"):
        found = closed_configurations(system, at, held=state.lock)
    if not found:
        say(f"failed: {found.message}")
    return Result(loop_reports.assembly_summary(robot, found), loop_reports.assembly_tables, [], bool(len(found)))


def _small_motions(
    model: Robot,
    what: Analysis,
    state: StateOptions,
    band: tuple[float, float] | None,
    count: int,
    plot: Path | None,
    films: SceneOptions,
    mode: int,
    save: Path | None,
) -> Result:
    """Poles, or modes with their shapes."""
    from kinemorph.display.tables import run_summaries, run_tables

    with working(f"linearizing {model.name}"):
        found = _poles(model, state, band)
    if not len(found):
        say(f"note: no pole of {model.name} has a frequency within --window")
    files = _drawn(found, what, count, plot, films, mode)
    if save is not None and save.suffix != ".json":
        files += found.save(save)
    data = run_summaries.poles_summary(found, count if what is Analysis.modes else None)
    tables = run_tables.poles_tables if what is Analysis.poles else run_tables.modes_tables
    return Result(data, tables, files, True)


def _poles(model: Robot, state: StateOptions, band: tuple[float, float] | None) -> Poles:
    """Poles at the given state; if none is given, at the equilibrium nearest to the neutral configuration."""
    from kinemorph.analysis.small_motions.equilibrium import equilibrium
    from kinemorph.analysis.small_motions.poles import poles

    q: Any = state.values("q")
    acting = _acting(state)
    if q is None:
        found = equilibrium(model, stable=False, **acting)
        q = found.q if found else None
        named = zip(model.q_names, found.q, strict=True)
        moved = [f"{name} = {value:.6g}" for name, value in named if abs(value) > 1e-9]
        where = ", ".join(moved[:6]) or "the neutral configuration"
        if not found:
            say(f"note: no equilibrium of {model.name} was found, so poles are those of the neutral configuration")
        else:
            say(f"note: linearized about the equilibrium at {where}; --q chooses another state")
    return poles(model, q, state.values("v"), window=band, **acting)


def _drawn(found: Poles, what: Analysis, count: int, plot: Path | None, films: SceneOptions, mode: int) -> list[Path]:
    """Writes the pictures and films that were asked for."""
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
