"""The initial state of a run with constraints: named coordinates and velocities are kept, the others follow.

An initial state that is given in full and violates constraints by no more than rounding is brought onto them. One that
violates them more is refused, because it is not known which state the user meant; that of a file whose constraints are
soft, as in MJCF, is moved onto them, with a warning. If no q is given, a coupled joint
starts where the joint that it follows puts it, and a joint with a prescribed motion at the prescribed position.
Constraint methods that close loops during the run (singular perturbation, Baumgarte) may start with open loops.

Redundant constraint rows of a model file may contradict each other by its rounding: no configuration satisfies all of
them. The initial state is then the one of least squares, and a note says how far the loops stay open. The run needs no
looser tolerance, because the rows that it imposes are independent, and these can be satisfied.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.errors import KinemorphError, ModelError, ModelWarning, ShapeError, users_level
from kinemorph.mechanics.constraints.closures import constraint_owners
from kinemorph.mechanics.constraints.kept_coordinates import Kept
from kinemorph.mechanics.constraints.newton_closing import CLOSED, FLAT, OPEN, closed_by_newton, closed_nearby
from kinemorph.mechanics.elements.law import ElementLaw, law_of
from kinemorph.model.configuration import neutral
from kinemorph.model.elements import PrescribedMotion
from kinemorph.model.robot import Robot
from kinemorph.plants.loop_methods import Baumgarte, Projection, SingularPerturbation, names_independent
from kinemorph.plants.programs import Plant
from kinemorph.simulation.stepping.violations import row_gaps, tell_moved
from kinemorph.words import quoted

CONTRADICTORY = (
    1e-5  # relative to the size of the loop: redundant rows that disagree by more are a mistake, not rounding
)
ROUNDED = 1e-3  # times the largest singular value: rounded data can turn a singular value of 0 into this much
STAGE, MOST_STAGES = 0.02, 20.0  # the largest opening that a stage of changed parameters causes, and their number
MOST_CORRECTIONS = 8  # of a configuration, to satisfy the independent rows
UNDECIDED = 1e-2  # times the largest singular value: below it, dependent joints are not determined


class ClosedState(NamedTuple):
    """A configuration q (nq,) and velocities v (nv,) on the constraints, and the memory m (nm,) there.

    `note` says how far loops stay open where no configuration satisfies all rows; else it is empty.
    """

    q: Array
    v: Array
    m: Array
    note: str = ""


def closed_start(
    plant: Plant, t: float, state: tuple[Array, ...], given: tuple[Any, ...], *, enters: bool = False
) -> ClosedState:
    """The q (nq,) and v (nv,) that satisfy the constraints and are nearest to a state (q, v, x, m, u, p) at t [s].

    `given` is (q, v, m) as the user gave them. With `enters`, the memory is that at the start of a run: points are held
    where they are once loops are closed, and so they do not hinder closing. Raises ShapeError where no such q and v
    exist.
    """
    q, v, x, m, u, p = state
    q_given, v_given, m_given = (*(stated(plant, group, given[k]) for k, group in enumerate("qv")), given[2])
    if plant.laws.constraints is None:
        return ClosedState(q, v, m)
    look = _ConstraintsAt(plant, plant.compiled("constraints"), t, x, (m, u, p))
    if q_given is None or v_given is None:
        q_given, v_given = _followed(look, (q, v), (q_given, v_given, m_given), enters)
    if not isinstance(plant.loops, Baumgarte | SingularPerturbation) or isinstance(q_given, Mapping):
        look.following = _following(plant, m_given) if enters else ()
        for group, values, mine in (("q", q, given[0]), ("v", v, given[1])):
            if mine is None:
                _tell_edited(look, group, values, (q, v))
        q = _closed(look, q, kept_values(plant, "q", q_given), q_given)
    elif float(np.abs(look.at(q, v)[0]).max(initial=0.0)) > OPEN:
        return ClosedState(q, v, m)  # loops close during the run, and so do velocities
    if enters:
        s = np.concatenate([np.zeros_like(v), v, x])
        m = entered_memory(plant, m_given, (t, q, s, m, u, p))
        look.following, look.others = (), (m, u, p)
    _check_independent(look, q, v)
    v = _moving(look, q, v, ~kept_values(plant, "v", v_given).still, named=isinstance(v_given, Mapping))
    return ClosedState(q, v, m, look.note)


def stated(plant: Plant, group: str, given: Any) -> Any:
    """What is known of the initial q or v: as it is `given`, else the values by name that the model states."""
    names = plant.stated.get(group)
    if given is not None or not names:
        return given
    return {name: plant.start[group][plant.index(group, name)] for name in names}


def _tell_edited(look: _ConstraintsAt, group: str, values: Array, state: tuple[Array, Array]) -> None:
    """Warns where a model has values of q or v besides those that it states by name, and they violate constraints."""
    plant, names = look.plant, look.plant.stated.get(group)
    if not names or plant.robot is None:
        return
    usual = neutral(plant.robot) if group == "q" else np.zeros(plant.nv)
    own = np.array([column.name not in names for column in getattr(plant, group)]) & (values != usual)
    nominal = look.at_parameters(look.nominal)
    gaps = nominal.at(*state)[group == "v"] if own.any() else np.zeros(0)
    if float(np.abs(gaps).max(initial=0.0)) > OPEN:
        warnings.warn(
            f"{group} of '{plant.name}' violates constraints, {nominal.gaps(gaps)}: only {quoted(names)} "
            f"{'is' if len(names) == 1 else 'are'} stated, and the others follow. To state all, set "
            f"stated_{group}=None.",
            ModelWarning,
            stacklevel=users_level(),
        )


def _followed(look: _ConstraintsAt, state: tuple[Array, Array], given: tuple[Any, ...], enters: bool) -> Sequence[Any]:
    """What is `given` of q and v; {} for None where it is not stated and fits the nominal parameters."""
    plant, (q, v), (m, u, p) = look.plant, state, look.others
    if np.array_equal(p, look.nominal):
        return given[:2]
    s = np.concatenate([np.zeros_like(v), v, look.x])
    memory = entered_memory(plant, given[2], (look.t, q, s, m, u, look.nominal)) if enters else m
    gaps = [np.abs(gap).max(initial=0.0) for gap in look.at_parameters(look.nominal, memory).at(q, v)[:2]]
    fits = [plant.stated.get(group) == () and gap <= OPEN for group, gap in zip("qv", gaps, strict=True)]
    return [{} if one is None and fit else one for one, fit in zip(given[:2], fits, strict=True)]


def _following(plant: Plant, given: Any) -> tuple[int, ...]:
    """The indices of position rows of points that are held where a run begins, unless their memory is `given`."""
    known = plant.named("m", given)
    held = [
        f"{element.name}."
        for element in plant.elements
        if type(law_of(element)).entered is not ElementLaw.entered
        and not any(name.startswith(f"{element.name}.") for name in known)
    ]
    names = plant.constraint_names[: plant.position_rows]
    return tuple(k for k, row in enumerate(names) if any(row.startswith(name) for name in held))


def entered_memory(plant: Plant, given: Any, state: tuple[Any, ...]) -> Array:
    """The memory m at the start of a run, shape (..., nm), such as the positions at which points are held.

    `state` is (t, base, s, m, u, p); names of memory that the user has `given` keep their values.
    """
    memory: Array = state[3]
    if plant.laws.jumps is None or plant.laws.jumps.enter is None:
        return memory
    new = np.array(plant.compiled("entering")(*state))
    kept = [plant.index("m", name) for name in plant.named("m", given)]
    new[..., kept] = memory[..., kept]
    return new


def closed_already(plant: Plant, t: float, given: Mapping[str, Array]) -> npt.NDArray[np.bool_]:
    """Which of B states satisfy the constraints up to rounding, shape (B,).

    `given` has an array (B, n) for each of the groups q, v, x, m, u and p.
    """
    if names_independent(plant.loops) is not None:  # each state has to be checked alone
        return np.zeros(len(given["q"]), dtype=bool)
    s = np.concatenate([np.zeros_like(given["v"]), given["v"], given["x"]], axis=1)
    try:
        phi, rate, _, sizes = plant.compiled("constraints")(t, given["q"], s, *(given[group] for group in "mup"))
    except KinemorphError:  # the check of a single state says what is wrong
        return np.zeros(len(given["q"]), dtype=bool)
    fast = np.maximum(1.0, np.abs(given["v"]).max(axis=1, initial=0.0))
    placed = np.abs(phi / sizes[:, : phi.shape[1]]).max(axis=1, initial=0.0) <= CLOSED
    moving = np.abs(rate / sizes).max(axis=1, initial=0.0) <= 10.0 * CLOSED * fast
    found: npt.NDArray[np.bool_] = placed & moving
    return found


def _check_independent(look: _ConstraintsAt, q: Array, v: Array) -> None:
    """Raises ModelError where the joints that the user named as independent do not determine the others."""
    if names_independent(look.plant.loops) is None:
        return
    sentence = undecided(look.plant, look.at(q, v)[2])
    if sentence:
        raise ModelError(f"loops: {sentence}")


def undecided(plant: Plant, J: Array) -> str:
    """A message that says why joints named as independent do not determine the others, or "" where they do.

    J (nc, nv) is the constraint Jacobian at the present configuration.
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
            f"the joints of '{plant.name}' named as independent ({listed}) have "
            f"{plant.nv - len(plant.locked) - count} velocities; expected {mobile}, as many as its constraints leave "
            "free. Name joints that have this many velocities together, or none."
        )
    worst = sizes[min(count, len(sizes)) - 1] if count else 1.0
    if worst <= UNDECIDED * max(1.0, float(sizes.max(initial=0.0))):
        condition = float(sizes.max(initial=0.0)) / max(float(worst), 1e-300)
        return (
            f"the joints of '{plant.name}' named as independent ({listed}) do not determine the other joints "
            f"({others}): the constraint Jacobian of these has condition number {condition:.2g}, as at a dead point. "
            "Name other joints, or none."
        )
    return ""


