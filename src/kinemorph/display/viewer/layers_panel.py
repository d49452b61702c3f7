"""The panel of layers, names and traces, with notes about scales and about parts that cannot be shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from kinemorph.display.scenes.building import TRACE_COLORS, traces_of
from kinemorph.display.scenes.scene import LAYERS, Layer, Scene, Trace
from kinemorph.display.viewer.nodes import Actor
from kinemorph.errors import UnsupportedError
from kinemorph.words import did_you_mean, listed

NOBODY = "add ..."  # entry of the dropdown while no point is chosen
NAMES = {"bodies": "body", "frames": "frame", "joints": "joint"}


class Showing:
    """Shows and hides the layers, names and traces of a scene on the page; `layers` says which layers are shown."""

    def __init__(self, scene: Scene, actors: list[Actor], grid: Any) -> None:
        self.scene, self._actors, self._grid = scene, actors, grid
        shown = {layer: LAYERS[layer].shown for layer in scene.layers}
        self.layers: dict[Layer, bool] = shown | {"traces": True}
        self._boxes: dict[str, Any] = {}
        for actor in actors:
            actor.show("traces", True)

    def build(self, gui: Any, guarded: Callable[[Callable[[Any], None]], Callable[[Any], None]]) -> None:
        """Adds the checkboxes and the list of traces to the page; `guarded` wraps their event handlers."""
        with gui.add_folder("Layers"):
            for layer, on in self.layers.items():
                box = self._boxes[layer] = gui.add_checkbox(LAYERS[layer].label, on)
                box.on_update(guarded(lambda event, layer=layer, box=box: self.set(layer, box.value)))  # type: ignore[misc]
            floor = gui.add_checkbox("grid", True)
            floor.on_update(guarded(lambda event: setattr(self._grid, "visible", floor.value)))
            for kind in NAMES:
                named = gui.add_checkbox(f"{NAMES[kind]} names", False)
                named.on_update(guarded(lambda event, kind=kind, box=named: self.label(kind, box.value)))  # type: ignore[misc]
        with gui.add_folder("Traces"):
            chosen = gui.add_dropdown("Point", (NOBODY, *self.points))
            clear = gui.add_button("Clear")

        def added(event: Any) -> None:
            if chosen.value != NOBODY:
                self.add_trace(chosen.value)
                chosen.value = NOBODY

        chosen.on_update(guarded(added))
        clear.on_click(guarded(lambda event: self.clear_traces()))

    def build_notes(self, gui: Any) -> None:
        """Adds the notes of the scene to the page: failed runs, scales of arrows, meshes that cannot be shown."""
        if self.scene.notes:
            with gui.add_folder("Notes"):
                gui.add_markdown("\n".join(f"- {plain(note)}" for note in self.scene.notes))

    def set(self, layer: Layer, on: bool) -> None:
        """Shows or hides a layer of all figures."""
        if layer not in self.layers:
            raise UnsupportedError(
                f"there is no layer '{layer}' in this scene; expected one of: {listed(self.layers)}."
                + did_you_mean(layer, self.layers)
            )
        self.layers[layer] = on
        for actor in self._actors:
            actor.show(layer, on)
        if layer in self._boxes:
            self._boxes[layer].value = on

    def label(self, kind: str, on: bool) -> None:
        """Shows or hides the names of "bodies", "frames" or "joints"."""
        for actor in self._actors:
            actor.label(kind, on)

    def clear_traces(self) -> None:
        """Removes all traces."""
        for actor in self._actors:
            actor.clear_traces()

    @property
    def points(self) -> tuple[str, ...]:
        """The names of all frames and bodies, whose paths can be drawn."""
        names = (name for actor in self._actors for name in _points(actor))
        return tuple(dict.fromkeys(names))

    def add_trace(self, name: str) -> None:
        """Draws the path of a body or frame in every figure that has it."""
        if name not in self.points:
            raise UnsupportedError(
                f"there is no body or frame '{name}' to trace; expected one of: {listed(self.points)}."
                + did_you_mean(name, self.points)
            )
        for actor in self._actors:
            if name in _points(actor):
                trace = next(traces_of(actor.figure.robot, [name]))
                color = TRACE_COLORS[len(actor.ways) % len(TRACE_COLORS)]
                actor.add_trace(Trace(trace.name, trace.at, color))
                actor.refresh()


def _points(actor: Actor) -> list[str]:
    robot = actor.figure.robot
    return [*(frame.name for frame in robot.frames), *robot.body_names]


def plain(text: str) -> str:
    """A sentence with the special characters of Markdown escaped, so that names in it are shown unchanged."""
    return re.sub(r"[<>{}*_`\\\[\]]", lambda sign: f"&#{ord(sign[0])};", text)
