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

LOOK = 0.05  # a cause is looked for where a larger share of the variance of a force is unexplained, and no white noise
BAD = 0.2  # a larger unexplained share is told in any case
LATE = 0.5  # a cause is looked for where a shift in time explains this share of all residuals
CAUSE = 0.25  # a mistake is named if without it the unexplained shares fall to this part
FEW = 600  # samples of all recordings on which mistakes are judged, about
CLOSER = 5  # mistakes that are fitted with real bodies
PAIRS = 60  # with more pairs of joints, only neighbors are exchanged
STILL = 1e-6  # a force whose deviation is a smaller share of its largest value does not change
DEGREE = np.pi / 180.0
SHIFTS = (0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.12, 0.25)  # [s]
RIDGE = 1e-3  # the weight of zero in a regression without a robot, relative to the mean square of a feature

TRIED = "units of angles and forces, signs and order of columns, a shift in time, and the filter"


class Mistake(NamedTuple):
    """What may be wrong with recordings, what to do about it, and the maps that undo it.

    Columns are multiplied by the matrices from the right; forces are those that are recorded `shift` [s] later.
    """

    what: str
    remedy: str
    tau: Array | None = None
    q: Array | None = None
    v: Array | None = None
    a: Array | None = None
    shift: float = 0.0

    def undone(self, one: Recording) -> Recording:
        """The recording, which has v, a and tau, without this mistake."""
        if self.shift:
            late = one.t + self.shift
            tau = np.stack([np.interp(late, one.t, column) for column in np.array(one.tau).T], axis=-1)
            return replace(one, tau=tau).chosen((late >= one.t[0]) & (late <= one.t[-1]))
        maps = {name: getattr(self, name) for name in ("q", "v", "a", "tau")}
        return replace(one, **{name: getattr(one, name) @ X for name, X in maps.items() if X is not None})


