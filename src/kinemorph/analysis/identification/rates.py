"""Velocities and accelerations of a recording, from its configurations or from measured velocities.

Each way is a small record, and `with_rates` applies it:

    ZeroPhase    a Butterworth filter, run forward and backward so that nothing is delayed, then derivatives of splines
    Periodic     a Fourier series of a motion that repeats, fitted to all of its periods at once
    Measured     nothing is computed: the recording has v and a

Encoder noise is amplified by the square of its frequency in accelerations. The default cut-off of `ZeroPhase` is
between the motion and this noise; `identify` chooses it by forces (`cutoffs`). Rows that repeat the row before are left
out, and samples at irregular times are moved to even ones on smooth splines. Forces are not filtered by default: their
noise does not bias estimates, and a filter would blur the steps of Coulomb friction.

A joint at rest has velocities that are noise, and the sign of noise is no direction of friction. The note of
`ZeroPhase` names the joints that rest for more than a third of the samples; their velocities are left as they are.

Joints with one axis are filtered in their coordinates. Of joints that turn about several axes the velocities are
filtered, because quaternions cannot be added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.recording import Recording, run_lengths
from kinemorph.errors import ShapeError
from kinemorph.mechanics.trees.charts import CHARTS
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.robot import Robot

EVEN = 1e-3  # times are evenly spaced if their distances differ by less than this share
FEWEST = 40  # samples that a filter needs
FLOOR = 0.25  # the upper share of the frequencies that shows the noise of a coordinate
RISE = 4.0  # the factor of power by which noise has to rise above the least power of accelerations
ENDS = 3.0  # the filter continues a signal at its ends by this many periods of the cut-off
REST = 4.0  # a velocity that stays below this many standard deviations of its noise is that of a joint at rest
OFTEN = 1.0 / 3.0  # joints that rest in a larger share of the samples are named
NUMERICAL = 1e-6  # and so is one that is smaller than this share of the largest velocity of the joint
AVERAGED = 9  # neighboring frequencies whose powers are averaged
HIGHEST = 0.5  # the largest default cut-off, as a share of the highest frequency that samples show
PERIODS = 10.0  # and the smallest has so many periods in the recording
RESOLVED = 0.01  # the quantile of all changes of a measured value that is taken for the step of its encoder
LEAPS = 2.5  # a change of so many steps follows rows that were held
LONGEST = 200  # a measurement that stays for more rows is that of a robot at rest
STIFF = 1e-3  # the weight of third differences in splines: 1 % of a sine at half of the highest frequency is lost


@dataclass(frozen=True)
class ZeroPhase:
    """A Butterworth low-pass filter, run forward and backward.

    `cutoff`    of positions and velocities [Hz]; by default between the motion and its amplified noise
    `forces`    the cut-off of forces [Hz]; None does not filter them
    `order`     of the filter; forward and backward together attenuate like twice this order
    `ends`      the part at both ends that is not used, because the filter feels the ends there, in periods of the
                cut-off
    """

    cutoff: float | None = None
    forces: float | None = None
    order: int = 4
    ends: float = 2.0


@dataclass(frozen=True)
class Periodic:
    """A Fourier series with the given period [s] and number of harmonics, fitted by least squares to each coordinate.

    The recording has to show at least one period, at times of any spacing; forces are left as they are.
    """

    period: float
    harmonics: int


@dataclass(frozen=True)
class Measured:
    """The velocities and accelerations that the recording has."""


Rates = ZeroPhase | Periodic | Measured


class Prepared(NamedTuple):
    """A recording with v and a, and a sentence that says how they were found."""

    recording: Recording
    note: str


def with_rates(
    recording: Recording,
    robot: Robot,
    method: Rates | None = None,
    *,
    needs: Sequence[str] = ("v", "a"),
    cutoff: float | None = None,
) -> Prepared:
    """The recording with velocities and accelerations. By default a zero-phase filter, unless it has what is needed.

    `needs` says which of v and a the rows read; see `Rows`. `cutoff` [Hz] is that of a filter that states none, as far
    as the samples reach.
    """
    missing = missing_rates(recording, needs)
    if method is None:
        method = ZeroPhase() if missing else Measured()
    if isinstance(method, Measured):
        return _measured(recording, missing)
    fresh = fresh_samples(recording)
    if isinstance(method, ZeroPhase) and method.cutoff is None and cutoff is not None:
        method = replace(method, cutoff=min(cutoff, cutoff_bounds(fresh)[1]))
    found = WAYS[type(method)](fresh, robot, method)
    held = len(recording) - len(fresh)
    told = f"; {held} of {len(recording)} rows repeat the row before and are left out" if held else ""
    return found._replace(note=found.note + told)


def missing_rates(recording: Recording, needs: Sequence[str]) -> list[str]:
    """Which of v and a are needed and were not recorded."""
    return [group for group in ("v", "a") if group in needs and getattr(recording, group) is None]


# ── measured ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _measured(recording: Recording, missing: Sequence[str]) -> Prepared:
    if missing:
        raise ShapeError(
            f"recording '{recording.name}' has no {' and no '.join(missing)}, which rates=Measured() needs. Choose "
            "rates=ZeroPhase() to compute them, or add the columns."
        )
    return Prepared(recording, f"'{recording.name}': rates as recorded")


# ── zero-phase filter ─────────────────────────────────────────────────────────────────────────────────────────────────


def _zero_phase(recording: Recording, robot: Robot, method: ZeroPhase) -> Prepared:
    if len(recording) < FEWEST:
        raise ShapeError(
            f"recording '{recording.name}' has {len(recording)} samples; a filter needs at least {FEWEST}. Record "
            "longer, or give v and a."
        )
    even = evenly_spaced(recording, robot)
    h = (even.t[-1] - even.t[0]) / (len(even) - 1)
    highest = 0.5 / h
    cutoff = default_cutoff(even, robot) if method.cutoff is None else method.cutoff
    for name, value in (("cutoff", cutoff), ("forces", method.forces)):
        if value is not None and not 0.0 < value < highest:
            raise ShapeError(
                f"ZeroPhase: {name} is {value:g} Hz; expected between 0 and {highest:g} Hz, half of the rate of the "
                f"samples of '{recording.name}'."
            )
    moving = filtered(even, robot, cutoff, method)
    left = round(method.ends / (cutoff * h))
    kept = moving.part(left, len(even) - left) if len(even) > 4 * left else moving
    spaced = "" if even is recording else f", samples moved to {1.0 / h:.4g} Hz"
    source = "slopes of coordinates" if even.v is None else "recorded"
    loads = "forces not filtered" if method.forces is None else f"forces filtered at {method.forces:.3g} Hz"
    note = (
        f"'{recording.name}': zero-phase Butterworth filter of order {method.order}, cut-off {cutoff:.3g} Hz{spaced}; "
        f"velocities {source}{_unused(recording, ('a',))}; {loads}; {len(kept)} of {len(recording)} samples used"
        f"{_resting(even, robot, np.array(moving.v), cutoff)}"
    )
    return Prepared(kept, note)


def filtered(even: Recording, robot: Robot, cutoff: float, method: ZeroPhase) -> Recording:
    """A recording at evenly spaced times with filtered q and v, with a, and with forces as the method says."""
    h = (even.t[-1] - even.t[0]) / (len(even) - 1)
    smooth = _filter(cutoff, h, method.order)
    q, v = np.array(even.q), np.zeros((len(even), robot.nv))
    for link in resolve(robot).links:
        at_q, at_v = _parts(link.kind, link.q, link.v)
        if ELEMENTARY[link.kind].nv == 1:
            q[:, at_q] = smooth(even.q[:, at_q])
            v[:, at_v] = smooth(even.v[:, at_v]) if even.v is not None else _slope(even.t, q[:, at_q])
        elif ELEMENTARY[link.kind].nv:
            measured = even.v[:, at_v] if even.v is not None else _chart_rates(link.kind, even.t, even.q[:, at_q])
            v[:, at_v] = smooth(measured)
    forces = (lambda x: x) if method.forces is None else _filter(method.forces, h, method.order)
    return replace(
        even,
        q=q,
        v=v,
        a=_slope(even.t, v),
        tau=None if even.tau is None else forces(even.tau),
        wrenches={joint: forces(x) for joint, x in even.wrenches.items()},
    )


def _resting(even: Recording, robot: Robot, v: Array, cutoff: float) -> str:
    """Part of a sentence that names the joints with one axis that are often at rest, by filtered velocities v (n, nv).

    A joint is at rest while its velocity stays below a few standard deviations of its noise for longer than a period of
    the cut-off f. Noise of even density S has the variance S f in velocities that were measured, and S (2 pi)^2 f^3 / 3
    in those that are slopes of coordinates.
    """
    n = len(even)
    h = (even.t[-1] - even.t[0]) / (n - 1)
    fewest = min(n, max(2, round(1.0 / (cutoff * h))))
    told = []
    for link in resolve(robot).links:
        if ELEMENTARY[link.kind].nv != 1:
            continue
        source = even.q[:, link.q] if even.v is None else even.v[:, link.v]
        density = float(_spectrum(source[:, None], h)[2][0]) ** 2 * 2.0 * h
        variance = density * (cutoff if even.v is not None else (2.0 * np.pi) ** 2 * cutoff**3 / 3.0)
        speed = np.abs(v[:, link.v])
        band = max(REST * float(np.sqrt(variance)), NUMERICAL * float(speed.max()))
        runs = run_lengths(speed <= band)
        rest = float(runs[runs >= fewest].sum()) / n
        if rest > OFTEN:
            unit = robot.v_units[link.v]
            told.append(f"{robot.v_names[link.v]} in {100.0 * rest:.3g} % (below {band:.2g} {unit})")
    often = "; at rest in more than a third of the samples, where the sign of Coulomb friction is that of noise: "
    return often + ", ".join(told) if told else ""


def _filter(cutoff: float, h: float, order: int) -> Callable[[Array], Array]:
    from scipy.signal import butter, sosfiltfilt

    sections = butter(order, cutoff, fs=1.0 / h, output="sos")

    def smooth(x: Array) -> Array:
        beyond = min(len(x) - 1, round(ENDS / (cutoff * h)))  # samples by which the signal is continued at both ends
        found: Array = sosfiltfilt(sections, x, axis=0, padlen=beyond)
        return found

    return smooth


def _slope(t: Array, x: Array) -> Array:
    """The derivatives of cubic splines through x (n, k), shape (n, k)."""
    from scipy.interpolate import CubicSpline

    found: Array = CubicSpline(t, x, axis=0)(t, 1)
    return found


def _parts(kind: str, q: int, v: int) -> tuple[slice, slice]:
    size = ELEMENTARY[kind]
    return slice(q, q + size.nq), slice(v, v + size.nv)


def _chart_rates(kind: str, t: Array, q: Array) -> Array:
    """The velocities of a joint with several axes, shape (n, nv), by splines through its steps between samples."""
    from scipy.interpolate import CubicSpline

    row = CHARTS[kind]
    steps = row.local(list(q[:-1].T), list(q[1:].T))
    v = np.stack(row.halfway([np.asarray(w) for w in steps])[1], axis=-1) / np.diff(t)[:, None]
    found: Array = CubicSpline(0.5 * (t[1:] + t[:-1]), v, axis=0)(t)
    return found


def fresh_samples(recording: Recording) -> Recording:
    """The recording without rows that repeat the measurement of the row before; itself where there are none.

    A logger that is faster than the sensors writes a measurement several times. Such rows differ from those of a robot
    at rest, and from the steps of an encoder, by what follows: a measurement that was held is followed by a change of
    more than one step of the encoder.
    """
    measured = recording.q if recording.v is None else np.hstack([recording.q, recording.v])
    changes = np.abs(np.diff(measured, axis=0))
    steps = np.array([np.quantile(one[one > 0.0], RESOLVED) if one.any() else np.inf for one in changes.T])
    starts = np.flatnonzero(np.append(True, changes.any(axis=1)))  # of runs of equal rows
    lengths = np.diff(starts, append=len(recording))
    jumps: npt.NDArray[np.bool_] = np.any(changes[starts[1:] - 1] > LEAPS * steps, axis=1)
    jumps = np.append(jumps, jumps[-1:] if len(jumps) else False)  # what follows the last run is not known
    kept = ~np.repeat(jumps & (lengths < LONGEST), lengths)
    kept[starts] = True
    return recording if kept.all() else recording.chosen(kept)


def evenly_spaced(recording: Recording, robot: Robot) -> Recording:
    """The recording at evenly spaced times, as many as it has; itself where its times are evenly spaced already.

    Coordinates and velocities lie on smooth splines, quaternions on the shortest rotations, and forces on lines between
    samples.
    """
    t = recording.t
    distances = np.diff(t)
    if np.ptp(distances) <= EVEN * distances.mean():
        return recording
    times = np.linspace(t[0], t[-1], len(t))
    q = np.empty_like(recording.q)
    single = [link.q for link in resolve(robot).links if ELEMENTARY[link.kind].nv == 1]
    q[:, single] = _on_spline(t, recording.q[:, single], times)
    for link in resolve(robot).links:
        if ELEMENTARY[link.kind].nv > 1:
            at_q, _ = _parts(link.kind, link.q, link.v)
            q[:, at_q] = _between(link.kind, t, recording.q[:, at_q], times)

    def on_lines(x: Array) -> Array:
        return np.stack([np.interp(times, t, column) for column in x.reshape(len(t), -1).T], axis=-1).reshape(x.shape)

    return replace(
        recording,
        t=times,
        q=q,
        v=None if recording.v is None else _on_spline(t, recording.v, times),
        a=None,
        tau=None if recording.tau is None else on_lines(recording.tau),
        wrenches={joint: on_lines(x) for joint, x in recording.wrenches.items()},
        inputs={name: on_lines(x) for name, x in recording.inputs.items()},
    )


def _on_spline(t: Array, x: Array, times: Array) -> Array:
    """Values at evenly spaced times of a cubic spline with knots there, near the samples x (n, k) at times t.

    A spline through all samples would swing between those that are close together. This one minimizes the squares of
    its distances from the samples and, times STIFF, of the third differences of its coefficients.
    """
    from scipy.interpolate import BSpline
    from scipy.sparse import diags
    from scipy.sparse.linalg import spsolve

    n = len(times)
    knots = times[0] + (times[1] - times[0]) * np.arange(-3.0, n + 3.0)
    B = BSpline.design_matrix(np.clip(t, knots[3], knots[n + 2]), knots, 3)
    D = diags([-1.0, 3.0, -3.0, 1.0], [0, 1, 2, 3], shape=(n - 1, n + 2))
    found: Array = BSpline(knots, spsolve((B.T @ B + STIFF * (D.T @ D)).tocsc(), B.T @ x), 3)(times)
    return found.reshape(n, -1)


def _between(kind: str, t: Array, q: Array, times: Array) -> Array:
    """Configurations (n, nq) of a joint with several axes at `times`, along the chart of the sample before."""
    row = CHARTS[kind]
    last = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    share = (times - t[last]) / (t[last + 1] - t[last])
    base = list(q[last].T)
    w = [share * part for part in row.local(base, list(q[last + 1].T))]
    return np.stack(row.finish(row.place(base, w)), axis=-1)


def default_cutoff(recording: Recording, robot: Robot) -> float:
    """The frequency [Hz] at which accelerations have the least power: between the motion and its amplified noise.

    The spectra of all joints with one axis are added, each divided by its motion. Above the motion, power falls, until
    that of noise, which derivatives multiply by the square of the frequency or its fourth power, lifts it by RISE.
    """
    least, most = cutoff_bounds(recording)
    lines = [link.q for link in resolve(robot).links if ELEMENTARY[link.kind].nv == 1]
    if not lines:
        return float(np.clip(0.4 * most, least, most))
    measured = recording.q[:, lines] if recording.v is None else recording.v
    frequencies, power, _ = _spectrum(measured, 0.5 * HIGHEST / most)
    speeds = power * (frequencies[:, None] ** 2 if recording.v is None else 1.0)
    speed = np.sum(speeds / np.maximum(speeds.max(axis=0), 1e-300), axis=1)
    beyond = slice(int(np.argmax(speed)), None)
    power, frequencies = (speed * frequencies**2)[beyond], frequencies[beyond]
    risen = np.append(np.flatnonzero(power > RISE * np.minimum.accumulate(power)), len(power))[0]
    return float(np.clip(frequencies[np.argmin(power[:risen])], least, most))


def cutoff_bounds(recording: Recording) -> tuple[float, float]:
    """The lowest and the highest cut-off [Hz] that are chosen for a recording."""
    span = float(recording.t[-1] - recording.t[0])
    most = HIGHEST * 0.5 * (len(recording) - 1) / span
    return min(PERIODS / span, most), most


def _spectrum(x: Array, h: float) -> tuple[Array, Array, Array]:
    """Smoothed powers of signals x (n, k) with samples every h [s], and the deviations of their noise (k,).

    The powers (m, k) are at the frequencies [Hz] that come first. Their upper quarter is taken for noise.
    """
    n, highest = len(x), 0.5 / h
    # the fourth power of a sine as a window: its sidelobes fall by ten powers of the frequency, below any noise
    window = np.sin(np.pi * (np.arange(n) + 0.5) / n)[:, None] ** 4
    power = np.abs(np.fft.rfft(window * (x - x.mean(axis=0)), axis=0)) ** 2
    sums = np.cumsum(np.concatenate([np.zeros((1, power.shape[1])), power]), axis=0)
    smooth = (sums[AVERAGED:] - sums[:-AVERAGED]) / AVERAGED
    frequencies = highest * (np.arange(len(smooth)) + 0.5 * (AVERAGED - 1)) / (len(power) - 1)
    floor = np.median(smooth[frequencies > (1.0 - FLOOR) * highest], axis=0)
    return frequencies, smooth, np.sqrt(floor / np.sum(window**2))


# ── periodic fit ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _periodic(recording: Recording, robot: Robot, method: Periodic) -> Prepared:
    span = recording.t[-1] - recording.t[0] if len(recording) else 0.0
    if not method.period > 0.0 or method.harmonics < 1 or span < 0.99 * method.period:
        raise ShapeError(
            f"Periodic: period {method.period:g} s with {method.harmonics} harmonics cannot be fitted to "
            f"'{recording.name}', which lasts {span:g} s; expected at least one period and one harmonic."
        )
    several = [link.kind for link in resolve(robot).links if ELEMENTARY[link.kind].nv > 1]
    if several:
        raise ShapeError(
            f"Periodic fits coordinates of joints with one axis, but robot '{robot.name}' has a joint of kind "
            f"'{several[0]}'. Choose ZeroPhase()."
        )
    w = 2.0 * np.pi / method.period * np.arange(1, method.harmonics + 1)
    angles = (recording.t - recording.t[0])[:, None] * w
    basis = np.concatenate([np.ones((len(angles), 1)), np.cos(angles), np.sin(angles)], axis=1)
    if len(recording) < 2 * basis.shape[1]:
        raise ShapeError(
            f"Periodic: {method.harmonics} harmonics have {basis.shape[1]} coefficients, but '{recording.name}' has "
            f"{len(recording)} samples; expected at least twice as many. Take fewer harmonics."
        )
    coefficients = np.linalg.lstsq(basis, recording.q, rcond=None)[0]
    zero = np.zeros((len(angles), 1))
    first = np.concatenate([zero, -np.sin(angles) * w, np.cos(angles) * w], axis=1)
    second = np.concatenate([zero, -np.cos(angles) * w**2, -np.sin(angles) * w**2], axis=1)
    fitted = basis @ coefficients
    left = float(np.sqrt(np.mean((recording.q - fitted) ** 2)))
    fit = replace(recording, q=fitted, v=first @ coefficients, a=second @ coefficients)
    note = (
        f"'{recording.name}': Fourier series of period {method.period:g} s with {method.harmonics} harmonics, "
        f"{left:.3g} rad or m (root mean square) from the samples{_unused(recording, ('v', 'a'))}"
    )
    return Prepared(fit, note)


def _unused(recording: Recording, groups: Sequence[str]) -> str:
    """Part of a sentence that names groups of recorded columns that a way of finding rates ignores."""
    idle = [group for group in groups if getattr(recording, group) is not None]
    return f", recorded {' and '.join(idle)} not used (rates=Measured() takes them as they are)" if idle else ""


WAYS: dict[type, Callable[..., Prepared]] = {ZeroPhase: _zero_phase, Periodic: _periodic}
