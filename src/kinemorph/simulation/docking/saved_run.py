"""The plants of a saved run with docking events, recovered from its first model and its events.

A file of a run holds names and numbers, no equations. Where modules dock during the run, each topology follows from the
one before: every docking and undocking is an event with a name, and offsets of dockings are parameters with names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinemorph.algebra.groups import IDENTITY
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.module_types import Side
from kinemorph.model.modules.organisms import OFFSET
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.simulation.docking.topologies import DockedAssembly, Plants, in_order

CHANGES = ("dock", "undock")


def plants_along(system: System, meta: Mapping[str, Any], starts: Sequence[float], account: bool) -> list[Plant | None]:
    """The plant of each system in the description of a run; None for a system that the events do not determine.

    `system`    the system at the start of the run
    `meta`      the description of the run, see `run_record`
    `starts`    the first time of each segment [s]
    `account`   whether the plants record supplied and dissipated energy
    """
    systems = meta["systems"]
    changes = [event for event in meta["events"] if event["kind"] in CHANGES]
    plants = Plants(system, {"locked": tuple(systems[0]["locked"]), "loops": None, "account": account})
    found: list[Plant | None] = [None] * len(systems)
    assembly: Assembly | None = plants.first
    for number, ((k, _), t) in enumerate(zip(meta["segments"], starts, strict=True)):
        while number and changes and changes[0]["t"] <= t and assembly is not None:
            assembly = _changed(assembly, changes.pop(0))
        if found[k] is None and assembly is not None:
            found[k] = plants.of(DockedAssembly(in_order(assembly), _made(systems[k], assembly)))
    return found


def _changed(assembly: Assembly, event: Mapping[str, Any]) -> Assembly | None:
    """The assembly after a docking or undocking event; None where the event names modules that are not in it."""
    if event["kind"] == "undock":
        gone = next((docking for docking in assembly.dockings if docking.name == event["name"]), None)
        return None if gone is None else assembly.undock(gone.a, gone.side_a)
    ends = _ends(assembly, event["name"])
    turn = next((int(value) for name, value, _ in event.get("numbers", ()) if name == "turn"), 0)
    return None if ends is None else assembly.dock(*ends[0], *ends[1], turn=turn, offset=IDENTITY)


def _ends(assembly: Assembly, name: str) -> tuple[tuple[str, Side], tuple[str, Side]] | None:
    """The two ports (module, side) in the name of a docking, `a_side_b_side`; None for modules that do not exist.

    The names of modules may contain underscores too.
    """
    ports = {f"{module.name}_{side}": (module.name, side) for module in assembly.modules for side in module.type.sides}
    for first, end in ports.items():
        rest = name.removeprefix(f"{first}_")
        if rest != name and rest in ports:
            return end, ports[rest]
    return None


def _made(system: Mapping[str, Any], assembly: Assembly) -> tuple[str, ...]:
    """The names of the dockings whose offsets are parameters of a system; `system` is its description in the file."""
    named = {name for name, _ in system["p"]}
    return tuple(sorted(d.name for d in assembly.dockings if f"{d.name}.{OFFSET[0]}" in named))
