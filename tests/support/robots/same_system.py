"""Whether two systems are the same machine: in what they differ, by name, with the largest relative difference.

The second system is the first one after a file was written and read, so parts have the same names, up to the endings of
joints that became chains (`knee.first` or `knee_first`). Compared are, at random states,

    M, h                mass matrix and bias forces of the tree
    forces              what elements and damping exert, at random inputs, as generalized forces
    acceleration        M a + h = forces + J^T lambda, J a = wanted: divided by the condition number of M
    rows                constraint rows of elements
    contacts            those of `elements.contacts`: bodies, places, laws and grounds
    masses              of all bodies, with the places of their centers
    limits, friction    of joints
    start, starts       the initial configuration, and the configurations, velocities and inputs of all starts
    sensors             the elements that only measure

Where joints were written as joints of other kinds (a free one as three slides and a ball), velocities v of the first
system are B v of the second, with B from the twists of all bodies. Then M and forces are compared as B^T M B and
B^T f, and h at rest: M at all configurations determines the rest of h.
"""

from __future__ import annotations

import dataclasses
import re
import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.groups import Pose, act, compose, inverse
from kinemorph.mechanics.constraints.closures import rows_of
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.mechanics.elements.instant import SystemInstant, generalized
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.kinematics import forward_kinematics, jacobian
from kinemorph.mechanics.recursions.newton_euler import bias_forces
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import Dice, neutral, random_configuration
from kinemorph.model.elements import IMU, ForceTorqueSensor, MassCenter, Meter, Probe, contacts
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.system import System

CLOSE = 1e-12
DUST = 1e-14  # [kg]: MuJoCo needs a mass on every body that moves, which is written as less than this
ENDLESS = 1e10  # [rad], [m]: MuJoCo and SDF have no larger limits than this and 1e16
STATES = 2
SENSORS = (IMU, ForceTorqueSensor, MassCenter, Meter, Probe)
_SEPARATORS = re.compile(r"[._~]+")


class Match(NamedTuple):
    """How coordinates of the second system follow from those of the first: q2 = q1[q]; v2 = v1[v] unless v is None."""

    q: list[int]
    v: list[int] | None


def differences(first: System, second: System, *, states: int = STATES) -> dict[str, float]:
    """The largest relative differences by name, of those above CLOSE; empty for systems that are the same."""
    found = _measured(first, second, states)
    return {name: error for name, error in found.items() if not error <= CLOSE}


def _measured(first: System, second: System, states: int) -> dict[str, float]:
    match = _match(first, second)
    if match is None:
        return {"coordinates": 1.0}
    found: dict[str, float] = {}

    def note(name: str, error: float) -> None:
        found[name] = max(found.get(name, 0.0), error)

    robot = first.robot
    if robot.nv and not robot.is_kinematic:
        rng = np.random.default_rng(5)
        for k in range(states):
            q = np.array(random_configuration(robot, Dice(7 + k)), dtype=float)
            _at_state(first, second, match, q, rng, note)
    elif robot.nv:
        _poses(first, second, match, np.array(random_configuration(robot, Dice(7)), dtype=float), note)
    note("masses", _masses(first, second, match))
    _joints(first, second, note)
    note("contacts", _contacts(first, second, match))
    note("start", _relative(first.initial_state()[0][match.q], second.initial_state()[0]) if robot.nv else 0.0)
    note("starts", _starts(first, second, match))
    note("sensors", float(_sensors(first) != _sensors(second)))
    return found


# ── coordinates ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _match(first: System, second: System) -> Match | None:
    """How the coordinates follow from each other; None if there is another number of them."""
    one, two = first.robot, second.robot
    if (one.nq, one.nv) != (two.nq, two.nv):
        return None
    orders: list[list[int]] = []
    for a, b in ((one.q_names, two.q_names), (one.v_names, two.v_names)):
        plain = {_SEPARATORS.sub("_", name): k for k, name in enumerate(a)}
        here = [a.index(name) if name in a else plain.get(_SEPARATORS.sub("_", name), -1) for name in b]
        orders.append(here if sorted(here) == list(range(len(a))) else list(range(len(a))))
    bodies = [{joint.child: joint.kind for joint in robot.joints if joint.nv} for robot in (one, two)]
    split = any(kind in ("free", "planar") and bodies[1].get(child) != kind for child, kind in bodies[0].items())
    return Match(orders[0], None if split else orders[1])


