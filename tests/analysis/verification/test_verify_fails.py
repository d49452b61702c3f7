"""verify() can fail: a spoiled function is found by the check that is named for it, with a figure that fits."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from kinemorph.algebra.scalar import log
from kinemorph.analysis.verification.verify import verify
from kinemorph.codegen.building.compile import build as compiled
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.deriving.function_names import FRAME_FUNCTIONS
from kinemorph.errors import ModelError
from kinemorph.mechanics.derivatives import inverse_derivatives
from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.mechanics.recursions import composite_bodies, coriolis, kinematics, momentum, newton_euler
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements import JointFriction
from kinemorph.model.library import build
from kinemorph.model.system import System

ROBOT = build("double_pendulum")
TREE = resolve(ROBOT)
OTHER_FORMULATIONS = {f"formulation {name}" for name in FORMULATIONS if name != "newton_euler"}
Q, QV, QVA = {"q": (2,)}, {"q": (2,), "v": (2,)}, {"q": (2,), "v": (2,), "a": (2,)}


def spoiled(name: str, function: Callable[..., Any], inputs: Mapping[str, tuple[int, ...]]) -> Dynamics:
    """The double pendulum with one of its functions replaced."""
    made = compiled(trace(function, inputs, name=f"double_pendulum.{name}"), "interpreter")
    dynamics = derive(ROBOT, backend="interpreter")
    vars(dynamics)[name] = (lambda *_: made) if name in FRAME_FUNCTIONS else made
    return dynamics


def failed(dynamics: Dynamics) -> dict[str, float]:
    verdict = verify(dynamics)
    assert not verdict
    assert not verdict.passed
    return {check.name: check.worst for check in verdict.failures if check.worst is not None}


def test_the_stand_in_itself_is_sound() -> None:
    assert verify(spoiled("mass_matrix", lambda q: composite_bodies.mass_matrix(TREE, q), Q)).passed


def test_a_wrong_mass_matrix() -> None:
    def heavier(q: Any) -> Any:
        return [[1.01 * x for x in row] for row in composite_bodies.mass_matrix(TREE, q)]

    found = failed(spoiled("mass_matrix", heavier, Q))
    expected = {"inverse dynamics", "links as written", "kinetic energy", "passivity", "mass as declared"}
    assert set(found) == {*expected, *OTHER_FORMULATIONS}
    assert found["links as written"] == pytest.approx(0.01, rel=1e-6)
    assert found["kinetic energy"] == pytest.approx(0.01 / 1.01, rel=1e-6)


def test_an_asymmetric_mass_matrix() -> None:
    def tilted(q: Any) -> Any:
        (a, b), (c, d) = composite_bodies.mass_matrix(TREE, q)
        return [[a, b + 1e-6], [c, d]]

    dynamics = spoiled("mass_matrix", tilted, Q)
    found = failed(dynamics)
    assert 1e-8 < found["mass matrix symmetric"] < 1e-5
    assert "entry [" in verify(dynamics)["mass matrix symmetric"].note
    assert ROBOT.v_names[1] in verify(dynamics)["mass matrix symmetric"].note


def test_an_indefinite_mass_matrix() -> None:
    dynamics = spoiled("mass_matrix", lambda q: [[1.0, 2.0], [2.0, 1.0]], Q)
    assert failed(dynamics)["mass matrix positive definite"] == math.inf
    assert "smallest eigenvalue -1" in verify(dynamics)["mass matrix positive definite"].note


def test_a_nan_fails_and_stays_within_json() -> None:
    dynamics = spoiled("mass_matrix", lambda q: [[log(-1.0 - q[0] * q[0]), 0.0], [0.0, 1.0]], Q)
    assert math.isnan(failed(dynamics)["mass matrix symmetric"])
    verdict = verify(dynamics)
    assert "not a finite number" in verdict["mass matrix symmetric"].note
    assert "failed" in str(verdict)
    told = json.loads(json.dumps(verdict.as_dict(), allow_nan=False))
    assert told["passed"] is False


def test_wrong_bias_forces() -> None:
    found = failed(spoiled("bias_forces", lambda q, v: newton_euler.gravity_forces(TREE, q), QV))
    assert set(found) == {"inverse dynamics", "bias forces"}


def test_wrong_inverse_dynamics_break_the_power_balance() -> None:
    def damped(q: Any, v: Any, a: Any) -> Any:
        return [tau + 1e-6 * rate for tau, rate in zip(newton_euler.inverse_dynamics(TREE, q, v, a), v, strict=True)]

    found = failed(spoiled("inverse_dynamics", damped, QVA))
    assert {"power balance", "inverse dynamics", "forward dynamics", "formulation lagrange"} <= set(found)


def test_wrong_forward_dynamics() -> None:
    found = failed(spoiled("forward_dynamics", lambda q, v, tau: [*tau], {"q": (2,), "v": (2,), "tau": (2,)}))
    assert set(found) == {"forward dynamics", "derivatives", *OTHER_FORMULATIONS}


def test_wrong_derivatives() -> None:
    def stiff(q: Any, v: Any, a: Any) -> Any:
        dq, dv, da = inverse_derivatives.inverse_dynamics_derivatives(TREE, q, v, a)
        dq[1][0] = dq[1][0] + 1e-6
        return {"dq": dq, "dv": dv, "da": da}

    assert set(failed(spoiled("inverse_dynamics_derivatives", stiff, QVA))) == {"derivatives"}


def test_a_coriolis_matrix_with_the_right_product_only() -> None:
    def sheared(q: Any, v: Any) -> Any:  # adds k (v1, -v0) to a row: C v is unchanged, passivity is lost
        C = coriolis.coriolis_matrix(TREE, q, v)
        return [[C[0][0] + v[1], C[0][1] - v[0]], C[1]]

    assert set(failed(spoiled("coriolis_matrix", sheared, QV))) == {"passivity"}


def test_a_lost_potential() -> None:
    def both(q: Any, v: Any) -> Any:
        return {"kinetic": momentum.kinetic_energy(TREE, q, v), "potential": 0.0 * q[0]}

    assert set(failed(spoiled("energy", both, QV))) == {"power balance", "energy as declared"}


def test_a_wrong_center_of_mass() -> None:
    found = failed(spoiled("center_of_mass", lambda q: [1.5 * x for x in momentum.center_of_mass(TREE, q)], Q))
    assert set(found) == {"momentum"}


def test_a_jacobian_in_the_wrong_frame() -> None:
    found = failed(spoiled("jacobian", lambda q: kinematics.jacobian(TREE, q, "tip", "world"), Q))
    assert {"jacobian", "jacobian rate"} <= set(found)


def test_a_jacobian_rate_with_the_wrong_sign() -> None:
    def turned(q: Any, v: Any) -> Any:
        return [[-x for x in row] for row in kinematics.jacobian_rate(TREE, q, v, "tip")]

    assert set(failed(spoiled("jacobian_rate", turned, QV))) == {"jacobian rate"}


def test_compiled_code_that_differs_from_its_program() -> None:
    dynamics = derive(ROBOT)
    right = dynamics.gravity_forces

    class Wrong(CompiledFunction):
        """Runs one program and shows another."""

        def __init__(self, shown: Program) -> None:
            self.__dict__.update(right.__dict__)
            self.__call__ = right.__call__
            self.program = shown

    graph = trace(lambda q: [1.001 * x for x in newton_euler.gravity_forces(TREE, q)], Q, name=right.name)

    dynamics = derive(ROBOT)
    vars(dynamics)["gravity_forces"] = Wrong(graph)
    verdict = verify(dynamics)
    (failure,) = verdict.failures
    assert failure.name == "compiled code"
    assert failure.worst == pytest.approx(1e-3, rel=0.01)
    assert "gravity_forces" in failure.note


def test_elements_that_do_not_fit_the_robot_are_reported() -> None:
    """A system with an unknown joint was verified without a word: the error came at `simulate` only."""
    friction = JointFriction("rub", ("elbwo",), coulomb=1.0)
    with pytest.raises(ModelError, match="'rub': joints contains 'elbwo', and robot 'scara' has no such joint"):
        verify(System(build("scara"), (friction,)))
