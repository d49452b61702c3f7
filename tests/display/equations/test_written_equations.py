"""Equations to read: they compute what the compiled model computes, and say what their symbols mean."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import Body, Parameter, Robot, RobotBuilder
from kinemorph.codegen.backends.text.latex import latex, latex_formula
from kinemorph.codegen.reading.expression_tree import Symbol, product, total
from kinemorph.codegen.reading.line_breaks import slashed
from kinemorph.codegen.reading.printed_formula import formula
from kinemorph.display.equations import typesetting
from kinemorph.display.equations.equations_of_motion import equations_of_motion, symbolic_dynamics, write_equations
from kinemorph.display.equations.typesetting import draw_equations
from kinemorph.errors import UnsupportedError
from kinemorph.model.library import LIBRARY, SYSTEMS, build
from kinemorph.model.library.choosing import choose, signatures
from kinemorph.model.system import as_robot
from kinemorph.vocabulary.typography.marks import Named

FUNCTIONS: dict[str, Any] = {"sin": math.sin, "cos": math.cos, "sqrt": math.sqrt}


def computed(text: str, values: dict[str, float]) -> dict[str, float]:
    """What the lines `name = expression` give."""
    known = dict(values)
    for line in text.splitlines():
        name, expression = line.split(" = ", 1)
        known[name] = eval(expression, {"__builtins__": {}}, FUNCTIONS | known)
    return known


def inputs(robot: kinemorph.Robot, seed: int) -> tuple[list[np.ndarray], dict[str, float]]:
    rng = np.random.default_rng(seed)
    q = kinemorph.random_configuration(robot, rng)
    v, a = rng.normal(size=(2, robot.nv))
    values = {f"{name}{i + 1}": float(x) for name, array in (("q", q), ("v", v), ("a", a)) for i, x in enumerate(array)}
    return [q, v, a], values | {p.name: p.value for p in robot.parameters} | {"g": 9.81}


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "crane", "scara", "chain:3"])
def test_printed_forces_are_those_of_the_model(name: str) -> None:
    robot = choose(name).robot
    arrays, values = inputs(robot, 2)
    found = computed(equations_of_motion(robot).text, values)
    tau = kinemorph.derive(robot, backend="interpreter").inverse_dynamics(*arrays)
    assert [found[f"tau{i + 1}"] for i in range(robot.nv)] == pytest.approx(tau.tolist(), rel=1e-10, abs=1e-10)


def test_matrices_and_forces_are_the_same_equations() -> None:
    robot = build("double_pendulum")
    _, values = inputs(robot, 3)
    forces = computed(equations_of_motion(robot).text, values)
    both = computed(equations_of_motion(robot, "matrices").text, values)
    for i in (1, 2):
        row = both[f"M{i}1"] * values["a1"] + both[f"M{i}2"] * values["a2"] + both[f"h{i}"]
        assert row == pytest.approx(forces[f"tau{i}"], rel=1e-12)


def test_gravity_is_a_symbol_unless_a_number_is_asked_for() -> None:
    robot = build("pendulum")
    assert "g*sin(q1)" in equations_of_motion(robot).text
    assert "9.81" in equations_of_motion(robot, gravity="number").text
    bar = build("four_bar")  # its gravity is a plain number
    assert "g*" in equations_of_motion(bar).text and "g*" not in equations_of_motion(bar, gravity="number").text
    assert all(parameter.name != "g" for parameter in bar.parameters)  # the robot itself is untouched


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"form": "nonsense"}, "equations of motion: form is 'nonsense', expected 'forces' or 'matrices'."),
        ({"form": "force"}, "equations of motion: form is 'force', expected 'forces' or 'matrices'. Did you mean 'forces'?"),  # noqa: E501
        ({"gravity": "off"}, "equations of motion: gravity is 'off', expected 'symbol' or 'number'."),
        ({"gravity": 9.81}, "equations of motion: gravity is 9.81, expected 'symbol' or 'number'."),
    ],
)  # fmt: skip
def test_unknown_words_are_refused(given: Any, sentence: str) -> None:
    with pytest.raises(UnsupportedError) as refused:
        equations_of_motion(build("pendulum"), **given)
    assert str(refused.value) == sentence


def test_symbols_in_latex() -> None:
    latex = equations_of_motion(build("double_pendulum")).latex
    for symbol in (r"\tau_{1}", r"\ddot{q}_{2}", r"\dot{q}_{1}", "m_{1}", "l_{2}", "g"):
        assert symbol in latex
    dynamics = symbolic_dynamics(build("puma"), parameters=None)
    free = write_equations(dynamics, [dynamics.gravity_forces.program])
    assert r"\dot{q}" not in free.latex and "G_" in free.latex


def test_legend_names_what_occurs_and_nothing_else() -> None:
    crane = equations_of_motion(build("crane"))
    assert crane.legend == ("q1 = x [m]", "q2 = theta [rad]", "m1 = 2 kg", "m2 = 1 kg", "l1 = 1 m", "g = 9.81 m/s^2")
    dynamics = symbolic_dynamics(build("crane"))
    mass = write_equations(dynamics, [dynamics.mass_matrix.program])
    assert mass.legend == ("q2 = theta [rad]", "m1 = 2 kg", "m2 = 1 kg", "l1 = 1 m")


def test_picture_holds_every_equation_within_its_width() -> None:
    figure = draw_equations(equations_of_motion(build("double_pendulum")), width=7.0)
    right = figure.get_figwidth() * figure.dpi
    shown = [text for text in figure.texts if text.get_text().startswith("$")]
    assert len(shown) > 3  # the first equation needs several lines
    assert all(text.get_window_extent().x1 < right for text in shown)
    boxes = [text.get_window_extent() for text in shown]
    assert all(upper.y0 > lower.y1 for upper, lower in pairwise(boxes))


@pytest.mark.parametrize("width", [2.5, pytest.param(11.0, marks=pytest.mark.slow)])
def test_no_formula_loses_its_end(width: float) -> None:
    """Terms that are longer than a line break inside their brackets; joined again, the lines are the whole formula."""
    names = [f"m{i}" for i in range(1, 60)]
    p = [Symbol(name, f"m_{{{name[1:]}}}", (0, 0, i)) for i, name in enumerate(names)]
    inner = total([*p[:25], product(2.0, [(total(p[25:40]), 1), (p[58], 1)])])
    tree = total([product(-3.0, [(inner, 1), (p[57], 1)]), product(1.0, [(total(p[40:57]), 1), (inner, -1)])])
    lines = typesetting._broken(Named("x", "x"), tree, 72.0 * width)
    assert len(lines) > 2
    joined = "".join(line.removeprefix("x =").replace(r"\qquad", "") for line in lines)
    for name in names:
        assert joined.count(f"m_{{{name[1:]}}}") == latex(tree).count(f"m_{{{name[1:]}}}")
    for line in lines:
        assert typesetting._width(line) <= 72.0 * width


def test_what_cannot_be_broken_is_set_smaller() -> None:
    figure = draw_equations(equations_of_motion(build("double_pendulum")), width=1.6)
    right = figure.get_figwidth() * figure.dpi
    shown = [text for text in figure.texts if text.get_text().startswith("$")]
    assert min(float(text.get_fontsize()) for text in shown) < typesetting.POINTS
    assert all(text.get_window_extent().x1 < right for text in shown)


def test_a_picture_of_matrices_is_refused_but_they_are_written() -> None:
    dynamics = symbolic_dynamics(kinemorph.library.four_bar())
    equations = write_equations(dynamics, [dynamics.constraint_forces.program])
    assert "s1 = solve([[" in equations.text and r"\end{bmatrix}^{-1}" in equations.latex
    with pytest.raises(UnsupportedError, match=r"solve 3x3.*`latex` or `text`"):
        draw_equations(equations)


def test_long_fractions_become_slashes() -> None:
    a, b = (Symbol(name, name, (0, 0, i)) for i, name in enumerate("ab"))
    many = [Symbol(f"c{i}", f"c_{{{i}}}", (0, 1, i)) for i in range(30)]
    short, long = product(1.0, [(a, 1), (b, -1)]), total(many)
    assert slashed(formula(short)) == formula(short) and latex(short) == r"\frac{a}{b}"
    fraction = product(1.0, [(long, 1), (b, -1)])
    assert latex_formula(slashed(formula(fraction))) == rf"\left({latex(long)}\right)/b"
    times = product(1.0, [(long, 1), (a, 1), (total([a, b]), -1)])
    assert latex_formula(slashed(formula(times))) == rf"a \left({latex(long)}\right)/\left(a + b\right)"


def test_every_signature_can_be_spoken() -> None:
    for name, data in signatures().items():
        spoken = choose(f"{name}:{data.replace(' ', '')}") if data else choose(name)
        assert spoken.robot == as_robot((LIBRARY | SYSTEMS)[name]())


# ── names of symbols ──────────────────────────────────────────────────────────────────────────────────────────────────


def cart(mass: str = "M", length: str = "l") -> Robot:
    heavy, rope = Parameter(mass, 2.0, "kg"), Parameter(length, 1.0, "m")
    builder = RobotBuilder("cart").add(
        Body.box("cart", heavy, (0.4, 0.2, 0.2)), Body.point("load", 1.0, (0.0, 0.0, -1.0 * rope))
    )
    builder.joint("x", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0))
    return builder.joint("theta", "revolute", "cart", "load", axis=(0.0, 1.0, 0.0)).build()


def test_a_mass_called_m_is_not_the_mass_matrix() -> None:
    """Both were the letter M, in one equation."""
    equations = equations_of_motion(cart(), "matrices")
    assert "mass_matrix11 = M + 1" in equations.text or "mass_matrix11 = 1 + M" in equations.text
    assert r"\mathbf{M} &= \begin{bmatrix}" in equations.latex and "\nM &=" not in equations.latex
    assert "M = 2 kg" in equations.legend
    assert "\nM &= " in equations_of_motion(cart("m"), "matrices").latex  # as it was, without a clash
    assert draw_equations(equations)


def test_parameters_called_like_coordinates_keep_their_names() -> None:
    """A length a1 and the acceleration a1 ended in an error about `symbols`, which the caller cannot give."""
    equations = equations_of_motion(cart("q1", "a1"))
    assert "a_2" in equations.text and "a1" in equations.text and "q_2" in equations.text
    assert {"q1 = 2 kg", "a1 = 1 m", "q_2 = theta [rad]"} <= set(equations.legend)
    assert r"\mathrm{q}_{2}" in equations.latex


@pytest.mark.parametrize("names", ["joints", ["x", "theta"], {"x": "x", "theta": "theta"}])
def test_coordinates_may_have_names_of_their_own(names: Any) -> None:
    equations = equations_of_motion(cart("m"), names=names)
    numbered = equations_of_motion(cart("m")).text
    for old, new in (("q2", "theta"), ("v2", "thetadot"), ("a1", "xddot"), ("a2", "thetaddot")):
        numbered = re.sub(rf"\b{old}\b", new, numbered)
    assert equations.text == numbered
    assert r"\ddot{x}" in equations.latex and r"\dot{\theta}^{2}" in equations.latex
    assert {"x [m]", "theta [rad]"} <= set(equations.legend)


def test_names_of_coordinates_may_be_latex() -> None:
    """They were refused, since no formula in Python can contain them."""
    raw, plain = (equations_of_motion(cart("m"), names=names) for names in ([r"\bar{x}_1", r"\vartheta"], ["u", "w"]))
    assert raw.latex == (
        plain.latex.replace("{u}", "{\\bar{x}}_1").replace("{w}", r"{\vartheta}").replace(" w", r" \vartheta")
    )
    assert "dot.double(macron(x))_1" in raw.typst and "<mi>ϑ</mi>" in raw.mathml and "bar_x_1ddot" in raw.text
    assert {"bar_x_1 = x [m]", "vartheta = theta [rad]"} <= set(raw.legend)
    builder = RobotBuilder("arm").body("b", mass=1.0, inertia=(1.0, 1.0, 1.0), com=(0.5, 0.0, 0.0))
    arm = builder.joint(r"\theta_1", "revolute", "world", "b", axis=(0, 1, 0)).build()
    assert r"\ddot{\theta}_1" in equations_of_motion(arm, names="joints").latex


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ("joint", "names is 'joint'; expected 'numbers', 'joints', a list of 2 names"),
        (["x"], "names has 1 entries; expected 2"),
        (["M", "theta"], "'M' for 'x' is the name of a parameter"),
        (["s", "s"], "'s' for 'x' is given twice"),
        (["a b", "c"], r"'a b' for 'x' cannot be a symbol; .* or LaTeX such as .theta_1"),
        ([r"\input{x}", "c"], r"for 'x' contains the command .input, which symbols do not know. Write LaTeX such as"),
        ({"tehta": "c"}, r"no coordinate 'tehta'.* Did you mean 'theta'\?"),
    ],
)
def test_names_that_cannot_be_symbols_get_a_sentence(names: Any, sentence: str) -> None:
    with pytest.raises(UnsupportedError, match=sentence):
        equations_of_motion(cart(), names=names)