def _relative(a: Any, b: Any, scale: float = 0.0) -> float:
    """The largest difference as a share of the largest entry, but at least of `scale`."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape:
        return 1.0
    same = a == b  # also where both are infinite
    if same.all():
        return 0.0
    size = max(float(np.abs(a[np.isfinite(a)]).max(initial=0.0)), scale, 1e-300)
    return float(np.abs(np.where(same, 0.0, a - b)).max() / size)


# ── motion ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Motion(NamedTuple):
    """M, h, generalized forces and constraint rows at a state."""

    M: np.ndarray
    h: np.ndarray
    forces: np.ndarray
    J: np.ndarray
    wanted: np.ndarray
    rows: np.ndarray

    @property
    def acceleration(self) -> np.ndarray:
        """The acceleration, with all constraints."""
        a = np.linalg.solve(self.M, self.forces - self.h)
        if not len(self.J):
            return a
        W = np.linalg.solve(self.M, self.J.T)
        return a + W @ np.linalg.lstsq(self.J @ W, self.wanted - self.J @ a, rcond=1e-9)[0]


def _at_state(first: System, second: System, match: Match, q: np.ndarray, rng: Any, note: Any) -> None:
    robot = first.robot
    v = rng.normal(size=robot.nv)
    cast = ensemble(robot, first.members)
    u = {slot.name: float(rng.uniform(-1.0, 1.0)) for slot in cast.inputs}
    x = {slot.name: float(rng.uniform(0.0, 1.0)) for slot in cast.states}
    there = q[match.q]
    _poses(first, second, match, q, note)
    if match.v is None:
        B = _between(first, second, q, there)
        one, two = _motion(first, q, v, u, x), _motion(second, there, B @ v, u, x)
        still = [_motion(*which, np.zeros(robot.nv), u, x).h for which in ((first, q), (second, there))]
        pairs = {"M": (one.M, B.T @ two.M @ B), "h": (still[0], B.T @ still[1])}
        pairs["forces"] = (one.forces, B.T @ two.forces)
        pairs["rows"] = (one.rows, two.rows)
    else:
        back = np.argsort(match.v)
        one, two = _motion(first, q, v, u, x), _motion(second, there, v[match.v], u, x)
        pairs = {"M": (one.M, two.M[np.ix_(back, back)]), "h": (one.h, two.h[back])}
        pairs["forces"], pairs["rows"] = (one.forces, two.forces[back]), (one.rows, two.rows)
        condition, slowest = max(float(np.linalg.cond(one.M)), 1.0), float(np.abs(np.linalg.eigvalsh(one.M)).min())
        error = _relative(one.acceleration, two.acceleration[back], _lever(first) / max(slowest, 1e-300))
        note("acceleration", error / condition)
    largest = {"h": max(float(np.abs(one.forces).max(initial=0.0)), _lever(first))}
    for name, (a, b) in pairs.items():
        note(name, _relative(a, b, largest.get(name, 0.0)))


def _lever(system: System) -> float:
    """The largest moment [N m] of a body's weight about its own origin: bias forces are sums of such terms.

    Where these balance each other, what is left of h is rounding, and is compared with them.
    """
    gravity = float(np.linalg.norm(evaluate_all(system.robot.gravity)))
    arms = [evaluate(body.mass) * float(np.linalg.norm(evaluate_all(body.com))) for body in system.robot.bodies]
    return gravity * max(arms, default=0.0)


def _between(first: System, second: System, q: np.ndarray, there: np.ndarray) -> np.ndarray:
    """B, shape (nv, nv), with v2 = B v1: both give all bodies the same twists."""
    names = [body.name for body in first.robot.bodies if body.name in second.robot.body_names]
    sides = []
    for system, at in ((first, q), (second, there)):
        tree = resolve(replace(system.robot, loops=(), couplings=()))
        sides.append(np.vstack([np.array(jacobian(tree, at.tolist(), name, "world"), dtype=float) for name in names]))
    B: np.ndarray = np.linalg.lstsq(sides[1], sides[0], rcond=None)[0]
    return B


def _motion(system: System, q: np.ndarray, v: np.ndarray, u: dict[str, float], x: dict[str, float]) -> Motion:
    robot = system.robot
    tree = resolve(replace(robot, loops=(), couplings=()))
    state = q.tolist(), v.tolist()
    M, h = np.array(mass_matrix(tree, state[0]), dtype=float), np.array(bias_forces(tree, *state), dtype=float)
    cast = ensemble(robot, system.members)
    starts = [slot.start for slot in cast.memory]
    inputs, values = (
        [group.get(slot.name, 0.5) for slot in slots] for group, slots in ((u, cast.inputs), (x, cast.states))
    )
    instant = SystemInstant(cast, tree, 0.0, *state, values, starts, inputs, {})
    found = instant.gathered()
    damping = np.array([float(d) for joint in robot.joints for d in evaluate_all(joint.damping)])
    forces = np.array(found.torques, dtype=float) + np.array(generalized(instant.motions, found.loads), dtype=float)
    closed = rows_of(resolve(robot), *state) if robot.loops or robot.couplings else None
    J = np.array(closed.J, dtype=float) if closed is not None else np.zeros((0, robot.nv))
    wanted = np.array(closed.wanted if closed is not None else (), dtype=float)
    rows = np.array([*instant.position_rows(), *instant.velocity_rows()], dtype=float)
    return Motion(M, h, forces - damping * v, J, wanted, rows)


def _poses(first: System, second: System, match: Match, q: np.ndarray, note: Any) -> None:
    """The motion of every body relative to where it is at another configuration, which no choice of frames changes."""
    names = [body.name for body in first.robot.bodies if body.name in second.robot.body_names]
    rest = np.array(neutral(first.robot), dtype=float)
    moves = []
    for system, order in ((first, list(range(len(q)))), (second, match.q)):
        tree = resolve(replace(system.robot, loops=(), couplings=()))
        at, home = (forward_kinematics(tree, one[order].tolist(), names) for one in (q, rest))
        moves.append([compose(a, inverse(b)) for a, b in zip(at, home, strict=True)])
    flat = [np.array([[*np.ravel(T.R), *T.p] for T in side], dtype=float) for side in moves]
    note("poses", _relative(*flat) if names else 0.0)


# ── other data ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _joints(first: System, second: System, note: Any) -> None:
    """Limits and friction of the joints that have the same name and kind in both systems."""
    known = {joint.name: joint for joint in second.robot.joints}
    for joint in first.robot.joints:
        other = known.get(joint.name)
        if other is None or other.kind != joint.kind:
            continue
        for name, keys in (("limits", ("lower", "upper", "velocity", "effort")), ("friction", ("friction",))):
            for key in keys:
                note(name, _relative(*(_bounds(evaluate_all(getattr(one, key))) for one in (joint, other))))


def _bounds(values: Any) -> np.ndarray:
    """Limits, of which those that SDF or MuJoCo take for none are infinite."""
    found = np.array(values, dtype=float)
    found[np.abs(found) >= ENDLESS] *= np.inf
    return found


def _masses(first: System, second: System, match: Match) -> float:
    """The masses of all bodies, and where their centers of mass are in the world if all coordinates are 0."""
    lists = []
    for system, order in ((first, list(range(first.robot.nq))), (second, match.q)):
        rest = np.array(neutral(first.robot), dtype=float)[order].tolist() if order else []
        heavy = sorted((body for body in system.robot.bodies if evaluate(body.mass) > DUST), key=lambda body: body.name)
        poses = forward_kinematics(
            resolve(replace(system.robot, loops=(), couplings=())), rest, [b.name for b in heavy]
        )
        lists.append([[evaluate(b.mass), *act(T, evaluate_all(b.com))] for b, T in zip(heavy, poses, strict=True)])
    return _relative(*lists)


def _sensors(system: System) -> list[tuple[str, str]]:
    return sorted((type(one).__name__, one.name) for one in system.elements if isinstance(one, SENSORS))


def _starts(first: System, second: System, match: Match) -> float:
    worst = 0.0
    for name in first.starts:
        if name not in second.starts:
            return 1.0
        one, two = first.start(name), second.start(name)
        worst = max(worst, _relative(np.array(one.q)[match.q], two.q), abs(one.t - two.t))
        if match.v is not None:
            worst = max(worst, _relative(np.array(one.v)[match.v], two.v))
        for group in ("u", "x"):
            a, b = dict(one.numbers(group) or ()), dict(two.numbers(group) or ())
            keys = sorted({*a, *b})
            worst = max(worst, _relative([a.get(key, 0.0) for key in keys], [b.get(key, 0.0) for key in keys]))
    return worst


def _contacts(first: System, second: System, match: Match) -> float:
    """The largest difference of contacts that belong together: each with the nearest one of the same body."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here, there = contacts(first), contacts(second)
    if len(here) != len(there):
        return float(max(len(here), len(there)))
    shifts = _shifts(first, second, match)
    rest: dict[str, list[list[float]]] = {}
    for contact in there:
        rest.setdefault(contact.body, []).append(_flat(replace_place(contact, shifts.get(contact.body))))
    worst = 0.0
    for contact in here:
        mine = _flat(contact)
        others = rest.get(contact.body, [])
        if not others:
            return 1.0
        errors = [_distance(mine, other) for other in others]
        k = int(np.argmin(errors))
        worst = max(worst, errors[k])
        others.pop(k)
    return worst


