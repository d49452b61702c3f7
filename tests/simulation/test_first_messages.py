"""Messages that newcomers met and that did not help them (row D16)."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import kinemorph
from kinemorph import Parameter, RobotBuilder, System, library, simulate
from kinemorph.cli import app
from kinemorph.display.looks import postures as looks
from kinemorph.elements import PD, Automaton, Edge, Phase, Rhythmic
from kinemorph.errors import ModelError, ShapeError, UnsupportedError

BALL = RobotBuilder("ball").body("ball", mass=1.0).joint("z", "prismatic", "world", "ball", axis=(0, 0, 1)).build()


def bouncing(guard: str = "q.z", *elements: Any, **edge: Any) -> System:
    """A ball with one phase and an edge back to it."""
    return System(
        BALL, elements, automaton=Automaton((Phase("air"),), (Edge("hit", "air", "air", guard=guard, **edge),))
    )


def test_unknown_parameters_are_told_with_those_of_the_robot_and_of_its_elements() -> None:
    """It said "expected one of none in p" of a robot with five parameters, and left out those of elements."""
    system = System(library.double_pendulum(), (PD("hold", ("q1",), kp=Parameter("stiff", 5.0)),))
    expected = (
        "has no parameter 'stif'; expected one of 'm1', 'l1', 'm2', 'l2', 'g', 'stiff' in p. Did you mean 'stiff'?"
    )
    for call in (kinemorph.poles, kinemorph.linearize, kinemorph.equilibrium, lambda *a, **o: simulate(*a, 0.1, **o)):
        with pytest.raises(ShapeError, match=re.escape(expected)):
            call(system, p={"stif": 1.0})
    with pytest.raises(ShapeError, match=r"made with the number of parameter 'm1'. Name it where the plant is made"):
        simulate(kinemorph.plants.plant(system), 0.1, p={"m1": 1.0})
    with pytest.raises(ShapeError, match=r"in this order: none. Give parameters of the model by name: {'m1': value}"):
        kinemorph.poles(system, p=[1.0, 2.0])


def test_texts_of_edges_name_parameters_of_elements() -> None:
    """`Known:` left them out, and they were not known."""
    spring = PD("hold", ("z",), kp=Parameter("floor", 0.5))
    with pytest.raises(ModelError, match=r"names 'flor', .* Did you mean 'floor'\? Known: t, q.z, v.z, floor"):
        simulate(bouncing("q.z - flor", spring), 0.1)
    run = simulate(bouncing("q.z - floor", spring, reset={"v.z": "-v.z"}), 0.4, q=[1.0])
    assert run.outcome.ok and run.events[0].name == "hit" and run.q[:, 0].min() > 0.4999


def test_a_reference_that_does_not_exist_is_told_once_with_a_guess() -> None:
    """The name of the controller came twelve times, and there was no guess."""
    chain = library.chain(12)
    with pytest.raises(ModelError) as error:
        simulate(System(chain, (Rhythmic("gait", chain.v_names), PD("pd", chain.v_names, 5.0, reference="gate"))), 0.1)
    told = str(error.value)
    assert told.startswith("element 'pd': it reads 'gate', but there is no such signal. Did you mean 'gait'? Known: ")


def test_the_lengths_of_a_double_pendulum_are_two() -> None:
    """It was `TypeError: cannot unpack non-iterable int object`."""
    with pytest.raises(ModelError, match=r"double_pendulum: masses is 2; expected two numbers \[kg\]. Give one for"):
        library.double_pendulum(2, 1)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"double_pendulum: lengths is \(1.0,\); expected two numbers \[m\]"):
        library.double_pendulum(lengths=(1.0,))


def test_remedies_name_public_functions() -> None:
    """Two messages advised `evaluate(value)`, which is not public."""
    formula = Parameter("mass", 2.0) + 1.0
    with pytest.raises(TypeError, match=r"is not a plain number. Give a number, such as the `value` of a Parameter"):
        float(formula)
    with pytest.raises(TypeError, match=r"Compare numbers, such as the `value` of a Parameter"):
        bool(formula > 2.0)


@pytest.mark.parametrize("options", [{}, {"method": "rk4", "step": 1e-3}])
def test_a_reset_that_is_no_number_is_blamed_on_the_reset(options: dict[str, Any]) -> None:
    """It said "Check the forces there", or advised smaller steps."""
    run = simulate(bouncing(reset={"v.z": "sqrt(v.z)"}), 1.0, q=[1.0], **options)
    assert run.outcome.kind == "failed"
    assert "the reset of edge 'hit' makes v 'z' nan. Check its division, root or logarithm" in run.outcome.message


def test_no_warning_advises_the_phase_in_which_the_run_begins() -> None:
    """It advised to "begin in phase 'air'", in which the run began."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        simulate(bouncing(), 0.1, q=[-1.0])
    (told,) = [str(one.message) for one in caught]
    assert "Begin at another state, change the sign of the guard, or give" in told and "phase 'air'" not in told


