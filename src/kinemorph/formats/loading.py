"""`load`: from a model file to a checked System.

A file is read by its format; then the robot is put to a test on plain floats, without compiling anything: at a random
state, forward dynamics must undo inverse dynamics. That takes a time linear in the number of bodies. `verify` has the
full set of checks. Nothing that is wrong with a file is silent: errors are raised together, questionable values give
warnings.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kinemorph.errors import ModelError, ModelWarning, ParseError, Problem, users_level
from kinemorph.formats import Format, by_ending, by_name, recognize
from kinemorph.formats.findings import Finding, Findings
from kinemorph.formats.sources import Base, Options, Source, read_file
from kinemorph.mechanics.constraints.newton_closing import assembled, loop_gaps
from kinemorph.mechanics.elements.ensemble import RESERVED, ensemble
from kinemorph.mechanics.elements.law import law_of
from kinemorph.mechanics.recursions.articulated_bodies import forward_dynamics
from kinemorph.mechanics.recursions.newton_euler import inverse_dynamics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.changes.merge_fixed import merge_fixed as merge
from kinemorph.model.configuration import Dice, random_configuration
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

SEED = 11  # of the random state
LARGEST = 1e100  # [N] or [N m]: forces beyond are on their way to overflow
LISTED = 6  # loops in one sentence
CLOSE = 1e-9  # of the largest generalized force: how near inverse dynamics must come back to where it began


class Examination(NamedTuple):
    """The system of a file and all findings; `system` is None where an error keeps it from being loaded.

    `document` is the parsed file on which the repairs of findings act; `lines` says where parts of the robot stand.
    """

    system: System | None
    findings: tuple[Finding, ...]
    untold: int = 0  # findings beyond those listed
    format: str = ""  # a key of FORMATS; empty where none was recognized
    document: Any = None
    lines: Mapping[tuple[str, str], int] = MappingProxyType({})

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "warning")


def load(
    path: str | Path,
    *,
    base: Base | None = None,
    merge_fixed: bool = False,
    package_dirs: Sequence[str | Path] = (),
    sidecar: str | Path | None = None,
    strict: bool = False,
) -> System:
    """The system that a model file describes: URDF, xacro, SDF, MJCF, TOML or a table of DH parameters.

    `base` fixes or frees the root where the format leaves it open (a URDF is fixed by default).
    `merge_fixed` welds bodies that do not move against each other into one and keeps their frames. `package_dirs` are
    folders in which `package://` names are looked for. `sidecar` is a TOML file with what the format cannot say, such
    as the joints that close loops; without it, `<name>.sidecar.toml` beside a URDF, xacro or SDF is used.
    `strict` makes errors of warnings.

    Raises ParseError with every mistake, each with file, line and remedy. Questionable values give a ModelWarning.
    """
    options = _options(base, merge_fixed, package_dirs, sidecar)
    return settled(examine(path, options=options, strict=strict), str(path))


def load_text(
    text: str | bytes,
    format: str,
    *,
    base: Base | None = None,
    merge_fixed: bool = False,
    package_dirs: Sequence[str | Path] = (),
    strict: bool = False,
) -> System:
    """The system that a text describes, in one of the formats urdf, sdf, mjcf, toml, dh. Otherwise as `load`."""
    data = text.encode() if isinstance(text, str) else text
    source, findings = Source(f"<{format}>", data), Findings(f"<{format}>", strict=strict)
    reader = by_name(format)
    system = _read(reader, source, _options(base, merge_fixed, package_dirs, None), findings)
    return settled(Examination(system, tuple(findings.found), findings.untold), source.name)


def examine(path: str | Path, *, options: Options | None = None, strict: bool = False) -> Examination:
    """Reads a model file and reports everything that is wrong or questionable in it. Raises nothing for a bad file.

    The document that repairs act on is kept unless `options` say otherwise.
    """
    findings = Findings(str(path), strict=strict)
    source = read_file(Path(path), findings)
    if source is None:
        return Examination(None, tuple(findings.found))
    try:
        reader = recognize(source)
    except ModelError as error:
        findings.error("file", 0, "", "the file has no known format", str(error.problems[0]))
        return Examination(None, tuple(findings.found))
    system = _read(reader, source, options or Options(mendable=True), findings)
    told = (tuple(findings.found), findings.untold)
    return Examination(system, *told, reader.name, findings.document, findings.lines)


def save(model: System | Robot, path: str | Path, *, format: str | None = None) -> tuple[Path, ...]:
    """Writes a model to a file, in the format of its ending or in the one named. Gives the files written.

    Data that the format cannot express are named in a ModelWarning.
    """
    system = model if isinstance(model, System) else System(model)
    row = by_ending(path) if format is None else by_name(format)
    findings = Findings(str(path))
    if system.assembly is not None and row.name != "toml":
        problem = f"what is docked to what has no place in {row.title}: bodies and joints are written"
        findings.warn("dropped", 0, f"assembly '{system.assembly.name}'", problem, "Keep it in a TOML file.")
    written: tuple[Path, ...] = row.write(system, Path(path), findings)
    settled(Examination(system, tuple(findings.found), findings.untold), str(path))
    return written


def _options(
    base: Base | None, merge_fixed: bool, package_dirs: Sequence[str | Path], sidecar: str | Path | None
) -> Options:
    if base not in (None, "fixed", "free"):
        raise ModelError(f"base is {base!r}, expected 'fixed' or 'free'. Leave it out for what the file says.")
    folders = (package_dirs,) if isinstance(package_dirs, (str, Path)) else package_dirs
    return Options(base, merge_fixed, tuple(map(Path, folders)), None if sidecar is None else Path(sidecar))


def settled(examination: Examination, name: str) -> System:
    """The system of a file called `name`; warnings are issued and errors raised."""
    more = f"{name}: {examination.untold} more findings" if examination.untold else ""
    if examination.system is None or examination.errors:
        raise ParseError([*map(str, examination.errors), *([more] if more else [])], examination.findings)
    for finding in examination.warnings:
        warnings.warn(str(finding), ModelWarning, stacklevel=users_level())
    return examination.system


# ── the cheap checks ──────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def uncollected() -> Iterator[None]:
    """Pauses the garbage collector. A model is many small tuples without cycles; to visit all of them again and again
    while more are made takes a third of the time.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _read(reader: Format, source: Source, options: Options, findings: Findings) -> System | None:
    """The system of a source, with fixed bodies merged where that is asked for; None, with findings, where none is."""
    with uncollected():
        system: System | None = reader.read(source, options, findings)
        if system is None or findings.failed:
            return None
        if options.merge_fixed:
            # bodies of modules are merged, so that they cannot dock
            system = replace(system, robot=merge(system.robot, keep=_joints_named(system)), assembly=None)
        acting = _acting(system, findings)
        return None if acting is None else _tested(acting, findings)


