"""Matplotlib figures without a window: made on the Agg canvas directly, so that a user's own backend is never touched.

All pictures share one palette: a body has the same color in the picture of a robot and in the graph of its tree.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.errors import KinemorphError
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import STEEL, Mesh, MeshFile, Shape
from kinemorph.model.topology import WORLD

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure
else:
    Figure = Any  # so that `typing.get_type_hints` works without importing Matplotlib

RGB = tuple[float, float, float]
TINT, LIGHT_GRAY = 0.3, 0.86  # a mesh without a color is gray with this share of its body's color

# one color per number of joints from the ground, then repeated; distinct in gray and for the color-blind
PALETTE: tuple[RGB, ...] = (
    (0.27, 0.38, 0.52),  # slate
    (0.89, 0.55, 0.22),  # amber
    (0.30, 0.60, 0.58),  # teal
    (0.93, 0.76, 0.36),  # straw
    (0.52, 0.45, 0.66),  # violet
    (0.78, 0.38, 0.33),  # brick
)
LONG = 26  # characters of a label on an axis; longer ones are cut in the middle
INK = "#22262b"
PALE = "#8a929c"
GROUND = "#d5dae0"
SHADOW = "#e4e8ec"
FAILURE = "#b3261e"

# lines in a plot, after Okabe and Ito (2008) and Tol (2021): the color-blind can tell them apart
LINES = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"),
    *("#e69f00", "#332288", "#999933", "#882255", "#6b6b6b", "#661100", "#7b3ff2"),
)


# ── texts ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

_speech: ContextVar[Callable[..., str] | None] = ContextVar("speech", default=None)


@contextmanager
def in_language(speech: Callable[..., str]) -> Iterator[None]:
    """Inside of this context, pictures have texts in another language.

    `speech(text, **values)` returns the translation of an English text with values in the places of their names.
    """
    token = _speech.set(speech)
    try:
        yield
    finally:
        _speech.reset(token)


def said(text: str, **values: str | float) -> str:
    """A text of a picture in the language of `in_language`, with values in the places of their names in braces.

    Numbers have four digits, and the sign of decimals of the language.
    """
    speech = _speech.get()
    if speech:
        return speech(text, **values)
    return text.format(**{name: f"{x:.4g}" if isinstance(x, float) else x for name, x in values.items()})


# ── figures ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def shortened(text: str, most: int = LONG) -> str:
    """A text of a picture, cut in the middle to `most` characters, because names differ at their ends; dollar signs are
    no formulas.
    """
    if len(text) > most:
        front = (most - 1) // 2
        text = f"{text[:front]}…{text[len(text) - (most - 1 - front) :]}"
    return text.replace("$", r"\$")


def blank(width: float, height: float, dpi: float = 110.0) -> Figure:
    """An empty white figure, `width` times `height` [inch]. Notebooks show it with any Matplotlib backend.

    `dpi` is its resolution [pixels/inch]. Older versions of Matplotlib forget in pickling one that is set later.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(width, height), dpi=dpi, facecolor="white")
    FigureCanvasAgg(figure)
    figure._repr_png_ = partial(png_of, figure)  # on the instance, as a subclass would import Matplotlib
    shown: Figure = figure
    return shown


def png_of(figure: Figure) -> bytes:
    """A figure as the bytes of a PNG."""
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": "kinemorph"})
    return file.getvalue()


def small_png_of(figure: Figure, colors: int = 200) -> bytes:
    """A figure as the bytes of a PNG with a palette of some colors, for pages: a fraction of the size."""
    from PIL import Image

    file = io.BytesIO()
    with Image.open(io.BytesIO(png_of(figure))) as picture:
        small = picture.convert("RGB").quantize(colors, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        small.save(file, "PNG", optimize=True)
    return file.getvalue()


def save(figure: Figure, path: Path | str) -> Path:
    """Writes a figure to a file and returns its path; a missing folder is made. The file's suffix gives the format."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Software": "kinemorph"} if path.suffix == ".png" else None)
    except OSError as error:
        reason = error.strerror or str(error)
        raise KinemorphError(f"cannot write '{path}': {reason}. Choose another folder or file name.") from error
    except ValueError as error:
        raise KinemorphError(f"cannot write '{path}': {error}. Use a name that ends in .png, .svg or .pdf.") from error
    return path


def plain_axes(axes: Any) -> None:
    """Gives Matplotlib axes the style of all plots: lines left and below, a faint grid, small numbers."""
    from matplotlib.ticker import MaxNLocator

    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(PALE)
    axes.grid(True, color=SHADOW, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, colors=PALE, labelcolor=INK, length=2.5)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))


def factor_out(axes: Any) -> None:
    """Moves the power of ten of very small or large tick labels into the label of the y axis: energy [10⁻⁸ J].

    An axis without a label, as beside others of its row, has it above at the right, where no title is; one without
    numbers, which are those of the first in its row, has none.
    """
    from matplotlib.ticker import FuncFormatter

    largest = max(map(abs, axes.get_ylim()))
    power = math.floor(math.log10(largest)) if 0.0 < largest < math.inf else 0
    if axes.get_yscale() != "linear" or -3 < power < 5:
        return
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y / 10.0**power:g}".replace("-", "\N{MINUS SIGN}")))
    written = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    if "[" in axes.get_ylabel():
        axes.set_ylabel(axes.get_ylabel().replace("[", f"[10{written} "))
    elif axes.yaxis.get_tick_params()["labelleft"]:
        above = {"xycoords": "axes fraction", "va": "bottom", "ha": "right", "fontsize": 7, "color": INK}
        axes.annotate(f"\N{MULTIPLICATION SIGN} 10{written}", (1.0, 1.0), **above)


def units_of(unit: str) -> str:
    """A unit as written on an axis, such as m/s²; a dash for no unit."""
    return raised(unit) or "–"


def raised(unit: str) -> str:
    """A unit with raised powers, such as m/s² for m/s^2."""
    return unit.replace("^2", "²").replace("^3", "³")


def legible(fill: RGB) -> str:
    """The text color, white or dark, that is easier to read on the color `fill`."""
    return "white" if 0.3 * fill[0] + 0.59 * fill[1] + 0.11 * fill[2] < 0.62 else INK


def depth_colors(robot: Robot) -> dict[str, RGB]:
    """A color for every body, {name: RGB}, by its number of moving joints from the ground.

    Each of the few bodies of a linkage, a robot with loops, has its own color.
    """
    if robot.loops and len(robot.bodies) <= len(PALETTE):
        return dict(zip(robot.body_names, PALETTE, strict=False))
    depths = {WORLD: -1}
    for joint in robot.order:
        depths[joint.child] = depths[joint.parent] + (1 if joint.motion.nv or joint.parent == WORLD else 0)
    return {body: PALETTE[max(depth, 0) % len(PALETTE)] for body, depth in depths.items() if body != WORLD}


def own_color(shape: Shape, depth_color: RGB) -> RGB:
    """The shape's own color; where it has none, `depth_color`, or for a mesh gray tinted with `depth_color`."""
    if shape.color[:3] != STEEL:
        red, green, blue = shape.color[:3]
        return red, green, blue
    if not isinstance(shape, (Mesh, MeshFile)):
        return depth_color
    red, green, blue = (TINT * x + (1.0 - TINT) * LIGHT_GRAY for x in depth_color)
    return red, green, blue
