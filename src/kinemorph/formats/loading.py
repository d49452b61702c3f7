"""`load` reads a model file into a checked System; `save` writes one.

After a file is read, the robot is tested at a random state, on plain floats and without compiling anything: forward
dynamics must return the accelerations that inverse dynamics was given. The test takes a time linear in the number of
bodies; `verify` has the full set of checks. All errors of a file are raised together; questionable values give
warnings.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kinemorph.errors import ModelError, ModelWarning, ParseError, Problem, users_level
from kinemorph.formats import Format, by_ending, by_name, recognize
from kinemorph.formats.findings import Finding, Findings, reserved_name
from kinemorph.formats.sources import Base, Options, Source, read_file
from kinemorph.formats.write_text import in_memory
from kinemorph.lazy import uncollected
from kinemorph.mechanics.constraints.newton_closing import assembled, loop_gaps
from kinemorph.mechanics.elements.ensemble import RESERVED, ensemble
from kinemorph.mechanics.elements.law import law_of
from kinemorph.mechanics.formulations.driven_dynamics import state_formulation
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.changes.driven_couplings import coupled_drives
from kinemorph.model.changes.merge_fixed import merge_fixed as merge
from kinemorph.model.configuration import Dice, random_configuration
from kinemorph.model.robot import Robot
from kinemorph.model.starts import with_names
from kinemorph.model.system import System
from kinemorph.words import counted, did_you_mean, listed

SEED = 11  # of the random state
LARGEST = 1e100  # [N] or [N m]: larger forces would soon overflow
SRDF_FORMATS = ("urdf", "xacro")  # formats with which an SRDF file may be read
FOREIGN = ("urdf", "xacro", "sdf", "mjcf")  # formats of other simulators, whose data act differently there
GROUP_WORDS = {"u": "input", "x": "state", "m": "memory"}  # what an entry of a group is called
LISTED = 6  # open loops that a message names
CLOSE = 1e-9  # times the largest generalized force: allowed error of forward after inverse dynamics


class Examination(NamedTuple):
    """The result of reading a model file: its system, which is None if there is an error, and all findings.

    `document` is the parsed file, which the repairs of findings change; `lines` are the lines of the robot's parts, by
    kind and name.
    """

    system: System | None
    findings: tuple[Finding, ...]
    unlisted: int = 0  # number of further findings, which are only counted
    format: str = ""  # a key of FORMATS; empty if the format was not recognized
    document: Any = None
    lines: Mapping[tuple[str, str], int] = MappingProxyType({})

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are warnings."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")


def load(
    path: str | Path,
    *,
    base: Base | None = None,
    merge_fixed: bool = False,
    package_dirs: Sequence[str | Path] = (),
    sidecar: str | Path | None = None,
    srdf: str | Path | None = None,
    arguments: Mapping[str, object] | None = None,
    strict: bool = False,
    allow_c: bool = False,
    soft_equalities: bool = False,
) -> System:
    """The system that a model file describes: URDF, xacro, SDF, MJCF, TOML, CAGeM or a table of DH parameters.

    `base`          "fixed" or "free" root body, if the format does not say (a URDF is fixed by default)
    `merge_fixed`   merges bodies that fixed joints connect into one body, and keeps their frames
    `package_dirs`  folders in which `package://` names are searched
    `sidecar`       a TOML file with data that the format cannot express, such as the joints that close loops; by
                    default, `<name>.sidecar.toml` in the folder of a URDF, xacro or SDF file
    `srdf`          the SRDF file of a URDF or xacro file, whose group states become starts; by default `<name>.srdf`
                    in the same folder
    `arguments`     values for the arguments that a xacro file declares, by name, in place of their defaults
    `strict`        turns warnings into errors
    `allow_c`       allows that runs compile and run the sources in C that the file names, with all rights of your
                    account; nothing is compiled while a file is loaded
    `soft_equalities`  makes the equalities of an MJCF file as soft as it says, by springs; else they hold exactly

    Raises ParseError with every error, each with file, line and remedy. Questionable values give a ModelWarning.
    """
    options = _options(base, merge_fixed, package_dirs, sidecar, arguments, allow_c, srdf, soft_equalities)
    return settled(examine(path, options=options, strict=strict), str(path))


def load_text(
    text: str | bytes,
    format: str,
    *,
    base: Base | None = None,
    merge_fixed: bool = False,
    package_dirs: Sequence[str | Path] = (),
    strict: bool = False,
    allow_c: bool = False,
    soft_equalities: bool = False,
) -> System:
    """The system that a text describes; `format` is urdf, sdf, mjcf, toml, cagem or dh. The other arguments are those
    of `load`.
    """
    data = text.encode() if isinstance(text, str) else text
    source, findings = Source(f"<{format}>", data), Findings(f"<{format}>", strict=strict)
    reader = by_name(format)
    options = _options(base, merge_fixed, package_dirs, allow_c=allow_c, soft_equalities=soft_equalities)
    system = _read(reader, source, options, findings)
    return settled(Examination(system, tuple(findings.found), findings.unlisted), source.name)


def examine(path: str | Path, *, options: Options | None = None, strict: bool = False) -> Examination:
    """Reads a model file and returns its system with findings for everything that is wrong or questionable.

    Raises no error for a bad file. `strict` turns warnings into errors. Without `options`, the parsed document is kept,
    so that it can be repaired.
    """
    findings = Findings(str(path), strict=strict)
    source = read_file(_model_path(path), findings)
    if source is None:
        return Examination(None, tuple(findings.found))
    return examine_source(source, findings, options)


def examine_source(source: Source, findings: Findings, options: Options | None = None) -> Examination:
    """Reads a model file that is in memory already; see `examine`. `findings` collects what is found."""
    try:
        reader = recognize(source)
    except ModelError as error:
        problem = Problem.of(error.problems[0])
        findings.error("file", 0, "", f"the file has no known format: {problem.what}", problem.remedy)
        return Examination(None, tuple(findings.found))
    for name, _ in options.arguments if options and reader.name != "xacro" else ():
        wrong = f"this argument is given, but arguments are for xacro files, and the file is {reader.title}"
        findings.error("unknown", 0, name, wrong, "Leave it out.")
    if options and options.srdf is not None and reader.name not in SRDF_FORMATS:
        wrong = f"the SRDF file '{options.srdf}' is given, but it belongs to a URDF, and the file is {reader.title}"
        findings.error("unknown", 0, "", wrong, "Leave it out.")
    system = _read(reader, source, options or Options(repairable=True), findings)
    found = (tuple(findings.found), findings.unlisted)
    return Examination(system, *found, reader.name, findings.document, findings.lines)


def _model_path(path: Any) -> Path:
    """The path of a model file as a Path. Raises ModelError if it is not a path."""
    if not isinstance(path, (str, os.PathLike)):
        models = "It is a model already." if isinstance(path, (Robot, System)) else "Give its name in quotes."
        raise ModelError(f"{path!r:.60} is given as a model file, expected a path as text or a Path. {models}")
    return Path(path)


FORMULA_FORMATS = ("toml", "cagem")  # formats that can express joints driven by formulas
RUN_FORMATS = ("toml", "urdf", "sdf")  # formats that keep planned runs, in the file or in its sidecar
START_FORMATS = (*RUN_FORMATS, "mjcf")  # formats that keep starts, in the file or in its sidecar


def save(model: System | Robot, path: str | Path, *, format: str | None = None) -> tuple[Path, ...]:
    """Writes a model to a file and returns the paths of all files written, which may include a sidecar.

    The format follows from the ending of `path` unless it is named. A missing folder is made. A ModelWarning names data
    that the format cannot express.
    """
    system = model if isinstance(model, System) else System(model)
    row = by_ending(path) if format is None else by_name(format)
    findings = Findings(str(path))
    if system.assembly is not None and row.name != "toml":
        problem = f"{row.title} cannot express dockings: only bodies and joints are written"
        findings.warn(
            "dropped", 0, f"assembly '{system.assembly.name}'", problem, "Save the model as TOML to keep them."
        )
    if system.automaton is not None and row.name != "toml":
        problem = f"{row.title} cannot express phases and edges: the robot is written without them"
        findings.warn("dropped", 0, "automaton", problem, "Save the model as TOML to keep them.")
    if system.runs and row.name not in RUN_FORMATS:
        problem = f"{row.title} cannot express runs: the model is written without {listed(system.runs)}"
        findings.warn("dropped", 0, "runs", problem, "Save the model as TOML to keep them.")
    if system.starts and row.name not in START_FORMATS:
        problem = f"{row.title} cannot express starts: the model is written without {listed(system.starts)}"
        findings.warn("dropped", 0, "starts", problem, "Save the model as TOML to keep them.")
    kinds, own = system.file_data.kinds, system.file_data.format
    if own != row.name and kinds:
        problem = f"{row.title} cannot express what {own.upper()} states for its simulator alone: {listed(kinds)}"
        findings.warn("dropped", 0, "", problem, "Save the model in its own format, too, to keep them.")
    if system.robot.driven and row.name not in FORMULA_FORMATS:
        starts = {name: with_names(start, system.robot) for name, start in system.starts.items()}
        system = replace(system, robot=coupled_drives(system.robot), starts=starts)
    written: tuple[Path, ...] = row.write(system, Path(path), findings)
    settled(Examination(system, tuple(findings.found), findings.unlisted), str(path))
    return written


def saved_texts(model: System | Robot, format: str, stem: str) -> dict[str, str]:
    """The texts of the files that `save` would write, by file name; `stem` is their name without the ending.

    Paths of meshes in them are relative to the current folder.
    """
    with in_memory() as texts:
        save(model, Path(f"{stem}{by_name(format).endings[0]}"), format=format)
    return {path.name: text for path, text in texts.items()}


def _options(
    base: Base | None,
    merge_fixed: bool,
    package_dirs: Sequence[str | Path],
    sidecar: str | Path | None = None,
    arguments: Mapping[str, object] | None = None,
    allow_c: bool = False,
    srdf: str | Path | None = None,
    soft_equalities: bool = False,
) -> Options:
    """The checked arguments of `load`."""
    if not isinstance(soft_equalities, bool):
        raise ModelError(f"soft_equalities is {soft_equalities!r:.60}, expected True or False. Leave it out for False.")
    if base not in (None, "fixed", "free"):
        raise ModelError(f"base is {base!r}, expected 'fixed' or 'free'. Leave it out to take the base of the file.")
    folders = (package_dirs,) if isinstance(package_dirs, (str, Path)) else package_dirs
    beside, states = (None if path is None else Path(path) for path in (sidecar, srdf))
    given = tuple((name, written(value)) for name, value in (arguments or {}).items())
    return Options(
        base,
        merge_fixed,
        tuple(map(Path, folders)),
        beside,
        arguments=given,
        allow_c=allow_c,
        srdf=states,
        soft_equalities=soft_equalities,
    )


def written(value: object) -> str:
    """The value of an argument as xacro reads it: truth values are written in small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def settled(examination: Examination, name: str) -> System:
    """The system of an examined file called `name`. Raises ParseError with all errors; issues all warnings."""
    more = (
        f"{name}: {counted(examination.unlisted, 'more finding is', 'more findings are')} not listed. Correct those "
        "that are listed first."
        if examination.unlisted
        else ""
    )
    if examination.system is None or examination.errors:
        raise ParseError([*map(str, examination.errors), *([more] if more else [])], examination.findings)
    for finding in examination.warnings:
        warnings.warn(str(finding), ModelWarning, stacklevel=users_level())
    return examination.system


