"""Where markers sit on a robot: a frame or a body for each marker, or a place on a body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.groups import translation
from kinemorph.analysis.tracking.markers import Markers
from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.model.robot import Frame, Robot
from kinemorph.words import did_you_mean, listed, quoted

Attachment = str | tuple[str, Sequence[float]] | None


class Attached(NamedTuple):
    """The robot with a frame for each marker, the names of these frames, and the markers that have one."""

    robot: Robot
    frames: tuple[str, ...]
    markers: Markers


def attach(robot: Robot, markers: Markers, attachments: Mapping[str, Attachment] | None) -> Attached:
    """The frames of all markers. A marker without attachment belongs to the frame or body of its own name.

    `attachments` maps the name of a marker to the name of a frame or body, to (body, offset [m] in its frame), or to
    None, which leaves the marker out.
    """
    if robot.loops or robot.driven:
        kind, names = ("closed loops", robot.loops) if robot.loops else ("driven joints", robot.driven)
        raise UnsupportedError(
            f"track: robot '{robot.name}' has {kind} ({quoted([joint.name for joint in names])}); expected a tree of "
            "joints that move by themselves. Track the robot without these joints."
        )
    given = dict(attachments or {})
    for name in given:
        if name not in markers.names:
            raise ShapeError(
                f"track: attachments name the marker '{name}', which the recording does not have."
                f"{did_you_mean(name, markers.names)} Its markers: {listed(markers.names, 40)}."
            )
    known = {"world", *robot.body_names, *(frame.name for frame in robot.frames)}
    lacking = [name for name in markers.names if name not in given and name not in known]
    if lacking:
        first = lacking[0]
        others = f" (and of {len(lacking) - 1} further markers)" if len(lacking) > 1 else ""
        raise ModelError(
            f"track: robot '{robot.name}' has no frame or body named '{first}', the name of a marker{others}."
            f"{did_you_mean(first, known)} Say where it sits with attachments={{'{first}': 'a frame'}}, or leave it "
            f"out with attachments={{'{first}': None}}."
        )
    frames, added, kept = [], [], []
    for name in markers.names:
        place = given.get(name, name)
        if place is None:
            continue
        kept.append(name)
        if isinstance(place, str):
            robot.frame(place)  # raises where there is no such frame
            frames.append(place)
            continue
        body, offset = _place(name, place)
        label = f"marker {name}"
        added.append(Frame(label, robot.frame(body).body, translation(offset)))
        frames.append(label)
    if not kept:
        raise ShapeError("track: no marker is attached to the robot; expected at least one. Give attachments.")
    moved = replace(robot, frames=(*robot.frames, *added)) if added else robot
    return Attached(moved, tuple(frames), markers if len(kept) == len(markers.names) else markers.only(kept))


def _place(name: str, place: object) -> tuple[str, tuple[float, ...]]:
    """The body and the offset of an attachment; raises ShapeError where it is something else."""
    body: object = None
    numbers: tuple[float, ...] = ()
    if isinstance(place, Sequence) and len(place) == 2:
        body = place[0]
        with suppress(TypeError, ValueError):
            numbers = tuple(float(x) for x in place[1])
    if len(numbers) != 3 or not isinstance(body, str) or not np.isfinite(numbers).all():
        raise ShapeError(
            f"track: the attachment of marker '{name}' is {place!r:.60}; expected the name of a frame or body, or "
            "(body, (x, y, z)) with the place [m] in the frame of the body."
        )
    return body, numbers
