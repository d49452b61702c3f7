"""`equilibrium`: a state at rest that stays at rest, and its stability.

`equilibrium_search` finds the state. A failed search gives a result, too, which names the joint with an unbalanced
force. Whether an equilibrium is stable is judged from its poles:

a pole right of the imaginary axis     not stable: a small disturbance grows
all poles left of the imaginary axis   stable: every disturbance decays
no pole right of it, some on it        stable where the equilibrium is a minimum of potential energy and nothing
                                       supplies energy (Lagrange and Dirichlet); else linear equations do not decide
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.eigenproblems import SYMMETRIC
from kinemorph.analysis.small_motions.equilibrium_search import CLOSED, Balance, Search
from kinemorph.analysis.small_motions.linearize import Model, linearize
from kinemorph.analysis.small_motions.plant_derivatives import Point, built, point_of
from kinemorph.analysis.small_motions.poles import Poles, poles
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.mechanics.elements.ensemble import FORCE_UNITS
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import named_parameters
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.plants.user_laws import Law
from kinemorph.sheet import (
    QUANTITIES,
    STABILITY,
    Facts,
    Field,
    Note,
    Pose,
    Said,
    Sheet,
    Table,
    Text,
    Verdict,
    fields,
    hidden,
    said,
)
from kinemorph.shown import Shown
from kinemorph.simulation.stepping.chosen_start import state_at
from kinemorph.words import listed

UNBALANCED = Field("unbalanced", "unbalanced force", "N m, N", 3)
BECAUSE = Field("", "because", form="sentence")
KICK = 0.05  # [rad or m], the displacement with which the search leaves an unstable equilibrium
KICKS = 10  # unstable equilibria that one search may leave


@dataclass(frozen=True, eq=False)
class Equilibrium(Shown):
    """The result of `equilibrium`. As a bool it is True where an equilibrium was found.

    `q` (nq,), `x` (nx,)          the state at rest; `u` (nu,) and `p` (np,) are the inputs and parameters
    `m` (nm,)                     the memory of elements, such as the anchors of contacts
    `residual` (nv + nx,)         unbalanced forces [N m or N], then rates of x; `worst` is the largest force
    `stable`                      True, False, or None where linear equations do not decide
    `reason`                      why it is stable or not, or why no equilibrium was found
    `message`                     the outcome as a sentence
    """

    q: Array
    x: Array
    m: Array
    u: Array
    p: Array
    residual: Array
    converged: bool
    iterations: int
    stable: bool | None
    reason: str
    message: str
    plant: Plant

    def __bool__(self) -> bool:
        return self.converged

    def sheet(self) -> Sheet:
        """Whether an equilibrium was found and is stable, and its coordinates."""
        columns, name = self.plant.q, self.plant.name
        rows = [(one.name, float(value), one.unit) for one, value in zip(columns, self.q, strict=True)]
        told: Text = "No equilibrium was found."
        if self:
            told = said("An equilibrium was found: {word}.", word=Said(STABILITY[self.stable], {}))
        facts: list[tuple[Field, Any]] = [(UNBALANCED, self.worst), (QUANTITIES["iterations"], self.iterations)]
        if self:
            facts = [(BECAUSE, self.reason), *facts]
        title = "Coordinates at the equilibrium" if self else "Where the search ended"
        robot = self.plant.robot
        parts = (
            Verdict(self.converged and self.stable is not False, told),
            hidden(converged=self.converged, message=self.message, stable=self.stable),
            *(() if self else (Note(self.reason),)),
            Facts(facts),
            Table("q", fields("name value unit"), rows, title),
            *((Pose(robot, self.q, said("{robot} at rest", robot=robot.name)),) if robot and self else ()),
        )
        return Sheet("Equilibrium of", name, parts)

    @property
    def worst(self) -> float:
        """The largest unbalanced force [N m or N]."""
        return float(np.abs(self.residual[: self.plant.nv]).max(initial=0.0))


def equilibrium(
    model: Model,
    q: Any = None,
    u: Any = None,
    *,
    x: Any = None,
    p: Any = None,
    m: Any = None,
    t: float = 0.0,
    forces: Law | None = None,
    locked: str | Sequence[str] = (),
    stable: bool = False,
    tolerance: float = 1e-10,
    iterations: int = 1000,
    regularizer: float = 100.0,
) -> Equilibrium:
    """A state at rest that stays at rest, near a first guess.

    `q`, `x`          the guess, by name or in order; by default the plant's initial state. As a text, q is the name of
                      a start of the system, whose states and inputs are taken where none are given
    `u`, `p`, `t`     constant inputs, parameters and time; `m`, the memory of elements. Constraints that depend on
                      time are taken at `t`
    `forces`          a user law of generalized forces, as for `simulate`; `locked` are joints that do not move
    `stable`          search for a stable equilibrium: follow the damped motion downhill, and leave unstable ones
    `tolerance`       of the unbalanced forces, relative to the largest force or stiffness (per rad or m) of the search
    `iterations`      the most steps of the search
    `regularizer`     k [1/s^2] in the damped steps (K + k M) dy = -r, with stiffness K, mass matrix M and residual r

    Contacts with anchors that touch at the guess are anchored there, and hold; where friction cannot hold them at the
    equilibrium, the message names them. Where no equilibrium is found, the result says so and names the joint with the
    largest unbalanced force.
    """
    for name, value in (("tolerance", tolerance), ("regularizer", regularizer), ("iterations", iterations)):
        if not value > 0 or not np.isfinite(value):
            raise UnsupportedError(f"equilibrium: {name} is {value}; expected a finite number above 0.")
    plant = as_plant(model, forces=forces, locked=locked, parameters=named_parameters(model, p))
    given = state_at(model, plant, t, q=q, v=None, x=x, u=u, p=p, m=m)
    start = point_of(plant, **given, t=t)
    start = replace(start, v=np.zeros(plant.nv))
    search = Search(plant, downhill=stable, tolerance=tolerance, regularizer=regularizer)
    search.slopes.check_laws()
    try:
        return _settled(search, start, int(iterations))
    except KinemorphError as error:
        return _broken(search, start, str(error))
    except np.linalg.LinAlgError:
        return _broken(search, start, "forces or their derivatives are too large. Start at another q.")


def _settled(search: Search, start: Point, most: int) -> Equilibrium:
    """The result of the search from the guess `start`, with at most `most` steps."""
    here = search.at(start)
    for _ in range(KICKS + 1):
        here = search.settle(here, most)
        if not search.balanced(here):
            return _failed(search, here, most)
        verdict, found = _stability_of(search.plant, here.point)
        if not search.downhill or verdict.stable is not False or found is None:
            break
        here = search.at(search.moved(here.point, _away(search, found), np.zeros(search.plant.nx)))
    return _found(search, here, verdict, _let_go(search.plant, start, here.point))


def _let_go(plant: Plant, start: Point, end: Point) -> tuple[str, ...]:
    """The guards of elements, such as of anchored contacts, that held at the start of a search and not at its end."""
    if not plant.settlers[0] or not plant.guards:
        return ()
    own = [k for k in range(len(plant.guards)) if k not in plant.contact_guards]
    values = built(plant.observed({}, "guards", switches=own))
    before, after = (np.asarray(values(*point.inputs)) for point in (start, end))
    return tuple(plant.guards[k] for k, one, other in zip(own, before, after, strict=True) if other < 0.0 <= one)


def _away(search: Search, found: Poles) -> Array:
    """A small displacement (nv,) along the fastest growing motion."""
    shape = found.vectors[int(np.argmax(found.alpha)), : search.plant.nv].real
    return np.asarray(KICK * shape / max(float(np.abs(shape).max(initial=0.0)), 1e-300))


def _found(search: Search, here: Balance, verdict: _Stability, let_go: tuple[str, ...] = ()) -> Equilibrium:
    """The result of a search that found an equilibrium with this stability; `let_go` are guards that do not hold."""
    word = {True: "stable", False: "not stable", None: "marginal"}[verdict.stable]
    reason = verdict.reason
    moving = search.slopes.moving_constraint(here.point)
    if moving:
        reason += f" Constraint '{moving}' changes with time; it is taken as it is at t = {here.point.t:g} s."
    if let_go:
        reason += f" A run would not stay there: {listed(map(repr, let_go), 8)}."
    message = f"Equilibrium of '{search.plant.name}' after {search.count} iterations, {word}: {reason}"
    return _result(search, here, True, verdict.stable, reason, message)


def _failed(search: Search, here: Balance, most: int) -> Equilibrium:
    """The result of a search that found no equilibrium."""
    if here.opened > CLOSED:
        why = f"loops stay open by {here.opened:.3g} [m or rad]. Start from a closed configuration, see close_loops."
    else:
        why = _unbalanced(search, here) + _open_contacts(search, here)
    told = f"No equilibrium of '{search.plant.name}' was found in {search.count} iterations (of at most {most}): {why}"
    return _result(search, here, False, None, why, told)


def _open_contacts(search: Search, here: Balance) -> str:
    """A sentence that names rigid contacts which carry nothing, because they did not touch at the guess; or ""."""
    plant, m = search.plant, here.point.m
    names = [plant.m[k].name.rpartition(".")[0] for k in plant.contact_modes if m[k] == 0.0]
    if not names:
        return ""
    return (
        f" Rigid contacts that do not touch at the guess stay open: {listed(names, 8)}. Give a q at which they touch."
    )


def _unbalanced(search: Search, here: Balance) -> str:
    nv = search.plant.nv
    free = here.Z @ here.f
    sizes = np.abs(free) / np.repeat(np.maximum(search.largest, 1e-300), (nv, search.plant.nx))
    worst = int(np.argmax(sizes))
    if worst >= nv:
        column = search.plant.x[worst - nv]
        return f"'{column.name}' still changes by {-free[worst]:.3g} {column.unit}/s. Start nearer to an equilibrium."
    column = search.plant.v[worst]
    unit = FORCE_UNITS.get(column.unit, "")
    return (
        f"a force of {-free[worst]:.4g} {unit}".rstrip()
        + f" is left at '{column.name}', the largest of all. Start nearer to an equilibrium, or add a joint, a spring "
        "or an input that supports this coordinate."
    )


def _broken(search: Search, start: Point, why: str) -> Equilibrium:
    """The result of a search that ended because the equations could not be evaluated; `why` is the reason."""
    nothing = np.zeros(search.slopes.n)
    point, rest = (search.last.point, search.last.residual) if search.last else (start, nothing)
    message = f"No equilibrium of '{search.plant.name}' was found: after {search.count} iterations, {why}"
    return Equilibrium(
        point.q,
        point.x,
        point.m,
        point.u,
        point.p,
        rest,
        False,
        search.count,
        None,
        why,
        message,
        search.plant,
    )


def _result(
    search: Search, here: Balance, converged: bool, stable: bool | None, reason: str, message: str
) -> Equilibrium:
    at = here.point
    return Equilibrium(
        at.q, at.x, at.m, at.u, at.p, here.residual, converged, search.count, stable, reason, message, search.plant
    )


# ── stability ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Stability(NamedTuple):
    """Whether an equilibrium is stable: True, False, or None where linear equations do not decide; and the reason."""

    stable: bool | None
    reason: str


def _stability_of(plant: Plant, point: Point) -> tuple[_Stability, Poles | None]:
    """The stability of an equilibrium, and its poles; None instead of the poles where they cannot be computed."""
    try:
        found = poles(plant, **vars(point))
    except KinemorphError as error:
        return _Stability(None, f"its poles cannot be computed. {error}"), None
    if not len(found):
        return _Stability(None, "nothing can move."), found
    limit = found.on_axis
    fastest, zero = int(np.argmax(found.alpha)), int(np.argmin(np.abs(found.values)))
    worst = float(found.alpha[fastest])
    if worst > limit:
        where = _mostly(found, fastest)
        return _Stability(
            False, f"a disturbance, mostly of '{where}', grows by a factor e in {1.0 / worst:.3g} s."
        ), found
    if abs(found.values[zero]) <= limit:
        where = _mostly(found, zero)
        return _Stability(None, f"no force opposes a displacement in one direction, mostly of '{where}'."), found
    if worst < -limit:
        return _Stability(
            True, f"every disturbance dies away, the slowest by a factor e in {-1.0 / worst:.3g} s."
        ), found
    if _is_minimum(plant, point):
        return _Stability(
            True, "it is a minimum of potential energy; small oscillations stay small but do not all die away."
        ), found
    return _Stability(None, "some oscillations neither grow nor die away in linear equations."), found


def _mostly(found: Poles, k: int) -> str:
    """The name of the coordinate that moves most in the motion of pole k."""
    return found.names[int(np.argmax(np.abs(found.shapes[k])))]


def _is_minimum(plant: Plant, point: Point) -> bool:
    """Whether the equilibrium is a minimum of potential energy and damping does not supply energy.

    That is, along the directions that constraints allow, the stiffness K is symmetric and positive definite, and the
    symmetric part of the damping C has no negative eigenvalue.
    """
    try:
        linear = linearize(plant, **vars(point), outputs=())
    except KinemorphError:
        return False
    if linear.second_order is None:
        return False
    Z, V = linear.directions
    if Z.shape != V.shape:  # wheels: Z has directions that V does not have
        return False
    K, C = (Z.T @ matrix @ Z for matrix in (linear.second_order.K, linear.second_order.C))
    symmetric = np.abs(K - K.T).max(initial=0.0) <= 100.0 * SYMMETRIC * np.abs(K).max(initial=0.0)
    damped = np.linalg.eigvalsh(0.5 * (C + C.T)).min(initial=0.0) >= -1e-12 * np.abs(C).max(initial=0.0)
    return bool(symmetric and damped and np.linalg.eigvalsh(0.5 * (K + K.T)).min(initial=np.inf) > 0.0)
