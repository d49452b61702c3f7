"""`drive_gains`: the torque for each unit of a drive's signal, from recordings with and without a known load.

Currents alone show torques up to a factor: Y theta = g i holds for zero, too. A load whose mass was weighed sets the
scale. All recordings together are one linear problem in the parameters of the arm, those of the load that are not
known, and the gains; its residuals are torques, all with the same weight. Arm and load are real bodies, which
`feasible_parameters` keeps possible. A gain is determined where the load changes the signal of its drive by much more
than what the model leaves unexplained: a vertical axis hardly feels a load. Least squares without constraints show it.

Signals are columns here, so that their noise makes gains smaller, by about the square of noise over signal; filters
reduce it, and deviations do not count it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.feasible.feasible_parameters import feasible_parameters
from kinemorph.analysis.identification.loads.load_rows import (
    EXACT,
    FRICTION,
    Trials,
    left_out,
    listed_recordings,
    load_columns,
    trials,
)
from kinemorph.analysis.identification.rates import Rates, ZeroPhase, default_cutoff, evenly_spaced
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.system_parameters import system_parameters
from kinemorph.deriving.dynamics import derive
from kinemorph.deriving.parameter_functions import body_parameters
from kinemorph.errors import ModelError, ShapeError
from kinemorph.mechanics.recursions.regressors import OF_BODY
from kinemorph.model.body import Body
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.sheet import DETERMINED, QUANTITIES, Facts, Note, Sheet, Table, hidden, named
from kinemorph.shown import Shown
from kinemorph.words import counted, did_you_mean, listed, quoted

LOAD = "load"
BIAS = "Noise of the signals makes gains smaller than they are; the deviations do not count it."
COLUMNS = (*named("drive", "name"), *named("gain standard_deviation", ".4f"), DETERMINED)
LOOSE = 0.1  # a relative standard deviation from which on a gain counts as undetermined
FAR = 3.0  # standard deviations by which constraints may move a gain that is determined
SHARE = 0.15  # the cut-off of the default filter, relative to the highest frequency that samples show
CLOSE = 1e-3  # relative deviations of gains that are not worth a distinction
RADIUS = 0.1  # [m], of the ball near which the load is searched where data leave it open
HIDDEN = 1e-6  # a relative part of forces that counts as nothing
DEPENDENT = 1e-9  # singular values that are smaller, relative to the largest, are zero


@dataclass(frozen=True, eq=False)
class DriveGains(Shown):
    """The result of `drive_gains`.

    `drives`        the names of the velocities that the drives act along
    `gains`         their gains [N m or N per unit of the signal], shape (drives,)
    `deviations`    standard deviations of the gains, which count that residuals are coloured, shape (drives,): those
                    of least squares without constraints, relative to the gain
    `determined`    whether the recordings determine each gain, shape (drives,)
    `load`          the parameters of the load, in the frame that it is fixed to, by part: "m", "hx", ..., "Izz"
    `error`         the norm of the residuals, relative to that of the torques of the drives
    `failure`       empty, or a sentence that says why there is no solution
    """

    drives: tuple[str, ...]
    gains: Array
    deviations: Array
    determined: npt.NDArray[np.bool_]
    load: Mapping[str, float]
    error: float
    failure: str = ""

    @property
    def by_name(self) -> dict[str, float]:
        """The gains that are determined, by the names of their velocities."""
        rows = zip(self.drives, self.gains.tolist(), self.determined.tolist(), strict=True)
        return {name: gain for name, gain, sure in rows if sure}

    @property
    def undetermined(self) -> tuple[str, ...]:
        """The names of the velocities whose gains the recordings do not determine."""
        return tuple(name for name, sure in zip(self.drives, self.determined.tolist(), strict=True) if not sure)

    def __repr__(self) -> str:
        return f"<DriveGains: {len(self.by_name)} of {len(self.drives)} determined, error {100.0 * self.error:.2f} %>"

    def sheet(self) -> Sheet:
        """The gains; those that the recordings do not determine are not shown."""
        every = zip(self.drives, self.gains, self.deviations, self.determined.tolist(), strict=True)
        rows = [(name, gain if sure else None, off if sure else None, sure) for name, gain, off, sure in every]
        parts = (
            Note(self.failure, "warning", "failure"),
            Facts(((QUANTITIES["error"], self.error),)),
            Table("gains", COLUMNS, rows, "Gains [N m or N per unit of the signal]"),
            Note(BIAS if self.by_name else "", "note"),
            hidden(load=self.load),
        )
        return Sheet("Gains of", counted(len(self.drives), "drive"), parts)


def drive_gains(
    model: Robot | System,
    unloaded: Recording | Sequence[Recording],
    loaded: Recording | Sequence[Recording],
    *,
    at: str,
    load: Mapping[str, float],
    friction: Sequence[str] = FRICTION,
    armature: bool = False,
    rates: Rates | None = None,
) -> DriveGains:
    """The gains of all drives, tau = gain * signal, from recordings without and with a load that is partly known.

    `unloaded`, `loaded`    recordings whose `tau` are signals of the drives, such as currents [A]
    `at`                    the frame or body that the load is fixed to
    `load`                  what is known of the load: {"m": 2.805}, its mass [kg] at least. Other parameters, "hx" to
                            "Izz" in the frame `at`, are unknown unless they are given
    `friction`, `armature`  which parts of friction, and whether armatures, are unknown
    `rates`                 how velocities and accelerations are found. By default motions and signals go through the
                            same zero-phase filter, because noise of signals makes gains smaller

    Gains that the recordings do not determine, because the load hardly changes their signals, are named in
    `DriveGains.undetermined`.
    """
    dynamics, values = derive(model), system_parameters(model)
    _check(load)
    known = left_out(values, friction, armature)
    known |= {f"{LOAD}.{part}": float(value) for part, value in load.items()}
    without, with_load = (listed_recordings(one) for one in (unloaded, loaded))
    several = [(one, False) for one in without] + [(one, True) for one in with_load]
    if not (without and with_load):
        raise ModelError("drive_gains: there is no recording without load, or none with it. Give at least one of each.")
    if rates is None:
        rates = _same_filter([one for one, _ in several], dynamics.robot)
    settled = {name: x for name, x in known.items() if not name.startswith(f"{LOAD}.")}
    fixed = {name: x for name, x in known.items() if name not in settled}
    whole = trials(dynamics, at, LOAD, several, settled, gains=True, rates=rates)
    names = whole.information.columns
    drives = tuple(name.removesuffix(".gain") for name in names if name.endswith(".gain"))
    chosen = [names.index(f"{name}.gain") for name in drives]
    free = _least_squares(replace(whole, known=known), drives, tuple(load))
    R, z, _ = whole.information.weighted()
    ball = dict(zip(load_columns(LOAD), body_parameters(Body.sphere(LOAD, load["m"], RADIUS)), strict=True))
    found = feasible_parameters(
        R / free.deviation, z / free.deviation, names, dynamics.robot, prior={**values, **ball, **fixed}, known=fixed
    )
    gains = found.values[chosen]
    relative = free.deviations / np.maximum(np.abs(free.gains), 1e-300)
    moved = np.abs(gains - free.gains) > FAR * np.maximum(free.deviations, CLOSE * np.abs(gains))
    torques = np.concatenate([gains * np.array(trial.recording.tau) for trial in whole.trials])
    left = np.concatenate(whole.residuals(found.values))
    return DriveGains(
        drives,
        gains,
        relative * np.abs(gains),
        free.estimable & (relative < LOOSE) & ~moved & (gains > 0.0),
        {part: found.by_name[name] for part, name in zip(OF_BODY, load_columns(LOAD), strict=True)},
        float(np.linalg.norm(left)) / max(float(np.linalg.norm(torques)), 1e-300),
        found.failure,
    )


def _same_filter(recordings: Sequence[Recording], robot: Robot) -> ZeroPhase:
    """One filter for motions and signals, at SHARE of the highest frequency that samples show, or lower."""
    cutoffs = []
    for recording in recordings:
        if len(recording) < 2:
            raise ShapeError(f"recording '{recording.name}' has fewer than 2 samples. Record longer.")
        highest = 0.5 * (len(recording) - 1) / float(recording.t[-1] - recording.t[0])
        cutoffs.append(min(default_cutoff(evenly_spaced(recording, robot), robot), SHARE * highest))
    return ZeroPhase(min(cutoffs), forces=min(cutoffs))


class _Free(NamedTuple):
    """Gains of least squares without constraints, their deviations, which are estimable, and that of the residuals."""

    gains: Array
    deviations: Array
    estimable: npt.NDArray[np.bool_]
    deviation: float


def _least_squares(whole: Trials, drives: Sequence[str], load: Sequence[str]) -> _Free:
    """Least squares without constraints. Raises ShapeError where the known parts of the `load` set no scale."""
    names = whole.information.columns
    R, z, _ = whole.information.weighted()
    sizes = np.where(np.any(R != 0.0, axis=0), np.linalg.norm(R, axis=0), 1.0)
    theta = np.linalg.lstsq(R / sizes, z, rcond=DEPENDENT)[0] / sizes
    chosen = [names.index(f"{name}.gain") for name in drives]
    others = np.delete(R / sizes, chosen, axis=1)
    left = z - others @ np.linalg.lstsq(others, z, rcond=DEPENDENT)[0]
    if float(np.linalg.norm(left)) <= HIDDEN * float(np.linalg.norm(z)):
        raise ShapeError(
            f"drive_gains: forces of the known part of the load, {listed(load)}, are also forces of its unknown part "
            "and of the arm, so that they set no scale. Give more of it, such as its center of mass in hx, hy and hz."
        )
    covariance, estimable = whole.covariance(theta, np.ones(len(drives)))
    left = np.concatenate(whole.residuals(theta))
    forces = np.concatenate([theta[chosen] * np.array(trial.recording.tau) for trial in whole.trials])
    least = EXACT * max(float(np.abs(forces).max(initial=0.0)), 1e-300)
    deviation = max(float(np.sqrt(np.mean(left**2))), least)
    return _Free(theta[chosen], np.sqrt(np.diag(covariance)[chosen]), estimable[chosen], deviation)


def _check(load: Mapping[str, float]) -> None:
    for part, value in load.items():
        if part not in OF_BODY:
            raise ModelError(
                f"load: there is no part '{part}', expected {listed(OF_BODY)}.{did_you_mean(part, OF_BODY)}"
            )
        if not np.isfinite(value):
            raise ModelError(f"load: '{part}' is {value}, expected a finite number in SI units.")
    if not load.get("m", 0.0) > 0.0:
        raise ModelError(
            f"load: its mass is {load.get('m')}, expected a number of kg above 0 in {quoted(['m'])}. Weigh the load: "
            "without its mass, all gains have a common unknown factor."
        )
