"""Reads the files of CAGeM: .mu of EasyDyn, in the notation of MuPAD, and .mac of CADyn, in that of Maxima.

The file gives counts, gravity, constants, and for each body its mass, inertia and position matrix in the coordinates
q[i]. Bodies are called body0, body1 and so on, coordinates q0, q1, dependents p0, p1, with the indices of the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from kinemorph.algebra.notation import mth
from kinemorph.formats.cagem.definitions import MATRICES, Definitions
from kinemorph.formats.cagem.keys import DEPENDENT, FLAGS, INERTIA, PLAIN
from kinemorph.formats.cagem.notations import notation_of
from kinemorph.formats.cagem.statements import read_statements
from kinemorph.formats.findings import Findings
from kinemorph.formats.position_blueprint import PositionBlueprint
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.toml.sidecar import extend
from kinemorph.model.parameter import Coordinate, Parameter, Value, coordinates_of, evaluate
from kinemorph.model.positions.position_tree import direct
from kinemorph.model.system import System
from kinemorph.words import did_you_mean


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of a CAGeM file; None, with findings, if it cannot be read."""
    try:
        text = source.data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        text = source.data.decode("latin-1").replace("\r\n", "\n")  # comments in French
    notation = notation_of(source.name, text)
    statements = read_statements(text, notation, findings)
    file = Definitions(statements, notation, findings)
    bodies = file.indices("body", "nbrbody")
    initial = Definitions(statements, notation, Findings(source.name))  # its findings are those of `file`
    initial.evaluate({})
    coordinates = {
        f"q[{i}]": Coordinate(f"q{i}", initial.number(f"qi[{i}]", 0.0), "rad")
        for i in file.indices("coordinate", "nbrdof")
    }
    dependents = file.indices("dependent", "nbrdep")
    for i in dependents:
        if f"{DEPENDENT}[{i}]" not in file.statements:
            remedy = f"Assign {DEPENDENT}[{i}], or correct nbrdep."
            file.error("structure", "nbrdep", f"{DEPENDENT}[{i}] is not assigned, but nbrdep counts it", remedy)
    if not bodies and not findings.failed:
        remedy = f"Assign T0G[{notation.first}] and mass[{notation.first}]."
        findings.error("structure", 0, "", "the file has no bodies, expected a position matrix for each body", remedy)
    file.evaluate(coordinates)
    _check_gravity(file)
    title = file.values.get("title") or Path(source.name).stem.strip("<>") or "robot"
    gravity = tuple(file.value(f"gravity[{i}]") for i in (1, 2, 3))
    blueprint = PositionBlueprint(findings, str(title), line=file.line("title"), gravity=gravity)
    _declare(file, blueprint, coordinates.values(), list(bodies))
    _settings(file, blueprint, coordinates)
    _warn(file, options)
    extend(blueprint, source, options, findings)
    return blueprint.system()


def _check_gravity(file: Definitions) -> None:
    """Reports indices of gravity other than 1, 2 and 3, and warns if there is no gravity."""
    found = [one for one in file.statements.values() if one.name == "gravity"]
    for one in found:
        if one.place not in (1, 2, 3):
            problem = f"{one.key} is out of range: indices of gravity are 1, 2 and 3"
            file.error("structure", one.key, problem, "Correct the index.")
    if not found:
        problem = "gravity is not given, so no gravity acts"
        file.findings.warn("assumed", 0, "", problem, "Assign gravity[1], gravity[2] and gravity[3].")


def _declare(
    file: Definitions, blueprint: PositionBlueprint, coordinates: Iterable[Coordinate], bodies: list[int]
) -> None:
    """Declares coordinates, dependents and bodies."""
    sliding = _sliding(file)
    for coordinate in coordinates:
        name = coordinate.name
        line = file.line("nbrdof") or file.line(f"qi[{name[1:]}]")
        blueprint.coordinate(line, name, "m" if name in sliding else "rad", coordinate.value)
    for key, formula in file.dependents().items():
        name = key.replace("[", "").replace("]", "")
        blueprint.dependent(file.line(key), name, formula, "m" if formula in sliding else "rad")
    for i in bodies:
        _body(file, blueprint, i, bodies)


