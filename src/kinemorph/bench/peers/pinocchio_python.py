"""Pinocchio called from Python: the peer of our calls from Python, and of all modes if its C++ cannot be built."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from kinemorph.algebra.arrays import Array
from kinemorph.bench.peers.pinocchio_twin import PinocchioTwin, Prox

SETTLED = 1e-14  # tolerance at which iterations of algorithms for loops stop


class PythonCall(NamedTuple):
    """A function of the package `pinocchio`, with its arguments after model and data, and where its result is found."""

    function: Callable[..., Any]
    states: str  # which of q, v and x (an acceleration or a force) it takes, as "qvx"
    more: tuple[Any, ...]  # further arguments
    result: Callable[[Any, Any], list[Array]]  # (data, returned value) -> results
    data: Any = None  # its own pinocchio.Data, if it needs one


def _symmetric(upper: Array) -> Array:
    return np.triu(upper) + np.triu(upper, 1).T


def _calls(tip: int) -> dict[str, PythonCall]:
    def mass(data: Any, given: Any) -> list[Array]:
        return [_symmetric(data.M)]

    def forces(data: Any, given: Any) -> list[Array]:
        return [data.tau]

    def accelerations(data: Any, given: Any) -> list[Array]:
        return [data.ddq]

    local, world = (pin.Convention.LOCAL,), (pin.Convention.WORLD,)
    return {
        "rnea": PythonCall(pin.rnea, "qvx", (), forces),
        "crba": PythonCall(pin.crba, "q", local, mass),
        "crba_world": PythonCall(pin.crba, "q", world, mass),
        "aba": PythonCall(pin.aba, "qvx", local, accelerations),
        "aba_world": PythonCall(pin.aba, "qvx", world, accelerations),
        "drnea": PythonCall(
            pin.computeRNEADerivatives, "qvx", (), lambda d, given: [d.dtau_dq, d.dtau_dv, _symmetric(d.M)]
        ),
        "daba": PythonCall(
            pin.computeABADerivatives, "qvx", (), lambda d, given: [d.ddq_dq, d.ddq_dv, _symmetric(d.Minv)]
        ),
        "fk": PythonCall(pin.forwardKinematics, "q", (), lambda d, given: [pose.homogeneous for pose in d.oMi[1:]]),
        "jacobian": PythonCall(pin.computeJointJacobian, "q", (tip,), lambda data, given: [given]),
        "regressor": PythonCall(pin.computeJointTorqueRegressor, "qvx", (), lambda data, given: [given]),
    }


def constrained_call(twin: PinocchioTwin, name: str, prox: Prox, *, kp: float = 0.0, kd: float = 0.0) -> PythonCall:
    """The call of `constraintDynamics` ("constrained"), `lcaba`, or `impulseDynamics` ("impulse", a plastic impact).

    kp [1/s^2] and kd [1/s] are Baumgarte's gains. Each algorithm has its own data, because it would read the results of
    the other one as input.
    """
    model, data = twin.model, twin.model.createData()
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for pair in twin.closures:
        ends = (pair.first, pin.SE3(pair.first_pose), pair.second, pin.SE3(pair.second_pose))
        loop = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *ends, pin.ReferenceFrame.LOCAL)
        loop.m_baumgarte_parameters.Kp, loop.m_baumgarte_parameters.Kd = kp, kd
        models.append(loop)
        datas.append(loop.createData())
    if name == "lcaba":
        pin.computeJointMinimalOrdering(model, data, models)
    else:
        pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(SETTLED, SETTLED, *prox)
    if name == "impulse":
        more = (models, datas, 0.0, settings)
        return PythonCall(pin.impulseDynamics, "qv", more, lambda d, given: [d.dq_after], data)
    function = pin.constraintDynamics if name == "constrained" else pin.lcaba
    return PythonCall(function, "qvx", (models, datas, settings), lambda d, given: [d.ddq], data)


class PythonPeer:
    """Pinocchio's model of a robot, called from Python. States and results are in Pinocchio's convention."""

    label = "pin (Python)"

    def __init__(self, twin: PinocchioTwin, tip: str) -> None:
        self.model = twin.model
        self.data = twin.model.createData()
        self._calls = _calls(int(twin.at[tip][0]))
        for name, prox in twin.prox.items():
            self._calls[name] = constrained_call(twin, name, prox)

    def results(self, algorithm: str, q: Array, v: Array, x: Array) -> Array:
        """The results of an algorithm at n states, each flattened, shape (n, size)."""
        call = self._calls[algorithm]
        rows = []
        for state in zip(q, v, x, strict=True):
            named = dict(zip("qvx", state, strict=True))
            given = call.function(
                self.model, call.data or self.data, *(named[name] for name in call.states), *call.more
            )
            rows.append(np.concatenate([np.ravel(part) for part in call.result(call.data or self.data, given)]))
        return np.array(rows)

    def work(self, algorithm: str, q: Array, v: Array, x: Array) -> Callable[[], Any]:
        """A function that evaluates all states once; its loop runs inside the Python interpreter, in C."""
        call = self._calls[algorithm]
        named: dict[str, Sequence[Array]] = {"q": list(q), "v": list(v), "x": list(x)}
        states = [named[name] for name in call.states]

        def sweep() -> None:
            more = map(repeat, call.more)
            deque(map(call.function, repeat(self.model), repeat(call.data or self.data), *states, *more), maxlen=0)

        return sweep
