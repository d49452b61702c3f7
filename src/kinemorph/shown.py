"""The one door upward: methods of models and results whose functions live in rooms above them.

A class that inherits from `Shown` has a card in notebooks; `display.notebooks.card_of` is a `singledispatch` function,
so a type of your own gets a card by `card_of.register`. `ShownRuns` adds what one does with runs at once. Each method
forwards to the function of its name, which is the definition. No other file imports a room above its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Shown:
    """Something that a notebook shows as a card."""

    def _repr_html_(self) -> str:
        """The card that notebooks show; see `display.notebooks.card_of`."""
        from kinemorph.display.notebooks.card_of import card_of

        return card_of(self)


class ShownEquations(Shown):
    """A derived model: where it is small, notebooks that are printed show its equations."""

    def _repr_latex_(self) -> str | None:
        """The equations of motion of a small robot; see `display.notebooks.model_cards.dynamics_latex`."""
        from kinemorph.display.notebooks.model_cards import dynamics_latex

        return dynamics_latex(self)  # type: ignore[arg-type]


class ShownRuns(Shown):
    """One run or a batch of runs, which can be shown."""

    def plot(self, *columns: str, **options: Any) -> Any:
        """Plots columns over time; see `display.charts.plot.plot`."""
        from kinemorph.display.charts.plot import plot

        return plot(self, *columns, **options)  # type: ignore[arg-type]

    def animate(self, path: str | Path, **options: Any) -> Any:
        """Writes the motion as a gif or mp4; see `display.painting.animate.animate`."""
        from kinemorph.display.painting.animate import animate

        return animate(self, path, **options)  # type: ignore[arg-type]

    def replay(self, path: str | Path | None = None, **options: Any) -> Any:
        """Makes a page that plays the motion in any browser; see `display.replays.replay.replay`."""
        from kinemorph.display.replays.replay import replay

        return replay(self, path, **options)  # type: ignore[arg-type]

    def view(self, **options: Any) -> Any:
        """Shows the motion in the browser, from a server on this computer; see `display.viewer.view.view`."""
        from kinemorph.display.viewer.view import view

        return view(self, **options)  # type: ignore[arg-type]


class ShownRun(ShownRuns):
    """A run that can be saved and shown."""

    def save(self, path: str | Path) -> Path:
        """Writes the run into a file, .npz, .h5, .csv or .res; see `simulation.files.storage.save_trajectory`."""
        from kinemorph.simulation.files.storage import save_trajectory

        return save_trajectory(self, path)  # type: ignore[arg-type]
