"""Live runs: a system that is advanced in real time, while its user pulls bodies, sets inputs, docks and undocks.

from kinemorph.live import LiveRun
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    "LiveRun": "kinemorph.simulation.live.live_run",
    "LiveStatus": "kinemorph.simulation.live.live_run",
    "reproduced": "kinemorph.simulation.live.commands",
    "live_system": "kinemorph.model.changes.live_system",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.model.changes.live_system import live_system as live_system
    from kinemorph.simulation.live.commands import reproduced as reproduced
    from kinemorph.simulation.live.live_run import LiveRun as LiveRun
    from kinemorph.simulation.live.live_run import LiveStatus as LiveStatus
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