class _ConstraintsAt:
    """The constraints of a plant at one time."""

    def __init__(self, plant: Plant, function: CompiledFunction, t: float, x: Array, others: Any) -> None:
        self.plant, self.function, self.t, self.x, self.others = plant, function, t, x, others
        self.nominal = np.array(plant.start["p"], dtype=float)  # parameters
        self.following: tuple[int, ...] = ()  # position rows that every configuration satisfies: see `closed_start`
        self.left = 0.0  # by which redundant rows contradict each other, relative to the sizes of rows
        self.note = ""  # see `ClosedState`

    def at(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """The errors phi (nh,), the rates (nc,) and J (nc, nv) of the constraints, each row divided by its size."""
        s = np.concatenate([np.zeros(self.plant.nv), v, self.x])
        phi, rate, J, self.sizes = _values(self.plant, self.function, self.t, q, s, *self.others)
        phi[list(self.following)], J[list(self.following)] = 0.0, 0.0
        return phi / self.sizes[: len(phi)], rate / self.sizes, J / self.sizes[:, None]

    def at_parameters(self, p: Array, m: Array | None = None) -> _ConstraintsAt:
        """These constraints at other parameters p, and memory m."""
        memory = self.others[0] if m is None else m
        found = _ConstraintsAt(self.plant, self.function, self.t, self.x, (memory, self.others[1], p))
        found.following = self.following
        return found

    def positions(self, q: Array) -> tuple[Array, Array]:
        """The errors phi (nh,) and their Jacobian (nh, nv), each row divided by its size."""
        phi, _, J = self.at(q, np.zeros(self.plant.nv))
        return phi, J[: len(phi)]

    def moved(self, q: Array, step: Array) -> Array:
        """The configuration q (nq,) moved by a small displacement `step` (nv,) [rad or m], one entry per velocity."""
        s = [*step.tolist(), *[0.0] * (self.plant.nv + self.plant.nx)]
        return np.array(self.plant.laws.place(q.tolist(), s), dtype=float)

    def kept(self, q: Array) -> Array:
        """The configuration near q that a run by projection keeps, which satisfies the independent rows; else q."""
        if not isinstance(self.plant.loops, Projection):
            return q
        closer = self.plant.compiled("holding")
        for _ in range(MOST_CORRECTIONS):
            s = np.concatenate([np.zeros(2 * self.plant.nv), self.x])
            step = closer(self.t, q, s, *self.others)[0][: self.plant.nv]
            q = self.moved(q, step)
        return q

    @property
    def robot(self) -> Robot:
        """The robot of the plant."""
        assert self.plant.robot is not None
        return self.plant.robot

    def gaps(self, values: Array, per: str = "") -> str:
        """The violated constraints in words, see `row_gaps`.

        `values` (nc,) are the errors, which the caller has already divided by the scales of their rows.
        """
        return row_gaps(self.plant, values, self.sizes, per)

    def only_loops(self, values: Array) -> bool:
        """Whether all violated rows are those of loops, not of couplings or elements; `values` (nc,) as in `gaps`."""
        of_loops = len(constraint_owners(self.robot)) - len(self.robot.couplings)
        return not bool((np.abs(values[of_loops:]) > CLOSED).any())

    def only_couplings(self, values: Array) -> bool:
        """Whether, by values (nc,) as in `gaps`, the only violated rows are those of coupled joints."""
        end = len(constraint_owners(self.robot))
        others = np.ones(len(values), dtype=bool)
        others[end - len(self.robot.couplings) : end] = False
        return not bool((np.abs(values[others]) > CLOSED).any())

    def only_below_ground(self, values: Array) -> float:
        """How far [m] bodies are below the surfaces of rigid contacts, if only these rows are violated, else 0."""
        modes = [self.plant.m[k].name.removesuffix("mode") for k in self.plant.contact_modes]
        off = {row: value for row, value in zip(self.plant.constraint_names, values, strict=False) if abs(value) > OPEN}
        own = all(row.removesuffix("normal") in modes and value < 0.0 for row, value in off.items())
        return -float(min(off.values(), default=0.0)) if own else 0.0

    def only_prescribed(self, values: Array) -> bool:
        """Whether all violated rows are those of prescribed motions; `values` (nc,) are errors as in `gaps`."""
        prescribed = [element.name for element in self.plant.elements if isinstance(element, PrescribedMotion)]
        off = [name for name, value in zip(self.plant.constraint_names, values, strict=False) if abs(value) > OPEN]
        return all(any(row == name or row.startswith(f"{name}.") for name in prescribed) for row in off)


def _values(plant: Plant, function: CompiledFunction, *inputs: Any) -> Any:
    """(errors phi (nh,), rates (nc,), Jacobian J (nc, nv), row sizes (nc,)) of the constraints at one state.

    Raises ShapeError where a row is not finite.
    """
    try:
        return function(*inputs)
    except ShapeError:
        raise
    except KinemorphError:
        outs = tuple(np.zeros(port.shape) for port in function.outputs)
        function.raw(outs, *(np.array(x, dtype=float) for x in inputs))
        for k, row in enumerate(plant.constraint_names):
            bad = [float(x) for out in outs for x in np.ravel(out[k : k + 1]) if not np.isfinite(x)]
            if bad:
                raise ShapeError(
                    f"q: constraint '{row}' of '{plant.name}', or its derivative, is {bad[0]:g} in the initial state; "
                    "expected a finite number. Choose another initial state, or correct the constraint."
                ) from None
        raise


def _closed(look: _ConstraintsAt, start: Array, kept: Kept, given: Any) -> Array:
    """The configuration nearest to `start` that satisfies all constraints, with all that is `kept`.

    `given` is q as the user gave it. Raises ShapeError where there is no such configuration.
    """
    name = look.plant.name
    phi = look.positions(start)[0]
    if float(np.abs(phi).max(initial=0.0)) <= CLOSED:
        return start
    seen, moved = kept.keeping(look.positions, look.moved)
    named = isinstance(given, Mapping)
    by_default = given is None and np.array_equal(start, neutral(look.robot))
    if by_default and look.robot.couplings and look.only_couplings(phi):
        coupled = {coupling.joint for coupling in look.robot.couplings}
        leaders = np.array([column.name not in coupled for column in look.plant.v])
        start = closed_nearby(look.positions, look.moved, start, kept._replace(still=kept.still | leaders))[0]
        phi = look.positions(start)[0]
    settles = given is None and look.plant.settles and float(np.abs(phi).max(initial=0.0)) > OPEN
    if settles:
        named, gaps, before = True, look.gaps(phi), start
    if float(np.abs(phi).max(initial=0.0)) > OPEN and not named and not (by_default and look.only_prescribed(phi)):
        at = "at the neutral configuration, which is used as no q is given" if by_default else "in the initial state"
        if below := look.only_below_ground(phi):
            raise ShapeError(
                f"q: rigid contacts of '{name}' are below their surfaces {at}: {look.gaps(phi)}; expected gaps of at "
                f"least 0. Move the bodies out by {below:.4g} m, with a margin for rounding."
            )
        what = f"the loops of '{name}' are open {at}" if look.only_loops(phi) else f"'{name}' violates constraints {at}"
        raise ShapeError(
            f"q: {what}: {look.gaps(phi)}; expected a configuration that satisfies them. Name the coordinates "
            f"you know, as q={{'{look.plant.q[0].name}': ...}}, and the others follow"
            f"{'; or use kinemorph.loops.close_loops' if look.robot.loops else ''}."
        )

    if named:
        start = _followed_from_nominal(look, start, kept)
        q, apart = closed_nearby(look.positions, look.moved, start, kept)
    else:
        q, apart = closed_by_newton(seen, moved, start)
    enough = max(1e4 * CLOSED, getattr(look.plant.loops, "tolerance", 0.0))
    if apart > enough:  # rows that rounded data contradict have small singular values, along which steps lead far away
        near = closed_by_newton(seen, moved, start, ROUNDED)
        q, apart = near if near[1] <= 2.0 * apart else (q, apart)
    phi = look.positions(q)[0]
    if apart > enough:
        contradictory = apart <= OPEN and look.plant.locked == () and _unreachable(look.positions(q)[1], phi)
        if contradictory and apart <= CONTRADICTORY:
            near_it = look.kept(q)
            phi = look.positions(near_it)[0]
            look.left, look.note = max(apart, float(np.abs(phi).max())), _open_by_rounding(look, phi)
            return q if named else near_it
        if contradictory:
            raise ShapeError(
                f"q: the loops of '{name}' stay slightly open, {look.gaps(phi)}, and no motion closes them: axes or "
                "lengths are rounded, and the joints that close the loops constrain more than rounded data allow. To "
                f"accept this error, pass loops=kinemorph.loops.Projection(tolerance={_rounded_up(10.0 * apart)}) or "
                f"loops='baumgarte' (--loops baumgarte). Or give the data with more digits{_other_joints(look)}."
            )
        held = " with the named coordinates kept" if kept.coordinates or kept.still.any() else ""
        if not np.array_equal(look.others[2], look.nominal):
            held += ", for the parameters of this run"
        what = "closes its loops" if look.only_loops(phi) else "satisfies its constraints"
        raise ShapeError(
            f"q: no configuration of '{name}' near the given one {what}{held}; remaining error: {look.gaps(phi)}. Name "
            "other coordinates, or find a configuration with kinemorph.loops.close_loops."
        )
    if settles:
        tell_moved(f"the initial state of '{name}'", gaps, q - before)
    return q


def _followed_from_nominal(look: _ConstraintsAt, q: Array, kept: Kept) -> Array:
    """The configuration near q that is closed for parameters almost as in this run, on the branch that the nominal
    parameters have: these change in stages, and the loops are closed in each.
    """
    change = look.others[2] - look.nominal
    gap = float(np.abs(look.positions(q)[0]).max(initial=0.0)) if change.any() else 0.0
    for share in np.linspace(0.0, 1.0, math.ceil(min(gap / STAGE, MOST_STAGES)) + 1)[:-1]:
        stage = look.at_parameters(look.nominal + share * change)
        found, apart = closed_by_newton(*kept.keeping(stage.positions, look.moved), q)
        if apart > OPEN:
            return q
        q = found
    return q


def _open_by_rounding(look: _ConstraintsAt, phi: Array) -> str:
    """A note on loops that stay open by errors phi (nh,), which no motion reduces."""
    return (
        f"the loops of '{look.plant.name}' stay open, {look.gaps(phi)}: redundant constraints, "
        "as rounded data give them, disagree by this much, and no configuration satisfies all of them. The run keeps "
        f"the independent ones. Give the data with more digits{_other_joints(look)}."
    )


def _other_joints(look: _ConstraintsAt) -> str:
    """A second remedy for rounded data, where joints other than spherical ones close loops; else ""."""
    if all(loop.kind in ("spherical", "gimbal") for loop in look.robot.loops):
        return ""
    return ", or close the loops with joints that constrain less, as 'spherical'"


def _rounded_up(x: float) -> str:
    """A number as text, rounded up to one digit: 1.3e-08 is 2e-08."""
    power = np.floor(np.log10(x))
    return f"{np.ceil(x / 10.0**power) * 10.0**power:.0e}"


def _unreachable(J: Array, errors: Array) -> bool:
    """Whether the errors (n,) of constraint rows with the Jacobian J (n, nv) stay nearly the same in every motion, as
    where rows contradict each other slightly because axes or lengths in a model are rounded.
    """
    reachable = J @ np.linalg.pinv(J, ROUNDED) @ errors
    return float(np.abs(reachable).max(initial=0.0)) < 0.1 * float(np.abs(errors).max(initial=0.0))


def _moving(look: _ConstraintsAt, q: Array, v: Array, free: npt.NDArray[np.bool_], *, named: bool) -> Array:
    """The velocity nearest to v that satisfies all constraints; only velocities marked `free` (nv,) change.

    `named` tells whether the user gave velocities by name. Raises ShapeError where there is no such velocity.
    """
    _, rate, J = look.at(q, v)
    if not rate.any():
        return v
    against = float(np.abs(rate).max(initial=0.0))
    scale = max(1.0, float(np.abs(v).max(initial=0.0)))
    if against > OPEN * scale and not named and v.any():
        what = "open its loops" if look.only_loops(rate) else "violate its constraints"
        raise ShapeError(
            f"v: the velocities of '{look.plant.name}' {what}, {look.gaps(rate, '/s')}; expected velocities that "
            "satisfy them. Give those that you know by name, as v={...}, and the others follow."
        )

    def nearest(flat: float) -> tuple[Array, Array]:
        """The nearest velocity of least squares, without directions of singular values below `flat`; and its rates."""
        found, left, inverse = v, rate, np.linalg.pinv(np.where(free, J, 0.0), flat)
        for _ in range(2):  # the second pass removes the rounding errors of the first
            found = found - inverse @ left
            left = look.at(q, found)[1]
        return found, left

    exact, rate_left = nearest(FLAT)
    fits = float(np.abs(rate_left).max(initial=0.0)) <= 1e-9 * scale
    far = not named and v.any() and float(np.abs(exact - v).max()) > 10.0 * OPEN * scale
    if look.left or far or not fits:  # rounded data lock a mechanism that moves: see `CONTRADICTORY`
        best, left = nearest(ROUNDED)
        if float(np.abs(left).max(initial=0.0)) <= CONTRADICTORY * scale and _unreachable(J, left):
            return best
    if not fits:
        rate, loops = rate_left, look.only_loops(rate_left)
        if not named:
            raise ShapeError(
                f"v: no velocities of '{look.plant.name}' keep its {'loops closed' if loops else 'constraints'}: the "
                f"smallest remaining error is {look.gaps(rate, '/s')}. Remove constraints that contradict each other."
            )
        raise ShapeError(
            f"v: named velocities of '{look.plant.name}' {'open its loops' if loops else 'violate its constraints'}, "
            f"{look.gaps(rate, '/s')}, whatever the others are. Name fewer velocities."
        )
    return exact


def kept_values(plant: Plant, group: str, given: Any) -> Kept:
    """What stays while the other values of q or v follow: values that are given by name, and joints that are locked."""
    still = np.zeros(plant.nv, dtype=bool)
    still[list(plant.locked)] = True
    known = stated(plant, group, given)
    named = {plant.index(group, name) for name in known} if isinstance(known, Mapping) else set()
    if group == "v":
        still[list(named)] = True
        return Kept((), (), still)
    return Kept(plant.manifold, named, still)
