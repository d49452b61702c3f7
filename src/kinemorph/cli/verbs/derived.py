"""Verbs on what is derived: derive, verify, doctor, demo, bench. Each parses, calls, prints."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinemorph.cli.application import FAILED, WELL, Json, app, out, put, say, told, working
from kinemorph.cli.options.model_argument import ROBOT_HELP, RobotName, chosen, chosen_robot, reads_models
from kinemorph.deriving.function_names import FRAME_FUNCTIONS, FUNCTIONS, REDUCED_FUNCTIONS
from kinemorph.errors import KinemorphError
from kinemorph.formats.sources import Options

if TYPE_CHECKING:
    from kinemorph.display.equations.equations_of_motion import ParameterChoice

Formulation = Annotated[str, typer.Option(help="newton_euler, lagrange or closed_form.")]


class Emit(StrEnum):
    """What `derive` gives."""

    summary = "summary"
    text = "text"
    latex = "latex"
    sympy = "sympy"
    python = "python"
    matlab = "matlab"
    c = "c"
    cuda = "cuda"
    llvm = "llvm"
    graph = "graph"


class Precision(StrEnum):
    """Of the numbers in emitted source."""

    float64 = "float64"
    float32 = "float32"


@app.command()
@reads_models
def derive(
    robot: RobotName,
    options: Options,
    formulation: Formulation = "newton_euler",
    function: Annotated[
        list[str] | None, typer.Option(help=f"One of: {', '.join(FUNCTIONS)}. May be repeated.", show_default=False)
    ] = None,
    frame: Annotated[str | None, typer.Option(help=f"Frame or body, for {', '.join(FRAME_FUNCTIONS)}.")] = None,
    reference: Annotated[str, typer.Option(help="Of a Jacobian: local, world, local_world_aligned.")] = "local",
    emit: Annotated[
        Emit, typer.Option(metavar="FORM", help=f"What to give: {', '.join(form.value for form in Emit)}.")
    ] = Emit.summary,
    parameters: Annotated[
        str | None, typer.Option(help="Kept as symbols: all, none, or names with commas; formulas keep all.")
    ] = None,
    precision: Annotated[Precision, typer.Option(help="Of numbers in c, cuda, python, matlab.")] = Precision.float64,
    independent: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT", help="Of a robot with loops: what reduced functions go by. May be repeated."),
    ] = None,
    actuated: Annotated[
        list[str] | None, typer.Option(metavar="JOINT", help="Where forces of these functions act. May be repeated.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="Q", help="Configuration near which these are chosen: numbers with commas.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="[s], of the fast dynamics that close loops.")] = 0.01,
    output: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write to this file, stem or folder instead of stdout.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The equations of motion: operation counts, formulas, source code in several languages, the expression graph."""
    from kinemorph.cli import emitted_forms
    from kinemorph.display.tables import terminal
    from kinemorph.display.tables.summaries import Split

    system = chosen(robot, options)
    model = system.robot
    _check_options(function or [], frame)
    given = {"--independent": independent, "--actuated": actuated, "--at": at}
    _check_split(function or [], [option for option, value in given.items() if value])
    start = _numbers(at, "--at") if at is not None else list(system.settings.q or ()) or None
    place = None if output is None else emitted_forms.target(output)
    with working(f"deriving {model.name}"):
        data = emitted_forms.emitted(
            model,
            emit.value,
            formulation,
            function or (),
            frame=frame,
            reference=reference,
            parameters=_parameter_choice(parameters, default=emitted_forms.default_parameters(emit.value)),
            precision=precision.value,
            name=None if place is None else place.name,
            split=Split(independent or None, actuated or None, start, epsilon),
        )
    for note in emitted_forms.notes(model, data):
        say(f"note: {note}")
    if place is not None:
        data["output"] = [str(path) for path in emitted_forms.write_files(place, data)]
        for path in data["output"]:
            say(f"wrote {path}")
        if not as_json:
            return
    if emit is Emit.summary or as_json:
        put(data, as_json, lambda data: [terminal.function_table(data["functions"], data["robot"])])
    else:
        out(emitted_forms.as_text(data))


def _check_options(functions: list[str], frame: str | None) -> None:
    """Refuses options that would do nothing."""
    for k, name in enumerate(functions):
        if name in functions[:k]:
            raise KinemorphError(f"--function '{name}' is given twice. Name it once.")
    if frame is not None and not functions:
        listed = ", ".join(FRAME_FUNCTIONS)
        raise KinemorphError(f"--frame '{frame}' needs --function with one of: {listed}. Say which is wanted.")


def _check_split(functions: list[str], options: list[str]) -> None:
    """Refuses options on the split of velocities where no function asks for it."""
    wanted = ("actuation", *REDUCED_FUNCTIONS)
    if options and not set(functions) & set(wanted):
        raise KinemorphError(f"{options[0]} needs --function with one of: {', '.join(wanted)}. Say which is wanted.")


