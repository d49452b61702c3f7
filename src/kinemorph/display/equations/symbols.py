r"""The symbols of a robot in its equations, in plain text and in LaTeX.

Coordinates are q_i, velocities \dot q_i and accelerations \ddot q_i, counted from 1 in the order of `robot.v_names`;
where v is not the rate of q (quaternions, planar joints) they are v_i and \dot v_i. With names of their own, as x and
theta, they are x, \dot x, \ddot x, and the force is \tau_x. Parameters always keep their names: where a parameter is
called like a coordinate or an output, such as a mass M beside the mass matrix, the other symbol is changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from kinemorph.codegen.backends.identifiers import LONGEST, identifier
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.reading.names import latex_name
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import UnsupportedError
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.vocabulary.typography.symbol_reader import symbol_problem
from kinemorph.words import did_you_mean, quoted

Names = dict[tuple[str, int | None], tuple[str, str]]
CoordinateNames: TypeAlias = Literal["numbers", "joints"] | Mapping[str, str] | Sequence[str]

# names of the single output of a function, plain and LaTeX; others keep the name of their port
OUTPUT_NAMES: dict[str, tuple[str, str]] = {
    "mass_matrix": ("M", "M"),
    "inverse_dynamics": ("tau", r"\tau"),
    "bias_forces": ("h", "h"),
    "coriolis_matrix": ("C", "C"),
    "gravity_forces": ("G", "G"),
    "pose": ("T", "T"),
    "forward_kinematics": ("T", "T"),
    "jacobian": ("J", "J"),
    "jacobian_rate": ("Jdot", r"\dot{J}"),
    "center_of_mass": ("c", "c"),
    "centroidal_matrix": ("A", "A"),
    "momentum": ("h", "h"),
    "configuration_rate": ("qdot", r"\dot{q}"),
    "constraint_jacobian": ("J", "J"),
    "constraint_bias": ("gamma", r"\gamma"),
}
# names of the outputs of functions with several, plain and LaTeX, where they differ from their ports' names
PORT_NAMES: dict[str, dict[str, tuple[str, str]]] = {
    "block_matrices": {
        "T_H0": ("T_H0", "T_{H_0}"),
        "ad_Sqd": ("ad_Sqd", r"\mathrm{ad}_{S\dot{q}}"),
        "ad_V": ("ad_V", r"\mathrm{ad}^{*}_{V}"),
        "Ad": ("Ad", r"\mathrm{Ad}"),
        "M_rate": ("M_rate", r"\dot{M}"),
        "ad": ("ad", r"\mathrm{ad}"),
        "C_R": ("C_R", "C^{R}"),
        "C_D": ("C_D", "C^{D}"),
        "C_bar": ("C_bar", r"\bar{C}"),
        "Phi": ("Phi", r"\bar{\Phi}"),
        "Phi_rate": ("Phi_rate", r"\dot{\bar{\Phi}}"),
        "W": ("W", r"\tilde{\omega}_{G}"),
        "C_hat": ("C_hat", r"\hat{C}"),
        "Psi": ("Psi", r"\tilde{\Psi}_{G}"),
        "D_rate": ("D_rate", r"\dot{D}"),
        "I": ("I", "I^{*}_{G}"),
        "m": ("m", r"m_{G}"),
        "xi": ("xi", r"\xi"),
        "Gamma": ("Gamma", r"\Gamma"),
        "I_v": ("I_v", "I_{v}"),
    },
    "coordinate_sets": {
        f"{letter}_{name}": (f"{letter}_{name}", rf"{letter}_{{\mathrm{{{name}}}}}")
        for name in ("absolute", "relative", "true")
        for letter in ("M", "b")
    },
}


def symbols_of(dynamics: Dynamics, names: CoordinateNames = "numbers") -> Names:
    """Plain and LaTeX names of the entries of q, v, a, tau and p, {(port, index): (plain, LaTeX)}.

    `names` are those of the coordinates: "numbers" for q1, q2, ..., "joints" for `robot.q_names`, {name in q_names: new
    name}, or a list with one name for each; new names may be LaTeX that begins with a backslash. Raises
    UnsupportedError where they are not possible.
    """
    robot = dynamics.robot
    found: Names = {("p", i): names for i, names in enumerate(_parameter_names(dynamics.parameters))}
    taken = {text for pair in found.values() for text in pair}
    own = _own_names(robot, names, {parameter.name for parameter in dynamics.parameters})
    rate, acceleration = rates(robot)
    ports = (("q", "q", robot.nq), ("v", rate, robot.nv), ("a", acceleration, robot.nv), ("tau", r"\tau", robot.nv))
    for port, letter, count in ports:
        plain = [f"{port}{i + 1}" for i in range(count)]
        if taken & set(plain):  # a parameter has the name of one of them, so all get an underscore
            plain = [f"{port}_{i + 1}" for i in range(count)]
        latex = [f"{letter}_{{{i + 1}}}" for i in range(count)]
        if taken & set(latex):
            latex = [rf"\mathrm{{{letter}}}_{{{i + 1}}}" for i in range(count)]
        found |= {(port, i): pair for i, pair in enumerate(zip(plain, latex, strict=True))}
    for i, (name, symbol) in own.items():
        found |= _named(i, name, symbol, is_plain(robot))
    return found


def _parameter_names(parameters: Sequence[Parameter]) -> list[tuple[str, str]]:
    """Plain and LaTeX names of parameters: a name that no formula can contain becomes an identifier in plain text."""
    plain = [parameter.name if parameter.name.isidentifier() else "" for parameter in parameters]
    for i, parameter in enumerate(parameters):
        if len(plain[i] or "_" * LONGEST) >= LONGEST:
            plain[i] = identifier(parameter.name, plain)
    return [
        (name, parameter.symbol or latex_name(parameter.name if len(parameter.name) < LONGEST else name))
        for name, parameter in zip(plain, parameters, strict=True)
    ]


def _named(i: int, name: str, symbol: str, plain: bool) -> Names:
    """The symbols of a coordinate by index, name and LaTeX; if `plain` (v is the rate of q), also of v, a and tau."""
    found: Names = {("q", i): (name, symbol)}
    if plain:
        stem, index = re.fullmatch(r"(.*?)(_\{\d+\}|_\w)?", symbol).groups(default="")  # type: ignore[union-attr]
        # a dot is above the letter, without its index
        found["v", i] = (f"{name}dot", rf"\dot{{{stem}}}{index}")
        found["a", i] = (f"{name}ddot", rf"\ddot{{{stem}}}{index}")
        found["tau", i] = (f"tau_{name}", rf"\tau_{{{symbol}}}")
    return found


def _own_names(robot: Robot, names: CoordinateNames, taken: Collection[str]) -> dict[int, tuple[str, str]]:
    """Plain and LaTeX names that the user chooses for coordinates, by index in q: identifiers that no parameter has."""
    known = robot.q_names
    if isinstance(names, str):
        if names not in ("numbers", "joints"):
            raise UnsupportedError(
                f"names is '{names}'; expected 'numbers', 'joints', a list of {robot.nq} names, or a dictionary."
            )
        chosen = dict(enumerate(known)) if names == "joints" else {}
        kept = {i for i, name in chosen.items() if name.startswith("\\") and not symbol_problem(name)}
        chosen = {i: name if i in kept else re.sub(r"\W+", "_", name) for i, name in chosen.items()}
    elif isinstance(names, Mapping):
        for name in names:
            if name not in known:
                raise UnsupportedError(
                    f"names: '{robot.name}' has no coordinate '{name}'; expected one of {quoted(known)}."
                    f"{did_you_mean(name, known)}"
                )
        chosen = {known.index(name): new for name, new in names.items()}
    else:
        if len(names) != robot.nq:
            raise UnsupportedError(
                f"names has {len(names)} entries; expected {robot.nq}, one for each of {quoted(known)}."
            )
        chosen = dict(enumerate(names))
    raw = {i: name for i, name in chosen.items() if isinstance(name, str) and name.startswith("\\")}
    for i, name in raw.items():
        if problem := symbol_problem(name):
            raise UnsupportedError(rf"names: {name!r:.60} for '{known[i]}' {problem}. Write LaTeX such as \theta_1.")
        chosen[i] = identifier(name)
    for i, name in chosen.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise UnsupportedError(
                f"names: {name!r:.60} for '{known[i]}' cannot be a symbol; expected letters, digits and underscores, a "
                r"letter first, or LaTeX such as \theta_1. Choose another name."
            )
        if name in taken or list(chosen.values()).count(name) > 1:
            what = "is the name of a parameter" if name in taken else "is given twice"
            raise UnsupportedError(
                f"names: '{name}' for '{known[i]}' {what}; expected names that differ from all others. Choose another."
            )
    return {i: (name, raw.get(i) or latex_name(name)) for i, name in chosen.items()}


def is_plain(robot: Robot) -> bool:
    """Whether v is the rate of q, entry by entry."""
    kinds = {step.kind for joint in robot.joints for step in joint.table.primitives}
    return not kinds & {"spherical", "planar", "free"}


def rates(robot: Robot) -> tuple[str, str]:
    """The LaTeX letters of velocities and accelerations."""
    return (r"\dot{q}", r"\ddot{q}") if is_plain(robot) else ("v", r"\dot{v}")


def output_names(robot: Robot, program: Program, inputs: Names) -> Names:
    """(plain, LaTeX) names of whole outputs of a program, such as ("M", "M"), by (port, None).

    `inputs` are the names of the program's inputs. Where a parameter or coordinate already has the name of an output,
    the output gets the name of its function in plain text, and a bold letter in LaTeX.
    """
    function = program.name.rpartition(f"{robot.name}.")[2].partition("[")[0]
    if len(program.outputs) != 1:
        return {(port, None): names for port, names in PORT_NAMES.get(function, {}).items()}
    if function == "forward_dynamics":
        return {("out", None): ("a", rates(robot)[1])}
    if function not in OUTPUT_NAMES:
        return {}
    plain, latex = OUTPUT_NAMES[function]
    letters = {text for (port, _), pair in inputs.items() if port in ("p", "q") for text in pair}
    entries = re.compile(rf"{re.escape(plain)}\d*")  # M, and M11 of its entries
    if latex in letters or any(entries.fullmatch(text) for text in letters):
        return {("out", None): (function, rf"\mathbf{{{latex}}}")}
    return {("out", None): (plain, latex)}


def pose_names(parent: int, body: int) -> Names:
    """Names of the output of a program that is the pose of a body in another, both given by their numbers: T0_2.

    The world has the number 0. Entries have the numbers of their row and column after those of the bodies.
    """
    found: Names = {("out", None): (f"T{parent}_{body}", f"T_{{{parent},{body}}}")}
    for k in range(16):
        place = f"{k // 4 + 1}{k % 4 + 1}"
        found["out", k] = (f"T{parent}_{body}_{place}", f"T_{{{parent},{body},{place}}}")
    return found
