"""Closing loops again: a configuration near one in which loops are open or coupled joints are off.

    closed = close_loops(robot, q, held="crank", branch="+-")

The residual is phi(q) of mechanics.constraints.closures, brought to zero by analysis.loops.levenberg on all velocities
but those of the joints that are held. Where that ends in a gap, the guess may be bad or the links may be too short:
planar loops are then solved completely (`assemblies`), which finds the way to close them that is nearest or proves that
there is none; for others the gap is closed little by little (the residual is led from phi(q) to 0), then from starts
ever farther away.

More than one configuration closes a loop. `branch` says which one is wanted (see `close_loops`); to carry a mechanism
from one closed configuration to another without changing the way it is assembled, `follow_loops` goes in small steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.closure_sets import Assemblies, Listing, Part, Way, products
from kinemorph.analysis.loops.constraint_rows import Gap, Rows, open_loops, rows_of
from kinemorph.analysis.loops.levenberg import Problem, descend
from kinemorph.analysis.loops.ranges import Ranges
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import ModelError, ShapeError
from kinemorph.model.configuration import difference, integrate, neutral, random_configuration
from kinemorph.model.couplings import followers
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.words import did_you_mean

FARTHEST, SHORTEST = 0.15, 2e-3  # [rad or m], steps on the way of `follow_loops`
MOST_STEPS = 2000
THERE = 1e-9  # [rad or m], a joint that is held is where it was to go
RESTARTS = 24  # starts after the first, where loops are not planar or nobody leads them
STAGES = 8  # in which a gap is closed little by little
ALIKE = 0.02  # gaps of several starts that differ by less, relatively, are the same one

Branch = int | str | npt.ArrayLike
Configuration = npt.ArrayLike | Mapping[str, float]


@dataclass(frozen=True)
class Closed:
    """Where closing ended. True where all loops are closed.

    `q` (nq,), the nearest configuration found; `error` [m or rad], the largest opening that is left; `iterations`;
    `message`, a sentence; `gaps`, by the name of the loop or of the coupled joint, how far each is open [m] and [rad];
    `branch`, the way in which it is assembled, a sign for each block of planar loops.
    """

    q: Array
    error: float
    iterations: int
    converged: bool
    message: str
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    branch: str = ""

    def __bool__(self) -> bool:
        return self.converged

    def __str__(self) -> str:
        return self.message


def close_loops(
    model: Robot | System | Dynamics,
    q: Configuration,
    *,
    held: str | Sequence[str] = (),
    branch: Branch | None = None,
    limits: bool = True,
    tolerance: float = 1e-11,
    iterations: int = 60,
) -> Closed:
    """The configuration near q (nq,) that closes all loops and has coupled joints follow their leaders.

    `model`       a robot, or its Dynamics: compiled functions are then used again from call to call
    `q`           numbers in the order of q_names; or some of them by name, which are held, near the model's start
    `held`        joints that keep their coordinates
    `branch`      the way of assembly that is wanted; by default whichever is near. One of
                      signs, "+-"    one for each block of planar loops, as `assembly_modes` lists them: + where, going
                                     round the block and seen against the axis of the first hinge, its links turn
                                     left. A sign keeps through every motion until the block is singular, a dyad's
                                     until its links are in line.
                      a number       of the list that `assembly_modes` gives at q
                      a closed q     the way in which that configuration is assembled: it is followed from there
                  Signs and numbers need as many joints held as the loops have freedoms; where fewer are, the first
                  ones that suffice keep their coordinates too.
    `limits`      keep joints within their limits
    `tolerance`   the largest opening that counts as closed [m or rad]; that of rounding does in any case
    """
    return Closer(model, limits=limits, tolerance=tolerance, iterations=iterations).close(q, held, branch)


def follow_loops(
    model: Robot | System | Dynamics,
    start: npt.ArrayLike,
    q: npt.ArrayLike,
    *,
    held: str | Sequence[str] = (),
    limits: bool = True,
    tolerance: float = 1e-11,
) -> Closed:
    """From a closed configuration `start` (nq,) to the one nearest to q (nq,), in small steps, closed after each.

    The joints that are `held` go all the way to their coordinates in q. Where the loops cannot be closed any farther on
    the way, the result is not converged and `q` is the last configuration that was closed. A sign of the branch that
    changes within a step makes for shorter steps: only a singular configuration is passed, and no other branch taken.
    """
    return Closer(model, limits=limits, tolerance=tolerance).follow(start, q, held)


class Closer:
    """`close` and `follow` with functions that are made once, for who closes the same robot again and again."""

    def __init__(
        self,
        model: Robot | System | Dynamics,
        *,
        limits: bool = True,
        tolerance: float = 1e-11,
        iterations: int = 60,
        rows: Rows | None = None,
    ) -> None:
        self.dynamics = rows.dynamics if rows else model if isinstance(model, Dynamics) else derive(model)
        self.robot = self.dynamics.robot
        self.rows = rows_of(model, self.dynamics) if rows is None else rows
        self.start = model.initial_state()[0] if isinstance(model, System) else neutral(self.robot)
        self.ranges = Ranges(self.robot, limits, ())
        self.assemblies = Assemblies(self.rows, self.ranges)
        self.tolerance = max(tolerance, self.rows.rounding(self.start))
        self.iterations = iterations

    def close(self, q: Configuration, held: str | Sequence[str] = (), branch: Branch | None = None) -> Closed:
        """See `close_loops`."""
        start = self.ranges.inside(self.checked(q))
        if isinstance(q, Mapping):
            held = (*((held,) if isinstance(held, str) else held), *self.owners(q))
        if branch is not None and not isinstance(branch, (str, int)):
            return self.follow(branch, start, held)
        named = self.named(held)
        if branch is not None:
            return self._signed(self._on_branch(start, named, branch), named)
        found = self.near(start, held)
        if not found:
            found = self._elsewhere(start, named, found)
        return self._signed(found, named)

    def near(self, q: Array, held: str | Sequence[str] = ()) -> Closed:
        """One descent from q, which is within limits; no other start."""
        if self.rows.is_closed_by_itself:
            return Closed(q, 0.0, 0, True, "there are no loops to close.", self.rows.gaps(q))
        fixed = self._fixed(held)
        if fixed.all():  # nothing may move, so there is nothing to descend on
            return self._closed(q, float(np.abs(self.rows.error(q)).max()), 0)
        found = descend(self._problem(fixed), q, reached=self._met, iterations=self.iterations)
        return self._closed(found.q, float(np.abs(found.residual).max()), found.iterations)

    def _problem(self, fixed: npt.NDArray[np.bool_], aside: Array | float = 0.0) -> Problem:
        """phi(q) = aside, on the velocities that are not fixed."""

        def linearize(at: Array) -> tuple[Array, Array]:
            return aside - self.rows.error(at), np.where(fixed, 0.0, self.rows.jacobian(at) @ self.ranges.leading)

        return Problem(linearize, self.ranges.moved, lambda at, push: fixed | self.ranges.held(at, push))

    # ── where the nearest way ends in a gap ───────────────────────────────────────────────────────────────────────

    def _elsewhere(self, start: Array, held: tuple[str, ...], first: Closed) -> Closed:
        """From other starts; where none closes the loops, the least gap with the reason."""
        assembled, reasons = self._assembled(start, held)
        reason = (reasons and (self.over_held(first.q, held) or reasons[0])) or ""
        if reason:
            return self._open(first, reason)
        best, count, sizes = first, first.iterations, [first.error]
        for q in (assembled, *self._starts(start, held)):
            found = self.near(q, held)
            count += found.iterations
            sizes.append(found.error)
            if found:
                message = f"the loops are closed within {found.error:.1e} from start {len(sizes)}: the guess was far."
                return replace(found, iterations=count, message=message)
            best = found if found.error < best.error else best
        return self._open(replace(best, iterations=count), self._excuse(best, held, sizes))

    def _assembled(self, start: Array, held: tuple[str, ...]) -> tuple[Array, list[str]]:
        """(q with planar loops closed, each the nearest way, and why some cannot be: sentences that are proofs)."""
        q, reasons = start.copy(), []
        for part in self.assemblies.parts:
            if part.planar is None:
                continue
            long = self._too_long(part, held, start)
            lead = self.assemblies.leading(part, held)
            listing = self.assemblies.listing(part, start, held if lead is None else lead, starts=False)
            ways = [way for way in listing.ways if self.assemblies.within(part, way.q)]
            if ways:
                self._take(q, part, ways, start)
            elif long:
                reasons.append(long)
            elif lead is not None and set(lead) <= set(held) and listing.complete:
                reasons.append(self._impossible(part, lead, listing, start))
        return q, reasons

    def _take(self, q: Array, part: Part, ways: Sequence[Way], start: Array) -> None:
        """Puts the nearest way of a part into q."""
        places = list(part.places)
        nearest = min(ways, key=lambda way: float(np.linalg.norm(way.q[places] - start[places])))
        q[places] = nearest.q[places]

    def _too_long(self, part: Part, held: Sequence[str], q: Array) -> str:
        """A sentence where one link of a planar loop is longer than all others together."""
        assert part.planar is not None
        known = {self.robot.q_slice(n).start: float(q[self.robot.q_slice(n).start]) for n in part.joints if n in held}
        equations = part.planar.equations(known)
        if equations is None:
            return ""
        for row, slides, loop in zip(equations.C, equations.D, part.loops, strict=True):
            lengths = np.abs(row)
            if not np.abs(slides).any() and 2.0 * lengths.max() > lengths.sum() + 1e-9 * part.planar.size:
                at, remedy = self._holding([name for name in part.joints if name in held], q)
                return (
                    f"No configuration closes '{loop}'{at}: one side of it is {lengths.max():.4g} m long and the "
                    f"others reach {lengths.sum() - lengths.max():.4g} m together. {remedy}"
                )
        return ""

    def _impossible(self, part: Part, lead: Sequence[str], listing: Listing, q: Array) -> str:
        loops = ", ".join(f"'{name}'" for name in part.loops)
        if listing.ways:
            return f"All {len(listing.ways)} configurations that close {loops} are beyond limits of joints."
        at, remedy = self._holding(lead, q)
        short = f": {listing.short[0]}" if listing.short else ""
        return f"No configuration closes {loops}{at}{short}. {remedy}"

    def _holding(self, held: Sequence[str], q: Array) -> tuple[str, str]:
        """(` with crank = 0.3`, what to do about it)."""
        if not held:
            return "", "Change the lengths."
        at = ", ".join(f"{name} = {q[self.robot.q_slice(name).start]:.6g}" for name in held)
        return f" with {at}", "Hold other values, or change the lengths."

    def _starts(self, start: Array, held: tuple[str, ...]) -> list[Array]:
        """Where else to start: the gap led to zero in stages, then configurations ever farther away."""
        fixed, rng = self._fixed(held), np.random.default_rng(0)
        q, gap = start, self.rows.error(start)
        for stage in range(1, STAGES + 1):
            problem = self._problem(fixed, gap * (1.0 - stage / STAGES))
            q = descend(problem, q, reached=self._met, iterations=self.iterations // 4 + 1).q
        starts = [q]
        for k in range(RESTARTS):
            way = difference(self.robot, start, random_configuration(self.robot, rng))
            share = (k + 1.0) / RESTARTS
            starts.append(self.ranges.moved(start, np.where(fixed, 0.0, np.asarray(way) * share)))
        return starts

    def _excuse(self, best: Closed, held: tuple[str, ...], sizes: Sequence[float]) -> str:
        """What may be wrong where no start closed the loops."""
        stuck = self.ranges.at_limits(best.q)
        blame = f"Joints at a limit: {', '.join(stuck)}. " if stuck else ""
        fault = self.over_held(best.q, held)
        if fault:
            return f"{blame}{fault}"
        alike = sum(size <= best.error * (1.0 + ALIKE) + self.tolerance for size in sizes)
        if alike >= 3:
            return (
                f"{blame}{alike} of {len(sizes)} starts end at this gap and none below it, so the lengths do not seem "
                "to allow less: change them, or hold fewer joints."
            )
        return f"{blame}Start nearer to a closed configuration, or hold fewer joints."

    def over_held(self, q: Array, held: Sequence[str]) -> str:
        """A sentence where joints are held that follow from others that are held; empty where none does, or where no
        closed configuration is near to tell.
        """
        closed = self.near(q) or self.near(self._assembled(q, ())[0])
        if not closed or not held:
            return ""
        J = self.rows.jacobian(closed.q)
        lever = self.rows.lever(J)
        _, S, Vt = np.linalg.svd(self.rows.scaled(J, lever))
        motions = Vt[int((S > 1e-7).sum()) :].T  # (nv, freedoms)
        free: list[str] = []
        follows: list[str] = []
        taken = np.zeros((0, motions.shape[1]))
        for name in held:
            grown = np.vstack([taken, motions[self.robot.v_slice(name)]])
            rank = np.linalg.matrix_rank(grown, tol=1e-7) if grown.size else 0
            (free if rank == len(grown) else follows).append(name)
            taken = grown if rank == len(grown) else taken
        if not follows:
            return ""
        them = ", ".join(f"'{name}'" for name in follows)
        whom = ", ".join(f"'{name}'" for name in free)
        verb = "follows" if len(follows) == 1 else "follow"
        why = (
            f"{verb} from {whom}: hold {whom} only" if free else "cannot move, as the loops leave no freedom: hold none"
        )
        return f"Held joint{'s' * (len(follows) > 1)} {them} {why}."

    # ── branches ──────────────────────────────────────────────────────────────────────────────────────────────────

    def listings(self, q: Array, held: Sequence[str]) -> list[tuple[Part, tuple[str, ...], Listing]]:
        """For each set of loops that share joints: who leads it, and the ways to close it within limits."""
        found = []
        for part in self.assemblies.parts:
            lead = self.assemblies.leading(part, held)
            lead = tuple(name for name in part.joints if name in held) if lead is None else lead
            listing = self.assemblies.listing(part, q, lead)
            inside = [way for way in listing.ways if self.assemblies.within(part, way.q)]
            found.append((part, lead, listing._replace(ways=inside)))
        return found

    def _on_branch(self, start: Array, held: tuple[str, ...], branch: int | str) -> Closed:
        """The way of assembly of that name or number, nearest to the start."""
        if isinstance(branch, str) and not set(branch) <= set("+-0"):
            raise ShapeError(
                f"close_loops: branch '{branch}' is no signs; expected one + or - for each block, as '+-'."
            )
        rows = self.listings(start, held)
        leads = tuple(dict.fromkeys(name for _, lead, _ in rows for name in lead))
        ways = list(products([listing for _, _, listing in rows], start, [part for part, _, _ in rows]))
        first = self.near(start, leads)
        if not ways:
            return first or self._elsewhere(start, leads, first)
        if isinstance(branch, str):
            named = [way for way in ways if signature(way.signs) == branch]
            blocks = len(ways[0].signs)
            if len(branch) != blocks:
                raise ShapeError(
                    f"close_loops: branch '{branch}' has {len(branch)} signs; expected {blocks}, one for each block of "
                    f"planar loops, as '{signature(ways[0].signs)}'."
                )
        elif not 0 <= branch < len(ways):
            raise ShapeError(f"close_loops: branch is {branch}; expected 0 to {len(ways) - 1}, a place in the list.")
        else:
            named = [ways[branch]]
        if not named:
            known = ", ".join(sorted({f"'{signature(way.signs)}'" for way in ways}))
            at = ", ".join(f"{name} = {start[self.robot.q_slice(name).start]:.6g}" for name in leads)
            return self._open(first, f"No configuration has branch '{branch}' with {at}; there is {known}.")
        nearest = min(named, key=lambda way: float(np.linalg.norm(difference(self.robot, start, way.q))))
        return self.near(nearest.q, leads)

    def signs(self, q: Array, held: Sequence[str]) -> str:
        """The branch of a closed configuration, as signs; empty where loops are not planar."""
        signs: list[int] = []
        for part in self.assemblies.parts:
            lead = self.assemblies.leading(part, held)
            signs += self.assemblies.signs(part, q, lead) if lead is not None else ()
        return signature(signs)

    def _signed(self, found: Closed, held: Sequence[str]) -> Closed:
        return replace(found, branch=self.signs(found.q, held)) if found else found

    # ── following ─────────────────────────────────────────────────────────────────────────────────────────────────

    def follow(self, start: npt.ArrayLike, q: npt.ArrayLike, held: str | Sequence[str] = ()) -> Closed:
        """See `follow_loops`."""
        goal = self.checked(q)
        begun = self.near(self.ranges.inside(self.checked(start)))
        if not begun:
            return begun
        drawn = self._of_joints(held)
        led = bool(drawn.any())
        drawn = drawn if led else np.ones_like(drawn)  # where nobody leads, all go toward q
        now, count, longest, careful = begun, begun.iterations, FARTHEST, FARTHEST
        names, trend = self.named(held), np.zeros(self.robot.nv)
        branch = self.signs(now.q, names) if led else ""
        for _ in range(MOST_STEPS):
            way = self._way(now.q, goal, drawn)
            length = float(np.abs(way).max(initial=0.0))
            farthest = min(longest, careful)
            step = way * min(1.0, farthest / max(length, farthest))
            if led:  # the others go on as they went: through a singular configuration, and not back from it
                step = np.where(drawn, step, trend * np.linalg.norm(step))
            found = self.near(self.ranges.inside(np.asarray(integrate(self.robot, now.q, step))), held)
            count += found.iterations
            there = self.signs(found.q, names) if led and found else branch
            if careful > SHORTEST and any({a, b} == {"+", "-"} for a, b in zip(branch, there, strict=True)):
                careful = 0.5 * farthest  # it may have been a jump to another branch: look closer
                continue
            left = float(np.linalg.norm(self._way(found.q, goal, drawn)))
            if found and length <= farthest and (left <= THERE or not led):
                return self._signed(replace(found, iterations=count), self.named(held))
            # limits hold a joint back, and loops one that nobody leads: then it comes no nearer
            nearer = bool(found) and left < np.linalg.norm(way) - 1e-3 * min(length, farthest)
            if nearer:
                went = np.asarray(difference(self.robot, now.q, found.q))
                trend = went / max(float(np.linalg.norm(went[drawn])), 1e-12)
                now, branch, careful = found, there, 2.0 * careful
            if not nearer and longest > SHORTEST:
                longest *= 0.5  # the end of the way is near
            elif not nearer:
                break
        else:
            message = f"this is as far as {MOST_STEPS} steps go. Go nearer first."
            return replace(now, iterations=count, converged=False, message=message)
        if found and not led:
            return self._signed(replace(now, iterations=count), ())
        reason = found.message if not found else f"joints at a limit: {', '.join(self.ranges.at_limits(found.q))}."
        message = f"this is as far as the loops close; {reason}"
        return replace(now, iterations=count, converged=False, message=message)

    def _way(self, q: Array, goal: Array, drawn: npt.NDArray[np.bool_]) -> Array:
        """From q to the goal, (nv,), of the joints that are drawn there."""
        return np.where(drawn, difference(self.robot, q, goal), 0.0)

    # ── what the robot says ───────────────────────────────────────────────────────────────────────────────────────

    def named(self, held: str | Sequence[str]) -> tuple[str, ...]:
        """Joints that are held, each a leader; an unknown name is an error."""
        names = (held,) if isinstance(held, str) else tuple(held)
        for name in names:
            self.robot.v_slice(name)
        return tuple(dict.fromkeys(self._leaders.get(name, name) for name in names))

    def _fixed(self, held: str | Sequence[str]) -> npt.NDArray[np.bool_]:
        """Velocities of the joints that are held, shape (nv,); those of coupled joints move with their leaders only."""
        return self._of_joints(held) | self._of_joints(tuple(self._leaders), followed=False)

    def _of_joints(self, joints: str | Sequence[str], *, followed: bool = True) -> npt.NDArray[np.bool_]:
        """Which velocities (nv,) are those of joints; a coupled joint stands for its leader."""
        chosen = np.zeros(self.robot.nv, dtype=bool)
        for joint in (joints,) if isinstance(joints, str) else joints:
            chosen[self.robot.v_slice(self._leaders.get(joint, joint) if followed else joint)] = True
        return chosen

    @cached_property
    def _leaders(self) -> dict[str, str]:
        return {joint: row.leader for joint, row in followers(self.robot.couplings).items()}

    def checked(self, q: Configuration) -> Array:
        """A configuration (nq,), by order or by name; what is not named is where the model starts."""
        try:
            if isinstance(q, Mapping):
                values = self._around({self._place(name): float(value) for name, value in q.items()})
            else:
                values = np.array(q, dtype=float)
        except (TypeError, ValueError):
            raise ShapeError(
                f"close_loops: q is {q!r}; expected {self.robot.nq} numbers, or some of them by name."
            ) from None
        if values.shape != (self.robot.nq,) or not np.isfinite(values).all():
            given = f"has shape {values.shape}" if values.shape != (self.robot.nq,) else f"is {values.tolist()}"
            raise ShapeError(
                f"close_loops: q {given}; expected ({self.robot.nq},) finite numbers for robot '{self.robot.name}', "
                "one for each of q_names."
            )
        return values

    def _around(self, known: Mapping[int, float]) -> Array:
        """The model's start with coordinates, by place, as they are known; a coupled joint's tells its leader's."""
        values = self.start.copy()
        for joint, row in followers(self.robot.couplings).items():
            place, leader = (self.robot.q_slice(name).start for name in (joint, row.leader))
            if place in known and leader not in known and row.multiplier != 0.0:
                values[leader] = (known[place] - row.offset) / row.multiplier
        values[list(known)] = list(known.values())
        return values

    def _place(self, coordinate: str) -> int:
        if coordinate not in self.robot.q_names:
            hint = did_you_mean(coordinate, self.robot.q_names)
            raise ModelError(
                f"close_loops: robot '{self.robot.name}' has no coordinate '{coordinate}'.{hint} Known: "
                f"{', '.join(self.robot.q_names)}."
            )
        return self.robot.q_names.index(coordinate)

    def owners(self, coordinates: Iterable[str]) -> tuple[str, ...]:
        """The joints that coordinates, by name, belong to."""
        places = [self._place(name) for name in coordinates]
        slices = {joint.name: self.robot.q_slice(joint.name) for joint in self.robot.joints}
        return tuple(n for n, part in slices.items() if any(part.start <= place < part.stop for place in places))

    def _met(self, residual: Array) -> bool:
        return bool(np.abs(residual).max() <= self.tolerance)

    def _closed(self, q: Array, error: float, iterations: int) -> Closed:
        gaps = self.rows.gaps(q)
        error = max([error, *(angle for _, angle in gaps.values() if angle > 1.0)])  # closed the wrong way round
        if error <= self.tolerance:
            message = f"the loops are closed within {error:.1e} after {iterations} steps."
            return Closed(q, error, iterations, True, message, gaps)
        found = Closed(q, error, iterations, False, "", gaps)
        stuck = self.ranges.at_limits(q)
        blame = f"Joints at a limit: {', '.join(stuck)}. " if stuck else ""
        return self._open(found, f"{blame}Start nearer to a closed configuration, or hold fewer joints.")

    def _open(self, found: Closed, reason: str) -> Closed:
        """A result that is not closed, with its sentence: which loops stay open, the largest first, and why."""
        which = open_loops(found.gaps, self.tolerance)
        steps = f"{found.iterations} steps"
        message = f"the loops stay open, {which}, after {steps}. {reason}" if which else reason
        return replace(found, converged=False, message=message)


def signature(signs: Sequence[int]) -> str:
    """`+-0`: a sign for each block, 0 where it is singular."""
    return "".join({1: "+", -1: "-"}.get(sign, "0") for sign in signs)
