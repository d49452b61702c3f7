"""The impact of points of a robot on the ground as a compiled function: the map (q, v-) to v+ of hybrid models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.tracing import Shape
from kinemorph.deriving.making import Maker
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.mechanics.constraints.closures import rows_of
from kinemorph.mechanics.constraints.constrained import ConstraintRows
from kinemorph.mechanics.impacts.contact_space import NONE, ContactRows, holding
from kinemorph.mechanics.impacts.impact import impact
from kinemorph.mechanics.impacts.plastic_impact import plastic_impact
from kinemorph.mechanics.recursions.kinematics import jacobian
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.elements.contact.impact_laws import ImpactLaw


def impact_function(
    maker: Maker, frames: str | Sequence[str], law: ImpactLaw | None, friction: float, axes: str
) -> CompiledFunction:
    """A compiled function: velocities after an impact of the origins of `frames`; see `Dynamics.impact`."""
    robot, frames = maker.robot, (frames,) if isinstance(frames, str) else tuple(frames)
    _check(maker, frames, law, axes)
    if not friction >= 0.0:
        raise UnsupportedError(f"impact: friction is {friction}; expected a coefficient mu of 0 or more.")
    places = ["xyz".index(axis) for axis in axes]

    def law_of_impact(tree: Tree, q: Any, v: Any) -> dict[str, Any]:
        points = [jacobian(tree, q, frame, "local_world_aligned") for frame in frames]
        rows = [[J[k] for k in places] for J in points]
        holds = NONE if maker.is_open else holding(rows_of(tree, q, v), v)
        if law is None:
            flat = [row for point in rows for row in point]
            stuck = ConstraintRows(flat, [0.0] * len(flat), [1.0] * len(flat))
            hit = plastic_impact(tree, q, v, stuck, holds)
            width = len(places)
            impulses = [hit.impulse[i : i + width] for i in range(0, len(flat), width)]
            return {"v": hit.v, "impulses": impulses, "loss": hit.loss}
        found = impact(tree, q, v, ContactRows(rows, [friction] * len(rows)), law, holds)
        return {"v": found.v, "impulses": found.impulses, "loss": found.loss - found.gain}

    shapes: dict[str, Shape] = {"v": (robot.nv,), "impulses": (len(frames), len(axes)), "loss": ()}
    name = f"impact[{', '.join(frames)}]"
    return maker.built(maker.program(name, ("q", "v"), law_of_impact, shapes, written=True))


def _check(maker: Maker, frames: Sequence[str], law: ImpactLaw | None, axes: str) -> None:
    """Raises an error for what has no impact function: driven joints, no frame, axes that are no world axes."""
    if maker.robot.driven:
        raise UnsupportedError(
            f"impact: robot '{maker.robot.name}' has driven joints, whose velocities cannot jump on their own. Model "
            "them as coupled joints instead."
        )
    if not frames:
        raise ModelError("impact: no frame is named. Name the frames or bodies whose origins hit the ground.")
    for frame in frames:
        maker.robot.frame(frame)
    least = 1 if law is None else 2
    if not least <= len(axes) <= 3 or len(set(axes)) != len(axes) or not set(axes) <= set("xyz"):
        raise ModelError(
            f"impact: axes is '{axes}'; expected {least} to 3 different letters of x, y and z, the normal first. Write "
            "'zxy' for contacts in space, 'zx' for a robot in the plane of x and z."
        )
