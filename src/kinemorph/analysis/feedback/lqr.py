"""`lqr`: the linear quadratic regulator near an equilibrium, or along a motion.

The cost is the integral of  s^T Q s + 2 s^T N du + du^T R du  over time, with the deviation s of the state and du of
the inputs. Loops, couplings and locked joints leave fewer independent deviations y, s = basis y; the Riccati equation
is solved for these, and K = K_y dual, S = dual^T S_y dual.
Along a motion, gains follow from the linear equations at each sample of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.dual import derivative
from kinemorph.analysis.feedback.holding import inputs_of, linear_at_rest
from kinemorph.analysis.feedback.regulator import Regulator
from kinemorph.analysis.feedback.riccati import backwards, least_cost, sampled
from kinemorph.analysis.feedback.stabilizable import DECAYS, named, out_of_reach
from kinemorph.analysis.feedback.weights import check_sample, costs, weights
from kinemorph.analysis.small_motions.linearize import Linearization, Model, linearize
from kinemorph.analysis.small_motions.plant_derivatives import point_of, slopes_of, state_names
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.mechanics.trees.charts import CHARTS
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import named_parameters
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.simulation.results.trajectory import Trajectory

SAME = 1e-3  # relative: a larger difference of accelerations shows that a run is not a motion of the model


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
    `along`       a run: gains along its motion, over its time, for its samples. `final` are weights of the state at its
                  end, in the forms of Q; with `final` 0 the gains fall to R^-1 N^T at the end
    `leave_out`   regulate what the inputs can stabilize; `left_out` of the result names the rest. By default it is
                  refused

    `state` are the arguments q, v, x, u, t, p, m, forces and locked of `linearize`. By default the point is the
    equilibrium near the initial state. Where q is given and u is not, the inputs of the regulator take the values that
    hold the plant there, as motors hold an arm.
    """
    check_sample("lqr", sample)
    if along is not None:
        taken = [*({"q", "v", "x", "u", "t", "m"} & {*state}), *["sample"] * (sample is not None)]
        if taken or isinstance(model, Linearization):
            what = ", ".join(sorted(taken)) or "a Linearization"
            raise UnsupportedError(f"lqr: {what} is given together with along=, whose run has the states. Give one.")
        own = along.segments[0]  # by default the parameters are those of the run
        p = state.pop("p", {column.name: value for column, value in zip(own.plant.p, own.p, strict=True)})
        plant = as_plant(model, parameters=named_parameters(model, p), **state)
        return _regulator_along(plant, along, Q, R, N, final, p)
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
    given = (A, B, Q, R, N) if sample is None else sampled(A, B, Q, R, N, sample)
    try:
        K, S = least_cost(*given, discrete=sample is not None)
        poles = np.linalg.eigvals(given[0] - given[1] @ K).astype(complex)
    except np.linalg.LinAlgError:
        poles = np.array([np.nan])
    decays = poles.real < 0.0 if sample is None else np.abs(poles) < 1.0
    if not decays.all():
        idle = out_of_reach(A.T, Q, lambda pole, size: abs(pole.real) <= DECAYS * size)
        why = "the Riccati equation has no solution that is accurate enough. Scale Q and R, so that their sizes agree."
        if idle.size:
            which = named(basis @ idle, linear.state_names)
            why = f"Q gives no weight to motions of {which}, which do not decay by themselves. Weigh them too."
        raise UnsupportedError(f"lqr: {why}")
    return K, S, poles if sample is None else np.log(poles) / sample


# ── along a motion ────────────────────────────────────────────────────────────────────────────────────────────────────