def unexplained(fits: Sequence[Prediction]) -> tuple[Array, Array, float]:
    """The unexplained shares of the variances of forces, (channels,), these less white noise, and what is late.

    White noise has half of the mean square of the differences from sample to sample. The last number is the share of
    all squared residuals that is alike to slopes of the forces, as a shift in time leaves them.
    """
    measured, left = (np.concatenate([getattr(fit, what) for fit in fits]) for what in ("measured", "residuals"))
    spread = measured.std(axis=0)
    spread = np.where(spread > STILL * np.abs(measured).max(axis=0), spread, np.inf)
    noise = 0.5 * np.mean(np.concatenate([np.diff(fit.residuals, axis=0) for fit in fits]) ** 2, axis=0)
    slopes = np.concatenate([np.gradient(fit.predicted, fit.t, axis=0) for fit in fits]) / spread
    squares = float(np.sum(slopes**2) * np.sum((left / spread) ** 2))
    late = float(np.sum(slopes * left / spread)) ** 2 / (squares or 1.0)
    return left.var(axis=0) / spread**2, np.maximum(left.var(axis=0) - noise, 0.0) / spread**2, late


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
    shares, slow, late = unexplained(fits)
    if slow.max() < LOOK and shares.max() < BAD and late < LATE:
        return ""
    stride = max(1, sum(map(len, recordings)) // FEW)
    base = float(np.minimum(shares, 1.0).mean())
    names = [f"{name} {_percent(one)}" for name, one in zip(rows.channels, shares, strict=True)]
    told = f"the forces in use are fitted badly; of their variance is unexplained: {listed(names, 12)}."

    def after(some: Sequence[Recording]) -> Array:
        return fit([one.chosen(slice(None, None, stride)) for one in some])

    if refiltered is not None and (found := after(refiltered())).mean() < CAUSE * base:
        return f"{told} It falls to {_percent(found.max())} or less with the default filter: leave `rates` out."
    if all(one.tau is not None for one in recordings):
        every = list(_mistakes(robot))
        common, single = every[:3], every[3:]  # of the first, least squares see nothing
        single.sort(key=lambda one: float(held_out_shares(rows, wanted, [one.undone(x) for x in recordings], FEW).mean()))
        for one in (single[0], *common, *single[1:CLOSER]):
            found = after([one.undone(recording) for recording in recordings])
            if found.mean() < CAUSE * base:
                return f"{told} It falls to {_percent(found.max())} or less if {one.what}. {one.remedy}"
    if shares.max() < BAD:
        return ""
    free = _without_robot(fits, recordings)
    known = f"{told} No single mistake in {TRIED} explains it. A regression that knows no robot leaves {_percent(free)}"
    if free < CAUSE * base:
        return (
            f"{known} of pieces that it has not seen: forces follow from the motion, but not as in robot "
            f"'{robot.name}'. The recording may be of another robot; check lengths, axes, zeros and gravity of the model."
        )
    return (
        f"{known}: forces act that do not follow from the motion, such as contacts, or measurements are noisy. Do not "
        "trust these parameters; see plot('forces')."
    )


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"


def _mistakes(robot: Robot) -> Iterator[Mistake]:
    """The mistakes that are tried. Those of coordinates are of joints with one axis in robots without loops."""
    names, nq, nv = robot.v_names, robot.nq, robot.nv
    single = [joint for joint in robot.joints if not joint.driven and joint.motion.nv == 1 and joint.motion.nq == 1]
    places = [(one.name, robot.q_slice(one.name).start, robot.v_slice(one.name).start) for one in single]
    turned = "Give it a factor of -1 in columns=, or turn the axis of the model."
    swapped = "Correct the names of the columns."
    yield Mistake("the signs of all forces are turned", "Check them, and gravity of the model.", -np.eye(nv))
    for factor, unit in ((1e-3, "N mm, mN m or mA"), (1e3, "kN m")):
        yield Mistake(f"all forces are taken to be in {unit}", "Read tau with its unit in units=.", factor * np.eye(nv))
    for k, name in enumerate(names):
        yield Mistake(f"the sign of tau.{name} is turned", turned, _scaled(nv, [k], -1.0))
        yield Mistake(
            f"tau.{name} is taken to be in N mm, mN m or mA", "Read it with its unit in units=.", _scaled(nv, [k], 1e-3)
        )
    for i, k in _pairs(nv):
        yield Mistake(f"tau.{names[i]} and tau.{names[k]} are swapped", swapped, _swapped(nv, i, k))
    for s in (sign * size for size in SHIFTS for sign in (1.0, -1.0)):
        what = f"forces are taken to be recorded about {1e3 * abs(s):g} ms too {'late' if s > 0.0 else 'early'}"
        yield Mistake(what, "Check clocks and delays, and shift the columns of tau.", shift=s)
    if not robot.is_open:
        return
    angles = [one for one in places if robot.q_units[one[1]] == "rad"]
    at_q, at_v = [one[1] for one in angles], [one[2] for one in angles]
    for what, by_q, by_v in (("q and v", DEGREE, DEGREE), ("q", DEGREE, 1.0), ("v", 1.0, DEGREE)):
        Q, V = _scaled(nq, at_q, by_q), _scaled(nv, at_v, by_v)
        yield Mistake(f"{what} are taken to be in degrees", f"Read {what} with the unit 'deg'.", q=Q, v=V, a=V)
    for name, q, v in places:
        Q, V = _scaled(nq, [q], -1.0), _scaled(nv, [v], -1.0)
        yield Mistake(f"the signs of q.{name} and v.{name} are turned", turned, q=Q, v=V, a=V)
    for i, k in _pairs(len(places)):
        (one, q_i, v_i), (other, q_k, v_k) = places[i], places[k]
        Q, V = _swapped(nq, q_i, q_k), _swapped(nv, v_i, v_k)
        yield Mistake(f"q.{one} and q.{other} are swapped, and v with them", swapped, q=Q, v=V, a=V)


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
    """The mean share of the variances of forces that a regression leaves of halves of samples which it has not seen.

    It has products of sines and cosines of two joints for gravity, accelerations times sines and cosines, products of
    velocities, and friction. Halves are every other tenth of a recording.
    """
    X, y, half = [], [], []
    for one, fit in zip(recordings, fits, strict=True):
        q, v, a = (np.stack([np.interp(fit.t, one.t, x) for x in np.array(X_).T], axis=1) for X_ in (one.q, one.v, one.a))
        waves = np.hstack([np.ones((len(q), 1)), np.sin(q), np.cos(q), q])
        products = [x[:, [i]] * w[:, (i if x is w else 0) :] for x, w in ((waves, waves), (v, v), (a, waves)) for i in range(x.shape[1])]
        few = slice(None, None, max(1, len(q) // (3 * FEW)))
        X.append(np.hstack([*products, v, np.sign(v)])[few])
        y.append(fit.measured[few])
        half.append(np.arange(len(q))[few] * 10 // len(q) % 2 == 0)
    features, forces, first = np.concatenate(X), np.concatenate(y), np.concatenate(half)
    features /= np.sqrt(np.mean(features**2, axis=0)) + STILL
    left = np.zeros(forces.shape[1])
    for seen in (first, ~first):
        A, rest = features[seen], features[~seen]
        found = np.linalg.solve(A.T @ A + RIDGE * len(A) * np.eye(A.shape[1]), A.T @ forces[seen])
        left += np.sum((forces[~seen] - rest @ found) ** 2, axis=0)
    spread = np.maximum(forces.var(axis=0) * len(forces), 1e-300)
    return float(np.mean(np.minimum(left / spread, 1.0)))
