"""The command `kinemorph`: a Typer application of verbs, its exit codes, and how verbs print.

Data go to stdout, messages to stderr. Exit codes: 0 success, 1 a check or a run failed, 2 bad input, 70 an error inside
kinemorph, 130 interrupted, 141 the reader of a pipe has closed it. Errors are sentences; KINEMORPH_TRACEBACK=1 shows
where they were raised.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import io
import json
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import is_dataclass
from datetime import date
from importlib import import_module
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from kinemorph import __version__
from kinemorph.disk_cache import NUMBERS, code_cache
from kinemorph.errors import KinemorphError, ModelError
from kinemorph.words import did_you_mean

WELL, FAILED, BAD_INPUT, INTERNAL_ERROR, INTERRUPTED, PIPE_GONE = 0, 1, 2, 70, 130, 141
# every verb is a file of `verbs`, imported when the verb is called; the help lists them in this order
VERBS = (
    *("new", "check", "info", "assemble", "derive", "verify", "simulate", "gait", "analyze", "optimize", "sweep"),
    *("study", "excite", "identify", "track", "show", "studio", "export", "program", "report", "doctor", "demo"),
    "bench",
)
PAGES = ("show", "studio", "report")  # verbs in the folder `verbs/pages`
IMPORTED: dict[str, typer.Typer] = {}  # the verbs whose files have been imported, each with its options
LINE_EVERY = 30.0  # [s] between lines about long work, where stderr is no terminal
LONGEST = 1000  # characters; longer texts of unexpected errors are cut off
UNEXPECTED = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError, LookupError),
    *(MemoryError, OSError, RuntimeError, TypeError, ValueError),
)
# the exception that the parser raises for wrong usage; not all versions of Typer give it a public name
USAGE_ERROR: type[Exception] = next(kind for kind in typer.BadParameter.mro() if kind.__name__ == "ClickException")
# what some versions of the parser add to sentences about a wrong choice
ADDED = ("Value error, ", " (env var: 'None')")


class Verbs(TyperGroup):
    """The group of all verbs. It turns every error into a sentence and an exit code."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Parses and runs a command line, then exits. Errors of the parser are printed like all other errors."""
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except USAGE_ERROR as error:
            message: Any = error
            context = getattr(error, "ctx", None)
            path = context.command_path if context else "kinemorph"
            text = " ".join(message.format_message().split()).rstrip(".")
            for added in ADDED:
                text = text.replace(added, "")
            print(f"error: {text}. See `{path} --help`.", file=sys.stderr)
            sys.exit(BAD_INPUT)
        except typer.Abort:
            sys.exit(INTERRUPTED)
        sys.exit(code if isinstance(code, int) else WELL)

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs in the order of VERBS: from a new model to its runs."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of the verb `cmd_name`, whose file is imported now; only the help imports those of all verbs.

        The error for an unknown verb suggests the most similar name.
        """
        if cmd_name not in VERBS:
            hint = did_you_mean(cmd_name, VERBS)
            raise KinemorphError(f"there is no verb '{cmd_name}'.{hint} Verbs: {', '.join(VERBS)}.")
        if cmd_name not in self.commands:
            import_module(f"kinemorph.cli.verbs.{'pages.' if cmd_name in PAGES else ''}{cmd_name}")
            self.commands[cmd_name] = typer.main.get_command(IMPORTED[cmd_name])
        return self.commands[cmd_name]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Writes the help; it ends with the names of the built-in robots, which are imported for it."""
        from kinemorph.model.library.choosing import CHOICE

        self.epilog = (
            "ROBOT is a model file (URDF, xacro, SDF, MJCF, TOML, DH, CAGeM) or a built-in robot: "
            f"{', '.join(CHOICE)}. Arguments of a built-in robot follow a colon: chain:20, pendulum:mass=2."
        )
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Runs the verb. Every error is printed as a sentence to stderr and becomes an exit code."""
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
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the last flush raises nothing
            raise typer.Exit(PIPE_GONE) from None
        except (typer.Exit, typer.Abort):  # raised by the parser; they are RuntimeErrors, too
            raise
        except UNEXPECTED as error:
            if os.environ.get("KINEMORPH_TRACEBACK"):
                raise
            print(f"error: unexpected {type(error).__name__}: {str(error)[:LONGEST]}", file=sys.stderr)
            print("This is a bug in kinemorph. Set KINEMORPH_TRACEBACK=1 to see where it happened.", file=sys.stderr)
            raise typer.Exit(INTERNAL_ERROR) from None


app = typer.Typer(
    cls=Verbs,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Derives a robot's equations of motion, checks them, and compiles them for that one robot.",
)


def option(
    help: str, metavar: str | None = None, *, default: str | bool = True, names: tuple[str, ...] = (), **more: Any
) -> Any:
    """An option of a verb. The help shows `default` as its default value; False shows none."""
    return typer.Option(*names, metavar=metavar, help=help, show_default=default, **more)


def flag(name: str, help: str, **more: Any) -> Any:
    """An option that is switched on by its name and takes no value."""
    return typer.Option(name, metavar="", help=help, **more)


Json = Annotated[bool, flag("--json", "Print the results as JSON.", is_eager=True)]  # read before options that list
Quiet = Annotated[bool, flag("--quiet", "Leave out warnings.")]
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


class Verb(TyperCommand):
    """The command of a verb. It refuses an option with a value that is given twice, of which only one would count."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments of the command line; raises KinemorphError for an option that is given again."""
        *_, order = self.make_parser(ctx).parse_args(args=list(args))
        for param, count in Counter(order).items():
            if count > 1 and not (param.multiple or getattr(param, "is_flag", False)):
                what = "expected once, because only one value can count"
                raise KinemorphError(f"{param.opts[0]} is given {count} times, {what}. Leave the others out.")
        return super().parse_args(ctx, args)


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """Registers a function as a verb, which gets the option --quiet.

    A parameter whose type is a dataclass of options becomes one option per field.

    `scenes: Annotated[SceneOptions, "gif", "mp4"]` offers only these two fields as options; the other fields keep
    their defaults.
    """
    listed: list[inspect.Parameter] = []
    groups: dict[str, tuple[Any, tuple[str, ...]]] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        record, *chosen = get_args(parameter.annotation) or (parameter.annotation,)
        if not is_dataclass(record):
            listed.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        types = get_type_hints(record, include_extras=True)
        groups[parameter.name] = record, tuple(chosen or types)
        for name in groups[parameter.name][1]:
            kind, default = inspect.Parameter.KEYWORD_ONLY, getattr(record, name)
            listed.append(inspect.Parameter(name, kind, default=default, annotation=types[name]))

    own = any(parameter.name == "quiet" for parameter in listed)  # with a wider meaning
    if not own:
        listed.append(inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Quiet))

    @functools.wraps(function)
    def with_groups(**given: Any) -> None:
        _quiet.set(given["quiet"] if own else given.pop("quiet"))
        for group, (record, names) in groups.items():
            given[group] = record(**{name: given.pop(name) for name in names})
        with warnings.catch_warnings():
            if _quiet.get():
                warnings.simplefilter("ignore")
            function(**given)

    del with_groups.__wrapped__  # so that the parser reads the new signature, not that of `function`
    with_groups.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {parameter.name: parameter.annotation for parameter in listed}
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    IMPORTED[function.__name__] = command = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    return command.command(cls=Verb, help="\n\n".join(" ".join(text.split()) for text in paragraphs))(with_groups)


