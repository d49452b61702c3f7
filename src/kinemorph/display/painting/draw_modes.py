"""Pictures of mode shapes side by side: the robot at rest, and displaced in both directions along each mode.

A mode shape has no amplitude of its own. It is scaled until some point of the robot moves by the fraction SWAY of the
robot's extent, or a joint turns by LARGEST_ANGLE. A plant without a robot gets bars instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.poles import Poles
from kinemorph.display.cameras import CameraChoice
from kinemorph.display.canvas import INK, LINES, PALE, Figure, blank, plain_axes, save
from kinemorph.display.painting.painter import Painter
from kinemorph.display.painting.triangles import Cast
from kinemorph.display.painting.view_window import window_of
from kinemorph.display.scenes.building import staged
from kinemorph.display.scenes.figures import figure_of
from kinemorph.errors import UnsupportedError
from kinemorph.model.configuration import integrate
from kinemorph.model.robot import Robot

SWAY = 0.16  # the largest displacement of a point, as a fraction of the robot's extent
LARGEST_ANGLE = 0.7  # of any joint [rad]
FADES = (0.86, 0.62, 0.0)  # share of white: at rest, displaced against the mode, displaced along the mode
NOTHING = 1e-6  # a pole below this fraction of the largest one counts as zero
KEY = "full color: displaced along the mode; paler: opposite; palest: at rest"
MOST = 12  # largest number of modes in one picture
DPI = 150.0  # resolution of the rendered robots [pixels/inch]


def draw_modes(
    poles: Poles,
    n: int | Sequence[int] = 6,
    *,
    camera: CameraChoice = None,
    title: str | None = None,
    path: Path | str | None = None,
) -> Figure:
    """A figure with a small picture of the robot for each mode shape, displaced and at rest.

    It is in full color displaced along the mode, paler displaced in the opposite direction, and palest at rest.

    `n`        how many modes, from the lowest frequency on; or their numbers, counted from 1 as in the table of poles
    `camera`   "front", "left", ... or (elevation, azimuth) [deg]; by default straight at a plane of motion
    """
    numbers = _numbers(poles, n)
    robot = poles.plant.robot
    if robot is None:
        figure = _bars(poles, numbers)
    else:
        figure = _portraits(poles, robot, numbers, camera)
    name = poles.plant.name.replace("_", " ")
    heading = f"mode shapes of {name}" if title is None else title
    height = figure.get_figheight()
    figure.text(0.25 / figure.get_figwidth(), 1.0 - 0.28 / height, heading, fontsize=13, color=INK, va="center")
    if path is not None:
        save(figure, path)
    return figure


def mode_caption(poles: Poles, number: int) -> str:
    """The caption of a mode: its number, frequency and damping ratio."""
    value = complex(poles.values[number - 1])
    if abs(value) <= NOTHING * float(np.abs(poles.values).max()):
        return f"{number}: free"
    if value.imag <= 0.0:
        return f"{number}: λ = {value.real:.4g} 1/s".replace("-", "\N{MINUS SIGN}")
    ratio = float(poles.damping_ratio[number - 1])
    damping = f", ζ {ratio:.2g}" if abs(ratio) > 1e-9 else ""
    return f"{number}: {value.imag / (2.0 * np.pi):.3g} Hz{damping}"


def bent(poles: Poles, number: int, phases: Sequence[float]) -> Array:
    """The configurations (n, nq) of a robot at n phases [rad] of the oscillation in a mode (`number` from 1)."""
    robot = poles.plant.robot
    if robot is None:
        raise UnsupportedError(f"'{poles.plant.name}' has no robot to draw. Use draw_modes, which draws bars instead.")
    return swung(robot, poles.q, poles.shapes[number - 1], poles.units, phases)


def swung(robot: Robot, q: Array, shape: Any, units: Sequence[str], phases: Sequence[float]) -> Array:
    """The configurations (n, nq) of a robot that swings about q, shape (nq,), at n phases [rad].

    `shape` (nv,) is a mode shape, real or complex, and `units` are those of its entries; see `Poles`.
    """
    motion = np.asarray(shape, dtype=complex)
    amount = _amount(robot, q, motion, units)
    bends = [(amount * motion * np.exp(1j * phase)).real for phase in phases]
    return np.stack([integrate(robot, q, bend) for bend in bends])


def _numbers(poles: Poles, n: int | Sequence[int]) -> list[int]:
    if len(poles) == 0:
        raise UnsupportedError(f"'{poles.plant.name}' has no poles to show. Give a wider range with window=.")
    numbers = list(range(1, min(n, len(poles)) + 1)) if isinstance(n, int) else list(n)
    for number in numbers:
        if not 1 <= number <= len(poles):
            raise UnsupportedError(f"there is no mode {number}; expected a mode number from 1 to {len(poles)}.")
    if not numbers or len(numbers) > MOST:
        raise UnsupportedError(f"n asks for {len(numbers)} modes; expected 1 to {MOST} in one picture.")
    return numbers


def _amount(robot: Robot, q: Array, shape: np.ndarray[Any, Any], units: Sequence[str]) -> float:
    """The factor by which a mode shape (nv,) is scaled for drawing; see SWAY and LARGEST_ANGLE."""
    little = 1e-4
    largest = float(np.abs(shape).max(initial=0.0)) or 1.0
    rows = [q, *(integrate(robot, q, little / largest * part) for part in (shape.real, shape.imag))]
    figure = figure_of(robot, np.stack(rows))
    cast, size = Cast(staged([figure], np.arange(3.0))), figure.size
    moved = max(float(np.linalg.norm(cast.at(k).points - cast.at(0).points, axis=1).max(initial=0.0)) for k in (1, 2))
    turns = np.array([unit == "rad" for unit in units], dtype=bool)
    angle = little / largest * float(np.abs(shape[turns]).max(initial=0.0))
    limits = [SWAY * size / moved] if moved > 0.0 else []
    limits += [LARGEST_ANGLE / angle] if angle > 0.0 else []
    return min(limits, default=1.0) * little / largest


# ── pictures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _portraits(poles: Poles, robot: Robot, numbers: Sequence[int], camera: CameraChoice) -> Figure:
    """A figure with one small picture of the robot for each mode: at rest and displaced both ways, overlaid."""
    rows = np.vstack([[poles.q, *bent(poles, number, (np.pi, 0.0))] for number in numbers])
    scene = staged([figure_of(robot, rows)], np.arange(len(rows), dtype=float))
    cast = Cast(scene)
    window = window_of(scene, cast, camera, None)
    span = window.high - window.low
    count = len(numbers)
    columns = int(np.clip(np.ceil(np.sqrt(1.5 * count * span[1] / span[0])), 1, count))
    lines = -(-count // columns)
    columns = -(-count // lines)
    width = float(np.clip(8.4 / columns, 1.0, 3.4))
    height = float(np.clip(width * span[1] / span[0], 0.9, 3.2))
    width = min(width, max(height * span[0] / span[1], 1.3))
    total = (columns * (width + 0.15) + 0.4, lines * (height + 0.32) + 0.72)
    figure = blank(max(total[0], 4.2), total[1])
    figure.text(0.25 / figure.get_figwidth(), 1.0 - 0.5 / total[1], KEY, fontsize=8, color=PALE, va="center")
    painter = Painter(cast, window.fitted(min(width / span[0], height / span[1]) * DPI, (width * DPI, height * DPI)))
    for k, number in enumerate(numbers):
        left, bottom = 0.25 + (k % columns) * (width + 0.15), total[1] - 0.72 - (k // columns + 1) * (height + 0.32)
        place = (left / figure.get_figwidth(), (bottom + 0.1) / total[1])
        axes: Any = figure.add_axes((*place, width / figure.get_figwidth(), height / total[1]))
        axes.axis("off")
        pixels = painter.blank()
        for which, fade in enumerate(FADES):
            painter.paint(pixels, len(FADES) * k + which, fade=fade)
        painter.show(axes, pixels)
        axes.set_title(mode_caption(poles, number), fontsize=9, color=INK, pad=4.0)
    return figure


def _bars(poles: Poles, numbers: Sequence[int]) -> Figure:
    """A figure with the mode shapes of a plant without a robot as bars, one for each coordinate.

    Where a shape is complex, the imaginary part has bars beside those of the real part.
    """
    columns = min(3, len(numbers))
    rows = -(-len(numbers) // columns)
    height = 0.22 * len(poles.names) + 0.35
    figure = blank(0.9 + 2.6 * columns, 0.8 + rows * (height + 0.5))
    total = figure.get_size_inches()
    for k, number in enumerate(numbers):
        left, bottom = 0.9 + (k % columns) * 2.6, total[1] - 0.6 - (k // columns + 1) * (height + 0.5) + 0.25
        axes: Any = figure.add_axes((left / total[0], bottom / total[1], 2.2 / total[0], height / total[1]))
        plain_axes(axes)
        places, shape = np.arange(len(poles.names)), np.asarray(poles.shapes[number - 1], dtype=complex)
        turning = bool(np.abs(shape.imag).max(initial=0.0) > 1e-12)
        axes.barh(places - (0.18 if turning else 0.0), shape.real, height=0.34, color=LINES[0], label="real")
        if turning:
            axes.barh(places + 0.18, shape.imag, height=0.34, color=LINES[1], label="imaginary")
            if not figure.legends:
                figure.legend(*axes.get_legend_handles_labels(), loc="upper right", ncols=2, fontsize=8, frameon=False)
        axes.axvline(0.0, color=PALE, linewidth=0.8)
        axes.set_xlim(-1.1, 1.1)
        axes.set_yticks(places, poles.names if k % columns == 0 else [""] * len(places), fontsize=8)
        axes.invert_yaxis()
        axes.set_title(mode_caption(poles, number), fontsize=9, color=INK)
    return figure
