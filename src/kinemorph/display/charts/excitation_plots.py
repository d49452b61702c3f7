"""Pictures of exciting motions: positions, velocities and torques within their limits, beside random series."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.excitation.excitation import Excitation
from kinemorph.display.canvas import INK, LINES, PALE, Figure, blank, plain_axes, save

WIDTH, HEIGHT = 10.0, 6.4  # [inch]
QUANTITIES = ("position", "velocity", "acceleration", "torque")
BINS = 24


def plot_excitation(excitation: Excitation, *, title: str | None = None, path: Path | str | None = None) -> Figure:
    """A figure of an exciting motion: q, v, a and tau of every joint over time, as shares of their limits.

    Beside them are how much of each limit is used, and the standard deviations of random series within the same limits
    relative to those of this motion. `path` is a file to write, .png, .svg or .pdf.
    """
    figure = blank(WIDTH, HEIGHT)
    joints = excitation.element.joints
    shown = [one for one in QUANTITIES if any(use.quantity == one for use in excitation.limits)]
    height = 0.72 / len(shown)
    for k, quantity in enumerate(shown):
        axes: Any = figure.add_axes((0.08, 0.10 + height * (len(shown) - 1 - k), 0.50, height * 0.86))
        plain_axes(axes)
        for number, joint in enumerate(joints):
            values = _share(excitation, quantity, joint)
            if values is not None:
                axes.plot(excitation.t, values, color=LINES[number % len(LINES)], linewidth=1.2, label=joint)
        for side in (-1.0, 1.0):
            axes.axhline(side, color=PALE, linewidth=0.8, linestyle="--", zorder=0)
        axes.set_xlim(excitation.t[0], excitation.t[-1])
        axes.set_ylim(-1.12, 1.12)
        axes.set_ylabel(quantity, fontsize=9, color=INK)
        if k < len(shown) - 1:
            axes.tick_params(labelbottom=False)
        else:
            axes.set_xlabel("time [s]", fontsize=9, color=INK)
        if k == 0 and len(joints) <= 9:
            axes.legend(fontsize=7, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
    _use(figure.add_axes((0.66, 0.50, 0.31, 0.31)), excitation, shown)
    _random(figure.add_axes((0.66, 0.10, 0.31, 0.26)), excitation)
    name = excitation.robot.name.replace("_", " ")
    figure.text(0.08, 0.965, title or f"exciting motion of {name}", fontsize=13, color=INK, va="center")
    caption = (
        f"{len(excitation.names)} unknowns, {len(excitation.element.sines)} harmonics in {excitation.element.period:g} "
        f"s; values are shares of their limits; standard deviations {excitation.gain:.3g} times smaller than those of "
        "the median random series"
    )
    figure.text(0.08, 0.925, caption, fontsize=8, color=PALE, va="center")
    if path is not None:
        save(figure, path)
    return figure


def _share(excitation: Excitation, quantity: str, joint: str) -> Array | None:
    """A quantity of a joint over time, -1 and 1 at its limits; None where it has no limit."""
    found = [use for use in excitation.limits if use.quantity == quantity and use.name == joint]
    if not found:
        return None
    robot = excitation.robot
    group = {"position": "q", "velocity": "v", "acceleration": "a", "torque": "tau"}[quantity]
    place = (robot.q_slice if group == "q" else robot.v_slice)(joint).start
    middle, half = 0.5 * (found[0].upper + found[0].lower), 0.5 * (found[0].upper - found[0].lower)
    values: Array = (getattr(excitation, group)[:, place] - middle) / half
    return values


def _use(axes: Any, excitation: Excitation, shown: list[str]) -> None:
    """Bars of how much of each limit is used, in groups by joint."""
    plain_axes(axes)
    joints = list(excitation.element.joints)
    wide = 0.8 / len(shown)
    for k, quantity in enumerate(shown):
        shares = {use.name: use.share for use in excitation.limits if use.quantity == quantity}
        at = [place + (k - 0.5 * (len(shown) - 1)) * wide for place, joint in enumerate(joints) if joint in shares]
        axes.bar(at, [shares[joint] for joint in joints if joint in shares], wide, color=LINES[k], label=quantity)
    axes.axhline(1.0, color=PALE, linewidth=0.8, linestyle="--", zorder=0)
    axes.set_xticks(range(len(joints)), [str(k + 1) for k in range(len(joints))])
    axes.set_xlabel("joint", fontsize=9, color=INK)
    axes.set_ylabel("share of limit", fontsize=9, color=INK)
    axes.legend(fontsize=7, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, columnspacing=1.0)


def _random(axes: Any, excitation: Excitation) -> None:
    """A histogram of the standard deviations of random series, relative to those of the motion."""
    plain_axes(axes)
    finite = excitation.random[np.isfinite(excitation.random)]
    ratios = np.exp(0.5 * (excitation.log_det - finite) / len(excitation.names))
    ratios = ratios[ratios <= 4.0 * np.median(ratios)]
    axes.hist(ratios, bins=BINS, color=LINES[0], alpha=0.6)
    axes.axvline(1.0, color=LINES[1], linewidth=1.6)
    axes.annotate("this motion", (1.0, 1.0), xycoords=("data", "axes fraction"), fontsize=7, color=LINES[1], ha="left",
                  xytext=(3, -8), textcoords="offset points")  # fmt: skip
    axes.set_xlim(left=0.0)
    axes.set_xlabel("standard deviation, relative (geometric mean)", fontsize=9, color=INK)
    axes.set_ylabel("random series", fontsize=9, color=INK)