def replace_place(contact: Any, shift: Pose | None) -> Any:
    """A contact, of which points and shapes are seen from a frame in which its body has the pose `shift`."""
    if shift is None:
        return contact
    changes: dict[str, Any] = {}
    if contact.shape is not None:
        changes["shape"] = replace(contact.shape, placement=compose(shift, contact.shape.placement))
    else:
        for key in ("point", "end"):
            if getattr(contact, key) is not None:
                changes[key] = tuple(np.array(shift.R) @ np.array(getattr(contact, key)) + np.array(shift.p))
    return replace(contact, **changes)


def _shifts(first: System, second: System, match: Match) -> dict[str, Pose]:
    """The pose of each body's frame of the second system in that of the first."""
    names = [body.name for body in first.robot.bodies if body.name in second.robot.body_names]
    rest = np.array(neutral(first.robot), dtype=float)
    sides = []
    for system, order in ((first, list(range(len(rest)))), (second, match.q)):
        tree = resolve(replace(system.robot, loops=(), couplings=()))
        sides.append(forward_kinematics(tree, rest[order].tolist() if len(rest) else [], names))
    return {name: compose(inverse(a), b) for name, a, b in zip(names, *sides, strict=True)}


def _distance(a: list[Any], b: list[Any]) -> float:
    """The largest difference of two flat lists, relative to each number but at least 1; 1 if their forms differ."""
    if [x for x in a if isinstance(x, str)] != [x for x in b if isinstance(x, str)] or len(a) != len(b):
        return 1.0
    worst = 0.0
    for x, y in zip(a, b, strict=True):
        if not isinstance(x, str) and x != y:
            worst = max(worst, abs(x - y) / max(abs(x), 1.0))
    return worst


def _flat(part: Any) -> list[Any]:
    """All numbers and words of a contact or of a part of it, without names, colors and sources."""
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        keys = [one.name for one in dataclasses.fields(part) if one.name not in ("name", "color", "source", "surface")]
        return [type(part).__name__, *(x for key in keys for x in _flat(getattr(part, key)))]
    if isinstance(part, (list, tuple)):
        return [x for one in part for x in _flat(one)]
    if isinstance(part, (bool, int, float, np.floating)):
        return [float(part)]
    if isinstance(part, (str, type(None))):
        return [str(part)]
    return [float(x) for x in np.ravel(np.asarray(part, dtype=float))]
