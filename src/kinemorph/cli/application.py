"""The command itself: its verbs as one Typer application, exit codes, and how verbs print.

Data go to stdout, messages to stderr. Exit codes: 0 well, 1 a check or a run failed, 2 bad input; besides, 130
interrupted, 141 the reader of a pipe has gone, 70 a mistake of ours. Errors are sentences; KINEMORPH_TRACEBACK=1 shows
where they arose.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kinemorph import __version__
from kinemorph.errors import KinemorphError, ModelError
from kinemorph.model.library.choosing import CHOICE
from kinemorph.words import did_you_mean

WELL, FAILED, BAD_INPUT, OUR_MISTAKE, INTERRUPTED, PIPE_GONE = 0, 1, 2, 70, 130, 141
VERBS = (
    *("new", "check", "info", "assemble", "derive", "verify", "simulate", "gait", "analyze", "show"),
    *("export", "doctor", "demo", "bench"),
)
LONGEST = 1000  # characters of what Python says about an unexpected error
UNEXPECTED = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError, LookupError),
    *(MemoryError, OSError, RuntimeError, TypeError, ValueError),
)
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
            text = " ".join(message.format_message().split()).replace("Value error, ", "").rstrip(".")
            print(f"error: {text}. See `{path} --help`.", file=sys.stderr)
            sys.exit(BAD_INPUT)
        except typer.Abort:
            sys.exit(INTERRUPTED)
        sys.exit(code if isinstance(code, int) else WELL)

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs in the order in which one meets them."""
        known = super().list_commands(ctx)
        return [*(verb for verb in VERBS if verb in known), *(verb for verb in known if verb not in VERBS)]

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
            print(f"error: unexpected {type(error).__name__}: {str(error)[:LONGEST]}", file=sys.stderr)
            print("This is a mistake in kinemorph; KINEMORPH_TRACEBACK=1 shows where it happened.", file=sys.stderr)
            raise typer.Exit(OUR_MISTAKE) from None


app = typer.Typer(
    cls=Verbs,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Derives a robot's equations of motion, checks them, and compiles them for that one robot.",
    epilog="ROBOT is a model file (URDF, xacro, SDF, MJCF, TOML, DH) or a built-in robot: "
    f"{', '.join(CHOICE)}. The data of a built-in robot follow a colon: chain:20, pendulum:mass=2.",
)

Json = Annotated[bool, typer.Option("--json", metavar="", help="Print data as JSON.")]


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
        out(ctx.get_help().rstrip() + "\n")


# ── printing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def put(data: Any, as_json: bool, tables: Callable[[Any], list[Any]]) -> None:
    """Data on stdout: as JSON, or as tables."""
    from kinemorph.display.tables.terminal import rendered

    text = json.dumps(data, indent=2, allow_nan=False) + "\n" if as_json else rendered(tables(data), sys.stdout)
    out(text)


def out(text: str) -> None:
    """Text on stdout, at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def say(message: str) -> None:
    """A message on stderr."""
    print(message, file=sys.stderr, flush=True)


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Warnings as messages on stderr, also where an error ends the work."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for warning in caught:
                say(f"warning: {warning.message}")


@contextlib.contextmanager
def working(message: str) -> Iterator[Callable[[str], None]]:
    """A spinner on stderr while work goes on, where stderr is a terminal. Gives a function that changes its message."""
    if not sys.stderr.isatty():
        yield lambda message: None
        return
    from rich.console import Console

    with Console(stderr=True).status(message) as status:
        yield status.update
