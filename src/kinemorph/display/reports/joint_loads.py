"""The loads of the joints of a run: the sizes of the forces and moments that their bearings bear, as curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import KinemorphError
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.results.columns import all_columns
from kinemorph.simulation.results.trajectory import Trajectory

BEARS = 1e-9  # the share of the largest load below which a load is rounding
PARTS = {"force": (slice(0, 3), "N"), "moment": (slice(3, 6), "N m")}


@dataclass(frozen=True, eq=False, repr=False)
class LoadedRun(Trajectory):
    """A run with further columns, {name: (unit, values (n,))}, which are drawn like those of the run itself."""

    loads: Mapping[str, tuple[str, Array]] = field(default_factory=dict)

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The columns of the run, and the loads."""
        return all_columns(self._sources) | {name: Column(name, unit) for name, (unit, _) in self.loads.items()}

    def __getitem__(self, name: str) -> Array:
        """The column with this name, shape (n,)."""
        return self.loads[name][1] if name in self.loads else super().__getitem__(name)


def with_joint_loads(run: Trajectory) -> LoadedRun:
    """The run with columns "knee.bearing_force" [N] and "knee.bearing_moment" [N m] of the joints of its robot.

    There are none where the run does not know its robot, or where the system changes. Loads of less than BEARS of the
    largest one are rounding, and left out.
    """
    robot = run.segments[0].robot if len(run.stretches) == 1 else None
    joints = (*robot.joint_names, *(loop.name for loop in robot.loops)) if robot else ()
    loads: dict[str, tuple[str, Array]] = {}
    try:
        wrenches = {joint: run.reactions(joint, part="constraint") for joint in joints}
    except KinemorphError:  # a run that was loaded without its model
        wrenches = {}
    for what, (place, unit) in PARTS.items():
        with np.errstate(over="ignore"):  # a run that diverged
            sizes = {joint: np.linalg.norm(wrench[:, place], axis=1) for joint, wrench in wrenches.items()}
        peaks = {joint: float(np.nan_to_num(size).max(initial=0.0)) for joint, size in sizes.items()}
        least = BEARS * max(peaks.values(), default=0.0)
        loads |= {f"{joint}.bearing_{what}": (unit, sizes[joint]) for joint, peak in peaks.items() if peak > least}
    return LoadedRun(**{one.name: getattr(run, one.name) for one in fields(Trajectory)}, loads=loads)
