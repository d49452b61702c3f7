"""Closed chains: methods that keep them closed in a run, closed configurations, degrees of freedom.

from kinemorph.loops import Baumgarte, close_loops, mobility
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    # how a run keeps loops closed
    "Projection": "kinemorph.plants.loop_methods",
    "Partitioning": "kinemorph.plants.loop_methods",
    "SingularPerturbation": "kinemorph.plants.loop_methods",
    "Baumgarte": "kinemorph.plants.loop_methods",
    "Multipliers": "kinemorph.plants.loop_methods",
    # closed configurations and freedoms
    "close_loops": "kinemorph.analysis.loops.close_loops",
    "closed_configurations": "kinemorph.analysis.loops.closed_configurations",
    "mobility": "kinemorph.analysis.loops.mobility",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.analysis.loops.close_loops import close_loops as close_loops
    from kinemorph.analysis.loops.closed_configurations import closed_configurations as closed_configurations
    from kinemorph.analysis.loops.mobility import mobility as mobility
    from kinemorph.plants.loop_methods import Baumgarte as Baumgarte
    from kinemorph.plants.loop_methods import Multipliers as Multipliers
    from kinemorph.plants.loop_methods import Partitioning as Partitioning
    from kinemorph.plants.loop_methods import Projection as Projection
    from kinemorph.plants.loop_methods import SingularPerturbation as SingularPerturbation
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