def _regulator_along(plant: Plant, run: Trajectory, Q: Any, R: Any, N: Any, final: Any, p: Any) -> Regulator:
    """The regulator along a run. Raises UnsupportedError for a run that is no motion of the plant."""
    mine, theirs = ([column.name for column in one.q] for one in (plant, run.segments[0].plant))
    if len(run.segments) != 1 or mine != theirs or len(run.t) < 2:
        raise UnsupportedError(
            f"lqr: along is a run of {len(run.segments)} segments and {len(run.t)} samples of '{run.name}'; expected "
            f"one segment of '{plant.name}' with two samples or more. Give a run of this robot without jumps."
        )
    inputs, states = tuple(column.name for column in plant.u), state_names(plant)
    chosen = inputs_of("lqr: R", inputs, R)
    names = tuple(inputs[k] for k in chosen)
    Qf, Rf, Nf = costs(states, names, Q, R, N)
    q, x, u = run.q, _of_run("x", plant, run), _of_run("u", plant, run)
    forces = [k for k in chosen if inputs[k] in (column.name for column in plant.v)]
    slopes, found = slopes_of(plant), []
    for k, time in enumerate(run.t):
        point = point_of(plant, q[k], run.v[k], x[k], u[k], p, float(time))
        if forces:  # what moved these joints in the run
            z = np.concatenate([run.a[k], np.zeros(plant.nx)])
            missing = slopes.residual(point, z)[: plant.nv]
            u[k, forces] += np.linalg.lstsq(slopes.blocks(point, z).u[: plant.nv, forces], -missing, rcond=None)[0]
        linear = linearize(plant, q[k], run.v[k], x[k], u[k], t=float(time), p=p, m=point.m, outputs=())
        away = np.abs(linear.drift[plant.nv : 2 * plant.nv] - run.a[k]).max(initial=0.0)
        if away > SAME * max(1.0, np.abs(run.a).max(initial=0.0)):
            raise UnsupportedError(
                f"lqr: along: at t = {time:g} s the accelerations of the run differ by {away:.3g} from those of "
                f"'{plant.name}' with the inputs {', '.join(names)}; expected a motion that they cause. Give the model "
                "the elements that the run had, or name the inputs that moved it in R."
            )
        found.append(_about_motion(linear, chosen))
    A, B, onto = (np.array(parts) for parts in zip(*found, strict=True))
    K, S = backwards(run.t, A, B, Qf, Rf, Nf, weights("lqr: final", final, states))
    K, S = K @ onto, onto.transpose(0, 2, 1) @ S @ onto
    return Regulator(K, S, np.zeros(0, complex), names, plant, q, run.v, x, u[:, chosen], None, run.t)


def _of_run(group: str, plant: Plant, run: Trajectory) -> Array:
    """The further states "x" or the inputs "u" of the plant along a run, (n, nx) or (n, nu).

    Inputs of its elements are the signals that drove them in the run; what the run does not have keeps initial values.
    """
    own = run.segments[0].plant
    columns = {column.name: column.name for column in own.x} | {column.name: f"u.{column.name}" for column in own.u}
    if own.robot is not None:
        cast = ensemble(own.robot, own.elements)
        for (index, slot), source in cast.wired.items():
            columns |= dict.fromkeys((name := cast.members[index].element.name, f"{name}.{slot}"), source)
    found = np.tile(np.array(plant.start[group], dtype=float), (len(run.t), 1))
    for k, column in enumerate(getattr(plant, group)):
        if column.name in columns:
            found[:, k] = run[columns[column.name]]
    return found


def _about_motion(linear: Linearization, chosen: Sequence[int]) -> tuple[Array, Array, Array]:
    """(A, B, projection onto the possible deviations) for deviations in coordinates about the moving state."""
    plant, A = linear.plant, linear.A.copy()
    nv = plant.nv
    for place in plant.manifold:
        n, carried = ELEMENTARY[place.kind].nv, CHARTS[place.kind].carried
        part = slice(place.v, place.v + n)
        still, moving = (0.0,) * n, tuple(linear.v[part])
        for k in range(n):  # the base carries a place at w with another velocity than that at w = 0
            unit = tuple(float(i == k) for i in range(n))
            slope = derivative(lambda w, carried=carried, moving=moving: tuple(carried(w, moving)), still, unit)
            A[part, place.v + k] = [-one for one in slope]
    A[:nv, nv : 2 * nv] = np.diag([float(k not in plant.locked) for k in range(nv)])
    return A, linear.B[:, chosen], linear.basis @ linear.dual
