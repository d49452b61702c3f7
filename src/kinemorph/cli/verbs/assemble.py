"""The verb `assemble`: reports on modules that are docked to each other, and on the robot that they make up."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kinemorph.cli.application import Json, flag, option, out, put, reported_warnings, say, verb
from kinemorph.cli.options import option_values
from kinemorph.cli.options.model_argument import chosen
from kinemorph.cli.output_files import check_place, wrote
from kinemorph.errors import KinemorphError
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.module_types import DYADS
from kinemorph.model.system import System


class Form(StrEnum):
    """The forms of tables that --format chooses from."""

    text = "text"
    markdown = "markdown"
    latex = "latex"
    html = "html"


FILE_HELP = "Docked modules: a model file (.toml), a grid of cells (.grid, .txt), or a built-in organism: organism9."


@verb
def assemble(
    source: Annotated[str, typer.Argument(metavar="FILE", help=FILE_HELP, show_default=False)],
    base: Annotated[
        str | None, option("Module at the root of the kinematic tree, by name or number.", "MODULE")
    ] = None,
    dyads: Annotated[
        str | None, option(f"{' or '.join(DYADS)}: modules as two halves with a hinge, or as one body each.")
    ] = None,
    root: Annotated[
        str | None,
        option("Root joint: free, fixed, or virtual joints out of x, y, z, rx, ry, rz, separated by commas: x,ry."),
    ] = None,
    planar: Annotated[
        bool, flag("--planar", "Fail unless the modules form a tree, stand upright and dock at sides 2 to 5.")
    ] = False,
    tables: Annotated[bool, flag("--tables", "Print the matrices: AIM, DTL, IDTL, adjacency, incidence.")] = False,
    form: Annotated[Form, option(f"Form of the tables: {', '.join(Form)}.", "FORM", names=("--format",))] = Form.text,
    picture: Annotated[Path | None, option("Draw the modules from above: .png, .svg or .pdf.", "PATH")] = None,
    model: Annotated[
        Path | None, option("Write the robot as a model file: .toml, .urdf, .xml (MJCF).", "PATH", default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Lists docked modules and the robot that they make up; prints tables, draws a plan, writes a model file."""
    from kinemorph.model.sheets.robot_sheet import robot_facts
    from kinemorph.sheet import Facts, Note, hidden

    place = option_values.picture(picture, "--picture")
    system = _made(chosen(source), source, base, dyads, root)
    assembly = system.assembly
    assert assembly is not None
    if planar:
        _check_planar(assembly)
    robot = system.robot
    sizes: dict[str, float] = {
        "bodies": len(robot.bodies),
        "dof": robot.nv,
        "joints": sum(joint.nv > 0 for joint in robot.joints),
    }
    sizes |= {"loops": len(robot.loops), "mass": robot.total_mass}
    facts = Facts([(one._replace(key=""), value) for one, value in robot_facts(robot)])
    sheet = assembly.sheet().with_parts(Note("The robot that the modules make up:"), facts, hidden(robot=sizes))
    files = _written(system, place, model)
    if tables or form is not Form.text:
        from kinemorph.display.tables.assembly_tables import assembly_tables

        made = assembly_tables(assembly)
        if not as_json:
            out(made.written(form.value))
            return
        grids = {
            key: {"title": grid.title, "columns": grid.columns, "rows": grid.rows}
            for key, grid in made._asdict().items()
        }
        sheet = sheet.with_parts(hidden(tables=grids))
    put(sheet.with_parts(hidden(files=files)), as_json)


def _made(system: System, source: str, base: str | None, dyads: str | None, root: str | None) -> System:
    """The system of the file `source`, with the base, dyads and root that the options ask for."""
    from kinemorph.formats.assemble import reassembled

    if system.assembly is None:
        raise KinemorphError(
            f"'{source}' is a robot without an assembly of modules. Name a grid, or a TOML file with [assembly]; "
            "`kinemorph new NAME --kind organism` writes one."
        )
    made = reassembled(
        system,
        base=f"m{base}" if base is not None and base.isdecimal() else base,
        dyads=dyads,
        root=option_values.names(root) if root is not None and "," in root else root,
    )
    if system.elements and not made.elements:
        say("note: the elements of the file are left out, because --dyads gives bodies other names")
    return made


def _check_planar(assembly: Assembly) -> None:
    """Raises ModelError unless the modules form a tree, stand upright and dock at sides 2 to 5."""
    from kinemorph.formats.assemble import assemble as assembled

    assembled(assembly, planar=True, several=True)


def _written(system: System, picture: Path | None, model: Path | None) -> list[str]:
    """Writes the picture and the model file where paths are given, and returns the paths as texts."""
    found: list[Path] = []
    if picture is not None and system.assembly is not None:
        from kinemorph.display.charts.draw_plan import draw_plan

        draw_plan(system.assembly, path=picture)
        found.append(picture)
    if model is not None:
        from kinemorph.formats.loading import save

        check_place(model, "--model")
        with reported_warnings():
            found += save(system, model)
    return wrote(found)