def _joints_named(system: System) -> list[str]:
    """Joints that elements act on."""
    named = [[getattr(element, "joint", ""), *getattr(element, "joints", ())] for element in system.elements]
    known = {joint.name for joint in system.robot.joints}
    return [name for names in named for name in names if name in known]


def _acting(system: System, findings: Findings) -> System | None:
    """The system, if all elements can act on the robot; what keeps them from it is a finding each.

    In a TOML file that is an error. Other formats have drives that move nothing: these are left out.
    """
    system = _renamed(system, findings)
    lawless = []
    for element in system.elements:
        try:
            law_of(element)
        except ModelError as error:
            lawless.append(Problem.of(error.problems[0]))
    for problem in lawless:  # a model may be read where its laws are not registered
        findings.tell("warning", problem)
    if lawless:
        return system
    wrong = _wrong(system)
    foreign = {problem.name for problem in wrong if problem.name and ("element", problem.name) not in findings.native}
    for problem in wrong:
        if problem.name in foreign:
            left_out = f"{problem.what}; the element is left out"
            findings.tell("warning", Problem("element", problem.name, left_out, "Correct the model.", rule="dropped"))
    if foreign:
        system = replace(system, elements=tuple(e for e in system.elements if e.name not in foreign))
        wrong = _wrong(system)
    for problem in wrong:
        findings.tell("error", problem)
    return None if wrong or findings.failed else system


