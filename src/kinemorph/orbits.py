"""Motions that repeat: periodic orbits, their stability, branches, bifurcation diagrams and basins of attraction.

from kinemorph.orbits import continuation, periodic_orbit
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    # return maps
    "return_map": "kinemorph.analysis.orbits.flow_map",
    "explicit_map": "kinemorph.analysis.orbits.return_map",
    "FunctionMap": "kinemorph.analysis.orbits.return_map",
    "Return": "kinemorph.analysis.orbits.return_map",
    "ReturnMap": "kinemorph.analysis.orbits.return_map",
    # orbits and branches
    "periodic_orbit": "kinemorph.analysis.orbits.periodic_orbit",
    "Orbit": "kinemorph.analysis.orbits.periodic_orbit",
    "continuation": "kinemorph.analysis.orbits.continuation",
    "switch_branch": "kinemorph.analysis.orbits.continuation",
    "Branch": "kinemorph.analysis.orbits.continuation",
    # many motions
    "bifurcation_diagram": "kinemorph.analysis.orbits.bifurcation_diagram",
    "basin": "kinemorph.analysis.orbits.basin",
    # gaits
    "optimize_gait": "kinemorph.analysis.gaits.optimize_gait",
    "Gait": "kinemorph.analysis.gaits.gait",
    "gait_library": "kinemorph.analysis.gaits.gait_library",
    "GaitLibrary": "kinemorph.analysis.gaits.gait_library",
    "static_gait": "kinemorph.analysis.gaits.static_gait",
    "StaticGait": "kinemorph.analysis.gaits.static_gait",
    # pictures
    "plot_orbit": "kinemorph.display.charts.orbit_plots",
    "plot_branch": "kinemorph.display.charts.orbit_plots",
    "plot_bifurcation": "kinemorph.display.charts.orbit_plots",
    "plot_basin": "kinemorph.display.charts.orbit_plots",
    "plot_gait": "kinemorph.display.charts.gait_plots",
    "plot_static_gait": "kinemorph.display.charts.gait_plots",
    "plot_gait_library": "kinemorph.display.charts.gait_plots",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.analysis.gaits.gait import Gait as Gait
    from kinemorph.analysis.gaits.gait_library import GaitLibrary as GaitLibrary
    from kinemorph.analysis.gaits.gait_library import gait_library as gait_library
    from kinemorph.analysis.gaits.optimize_gait import optimize_gait as optimize_gait
    from kinemorph.analysis.gaits.static_gait import StaticGait as StaticGait
    from kinemorph.analysis.gaits.static_gait import static_gait as static_gait
    from kinemorph.analysis.orbits.basin import basin as basin
    from kinemorph.analysis.orbits.bifurcation_diagram import bifurcation_diagram as bifurcation_diagram
    from kinemorph.analysis.orbits.continuation import Branch as Branch
    from kinemorph.analysis.orbits.continuation import continuation as continuation
    from kinemorph.analysis.orbits.continuation import switch_branch as switch_branch
    from kinemorph.analysis.orbits.flow_map import return_map as return_map
    from kinemorph.analysis.orbits.periodic_orbit import Orbit as Orbit
    from kinemorph.analysis.orbits.periodic_orbit import periodic_orbit as periodic_orbit
    from kinemorph.analysis.orbits.return_map import FunctionMap as FunctionMap
    from kinemorph.analysis.orbits.return_map import Return as Return
    from kinemorph.analysis.orbits.return_map import ReturnMap as ReturnMap
    from kinemorph.analysis.orbits.return_map import explicit_map as explicit_map
    from kinemorph.display.charts.gait_plots import plot_gait as plot_gait
    from kinemorph.display.charts.gait_plots import plot_gait_library as plot_gait_library
    from kinemorph.display.charts.gait_plots import plot_static_gait as plot_static_gait
    from kinemorph.display.charts.orbit_plots import plot_basin as plot_basin
    from kinemorph.display.charts.orbit_plots import plot_bifurcation as plot_bifurcation
    from kinemorph.display.charts.orbit_plots import plot_branch as plot_branch
    from kinemorph.display.charts.orbit_plots import plot_orbit as plot_orbit
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
