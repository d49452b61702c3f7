"""Files of EasyDyn's CAGeM and of CADyn: the paper's double pendulum, a slider-crank, writing, and wrong files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph.elements import AppliedEffort
from kinemorph.errors import ModelWarning, ParseError
from kinemorph.formats.cagem.writer import written_model
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import examine, load_text
from kinemorph.library import puma
from kinemorph.model.system import System
from support.tools.each_case import each_case
from support.tools.refusals import assert_refused

# the user file of the paper's section 5, with the letters that its scan misread
PENDULUM = """\
// Title of the application
title:="Simulation of a double pendulum":
nbrdof:= 2:
nbrbody:= 2:
// Gravity vector
gravity[1]:=0:
gravity[2]:=-9.81:
gravity[3]:=0:
// Eventual constants
l0:=1.2: l1:=1.1:
// Inertia characteristics
mass[0]:=1.1: mass[1]:=0.9:
Ixx[0]:=1: Ixx[1]:=1:
Iyy[0]:=1: Iyy[1]:=1:
Izz[0]:=l0^2/12*mass[0]:
Izz[1]:=l1^2/12*mass[1]:
// Definition of the position matrices
T0G[0] := Trotz(q[0]) * Tdisp(0,-l0/2,0):
T0G[1] := Trotz(q[0]) * Tdisp(0,-l0,0) * Trotz(q[1]) * Tdisp(0,-l1/2,0):
// Initial conditions
qi[1]:=1:
// Simulation parameters
FinalTime:=5:
StepSave:=0.01:
StepMax:=0.005:
"""
# t: q0 q1 qd0 qd1, by DOP853 at 1e-13
REFERENCE = np.array([
    [-0.3646151161, 0.4549617253, -1.4481350293, 3.5456620061],
    [0.1456226237, -0.1467599406, -1.0796004793, 5.7429094798],
    [0.3056908578, -0.7668687213, -0.9702320414, 0.8016878144],
    [0.0268565780, -0.8649847844, 0.9172165385, -1.5358141586],
    [0.2426203647, 0.1655897690, 1.5295166145, -5.2962537299],
])  # fmt: skip
CRANK = """\
/* a crank of length lc, a rod of length lr, and a slider along x */
title: "slider-crank";
gravity[1]: 0; gravity[2]: -9.81; gravity[3]: 0;
lc: 1; lr: 2;
mass[1]: 1; mass[2]: 2; mass[3]: 5;
Ixx[1]: 1; Ixx[2]: 1; Ixx[3]: 1;
Iyy[1]: 1; Iyy[2]: 1; Iyy[3]: 1;
Izz[1]: 0.0833; Izz[2]: 0.6667; Izz[3]: 2;
pi[2]: lc*cos(q[1]) + lr*cos(p[1]);     /* the place of the slider */
pi[1]: asin(lc*sin(q[1])/lr);           /* the angle of the rod */
T0G[1]: Trotz(q[1]) . Tdisp(lc/2, 0, 0);
T0G[2]: Tdisp(p[2], 0, 0) . Trotz(-1*p[1]) . Tdisp(-lr/2, 0, 0);
T0G[3]: Tdisp(p[2], 0, 0);
qi[1]: 1.0;
qdi[1]: 0;
FinalTime: 6$
StepSave: 0.05$
"""


def test_the_papers_file_gives_its_motion() -> None:
    system = load_text(PENDULUM, "cagem")
    assert (system.name, system.settings.q) == ("Simulation of a double pendulum", (0.0, 1.0))
    assert (system.settings.time, system.settings.sample) == (5.0, 0.01)
    assert [(one.name, one.value) for one in system.robot.parameters] == [("l0", 1.2), ("l1", 1.1)]
    starting = kinemorph.derive(system).forward_dynamics(*system.initial_state(), np.zeros(2))
    assert starting == pytest.approx([2.34552, -15.6759], abs=5e-5)
    run = kinemorph.simulate(system, rtol=1e-13, atol=1e-13, output_step=1.0)
    assert np.abs(np.hstack([run.q, run.v])[1:] - REFERENCE).max() < 1e-9
    poles = kinemorph.linearize(system, q=[0.0, 0.0]).poles()
    assert poles.omega == pytest.approx([2.51580987, 6.50721723], abs=1e-8)


def test_relative_positions_give_the_same_robot() -> None:
    text = PENDULUM.replace("T0G[1] := Trotz(q[0]) * Tdisp(0,-l0,0)", "BodyRef[1]:=0: TrefG[1] := Tdisp(0,-l0/2,0)")
    both = [kinemorph.derive(load_text(one, "cagem")) for one in (PENDULUM, text)]
    first, second = (one.forward_dynamics([0.3, 0.8], [1.0, -2.0], [0.5, 0.1]) for one in both)
    assert first == pytest.approx(second, abs=1e-12)


def test_a_slider_crank_with_two_dependents_gives_its_motion() -> None:
    system = load_text(CRANK, "cagem")
    assert [(one.name, one.unit) for one in system.robot.dependents] == [("p1", "rad"), ("p2", "m")]
    assert kinemorph.derive(system).forward_dynamics([1.0], [0.0], [10.0]) == pytest.approx([0.24484074], abs=1e-8)
    pushed = System(system.robot, [AppliedEffort("torque", "q1", 10.0)], system.settings)
    first = kinemorph.simulate(pushed, 2.0, rtol=1e-12, atol=1e-12)
    last = kinemorph.simulate(system, 6.0, q=first.q[-1], v=first.v[-1], start=2.0, rtol=1e-12, atol=1e-12)
    assert (last.q[-1, 0], last.v[-1, 0]) == pytest.approx((13.736834332, 1.265003145), abs=1e-8)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    system = load_text(PENDULUM, "cagem")
    kinemorph.save(system, tmp_path / "dp.mu")
    assert kinemorph.load(tmp_path / "dp.mu") == system
    crank = load_text(CRANK, "cagem")
    with pytest.warns(ModelWarning, match="become numbers"):
        kinemorph.save(crank, tmp_path / "crank.mu")
    assert "p[1]:=lc * cos(q[0]) + lr * cos(p[0]):" in (tmp_path / "crank.mu").read_text()
    back = kinemorph.load(tmp_path / "crank.mu")
    state = ([0.4], [0.7], [0.2])
    assert kinemorph.derive(back).forward_dynamics(*state) == kinemorph.derive(crank).forward_dynamics(*state)


def test_a_robot_of_joints_is_written_with_the_matrices_of_its_joints() -> None:
    robot = puma()
    findings = Findings("x")
    back = load_text(written_model(System(robot), findings), "cagem").robot
    assert any("armatures" in one.problem for one in findings.warnings)
    q = np.linspace(-1.0, 1.0, 6)
    weights = [kinemorph.derive(one).gravity_forces(q) for one in (robot, back)]
    assert weights[0] == pytest.approx(weights[1], abs=1e-10)


def test_robots_that_a_file_cannot_express_are_refused(tmp_path: Path) -> None:
    for name, why in (("humanoid", "is free"), ("slider_crank", "closes a loop")):
        with pytest.raises(ParseError, match=why):
            kinemorph.save(kinemorph.library.build(name), tmp_path / "robot.mu")
    with pytest.raises(ParseError, match="can be read, but not written"):
        kinemorph.save(load_text(PENDULUM, "cagem"), tmp_path / "robot.mac")


def test_notations_constants_and_functions_are_understood() -> None:
    text = PENDULUM.replace("l1:=1.1:", "l1 := 2.2*sin(PI/6): alpha:=arcsin(sin(q[1]))+arctan(t)/9+atan2(0,1);")
    text = text.replace("Trotz(q[1])", "Trotz(alpha)") + "# a comment # /* and\nanother */"
    system = load_text(text, "cagem")
    assert system.robot.dependents[0].name == "alpha" and system.robot.is_timed
    assert system.robot.parameters[1].value == pytest.approx(1.1)


def test_formulas_that_are_defined_only_near_the_initial_state_are_read() -> None:
    """Checks take random configurations, at which this acos has no value."""
    text = CRANK.replace("asin(lc*sin(q[1])/lr)", "acos(50*(q[1] - start))").replace("lc: 1;", "lc: 1; start: 0.9;")
    system = load_text(text.replace("qi[1]: 1.0;", "qi[1]: start;"), "cagem")
    assert system.settings.q == (0.9,)


def test_a_file_is_recognized_by_its_ending_and_checked_by_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "dp.mu").write_text(PENDULUM)
    (tmp_path / "crank.mac").write_text(CRANK)
    for name in ("dp.mu", "crank.mac"):
        found = examine(tmp_path / name)
        assert (found.format, found.findings) == ("cagem", ())


def test_a_sidecar_adds_elements(tmp_path: Path) -> None:
    (tmp_path / "crank.mac").write_text(CRANK)
    sidecar = 'kinemorph = 1\n[elements.torque]\nkind = "applied effort"\njoint = "q1"\neffort = 10\n'
    (tmp_path / "crank.sidecar.toml").write_text(sidecar)
    assert kinemorph.load(tmp_path / "crank.mac").elements == (AppliedEffort("torque", "q1", 10.0),)


@each_case(
    ("added", "line", "words"),
    [
        ("STATIC:=1:", 26, "the flag asks for the static equilibrium"),
        ("LATEX_EN:=TRUE:", 26, "kinemorph report --to latex"),
        ("FinaleTime:=3:", 26, "Did you mean 'FinalTime'?"),
        ('application:="dp2":', 26, "which has no meaning here"),
    ],
)
def test_what_has_no_effect_gives_a_warning(added: str, line: int, words: str) -> None:
    with pytest.warns(ModelWarning) as caught:
        load_text(PENDULUM + added, "cagem")
    (message,) = map(str, (one.message for one in caught))
    assert message.startswith(f"<cagem>:{line}: ") and words in message
    load_text(PENDULUM + "PLOT:=0: ANIM:=FALSE:", "cagem")  # flags that are not set need no warning


WRONG = [
    ("Trotz(q[0]) * Tdisp(0,-l0/2", "Trotz(q[0]) * Tdisp(0,-l9/2", 18, "parameter 'l9'", "Known: q[0], q[1], t"),
    ("Trotz(q[1])", "Trotz(q[2])", 19, "q[2] is out of range: nbrdof is 2", "Correct the index"),
    ("mass[1]:=0.9:", "mass[2]:=0.9:", 12, "mass[2] is out of range: nbrbody is 2", "Correct the index"),
    ("mass[1]:=0.9:", "", 16, "parameter 'mass[1]'", "Did you mean 'mass[0]'?"),
    ("nbrbody:= 2:", "nbrbody:= 3:", 4, "mass[2] is missing", "Assign mass[2]"),
    ("nbrbody:= 2:", "nbrbody:= 3:", 4, "neither of T0G[2] and TrefG[2] is assigned", "body 2"),
    ("nbrdof:= 2:", "nbrdof:= 3:", 3, "it moves nothing", "Use it in a position"),
    ("nbrdof:= 2:", "nbrdof:= two:", 3, "it is 'two', expected a whole number", "such as 2"),
    ("nbrdof:= 2:", "nbrdof:= 2: nbrdep:=1:", 3, "p[0] is not assigned, but nbrdep counts it", "Assign p[0]"),
    ("Tdisp(0,-l1/2,0)", "Tdisp(0,-l1/2)", 19, "Tdisp has 2 arguments, expected 3", "Give 3 arguments"),
    ("Trotz(q[1])", "TRotz(q[1])", 19, "there is no function 'TRotz'", "Did you mean 'Trotz'?"),
    ("T0G[1]", "TOG[1]", 19, "'TOG' has an index, but is not a key with one", "Did you mean 'T0G'?"),
    ("l1:=1.1:", "11:=1.1:", 10, "a value is assigned to '11', expected a name", "begin with a letter"),
    ("l1:=1.1:", "l1:=1.1: l1:=2:", 10, "it is assigned on line 10 already", "Remove one"),
    ("l1:=1.1:", "l1:=1.1: t:=2:", 10, "'t' stands for the time", "Use another name"),
    ("gravity[3]:=0:", "gravity[0]:=0:", 8, "indices of gravity are 1, 2 and 3", "Correct the index"),
    ("l1:=1.1:", "l1:=a: a:=2*l1:", 10, "it depends on itself: l1 -> a -> l1", "not contain"),
    ("l1:=1.1:", "p[0]:=p[1]: pi[1]:=cos(p[0]): l1:=1.1:", 10, "it depends on itself: p[0] -> p[1]", "not contain"),
    ("T0G[1] :=", "BodyRef[1]:=1: TrefG[1] :=", 19, "references form a circle: body1 -> body1", "in the world"),
    ("T0G[1] :=", "BodyRef[1]:=7: TrefG[1] :=", 19, "BodyRef[1] is 7, expected a body from 0 to 1", "another body"),
    ("T0G[1] :=", "TrefG[1] :=", 19, "BodyRef[1] is missing", "Assign BodyRef[1]"),
    ("T0G[1] :=", "BodyRef[1]:=0: T0G[1] :=", 19, "BodyRef[1] is given with T0G[1]", "Leave it out"),
    ("T0G[1] :=", "TrefG[1]:=Trotz(q[1]): T0G[1] :=", 19, "both of T0G[1] and TrefG[1] are assigned", "once"),
    ("mass[1]:=0.9", "mass[1]:=q[1]", 12, "it depends on q1, expected a constant", "only constants"),
    ("mass[1]:=0.9", "mass[1]:=-0.9", 12, "mass is -0.9", "mass"),
    ("Izz[0]:=l0^2/12*mass[0]:", "Izz[0]:=-5:", 13, "inertia", "Correct its mass data"),
    ("FinalTime:=5", "FinalTime:=-5", 23, "it is -5 s, expected a finite time above 0", "above 0"),
    ("qi[1]:=1:", "qi[2]:=1:", 21, "qi[2] is out of range", "Correct the index"),
    ("l1:=1.1:", "l1:=1.1: f:=proc(x) begin x^2; end_proc: g := f(2):", 10, "is code ('proc')", "Only assignments"),
    ("l1:=1.1:", "l1:=1.1: for i from 0 to 1 do mass[i]:=1: end_for:", 10, "is code ('for')", "Only assignments"),
    ("l1:=1.1:", 'l1:=1.1: system("rm -rf /"):', 10, "is a command, which is not executed", "Only assignments"),
    ("l1:=1.1:", 'l1:=1.1: read("other.mu"):', 10, "is a command, which is not executed", "Only assignments"),
    ("l1:=1.1:", "l1:=__import__(os):", 10, "there is no function '__import__'", "Known are"),
    ("l1:=1.1:", "l1:=(l0->l0^2)(1.1):", 10, "found '>'", "Write numbers"),
    ("nbrdof:= 2:", "nbrdof:= 2", 3, "has two assignments", "End the first statement"),
    ("StepMax:=0.005:", "StepMax:=0.005", 25, "has no end, expected ':' or ';'", "End every statement"),
    ("// Initial", "/* Initial", 20, "the comment that begins here does not end", "Add its end"),
    ("pendulum\":", "pendulum:", 2, "the text in quotes that begins here does not end", "Add its end"),
]  # fmt: skip


@each_case(("old", "new", "line", "problem", "remedy"), WRONG)
def test_wrong_files_are_refused_with_line_reason_and_remedy(
    old: str, new: str, line: int, problem: str, remedy: str
) -> None:
    assert_refused(PENDULUM, "cagem", old, new, line=line, problem=problem, remedy=remedy)


@each_case(
    ("old", "new", "line", "problem", "remedy"),
    [
        ("FinalTime: 6$", "ebody[1]@K@M0[1, 1]: 3;", 16, "describes an elastic body; only rigid", "rigid ones"),
        ("FinalTime: 6$", "elastic_dof[2]: [1];", 16, "describes an elastic body", "rigid ones"),
        ("lr: 2;", "lr: p_r;", 4, "parameter 'p_r'", "Or give it a value: p_r : 1."),
        ("FinalTime: 6$", "x: if q[1] < 0 then 1 else 0;", 16, "is code ('if')", "Only assignments"),
        ("FinalTime: 6$", "f(x):= x^2;", 16, "defines a function", "Only assignments"),
        ("FinalTime: 6$", "load(stringproc);", 16, "is code ('load')", "Only assignments"),
        ("lc: 1;", "lc: m1;", 4, "parameter 'm1'", "Known"),
        ("Trotz(q[1]) .", "Trotz(q[0]) .", 11, "q[0] is out of range: nbrdof is not given", "Correct the index"),
        ("asin(lc*sin(q[1])/lr)", "asin(p[2])", 9, "it depends on itself: p[2] -> p[1] -> p[2]", "not contain"),
        ("Tdisp(p[2], 0, 0);", "mth(1, 0, 0, 0, p[2], 0, 0, 0, 1, 0, 0, 0);", 13, "not rigid", "Correct"),
    ],
)  # fmt: skip
def test_wrong_files_in_the_notation_of_maxima_are_refused(
    old: str, new: str, line: int, problem: str, remedy: str
) -> None:
    assert_refused(CRANK, "cagem", old, new, line=line, problem=problem, remedy=remedy)


def test_forces_and_outputs_of_cadyn_are_left_out_with_a_warning() -> None:
    """Their bodies may contain conditions, matrices and assignments; nothing of them is executed."""
    functions = """appliedForces():= (
        appliedM[1]: matrix([0], [0], ['if t < 2 then 10 else 0]), appliedF[2]: matrix([0], [-4*q[1]], [0])
    );
    modelOutputs(sys):= block([a], a: q[1], [a]);
    ebody: 3;
    """
    with pytest.raises(ParseError, match="elastic"):
        load_text(CRANK + functions, "cagem")
    with pytest.warns(ModelWarning) as told:
        system = load_text(CRANK + functions.replace("ebody: 3;", ""), "cagem")
    text = " ".join(str(one.message) for one in told)
    assert "appliedForces: it gives forces that are not read: the model moves without them" in text
    assert "modelOutputs: it gives outputs, which are not read" in text and ":18:" in text
    plain = load_text(CRANK, "cagem")
    assert system.robot == plain.robot and system.settings == plain.settings


def test_an_elastic_body_is_one_finding() -> None:
    lines = "".join(f"ebody[1]@K@M0[{k}, {k}]: {k};\n" for k in range(1, 9))
    with pytest.raises(ParseError) as caught:
        load_text(CRANK + lines, "cagem")
    assert len(caught.value.findings) == 1  # type: ignore[attr-defined]


def test_the_longest_step_of_a_file_bounds_the_steps_of_a_run() -> None:
    """StepMax was read and had no effect."""
    taken = {}
    for step in (0.005, 0.02):
        system = load_text(PENDULUM.replace("StepMax:=0.005:", f"StepMax:={step}:"), "cagem")
        assert system.settings.max_step == step
        taken[step] = kinemorph.simulate(system, 1.0, method="dop853", rtol=1e-3).statistics.accepted
    assert taken[0.005] >= 200 > 2 * taken[0.02] - 10
    assert kinemorph.simulate(system, 1.0, method="dop853", rtol=1e-3, max_step=1.0).statistics.accepted < taken[0.02]