def _numbers(text: str, option: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise KinemorphError(f"{option} is '{text}'; expected numbers with commas, as 0.6,0.03,1.6.") from None


def _parameter_choice(given: str | None, *, default: ParameterChoice) -> ParameterChoice:
    if given is None:
        return default
    if given in ("all", "none"):
        return "all" if given == "all" else None
    return [name.strip() for name in given.split(",") if name.strip()]


@app.command()
@reads_models
def verify(
    robot: RobotName,
    options: Options,
    states: Annotated[int, typer.Option(min=1, help="Random states to look at.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Of the random states.")] = 0,
    formulation: Formulation = "newton_euler",
    as_json: Json = False,
) -> None:
    """Checks the derived model: laws of mechanics, the other formulations, compiled against interpreted code."""
    from kinemorph.analysis.verification import verify as verification
    from kinemorph.deriving.dynamics import derive as derived
    from kinemorph.display.tables import terminal

    model = chosen_robot(robot, options)
    with working(f"verifying {model.name}"):
        verdict = verification.verify(derived(model, formulation), states=states, seed=seed)  # type: ignore[arg-type]
    put(verdict.as_dict(), as_json, terminal.check_tables)
    raise typer.Exit(WELL if verdict.passed else FAILED)


@app.command()
def doctor(
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", metavar="", help="Only empty the cache of compiled code.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Python, LLVM and its target CPU, SIMD width, cache, optional packages, and a self-test."""
    from kinemorph.cli import doctor as environment
    from kinemorph.display.tables import terminal

    if clear_cache:
        state = environment.clear_cache()
        put(state, as_json, terminal.cleared_tables)
        raise typer.Exit(FAILED if state["files"] else WELL)
    data = environment.environment()
    put(data, as_json, terminal.environment_tables)
    raise typer.Exit(WELL if data["ok"] else FAILED)


@app.command()
@reads_models
def demo(
    options: Options,
    output: Annotated[Path, typer.Option(help="Folder for pictures and summaries.")] = Path("out"),
    robot: Annotated[str | None, typer.Option(help=f"In place of the organism. {ROBOT_HELP}")] = None,
    as_json: Json = False,
) -> None:
    """Assembles an organism of nine modules, derives and verifies it, and lets it crawl; or shows a robot.

    Pictures, tables, a replay and a summary go to a folder.
    """
    from kinemorph.cli.demo import crawl_demo, robot_demo
    from kinemorph.display.tables import terminal

    if robot is None:
        with working("assembling nine modules") as tell:
            data = crawl_demo.crawl_showcase(output, tell)
    else:
        model = chosen_robot(robot, options)
        with working(f"deriving {model.name}") as tell:
            data = robot_demo.showcase(model, output, tell)
    put(data, as_json, terminal.demo_tables)
    raise typer.Exit(WELL if data["passed"] else FAILED)


@app.command()
def bench(
    table: Annotated[
        str | None,
        typer.Argument(
            help="speed (where nothing is said), compile, growth, load: model files, replay: pages, simulate: runs, "
            "loops: closed chains, or modules: docked ones, and again while they move.",
            metavar="TABLE",
        ),
    ] = None,
    robot: Annotated[
        list[str] | None, typer.Option(help="A robot of the table, a built-in one, or a model file. May be repeated.")
    ] = None,
    algorithm: Annotated[
        list[str] | None, typer.Option(help="RNEA, CRBA, ABA, dRNEA, dABA, FK or Jacobian. May be repeated.")
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(help="scalar, batched, all-cores, python-raw or python-call. May be repeated."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", metavar="", help="Two robots and fewer rounds.")] = False,
    compile_times: Annotated[
        bool, typer.Option("--compile", metavar="", help="Instead: times from a robot to machine code.")
    ] = False,
    growth: Annotated[
        bool, typer.Option("--growth", metavar="", help="Instead: growth with the number of links.")
    ] = False,
    robots: Annotated[
        Path | None, typer.Option(help="A JSON file of stored robots, which take precedence.", show_default=False)
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Where to draw errors and times of `simulate` or `loops`, .png, .svg or .pdf.", show_default=False
        ),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", metavar="", help="Print tables for a page.")] = False,
    as_json: Json = False,
) -> None:
    """Times side by side with Pinocchio's: its C++, built once for this CPU, and its Python package; runs with more."""
    from kinemorph.bench import report as running

    if as_json and markdown:
        raise KinemorphError("--json and --markdown both say how to print. Give one of them.")
    which = running.table_of(table, compile_times, growth)
    if picture is not None and which not in running.DRAWN:
        drawn = " and ".join(f"'{name}'" for name in running.DRAWN)
        raise KinemorphError(
            f"--picture draws the tables {drawn}, not '{which}'. Leave it out, or ask for one of these."
        )
    chosen = running.chosen(which, robot, algorithm, mode, quick=quick, file=robots)
    with told(), working("measuring") as tell:
        report = running.measured(chosen, say=tell, note=lambda message: say(f"note: {message}"))
    if picture is not None:
        report.draw(picture)
    if markdown:
        out(report.as_page())
    else:
        put(report.rows, as_json, lambda rows: report.for_terminal())
    raise typer.Exit(WELL if report.agreed else FAILED)
