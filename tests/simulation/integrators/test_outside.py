"""Methods of SciPy and SUNDIALS behind the same call: the same runs, events and failures; and the table of names."""

import sys

import numpy as np
import pytest

import kinemorph
from kinemorph.errors import MissingExtraError, UnsupportedError
from kinemorph.plants.own_equations import first_order, second_order
from kinemorph.simulation.foreign.stepper import LIBRARIES, ForeignStepper, stepper_for
from kinemorph.simulation.integrators import methods
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.regular_functions import HeldInputs
from kinemorph.simulation.stepping.stepper import Stepper

TIGHT = {"rtol": 1e-10, "atol": 1e-12}


BRIEF = ("scipy:RK45", "scipy:Radau", "sundials:cvode-bdf", "sundials:ida")  # the others are slow


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.slow] * (name not in BRIEF)) for name in methods.OUTSIDE])
def method(request):
    if request.param.startswith("sundials"):
        pytest.importorskip("sksundae")
    return request.param


def spinning_top():
    """A body on a spherical joint with an arm, so that there is a quaternion and a joint."""
    builder = kinemorph.RobotBuilder("top").add(
        kinemorph.Body.rod("bob", 1.0, 0.8, center=(0.1, 0.0, -0.6)), kinemorph.Body.box("arm", 0.3, (0.1, 0.1, 0.3))
    )
    builder.joint("ball", "spherical", "world", "bob")
    return builder.joint("arm", "revolute", "bob", "arm", translation=(0.0, 0.0, -1.0), axis=(0, 1, 0)).build()


def test_the_same_run_and_the_same_events(method):
    top, v = spinning_top(), [2.0, 0.8, 3.0, 1.0]
    guards = [Guard("slow", lambda v: v[2] - 2.0), Guard("turned", lambda q: q[1] - 0.2, "rising")]
    ours = simulate(top, 1.0, v=v, events=guards, output_step=0.05, rtol=1e-12, atol=1e-13)
    tolerance = 1e-7 if method == "scipy:RK23" else 1e-10  # of order 3: a tight one would take its time
    run = simulate(top, 1.0, v=v, events=guards, output_step=0.05, method=method, rtol=tolerance, atol=0.01 * tolerance)
    assert run.outcome.kind == "finished" and run.statistics.method == method and run.statistics.accepted > 5
    assert np.array_equal(run.t, ours.t) and len(ours.events) >= 2
    assert np.abs(run.q - ours.q).max() < 200.0 * tolerance and np.abs(run.v - ours.v).max() < 1000.0 * tolerance
    assert np.abs(np.linalg.norm(run.q[:, :4], axis=1) - 1.0).max() < 1e-15
    assert [event.name for event in run.events] == [event.name for event in ours.events]
    apart = max(abs(event.t - other.t) for event, other in zip(run.events, ours.events, strict=True))
    assert apart < 100.0 * tolerance  # of the methods; the dense output itself is looked at to the last digits of t:
    for event in run.events:
        value = event.before["v"][2] - 2.0 if event.name == "slow" else event.before["q"][1] - 0.2
        assert abs(value) < 1e-12


def test_resets_stops_and_rest(method):
    ball = second_order(lambda a: [a[0] + 9.81], {"height": "m"}, start=[1.0])
    bounce = Guard("ground", lambda q: q[0], "falling", reset=lambda v: {"v": [-0.5 * v[0]]})
    run = simulate(ball, 3.0, events=[bounce], method=method, **TIGHT)
    fall = np.sqrt(2.0 / 9.81)
    # after each reset a method of many steps begins with one step of order 1, at the tolerance it is given
    assert run.outcome.kind == "rest" and run.outcome.t == pytest.approx(3.0 * fall, abs=1e-5)
    assert run.events[0].t == pytest.approx(fall, abs=1e-9)
    assert run.events[1].t == pytest.approx(2.0 * fall, abs=1e-9)
    end = simulate(ball, 3.0, events=[Guard("ground", lambda q: q[0], stop=True)], method=method, **TIGHT)
    assert end.outcome.kind == "stopped" and end.outcome.t == pytest.approx(fall, abs=1e-9)
    assert end.t[-1] == end.outcome.t and np.all(np.diff(end.t) > 0.0)


