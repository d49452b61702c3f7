"""The verb `derive`: prints or writes operation counts, formulas and source code of the functions of a robot."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from kinemorph.cli.application import Json, option, out, put, say, verb, working
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen
from kinemorph.cli.output_files import wrote
from kinemorph.deriving.function_names import FRAME_FUNCTIONS, FUNCTIONS, IMPACT_FUNCTION, REDUCED_FUNCTIONS
from kinemorph.errors import KinemorphError
from kinemorph.words import listed

if TYPE_CHECKING:
    from kinemorph.display.equations.equations_of_motion import ParameterChoice

Formulation = Annotated[
    str,
    option(
        "How the equations are derived: newton_euler, lagrange, closed_form, dalembert, incidence or quasicoordinates."
    ),
]


class Emit(StrEnum):
    """The forms that --emit chooses from; `emitted_forms.FORMS` has a row for each."""

    summary = "summary"
    text = "text"
    latex = "latex"
    typst = "typst"
    mathml = "mathml"
    sympy = "sympy"
    python = "python"
    matlab = "matlab"
    c = "c"
    cuda = "cuda"
    llvm = "llvm"
    graph = "graph"


class Precision(StrEnum):
    """The precisions of numbers in source code that --precision chooses from."""

    float64 = "float64"
    float32 = "float32"


@verb
def derive(
    robot: RobotName,
    formulation: Formulation = "newton_euler",
    function: Annotated[
        list[str] | None, option(f"Function to derive, one of: {', '.join(FUNCTIONS)}. May be repeated.", default=False)
    ] = None,
    frame: Annotated[
        str | None,
        option(
            f"Frame or body for {', '.join(FRAME_FUNCTIONS)}; for impact one or more, separated by commas; for "
            "wrench_regressor one or more joints."
        ),
    ] = None,
    reference: Annotated[
        str | None,
        option(
            "Axes of a Jacobian: local, world, local_world_aligned; axes and point of reference of joint_wrenches: "
            "joint, child, parent, world.",
            default="local; joint for joint_wrenches",
        ),
    ] = None,
    order: Annotated[
        str,
        option(
            "Twists in the matrices that --formulation incidence --function block_matrices prints: vw for [linear; "
            "angular], wv for [angular; linear] as in the paper."
        ),
    ] = "vw",
    part: Annotated[str, option("Part of joint_wrenches: whole, actuation or constraint.")] = "whole",
    emit: Annotated[Emit, option(f"What to print: {', '.join(Emit)}.", "FORM")] = Emit.summary,
    parameters: Annotated[
        str | None,
        option(
            "Parameters to keep as symbols: all, none, or names separated by commas.",
            default="all for formulas, none for source code",
        ),
    ] = None,
    precision: Annotated[Precision, option("Precision of numbers in c, cuda, python, matlab.")] = Precision.float64,
    independent: Annotated[
        list[str] | None,
        option("For a robot with loops: an independent joint of the reduced functions. May be repeated.", "JOINT"),
    ] = None,
    actuated: Annotated[
        list[str] | None,
        option("For a robot with loops: an actuated joint of the reduced functions. May be repeated.", "JOINT"),
    ] = None,
    at: Annotated[
        str | None,
        option("Configuration at which independent joints are chosen automatically: numbers separated by commas.", "Q"),
    ] = None,
    epsilon: Annotated[
        float, option("Singular perturbation: time constant in seconds with which loops are closed.")
    ] = 0.01,
    output: Annotated[
        str | None, option("Write to this file, stem or folder instead of stdout; files get exactly this name.", "PATH")
    ] = None,
    *,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Derives the equations of motion: operation counts, formulas, source code in several languages, or a graph."""
    from kinemorph.cli import emitted_files
    from kinemorph.display.exports import emitted_forms
    from kinemorph.display.tables.summaries import Split, function_table
    from kinemorph.sheet import Sheet

    system = chosen(robot, reading)
    model = system.robot
    _check_options(function or [], frame, part)
    given = {"--independent": independent, "--actuated": actuated, "--at": at}
    _check_split(function or [], [option for option, value in given.items() if value])
    start = _numbers(at, "--at") if at is not None else list(system.settings.q or ()) or None
    place = None if output is None else emitted_files.target(output, emit.value, len(function or ()) or 1)
    with working(f"deriving {model.name}"):
        data = emitted_forms.emitted(
            system,
            emit.value,
            formulation,
            function or (),
            frame=frame,
            reference=reference,
            part=part,
            order=order,  # type: ignore[arg-type]
            parameters=_parameter_choice(parameters, default=emitted_forms.default_parameters(emit.value)),
            precision=precision.value,
            stem=None if place is None else place.stem,
            split=Split(independent or None, actuated or None, start, epsilon),
        )
    for note in emitted_forms.notes(system, data):
        say(f"note: {note}")
    if place is not None:
        data["output"] = wrote(emitted_files.write_files(place, data))
        if not as_json:
            return
    if emit is Emit.summary or as_json:
        put(data, as_json, lambda data: Sheet("Functions of", data["robot"], [function_table(data["functions"])]))
    else:
        out(emitted_forms.as_text(data))


def _check_options(functions: list[str], frame: str | None, part: str) -> None:
    """Raises KinemorphError for a function that is named twice, and for --frame or --part without their functions."""
    for k, name in enumerate(functions):
        if name in functions[:k]:
            raise KinemorphError(f"--function '{name}' is given twice; expected once. Remove one of the two.")
    if frame is not None and not functions:
        raise KinemorphError(
            f"--frame is '{frame}', but no function of a frame is named. Give --function with one of: "
            f"{listed((*FRAME_FUNCTIONS, IMPACT_FUNCTION))}."
        )
    if part != "whole" and "joint_wrenches" not in functions:
        raise KinemorphError(
            f"--part is '{part}', but joint_wrenches is not named. Give --function joint_wrenches, or leave --part out."
        )


def _check_split(functions: list[str], options: list[str]) -> None:
    """Raises KinemorphError if an option that chooses independent joints is given, but no function that uses them."""
    wanted = ("actuation", *REDUCED_FUNCTIONS)
    if options and not set(functions) & set(wanted):
        raise KinemorphError(
            f"{options[0]} is given, but no function with independent joints is named. Give --function with one of: "
            f"{listed(wanted, len(wanted))}."
        )


def _numbers(text: str, option: str) -> list[float]:
    """The numbers in the text of an option, which are separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise KinemorphError(
            f"{option} is '{text}'; expected numbers separated by commas. Write for example 0.6,0.03,1.6."
        ) from None


def _parameter_choice(given: str | None, *, default: ParameterChoice) -> ParameterChoice:
    """The value of --parameters: "all", None for `none`, or a list of names; `default` where it is not given."""
    if given is None:
        return default
    if given in ("all", "none"):
        return "all" if given == "all" else None
    return [name.strip() for name in given.split(",") if name.strip()]
