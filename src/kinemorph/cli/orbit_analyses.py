"""The analyses of motions that repeat, for `analyze`: orbits, branches, bifurcation diagrams, basins, static gaits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.cli.application import say, working
from kinemorph.cli.options.orbit_options import OrbitOptions, Range
from kinemorph.cli.options.state_options import StateOptions
from kinemorph.errors import KinemorphError
from kinemorph.model.system import System
from kinemorph.sheet import Sheet

Found = tuple[Sheet, list[Path], bool]  # what is shown, files, success
VALUES, STARTS, CYCLES = 100, 64, 30  # values of a diagram, starts along an axis of a basin, cycles of a basin
POSTURES = 37  # of a static gait


def of_orbits(system: System, what: str, state: StateOptions, options: OrbitOptions, plot: Path | None) -> Found:
    """The analysis `what` (orbit, continuation, diagram, basin) of a system; `plot` is the path of a picture."""
    if system.automaton is None and (options.period is None) == (options.section is None):
        raise KinemorphError(
            f"'analyze {what}' needs to know how a cycle of '{system.robot.name}' ends. Give --period, the period in "
            "seconds of what drives it, or for a system without drive --section, a column that is zero once per cycle."
        )
    return {"orbit": _orbit, "continuation": _continuation, "diagram": _diagram, "basin": _basin}[what](
        system, state, options, plot
    )


def _orbit(system: System, state: StateOptions, options: OrbitOptions, plot: Path | None) -> Found:
    from kinemorph.analysis.orbits.periodic_orbit import periodic_orbit

    with working(f"searching for an orbit of {system.robot.name}"):
        found = periodic_orbit(system, cycles=options.cycles or 1, nodes=options.nodes, **options.motion(system, state))
    if not found:
        say(f"failed: {found.message}")
    files = _drawn(found, plot) if found else []
    return found.sheet(), files, found.found


def _continuation(system: System, state: StateOptions, options: OrbitOptions, plot: Path | None) -> Found:
    from kinemorph.analysis.orbits.continuation import continuation
    from kinemorph.analysis.orbits.flow_map import return_map
    from kinemorph.analysis.orbits.periodic_orbit import periodic_orbit

    (over,) = options.ranges("continuation", 1, 1)
    with working(f"searching for an orbit of {system.robot.name}") as tell:
        cycle = return_map(system, parameters=over.name, **options.motion(system, state)).varying([over.name])
        start = float(cycle.p[0])
        if not over.low <= start <= over.high:
            raise KinemorphError(
                f"--over {over.name} is {over.low:g} to {over.high:g}; expected a range that contains {start:g}, the "
                "value of the model, where the branch begins. Widen the range, or change the model."
            )
        found = periodic_orbit(cycle, cycles=options.cycles or 1, nodes=options.nodes)
        if not found:
            say(f"failed: {found.message}")
            return found.sheet(), [], False
        tell(f"following it along {over.name}")
        branch = continuation(found, over.name, (over.low, over.high), step=0.05, max_step=0.1)
    return branch.sheet().with_parts(branch.orbits_table()), _drawn(branch, plot), True


def _diagram(system: System, state: StateOptions, options: OrbitOptions, plot: Path | None) -> Found:
    from kinemorph.analysis.orbits.bifurcation_diagram import bifurcation_diagram

    (over,) = options.ranges("diagram", 1, 1)
    with working(f"running {system.robot.name} for all values of {over.name}"):
        found = bifurcation_diagram(system, over.name, _values(over, VALUES), **options.motion(system, state))
    well = len(found.messages) < len(found.values)
    if not well:
        say(f"failed: no motion returns. {found.messages[0]}")
    return found.sheet(), _drawn(found, plot), well


def _basin(system: System, state: StateOptions, options: OrbitOptions, plot: Path | None) -> Found:
    from kinemorph.analysis.orbits.basin import basin

    grid = {over.name: _values(over, STARTS) for over in options.ranges("basin", 1, 2)}
    if plot is not None and len(grid) != 2:
        raise KinemorphError("--plot draws a basin of two coordinates, and --over names one. Name a second one.")
    with working(f"running {system.robot.name} from all starts"):
        found = basin(system, grid, cycles=options.cycles or CYCLES, **options.motion(system, state))
    return found.sheet(), _drawn(found, plot), True


def _values(over: Range, default: int) -> Any:
    return np.linspace(over.low, over.high, over.number or default)


def _drawn(found: Any, plot: Path | None) -> list[Path]:
    """Writes the picture of a result to a path; returns the paths that were written."""
    if plot is None:
        return []
    found.plot(path=plot)
    return [plot]


def of_static_gait(system: System, options: OrbitOptions, plot: Path | None) -> Found:
    """The static gait of a system while joints move over the ranges of --over; `plot` is the path of a picture."""
    from kinemorph.analysis.gaits.static_gait import static_gait

    ranges = options.ranges("static", 1, 2)
    count = max(over.number or POSTURES for over in ranges)
    motion = {over.name: np.linspace(over.low, over.high, count).tolist() for over in ranges}
    with working(f"balancing {system.robot.name} in {count} postures"):
        found = static_gait(system, motion)
    if not found:
        say(f"failed: {found.message}")
    return found.sheet().with_parts(found.postures_table()), _drawn(found, plot), found.holds
