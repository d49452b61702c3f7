"""The command `kinemorph`: one function per verb; each parses, calls, prints.

Data go to stdout, messages to stderr. Exit codes: 0 well, 1 a check failed, 2 bad input; besides, 130 interrupted, 141
the reader of a pipe has gone, 70 a mistake of ours. Errors are sentences; KINEMORPH_TRACEBACK=1 shows where they arose.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from kinemorph import __version__
from kinemorph.deriving import FRAME_FUNCTIONS
from kinemorph.display.menu import FUNCTIONS
from kinemorph.errors import KinemorphError, ModelError, did_you_mean
from kinemorph.model.library import LIBRARY
from kinemorph.model.library.choosing import choose, signatures

if TYPE_CHECKING:
    from kinemorph.display.equations import ParameterChoice

WELL, CHECK_FAILED, BAD_INPUT, OUR_MISTAKE, INTERRUPTED, PIPE_GONE = 0, 1, 2, 70, 130, 141
UNEXPECTED = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError, LookupError),
    *(MemoryError, OSError, RuntimeError, TypeError, ValueError),
)


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


# what the parser raises for wrong usage; it has no public name in all versions of Typer
USAGE_ERROR: type[Exception] = next(kind for kind in typer.BadParameter.mro() if kind.__name__ == "ClickException")


class Verbs(TyperGroup):
    """The verbs, with every error turned into a sentence and an exit code."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Parse and run; the parser's own errors become sentences like all others."""
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except USAGE_ERROR as error:
            message: Any = error
            context = getattr(error, "ctx", None)
            path = context.command_path if context else "kinemorph"
            # enums are checked by more than one parser; some put their own words before the sentence
            text = message.format_message().replace("Value error, ", "").rstrip(".")
            print(f"error: {text}. See `{path} --help`.", file=sys.stderr)
            sys.exit(BAD_INPUT)
        except typer.Abort:
            sys.exit(INTERRUPTED)
        sys.exit(code if isinstance(code, int) else WELL)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a verb; an unknown one is answered with the nearest that exists."""
        found = super().get_command(ctx, cmd_name)
        if found is None:
            verbs = self.list_commands(ctx)
            hint = did_you_mean(cmd_name, verbs)
            raise KinemorphError(f"there is no verb '{cmd_name}'.{hint} Verbs: {', '.join(verbs)}.")
        return found

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KinemorphError as error:
            for line in error.problems if isinstance(error, ModelError) else str(error).splitlines():
                print(f"error: {line}", file=sys.stderr)
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the last flush is quiet, too
            raise typer.Exit(PIPE_GONE) from None
        except (typer.Exit, typer.Abort):  # the parser's own, though it makes them RuntimeErrors
            raise
        except UNEXPECTED as error:
            if os.environ.get("KINEMORPH_TRACEBACK"):
                raise
            print(f"error: unexpected {type(error).__name__}: {error}", file=sys.stderr)
            print("This is a mistake in kinemorph; KINEMORPH_TRACEBACK=1 shows where it happened.", file=sys.stderr)
            raise typer.Exit(OUR_MISTAKE) from None


app = typer.Typer(
    cls=Verbs,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Derives a robot's equations of motion, checks them, and compiles them for that one robot.",
    epilog=f"Built-in robots: {', '.join(LIBRARY)}. Their data follow a colon: chain:20, pendulum:mass=2.",
)

ROBOT_HELP = f"A built-in robot: {', '.join(LIBRARY)}; with data: chain:20."
RobotName = Annotated[str, typer.Argument(metavar="ROBOT", help=ROBOT_HELP, show_default=False)]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print data as JSON.")]
Formulation = Annotated[str, typer.Option(help="newton_euler or lagrange.")]


def main() -> None:
    """Run the command line."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"kinemorph {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of the command itself; alone, it prints its help."""
    if ctx.invoked_subcommand is None:
        _out(ctx.get_help().rstrip() + "\n")


# ── printing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _put(data: Any, as_json: bool, tables: Callable[[Any], list[Any]]) -> None:
    """Data on stdout: as JSON, or as tables."""
    from kinemorph.display.tables import rendered

    text = json.dumps(data, indent=2, allow_nan=False) + "\n" if as_json else rendered(tables(data), sys.stdout)
    _out(text)


def _out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _say(message: str) -> None:
    print(message, file=sys.stderr)


@contextlib.contextmanager
def _working(message: str) -> Iterator[Callable[[str], None]]:
    """A spinner on stderr while work goes on, where stderr is a terminal. Gives a function that changes its message."""
    if not sys.stderr.isatty():
        yield lambda message: None
        return
    from rich.console import Console

    with Console(stderr=True).status(message) as status:
        yield status.update


# ── verbs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@app.command()
def info(
    robot: Annotated[str | None, typer.Argument(metavar="[ROBOT]", help=ROBOT_HELP)] = None, as_json: Json = False
) -> None:
    """Bodies, joints, coordinates, limits and conventions of a robot; without a robot, the list of built-in ones."""
    from kinemorph.display import summaries, tables

    if robot is not None:
        _put(summaries.robot_summary(choose(robot)), as_json, tables.robot_tables)
    else:
        rows = [
            {**summaries.robot_line(choose(name)), "name": name, "data": data} for name, data in signatures().items()
        ]
        _put(rows, as_json, tables.library_tables)


@app.command()
def derive(
    robot: RobotName,
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
    output: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write to this file, stem or folder instead of stdout.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The equations of motion: operation counts, formulas, source code in several languages, the expression graph."""
    from kinemorph.display import emitting, tables

    model = choose(robot)
    _check_options(function or [], frame)
    place = None if output is None else emitting.target(output)
    with _working(f"deriving {model.name}"):
        data = emitting.emitted(
            model,
            emit.value,
            formulation,
            function or (),
            frame=frame,
            reference=reference,
            parameters=_parameter_choice(parameters, default=emitting.default_parameters(emit.value)),
            precision=precision.value,
            name=None if place is None else place.name,
        )
    for note in emitting.notes(model, data):
        _say(f"note: {note}")
    if place is not None:
        data["output"] = [str(path) for path in emitting.write_files(place, data)]
        for path in data["output"]:
            _say(f"wrote {path}")
        if not as_json:
            return
    if emit is Emit.summary or as_json:
        _put(data, as_json, lambda data: [tables.function_table(data["functions"], data["robot"])])
    else:
        _out(emitting.as_text(data))


def _check_options(functions: list[str], frame: str | None) -> None:
    """Refuses options that would do nothing."""
    for k, name in enumerate(functions):
        if name in functions[:k]:
            raise KinemorphError(f"--function '{name}' is given twice. Name it once.")
    if frame is not None and not functions:
        listed = ", ".join(FRAME_FUNCTIONS)
        raise KinemorphError(f"--frame '{frame}' needs --function with one of: {listed}. Say which is wanted.")


def _parameter_choice(given: str | None, *, default: ParameterChoice) -> ParameterChoice:
    if given is None:
        return default
    if given in ("all", "none"):
        return "all" if given == "all" else None
    return [name.strip() for name in given.split(",") if name.strip()]


@app.command()
def verify(
    robot: RobotName,
    states: Annotated[int, typer.Option(min=1, help="Random states to look at.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Of the random states.")] = 0,
    formulation: Formulation = "newton_euler",
    as_json: Json = False,
) -> None:
    """Checks the derived model: laws of mechanics, the other formulation, compiled against interpreted code."""
    from kinemorph.analysis import verification
    from kinemorph.deriving import derive as derived
    from kinemorph.display import tables

    model = choose(robot)
    with _working(f"verifying {model.name}"):
        verdict = verification.verify(derived(model, formulation), states=states, seed=seed)  # type: ignore[arg-type]
    _put(verdict.as_dict(), as_json, tables.check_tables)
    raise typer.Exit(WELL if verdict.passed else CHECK_FAILED)


@app.command()
def doctor(
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", metavar="", help="Only empty the cache of compiled code.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Python, LLVM and its target CPU, SIMD width, cache, optional packages, and a self-test."""
    from kinemorph.display import environment, tables

    if clear_cache:
        state = environment.clear_cache()
        _put(state, as_json, tables.cleared_tables)
        raise typer.Exit(CHECK_FAILED if state["files"] else WELL)
    data = environment.environment()
    _put(data, as_json, tables.environment_tables)
    raise typer.Exit(WELL if data["ok"] else CHECK_FAILED)


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Folder for pictures and summaries.")] = Path("out"),
    robot: Annotated[str, typer.Option(help=ROBOT_HELP)] = "hexapod36",
    as_json: Json = False,
) -> None:
    """Derives, verifies and draws a built-in robot; pictures and a summary go to a folder."""
    from kinemorph.display import showcase, tables

    model = choose(robot)
    with _working(f"deriving {model.name}") as say:
        data = showcase.showcase(model, output, say)
    _put(data, as_json, tables.demo_tables)
    raise typer.Exit(WELL if data["passed"] else CHECK_FAILED)


@app.command()
def bench(
    table: Annotated[
        str | None,
        typer.Argument(
            help="speed (where nothing is said), compile, growth, or simulate: runs in time.", metavar="TABLE"
        ),
    ] = None,
    robot: Annotated[
        list[str] | None, typer.Option(help="A robot of the table, or a built-in one. May be repeated.")
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
    markdown: Annotated[bool, typer.Option("--markdown", metavar="", help="Print tables for a page.")] = False,
    as_json: Json = False,
) -> None:
    """Times side by side with Pinocchio's: its C++, built once for this CPU, and its Python package; runs with more."""
    from kinemorph.bench import running

    if as_json and markdown:
        raise KinemorphError("--json and --markdown both say how to print. Give one of them.")
    chosen = running.chosen(
        running.table_of(table, compile_times, growth), robot, algorithm, mode, quick=quick, file=robots
    )
    with _working("measuring") as say:
        report = running.measured(chosen, say=say, note=lambda message: _say(f"note: {message}"))
    if markdown:
        _out(report.as_page())
    else:
        _put(report.rows, as_json, lambda rows: report.for_terminal())
    raise typer.Exit(WELL if report.agreed else CHECK_FAILED)