# ── checks that take little time ──────────────────────────────────────────────────────────────────────────────────────


def _read(reader: Format, source: Source, options: Options, findings: Findings) -> System | None:
    """The checked system of a source; None if it has errors, which are recorded.

    Bodies connected by fixed joints are merged if the options say so.
    """
    if options.soft_equalities is not False and reader.name != "mjcf":
        wrong = f"soft_equalities is given, but it is for equalities of MJCF files, and the file is {reader.title}"
        findings.error("unknown", 0, "", wrong, "Leave it out.")
    with uncollected():
        system: System | None = reader.read(source, options, findings)
        if system is None or findings.failed:
            return None
        if options.merge_fixed:
            # modules cannot dock any more when their bodies are merged, so the assembly is left out
            system = replace(system, robot=merge(system.robot, keep=_joints_named(system)), assembly=None)
        acting = _acting(system, findings)
        if acting is None:
            return None
        return _tested(replace(acting, source=source.name) if reader.name in FOREIGN else acting, findings)


def _joints_named(system: System) -> list[str]:
    """The names of joints that elements act on."""
    named = [[getattr(element, "joint", ""), *getattr(element, "joints", ())] for element in system.elements]
    known = {joint.name for joint in system.robot.joints}
    return [name for names in named for name in names if name in known]


