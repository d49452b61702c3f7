"""`assemble`: makes an assembly of modules from a grid of cells, a list of docked sides, or measured poses.

assemble("B>0 Bv1 B<2")                                 a grid, seen from above (`grids`)
assemble([(0, 1, 3, 2), (1, 2, 5, 3)], modules="B")     docked sides: module, module, side, side (`docked_sides`)
assemble({(0, 1): H_01}, modules="BS")                  measured poses (`measured_poses`; `snap` returns residuals, too)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kinemorph.errors import ModelError, ParseError
from kinemorph.formats import recognize
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Source, read_file
from kinemorph.formats.toml.assembly_text import robot_options
from kinemorph.formats.toml.reader import read
from kinemorph.model.input_reader import short
from kinemorph.model.modules.assembly import Assembly, as_assembly
from kinemorph.model.modules.catalog import Types, known_types
from kinemorph.model.modules.docked_sides import Kinds, Places, listed_assembly, module_name, settled
from kinemorph.model.modules.grids import grid_assembly
from kinemorph.model.modules.measured_poses import Keep, snap
from kinemorph.model.system import System


def assemble(
    source: Any,
    *,
    types: Types = None,
    modules: Kinds = "B",
    name: str | None = None,
    base: str | int | None = None,
    at: Places | None = None,
    planar: bool = False,
    several: bool = False,
    keep: Keep = "measured",
    tolerance: tuple[float, float] | None = None,
) -> Assembly:
    """An assembly of modules; see docs/assemblies.md.

    `source`    a grid of cells as text; a model file (.toml, .grid, .txt), or its text; a list of docked sides
                (module i, module j, side of i, side of j); measured poses {(i, j): H_ij}; or an Assembly
    `types`     module types in addition to the built-in ones; a type replaces the built-in one of the same letter
    `modules`   types of the modules in a list or in poses: one letter or type for all, one for each, or a dictionary
    `name`      name of the assembly; "organism" by default
    `base`      the module at the root of the kinematic tree, by name or number; the first by default
    `at`        where modules are in the world, by name: poses, 4x4 matrices, or points [m] for upright modules;
                by default, the base is above the origin
    `planar`    whether to accept only organisms as in the paper: a tree of upright modules docked at sides 2 to 5
    `several`   whether the modules may form several organisms in one world, not connected to each other
    `keep`, `tolerance`     how measured poses are treated; see `snap`

    Raises ModelError with one sentence for every problem.
    """
    called = module_name(base) if base is not None else None
    asked: dict[str, Any] = {"planar": planar, "several": several}
    if isinstance(source, Assembly):
        given = replace(source, name=name or source.name, base=called or source.base)
        return settled(given, **asked)
    if isinstance(source, Path) or (isinstance(source, str) and _is_file(source)):
        return _of_file(Path(source), base=called, name=name, **asked)
    if isinstance(source, str) and "[assembly]" in source:
        return _of_text(source, base=called, name=name, **asked)
    if isinstance(source, str):
        return grid_assembly(source, known_types(types), name=name or "organism", base=called, **asked)
    if isinstance(source, Mapping):
        return snap(
            source, modules, types=types, name=name, base=called, at=at, keep=keep, tolerance=tolerance, **asked
        ).assembly
    if isinstance(source, Iterable):
        return listed_assembly(
            source, modules, known_types(types), name=name or "organism", base=called, at=at, **asked
        )
    raise ModelError(
        f"assemble: source is {short(source)}; expected a grid as text, a model file, a list of docked sides, or "
        "measured poses. Write for example [(0, 1, 3, 2)]: side 3 of module 0 is docked to side 2 of module 1; or "
        "{(0, 1): H}: H is the 4x4 pose of module 1 relative to module 0."
    )


def _is_file(text: str) -> bool:
    """Whether a text is the name of a file, and not a grid or a model itself."""
    return "\n" not in text and text.lower().endswith((".toml", ".grid", ".txt"))


def _of_file(path: Path, **asked: Any) -> Assembly:
    """The assembly in a model file or a grid file; `asked` are arguments of `assemble`."""
    findings = Findings(str(path))
    source = read_file(path, findings)
    system = None if source is None else recognize(source).read(source, Options(), findings)
    return _of_source(system, findings, **asked)


def _of_text(text: str, **asked: Any) -> Assembly:
    """The assembly in the text of a TOML model file; `asked` are arguments of `assemble`."""
    findings = Findings("<text>")
    return _of_source(read(Source("<text>", text.encode()), Options(), findings), findings, **asked)


def _of_source(system: System | None, findings: Findings, **asked: Any) -> Assembly:
    """The assembly of a system that was read, with the arguments `asked` of `assemble` applied to it.

    Raises ParseError if the system could not be read, ModelError if it has no assembly.
    """
    if system is None or findings.failed:
        raise ParseError([str(finding) for finding in findings.errors], findings.found)
    if system.assembly is None:
        raise ModelError(
            f"model file '{findings.file}' has no assembly of modules. Add [assembly] with a grid or docked sides."
        )
    asked["several"] = True  # whether this is allowed was checked when the file was read
    return assemble(system.assembly, **asked)


def reassembled(
    system: System, *, base: str | None = None, dyads: str | None = None, root: str | Sequence[str] | None = None
) -> System:
    """The system with another base, other dyads or another root joint for its modules; None keeps what it has.

    Elements act on bodies by name, and dyads give bodies other names: with other dyads, elements are left out. Raises
    ModelError for a robot without modules.
    """
    assembly = as_assembly(system)
    if base is None and dyads is None and root is None:
        return system
    options: dict[str, Any] = robot_options(assembly, system.robot) or {}
    if base is not None:
        assembly = assembly.with_base(base)
        options["base"] = base
    elements = system.elements
    if dyads is not None and dyads != options.get("dyads"):
        elements = ()
    if dyads is not None:
        options["dyads"] = dyads
    if root is not None:
        options["root"] = root if isinstance(root, str) else tuple(root)
    made: System = assembly.system(elements, **options, gravity=system.robot.gravity)
    return made
