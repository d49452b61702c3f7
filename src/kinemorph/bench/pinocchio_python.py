"""Pinocchio from Python: the peer of a call from Python, and of everything where its C++ cannot be built."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from kinemorph.bench.pinocchio_twin import Array, PinocchioTwin


class PythonCall(NamedTuple):
    """A function of the package `pinocchio`: which of q, v and x it takes after model and data, what else, and where
    its result is found afterwards (`x` is an acceleration or a force).
    """

    function: Callable[..., Any]
    states: str
    more: tuple[Any, ...]
    result: Callable[[Any, Any], list[Array]]  # of the data and of what the function gave back


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
    }


class PythonPeer:
    """A twin's model, its algorithms called from Python. States and results are in Pinocchio's convention."""

    label = "pin (Python)"

    def __init__(self, twin: PinocchioTwin, tip: str) -> None:
        self.model = twin.model
        self.data = twin.model.createData()
        self._calls = _calls(int(twin.at[tip][0]))

    def results(self, algorithm: str, q: Array, v: Array, x: Array) -> Array:
        """The results of all states, shape (n, size)."""
        call = self._calls[algorithm]
        rows = []
        for state in zip(q, v, x, strict=True):
            named = dict(zip("qvx", state, strict=True))
            given = call.function(self.model, self.data, *(named[name] for name in call.states), *call.more)
            rows.append(np.concatenate([np.ravel(part) for part in call.result(self.data, given)]))
        return np.array(rows)

    def work(self, algorithm: str, q: Array, v: Array, x: Array) -> Callable[[], Any]:
        """One sweep over all states: a loop of the interpreter's own around the calls."""
        call = self._calls[algorithm]
        named: dict[str, Sequence[Array]] = {"q": list(q), "v": list(v), "x": list(x)}
        states = [named[name] for name in call.states]

        def sweep() -> None:
            more = map(repeat, call.more)
            deque(map(call.function, repeat(self.model), repeat(self.data), *states, *more), maxlen=0)

        return sweep
