"""Writes a robot as a .mu file of EasyDyn's CAGeM: the position matrix of each body in the coordinates q[i].

A robot from position matrices is written with these matrices, a robot from joints with the matrices that its joints
give. Bodies, coordinates and dependents are numbered; comments have their names.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from kinemorph.algebra.notation import Factor
from kinemorph.errors import UnsupportedError
from kinemorph.formats.cagem.keys import INDEXED, INERTIA, PLAIN, RESERVED
from kinemorph.formats.cagem.notations import MUPAD, WRITTEN
from kinemorph.formats.findings import Findings
from kinemorph.formats.write_text import write_text
from kinemorph.model.body import Body
from kinemorph.model.expressions import written
from kinemorph.model.parameter import TIME, Coordinate, Formula, Parameter, Value, coordinates_of, parameters_of
from kinemorph.model.positions.joint_positions import constant_factors, joint_positions
from kinemorph.model.positions.position_text import written_position
from kinemorph.model.positions.rebuilding import coordinate_data, rebuilt
from kinemorph.model.robot import Position, Robot
from kinemorph.model.system import System
from kinemorph.words import quoted

_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
ELEMENTARY = ("x", "y", "z", "disp")  # kinds of factors that every version of CAGeM knows


def write(system: System, path: Path, findings: Findings) -> tuple[Path, ...]:
    """Writes a .mu file and returns its path; none, with a finding, if the robot cannot be expressed."""
    if path.suffix.lower() == ".mac":
        problem = "files in the notation of Maxima can be read, but not written"
        findings.error("file", 0, "", problem, "Name the file .mu.")
        return ()
    text = written_model(system, findings)
    return (path,) if text and write_text(path, text, findings) else ()


def written_model(system: System, findings: Findings) -> str:
    """The text of a .mu file; empty, with a finding, if the robot cannot be expressed."""
    robot = system.robot
    try:
        positions = robot.positions if rebuilt(robot) is not None else joint_positions(robot)
        text = _text(system, tuple(map(_elementary, positions)))
    except (UnsupportedError, ValueError) as error:
        problem = f"a CAGeM file cannot express it: {str(error).rstrip('.')}"
        findings.error("data", 0, f"robot '{robot.name}'", problem, "Save it as TOML.")
        return ""
    _warn_of_the_rest(system, findings)
    return text


def _elementary(position: Position) -> Position:
    """The position with constant matrices and rotations about any axis as rotations about x, y and z."""
    factors: list[Factor] = []
    for factor in position.factors:
        if factor.kind in ELEMENTARY:
            factors.append(factor)
        elif coordinates_of(factor.values):
            raise UnsupportedError(f"the position of body '{position.body}' has a whole matrix that moves.")
        else:
            factors += constant_factors(factor.pose)
    return Position(position.body, tuple(factors), position.reference)


def _text(system: System, positions: tuple[Position, ...]) -> str:
    robot = system.robot
    names: dict[Value, str] = {TIME: "t"}
    names |= {Coordinate(name, 0.0, unit): f"q[{i}]" for i, (name, unit) in enumerate(_coordinates(robot))}
    constants = _constants(system)
    names |= {parameter: name for name, parameter in constants.items()}
    lines = [
        "// Written by Kinemorph, for CAGeM of EasyDyn.",
        f'title:="{_one_line(robot.name).replace(chr(34), chr(39)).replace(chr(92), "/")}":',
        f"nbrbody:={len(positions)}:",
        f"nbrdof:={robot.nq}:",
        *([f"nbrdep:={len(robot.dependents)}:"] if robot.dependents else []),
        "// Gravity [m/s^2]",
        *(f"gravity[{i}]:={_value(x, names)}:" for i, x in enumerate(robot.gravity, 1)),
        *(["// Constants"] if constants else []),
        *(f"{name}:={_value(parameter.value, names)}:" for name, parameter in constants.items()),
    ]
    for i, (name, unit) in enumerate(_coordinates(robot)):
        lines.append(f"// q[{i}]: {_one_line(name)} [{unit}]")
    for i, dependent in enumerate(robot.dependents):
        lines += [f"// {_one_line(dependent.name)}", f"p[{i}]:={_value(dependent.formula, names)}:"]
        if isinstance(dependent.formula, Formula):
            names.setdefault(dependent.formula, f"p[{i}]")
    numbers = {position.body: i for i, position in enumerate(positions)}
    for i, position in enumerate(positions):
        lines += [f"// {_one_line(position.body)}", *_inertia(i, robot.body(position.body), names)]
        matrix = written_position(position.factors, names, WRITTEN)
        if position.reference:
            lines += [f"BodyRef[{i}]:={numbers[position.reference]}:", f"TrefG[{i}]:={matrix}:"]
        else:
            lines.append(f"T0G[{i}]:={matrix}:")
    settings = system.settings
    lines.append("// Initial state and times [s]")
    for key, values in (("qi", settings.q), ("qdi", settings.v)):
        lines += [f"{key}[{i}]:={_value(x, names)}:" for i, x in enumerate(values)]
    times = {"FinalTime": settings.time, "StepSave": settings.sample, "StepMax": settings.max_step}
    lines += [f"{key}:={_value(time, names)}:" for key, time in times.items() if math.isfinite(time)]
    return "\n".join(lines) + "\n"


def _coordinates(robot: Robot) -> list[tuple[str, str]]:
    """The names and units of all coordinates."""
    return list(zip(robot.q_names, robot.q_units, strict=True))


def _inertia(i: int, body: Body, names: dict[Value, str]) -> list[str]:
    """The mass and the entries of the inertia tensor of body i; products of inertia that are zero are left out."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
    entries = zip(INERTIA, (xx, yy, zz, xy, xz, yz), strict=True)
    plain = f"mass[{i}]:={_value(body.mass, names)}:"
    kept = [(key, x) for key, x in entries if key[1] == key[2] or not (isinstance(x, float) and x == 0.0)]
    return [plain, *(f"{key}[{i}]:={_value(x, names)}:" for key, x in kept)]


