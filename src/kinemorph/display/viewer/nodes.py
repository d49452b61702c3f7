"""The nodes of the browser's scene: bodies with their parts, marks, traces, names, the ground.

A figure is a node at its offset; its bodies are children of this node, and parts are children of their bodies. A hidden
layer is made when it is first shown. All changes of one time are sent together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.scenes.figures import CENTER_COLOR, NODE, owner_of
from kinemorph.display.scenes.pose_interpolation import Glide
from kinemorph.display.scenes.scene import (
    LAYERS,
    LOADS,
    WORLD_OWNER,
    Color,
    Figure,
    Flags,
    Layer,
    Mark,
    Part,
    Scene,
    Surface,
    Trace,
)
from kinemorph.display.scenes.spans import Spans
from kinemorph.display.scenes.surfaces import look_surface
from kinemorph.model.parameter import evaluate_all

GAMMA = 2.2  # exponent from screen colors to light
MOST_POINTS = 600  # points of a trace
THICKNESS = 3.0  # width of a trace [pixels]
TOTAL = 2.2  # radius of the ball at the total center of mass, over that of a body's center


def screen(color: Color) -> tuple[int, int, int]:
    """The color of a mesh as RGB from 0 to 255 (sRGB, as on a screen)."""
    r, g, b = (round(255.0 * min(max(x, 0.0), 1.0)) for x in color[:3])
    return r, g, b


def light(color: Color) -> tuple[int, int, int]:
    """The color of a line, or of a mesh in a batch, as linear RGB from 0 to 255."""
    r, g, b = (round(255.0 * min(max(x, 0.0), 1.0) ** GAMMA) for x in color[:3])
    return r, g, b


class Sender:
    """Sends the poses of many nodes quickly.

    Setting the pose of a viser node runs checks that take 40 microseconds and ignores changes below 1e-5; a frame of 50
    bodies would take 4 ms. Sending viser's messages directly takes a tenth of that. Where a version of viser does not
    have these messages, poses are set node by node.
    """

    def __init__(self, api: Any, nodes: Sequence[Any]) -> None:
        self._nodes = nodes
        self._names = [node.name for node in nodes]
        try:
            from viser._messages import SetOrientationMessage, SetPositionMessage

            self._position: Any = SetPositionMessage
            self._orientation: Any = SetOrientationMessage
            self._queue: Any = api._queue_scene_message
        except (ImportError, AttributeError):
            self._queue = None

    def send(self, positions: Array, quaternions: Array) -> None:
        """Sends positions (n, 3) [m] and unit quaternions (n, 4) wxyz of all n nodes to the page."""
        if self._queue is None:
            for node, p, turn in zip(self._nodes, positions, quaternions, strict=True):
                node.position, node.wxyz = p, turn
            return
        for name, p, turn in zip(self._names, positions.tolist(), quaternions.tolist(), strict=True):
            self._queue(self._position(name, tuple(p)))
            self._queue(self._orientation(name, tuple(turn)))


class Way:
    """One trace of a figure: the path of a point up to the current time.

    The line always has the same number of segments; segments of later times have length zero, at the current point.
    For a robot without a run, it is the path of the point since the trace was added.
    """

    def __init__(self, api: Any, name: str, figure: Figure, trace: Trace, shown: bool) -> None:
        self.trace = trace
        self._point = np.array(trace.at.point)
        self._run = len(figure.positions) > 1
        count = len(figure.positions)
        self._frames = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).astype(int))
        way = self._at(figure.positions, figure.quaternions)
        self._way = way[self._frames] if self._run else np.zeros((0, 3))
        color = np.array(light(trace.color), dtype=np.uint8)
        points = self._segments(way[0], 0)
        colors = np.broadcast_to(color, points.shape)
        self._node = api.add_line_segments(
            name, points, colors, thickness=THICKNESS, thickness_units="screen", visible=shown
        )

    def show(self, on: bool) -> None:
        """Shows or hides the trace."""
        self._node.visible = on

    def remove(self) -> None:
        """Removes the trace from the page."""
        self._node.remove()

    def move(self, positions: Array, quaternions: Array, frame: int, part: float) -> None:
        """Draws the path up to time index `frame`, then to the current point.

        The bodies are now at positions (n_b, 3) [m] with unit quaternions (n_b, 4) wxyz.
        """
        now = self._at(positions[None], quaternions[None])[0]
        passed = int(np.searchsorted(self._frames, frame, side="right"))
        if not self._run:
            if len(self._way) and np.allclose(self._way[-1], now, rtol=0.0, atol=1e-9):
                return
            self._way = np.concatenate([self._way, now[None]])[-MOST_POINTS:]
            passed = len(self._way)
        self._node.points = self._segments(now, passed)

    def _segments(self, now: Array, passed: int) -> Array:
        """The segments (n, 2, 3) [m] of the path so far: through its first `passed` points, then to `now` (3,).

        n stays the same while the path grows, as the page expects: unused segments have length zero and lie at `now`.
        """
        points = np.tile(now, (len(self._frames) + 1 if self._run else MOST_POINTS + 1, 1))
        points[:passed] = self._way[:passed]
        segments: Array = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        return segments

    def _at(self, positions: Array, quaternions: Array) -> Array:
        """The traced point (n, 3) [m] at n times; positions (n, n_b, 3) [m], quaternions (n, n_b, 4) wxyz of bodies."""
        owner = self.trace.at.owner
        if owner == WORLD_OWNER:
            return np.tile(self._point, (len(positions), 1))
        return rotated(quaternions[:, owner], np.broadcast_to(self._point, (len(positions), 3))) + positions[:, owner]


class Actor:
    """A figure of the scene as nodes on the page."""

    def __init__(self, server: Any, figure: Figure, name: str) -> None:
        self.figure, self.glide = figure, Glide(figure)
        self._server, self._root = server, f"/{_path(name)}"
        self._api = server.scene
        self._api.add_frame(self._root, show_axes=False, position=tuple(figure.offset))
        self._bodies = [self._api.add_frame(f"{self._root}/{_path(body)}", show_axes=False) for body in figure.bodies]
        self._sender = Sender(self._api, self._bodies)
        self._groups: dict[Layer, list[Any]] = {}
        self._labels: dict[str, list[Any]] = {}
        self._marks = [
            _Bundle(self._api, self._root, number, *bundle) for number, bundle in enumerate(_bundles(figure))
        ]
        self._total: Any = None
        self._shown: set[Layer] = set()
        self._passing: list[tuple[Layer, Any, Flags]] = []  # parts that are shown at some times only
        self.ways: list[Way] = []
        for trace in figure.traces:
            self.add_trace(trace)
        # the poses that were sent last
        self.positions, self.quaternions = figure.positions[0].copy(), figure.quaternions[0].copy()
        self._moment = (0, 0.0)

    # ── layers, names, traces ─────────────────────────────────────────────────────────────────────────────────────

    def show(self, layer: Layer, on: bool) -> None:
        """Shows or hides a layer."""
        (self._shown.add if on else self._shown.discard)(layer)
        if on and layer not in self._groups:
            self._groups[layer] = list(self._made(layer))
        for handle in self._groups.get(layer, ()):
            handle.visible = on
        for bundle in self._marks:
            if bundle.layer == layer:
                bundle.show(on)
        if layer == "traces":
            for way in self.ways:
                way.show(on)
        if on:
            self.refresh()

    def label(self, kind: str, on: bool) -> None:
        """Shows or hides the names of bodies, frames or joints."""
        if on and kind not in self._labels:
            self._labels[kind] = list(self._named(kind))
        for handle in self._labels.get(kind, ()):
            handle.visible = on

    def add_trace(self, trace: Trace) -> None:
        """Adds a trace, unless there is one of the same name already."""
        if all(way.trace.name != trace.name for way in self.ways):
            name = f"{self._root}/trace {_path(trace.name)}"
            self.ways.append(Way(self._api, name, self.figure, trace, "traces" in self._shown))

    def clear_traces(self) -> None:
        """Removes all traces."""
        for way in self.ways:
            way.remove()
        self.ways = []

    # ── poses ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def move(self, positions: Array, quaternions: Array, frame: int = 0, part: float = 0.0) -> None:
        """Sends the poses of all bodies, (n_b, 3) [m] and (n_b, 4), and everything that depends on them.

        `frame` is the index of a time of the scene, `part` the fraction of the time to the next one, from 0 to 1.
        """
        self.positions, self.quaternions = positions, quaternions
        self._moment = (frame, part)
        self._sender.send(positions, quaternions)
        self.refresh()

    def refresh(self) -> None:
        """Sends the marks, traces and center of mass that belong to the current poses, if they are shown."""
        frame, part = self._moment
        for layer, handle, shown in self._passing:
            there = layer in self._shown and bool(shown[frame])
            if handle.visible != there:
                handle.visible = there
        for bundle in self._marks:
            if bundle.layer in self._shown:
                bundle.move(self.positions, self.quaternions, frame, part)
        if "centers" in self._shown and self._total is not None:
            self._total.position = self.center_of_mass
        for way in self.ways:
            way.move(self.positions, self.quaternions, frame, part)

    @property
    def center_of_mass(self) -> Array:
        """The center of mass of all bodies (3,) [m], without the figure's offset."""
        figure = self.figure
        centers = rotated(self.quaternions, figure.centers) + self.positions
        mass = figure.masses.sum()
        center: Array = figure.masses @ centers / mass if mass > 0.0 else centers.mean(axis=0)
        return center

    # ── making nodes ──────────────────────────────────────────────────────────────────────────────────────────────

    def _made(self, layer: Layer) -> Iterator[Any]:
        """Makes the meshes of a layer; parts of one body and one color are merged into one mesh."""
        chosen = [part for part in self.figure.parts if part.layer == layer and len(part.surface.faces)]
        for number, part in enumerate(merged(chosen)):
            handle = self._mesh(f"{self._parent(part.owner)}/{layer} {number}", part)
            if part.shown is not None:
                self._passing.append((layer, handle, part.shown))
            yield handle
        if layer == "centers" and len(self.figure.bodies) > 1 and self.figure.masses.sum() > 0.0:
            ball = look_surface("ball")
            radius = TOTAL * NODE * self.figure.size
            part = Part("center of mass", WORLD_OWNER, ball, CENTER_COLOR, "centers")
            self._total = self._mesh(f"{self._root}/center of mass", part, scale=radius)
            yield self._total

    def _mesh(self, name: str, part: Part, scale: float = 1.0) -> Any:
        return add_mesh(self._api, name, part, scale=scale)

    def _named(self, kind: str) -> Iterator[Any]:
        robot, figure = self.figure.robot, self.figure
        if kind == "bodies":
            places = [(body, number, tuple(figure.centers[number])) for number, body in enumerate(figure.bodies)]
        elif kind == "frames":
            places = [(f.name, owner_of(robot, f.body), evaluate_all(f.placement).p) for f in robot.frames]
        else:
            robots = figure.robots or (robot,)
            joints = {(j.name, j.child): j for one in robots for j in (*one.joints, *one.loops)}.values()
            places = [(j.name, owner_of(robot, j.child), evaluate_all(j.child_placement).p) for j in joints]
        for name, owner, point in places:
            at = tuple(float(x) for x in point)
            yield self._api.add_label(f"{self._parent(owner)}/name of {kind} {_path(name)}", name, position=at)

    def _parent(self, owner: int) -> str:
        return self._root if owner == WORLD_OWNER else str(self._bodies[owner].name)


