"""Tracked recordings as plain data and as tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinemorph.analysis.tracking.attachments import OWN
from kinemorph.analysis.tracking.tracked import Tracked
from kinemorph.display.faces.grid import Data, Facts, Parts, grid_of
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Frame
from kinemorph.words import listed

MOST_ROWS = 60  # joints that a table lists


def tracked_summary(result: Tracked) -> Data:
    """A tracked recording as data: how far each marker is off, and the range and certainty of each coordinate."""
    half = result.intervals()
    seen = result.markers.seen.sum(axis=0).tolist()
    return {
        "robot": result.robot.name,
        "recording": result.markers.source,
        "frames": len(result.q),
        "duration": float(result.times[-1] - result.times[0]),
        "rms": result.rms(),
        "noise": _finite(result.sigma),
        "smoothness": result.smoothness,
        "iterations": result.iterations,
        "converged": result.converged,
        "unseen": list(result.unseen),
        "notes": list(result.notes),
        "markers": [
            {"marker": name, "place": _place(result.robot.frame(frame)), "seen": count, "rms": _finite(rms)}
            for (name, rms), frame, count in zip(result.rms_by_marker().items(), result.frames, seen, strict=True)
        ],
        "joints": [_joint(result, half, joint.name) for joint in result.robot.joints if joint.motion.nv],
    }


def _place(frame: Frame) -> str:
    """Where a marker sits: the name of its frame or body, with a place in the body's axes where it has an offset."""
    if not frame.name.startswith(OWN):
        return frame.name
    p = evaluate_all(frame.placement.p)
    return f"{frame.body} at ({', '.join(f'{x:.4g}' for x in p)}) m" if any(p) else frame.body


def _joint(result: Tracked, half: Any, name: str) -> Data:
    robot = result.robot
    at_q, at_v = robot.q_slice(name), robot.v_slice(name)
    q = result.q[:, at_q]
    return {
        "joint": name,
        "units": list(robot.q_units[at_q]),
        "least": q.min(axis=0).tolist(),
        "largest": q.max(axis=0).tolist(),
        "interval": [_finite(float(np.median(column))) for column in half[:, at_v].T],
    }


def _finite(x: float) -> float | None:
    """The number, or None where it is infinite or NaN, which JSON does not have."""
    return x if math.isfinite(x) else None


def tracked_tables(data: Data) -> Parts:
    """The tables of the command `track`, from the data of `tracked_summary`."""
    rows: list[tuple[str, object]] = [
        ("recording", f"{data['recording']}, {data['frames']:,} frames, {data['duration']:.4g} s"),
        ("distance", f"{1e3 * data['rms']:.4g} mm root mean square of all markers"),
        ("noise", f"{_shown(data['noise'], 'm')} in each coordinate of a marker"),
        ("steps", f"{data['iterations']}" if data["converged"] else f"{data['iterations']}, did not converge"),
    ]
    if data["unseen"]:
        rows.append(("not shown", listed(data["unseen"], 12)))
    markers: dict[str, Any] = {
        "marker": "{marker}",
        "on the robot": "{place}",
        "seen": "{seen:,}",
        "distance [mm]": lambda row: "" if row["rms"] is None else f"{1e3 * row['rms']:.4g}",
    }
    joints: dict[str, Any] = {
        "joint": "{joint}",
        "from": lambda row: _range(row, "least"),
        "to": lambda row: _range(row, "largest"),
        "95 % interval": _intervals,
    }
    shown = data["joints"][:MOST_ROWS]
    parts: Parts = [
        Facts(rows),
        grid_of("markers", data["markers"], markers, ("seen", "distance [mm]")),
        grid_of("joints", shown, joints, ("from", "to", "95 % interval")),
    ]
    return parts


def _range(row: Data, end: str) -> str:
    """One end of the ranges of the coordinates of a joint; none for quaternions, whose numbers say little."""
    if not all(row["units"]):
        return ""
    return ", ".join(_shown(x, unit) for x, unit in zip(row[end], row["units"], strict=True))


def _intervals(row: Data) -> str:
    return ", ".join(_shown(x, _velocity_unit(row, k)) for k, x in enumerate(row["interval"]))


def _velocity_unit(row: Data, k: int) -> str:
    """The unit of velocity k of a joint: lengths come first, quaternions and angles turn."""
    return "m" if k < sum(unit == "m" for unit in row["units"]) else "rad"


def _shown(x: float | None, unit: str) -> str:
    if x is None:
        return "unknown"
    return f"{math.degrees(x):.3g} deg" if unit == "rad" else f"{1e3 * x:.4g} mm"
