"""Gains along a motion: the regulator of least cost about a run, from its linear equations at each sample.

Between the samples of the run the linear equations change linearly; each interval counts with those of its middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.dual import derivative
from kinemorph.analysis.feedback.holding import inputs_of
from kinemorph.analysis.feedback.regulator import Regulator
from kinemorph.analysis.feedback.riccati import backwards, sampled_backwards
from kinemorph.analysis.feedback.weights import costs, weights
from kinemorph.analysis.small_motions.linearize import Linearization, linearize
from kinemorph.analysis.small_motions.plant_derivatives import point_of, slopes_of, state_names
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.mechanics.trees.charts import CHARTS
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.plants.programs import Plant
from kinemorph.simulation.results.trajectory import Trajectory

ROUNDING = 1e-9  # of a period: a shorter rest at the end of a run is none
SAME = 1e-3  # relative: a larger difference of accelerations shows that a run is not a motion of the model


def regulator_along(
    plant: Plant, run: Trajectory, Q: Any, R: Any, N: Any, final: Any, p: Any, sample: float | None
) -> Regulator:
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
    last, times, u, v = weights("lqr: final", final, states), run.t, u[:, chosen], run.v
    if sample is None:
        K, S = backwards(times, A, B, Qf, Rf, Nf, last)
    else:
        from scipy.interpolate import make_interp_spline

        periods = int(np.ceil((run.t[-1] - run.t[0]) / sample - ROUNDING))
        times = np.append(run.t[0] + sample * np.arange(periods), run.t[-1])
        every = np.union1d(run.t, times)
        middle = 0.5 * (every[:-1] + every[1:])
        A, B, held = (make_interp_spline(run.t, part, k=1)(middle) for part in (A, B, u))
        onto, x = (make_interp_spline(run.t, part, k=1)(times) for part in (onto, x))
        K, S = sampled_backwards(times, every, A, B, Qf, Rf, Nf, last)
        _, q, v, _, _ = run.at(times)
        spent = np.add.reduceat(np.diff(every)[:, None] * held, np.searchsorted(every, times[:-1]))
        u = np.vstack([spent / np.diff(times)[:, None], u[-1:]])  # held inputs are the means of those of the run
    K, S = K @ onto, onto.transpose(0, 2, 1) @ S @ onto
    return Regulator(K, S, np.zeros(0, complex), names, plant, q, v, x, u, sample, times)


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
