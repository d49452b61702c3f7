"""Configurations and joints of a robot that a user gives by name: checked, and converted to arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ShapeError
from kinemorph.model.couplings import followers
from kinemorph.model.robot import Robot
from kinemorph.model.units import numbers_in_si
from kinemorph.words import did_you_mean

Configuration = npt.ArrayLike | Mapping[str, float]


class NamedCoordinates:
    """The coordinates and joints of one robot by name; coordinates that are not named are taken from `start` (nq,)."""

    def __init__(self, robot: Robot, start: Array) -> None:
        self.robot, self.start = robot, start
        self.leaders = {joint: row.leader for joint, row in followers(robot.couplings).items()}

    def configuration(self, q: Configuration) -> Array:
        """A configuration (nq,) from numbers or texts with units; raises ShapeError for wrong input."""
        q = numbers_in_si("q", q, dict(zip(self.robot.q_names, self.robot.q_units, strict=True)))
        places = [self._index(name) for name in q] if isinstance(q, Mapping) else []
        try:
            if isinstance(q, Mapping):
                values = self._around(dict(zip(places, map(float, q.values()), strict=True)))
            else:
                values = np.array(q, dtype=float)
        except (TypeError, ValueError):
            raise ShapeError(
                f"q is {q!r}; expected {self.robot.nq} numbers, or some of them by name, for robot '{self.robot.name}'."
            ) from None
        if values.shape != (self.robot.nq,) or not np.isfinite(values).all():
            given = f"has shape {values.shape}" if values.shape != (self.robot.nq,) else f"is {values.tolist()}"
            raise ShapeError(
                f"q {given}; expected ({self.robot.nq},) finite numbers for robot '{self.robot.name}', "
                "one for each of q_names."
            )
        return values

    def _around(self, known: Mapping[int, float]) -> Array:
        """The configuration `start` with the known coordinates (by index); a coupled joint also sets its leader."""
        values = self.start.copy()
        for joint, row in followers(self.robot.couplings).items():
            place, leader = (self.robot.q_slice(name).start for name in (joint, row.leader))
            if place in known and leader not in known and row.multiplier != 0.0:
                values[leader] = (known[place] - row.offset) / row.multiplier
        values[list(known)] = list(known.values())
        return values

    def _index(self, coordinate: str) -> int:
        if coordinate not in self.robot.q_names:
            hint = did_you_mean(coordinate, self.robot.q_names)
            raise ShapeError(
                f"robot '{self.robot.name}' has no coordinate '{coordinate}'.{hint} Known: "
                f"{', '.join(self.robot.q_names)}."
            )
        return self.robot.q_names.index(coordinate)

    def joints_of(self, coordinates: Iterable[str]) -> tuple[str, ...]:
        """The names of the joints that the named coordinates belong to."""
        places = [self._index(name) for name in coordinates]
        slices = {joint.name: self.robot.q_slice(joint.name) for joint in self.robot.joints}
        return tuple(n for n, part in slices.items() if any(part.start <= place < part.stop for place in places))

    def leading(self, joints: str | Sequence[str]) -> tuple[str, ...]:
        """The named joints, with each coupled joint replaced by its leader; an unknown name raises ModelError."""
        names = (joints,) if isinstance(joints, str) else tuple(joints)
        for name in names:
            self.robot.v_slice(name)
        return tuple(dict.fromkeys(self.leaders.get(name, name) for name in names))

    def velocities(self, joints: Iterable[str]) -> npt.NDArray[np.bool_]:
        """A mask (nv,) of the velocities that belong to the named joints."""
        chosen = np.zeros(self.robot.nv, dtype=bool)
        for joint in joints:
            chosen[self.robot.v_slice(joint)] = True
        return chosen
