"""Notebook cards of systems, dynamics and plants: a picture and tables.

The classes have methods `_repr_html_` that call these functions. A card never starts an expensive computation: it lists
the functions of a Dynamics that exist already, and traces or compiles none. The only exception are the equations of
small robots, whose size is limited (`small_equations`).

Notebooks that receive HTML and LaTeX show the HTML. Some typeset formulas in HTML, others show their source, so a card
has equations as SVG outlines (`formula_outlines`). `_repr_latex_` serves printing, for instance nbconvert to PDF.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Port
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.deriving.function_names import (
    BODY_FUNCTIONS,
    CONSTRAINT_FUNCTIONS,
    DERIVATIVE_FUNCTIONS,
    FRAME_FUNCTIONS,
    STATE_FUNCTIONS,
)
from kinemorph.display.canvas import units_of
from kinemorph.display.equations.equations_of_motion import WrittenEquations, equations_of_motion
from kinemorph.display.faces.card import card_of_sheet
from kinemorph.display.faces.thumbnails import Kept, Picture, graph_picture, robot_picture
from kinemorph.display.html import (
    FAINT,
    card,
    duration,
    escaped,
    listed,
    note,
    number,
    picture_of,
    section,
    table,
)
from kinemorph.display.tables.system_sheet import system_sheet
from kinemorph.errors import KinemorphError
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Column

# equations of motion are shown on a card up to these sizes
MOST_DOF = 3  # degrees of freedom of the robot
MOST_BODIES = 12  # bodies of the robot, including those with fixed joints
MOST_TRACED = 250  # operations of the traced program
MOST_WRITTEN = 160  # operations of the written equations
NAMED = 6  # columns of a plant that are listed by name

_EQUATIONS = Kept()


def pictured(picture: Picture, says: str) -> tuple[str, str]:
    """(the HTML of a picture, the HTML of its note), each "" where there is none; `says` is its alternative text."""
    shown = picture_of(picture.source, picture.width, says) if picture.source else ""
    return shown, note(picture.note) if picture.note else ""


# ── systems ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def system_card(system: System) -> str:
    """The card of a system: its sheet, and the graph of the phases of its automaton, where there is one."""
    if system.automaton is None:
        return card_of_sheet(system_sheet(system))
    drawn = graph_picture(system)
    picture = picture_of(drawn.source, drawn.width, f"the phases of {system.name}") if drawn.source else ""
    return card_of_sheet(system_sheet(system), section("phases", picture or note(drawn.note)))


def parameter_text(parameter: Parameter) -> str:
    """The text of a parameter: `m1 = 2 kg`."""
    unit = units_of(parameter.unit) if parameter.unit else ""
    return f"{parameter.name} = {number(parameter.value)} {unit}".rstrip()


def counted(count: int, what: str, several: str = "") -> str:
    """A number with its noun: `1 body`, `2 bodies`, `1,000 bodies`; the plural adds an s where none is given."""
    return f"{count:,} {what if count == 1 else several or what + 's'}"


# ── dynamics and plants ───────────────────────────────────────────────────────────────────────────────────────────────


def dynamics_card(dynamics: Dynamics) -> str:
    """The card of a Dynamics: its functions, with operation counts of those made so far; equations of small robots."""
    robot = dynamics.robot
    picture, why = pictured(robot_picture(robot), f"the robot {robot.name}")
    made = made_functions(dynamics)
    kinds = BODY_FUNCTIONS if robot.is_open else (*BODY_FUNCTIONS, *CONSTRAINT_FUNCTIONS)
    offered = [*STATE_FUNCTIONS, *DERIVATIVE_FUNCTIONS, *kinds]
    rest = [name for name in offered if name not in made] + [f"{name}(frame)" for name in FRAME_FUNCTIONS]
    rows = [_function_row(name, function) for name, function in made.items()]
    columns = ("function", "inputs", "outputs", "ops", "flops", "compiled")
    parts = [
        _equations_part(dynamics),
        table("functions made so far", columns, rows)
        or note("No function has been used yet. Each is derived and compiled when it is first used."),
        listed("made when first used", rest, most=len(rest)),
        listed("parameters as inputs", [parameter_text(parameter) for parameter in dynamics.parameters]),
        listed("outside wrenches at", list(dynamics.wrenches)),
        why,
    ]
    way = [f"{robot.nv} dof", dynamics.formulation.replace("_", "-"), dynamics.backend, dynamics.precision]
    return card("Dynamics of", robot.name, way, parts, picture=picture)


def made_functions(dynamics: Dynamics) -> dict[str, CompiledFunction]:
    """The functions of a Dynamics that exist already, {name: function}; it makes no new ones."""
    kept = {name: value for name, value in vars(dynamics).items() if isinstance(value, CompiledFunction)}
    order = (*STATE_FUNCTIONS, *DERIVATIVE_FUNCTIONS, *BODY_FUNCTIONS, *CONSTRAINT_FUNCTIONS)
    return {name: kept[name] for name in order if name in kept} | dynamics._made


def _function_row(name: str, function: CompiledFunction) -> list[str]:
    made = "interpreted" if function.backend == "interpreter" else f"in {duration(function.compile_seconds)}"
    return [
        escaped(name, 40),
        escaped(_ports(function.inputs)),
        escaped(_ports(function.outputs)),
        f"{function.ops:,}",
        f"{function.flops:,}",
        escaped(made),
    ]


def _ports(ports: Sequence[Port]) -> str:
    shapes = ["×".join(map(str, port.shape)) or "1" for port in ports]
    return ", ".join(f"{port.name} {shape}" for port, shape in zip(ports, shapes, strict=True))


def _equations_part(dynamics: Dynamics) -> str:
    written = small_equations(dynamics)
    if written is None:
        return ""
    from kinemorph.display.equations.formula_outlines import outlined

    legend = f'<div style="{FAINT};font-size:11px">{escaped(" · ".join(map(units_of, written.legend)), 600)}</div>'
    try:
        return section("equations of motion", outlined(written) + legend)
    except (KinemorphError, ValueError):  # mathtext cannot typeset every symbol of a user
        return ""


def small_equations(dynamics: Dynamics) -> WrittenEquations | None:
    """The equations of motion of a small robot without loops, with its symbols; None for larger robots.

    The limits are MOST_DOF degrees of freedom, MOST_BODIES bodies, MOST_TRACED operations of the traced program and
    MOST_WRITTEN operations of the written equations; nothing is computed beyond the first limit that is exceeded.
    """
    robot = dynamics.robot
    if not 1 <= robot.nv <= MOST_DOF or len(robot.bodies) > MOST_BODIES or not robot.is_open:
        return None

    def make() -> WrittenEquations | None:
        try:
            written = equations_of_motion(robot)
        except KinemorphError:
            return None
        if any(program.ops > MOST_TRACED or program.blocks for program in written.programs):
            return None
        return written if written.ops <= MOST_WRITTEN else None

    found: WrittenEquations | None = _EQUATIONS.of(robot, make)
    return found


def dynamics_latex(dynamics: Dynamics) -> str | None:
    """The equations of motion of a small robot as LaTeX display math; None for others, which have only HTML."""
    written = small_equations(dynamics)
    return None if written is None else f"$$\n{written.latex}$$"


def plant_card(plant: Plant) -> str:
    """The card of a plant: its states, inputs and parameters by name, and its elements."""
    robot = plant.robot
    picture, why = pictured(robot_picture(robot), f"the robot {robot.name}") if robot is not None else ("", "")
    groups = {"q": "configuration", "v": "velocities", "x": "further states", "m": "memory", "u": "inputs"}
    rows = []
    for group, says in {**groups, "p": "parameters"}.items():
        columns: tuple[Column, ...] = getattr(plant, group)
        if columns:
            rows.append([group, escaped(says), str(len(columns)), escaped(_columns(columns), 240)])
    kinds = Counter(type(element).__name__ for element in plant.elements)
    ticks = [f"every {number(tick.period)} s" for tick in plant.ticks]
    parts = [
        table("", ("", "what", "count", "names"), rows),
        listed("elements", [f"{count} {kind}" for kind, count in kinds.items()]),
        listed("outputs", list(plant.outputs)),
        listed("clocks", ticks),
        listed("locked", [plant.v[k].name for k in plant.locked]),
        note("Contacts are stiff: simulate chooses a stiff method unless you name another.") if plant.touches else "",
        why,
    ]
    sizes = [f"{plant.nv} dof", counted(plant.nx, "further state"), counted(plant.nu, "input")]
    return card("Plant", plant.name, sizes, parts, picture=picture)


def _columns(columns: Sequence[Column]) -> str:
    first = ", ".join(f"{column.name} [{column.unit}]" if column.unit else column.name for column in columns[:NAMED])
    return first + (f" ... and {len(columns) - NAMED} more" if len(columns) > NAMED else "")