def test_held_inputs_and_callbacks(method):
    mass = second_order(lambda a, u: [a[0] - u[0]], {"x": "m"}, inputs={"force": "N"})
    seen = []
    run = simulate(
        *(mass, 1.0),
        inputs=HeldInputs(lambda t, q, v, x: [1.0 + t], every=0.25),
        callback=lambda t, q, v, x: seen.append(t),
        every=0.2,
        method=method,
        **TIGHT,
    )
    assert seen == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert run.v[-1, 0] == pytest.approx(0.25 * (1.0 + 1.25 + 1.5 + 1.75), abs=1e-9)


def test_stiff_methods_take_large_steps(method):
    stiff = first_order(lambda t, x: [-1e6 * (x[0] - 2.0)], {"x": ""}, start=[1.0])
    if not methods.OUTSIDE[method].stiff:
        return
    run = simulate(stiff, 10.0, method=method, rtol=1e-6, atol=1e-8)
    assert run.outcome.kind == "finished" and run.statistics.accepted < 1000
    assert run.x[-1, 0] == pytest.approx(2.0, abs=1e-6)


def test_a_failure_is_a_value_with_a_sentence(method):
    run = simulate(first_order(lambda x: [x[0] * x[0]], {"a": ""}, start=[1.0]), 2.0, method=method)
    assert run.outcome.kind == "failed" and run.outcome.t == pytest.approx(1.0, abs=1e-3)
    assert "'a'" in run.outcome.message and np.isfinite(run.x).all()


def test_one_step_and_interval_calls():
    swing = kinemorph.library.double_pendulum()
    ours, other = (Stepper(swing, q=[1.0, 0.5], **TIGHT), ForeignStepper(swing, method="scipy:DOP853", q=[1.0, 0.5]))
    assert 0.0 < other.step().t < 0.1
    assert other.advance(1.0).q == pytest.approx(ours.advance(1.0).q, abs=1e-6)
    other.place(0.0, [1.0, 0.5], [0.0, 0.0])
    assert other.advance(1.0).v == pytest.approx(ours.state.v, abs=1e-6)
    assert other.counts[0] > 5 and other.calls > 50


def test_locked_joints_and_lost_options():
    swing = kinemorph.library.double_pendulum()
    run = simulate(swing, 1.0, q=[0.7, 0.4], locked="q2", method="scipy:RK45")
    assert np.array_equal(run.q[:, 1], np.full(len(run.t), 0.4))
    with pytest.raises(UnsupportedError, match="chooses its own steps"):
        simulate(swing, 1.0, method="scipy:RK45", step=0.1)
    with pytest.raises(UnsupportedError, match="Did you mean 'scipy:RK45'"):
        simulate(swing, 1.0, method="scipy:RK54")


@pytest.mark.parametrize(
    ("name", "module", "command"),
    [
        ("scipy:BDF", "scipy", "pip install scipy"),
        ("sundials:cvode-bdf", "sksundae", r"pip install 'kinemorph\[stiff\]'"),
    ],
)
def test_a_library_that_is_missing_names_the_command(name, module, command, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=command):
        simulate(kinemorph.library.pendulum(), 1.0, method=name)


# ── the table ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_method_has_a_line_and_a_way_to_run():
    rows = {row.name: row for row in methods.method_rows()}
    assert set(rows) == {*methods.METHODS, *methods.OUTSIDE}
    for name, row in rows.items():
        assert row.text and row.order, name
        assert stepper_for(name) is (ForeignStepper if ":" in name else Stepper)
    assert {name.split(":")[0] for name in methods.OUTSIDE} == set(LIBRARIES)


def test_names_of_matlab_lead_to_methods():
    rows = {row["name"]: row["method"] for row in methods.methods_sheet().data()["aliases"]}
    assert rows["ode45"] == "dormand_prince" and rows["ode23"] == "bogacki_shampine"
    for name, target in rows.items():
        assert methods.method_named(name) is methods.METHODS[target]
        step = None if methods.METHODS[target].adaptive else 0.01
        swing = simulate(kinemorph.library.pendulum(), 0.1, q=[0.5], method=name, step=step)
        assert swing.statistics.method == target
