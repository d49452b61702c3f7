"""Legged motion: stances of runs with their impulses, efforts of legs, and measures that a run integrates.

from kinemorph.legs import stances, with_measures
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    "stances": "kinemorph.analysis.legs.stances",
    "Stance": "kinemorph.analysis.legs.stances",
    "Stances": "kinemorph.analysis.legs.stances",
    "MeanStance": "kinemorph.analysis.legs.stances",
    "efforts": "kinemorph.analysis.legs.efforts",
    "LegEffort": "kinemorph.analysis.legs.efforts",
    "stride_figures": "kinemorph.analysis.legs.strides",
    "StrideFigures": "kinemorph.analysis.legs.strides",
    "least_effort": "kinemorph.analysis.legs.least_effort",
    "LeastEffort": "kinemorph.analysis.legs.least_effort",
    "with_measures": "kinemorph.analysis.legs.measures",
    "standing_curve": "kinemorph.analysis.legs.standing",
    "StandingCurve": "kinemorph.analysis.legs.standing",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.analysis.legs.efforts import LegEffort as LegEffort
    from kinemorph.analysis.legs.efforts import efforts as efforts
    from kinemorph.analysis.legs.least_effort import LeastEffort as LeastEffort
    from kinemorph.analysis.legs.least_effort import least_effort as least_effort
    from kinemorph.analysis.legs.measures import with_measures as with_measures
    from kinemorph.analysis.legs.stances import MeanStance as MeanStance
    from kinemorph.analysis.legs.stances import Stance as Stance
    from kinemorph.analysis.legs.stances import Stances as Stances
    from kinemorph.analysis.legs.stances import stances as stances
    from kinemorph.analysis.legs.standing import StandingCurve as StandingCurve
    from kinemorph.analysis.legs.standing import standing_curve as standing_curve
    from kinemorph.analysis.legs.strides import StrideFigures as StrideFigures
    from kinemorph.analysis.legs.strides import stride_figures as stride_figures
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
