"""The verbs simulate and analyze: data on stdout, messages on stderr, files, exit codes, bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from kinemorph import derive, lqr
from kinemorph.cli.options import option_values
from kinemorph.errors import KinemorphError
from kinemorph.model.library import LIBRARY
from kinemorph.model.library.choosing import choose
from kinemorph.model.system import Settings, System
from kinemorph.simulation import planned_run
from kinemorph.simulation.files.storage import load_trajectory
from support.tools.command_line import parsed, run
from support.tools.each_case import each_case

# ── simulate ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_simulate_tells_how_the_run_went() -> None:
    data = parsed("simulate", "pendulum", "--time", "2", "--q", "q1=90deg", "--output-step", "0.5")
    assert data["outcome"] == {"kind": "finished", "t": 2.0, "message": "", "ok": True}
    assert (data["samples"], data["method"]) == (5, "dop853") and data["steps"] > 5
    assert data["energy"]["relative"] < 1e-6
    (q,), (v,) = data["final"]["q"], data["final"]["v"]
    assert (q["name"], q["unit"]) == ("q1", "rad")
    assert 0.5 * v["value"] ** 2 == pytest.approx(9.81 * np.cos(q["value"]), rel=1e-6)  # from rest at 90 degrees
    text = run("simulate", "pendulum", "--time", "2").stdout
    assert all(word in text for word in ("finished at t = 2 s", "energy drift", "Last state", "q.q1"))


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "crane"])
def test_without_a_start_one_is_chosen_that_moves_and_told(name: str) -> None:
    result = run("simulate", name, "--time", "0.05", "--json")
    assert result.exit_code == 0
    assert f"note: {name}" in result.stderr and "--q and --v choose another initial state" in result.stderr
    assert max(abs(row["value"]) for row in json.loads(result.stdout)["final"]["v"]) > 1e-3


CLOSED_AT_ZERO = {"five_bar", "pantograph_leg", "klann", "jansen"}  # and not balanced there


def test_every_robot_has_a_start_of_its_own_and_it_is_told() -> None:
    for name, make in LIBRARY.items():
        system, note = planned_run.begun(System(make()), None, None)
        q = system.settings.q
        at = " = " if name not in CLOSED_AT_ZERO else "at rest at the neutral configuration"
        assert system.settings.stated_q == () and any(q) == (name not in CLOSED_AT_ZERO), name
        assert note is not None and at in note.what, name
    other = choose("slider_crank:lengths=1;3")  # closed elsewhere than with the default data
    q = planned_run.begun(other, None, None)[0].settings.q
    d = derive(other, backend="interpreter")
    assert max(abs(d.constraint_error(q))) < 1e-10
    pendulum = LIBRARY["pendulum"]()
    for system, *given in (
        (System(pendulum), [0.1], None), (System(pendulum), None, [0.1]),
        (System(pendulum, settings=Settings(q=(0.2,))), None, None),
    ):  # fmt: skip
        assert planned_run.begun(system, *given) == (system, None)


def test_what_nothing_holds_is_watched_for_a_second() -> None:
    result = run("simulate", "hexapod24", "--json")
    assert json.loads(result.stdout)["end"] == 1.0 and "hexapod24 is fixed to nothing and falls" in result.stderr


def test_options_reach_the_run() -> None:
    data = parsed("simulate", "double_pendulum", "--method", "rk4", "--step", "0.01", "--time", "0.5", "--q", "1,0.5")
    assert (data["method"], data["steps"], data["settings"]["step"]) == ("rk4", 50, 0.01)
    tight, loose = (parsed("simulate", "pendulum", "--rtol", rtol)["steps"] for rtol in ("1e-11", "1e-4"))
    assert tight > loose
    locked = parsed("simulate", "double_pendulum", "--lock", "q2", "--time", "1", "--q", "1,0.5")["final"]["q"]
    assert locked[1]["value"] == 0.5 and locked[0]["value"] != 1.0
    pushed = parsed("simulate", "crane", "--torque", "x=3", "--q", "0,0", "--time", "0.1")["final"]
    assert pushed["v"][0]["value"] > 0.05


def test_a_run_is_saved_plotted_and_shown(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("run.csv", "run.png", "run.html", "run.gif")]
    result = run(
        *("simulate", "pendulum", "--time", "0.3", "--save", str(files[0]), "--plot", str(files[1])),
        *("--columns", "q,v.q1", "--degrees", "--html", str(files[2]), "--gif", str(files[3]), "--speed", "0.5"),
    )
    assert result.exit_code == 0, result.stderr
    assert all(path.stat().st_size > 1000 and f"wrote {path}" in result.stderr for path in files)
    assert load_trajectory(files[0]).outcome.kind == "finished"


def test_a_run_that_fails_gives_1_and_keeps_what_was_computed(tmp_path: Path) -> None:
    files = [tmp_path / "run.npz", tmp_path / "run.png"]
    paths = ["--save", str(files[0]), "--plot", str(files[1])]
    result = run("simulate", "double_pendulum", "--method", "rk4", "--step", "0.5", *paths, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["outcome"]["kind"] == "failed"
    assert "failed: At t =" in result.stderr and "too large" in result.stderr
    assert len(load_trajectory(files[0]).t) > 10 and files[1].stat().st_size > 1000


def test_an_interrupted_run_gives_130(monkeypatch: pytest.MonkeyPatch) -> None:
    from kinemorph.simulation.stepping.stepper import Stepper

    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Stepper, "through", interrupted)
    result = run("simulate", "pendulum")
    assert result.exit_code == 130 and "interrupted" in result.stderr


def test_a_loop_that_is_open_and_a_start_that_stays_are_told() -> None:
    open_start = run("simulate", "four_bar", "--q", "1,1,1", "--time", "0.05")
    assert open_start.exit_code == 2 and "open in the initial state: 'closure' by" in open_start.stderr
    closed = run("simulate", "four_bar", "--q", "q1=1", "--loops", "partitioning", "--time", "0.05", "--json")
    assert json.loads(closed.stdout)["loop_error"] < 1e-11
    assert "nothing moved" in run("simulate", "pendulum", "--q", "0", "--time", "0.1").stderr
    locked = run("simulate", "four_bar", "--q", "q1=1", "--lock", "q1", "--time", "0.05")  # stands, up to rounding
    assert locked.exit_code == 0 and "does not balance" not in locked.stderr


def test_the_methods_are_listed() -> None:
    result = run("simulate", "--methods")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in ("rk4", "dop853", "ode45", "order", "stiff"))
    for line in (["--methods", "--json"], ["--json", "pendulum", "--methods"]):  # in any order
        data = json.loads(run("simulate", *line).stdout)
        assert data["default"] == "dop853" and data["aliases"][0] == {
            "name": "ode45", "method": "dormand_prince", "why": "the same pair, Dormand-Prince 5(4)",
        }  # fmt: skip


# ── analyze ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_analyze_finds_an_equilibrium(tmp_path: Path) -> None:
    picture, figures = tmp_path / "rest.png", tmp_path / "rest.json"
    result = run(
        *("analyze", "pendulum", "equilibrium", "--torque", "q1=2", "--q", "q1=0.1"),
        *("--plot", str(picture), "--save", str(figures), "--json"),
    )
    data = json.loads(result.stdout)
    assert data["converged"] and data["stable"] is not False
    assert data["q"][0]["value"] == pytest.approx(np.arcsin(2.0 / 9.81))
    assert picture.stat().st_size > 1000 and json.loads(figures.read_text())["q"] == data["q"]
    assert "equilibrium" in run("analyze", "pendulum", "equilibrium").stdout


def test_analyze_counts_the_elements_of_a_model(tmp_path: Path) -> None:
    """A spring alone turns a rod without weight; an Integral, on which nothing depends, grows at rest."""
    model = tmp_path / "sprung.toml"
    model.write_text(
        'kinemorph = 1\nname = "sprung"\ngravity = [0, 0, 0]\n[bodies.rod]\nmass = 1.0\ninertia = [0.5, 0.5, 0.5]\n'
        '[joints.hinge]\nkind = "revolute"\nparent = "world"\nchild = "rod"\n'
        '[elements.spring]\nkind = "torsion spring"\njoint = "hinge"\nstiffness = 8.0\nrest = 0.3\n'
        '[elements.sum]\nkind = "integral"\nsignals = ["q.hinge"]\n'
    )
    assert parsed("analyze", str(model), "equilibrium")["q"][0]["value"] == pytest.approx(0.3)
    result = run("analyze", str(model), "poles")
    frequency = np.sqrt(8.0 / 0.5) / (2.0 * np.pi)  # [Hz]
    assert f"{frequency:.6f}"[:6] in result.stdout and "not an equilibrium" not in result.stdout


def test_no_equilibrium_gives_1() -> None:
    result = run("analyze", "pendulum", "equilibrium", "--torque", "q1=20")
    assert result.exit_code == 1 and "failed: No equilibrium" in result.stderr


def test_analyze_gives_poles_and_modes(tmp_path: Path) -> None:
    picture = tmp_path / "poles.svg"
    data = parsed("analyze", "pendulum", "poles", "--plot", str(picture), "--save", str(tmp_path / "p.lst"))
    (pole,) = data["poles"]
    assert pole["omega"] == pytest.approx(np.sqrt(9.81))
    assert [Path(file).name for file in data["files"]] == ["poles.svg", "p.lst"] and picture.stat().st_size > 1000
    data = parsed("analyze", "chain:3", "modes", "--count", "2")
    assert [shape["number"] for shape in data["shapes"]] == [1, 2] and len(data["shapes"][0]["real"]) == 3
    text = run("analyze", "chain:3", "modes").stdout
    assert "q3 [rad]" in text and "Hz" in text
    assert len(parsed("analyze", "chain:3", "poles", "--window", "2:")["poles"]) == 2


CRANE = """\
kinemorph = 1
[coordinates.swing]
value = 3.1
[dependents]
twice = "2 * swing + atan(swing)"
[bodies.rod]
mass = 1
inertia = [0.1, 0.1, 0.1]
position = "Trotx(swing) * Tdisp(0, 0, -0.5)"
[bodies.dial]
mass = 0.1
inertia = [0.01, 0.01, 0.01]
position = "Trotx(swing) * Tdisp(0.2, 0, 0) * Tdisp(0, 0, -0.5) * Troty(twice) * Trotz(twice)"
"""


def test_positions_from_a_file_are_analyzed_and_listed(tmp_path: Path) -> None:
    """Poles near the declared initial values: a rod that stands upright. Dependents and massless bodies are listed."""
    path = tmp_path / "crane.toml"
    path.write_text(CRANE)
    result = run("analyze", str(path), "poles", "--json")
    assert "linearized about the equilibrium at swing = 3.1" in result.stderr  # pi, and not 0
    assert max(row["alpha"] for row in json.loads(result.stdout)["poles"]) > 1.0  # it falls
    shown = json.loads(run("info", str(path), "--json").stdout)
    assert [row["name"] for row in shown["dependents"]] == ["twice"] and shown["massless"] == 1
    text = run("info", str(path)).stdout
    assert "2 * swing + atan2(swing, 1)" in text and re.search(r"bodies without mass +1\n", text)
    assert "3 bodies (1 of them massless), 1 dof" in run("check", str(path)).stdout


@pytest.mark.slow
def test_analyze_draws_and_animates_modes(tmp_path: Path) -> None:
    files = [tmp_path / "modes.png", tmp_path / "mode.gif"]
    result = run("analyze", "chain:2", "modes", "--plot", str(files[0]), "--gif", str(files[1]), "--mode", "2")
    assert result.exit_code == 0, result.stderr
    assert all(path.stat().st_size > 1000 for path in files)


def test_poles_without_a_state_are_about_an_equilibrium() -> None:
    assert "note: linearized about the equilibrium at" in run("analyze", "pendulum", "poles").stderr
    inverted = run("analyze", "pendulum", "poles", "--q", "180deg", "--json")
    assert inverted.stderr == "" and json.loads(inverted.stdout)["poles"][0]["alpha"] > 3.0


def test_analyze_lqr_designs_feedback_and_saves_the_model_with_it(tmp_path: Path) -> None:
    path = tmp_path / "balanced.toml"
    weights = ("--weight", "q.theta=10,v.x=0", "--weight", "u.x=0.1", "--every", "0.01")
    told = run("analyze", "cartpole", "lqr", *weights, "--save", str(path))
    expected = lqr(LIBRARY["cartpole"](), [1.0, 10.0, 0.0, 1.0], {"x": 0.1}, sample=0.01)
    lines = [[line.split() for line in text.splitlines() if line.strip(" -─")] for text in (told.stdout, str(expected))]
    assert lines[0] == lines[1] and ["sampled", "every", "0.01", "s"] in lines[0]
    data = parsed("analyze", "cartpole", "lqr", *weights)
    np.testing.assert_array_equal(data["K"], expected.K)
    assert [pole["real"] for pole in data["poles"]] == expected.poles.real.tolist()
    last = parsed("simulate", str(path), "--q", "theta=0.2", "--time", "6")["final"]["q"]
    assert max(abs(row["value"]) for row in last) < 2e-3
    afloat = run("analyze", "crawler", "lqr", "--weight", "u.m0_hinge=1").stdout
    assert "The inputs m0_hinge cannot bring motions of" in afloat and "directions are left out." in afloat


def test_analyze_tells_what_loops_allow() -> None:
    data = parsed("analyze", "four_bar", "mobility")
    assert data["dof"] == 1 and data["constraints"][0]["redundant"] == ["point.z", "parallel.x", "parallel.y"]
    assert "1 degree of freedom" in run("analyze", "four_bar", "mobility").stdout
    ways = parsed("analyze", "four_bar", "assembly", "--q", "q1=0.6", "--lock", "q1")
    assert ways["complete"] and [mode["branch"] for mode in ways["modes"]] == ["+", "-"]
    assert "and there is no other" in run("analyze", "four_bar", "assembly").stdout
    none = run("analyze", "four_bar", "assembly", "--q", "q3=0.3", "--lock", "q3")
    assert none.exit_code == 1 and "no configuration is closed with q3 held" in none.stderr


# ── bad input ─────────────────────────────────────────────────────────────────────────────────────────────────────────

BAD = [
    ("simulate pendulm", "Did you mean 'pendulum'"),
    ("analyze four_bar mobility --lock q1", "--lock is not used by 'analyze mobility'"),
    ("analyze four_bar assembly --lock q1 --lock q2", "held joint 'q2' is determined by 'q1'"),
    ("analyze cartpole poles --every 1", "--every is not used by 'analyze poles'"),
    ("analyze cartpole lqr --every -1", "--every is -1 s; expected a finite number above 0"),
    ("analyze cartpole lqr --weight 10", "--weight is '10'; expected a name and a value. Write --weight q.theta=10."),
    ("analyze cartpole lqr --weight u.motor=1", "--weight names 'u.motor', which is not there."),
    ("analyze cartpole lqr --save a.lst", "expected a file name that ends in .json, .toml"),
    ("simulate pendulum --method rk5", "Did you mean 'rk45'"),
    ("simulate pendulum --method rk4", "needs a fixed step size"),
    ("simulate four_bar --loops baumgart", "Did you mean 'baumgarte'"),
    ("simulate pendulum --lock elbow", "'elbow'"),
    ("simulate pendulum --time -1", "--time is -1 s"),
    ("simulate pendulum --time nan", "--time is nan"),
    ("simulate pendulum --sample 0", "--output-step is 0 s"),
    ("simulate pendulum --step 0.1 --rtol 1e-3", "either --step or tolerances"),
    ("simulate pendulum --q 1,2", "expected (1,)"),
    ("simulate pendulum --q elbow=1", "no coordinate 'elbow'"),
    ("simulate pendulum --q q1=x", "--q q1 is 'x'; expected a finite number"),
    ("simulate pendulum --q q1=1,2", "'2' has no name"),
    ("simulate pendulum --q q1=1,q1=2", "appears twice"),
    ("simulate pendulum --q ,", "--q is empty"),
    ("simulate pendulum --torque q9=1", "no input 'q9'"),
    ("simulate pendulum --save run.txt", "'.txt'"),
    ("simulate pendulum --save taken/run.npz", "a file has the name of its folder"),
    ("simulate pendulum --plot run.jpg", ".png"),
    ("simulate pendulum --plot taken/run.png", "cannot be written"),
    ("simulate pendulum --plot folder.png", "is a folder"),
    ("simulate pendulum --gif run.mp4", ".gif"),
    ("simulate pendulum --mp4 run.gif", ".mp4"),
    ("simulate pendulum --html run.txt", ".html"),
    ("simulate pendulum --animate run.gif", "--animate"),
    ("simulate pendulum --save a.npz --save b.npz", "--save is given 2 times, expected once, because only one value"),
    ("simulate pendulum --time 1 --time 2", "--time is given 2 times"),
    ("simulate pendulum --columns q", "Give --plot, --html or --save FILE.csv as well"),
    ("simulate pendulum --degrees", "--plot"),
    ("simulate pendulum --speed 2", "--gif, --mp4"),
    ("simulate", "ROBOT"),
    ("analyze pendulum", "'WHAT'"),
    ("analyze pendulum modal", "'modal'"),
    ("analyze pendulum poles --window 5", "0.5:20"),
    ("analyze pendulum poles --window a", "--window is 'a'; expected two frequencies in Hz"),
    ("analyze pendulum poles --window 5:1", "lower one first"),
    ("analyze pendulum poles --stable", "is not used by 'analyze poles'"),
    ("analyze pendulum equilibrium --v 1", "is not used by 'analyze equilibrium'"),
    ("analyze pendulum modes --mode 2", "--gif"),
    ("analyze pendulum poles --gif x.gif", "is not used by 'analyze poles'"),
    ("analyze pendulum equilibrium --mp4 x.mp4", "is not used by 'analyze equilibrium'"),
    ("analyze pendulum poles --save poles.csv", ".lst"),
]


@each_case(("line", "named"), BAD, ids=[line for line, _ in BAD])
def test_bad_input_is_a_sentence_on_stderr_and_exit_code_2(
    line: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("a file")
    Path("folder.png").mkdir()
    result = run(*line.split())
    assert result.exit_code == 2, result.stderr
    assert result.stdout == ""
    assert named in result.stderr
    assert all(one.startswith("error: ") for one in result.stderr.splitlines())


def test_a_table_has_the_reactions_that_are_asked_for(tmp_path: Path) -> None:
    """Finding D13: --columns names them for a plot, a replay and a .csv file."""
    table, picture = tmp_path / "run.csv", tmp_path / "run.png"
    files = ("--save", str(table), "--plot", str(picture), "--columns", "q,reaction.q1.f*", "--output-step", "0.1")
    assert run("simulate", "pendulum", "--time", "0.2", *files).exit_code == 0
    assert table.read_text().splitlines()[1].endswith(",reaction.q1.fx [N],reaction.q1.fy [N],reaction.q1.fz [N]")
    assert picture.stat().st_size > 1000
    kept = tmp_path / "run.npz"
    assert run("simulate", "pendulum", "--time", "0.2", "--save", str(kept), "--output-step", "0.1").exit_code == 0
    for file in (table, kept):
        shown = parsed("show", str(file), "--columns", "reaction.q1.fz")["columns"]
        assert [(row["name"], row["unit"]) for row in shown] == [("reaction.q1.fz", "N")] and shown[0]["largest"] > 1.0


def test_a_column_that_is_not_there_shows_after_the_run_which_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    result = run(
        "simulate",
        "pendulum",
        "--time",
        "0.1",
        "--plot",
        str(tmp_path / "x.png"),
        "--columns",
        "zz",
        "--save",
        str(path),
    )
    assert result.exit_code == 2 and "no column 'zz'" in result.stderr
    assert load_trajectory(path).outcome.ok


def test_values_are_read_in_order_or_by_name() -> None:
    assert option_values.values("0.1, -2e-3", "--q") == [0.1, -0.002]
    assert option_values.values("a=1,b.x=180deg", "--q") == {"a": 1.0, "b.x": pytest.approx(np.pi)}
    assert option_values.values(None, "--q") is None
    assert option_values.window(":20") == (0.0, 20.0) and option_values.window("3:") == (3.0, np.inf)
    with pytest.raises(KinemorphError, match="'inf'"):
        option_values.number("inf", "--q")


def test_a_step_that_does_not_keep_the_energy_is_told() -> None:
    coarse = run("simulate", "pendulum", "--method", "rk4", "--step", "5")
    told = " ".join(coarse.stderr.split())
    balance = "kinetic + potential - supplied + dissipated energy, which an exact motion keeps constant, changes by"
    assert f"does not balance: {balance}" in told and ", the most that one of these energies changes" in told
    assert "largest change of kinetic + potential - supplied + dissipated energy between events" in coarse.stdout
    assert "does not balance" not in run("simulate", "pendulum", "--time", "1").stderr