class _Bundle:
    """All marks of one look, layer and opacity as one node: a batch of copies of one mesh."""

    def __init__(self, api: Any, root: str, number: int, layer: Layer, marks: Sequence[Mark]) -> None:
        self.layer = layer
        self._spans = Spans(marks)
        surface = look_surface(marks[0].look)
        count = len(marks)
        self._node = api.add_batched_meshes_simple(
            f"{root}/{layer} {marks[0].look} {number}",
            surface.points,
            surface.faces,
            np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
            np.zeros((count, 3)),
            batched_scales=np.full((count, 3), 1e-9),
            batched_colors=np.array([light(mark.color) for mark in marks], dtype=np.uint8),
            opacity=None if marks[0].color[3] >= 1.0 else marks[0].color[3],
            lod="off",
            side="double" if marks[0].look == "spring" else "front",
            cast_shadow=layer not in LOADS,
            receive_shadow=False,
            visible=False,
        )

    def show(self, on: bool) -> None:
        self._node.visible = on

    def move(self, positions: Array, quaternions: Array, frame: int, part: float) -> None:
        placed = self._spans.placed(positions, quaternions, frame, part)
        self._node.batched_positions = placed.positions
        self._node.batched_wxyzs = placed.quaternions
        self._node.batched_scales = np.maximum(placed.scales, 1e-9)  # a scale of zero has no inverse


