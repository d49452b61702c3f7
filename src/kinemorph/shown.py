"""Methods of models and results that call functions of higher layers, such as plotting and saving.

An object of a class that inherits from `Shown` is shown in notebooks as a card, a short HTML summary.
A class of your own with a method `sheet`, which returns a `kinemorph.sheet.Sheet`, is shown by every face.
`ShownSystem` adds a method that carries out runs, `ShownRuns` methods to plot and show them, `ShownRun` one to save a
run; `ShownOrbits`, `ShownGaits`, `ShownStances` and all others have one to plot themselves. Each method only calls the
function named in its docstring. This is the only file that imports from layers above its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Shown:
    """A base class for objects that a notebook shows as a card, a short HTML summary.

    A class with a method `sheet`, which says what there is to show, is also printed by it.
    """

    def _repr_html_(self) -> str:
        """The card of this object as HTML; see `display.notebooks.card_of`."""
        from kinemorph.display.notebooks.card_of import card_of

        return card_of(self)

    def __str__(self) -> str:
        """The sheet as plain text; where there is none, the `repr`."""
        from kinemorph.display.faces.terminal import text_of

        return text_of(self.sheet()) if hasattr(self, "sheet") else repr(self)


class ShownSystem(Shown):
    """A base class for systems, whose planned runs can be carried out."""

    def run(self, plan: Any = None, **options: Any) -> Any:
        """Carries out a run of the model file by its name, or one with given options: `system.run({"time": 2.0})`.

        See `simulation.planned_run.run_planned`.
        """
        from kinemorph.simulation.planned_run import run_planned

        return run_planned(self, plan, **options)  # type: ignore[arg-type]


def library_names() -> tuple[list[str], list[str]]:
    """The names of the robots and of the systems of the library, for messages about a model that is named."""
    from kinemorph.model.library import LIBRARY, SYSTEMS

    return [*LIBRARY], [*SYSTEMS]


class ShownEquations(Shown):
    """A base class for derived models: a notebook exported to LaTeX shows the equations of a small model."""

    def _repr_latex_(self) -> str | None:
        """The equations of motion of a small robot as LaTeX; see `display.notebooks.model_cards.dynamics_latex`."""
        from kinemorph.display.notebooks.model_cards import dynamics_latex

        return dynamics_latex(self)  # type: ignore[arg-type]

    def export(self, language: str, path: str | Path = ".", **options: Any) -> tuple[Path, ...]:
        """Writes the functions as source code and returns the paths written: `dynamics.export("c", "arm.c")`.

        `language`   "c" (whose header C++ includes; also "cpp"), "cuda", "python", "matlab" or "sympy"
        `path`       a file, after which all files are named, or a folder
        `functions`  names of functions; by default those of `derive`'s summary: mass matrix, inverse dynamics ...

        Parameters that were named to `derive` are inputs. See `display.exports.dynamics_export`.
        """
        from kinemorph.display.exports.dynamics_export import export_dynamics

        return export_dynamics(self, language, path, **options)  # type: ignore[arg-type]

    def to_sympy(self, function: str = "inverse_dynamics", **options: Any) -> Any:
        """A function as SymPy matrix or expression, with the names of parameters: `dynamics.to_sympy("mass_matrix")`.

        `constants="exact"` makes numbers rational. See `display.exports.dynamics_export.sympy_of`.
        """
        from kinemorph.display.exports.dynamics_export import sympy_of

        return sympy_of(self, function, **options)  # type: ignore[arg-type]


class ShownRuns(Shown):
    """A base class for a run, or a batch of runs, that can be plotted and shown."""

    def plot(
        self,
        *columns: str | Sequence[str],
        compare: Any = None,
        overlay: str | Sequence[str] = (),
        name: str | None = None,
        difference: bool = False,
        degrees: bool = False,
        title: str | None = None,
        path: Path | str | None = None,
    ) -> Any:
        """Plots columns of the run over time, and returns a Matplotlib Figure; see `display.charts.plot.plot`.

        `columns`      names ("q.elbow"), groups ("q", "v", "a", "u", "tau", "x", "y", "energy") or patterns
                       ("q.leg1*"), one by one or in lists; by default q, v, states of elements, and energies
        `compare`      further runs of the same system, by name, {"rk4": other}, or in a list
        `overlay`      columns to draw dashed over those of the same unit, on the same axes, such as references
        `name`         the name of this run beside the others; its integration method by default
        `difference`   also plots the difference of each further run from the first, on a log scale
        `degrees`      shows angles in degrees
        `path`         a file to write, .png, .svg or .pdf; a missing folder is made
        """
        from kinemorph.display.charts.plot import plot

        options: dict[str, Any] = {"compare": compare, "overlay": overlay, "name": name, "difference": difference}
        options |= {"degrees": degrees, "title": title, "path": path}
        return plot(self, *columns, **options)  # type: ignore[arg-type]

    def animate(self, path: str | Path, **options: Any) -> Any:
        """Writes the motion as a gif or mp4; see `display.painting.animate.animate`."""
        from kinemorph.display.painting.animate import animate

        return animate(self, path, **options)  # type: ignore[arg-type]

    def replay(self, path: str | Path | None = None, **options: Any) -> Any:
        """Makes an HTML page that plays the motion in any browser; see `display.replays.replay.replay`."""
        from kinemorph.display.replays.replay import replay

        return replay(self, path, **options)  # type: ignore[arg-type]

    def view(self, **options: Any) -> Any:
        """Shows the motion in the browser, from a server on this computer; see `display.viewer.view.view`."""
        from kinemorph.display.viewer.view import view

        return view(self, **options)  # type: ignore[arg-type]


class ShownReplay:
    """A base class for replays, which a notebook can show live."""

    def widget(self, *, height: int | None = None) -> Any:
        """A live widget for a notebook, of a height [px]; see `display.notebooks.stage_widget.StageWidget`.

        It needs the extra [notebook].
        """
        from kinemorph.display.notebooks.stage_widget import HEIGHT, StageWidget

        return StageWidget(self, height=HEIGHT if height is None else height)  # type: ignore[arg-type]


class ShownOrbits(Shown):
    """A base class for orbits, branches of orbits, bifurcation diagrams and basins, which can be plotted."""

    def plot(self, **options: Any) -> Any:
        """A Matplotlib Figure of this result; `display.charts.orbit_plots` lists the options."""
        from kinemorph.display.charts.orbit_plots import plot_of

        return plot_of(self, **options)


class ShownGaits(Shown):
    """A base class for optimal gaits, static gaits and libraries of gaits, which can be plotted."""

    def plot(self, **options: Any) -> Any:
        """A Matplotlib Figure of this result; `display.charts.gait_plots` lists the options."""
        from kinemorph.display.charts.gait_plots import plot_of_gait

        return plot_of_gait(self, **options)


class ShownStances(Shown):
    """A base class for the stances of a legged run, which can be plotted."""

    def plot(self, **options: Any) -> Any:
        """A Matplotlib Figure of the ground forces of each leg over its stances; see `display.charts.legs`."""
        from kinemorph.display.charts.legs.stance_plots import plot_stances

        return plot_stances(self, **options)  # type: ignore[arg-type]


class ShownStanding(Shown):
    """A base class for the curve of how a legged system stands, which can be plotted."""

    def plot(self, **options: Any) -> Any:
        """A Matplotlib Figure of efforts and reactions over the stiffness of the posture; see `display.charts.legs`."""
        from kinemorph.display.charts.legs.standing_plots import plot_standing

        return plot_standing(self, **options)  # type: ignore[arg-type]


class ShownExcitation(Shown):
    """A base class for exciting motions, which can be plotted."""

    def plot(self, **options: Any) -> Any:
        """A Matplotlib Figure of the motion and its limits; see `display.charts.excitation_plots.plot_excitation`."""
        from kinemorph.display.charts.excitation_plots import plot_excitation

        return plot_excitation(self, **options)  # type: ignore[arg-type]


class ShownIdentification(Shown):
    """A base class for identified parameters, which can be plotted."""

    def plot(self, what: str = "forces", **options: Any) -> Any:
        """A Matplotlib Figure; see `display.charts.identification_plots.plot_identified`.

        `what` is "forces" (measured and predicted), "parameters" (with their intervals) or "residuals" (their spectrum
        and autocorrelation).
        """
        from kinemorph.display.charts.identification_plots import plot_identified

        return plot_identified(self, what, **options)  # type: ignore[arg-type]


class ShownTracking(Shown):
    """A base class for motions that follow recorded markers, which can be plotted."""

    def plot(self, what: str = "motion", **options: Any) -> Any:
        """A Matplotlib Figure; see `display.charts.tracking.tracking_plots.plot_tracked`.

        `what` is "motion" (the model over the markers), "angles" (with their intervals) or "residuals" (by marker and
        over time).
        """
        from kinemorph.display.charts.tracking.tracking_plots import plot_tracked

        return plot_tracked(self, what, **options)  # type: ignore[arg-type]


class ShownOptimized(Shown):
    """A base class for optimized designs, which can be plotted."""

    def plot(self, **options: Any) -> Any:
        """A Matplotlib Figure of all designs that were measured; see `display.charts.optimizing.plot_optimized`."""
        from kinemorph.display.charts.optimizing.plot_optimized import plot_optimized

        return plot_optimized(self, **options)  # type: ignore[arg-type]


class ShownStudy(Shown):
    """A base class for studies, Monte Carlo estimates and sensitivities, which can be plotted."""

    def plot(
        self,
        kind: str | None = None,
        measure: str | None = None,
        *,
        where: Any = None,
        path: Path | str | None = None,
        **options: Any,
    ) -> Any:
        """A Matplotlib Figure; see `display.charts.studies.plot_study.plot_study`.

        `kind`       "curve", "map", "parallel", "convergence" or "histogram"; of sensitivities also "sensitivity". By
                     default the one that suits the study
        `measure`    its name; by default the first one
        `where`      {part: value}: only items with these values
        `path`       a file to write, .png, .svg or .pdf
        `options`    of a kind: x, y, of, largest, log, parts, title
        """
        from kinemorph.display.charts.studies.plot_study import plot_study

        return plot_study(self, kind, measure, where=where, path=path, **options)  # type: ignore[arg-type]

    def page(self, path: Path | str, **options: Any) -> Path:
        """Writes an HTML page with pictures, estimates, a table of items and replays of kept runs; returns its path.

        See `display.study_pages.study_page.write_study_page`.
        """
        from kinemorph.display.study_pages.study_page import write_study_page

        return write_study_page(self, path, **options)  # type: ignore[arg-type]


class ShownStudyItem(ABC):
    """A base class for an item of a study, whose run can be shown."""

    @abstractmethod
    def run(self) -> Any:
        """The run of the item, loaded or computed again."""

    def replay(self, path: str | Path | None = None, **options: Any) -> Any:
        """Makes an HTML page that plays the run of the item; see `display.replays.replay.replay`."""
        item: Any = self
        return self.run().replay(path, **{"title": item.title, **options})

    def plot(self, *columns: str | Sequence[str], **options: Any) -> Any:
        """Plots columns of the run of the item over time; see `display.charts.plot.plot`."""
        return self.run().plot(*columns, **options)


class ShownRun(ShownRuns):
    """A base class for runs that can be saved, plotted and shown."""

    def save(self, path: str | Path, *, columns: Sequence[str] = ()) -> Path:
        """Saves the run in an .npz, .h5, .csv or .res file; see `simulation.files.storage.save_trajectory`."""
        from kinemorph.simulation.files.storage import save_trajectory

        return save_trajectory(self, path, columns=columns)  # type: ignore[arg-type]


class ShownBatch(ShownRuns):
    """A base class for batches of runs that can be saved, plotted and shown."""

    def save(self, path: str | Path) -> Path:
        """Saves the batch in an .npz or .h5 file: its states, inputs, parameters and outcomes; returns the path."""
        from kinemorph.simulation.files.storage import save_batch

        return save_batch(self, path)  # type: ignore[arg-type]

    @staticmethod
    def load(path: str | Path, model: Any = None) -> Any:
        """The batch of a file. With the `model` that was simulated, it has all columns; without it, its states only."""
        from kinemorph.simulation.files.storage import load_batch

        return load_batch(path, model)
