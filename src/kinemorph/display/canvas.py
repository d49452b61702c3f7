"""Matplotlib figures without a window: made on the Agg canvas directly, so that a user's own backend is never touched.

The palette is shared by all pictures: what has one color in the drawing of a robot has it in the graph of its tree.
"""

from __future__ import annotations

import io
import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.errors import KinemorphError
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import STEEL, Mesh, MeshFile, Shape
from kinemorph.model.topology import WORLD

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RGB = tuple[float, float, float]
TINT, LIGHT_GRAY = 0.3, 0.86  # of meshes without a color

# one color per distance from the ground, then around again; distinct in gray and for the color-blind
PALETTE: tuple[RGB, ...] = (
    (0.27, 0.38, 0.52),  # slate
    (0.89, 0.55, 0.22),  # amber
    (0.30, 0.60, 0.58),  # teal
    (0.93, 0.76, 0.36),  # straw
    (0.52, 0.45, 0.66),  # violet
    (0.78, 0.38, 0.33),  # brick
)
INK = "#22262b"
PALE = "#8a929c"
GROUND = "#d5dae0"
SHADOW = "#e4e8ec"
FAILURE = "#b3261e"

# lines in a plot, after Okabe and Ito (2008) and Tol (2021): the color-blind tell them apart as well
LINES = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"),
    *("#e69f00", "#332288", "#999933", "#882255", "#6b6b6b"),
)


def blank(width: float, height: float) -> Figure:
    """An empty white figure of a size in inches. Notebooks show it as it is, whatever backend they have."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(width, height), dpi=110, facecolor="white")
    FigureCanvasAgg(figure)
    figure._repr_png_ = partial(png_of, figure)  # of this figure alone: a class of our own would import Matplotlib here
    shown: Figure = figure
    return shown


def png_of(figure: Figure) -> bytes:
    """A figure as the bytes of a PNG."""
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": "kinemorph"})
    return file.getvalue()


def save(figure: Figure, path: Path | str) -> Path:
    """Writes a figure to a file; a missing folder is made. The ending of the name gives the format."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Software": "kinemorph"} if path.suffix == ".png" else None)
    except OSError as error:
        reason = error.strerror or str(error)
        raise KinemorphError(f"cannot write '{path}': {reason}. Choose another place.") from error
    except ValueError as error:
        raise KinemorphError(f"cannot write '{path}': {error}. Use a name that ends in .png, .svg or .pdf.") from error
    return path


def plain_axes(axes: Any) -> None:
    """Axes as all plots have them: two sides, a faint grid, small numbers."""
    from matplotlib.ticker import MaxNLocator

    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(PALE)
    axes.grid(True, color=SHADOW, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, colors=PALE, labelcolor=INK, length=2.5)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))


def factor_out(axes: Any) -> None:
    """Moves a power of ten of very small or large numbers into the name of a y axis: energy [10⁻⁸ J]."""
    from matplotlib.ticker import FuncFormatter

    largest = max(map(abs, axes.get_ylim()))
    power = math.floor(math.log10(largest)) if 0.0 < largest < math.inf else 0
    if axes.get_yscale() != "linear" or -4 < power < 5:
        return
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y / 10.0**power:g}".replace("-", "\N{MINUS SIGN}")))
    written = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    axes.set_ylabel(axes.get_ylabel().replace("[", f"[10{written} "))


def units_of(unit: str) -> str:
    """A unit as it stands on an axis: m/s², a dash where there is none."""
    return unit.replace("^2", "²").replace("^3", "³") or "–"


def legible(fill: RGB) -> str:
    """Black or white, whichever is read more easily on a color."""
    return "white" if 0.3 * fill[0] + 0.59 * fill[1] + 0.11 * fill[2] < 0.62 else INK


def depth_colors(robot: Robot) -> dict[str, RGB]:
    """A color for every body by its number of moving joints from the ground."""
    depths = {WORLD: -1}
    for joint in robot.order:
        depths[joint.child] = depths[joint.parent] + (1 if joint.nv or joint.parent == WORLD else 0)
    return {body: PALETTE[max(depth, 0) % len(PALETTE)] for body, depth in depths.items() if body != WORLD}


def own_color(shape: Shape, depth_color: RGB) -> RGB:
    """The color of a shape, or the color of its body's depth where it has none, which only tints the gray of a mesh."""
    if shape.color[:3] != STEEL:
        red, green, blue = shape.color[:3]
        return red, green, blue
    if not isinstance(shape, (Mesh, MeshFile)):
        return depth_color
    red, green, blue = (TINT * x + (1.0 - TINT) * LIGHT_GRAY for x in depth_color)
    return red, green, blue
