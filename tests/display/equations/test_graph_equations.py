"""The kinematic graph written out: SymPy multiplies what is printed and gets the equations of motion; 002-04 to 13."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import library
from kinemorph.codegen.backends.text.sympy_source import export_sympy
from kinemorph.codegen.building.compile import build
from kinemorph.deriving.graph_programs import QUANTITIES
from kinemorph.display.charts.figures import draw_topology
from kinemorph.display.equations.equations_of_motion import symbolic_dynamics
from kinemorph.display.equations.graph_equations import graph_equations
from kinemorph.display.equations.symbols import symbols_of
from kinemorph.errors import UnsupportedError
from support.tools.command_line import run

sympy = pytest.importorskip("sympy")


def module(source: str) -> dict[str, Any]:
    """What a Python module of this source defines."""
    found: dict[str, Any] = {}
    exec(source, found)
    return found


def zero(matrix: Any) -> bool:
    return all(sympy.simplify(entry) == 0 for entry in matrix)


@pytest.mark.parametrize("order", [pytest.param("vw", marks=pytest.mark.slow), "wv"])
@pytest.mark.slow
def test_the_printed_matrices_satisfy_the_equations_of_the_paper(order: Any) -> None:
    """A slide and a hinge: equations 7, 9, 10, 20, 21 and 26, multiplied and differentiated by SymPy."""
    robot = library.crane()
    known = module(graph_equations(robot, order=order).sympy)
    B, C, S, Ad, t_K, t_B, M, ad, M_rate, w_B, w_g, w_K, tau = (known[name]() for name in QUANTITIES)
    q, v, a = (sympy.Matrix([known[f"{letter}{k}"] for k in (1, 2)]) for letter in "qva")
    assert zero(t_K - Ad * S * v) and zero(t_K + B.T * t_B) and zero(t_B - C * t_K)
    assert zero(C * B.T + sympy.eye(12))
    assert zero(M_rate - sum((M.diff(x) * rate for x, rate in zip(q, v, strict=True)), sympy.zeros(12, 12)))
    assert zero(M_rate + ad.T * M + M * ad)
    assert zero(w_B - (M_rate * C * Ad * S * v + M * C * ad * Ad * S * v + M * C * Ad * S * a))
    assert zero(w_B + B * w_K - w_g) and zero(w_K - C.T * (w_B - w_g)) and zero(tau - S.T * Ad.T * w_K)
    dynamics = symbolic_dynamics(robot)
    files = export_sympy([dynamics.inverse_dynamics.program], "crane", symbols=symbols_of(dynamics))
    forces = module(next(iter(files.values())))["inverse_dynamics"]()
    assert zero(tau - forces)
    # [angular; linear] has the turning of the hinge in the second of the six numbers, [linear; angular] in the fifth
    turning = [k for k in range(6) if t_B[6 + k].has(known["v2"]) and not t_B[6 + k].has(known["v1"])]
    assert (1 if order == "wv" else 4) in turning


def test_texts_tell_equations_vertices_and_symbols() -> None:
    graph = graph_equations(library.double_pendulum(), order="wv")
    for line in (
        "# kinematic graph of double_pendulum: twists [angular; linear], wrenches [moment; force], in world axes",
        "#   vertices: 0 world, 1 link1, 2 link2",
        "#   l1 = 1.2 m",
        "(9)   t_K = -B^T t_B",
        "(21)  w_B = (-ad^T M - M ad) C Ad S qd + M C ad Ad S qd + M C Ad S qdd",
        "    link1  -1   1",
        "    t_2^(0,1), q2 =",
        "    w_1^(0,2), q2, all entries that are not 0:",
    ):
        assert line in graph.text.splitlines()
    for part in (r"\mathrm{Ad}_{H_{2}^{0}} &= \begin{bmatrix}", r"\dot{M}^{0,1}", "-1_6 & 1_6", r"w_{1}^{0,2} &="):
        assert part in graph.latex
    assert graph._repr_latex_().startswith("$$") and "2 links, 2 arcs" in repr(graph)
    alone = graph["t_B"]
    assert "(21)" not in alone.text and "-v1 - v2" in alone.text and str(alone) == alone.text
    with pytest.raises(KeyError, match="no quantity 'Q'"):
        graph["Q"]
    with pytest.raises(UnsupportedError, match=r"'w_k' is no quantity.*Did you mean 'w_K'"):
        graph_equations(library.pendulum(), ("w_k",))
    with pytest.raises(UnsupportedError, match="order is 'paper'; expected 'vw'"):
        graph_equations(library.pendulum(), order="paper")  # type: ignore[arg-type]


def test_loops_and_rotors_are_told_and_a_chord_is_a_column() -> None:
    loop = graph_equations(library.four_bar(), ("B", "w_K"), parameters=None)
    assert "without the wrenches of the joints that close loops" in loop.text
    assert loop.arcs == ("q1", "q2", "q3", "closure") and " rocker   0   0  -1       -1" in loop.text
    assert "accelerates the rotors" in graph_equations(library.scara(), ("B",)).text
    assert loop.written.programs[0].outputs[0].shape == (18, 24)


def test_printed_wrenches_are_those_through_the_joints() -> None:
    """The numbers of w_K are those of `joint_wrenches` in the reference "world", in the order of the paper too."""
    robot = library.hand()
    q, v, a = np.random.default_rng(3).normal(size=(3, robot.nv))
    expected = kinemorph.derive(robot, backend="interpreter").joint_wrenches(q, v, a, reference="world")[1:]
    for order, places in (("vw", [0, 1, 2, 3, 4, 5]), ("wv", [3, 4, 5, 0, 1, 2])):
        (program,) = graph_equations(robot, ("w_K",), order=order, parameters=None).written.programs  # type: ignore[arg-type]
        found = build(program, "interpreter")(q, v, a).reshape(-1, 6)
        np.testing.assert_allclose(found, expected[:, places], atol=1e-12 * np.abs(expected).max())


@pytest.mark.slow
def test_the_command_line_prints_the_graph_and_draws_it(tmp_path: Path) -> None:
    derive = ("derive", "pendulum", "--formulation", "incidence", "--function", "block_matrices", "--emit")
    text = run(*derive, "text", "--order", "wv").stdout
    assert text.startswith("# kinematic graph of pendulum: twists [angular; linear]") and "(26)" in text
    tex = run(*derive, "latex").stdout
    assert tex.startswith("% kinematic graph of pendulum: twists [linear; angular]") and r"\begin{aligned}" in tex
    assert "def w_K():" in run(*derive, "sympy").stdout
    assert "order is 'xy'" in run(*derive, "text", "--order", "xy").stderr
    picture = tmp_path / "graph.png"
    assert run("show", "four_bar", "--graph", str(picture)).exit_code == 0 and picture.stat().st_size > 10_000
    assert "--graph is 'x.txt'; expected a file name that ends in" in run("show", "crane", "--graph", "x.txt").stderr


def test_the_directed_graph_has_names_numbers_and_arrows() -> None:
    robot = library.jansen()
    axes = draw_topology(robot, directed=True).axes[0]
    texts = [text.get_text() for text in axes.texts]
    joints = (*robot.joints, *robot.loops)
    assert {joint.name for joint in joints} <= set(texts)
    assert {f"{k}  {name}" for k, name in enumerate(("world", *robot.body_names))} <= set(texts)
    heads = [line for line in axes.lines if line.get_marker() == "<"]
    assert len(heads) == len(robot.joints)