def _value(value: Value, names: dict[Value, str]) -> str:
    return written(value, names, WRITTEN)


def _constants(system: System) -> dict[str, Parameter]:
    """The parameters of a robot by the names of constants, which are their own names where CAGeM allows them."""
    robot = system.robot
    taken = {*INDEXED, *PLAIN, *RESERVED, *MUPAD.formula.constants, *MUPAD.blocks}
    found: dict[str, Parameter] = {}
    used = {one.name: one for one in (*robot.parameters, *parameters_of((robot.dependents, robot.positions)))}
    for parameter in used.values():
        word = re.sub(r"\W", "_", parameter.name, flags=re.ASCII)
        name = word if _WORD.fullmatch(word) and word not in taken else f"c_{word}"
        while name in found or (name != parameter.name and name in used):
            name += "_"
        found[name] = parameter
    return found


def _one_line(name: str) -> str:
    return " ".join(name.split())


def _warn_of_the_rest(system: System, findings: Findings) -> None:
    """Warns about data that a CAGeM file cannot express."""
    robot = system.robot
    bodies = [body.name for i, body in enumerate(robot.bodies) if body.name != f"body{i}"]
    coordinates = [name for i, name in enumerate(robot.q_names) if name != f"q{i}"]
    limited = [joint.name for joint in robot.joints if joint.driven == () and joint.nq == 1 and coordinate_data(joint)]
    shapes = [body.name for body in robot.bodies if body.shapes or body.collisions]
    for names, problem in (
        (bodies + coordinates, "the names {} become numbers; comments have the names"),
        (limited, "limits, damping, friction and armatures of the coordinates {} are left out"),
        ([frame.name for frame in robot.frames], "the frames {} are left out"),
        ([element.name for element in system.elements], "the elements {} are left out"),
        (shapes, "the shapes of the bodies {} are left out"),
    ):
        if names:
            what = problem.format(quoted(names, 5))
            findings.warn("dropped", 0, f"robot '{robot.name}'", what, "Save the robot as TOML to keep all data.")