def test_methods_have_the_names_by_which_users_come() -> None:
    """Row D12: rk45, dopri5, verlet, symplectic_euler and midpoint were unknown."""
    names = {"rk45": "dormand_prince", "RK45": "dormand_prince", "dopri5": "dormand_prince", "ode45": "dormand_prince"}
    names |= {"verlet": "leapfrog", "symplectic_euler": "semi_implicit_euler"}
    for name, ours in names.items():
        run = simulate(BALL, 0.1, method=name, step=0.01)
        assert run.statistics.method == ours
        assert np.array_equal(run.q, simulate(BALL, 0.1, method=ours, step=0.01).q)
    with pytest.raises(UnsupportedError, match=r"no method 'midpoint', the explicit .*; 'heun' is the nearest"):
        simulate(BALL, 0.1, method="midpoint", step=0.01)
    told = CliRunner().invoke(app, ["simulate", "pendulum", "--time", "0.1", "--method", "rk45"])
    assert told.exit_code == 0 and "dormand_prince" in told.output


def test_states_given_in_python_take_texts_with_units_like_model_files() -> None:
    """They were refused as "could not convert string to float: '30 deg'"."""
    robot, posed = library.double_pendulum(), (np.pi / 6.0, 0.0)
    for q in ({"q1": "30 deg"}, ["30 deg", 0]):
        run = simulate(robot, 0.01, q=q, v={"q2": "60 rpm"})
        assert run.q[0] == pytest.approx(posed) and run.v[0] == pytest.approx((0.0, 2.0 * np.pi))
        assert kinemorph.poles(robot, q=q, p={"m1": "500 g"}).values == pytest.approx(
            kinemorph.poles(robot, q=posed, p={"m1": 0.5}).values
        )
        assert np.allclose(kinemorph.linearize(robot, q=q).A, kinemorph.linearize(robot, q=posed).A)
        assert looks.posture(robot, q)[0] == pytest.approx(posed[0])
    for rows in ({"q1": ["30 deg", 0]}, [["30 deg", 0], [0, 0]]):
        assert kinemorph.simulate_batch(robot, 0.01, q=rows).q[:, 0] == pytest.approx(np.array([posed, (0, 0)]))
    assert kinemorph.loops.close_loops(library.four_bar(), {"q1": "50 deg"}).q[0] == pytest.approx(np.radians(50.0))
    mended = " Correct it, or give a plain number in rad."
    for q, told in (
        ({"q1": "5 cm"}, f"q 'q1': '5 cm' has the unit of a length, expected an angle such as '30 deg'.{mended}"),
        ([0, "abc"], f"q 'q2': 'abc' is not a number with a unit such as '30 deg'.{mended}"),
        (
            {"q1": "5 degr"},
            "q 'q1': the unit 'degr' is not known, expected one such as 'mm' or 'kg m^2'. Did you mean 'deg'?",
        ),
    ):
        for call in (
            lambda q: simulate(robot, 0.01, q=q),
            lambda q: kinemorph.poles(robot, q=q),
            lambda q: kinemorph.draw(robot, q),
        ):
            with pytest.raises(ShapeError) as error:
                call(q)
            assert str(error.value) == told
