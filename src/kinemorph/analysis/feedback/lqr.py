"""`lqr`: the linear quadratic regulator near an equilibrium, or along a motion.

The cost is the integral of  s^T Q s + 2 s^T N du + du^T R du  over time, with the deviation s of the state and du of
the inputs. Loops, couplings and locked joints leave fewer independent deviations y, s = basis y; the Riccati equation
is solved for these, and K = K_y dual, S = dual^T S_y dual.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.feedback.holding import inputs_of, linear_at_rest
from kinemorph.analysis.feedback.motion_gains import regulator_along
from kinemorph.analysis.feedback.regulator import Regulator
from kinemorph.analysis.feedback.riccati import least_cost, sampled
from kinemorph.analysis.feedback.stabilizable import DECAYS, named, out_of_reach
from kinemorph.analysis.feedback.weights import check_sample, costs
from kinemorph.analysis.small_motions.linearize import Linearization, Model
from kinemorph.errors import UnsupportedError
from kinemorph.plants.robot_plant import named_parameters
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.simulation.results.trajectory import Trajectory


def lqr(
    model: Model | Linearization,
    Q: Any,
    R: Any,
    *,
    N: Any = None,
    sample: float | None = None,
    along: Trajectory | None = None,
    final: Any = 0.0,
    leave_out: bool = False,
    **state: Any,
) -> Regulator:
    """The state feedback of least cost: u = u0 - K s.

    `Q`           the weights of the state s = [w, v, x]: a matrix (ns, ns), a vector, the diagonal, a number, or a dict
                  by name, {"w.x": 10.0, "v.x": 1.0}, where all others are 0; "q.x" stands for "w.x"
    `R`           the weights of the inputs, in the same forms. A dict also chooses the inputs of the regulator: inputs
                  that it does not name are held
    `N`           the weights of products of states and inputs, (ns, number of inputs)
    `sample`      the time between samples [s]: gains of sampled feedback with held inputs. The equations and the cost
                  are integrated exactly over a period, so that the cost is that of the continuous motion
    `along`       a run: gains along its motion, over its time, at its samples, or every `sample` from its start.
                  `final` are weights of the state at its end, in the forms of Q; with `final` 0 continuous gains fall
                  to R^-1 N^T at the end
    `leave_out`   regulate what the inputs can stabilize; `left_out` of the result names the rest. By default it is
                  refused

    `state` are the arguments q, v, x, u, t, p, m, forces and locked of `linearize`. By default the point is the
    equilibrium near the initial state. Where q is given and u is not, the inputs of the regulator take the values that
    hold the plant there, as motors hold an arm.
    """
    check_sample("lqr", sample)
    if along is not None:
        taken = {"q", "v", "x", "u", "t", "m"} & {*state}
        if taken or isinstance(model, Linearization):
            what = ", ".join(sorted(taken)) or "a Linearization"
            raise UnsupportedError(f"lqr: {what} is given together with along=, whose run has the states. Give one.")
        own = along.segments[0]  # by default the parameters are those of the run
        p = state.pop("p", {column.name: value for column, value in zip(own.plant.p, own.p, strict=True)})
        plant = as_plant(model, parameters=named_parameters(model, p), **state)
        return regulator_along(plant, along, Q, R, N, final, p, sample)
    linear = linear_at_rest("lqr", model, R, (), state)
    chosen = inputs_of("lqr: R", linear.input_names, R)
    names = tuple(linear.input_names[k] for k in chosen)
    full = costs(linear.state_names, names, Q, R, N)
    A, B, basis = linear.dual @ linear.A @ linear.basis, linear.dual @ linear.B[:, chosen], linear.basis
    dual, note, rest = linear.dual, "", out_of_reach(A, B)
    if rest.size:  # regulated is the nearest motion, by its cost, among those that the inputs reach
        note = (
            f"The inputs {', '.join(names)} cannot bring motions of {named(dual.T @ rest, linear.state_names)} to rest"
        )
        if not leave_out:
            remedy = "Add inputs that move them, lock their joints, or give leave_out=True to regulate the others."
            raise UnsupportedError(f"lqr: {note[0].lower()}{note[1:]}. {remedy}")
        note += f": {rest.shape[1]} of {len(dual)} directions are left out."
        Z = np.linalg.svd(rest)[0][:, rest.shape[1] :]
        sizes, axes = np.linalg.eigh(full[0])
        root = np.sqrt(np.maximum(sizes, 0.0))[:, None] * axes.T @ basis
        dual = (Z.T + np.linalg.pinv(root @ Z) @ root @ (np.eye(len(A)) - Z @ Z.T)) @ dual
        A, B, basis = Z.T @ A @ Z, Z.T @ B, basis @ Z
    K, S, poles = _solved(A, B, basis, full, sample, linear)
    at, K, S = linear.point, K @ dual, dual.T @ S @ dual
    return Regulator(K, S, poles, names, linear.plant, at.q, at.v, at.x, at.u[chosen], sample, None, note)


def _solved(
    A: Array, B: Array, basis: Array, full: tuple[Array, Array, Array], sample: float | None, linear: Linearization
) -> tuple[Array, Array, Any]:
    """(K, S, poles) in the coordinates along `basis`."""
    Q, R, N = basis.T @ full[0] @ basis, full[1], basis.T @ full[2]
    shared = np.linalg.solve(R, N.T)  # of the inputs that N asks for
    idle = out_of_reach((A - B @ shared).T, Q - N @ shared, lambda pole, size: abs(pole.real) <= DECAYS * size)
    if idle.size:  # known beforehand: whether the solution shows it is a matter of rounding
        which = named(basis @ idle, linear.state_names)
        raise UnsupportedError(
            f"lqr: Q gives no weight to motions of {which}, which do not decay by themselves. Weigh them too."
        )
    given = (A, B, Q, R, N) if sample is None else sampled(A, B, Q, R, N, sample)
    try:
        K, S = least_cost(*given, discrete=sample is not None)
        poles = np.linalg.eigvals(given[0] - given[1] @ K).astype(complex)
    except np.linalg.LinAlgError:
        poles = np.array([np.nan])
    decays = poles.real < 0.0 if sample is None else np.abs(poles) < 1.0
    if not decays.all():
        raise UnsupportedError(
            "lqr: the Riccati equation has no solution that is accurate enough. Scale Q and R, so that their sizes "
            "agree."
        )
    return K, S, poles if sample is None else np.log(poles) / sample