def _acting(system: System, findings: Findings) -> System | None:
    """The system, after a check that all elements can act on its robot; None if it has errors, which are recorded.

    A wrong element is an error in a TOML file. In other formats, whose files may have drives without effect, it is left
    out with a warning.
    """
    system = _renamed(system, findings)
    lawless = []
    for element in system.elements:
        try:
            law_of(element)
        except ModelError as error:
            lawless.append(Problem.of(error.problems[0]))
    for problem in lawless:  # a model may be read by a program that does not register its user laws
        findings.report("warning", problem)
    if lawless:
        return system
    wrong = _wrong(system)
    named = {problem.name for problem in wrong if problem.kind == "element" and problem.name}
    foreign = {name for name in named if ("element", name) not in findings.native}
    for problem in wrong:
        if problem.name in foreign:
            left_out = f"{problem.what}; the element is left out"
            findings.report("warning", Problem("element", problem.name, left_out, problem.remedy, rule="dropped"))
    if foreign:
        system = replace(system, elements=tuple(e for e in system.elements if e.name not in foreign))
        wrong = _wrong(system)
    for problem in wrong:
        findings.report("error", problem)
    return None if wrong or findings.failed else _with_known_starts(system, findings)


def _with_known_starts(system: System, findings: Findings) -> System | None:
    """The system, after a check that it has all inputs and states that its starts name; None if it has errors.

    A wrong name is an error in a TOML file. In other formats its value is left out with a warning.
    """
    if not any(start.u or start.x or start.m for start in system.starts.values()):
        return system
    cast = ensemble(system.robot, system.members)
    known = {
        "u": [*(slot.name for slot in cast.inputs), *system.robot.v_names],
        "x": [slot.name for slot in cast.states],
        "m": [slot.name for slot in cast.memory],
    }
    starts = dict(system.starts)
    for name, start in system.starts.items():
        for group, names in known.items():
            given = start.numbers(group)
            for key in given if isinstance(given, dict) else ():
                if key in names:
                    continue
                expected = f"expected one of {listed(names, 20)}" if names else "and no other"
                what = f"{group}: the model has no {GROUP_WORDS[group]} '{key}', {expected}"
                remedy = did_you_mean(key, names).strip() or "Correct the name."
                native = ("start", name) in findings.native
                what += "" if native else "; it is left out"
                problem = Problem("start", name, what, remedy, group, rule="name" if native else "dropped")
                findings.report("error" if native else "warning", problem)
                kept: dict[str, Any] = {group: [pair for pair in getattr(starts[name], group) if pair[0] != key]}
                starts[name] = replace(starts[name], **kept)
    return None if findings.failed else replace(system, starts=starts)


