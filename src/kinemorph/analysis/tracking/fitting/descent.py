"""Damped Gauss-Newton for all frames of a recording at once.

`descend` takes the steps of analysis.loops.levenberg for many problems side by side. Without smoothness every group of
every frame is a problem of its own, which takes or refuses its steps by itself; with smoothness a group is one problem
over all frames. An iteration is one call of the compiled normal equations for all frames (in lanes), and one solution
of a band matrix for each group. A velocity at a limit that is pushed against it stays fixed, as in levenberg.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.levenberg import ENOUGH, FIRST_GROWTH, LONGEST, REGULAR, Damping
from kinemorph.analysis.tracking.fitting.bands import band_of, solved
from kinemorph.analysis.tracking.fitting.marker_model import Groups
from kinemorph.analysis.tracking.fitting.marker_problem import Linearized, MarkerProblem
from kinemorph.analysis.tracking.fitting.smoothness import Smoothness

Mask = npt.NDArray[np.bool_]

STIFFEST = 1e9  # damping beyond which no step will help any more


class State(NamedTuple):
    """Configurations (n, nq), the problem about them, and its costs [m^2].

    Costs have the shape (n, groups), or with smoothness (1, groups).
    """

    q: Array
    at: Linearized
    costs: Array


class Descended(NamedTuple):
    """The last state, where the last step was below the tolerance (the shape of costs), and the number of steps."""

    state: State
    converged: Mask
    iterations: int


def descend(
    problem: MarkerProblem,
    q: Array,
    smooth: Smoothness | None = None,
    *,
    tolerance: float = 1e-9,
    iterations: int = 100,
    kappa: float = 1e-3,
    told: Callable[[int, float], None] | None = None,
) -> Descended:
    """Minimizes the problem from the configurations q (n, nq) until a step moves no marker by more than `tolerance`
    times the size of their cloud, or promises to lower the cost by no more than this share, or no step helps, or after
    `iterations` steps. `told` gets the number of each step and its size [m].
    """
    groups = problem.model.groups
    state = _state(problem, smooth, q)
    shape = state.costs.shape
    damping = Damping(np.full(shape, kappa), np.full(shape, FIRST_GROWTH))
    moving, converged = np.ones(shape, dtype=bool), np.zeros(shape, dtype=bool)
    count = 0
    while moving.any() and count < iterations:
        count += 1
        if smooth is None:  # frames that do not move any more are left out
            on = np.flatnonzero(moving.any(axis=1))
            part, before = problem.chosen(on), State(state.q[on], state.at.chosen(on), state.costs[on])
        else:
            on, part, before = np.zeros(1, dtype=np.intp), problem, state
        step, predicted, longest = _step(part, before, smooth, damping.kappa[on], moving[on])
        after = _state(part, smooth, part.model.ranges.moved(before.q, step))
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(predicted > 0.0, (before.costs - after.costs) / predicted, -1.0)
        still = (longest <= tolerance * problem.size) | (predicted <= tolerance * before.costs)
        small = moving[on] & still & np.isfinite(longest)
        better = moving[on] & (after.costs < before.costs) & ((gain > ENOUGH) | small)
        chosen = _chosen(groups, better, before, after)
        state = chosen if smooth is not None else _put(state, on, chosen)
        adapted = Damping(damping.kappa[on], damping.growth[on]).after(np.nan_to_num(gain), better)
        for old, new in zip(damping, adapted, strict=True):
            old[on] = np.where(moving[on], new, old[on])
        converged[on] |= small
        moving[on] &= ~small & (damping.kappa[on] < STIFFEST)
        if told is not None:
            told(count, float(longest.max(initial=0.0)))
    return Descended(state, converged, count)


def _state(problem: MarkerProblem, smooth: Smoothness | None, q: Array) -> State:
    at = problem.linearized(q)
    groups = problem.model.groups
    member = np.eye(groups.many + 1)[groups.markers][:, : groups.many]
    costs = at.loss @ member
    if smooth is not None:
        bent = np.bincount(groups.coordinates, smooth.costs(q), groups.many + 1)[: groups.many]
        costs = (costs.sum(axis=0) + bent)[None]
    return State(q, at, costs)


def _step(
    problem: MarkerProblem, state: State, smooth: Smoothness | None, kappa: Array, moving: Mask
) -> tuple[Array, Array, Array]:
    """The damped step (n, nv) of all problems that move, the predicted decrease of each, and its longest entry [m].

    A matrix that is not definite gives a step of length 0 and no decrease, so that the damping grows.
    """
    q, at = state.q, state.at
    n = len(q)
    step = np.zeros((n, problem.robot.nv))
    predicted, longest = np.zeros(moving.shape), np.zeros(moving.shape)
    angular = np.array([not unit.startswith("m") for unit in problem.robot.v_units])
    held = problem.model.ranges.held(q, at.push if smooth is None else at.push + smooth.push(q))
    for group in np.flatnonzero(moving.any(axis=0)):
        own = np.flatnonzero(problem.model.groups.velocities == group)
        reach, m = problem.model.reach[own], len(own)
        band = band_of(problem, int(group), at, smooth, q)
        stuck = held[:, own] | (reach == 0.0) | ~moving[:, group, None]
        damped = np.broadcast_to(kappa[:, group, None], (n, m))
        matrix = band.whole
        matrix[0] += damped.reshape(-1) + REGULAR
        y = solved(matrix, band.right, np.flatnonzero(stuck.reshape(-1)))
        if y is None:
            longest[:, group] = np.inf
            continue
        scaled = y.reshape(n, m)
        dv = np.divide(scaled, reach, out=np.zeros_like(scaled), where=reach > 0.0)
        turn = np.abs(dv[:, angular[own]]).max(axis=1, initial=0.0)
        shorter = LONGEST / np.maximum(turn, LONGEST)
        shorter = shorter if smooth is None else np.full(n, shorter.min())
        step[:, own] = dv * shorter[:, None]
        decrease = np.sum(scaled * (band.right.reshape(n, m) + damped * scaled), axis=1)
        decrease *= shorter * (2.0 - shorter)
        sizes = np.abs(scaled).max(axis=1)
        if smooth is None:
            predicted[:, group], longest[:, group] = decrease, sizes
        else:
            predicted[0, group], longest[0, group] = decrease.sum(), sizes.max()
    return step, predicted, longest


def _chosen(groups: Groups, better: Mask, old: State, new: State) -> State:
    """The new state of the groups that are better, and the old one of all others."""
    if better.all():
        return new
    taken = np.concatenate([better, np.zeros((len(better), 1), dtype=bool)], axis=1)  # no group: nothing changes
    markers = taken[:, groups.markers]
    at = Linearized(
        np.where(markers[..., None], new.at.positions, old.at.positions),
        np.where(taken[:, groups.entries], new.at.matrix, old.at.matrix),
        np.where(taken[:, groups.velocities], new.at.push, old.at.push),
        np.where(markers, new.at.distances, old.at.distances),
        np.where(markers, new.at.loss, old.at.loss),
    )
    return State(np.where(taken[:, groups.coordinates], new.q, old.q), at, np.where(better, new.costs, old.costs))


def _put(state: State, on: npt.NDArray[np.intp], part: State) -> State:
    """The state of all frames, with that of the frames `on` replaced."""
    if len(on) == len(state.q):
        return part
    arrays = [array.copy() for array in (state.q, *state.at, state.costs)]
    for array, new in zip(arrays, (part.q, *part.at, part.costs), strict=True):
        array[on] = new
    return State(arrays[0], Linearized(*arrays[1:-1]), arrays[-1])