def _renamed(system: System, findings: Findings) -> System:
    """Elements of other formats are renamed where their name means something else in signals, such as "v"."""
    found: list[Any] = []
    taken = {element.name for element in system.elements}
    for element in system.elements:
        name = element.name
        if name not in RESERVED or ("element", name) in findings.native:
            found.append(element)
            continue
        other = next(f"{name}~{k}" for k in range(2, len(taken) + 3) if f"{name}~{k}" not in taken)
        what = f"the name means something else in signals: it is called '{other}' here"
        findings.tell("warning", Problem("element", name, what, "Rename it.", rule="name"))
        found.append(replace(element, name=other))  # type: ignore[type-var]
    return replace(system, elements=tuple(found))


def _wrong(system: System) -> list[Problem]:
    """Problems that keep elements from acting."""
    try:
        ensemble(system.robot, system.elements)
    except ModelError as error:
        return [Problem.of(message) for message in error.problems]
    return []


def _tested(system: System, findings: Findings) -> System | None:
    """The system, if the equations of its robot hold together at a random state."""
    problem = roundtrip_problem(system.robot)
    if problem:
        remedy = "Look for extreme masses, lengths or inertias."
        findings.error("roundtrip", 0, f"robot '{system.name}'", problem, remedy)
        return None
    return _started(system, findings)


def _started(system: System, findings: Findings) -> System:
    """The system with its loops closed where the file names only some initial coordinates; else warns of open loops."""
    robot, q = system.robot, system.settings.q
    if not q or robot.is_open or not (gaps := loop_gaps(robot, q)):
        return system
    named = [joint.name for joint in robot.joints if any(name in findings.start for name in joint.q_names)]
    remedy = "Name only the coordinates that you know, so that the others follow, or take those of close_loops."
    if named and len(named) < len([joint for joint in robot.joints if joint.nv]):
        found = assembled(robot, q, named)
        if found is not None:
            return replace(system, settings=replace(system.settings, q=tuple(found.tolist())))
        remedy = "Name other coordinates, or those of a configuration that close_loops finds."
    listed = ", ".join(f"'{owner}' by {gap:.3g} m or rad" for owner, gap in list(gaps.items())[:LISTED])
    problem = f"the start is open at {listed}, expected a configuration that closes all loops"
    findings.warn("start", findings.lines.get(("settings", ""), 0), "settings", problem, remedy)
    return system


def roundtrip_problem(robot: Robot) -> str:
    """The problem where FD(ID(a)) = a does not hold at a random state; empty where it holds. O(n), on floats.

    The two are compared as forces: ID(FD(tau)) against tau, which long chains leave well-conditioned.
    """
    if robot.nv == 0:
        return ""
    dice = Dice(SEED)
    try:
        tree, q = resolve(robot), random_configuration(robot, dice).tolist()
        v, a = ([dice.uniform(-1.0, 1.0) for _ in range(robot.nv)] for _ in range(2))
        tau = inverse_dynamics(tree, q, v, a)
        back = inverse_dynamics(tree, q, v, forward_dynamics(tree, q, v, tau))
    except (ModelError, ArithmeticError) as error:
        return f"its equations of motion cannot be evaluated at a random state: {error}".rstrip(".")
    off = float(np.abs(np.subtract(back, tau)).max())
    scale = float(np.abs(tau).max())
    if not scale < LARGEST:  # True for NaN as well
        return f"generalized forces reach {scale:.3g} N or N m at a random state, expected below {LARGEST:g}"
    if off <= CLOSE * scale:
        return ""
    return (
        f"forward dynamics undoes inverse dynamics only to {off:.3g} of {scale:.3g}, expected a share below {CLOSE:g}"
    )
