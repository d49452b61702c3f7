"""Columns of runs for what formulas give: coordinates and velocities of driven joints, and dependent quantities."""

from __future__ import annotations

from functools import partial
from typing import Any

from kinemorph.model.driven import coordinate_places
from kinemorph.model.parameter import TIME, evaluate
from kinemorph.model.robot import Dependent, Robot
from kinemorph.plants.instant import Instant
from kinemorph.plants.loaded_robot import LoadedRobot
from kinemorph.plants.user_laws import Law


def driven_columns(loaded: LoadedRobot) -> dict[str, Law]:
    """The laws that give further columns of a run, by the names of the columns.

    These are "q.rotor" and "v.rotor" for a driven joint "rotor", and the names of dependent quantities.
    """
    robot = loaded.dynamics.robot
    found: dict[str, Law] = {}
    for group, names, own in (("q", robot.all_q_names, robot.nq), ("v", robot.all_v_names, robot.nv)):
        found |= {f"{group}.{name}": partial(_entry, loaded, group, k) for k, name in enumerate(names) if k >= own}
    return found | {one.name: partial(_dependent, loaded, one) for one in robot.dependents}


def driven_units(robot: Robot) -> dict[str, str]:
    """The units of the columns of `driven_columns`, by the names of the columns."""
    found = {one.name: one.unit for one in robot.dependents}
    for joint in robot.driven:
        for group, units in (("q", joint.motion.q_units), ("v", joint.motion.v_units)):
            found |= dict(zip((f"{group}.{name}" for name in joint.motion_names(group)), units, strict=True))
    return found


def _entry(loaded: LoadedRobot, group: str, k: int, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
    every = loaded.all_joints(loaded.tree(p, t), Instant(t, q, v, x, m, u, p))
    return (every.q if group == "q" else every.v)[k]


def _dependent(loaded: LoadedRobot, one: Dependent, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
    places = coordinate_places(loaded.dynamics.robot)
    known = {**loaded.lookup(p), **{name: q[i] for name, (i, _) in places.items()}, TIME.name: t}
    return evaluate(one.formula, known)
