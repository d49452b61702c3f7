"""Where a run with constraints begins: coordinates and velocities that are named are kept, the others follow.

A start that is given in full and is off by no more than rounding is brought onto the constraints. One that is open by
more is refused: the user meant another one, and which one is not ours to guess. Methods that close loops on the way
(singular perturbation, Baumgarte) may begin with open ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.compile import build
from kinemorph.codegen.function import CompiledFunction
from kinemorph.errors import ModelError, ShapeError
from kinemorph.mechanics.assembly import CLOSED, FLAT, OPEN, closed_by_newton
from kinemorph.mechanics.motions import ELEMENTARY
from kinemorph.plants.loop_methods import Baumgarte, SingularPerturbation, names_independent
from kinemorph.plants.programs import Plant

Array = npt.NDArray[np.float64]

UNDECIDED = 1e-2  # of the largest singular value, by dependent joints: the smallest that still decides them

_BUILT: WeakKeyDictionary[Plant, CompiledFunction] = WeakKeyDictionary()  # loading code takes longer than a short run


def closed_start(plant: Plant, t: float, state: tuple[Array, Array, Array], given: tuple[Any, Any, Any]) -> Any:
    """(q, v) on the constraints near those of a state (q, v, x); `given` are what the user gave for q and v, and the
    numbers (m, u, p). See this module's text. Raises ShapeError where there are none.
    """
    q, v, x = state
    q_given, v_given, others = given
    if plant.constraints is None:
        return q, v
    look = _Look(plant, _function(plant), t, x, others)
    free_q = _movable(plant, "q", q_given)
    if not isinstance(plant.loops, Baumgarte | SingularPerturbation) or isinstance(q_given, Mapping):
        q = _closed(look, q, free_q, named=isinstance(q_given, Mapping))
    elif float(np.abs(look.at(q, v)[0]).max(initial=0.0)) > OPEN:
        return q, v  # they close on the way, and so do velocities
    _check_independent(look, q, v)
    return q, _moving(look, q, v, _movable(plant, "v", v_given), named=isinstance(v_given, Mapping))


def closed_already(plant: Plant, t: float, given: Mapping[str, Array]) -> npt.NDArray[np.bool_]:
    """Which of many states, values of shape (B, n) by group, are on the constraints to rounding, shape (B,)."""
    if names_independent(plant.loops) is not None:  # each of them has to be looked at
        return np.zeros(len(given["q"]), dtype=bool)
    s = np.concatenate([np.zeros_like(given["v"]), given["v"], given["x"]], axis=1)
    phi, rate, _, sizes = _function(plant)(t, given["q"], s, *(given[group] for group in "mup"))
    fast = np.maximum(1.0, np.abs(given["v"]).max(axis=1, initial=0.0))
    placed = np.abs(phi / sizes[:, : phi.shape[1]]).max(axis=1, initial=0.0) <= CLOSED
    moving = np.abs(rate / sizes).max(axis=1, initial=0.0) <= 10.0 * CLOSED * fast
    found: npt.NDArray[np.bool_] = placed & moving
    return found


def _function(plant: Plant) -> CompiledFunction:
    """The constraints of a plant, compiled."""
    assert plant.constraints is not None
    if plant not in _BUILT:
        _BUILT[plant] = build(plant.constraints)
    return _BUILT[plant]


def _check_independent(look: _Look, q: Array, v: Array) -> None:
    """Refuses joints named as independent that do not decide the others."""
    if names_independent(look.plant.loops) is None:
        return
    sentence = undecided(look.plant, look.at(q, v)[2])
    if sentence:
        raise ModelError(f"loops: {sentence}")


def undecided(plant: Plant, J: Array) -> str:
    """Why joints named as independent do not decide the others, by the slopes J (nc, nv) of constraints; "" where they
    do.
    """
    names = names_independent(plant.loops) or ()
    owners = [column.name.partition(".")[0] for column in plant.v]
    dependent = np.array(
        [owner not in names and column.name not in names for owner, column in zip(owners, plant.v, strict=True)]
    )
    dependent[list(plant.locked)] = False
    free = np.linalg.matrix_rank(J, FLAT * max(1.0, float(np.abs(J).max(initial=0.0))))
    J_z = J[:, dependent]
    sizes = np.linalg.svd(J_z, compute_uv=False) if J_z.size else np.zeros(0)
    count, mobile = int(dependent.sum()), plant.nv - len(plant.locked) - int(free)
    listed = ", ".join(names) or "no joint"
    others = ", ".join(column.name for column, one in zip(plant.v, dependent, strict=True) if one)
    if count != free:
        return (
            f"{listed} of '{plant.name}' is to be independent, {plant.nv - len(plant.locked) - count} of its "
            f"velocities; expected {mobile}, as its constraints leave free. Name as many, or none."
        )
    worst = sizes[min(count, len(sizes)) - 1] if count else 1.0
    if worst <= UNDECIDED * max(1.0, float(sizes.max(initial=0.0))):
        condition = float(sizes.max(initial=0.0)) / max(float(worst), 1e-300)
        return (
            f"{listed} of '{plant.name}' does not decide the other joints ({others}): the slopes of the constraints by "
            f"these have condition {condition:.2g}, as at a dead point. Name other joints, or none."
        )
    return ""


class _Look:
    """The constraints of a plant at one time."""

    def __init__(self, plant: Plant, function: CompiledFunction, t: float, x: Array, others: Any) -> None:
        self.plant, self.function, self.t, self.x, self.others = plant, function, t, x, others

    def at(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """(phi (nh,), rates (nc,), J (nc, nv)), rows against their sizes."""
        s = np.concatenate([np.zeros(self.plant.nv), v, self.x])
        phi, rate, J, sizes = self.function(self.t, q, s, *self.others)
        return phi / sizes[: len(phi)], rate / sizes, J / sizes[:, None]

    def moved(self, q: Array, step: Array) -> Array:
        """q after a small displacement (nv,)."""
        s = [*step.tolist(), *[0.0] * (self.plant.nv + self.plant.nx)]
        return np.array(self.plant.laws.place(q.tolist(), s), dtype=float)

    def gaps(self, phi: Array) -> str:
        """Rows that are open, the worst first, in words."""
        worst: dict[str, float] = {}
        for name, value in zip(self.plant.constraint_names, np.abs(phi), strict=False):
            owner = name.split(".")[0]
            worst[owner] = max(worst.get(owner, 0.0), float(value))
        listed = sorted(((size, owner) for owner, size in worst.items() if size > CLOSED), reverse=True)
        return ", ".join(f"'{owner}' by {size:.3g}" for size, owner in listed[:6]) or "none"


def _closed(look: _Look, start: Array, free: npt.NDArray[np.bool_], *, named: bool) -> Array:
    """The configuration with all constraints closed, moving only what is free."""
    name, nv = look.plant.name, look.plant.nv
    q, still = start, np.zeros(nv)
    phi = look.at(q, still)[0]
    apart = float(np.abs(phi).max(initial=0.0))
    if apart > OPEN and not named:
        raise ShapeError(
            f"q: the loops of '{name}' are open at the start, {look.gaps(phi)} (of the size of the loop); expected a "
            "configuration that closes them. Name the coordinates that you know, as q={...}, and the others follow; or "
            "use kinemorph.close_loops."
        )

    def seen(at: Array) -> tuple[Array, Array]:
        phi, _, J = look.at(at, still)
        return phi, np.where(free, J[: len(phi)], 0.0)

    q, apart = closed_by_newton(seen, look.moved, start)
    phi = look.at(q, still)[0]
    if apart > 1e4 * CLOSED:
        held = "" if free.all() else " with the named coordinates kept"
        raise ShapeError(
            f"q: no configuration of '{name}' near the start closes its loops{held}; left open: {look.gaps(phi)} (of "
            "the size of the loop). Name other coordinates, or find a configuration with kinemorph.close_loops."
        )
    return q


def _moving(look: _Look, q: Array, v: Array, free: npt.NDArray[np.bool_], *, named: bool) -> Array:
    """The velocity nearest to v that keeps all constraints, changing only what is free."""
    _, rate, J = look.at(q, v)
    against = float(np.abs(rate).max(initial=0.0))
    scale = max(1.0, float(np.abs(v).max(initial=0.0)))
    if against > OPEN * scale and not named and v.any():
        raise ShapeError(
            f"v: the velocities of '{look.plant.name}' open its loops, {look.gaps(rate)} (of the size of the loop, per "
            "second); expected velocities that keep them closed. Name those that you know, as v={...}, and the others "
            "follow."
        )
    for _ in range(2):  # the second takes away what rounding has left
        v = v - np.linalg.pinv(np.where(free, J, 0.0), FLAT) @ rate
        rate = look.at(q, v)[1]
    if float(np.abs(rate).max(initial=0.0)) > 1e-9 * scale:
        raise ShapeError(
            f"v: the named velocities of '{look.plant.name}' open its loops, {look.gaps(rate)} (of the size of the "
            "loop, per second), whatever the others are. Name fewer of them."
        )
    return v


def _movable(plant: Plant, group: str, given: Any) -> npt.NDArray[np.bool_]:
    """Which velocities (nv,) may be changed: those of coordinates that are not named, and of joints not locked."""
    free = np.ones(plant.nv, dtype=bool)
    free[list(plant.locked)] = False
    if not isinstance(given, Mapping):
        return free
    if group == "v":
        free[[plant.index("v", name) for name in given]] = False
        return free
    named = {plant.index("q", name) for name in given}
    for joint in plant.manifold:
        row = ELEMENTARY[joint.kind]
        nq, nv = row.nq, row.nv
        for k in range(nv):
            if nq == nv and joint.q + k in named:
                free[joint.v + k] = False
        if nq != nv and named & set(range(joint.q, joint.q + nq)):  # a quaternion is named as a whole
            free[joint.v : joint.v + nv] = False
    return free