def main() -> None:
    r"""Runs the command line. Characters that a terminal cannot show are printed as escapes, such as \xe9."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _print_version(wanted: bool) -> None:
    """Prints the version and exits, where --version is given."""
    if wanted:
        print(f"kinemorph {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    ctx: typer.Context,
    version: Annotated[bool, flag("--version", "Print the version.", callback=_print_version, is_eager=True)] = False,
) -> None:
    """Handles the options before the verb, such as --version. Prints the help where no verb is given."""
    if ctx.invoked_subcommand is None:
        out(ctx.get_help().rstrip() + "\n")


# ── printing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def put(data: Any, as_json: bool, tables: Callable[[Any], Any] | None = None) -> None:
    """Prints data to stdout: as JSON, or as the tables or the sheet that the function `tables` makes of the data.

    A sheet needs no such function.
    """
    from kinemorph.display.faces.terminal import parts_of, rendered
    from kinemorph.sheet import Sheet

    if as_json:
        text = json.dumps(data.data() if tables is None else data, indent=2, allow_nan=False) + "\n"
    else:
        found = data if tables is None else tables(data)
        text = rendered(parts_of(found) if isinstance(found, Sheet) else found, sys.stdout)
    out(text)


def out(text: str) -> None:
    """Writes text to stdout and flushes it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def today() -> str:
    """The date of this day."""
    return date.today().isoformat()


def say_once_a_day(message: str, *known: bytes) -> bool:
    """Whether the warnings about what is `known`, such as a file, were told today; then `message` stands for them."""
    cache, day = code_cache(), today().encode()
    name = hashlib.sha256(b"told" + b"".join(known)).hexdigest()
    if cache is None or _quiet.get():
        return False
    if cache.read(name, NUMBERS) == day:
        say(message)
        return True
    cache.write(name, day, NUMBERS)
    return False


def say(message: str) -> None:
    """Prints a message to stderr."""
    print(message, file=sys.stderr, flush=True)


@contextlib.contextmanager
def reported_warnings() -> Iterator[None]:
    """Prints warnings that are issued inside this context to stderr, also where an error ends it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for warning in () if _quiet.get() else caught:
                say(f"warning: {warning.message}")


@contextlib.contextmanager
def working(message: str) -> Iterator[Callable[[str], None]]:
    """Shows a spinner with a message while the context is open; a stderr that is no terminal gets lines instead.

    Yields a function that changes the message. After two seconds of deriving or compiling, the message says what is
    being made and how long it has taken so far; a stderr that is no terminal then gets a line, and another one whenever
    LINE_EVERY has passed, so that whoever waits for a long command sees that it works.
    """
    from kinemorph.codegen.work_clock import reported_by

    told = [message]
    if not sys.stderr.isatty():
        due = [0.0]

        def say_at_times(work: str) -> None:
            if work and time.monotonic() >= due[0]:
                due[0] = time.monotonic() + LINE_EVERY
                say(f"{told[0]} ({work})")

        with reported_by(say_at_times):
            yield lambda message: told.__setitem__(0, message)
        return
    from rich.console import Console

    def tell(message: str) -> None:
        told[0] = message
        status.update(message)

    def report(work: str) -> None:
        status.update(f"{told[0]} ({work})" if work else told[0])

    with Console(stderr=True).status(message) as status, reported_by(report):
        yield tell