def _body(file: Definitions, blueprint: PositionBlueprint, i: int, bodies: list[int]) -> None:
    """Declares body i; data that are missing are recorded as findings."""
    name = f"body{i}"
    given = [key for key in MATRICES if f"{key}[{i}]" in file.statements]
    lines = [file.line(f"{key}[{i}]") for key in (*MATRICES, "mass")]
    line = next(filter(None, lines), file.line("nbrbody"))
    if f"mass[{i}]" not in file.statements:
        file.findings.error("structure", line, name, f"mass[{i}] is missing", f"Assign mass[{i}] [kg].")
    if len(given) != 1:
        problem = f"{'both' if given else 'neither'} of T0G[{i}] and TrefG[{i}] are assigned, expected one of them"
        problem = problem if given else problem.replace("are assigned", "is assigned")
        file.findings.error("structure", line, name, problem, f"Give the position matrix of body {i} once.")
        return
    reference, key = "", f"BodyRef[{i}]"
    if given == ["TrefG"] and key not in file.statements:
        file.error("structure", f"TrefG[{i}]", f"{key} is missing, which names the reference body", f"Assign {key}.")
        return
    if key in file.statements:
        number = file.number(key, 0.0)
        if given == ["T0G"]:
            problem = f"{key} is given with T0G[{i}], expected TrefG[{i}]"
            file.error("structure", key, problem, "Leave it out, or assign TrefG.")
            return
        if number not in bodies:
            known = f"expected a body from {bodies[0]} to {bodies[-1]}"
            file.error("structure", key, f"{key} is {number:g}, {known}", "Name another body.")
            return
        reference = f"body{int(number)}"
    position = file.values.get(f"{given[0]}[{i}]")
    if not isinstance(position, mth):
        return  # reported already
    mass = file.value(f"mass[{i}]")
    xx, yy, zz, xy, xz, yz = (file.value(f"{entry}[{i}]") for entry in INERTIA)
    inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    blueprint.keys["body", name] = partial(_key_line, file, i)
    blueprint.placed(line, name, mass, inertia, position, reference)


def _key_line(file: Definitions, i: int, key: str) -> int:
    """The line on which a file gives the quantity `key` ("mass", "inertia", "position", "reference") of body i; 0 if it
    does not.
    """
    keys = {"mass": ("mass",), "inertia": INERTIA, "position": MATRICES, "reference": ("BodyRef",)}.get(key, ())
    return next(filter(None, (file.line(f"{name}[{i}]") for name in keys)), 0)


def _sliding(file: Definitions) -> set[str | Value]:
    """The names of coordinates, and the formulas, that are lengths: the arguments of Tdisp.

    A coordinate is an angle if it is also the argument of a rotation, up to its sign and a constant.
    """
    lengths: set[str | Value] = set()
    angles: set[str] = set()
    for factor in (factor for value in file.values.values() if isinstance(value, mth) for factor in value.factors):
        for value in factor.values:
            found = direct(value)
            if factor.kind == "disp" and not isinstance(value, float):
                lengths |= {value, *([found[0].name] if found else [])}
            elif found:
                angles.add(found[0].name)
    return lengths - angles


def _settings(file: Definitions, blueprint: PositionBlueprint, coordinates: Iterable[str]) -> None:
    """Reads the initial state and the times of a run."""
    indices = [name[2:-1] for name in coordinates]
    q, v = (tuple(file.number(f"{key}[{i}]", 0.0) for i in indices) for key in ("qi", "qdi"))
    for key, values in (("qi", q), ("qdi", v)):
        for i, value in zip(indices, values, strict=True):
            if not math.isfinite(value):
                file.error("number", f"{key}[{i}]", f"it is {value}, expected a finite number", "Write one.")
    named = {one.name for one in file.statements.values()}
    blueprint.settings = replace(blueprint.settings, q=q if "qi" in named else (), v=v if "qdi" in named else ())
    for key, setting in (("FinalTime", "time"), ("StepSave", "sample"), ("StepMax", "max_step")):
        if key not in file.values:
            continue
        time = file.number(key, 0.0)
        if not 0.0 < time < math.inf:
            file.error("number", key, f"it is {time:g} s, expected a finite time above 0", "Write a time above 0.")
        else:
            blueprint.settings = replace(blueprint.settings, **{setting: time})  # type: ignore[arg-type]


def _warn(file: Definitions, options: Options) -> None:
    """Warns about flags that are set, about constants that nothing uses, and about options without effect."""
    for name, flag in FLAGS.items():
        if name in file.values and evaluate(file.values[name]) != 0.0:
            problem = f"the flag asks for {flag.what}, which reading a model does not make"
            file.findings.warn("dropped", file.line(name), name, problem, flag.instead)
    for one in file.unused():
        value = file.values.get(one.key)
        if isinstance(value, Parameter) or (value is not None and not coordinates_of(value)):
            remedy = did_you_mean(one.name, PLAIN).strip() or "Leave it out, or use it."
            file.findings.warn("unknown", one.line, one.key, "the constant is not used", remedy)
    if options.base is not None:
        problem = f"base is '{options.base}', but positions place all bodies, so base has no effect"
        file.findings.warn("root", 0, "", problem, "Leave base out.")
