"""Encodes a scene as one text: a JSON header with names and small data, then all arrays, deflated, in base 64.

The text contains only letters, digits and + / =, so it is safe inside HTML whatever the names in the scene are. A page
that is connected to a server gets the bytes without base 64, and each surface only once (`packed_bytes`).
stage/unpack.js is the inverse; the data that the page gets are described there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.cameras import Camera
from kinemorph.display.replays.codes import Codes
from kinemorph.display.replays.joint_rows import TOLERANCE, coordinate_codes, joint_rows, loop_rows, short
from kinemorph.display.replays.surface_codes import KeyedSurfaceCodes, SurfaceCodes
from kinemorph.display.scenes.scene import LAYERS, Attachment, Color, Figure, Flags, Mark, Part, Scene
from kinemorph.display.scenes.surfaces import look_surface

EFFORT = 3  # of the compression of scenes that are sent at once, from 1 to 9


def pack(scene: Scene, camera: Camera) -> str:
    """The text of a scene and its initial camera, to be decoded by `unpack` in the page."""
    codes = Codes()
    return codes.text(_header(scene, camera, codes, SurfaceCodes(codes)))


def packed_bytes(scene: Scene, camera: Camera, known: set[str], *, most: int | None = None) -> bytes:
    """The bytes of a scene for a page that has shown others before, to be decoded by `unpackBytes` in the page.

    `known` are the content keys of the surfaces that the page has. They are not sent again; those that are sent are
    added. A page that has lost them, because it was loaded again, needs a new set. Where `known` grows beyond `most`,
    the page is asked to forget the surfaces that this scene does not have, and they are removed from `known`.
    """
    codes = Codes()
    surfaces = KeyedSurfaceCodes(codes, known, most)
    return codes.bytes(_header(scene, camera, codes, surfaces), effort=EFFORT)


def _header(scene: Scene, camera: Camera, codes: Codes, surfaces: SurfaceCodes) -> bytes:
    looks = sorted({mark.look for figure in scene.figures for mark in figure.marks})
    header = {
        "title": scene.title,
        "times": _times(scene.times, codes),
        "floor": short(scene.floor),
        "loose": scene.loose,
        "box": [_shorts(corner) for corner in scene.box],
        "notes": list(scene.notes),
        "events": [{"t": event.t, "name": event.name} for event in scene.events],
        "layers": [{"key": key, "label": LAYERS[key].label, "shown": LAYERS[key].shown} for key in scene.layers],
        "looks": {look: surfaces.number(look_surface(look)) for look in looks},
        "grounds": [_part(part, surfaces) for part in scene.grounds],
        "camera": _camera(camera, scene),
        "figures": [_figure(figure, codes, surfaces) for figure in scene.figures],
        "series": [
            {"figure": one.figure, "name": one.name, "unit": one.unit, "values": codes.add_floats(one.values)}
            for one in scene.series
        ],
        "surfaces": surfaces.rows,
        "maps": surfaces.maps(),
        "forget": surfaces.forgotten(),
    }
    text = json.dumps(header, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.encode("utf-8", "replace")  # file names may contain invalid characters


def _camera(camera: Camera, scene: Scene) -> dict[str, Any]:
    """The camera, with the index of the followed body and the index of the first figure that has this body."""
    known = [(k, figure.bodies) for k, figure in enumerate(scene.figures) if camera.follow in figure.bodies]
    number, bodies = known[0] if known else (0, ())
    follow = None if camera.follow is None else bodies.index(camera.follow)
    return {"elevation": camera.elevation, "azimuth": camera.azimuth, "follow": follow, "figure": number}


def _figure(figure: Figure, codes: Codes, surfaces: SurfaceCodes) -> dict[str, Any]:
    numbers, quanta = coordinate_codes(figure.robot, figure.q, figure.size)
    return {
        "name": figure.name,
        "offset": _shorts(figure.offset),
        "turn": figure.turn.tolist(),
        "size": short(figure.size),
        "poseable": figure.poseable,
        "bodies": list(figure.bodies),
        "masses": _shorts(figure.masses),
        "centers": _shorts(figure.centers.ravel()),
        "joints": joint_rows(figure.robot, figure.driven),
        "loops": loop_rows(figure.robot),
        "q": _shorts(figure.q[0], 17),
        "coordinates": {"codes": codes.add(numbers), "quanta": quanta} if len(figure.q) > 1 else None,
        "parts": [_part(part, surfaces) for part in figure.parts],
        "marks": [_mark(mark, figure.size, codes) for mark in figure.marks],
        "traces": [
            {"name": trace.name, **_attachment(trace.at), "color": _shorts(trace.color, 3)} for trace in figure.traces
        ],
    }


def _part(part: Part, surfaces: SurfaceCodes) -> dict[str, Any]:
    return {
        "name": part.name,
        "owner": part.owner,
        "surface": surfaces.number(part.surface),
        "color": _color(part.color),
        "layer": part.layer,
        **_shown(part.shown),
    }


def _mark(mark: Mark, size: float, codes: Codes) -> dict[str, Any]:
    return {
        "name": mark.name,
        "look": mark.look,
        "color": _color(mark.color),
        "width": short(mark.width),
        "layer": mark.layer,
        "start": _attachment(mark.start),
        "end": None if mark.end is None else _attachment(mark.end),
        "vectors": _ways(mark.vectors, size, codes),
        "shifts": _ways(mark.shifts, size, codes),
        **_shown(mark.shown),
    }


def _ways(rows: Array | None, size: float, codes: Codes) -> dict[str, Any] | None:
    """Encodes vectors (n, 3) [m] over time as multiples of a quantum [m]; None without vectors.

    `size` [m] is the extent of the robot.
    """
    if rows is None:
        return None
    quantum = max(TOLERANCE * size, float(np.abs(rows).max(initial=0.0)) / 2.0**30)
    return {"codes": codes.add(np.round(rows / quantum).T), "quantum": quantum}


def _shown(flags: Flags | None) -> dict[str, Any]:
    """The flags as time indices at which they change: shown from the first on, hidden from the second on, and so on."""
    if flags is None:
        return {}
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return {"shown": edges.tolist()}


@lru_cache(maxsize=256)
def _color(color: Color) -> list[float]:
    return _shorts(color, 3)


def _attachment(at: Attachment) -> dict[str, Any]:
    return {"owner": at.owner, "point": _shorts(at.point)}


def _times(times: Array, codes: Codes) -> dict[str, Any]:
    """Encodes times [s]: equally spaced ones as the first, the last and their number, others as their bits."""
    first, last, count = float(times[0]), float(times[-1]), len(times)
    if np.array_equal(times, np.linspace(first, last, count)):
        return {"first": first, "last": last, "count": count}
    halves = np.ascontiguousarray(times, dtype="<f8").view("<i4").reshape(-1, 2)
    return {"bits": codes.add(halves.T)}


def _shorts(values: Sequence[float] | Array, digits: int | None = None) -> list[float]:
    return [short(x) if digits is None else float(f"{float(x):.{digits}g}") for x in values]
