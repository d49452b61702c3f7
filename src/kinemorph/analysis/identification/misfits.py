"""Why forces are fitted badly: mistakes in recordings that are undone one by one, to see which one explains it.

A mistake is a row of a list: a sentence, a remedy, and the maps of forces and coordinates that undo it. Least squares
judge all of them on a few samples, as they judge cut-offs; the best ones are fitted with real bodies, as `identify`
fits. A mistake is named if without it the unexplained shares fall to the part CAUSE. Where none is, a regression that
knows nothing of the robot says whether the forces follow from the recorded motion at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.cutoffs import held_out_shares
from kinemorph.analysis.identification.identified import Prediction
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.rows import Rows
from kinemorph.analysis.identification.unknowns import Unknowns
from kinemorph.model.robot import Robot
from kinemorph.words import listed

LOOK = 0.05  # a cause is looked for where a larger share of the variance of a force is unexplained, less white noise
BAD = 0.2  # a larger one gives a warning in any case
LATE = 0.2  # a shift in time is looked for where a larger share of all squared residuals is alike to slopes of forces
CAUSE = 0.25  # a mistake is named if without it the unexplained shares fall to this part
FEW = 600  # samples of all recordings on which mistakes are judged, about
CLOSER = 5  # mistakes that are fitted with real bodies
PAIRS = 60  # with more pairs of joints, only neighbors are exchanged
STILL = 1e-6  # a force whose deviation is a smaller share of the largest force does not change
DEGREE = np.pi / 180.0
SHIFTS = (0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.12, 0.25)  # [s]
MOST = 0.1  # of the shortest recording: the longest of these that is tried
RIDGE = 1e-3  # the weight of zero in a regression without a robot, relative to the mean square of a feature
SHORT = 20  # recordings with fewer rows are not judged
FAR = 5.0  # masses that differ from the model's by a larger factor give a warning


class Mistake(NamedTuple):
    """What may be wrong with recordings, what to do about it, and the matrices by which columns are multiplied from the
    right to undo it; forces are those that are recorded `shift` [s] later.
    """

    what: str
    remedy: str
    tau: Array | None = None
    q: Array | None = None
    v: Array | None = None
    shift: float = 0.0

    def undone(self, one: Recording) -> Recording:
        """The recording without this mistake."""
        if self.shift:
            late = one.t + self.shift
            tau = np.stack([np.interp(late, one.t, column) for column in np.array(one.tau).T], axis=-1)
            return replace(one, tau=tau).chosen((late >= one.t[0]) & (late <= one.t[-1]))
        maps = {"q": self.q, "v": self.v, "a": self.v, "tau": self.tau}
        measured = {name: getattr(one, name) for name, X in maps.items() if X is not None}
        return replace(one, **{name: x @ maps[name] for name, x in measured.items() if x is not None})


def unexplained(fits: Sequence[Prediction]) -> tuple[Array, Array, float]:
    """The unexplained shares of the variances of forces, (channels,), these less white noise, and what is late.

    White noise has half of the mean square of the differences from sample to sample. The last number is the share of
    all squared residuals that is alike to slopes of the forces, as a shift in time leaves them.
    """
    measured, left = (np.concatenate([getattr(fit, what) for fit in fits]) for what in ("measured", "residuals"))
    spread = np.where(measured.std(axis=0) > STILL * np.abs(measured).max(), measured.std(axis=0), np.inf)
    noise = 0.5 * np.mean(np.concatenate([np.diff(fit.residuals, axis=0) for fit in fits]) ** 2, axis=0)
    slopes = np.concatenate([np.gradient(fit.predicted, fit.t, axis=0) for fit in fits]) / spread
    late = np.sum(slopes * left / spread) ** 2 / max(np.sum(slopes**2) * np.sum((left / spread) ** 2), 1e-300)
    return left.var(axis=0) / spread**2, np.maximum(left.var(axis=0) - noise, 0.0) / spread**2, float(late)


def misfit(
    rows: Rows,
    wanted: Unknowns,
    robot: Robot,
    recordings: Sequence[Recording],
    fits: Sequence[Prediction],
    fit: Callable[[Sequence[Recording]], Array],
    refiltered: Callable[[], Sequence[Recording]] | None,
) -> str:
    """A sentence about forces that are fitted badly, with the cause that was found; empty where they are fitted well.

    `fit` finds the unexplained shares of recordings, with real bodies; `refiltered` makes the recordings with the
    default filter, if they have another one.
    """
    if min(len(one.t) for one in fits) < SHORT:
        return ""
    shares, slow, late = unexplained(fits)
    if slow.max() < LOOK and late < LATE:
        return ""
    stride = max(1, sum(map(len, recordings)) // FEW)
    base = CAUSE * float(np.minimum(shares, 1.0).mean())
    names = [f"{name} {_percent(one)}" for name, one in zip(rows.channels, shares, strict=True)]
    told = f"the forces in use are fitted badly; of their variance is unexplained: {listed(names, 12)}."

    def after(some: Sequence[Recording]) -> Array:
        return fit([one.chosen(slice(None, None, max(1, min(stride, len(one) // SHORT)))) for one in some])

    if refiltered is not None and (found := after(refiltered())).mean() < base:
        return f"{told} It falls to {_percent(found.max())} or less with the default filter: leave `rates` out."

    def judged(mistake: Mistake) -> float:
        return float(held_out_shares(rows, wanted, [mistake.undone(one) for one in recordings], FEW).mean())

    only_late, has_tau = slow.max() < LOOK, "tau" in rows.needs
    reach = MOST * min(float(one.t[-1] - one.t[0]) for one in recordings) if has_tau else 0.0
    every = [one for one in _mistakes(robot) if abs(one.shift) <= reach and (has_tau or one.tau is None)]
    close = sorted((one for one in every if one.shift or not only_late), key=judged)[: 1 if only_late else CLOSER]
    for mistake in (*close[:1], *(_common(robot) if has_tau and not only_late else ()), *close[1:]):
        found = after([mistake.undone(one) for one in recordings])
        if found.mean() < base:
            return f"{told} It falls to {_percent(found.max())} or less if {mistake.what}. {mistake.remedy}"
    if slow.max() < BAD:
        return ""
    free = _without_robot(fits, recordings)
    known = (
        f"{told} No single mistake in units, signs or order of columns, no shift in time and no other filter explains "
        f"it. A regression that knows no robot leaves {_percent(free)} of unseen samples"
    )
    if free < base:
        return (
            f"{known}: forces follow from the motion, but not as in robot '{robot.name}'. The recording seems to be of "
            "another robot; check lengths, axes, zeros and gravity of the model."
        )
    return f"{known}: forces act that do not follow from the motion, such as contacts, or noise. See plot('forces')."


def far_masses(columns: Sequence[str], theta: Array, nominal: Array) -> str:
    """A sentence about masses that are far from those of the model; empty where there are none."""
    found = [
        f"{name} = {x:.3g} kg (model: {mass:.3g})"
        for name, x, mass in zip(columns, theta.tolist(), nominal.tolist(), strict=True)
        if name.endswith(".m") and mass > 0.0 and not 1.0 / FAR < x / mass < FAR
    ]
    return (
        f"identified masses are far from those of the model: {listed(found, 8)}. Check the units of forces, factors of "
        "currents and the masses of the model; known= fixes values, a smaller mass_deviation= trusts the model more."
        if found
        else ""
    )


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %" if share < 9.995 else f"{100.0 * share:.0f} %"


# ── mistakes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _common(robot: Robot) -> Iterator[Mistake]:
    """Mistakes that least squares do not see: parameters of no real body explain the same."""
    yield Mistake("the signs of all forces are turned", "Check them, and gravity of the model.", -np.eye(robot.nv))
    for factor, unit in ((1e-3, "N mm, mN m or mA"), (1e3, "kN m")):
        yield Mistake(f"all forces are taken to be in {unit}", "Read tau with its unit.", factor * np.eye(robot.nv))


def _mistakes(robot: Robot) -> Iterator[Mistake]:
    """Mistakes of columns. Those of coordinates are of joints with one axis in robots without loops."""
    names, nq, nv = robot.v_names, robot.nq, robot.nv
    turned, swapped = "Give a factor of -1, or turn the axis of the model.", "Correct the names of the columns."
    for k, name in enumerate(names):
        yield Mistake(f"the sign of tau.{name} is turned", turned, _scaled(nv, [k], -1.0))
        unit = "N mm, mN m or mA"
        yield Mistake(f"tau.{name} is taken to be in {unit}", "Read it with its unit.", _scaled(nv, [k], 1e-3))
    for i, k in _pairs(nv):
        yield Mistake(f"tau.{names[i]} and tau.{names[k]} are swapped", swapped, _swapped(nv, i, k))
    for s in (sign * size for size in SHIFTS for sign in (1.0, -1.0)):
        what = f"forces are taken to be recorded about {1e3 * abs(s):g} ms too {'late' if s > 0.0 else 'early'}"
        yield Mistake(what, "Check clocks and delays, and shift the columns of tau.", shift=s)
    single = [joint for joint in robot.joints if not joint.driven and joint.motion.nv == 1 and joint.motion.nq == 1]
    places = [(one.name, robot.q_slice(one.name).start, robot.v_slice(one.name).start) for one in single]
    if not robot.is_open:
        return
    at_q, at_v = zip(*[one[1:] for one in places if robot.q_units[one[1]] == "rad"] or [(-1, -1)], strict=True)
    for what, by_q, by_v in (("q and v", DEGREE, DEGREE), ("q", DEGREE, 1.0), ("v", 1.0, DEGREE)):
        Q, V = _scaled(nq, at_q, by_q), _scaled(nv, at_v, by_v)
        yield Mistake(f"columns {what} are taken to be in degrees", f"Read {what} with the unit 'deg'.", q=Q, v=V)
    for name, q, v in places:
        Q, V = _scaled(nq, [q], -1.0), _scaled(nv, [v], -1.0)
        yield Mistake(f"the signs of q.{name} and v.{name} are turned", turned, q=Q, v=V)
    for i, k in _pairs(len(places)):
        (one, q_i, v_i), (other, q_k, v_k) = places[i], places[k]
        Q, V = _swapped(nq, q_i, q_k), _swapped(nv, v_i, v_k)
        yield Mistake(f"q.{one} and q.{other} are swapped, and v with them", swapped, q=Q, v=V)


def _pairs(count: int) -> list[tuple[int, int]]:
    every = list(combinations(range(count), 2))
    return every if len(every) <= PAIRS else [pair for pair in every if pair[1] == pair[0] + 1]


def _scaled(count: int, at: Sequence[int], factor: float) -> Array:
    return np.diag([factor if k in at else 1.0 for k in range(count)])


def _swapped(count: int, i: int, k: int) -> Array:
    found = np.eye(count)
    found[[i, k]] = found[[k, i]]
    return found


def _without_robot(fits: Sequence[Prediction], recordings: Sequence[Recording]) -> float:
    """The mean share of the variances of forces that a regression leaves of samples which it has not seen.

    It has products of sines and cosines of two joints for gravity, accelerations times sines and cosines, products of
    velocities, and friction. What it has not seen is every other tenth of a recording.
    """
    parts = []
    for one, fit in zip(recordings, fits, strict=True):
        at = np.arange(0, len(fit.t), max(1, len(fit.t) // (3 * FEW)))
        q, v, a = (
            np.stack([np.interp(fit.t[at], one.t, x) for x in np.array(X).T], 1)
            for X in (one.q, one.v, one.v if one.a is None else one.a)
        )
        waves = np.hstack([np.ones((len(at), 1)), np.sin(q), np.cos(q), q])
        products = [x[:, :, None] * w[:, None] for x, w in ((waves, waves), (v, v), (a, waves))]
        X = np.hstack([*(one.reshape(len(at), -1) for one in products), v, np.sign(v)])
        parts.append((X, fit.measured[at], at * 10 // len(fit.t) % 2 == 0))
    X, y, first = (np.concatenate(one) for one in zip(*parts, strict=True))
    X /= np.sqrt(np.mean(X**2, axis=0)) + STILL
    left = np.zeros(y.shape[1])
    for seen in (first, ~first):
        A = X[seen].T @ X[seen] + RIDGE * seen.sum() * np.eye(X.shape[1])
        left += np.sum((y[~seen] - X[~seen] @ np.linalg.solve(A, X[seen].T @ y[seen])) ** 2, axis=0)
    return float(np.mean(np.minimum(left / np.maximum(y.var(axis=0) * len(y), 1e-300), 1.0)))