def _renamed(system: System, findings: Findings) -> System:
    """The system, with new names for elements whose names are reserved for signals, such as "v".

    Elements of a TOML file keep their names, which give an error later.
    """
    found: list[Any] = []
    starts = dict(system.starts)
    taken = {element.name for element in system.elements}
    for element in system.elements:
        name = element.name
        if name not in RESERVED or ("element", name) in findings.native:
            found.append(element)
            continue
        other = next(f"{name}~{k}" for k in range(2, len(taken) + 3) if f"{name}~{k}" not in taken)
        findings.report("warning", reserved_name(name, other))
        found.append(replace(element, name=other))  # type: ignore[type-var]
        starts = {key: start.renamed(name, other) for key, start in starts.items()}
    return replace(system, elements=tuple(found), starts=starts)


def _wrong(system: System) -> list[Problem]:
    """The problems because of which elements cannot act on the robot."""
    try:
        ensemble(system.robot, system.members)
    except ModelError as error:
        return [Problem.of(message) for message in error.problems]
    return []


def _tested(system: System, findings: Findings) -> System | None:
    """The system, if forward and inverse dynamics of its robot agree at a random state; else None, with a finding."""
    problem = roundtrip_problem(system.robot)
    if problem:
        remedy = "Look for extremely small or large masses, lengths or inertias, and correct them."
        findings.error("roundtrip", 0, f"robot '{system.name}'", problem, remedy)
        return None
    return _started(system, findings)