def _bundles(figure: Figure) -> Iterator[tuple[Layer, list[Mark]]]:
    def kind(mark: Mark) -> tuple[str, str, float]:
        return mark.layer, mark.look, mark.color[3]

    for _, marks in groupby(sorted(figure.marks, key=kind), key=kind):
        together = list(marks)
        yield together[0].layer, together


# ── meshes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def merged(parts: Sequence[Part]) -> list[Part]:
    """The parts, merged where they have the same owner and color and are shown at the same times."""
    together: dict[tuple[int, Color, bytes | None], list[Part]] = {}
    for part in parts:
        when = None if part.shown is None else part.shown.tobytes()
        together.setdefault((part.owner, part.color, when), []).append(part)
    return [
        Part(some[0].name, owner, _joined([part.surface for part in some]), color, some[0].layer, some[0].shown)
        for (owner, color, _), some in together.items()
    ]


def _joined(surfaces: Sequence[Surface]) -> Surface:
    starts = np.cumsum([0, *(len(surface.points) for surface in surfaces[:-1])])
    faces = [surface.faces + start for surface, start in zip(surfaces, starts, strict=True)]
    return Surface(
        np.concatenate([surface.points for surface in surfaces]),
        np.concatenate([surface.normals for surface in surfaces]),
        np.concatenate(faces).astype(np.int32),
    )


def add_mesh(api: Any, name: str, part: Part, *, scale: float = 1.0, receive: bool = True) -> Any:
    """Adds a part to the page as a mesh node of that name, enlarged by `scale`.

    `api` is viser's scene; `receive` says whether shadows fall on the part.
    """
    clear = part.color[3] < 1.0
    solid = part.layer == "shapes" and not clear
    return api.add_mesh_simple(
        name,
        part.surface.points,
        part.surface.faces,
        color=screen(part.color),
        opacity=part.color[3] if clear else None,
        side="front" if clear else "double",  # meshes of files may have faces that point inward
        scale=scale,
        cast_shadow=solid,
        receive_shadow=solid and receive,
    )


def _path(name: str) -> str:
    """The name without slashes, so that it is one segment of a node's path."""
    return name.replace("/", "|") or "-"


def actors_of(server: Any, scene: Scene) -> list[Actor]:
    """Adds all figures of a scene to the page, with the layers that are shown by default."""
    actors = [Actor(server, figure, figure.name) for figure in scene.figures]
    for actor in actors:
        for layer in scene.layers:
            if LAYERS[layer].shown:
                actor.show(layer, True)
    return actors
