"""`read_recording`: a recording from a text file with one column for each signal and one line for each sample.

Columns have the names that a saved run has, "t [s]", "q.elbow [rad]", "v.elbow", "a.elbow", "tau.elbow [N m]",
"wrench.foot.fx" to "wrench.foot.mz", "u.voltage". A map gives a meaning to columns with other names, with a factor
where the file has currents:

    {"time": "t", "pos1": "q.shoulder", "i1": ("tau.shoulder", 10.7)}

Columns that the map does not name are still read by their names, except where the map gives the same meaning to another
column.

A unit in brackets after the name converts the column; `units` does it for files without units.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.recording_checks import check_recording
from kinemorph.analysis.recorded_tables import Title, numbers, text_table
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import Problem, RecordingWarning, ShapeError, users_level
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.simulation.files.text_tables import MARK
from kinemorph.words import counted, did_you_mean, listed, quoted

DEGREE, TURN = np.pi / 180.0, 2.0 * np.pi
UNITS: dict[str, float] = {
    **dict.fromkeys(("", "1", "s", "rad", "m", "rad/s", "m/s", "rad/s^2", "m/s^2", "N", "N m", "Nm", "A", "V"), 1.0),
    **{"ms": 1e-3, "us": 1e-6, "deg": DEGREE, "deg/s": DEGREE, "deg/s^2": DEGREE, "rpm": TURN / 60.0, "rev": TURN},
    **{"mm": 1e-3, "mm/s": 1e-3, "cm": 1e-2, "kN": 1e3, "mN m": 1e-3, "mNm": 1e-3, "N mm": 1e-3, "mA": 1e-3},
}
GROUPS = ("q", "v", "a", "tau")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
IN_MAP = "say in `columns` (--column) which column it is."
Target = str | tuple[str, float]


class Signal(NamedTuple):
    """What a column of a file is: its name here, such as "q.elbow", and the factor to SI units."""

    name: str
    factor: float


def read_recording(
    path: str | Path,
    model: Robot | System | Dynamics,
    columns: Mapping[str, Target] | None = None,
    *,
    units: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Recording:
    """The recording in a text file with a line of names and one line of numbers for each sample.

    `columns`   what columns of the file are, {"pos1": "q.shoulder", "i1": ("tau.shoulder", gain [N m/A])}. A joint
                alone is short for its q, and with a gain for its tau. Columns that have the names of a saved run need
                no entry; one whose meaning the map gives to another column is not read.
    `units`     of columns, or of groups of columns, where the file does not say them: {"q": "deg", "v.elbow": "rpm"}
    `name`      what messages call the recording; the file's name by default

    Raises ShapeError where the data cannot be used, and issues a RecordingWarning where they are questionable.
    """
    robot = model if isinstance(model, Robot) else model.robot
    path = Path(path)
    label = name or path.name
    file = text_table(path)
    titles, table = file.titles, numbers(file)
    again = np.append(False, ~np.diff(table, axis=0).any(axis=1))
    if again.any():
        what = f"{counted(int(again.sum()), 'row')} of {len(table)} have the time and all values of the row before"
        told = Problem("recording", label, what, "They are left out; check the logger.")
        warnings.warn(told, RecordingWarning, stacklevel=users_level())
        table = table[~again]
    known = known_names(robot)
    signals = _by_map(label, titles, columns or {}, known)
    signals |= _by_name(label, titles, known, columns or {}, {signal.name for signal in signals.values()})
    found: dict[str, Array] = {}
    for index, signal in signals.items():
        title, unit = titles[index]
        unit = _unit(units or {}, title, signal.name) or unit
        if unit not in UNITS:
            raise ShapeError(
                f"recording '{label}': column '{title}' has the unit '{unit}', which is unknown. Known units: "
                f"{listed([one for one in UNITS if one], 40)}."
            )
        if signal.name in found:
            raise ShapeError(
                f"recording '{label}': two columns are '{signal.name}', the second one '{title}'. Give each once."
            )
        found[signal.name] = table[:, index] * (UNITS[unit] * signal.factor)
    recording = _assembled(label, robot, found)
    check_recording(recording, robot)
    if recording.tau is not None and _is_saved_run(path):
        what = "it is a saved run, whose tau are all generalized forces, friction of joints and elements included"
        remedy = "Take Recording.of(run), which leaves friction out, or write the forces of the actuators as tau."
        warnings.warn(Problem("recording", label, what, remedy), RecordingWarning, stacklevel=users_level())
    return recording


def _is_saved_run(path: Path) -> bool:
    with path.open(encoding="utf-8-sig") as file:
        return file.read(len(MARK)) == MARK


def known_names(robot: Robot) -> tuple[str, ...]:
    """The names that columns of a recording of a robot may have, except those of inputs."""
    groups = [f"{group}.{one}" for group in GROUPS for one in (robot.q_names if group == "q" else robot.v_names)]
    return ("t", *groups, *(f"wrench.{joint}.{part}" for joint in robot.joint_names for part in WRENCH))


# ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _by_name(
    label: str,
    titles: Sequence[Title],
    known: Sequence[str],
    columns: Mapping[str, Target],
    given: Collection[str],
) -> dict[int, Signal]:
    """The columns with names of a recording, by index, except those that the map `columns` names or replaces.

    `given` are the meanings of the map. Names that look like those of a recording and are unknown raise ShapeError
    where there is no map; with a map they may be any other columns, and are ignored.
    """
    found: dict[int, Signal] = {}
    for k, (title, _) in enumerate(titles):
        group = title.partition(".")[0]
        if title in columns or title in given:
            continue
        if title in known or (group == "u" and "." in title):
            found[k] = Signal(title, 1.0)
        elif group in (*GROUPS, "wrench") and not columns:
            raise ShapeError(
                f"recording '{label}': column '{title}' is unknown.{did_you_mean(title, known)} Known: "
                f"{listed(known, 24)}."
            )
    return found


def _by_map(
    label: str, titles: Sequence[Title], columns: Mapping[str, Target], known: Sequence[str]
) -> dict[int, Signal]:
    """The columns that a map names, by index."""
    names = [title for title, _ in titles]
    found: dict[int, Signal] = {}
    for title, target in columns.items():
        if title not in names:
            raise ShapeError(
                f"recording '{label}': the file has no column '{title}'.{did_you_mean(title, names)} Its columns: "
                f"{listed(names, 24)}."
            )
        name, factor = (target, 1.0) if isinstance(target, str) else target
        if "." not in name and name != "t":
            name = f"{'q' if isinstance(target, str) else 'tau'}.{name}"
        if name not in known and not name.startswith("u."):
            raise ShapeError(
                f"columns: '{title}' is mapped to '{name}', which is unknown.{did_you_mean(name, known)} Known: "
                f"{listed(known, 24)}."
            )
        found[names.index(title)] = Signal(name, float(factor))
    return found


def _unit(units: Mapping[str, str], title: str, name: str) -> str:
    """The unit that `units` gives for a column of the file, for its name here, or for its group."""
    for key in (title, name, name.partition(".")[0]):
        if key in units:
            return units[key]
    return ""


def _assembled(label: str, robot: Robot, found: Mapping[str, Array]) -> Recording:
    """The recording of columns by name. Groups have to be complete; forces that were not measured are NaN-free."""
    if "t" not in found:
        raise ShapeError(f"recording '{label}' has no column 't' with times. Name it in the file, or {IN_MAP}")
    arrays: dict[str, Array | None] = {}
    for group in GROUPS:
        names = [f"{group}.{one}" for one in (robot.q_names if group == "q" else robot.v_names)]
        missing = [name for name in names if name not in found]
        if missing and (group == "q" or len(missing) < len(names)):
            raise ShapeError(
                f"recording '{label}' has no column {quoted(missing)}; expected {group} of every joint of robot "
                f"'{robot.name}'. Add it to the file, or {IN_MAP}"
            )
        arrays[group] = None if missing else np.stack([found[name] for name in names], axis=-1)
    wrenches: dict[str, Array] = {}
    for joint in robot.joint_names:
        parts = [f"wrench.{joint}.{part}" for part in WRENCH]
        missing = [name for name in parts if name not in found]
        if 0 < len(missing) < len(parts):
            raise ShapeError(f"recording '{label}' has no column {quoted(missing)}; expected six for each wrench.")
        if not missing:
            wrenches[joint] = np.stack([found[name] for name in parts], axis=-1)
    inputs = {name[2:]: x for name, x in found.items() if name.startswith("u.")}
    q = arrays["q"]
    assert q is not None
    return Recording(label, found["t"], q, arrays["v"], arrays["a"], arrays["tau"], wrenches, inputs)