def _started(system: System, findings: Findings) -> System:
    """The system with an initial configuration that closes its loops.

    Only coordinates that the file does not name are changed. If no such configuration is found, the same system is
    returned, with a warning about open loops.
    """
    robot, q = system.robot, system.settings.q
    if not q or robot.is_open or not (gaps := loop_gaps(robot, q)):
        return system
    named = system.stated("q")
    found = assembled(robot, q, named) if named else None
    if found is not None:
        return replace(system, settings=replace(system.settings, q=tuple(found.tolist())))
    known = "other coordinates" if named else "only the coordinates that you know, so that the others are computed"
    remedy = f"Name {known}, or take a configuration that close_loops returns."
    gap_list = listed((f"'{owner}' by {gap:.3g} m or rad" for owner, gap in gaps.items()), LISTED)
    problem = f"the initial configuration leaves loops open: {gap_list}; expected one that closes all loops"
    if system.file_data.soft:
        remedy = "Runs begin in the nearest configuration that closes them."
    findings.warn("start", findings.lines.get(("settings", ""), 0), "settings", problem, remedy)
    return system


def roundtrip_problem(robot: Robot) -> str:
    """The problem if forward dynamics FD does not undo inverse dynamics ID at a random state; empty if it does.

    Compares the forces ID(FD(tau)) with tau, and not accelerations, because this is well-conditioned for long chains.
    Takes O(n) operations on floats. Of a robot without masses, the poses of its bodies have to be finite.
    """
    if robot.nv == 0:
        return ""
    dice = Dice(SEED)
    if robot.is_kinematic:
        poses = forward_kinematics(resolve(robot), random_configuration(robot, dice).tolist(), robot.body_names)
        near = all(math.hypot(*pose.p) < LARGEST for pose in poses)  # False for NaN as well
        return "" if near else f"bodies are {LARGEST:g} m or more from the origin at a random configuration"
    try:
        tree, q = resolve(robot), random_configuration(robot, dice).tolist()
        v, a = ([dice.uniform(-1.0, 1.0) for _ in range(robot.nv)] for _ in range(2))
        row = state_formulation(robot)
        tau = row.inverse_dynamics(tree, q, v, a)
        back = row.inverse_dynamics(tree, q, v, row.forward_dynamics(tree, q, v, tau))
    except (ModelError, ArithmeticError) as error:
        return f"its equations of motion cannot be evaluated at a random state: {error}".rstrip(".")
    off = float(np.abs(np.subtract(back, tau)).max())
    scale = float(np.abs(tau).max())
    if not scale < LARGEST:  # True for NaN as well
        return f"generalized forces reach {scale:.3g} N or N m at a random state, expected below {LARGEST:g}"
    if off <= CLOSE * scale:
        return ""
    return (
        f"inverse dynamics after forward dynamics changes generalized forces of {scale:.3g} by {off:.3g} at a random "
        f"state, expected a relative change below {CLOSE:g}"
    )
