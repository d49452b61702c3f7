"""`lqr`: the linear quadratic regulator near an equilibrium, or along a motion.

The cost is the integral of  s^T Q s + 2 s^T N du + du^T R du  over time, with the deviation s of the state and du of
the inputs. Loops, couplings and locked joints leave fewer independent deviations y, s = basis y; the Riccati equation
is solved for these, and K = K_y dual, S = dual^T S_y dual.
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
from kinemorph.analysis.feedback.weights import cross_weights, weights
from kinemorph.analysis.small_motions.linearize import Linearization, Model, linearize
from kinemorph.analysis.small_motions.plant_derivatives import state_names
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.mechanics.trees.charts import CHARTS
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.plants.user_laws import Law
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
    q: Any = None,
    v: Any = None,
    x: Any = None,
    u: Any = None,
    t: float | None = None,
    p: Any = None,
    m: Any = None,
    forces: Law | None = None,
    locked: str | Sequence[str] = (),
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
                  end, in the forms of Q; with `final` 0 the gains fall to N at the end
    `leave_out`   regulate what the inputs can stabilize; `left_out` of the result names the rest. By default it is
                  refused

    The other arguments are those of `linearize`. By default the point is the equilibrium near the initial state. Where
    q is given and u is not, the inputs of the regulator take the values that hold the plant there, as motors hold an
    arm.
    """
    given = {"q": q, "v": v, "x": x, "u": u, "p": p, "m": m, "forces": forces, "locked": locked, "t": t}
    if sample is not None and not 0.0 < sample < np.inf:
        raise ShapeError(f"lqr: sample is {sample}; expected a finite time above 0 [s]. Leave it out for continuous.")
    if along is not None:
        taken = [name for name in ("q", "v", "x", "u", "t") if given[name] is not None]
        if sample is not None or taken or isinstance(model, Linearization):
            what = "a Linearization" if isinstance(model, Linearization) else ", ".join(taken) or "sample"
            raise UnsupportedError(f"lqr: {what} is given together with along=, whose run has the states. Give one.")
        plant = as_plant(model, forces=forces, locked=locked)
        return _along(plant, along, Q, R, N, final, p)
    linear = linear_at_rest("lqr", model, R, **given, outputs=())
    plant, chosen = linear.plant, inputs_of("lqr: R", linear.input_names, R)
    names = tuple(linear.input_names[k] for k in chosen)
    full = _costs(linear.state_names, names, Q, R, N)
    A, B, basis = linear.dual @ linear.A @ linear.basis, linear.dual @ linear.B[:, chosen], linear.basis
    rest = out_of_reach(A, B)
    note = _left_out(rest, linear, names, leave_out)
    if rest.size:  # the directions across which the rest moves: the inputs reach no others
        Z = np.linalg.svd(rest)[0][:, rest.shape[1] :]
        A, B, basis = Z.T @ A @ Z, Z.T @ B, basis @ Z
    dual = np.linalg.pinv(basis) if rest.size else linear.dual
    K, S, poles = _solved(A, B, basis, full, sample, linear)
    at = linear.point
    return Regulator(K @ dual, dual.T @ S @ dual, poles, names, plant, at.q, at.v, at.x, at.u[chosen], sample, None, note)


def _costs(states: Sequence[str], inputs: Sequence[str], Q: Any, R: Any, N: Any) -> tuple[Array, Array, Array]:
    """(Q, R, N) as matrices."""
    if not inputs:
        raise ShapeError("lqr: there are no inputs, so nothing can be regulated. Add a motor, or name inputs in R.")
    weighed = weights("lqr: Q", Q, states), weights("lqr: R", R, inputs, positive=True)
    return *weighed, cross_weights(N, (len(states), len(inputs)))


def _left_out(rest: Array, linear: Linearization, inputs: Sequence[str], allowed: bool) -> str:
    """A sentence on the directions that no input can stabilize; raises UnsupportedError where they are not allowed."""
    if not rest.size:
        return ""
    which = named(linear.dual.T @ rest, linear.state_names)
    what = f"The inputs {', '.join(inputs)} cannot bring motions of {which} to rest"
    if allowed:
        return f"{what}: {rest.shape[1]} of {len(linear.dual)} directions are left out."
    raise UnsupportedError(
        f"lqr: {what[0].lower()}{what[1:]}. Add inputs that move them, lock their joints, or give leave_out=True to "
        "regulate the others."
    )


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
            why = f"Q gives no weight to motions of {which}, which do not decay by themselves. Give them a weight above 0."
        raise UnsupportedError(f"lqr: {why}")
    return K, S, poles if sample is None else np.log(poles) / sample


# ── along a motion ────────────────────────────────────────────────────────────────────────────────────────────────────


def _along(plant: Plant, run: Trajectory, Q: Any, R: Any, N: Any, final: Any, p: Any) -> Regulator:
    """The regulator along a run, from its linear equations at each sample."""
    mine, theirs = ([column.name for column in one.q] for one in (plant, run.segments[0].plant))
    if len(run.segments) != 1 or mine != theirs or len(run.t) < 2:
        raise UnsupportedError(
            f"lqr: along is a run of {len(run.segments)} segments and {len(run.t)} samples of '{run.name}'; expected "
            f"one segment of '{plant.name}' with two samples or more. Give a run of this robot without jumps."
        )
    inputs, states = tuple(column.name for column in plant.u), state_names(plant)
    chosen = inputs_of("lqr: R", inputs, R)
    names = tuple(inputs[k] for k in chosen)
    known = [column.name for column in run.segments[0].plant.x]
    x = np.tile(np.array(plant.start["x"], dtype=float), (len(run.t), 1))
    for k, column in enumerate(plant.x):
        if column.name in known:
            x[:, k] = run[column.name]
    u = _inputs_of_run(plant, run)
    q = _same_signs(run.q, plant)
    Qf, Rf, Nf = _costs(states, names, Q, R, N)
    found = [
        _about_motion(linearize(plant, q[k], run.v[k], x[k], u[k], t=float(time), p=p, outputs=()), chosen)
        for k, time in enumerate(run.t)
    ]
    A, B, onto = (np.array(parts) for parts in zip(*found, strict=True))
    K, S = backwards(run.t, A, B, Qf, Rf, Nf, weights("lqr: final", final, states))
    K, S = K @ onto, onto.transpose(0, 2, 1) @ S @ onto
    return Regulator(K, S, np.zeros(0, complex), names, plant, q, run.v, x, u[:, chosen], None, run.t)


def _inputs_of_run(plant: Plant, run: Trajectory) -> Array:
    """The inputs (n, nu) of the plant along a run: those of the run, and signals of controllers that it had besides."""
    own, added = run.segments[0].plant, {element.name for element in plant.elements}
    signals: dict[str, tuple[str, ...]] = {}
    if own.robot is not None:
        cast = ensemble(own.robot, own.elements)
        signals |= {own.v[k].name: sources for k, sources in cast.driven.items()}
        for (index, slot), source in cast.wired.items():
            name = cast.members[index].element.name
            signals |= {name: (source,), f"{name}.{slot}": (source,)}
    found, names = np.zeros((len(run.t), plant.nu)), [column.name for column in own.u]
    for k, column in enumerate(plant.u):
        if column.name in names:
            found[:, k] = run.u[:, names.index(column.name)]
        for source in signals.get(column.name, ()):
            if source.partition(".")[0] not in added:
                found[:, k] += run[source]
    return found


def _about_motion(linear: Linearization, chosen: Sequence[int]) -> tuple[Array, Array, Array]:
    """(A, B, projection onto the possible deviations) for deviations in coordinates about the moving state."""
    plant, A = linear.plant, linear.A.copy()
    nv = plant.nv
    for place in plant.manifold:
        row, part = ELEMENTARY[place.kind], slice(place.v, place.v + ELEMENTARY[place.kind].nv)
        moving, carried = tuple(linear.v[part]), CHARTS[place.kind].carried
        for k in range(row.nv):  # at w, the base carries the joint with another velocity than at w = 0
            unit = tuple(float(i == k) for i in range(row.nv))
            A[part, place.v + k] = [-one for one in derivative(lambda w: tuple(carried(w, moving)), (0.0,) * row.nv, unit)]
    A[:nv, nv : 2 * nv] = np.diag([float(k not in plant.locked) for k in range(nv)])
    return A, linear.B[:, chosen], linear.basis @ linear.dual


def _same_signs(q: Array, plant: Plant) -> Array:
    """Configurations (n, nq) whose quaternions do not change sign from sample to sample, as curves need them."""
    found = q.copy()
    for place in plant.manifold:
        row = ELEMENTARY[place.kind]
        if row.nq == row.nv + 1:
            part = found[:, place.q + row.nq - 4 : place.q + row.nq]
            turned = np.sign((part[1:] * part[:-1]).sum(axis=1))
            part[1:] *= np.cumprod(np.where(turned == 0.0, 1.0, turned))[:, None]
    return found
