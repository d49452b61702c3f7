"""`close_loops`: a closed configuration near one in which loops are open or coupled joints do not follow their leaders.

    closed = close_loops(robot, q, held="crank", branch="+-")

A held joint keeps its coordinates. The residual is phi(q) of mechanics.constraints.closures, which
analysis.loops.levenberg brings to zero by moving all joints that are not held. Where a gap remains, the initial guess
may be bad or the links may be too short. Planar loops are then solved completely (`closure_sets`), which finds the
nearest closed configuration or proves that there is none. For other loops the gap is closed in stages (the residual
goes from phi(q) to 0 in steps), then from initial guesses farther and farther away.

More than one configuration closes a loop; `branch` chooses one (see `close_loops`). `follow_loops` moves a mechanism
from one closed configuration to another in small steps, without a change of branch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.closure_sets import ClosedSet, ClosureSets, Listing, LoopSet, products
from kinemorph.analysis.loops.constraint_rows import FLAT, Gap, RobotRows, open_loops, rows_of
from kinemorph.analysis.loops.levenberg import LeastSquares, descend
from kinemorph.analysis.loops.named_coordinates import Configuration, NamedCoordinates
from kinemorph.analysis.loops.ranges import Ranges
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import ShapeError
from kinemorph.mechanics.constraints.independent_columns import independent_columns
from kinemorph.model.configuration import difference, integrate, neutral, random_configuration
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.words import counted, listed, quoted

FARTHEST, SHORTEST = 0.15, 2e-3  # [rad or m], step sizes of `follow_loops`
MOST_STEPS = 2000  # of `follow_loops`
THERE = 1e-9  # [rad or m], a held joint that is nearer to its goal has arrived
RESTARTS = 24  # initial guesses after the first, where loops are not planar or have no leading joints
ROUNDED = 1e-5  # [m or rad], a smaller gap may come from rounded numbers in a file
STAGES = 8  # stages in which a gap is closed
ALIKE = 0.02  # gaps from several initial guesses with a smaller relative difference count as equal
NEARER = "Start nearer to a closed configuration, or hold fewer joints."

Branch = int | str | npt.ArrayLike


@dataclass(frozen=True)
class Closed:
    """The result of `close_loops` or `follow_loops`. As a bool it is True where all loops are closed.

    `q` (nq,)      the nearest configuration found
    `error`        the largest gap that is left [m or rad]
    `iterations`   the number of steps
    `message`      the outcome as a sentence
    `gaps`         loop or coupled joint -> how far it is open [m] and [rad]
    `branch`       a sign for each block of planar loops, as "+-"
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
    """The configuration near q (nq,) that closes all loops; coupled joints follow their leaders.

    `model`       a robot or a system; or its Dynamics, whose compiled functions are used again in each call
    `q`           numbers in the order of q_names; or some of them by name: their joints are held, and the other
                  coordinates start from the model's initial configuration
    `held`        names of joints that keep their coordinates
    `branch`      which closed configuration to choose; by default a near one. It is one of
                      signs, "+-"    one for each block of planar loops, see `closed_configurations`: + where, going
                                     round the block and looking against the axis of the first hinge, its links turn
                                     left. A sign stays the same in every motion until the block is singular: for a
                                     dyad, until its links are in line.
                      a number       the index in the list that `closed_configurations` gives at q
                      a closed q     the branch of that configuration: the motion from it to q is followed
                  Signs and numbers need as many held joints as the loops have degrees of freedom; where fewer joints
                  are held, the first joints that suffice are held as well.
    `limits`      keep joints within their limits
    `tolerance`   the largest gap of a closed loop [m or rad]; a gap of the size of rounding errors always counts as
                  closed
    `iterations`  the most steps from one initial guess
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
    """The closed configuration nearest to q (nq,) that a motion from the closed configuration `start` (nq,) reaches.

    The motion goes in small steps, and loops are closed after each. The `held` joints go to their coordinates in q.
    Where the loops cannot be closed any farther along the path, the result is not converged and `q` is the last closed
    configuration. Where a sign of the branch changes within a step, shorter steps are tried: the path may pass a
    singular configuration, but never jumps to another branch. The other arguments are those of `close_loops`.
    """
    return Closer(model, limits=limits, tolerance=tolerance).follow(start, q, held)


class Closer:
    """`close_loops` and `follow_loops` for one robot, with functions that are compiled once for all calls."""

    def __init__(
        self,
        model: Robot | System | Dynamics,
        *,
        limits: bool = True,
        tolerance: float = 1e-11,
        iterations: int = 60,
        rows: RobotRows | None = None,
    ) -> None:
        self.dynamics = rows.dynamics if rows else model if isinstance(model, Dynamics) else derive(model)
        self.robot = self.dynamics.robot
        self.rows = rows_of(model, self.dynamics) if rows is None else rows
        self.start = model.initial_state()[0] if isinstance(model, System) else neutral(self.robot)
        self.names = NamedCoordinates(self.robot, self.start)
        self.ranges = Ranges(self.robot, limits, ())
        self.sets = ClosureSets(self.rows, self.ranges)
        self.tolerance = max(tolerance, self.rows.rounding(self.start))
        self.iterations = iterations

    def close(self, q: Configuration, held: str | Sequence[str] = (), branch: Branch | None = None) -> Closed:
        """The configuration near q that closes all loops; see `close_loops`."""
        start = self.ranges.inside(self.names.configuration(q))
        if isinstance(q, Mapping):
            held = (*((held,) if isinstance(held, str) else held), *self.names.joints_of(q))
        if branch is not None and not isinstance(branch, (str, int)):
            return self.follow(branch, start, held)
        named = self.names.leading(held)
        if branch is not None:
            return self.signed(self._on_branch(start, named, branch), named)
        found = self.near(start, held)
        if not found:
            found = self._elsewhere(start, named, found)
        return self.signed(found, named)

    def near(self, q: Array, held: str | Sequence[str] = ()) -> Closed:
        """The result of one Levenberg-Marquardt descent from q (nq,), which has to be within limits."""
        if self.rows.is_always_closed:
            return Closed(q, 0.0, 0, True, "there are no loops to close.", self.rows.gaps(q))
        fixed = self._fixed(held)
        if fixed.all():  # nothing may move, so there is nothing to descend on
            return self._closed(q, float(np.abs(self.rows.error(q)).max()), 0)
        found = descend(self._problem(fixed), q, reached=self._met, iterations=self.iterations)
        return self._closed(found.q, float(np.abs(found.residual).max()), found.iterations)

    def _fixed(self, held: str | Sequence[str]) -> npt.NDArray[np.bool_]:
        """A mask (nv,) of the velocities that must not change: of held joints and of coupled joints."""
        return self.names.velocities((*self.names.leading(held), *self.names.leaders))

    def _problem(self, fixed: npt.NDArray[np.bool_], aside: Array | float = 0.0) -> LeastSquares:
        """The problem of least squares phi(q) = aside, for the velocities outside the mask `fixed` (nv,).

        `aside` (nc,) is the gap that may remain; 0 for closed loops.
        """

        def linearize(at: Array) -> tuple[Array, Array]:
            return aside - self.rows.error(at), np.where(fixed, 0.0, self.rows.jacobian(at) @ self.ranges.leading)

        return LeastSquares(linearize, self.ranges.moved, lambda at, push: fixed | self.ranges.held(at, push))

    # ── other initial guesses, where the first leaves a gap ───────────────────────────────────────────────────────

    def _elsewhere(self, start: Array, held: tuple[str, ...], first: Closed) -> Closed:
        """The result from other initial guesses; where none closes the loops, the one with the smallest gap."""
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
                message = (
                    f"the loops are closed within {found.error:.1e} from initial guess {len(sizes)}, as the first one "
                    "was too far away."
                )
                return replace(found, iterations=count, message=message)
            best = found if found.error < best.error else best
        return self._open(replace(best, iterations=count), self._excuse(best, held, sizes))

    def _assembled(self, start: Array, held: tuple[str, ...]) -> tuple[Array, list[str]]:
        """(`start` (nq,) with each set of planar loops closed as near to it as possible, why some cannot be closed)."""
        q, reasons = start.copy(), []
        for part in self.sets.all:
            if part.planar is None:
                continue
            long = self._too_long(part, held, start)
            lead = self.sets.leading(part, held)
            listing = self.sets.listing(part, start, held if lead is None else lead, starts=False)
            ways = [way for way in listing.ways if self.sets.within(part, way.q)]
            if ways:
                self._take(q, part, ways, start)
            elif long:
                reasons.append(long)
            elif lead is not None and set(lead) <= set(held) and listing.complete:
                reasons.append(self._impossible(part, lead, listing, start))
        return q, reasons

    def _take(self, q: Array, part: LoopSet, ways: Sequence[ClosedSet], start: Array) -> None:
        """Sets the coordinates of one set of loops in q: to those of its closed configuration nearest to `start`."""
        places = list(part.places)
        nearest = min(ways, key=lambda way: float(np.linalg.norm(way.q[places] - start[places])))
        q[places] = nearest.q[places]

    def _too_long(self, part: LoopSet, held: Sequence[str], q: Array) -> str:
        """A sentence if a planar loop cannot close because one link is longer than all others together; else ""."""
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
                    f"others together only {lengths.sum() - lengths.max():.4g} m. {remedy}"
                )
        return ""

    def _impossible(self, part: LoopSet, lead: Sequence[str], listing: Listing, q: Array) -> str:
        loops = quoted(part.loops)
        if listing.ways:
            return (
                f"{loops} can be closed only beyond limits of joints ({counted(len(listing.ways), 'configuration')}). "
                "Widen the limits, or pass limits=False."
            )
        at, remedy = self._holding(lead, q)
        short = f": {listing.short[0]}" if listing.short else ""
        return f"No configuration closes {loops}{at}{short}. {remedy}"

    def _holding(self, held: Sequence[str], q: Array) -> tuple[str, str]:
        """(the held coordinates in words, as ` with crank = 0.3`; a sentence about what the user can change)."""
        if not held:
            return "", "Change the lengths."
        return f" with {self._values(held, q)}", "Hold other values, or change the lengths."

    def _values(self, held: Sequence[str], q: Array) -> str:
        """The coordinates of held joints in words, as `crank = 0.3, rocker = 1.2`."""
        return listed(f"{name} = {q[self.robot.q_slice(name).start]:.6g}" for name in held)

    def _starts(self, start: Array, held: tuple[str, ...]) -> list[Array]:
        """Other initial guesses: one with the gap closed in stages, then configurations farther and farther away."""
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
        """Sentences with likely reasons why no initial guess closed the loops, and what to try.

        `best` is the result with the smallest gap; `sizes` [m or rad] are the gaps left by the initial guesses.
        """
        blame = self._stuck(best.q)
        fault = self.over_held(best.q, held)
        if fault:
            return f"{blame}{fault}"
        alike = sum(size <= best.error * (1.0 + ALIKE) + self.tolerance for size in sizes)
        if alike >= 3:
            return (
                f"{blame}{alike} of {len(sizes)} initial guesses end at this gap and none below it, so the lengths do "
                f"not seem to allow a smaller gap. {self._remedy(best)}"
            )
        return f"{blame}{NEARER if best.error > ROUNDED else self._remedy(best)}"

    def _remedy(self, best: Closed) -> str:
        """A sentence on what the user can change, if no gap smaller than that of the result `best` seems possible."""
        if best.error > ROUNDED:
            return "Change the lengths, or hold fewer joints."
        return f"If lengths are rounded, pass tolerance={2.0 * best.error:.0e} to accept this gap."

    def over_held(self, q: Array, held: Sequence[str]) -> str:
        """A sentence about held joints whose coordinates follow from other held joints; empty where there are none.

        It is also empty where no closed configuration is near enough to q to decide this.
        """
        closed = self.near(q) or self.near(self._assembled(q, ())[0])
        if not closed or not held:
            return ""
        J = self.rows.jacobian(closed.q)
        lever = self.rows.lever(J)
        _, S, Vt = np.linalg.svd(self.rows.scaled(J, lever))
        motions = Vt[int((S > FLAT).sum()) :].T  # (nv, freedoms)
        free: list[str] = []
        follows: list[str] = []
        taken: list[int] = []
        for name in held:
            grown = [*taken, *range(self.robot.nv)[self.robot.v_slice(name)]]
            prescribed = len(independent_columns(motions.T, grown, least=FLAT)) == len(grown)
            (free if prescribed else follows).append(name)
            taken = grown if prescribed else taken
        if not follows:
            return ""
        verb = "is" if len(follows) == 1 else "are"
        why = "cannot move, as the loops leave no freedom: hold no joint"
        if free:
            why = f"{verb} determined by {quoted(free)}: hold {quoted(free)} only"
        return f"Held joint{'s' * (len(follows) > 1)} {quoted(follows)} {why}."

    # ── branches ──────────────────────────────────────────────────────────────────────────────────────────────────

    def listings(self, q: Array, held: Sequence[str]) -> list[tuple[LoopSet, tuple[str, ...], Listing]]:
        """(the set of loops, its leading joints, its closed configurations within limits), for each set of loops."""
        found = []
        for part in self.sets.all:
            lead = self.sets.leading(part, held)
            lead = tuple(name for name in part.joints if name in held) if lead is None else lead
            listing = self.sets.listing(part, q, lead)
            inside = [way for way in listing.ways if self.sets.within(part, way.q)]
            found.append((part, lead, listing._replace(ways=inside)))
        return found

    def _on_branch(self, start: Array, held: tuple[str, ...], branch: int | str) -> Closed:
        """The closed configuration with this branch (signs or a number) that is nearest to `start` (nq,)."""
        if isinstance(branch, str) and not set(branch) <= set("+-0"):
            raise ShapeError(
                f"close_loops: branch is '{branch}'; expected one + or - for each block of planar loops, as '+-'. "
                "closed_configurations lists all branches."
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
                    f"planar loops, as '{signature(ways[0].signs)}'. closed_configurations lists all branches."
                )
        elif not 0 <= branch < len(ways):
            raise ShapeError(
                f"close_loops: branch is {branch}; expected 0 to {len(ways) - 1}, an index in the list that "
                "closed_configurations gives."
            )
        else:
            named = [ways[branch]]
        if not named:
            known = quoted(sorted({signature(way.signs) for way in ways}))
            at = self._values(leads, start)
            return self._open(first, f"No configuration has branch '{branch}' with {at}. Choose from: {known}.")
        nearest = min(named, key=lambda way: float(np.linalg.norm(difference(self.robot, start, way.q))))
        return self.near(nearest.q, leads)

    def signs(self, q: Array, held: Sequence[str]) -> str:
        """The branch of a closed configuration, as signs; empty where loops are not planar."""
        signs: list[int] = []
        for part in self.sets.all:
            lead = self.sets.leading(part, held)
            signs += self.sets.signs(part, q, lead) if lead is not None else ()
        return signature(signs)

    def signed(self, found: Closed, held: Sequence[str]) -> Closed:
        """The result with its branch filled in, where the loops are closed."""
        return replace(found, branch=self.signs(found.q, held)) if found else found

    # ── following ─────────────────────────────────────────────────────────────────────────────────────────────────

    def follow(self, start: npt.ArrayLike, q: npt.ArrayLike, held: str | Sequence[str] = ()) -> Closed:
        """The closed configuration that a motion from `start` to q reaches; see `follow_loops`."""
        goal = self.names.configuration(q)
        begun = self.near(self.ranges.inside(self.names.configuration(start)))
        return _Path(self, goal, self.names.leading(held)).followed(begun) if begun else begun

    # ── results ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _met(self, residual: Array) -> bool:
        return bool(np.abs(residual).max() <= self.tolerance)

    def _closed(self, q: Array, error: float, iterations: int) -> Closed:
        gaps = self.rows.gaps(q)
        error = max([error, *(angle for _, angle in gaps.values() if angle > 1.0)])  # closed with opposite axes
        if error <= self.tolerance:
            message = f"the loops are closed within {error:.1e} after {iterations} steps."
            return Closed(q, error, iterations, True, message, gaps)
        found = Closed(q, error, iterations, False, "", gaps)
        return self._open(found, f"{self._stuck(q)}{NEARER}")

    def _stuck(self, q: Array) -> str:
        """The sentence that names the joints at a limit, with a space after it; empty where there are none."""
        stuck = self.ranges.at_limits(q)
        return f"Joints at a limit: {listed(stuck)}. " if stuck else ""

    def _open(self, found: Closed, reason: str) -> Closed:
        """A result that is not closed; its message names the open loops, the largest gap first, and the reason."""
        which = open_loops(found.gaps, self.tolerance)
        message = f"the loops stay open, {which}, after {found.iterations} steps. {reason}" if which else reason
        return replace(found, converged=False, message=message)


class _Path:
    """The motion of a closed robot toward a goal (nq,) in small steps, with the loops closed again after each.

    Held joints lead: they go to the goal, and the others continue as they moved before, so that they pass through a
    singular configuration instead of turning back there. Where no joint is held, all joints go toward the goal.
    """

    def __init__(self, closer: Closer, goal: Array, held: tuple[str, ...]) -> None:
        self.closer, self.goal, self.robot = closer, goal, closer.robot
        drawn = closer.names.velocities(held)
        self.held = held if drawn.any() else ()
        self.drawn = drawn if self.held else np.ones_like(drawn)
        self.trend = np.zeros(self.robot.nv)  # the last step of all joints, divided by the step length of leading ones

    def followed(self, now: Closed) -> Closed:
        """The end of the path from a closed configuration; where it is not reached, the last closed configuration."""
        count, longest, careful, branch = now.iterations, FARTHEST, FARTHEST, self._branch(now)
        for _ in range(MOST_STEPS):
            ahead = self._ahead(now.q)
            length, farthest = float(np.abs(ahead).max(initial=0.0)), min(longest, careful)
            found = self._next(now.q, ahead * min(1.0, farthest / max(length, farthest)))
            count += found.iterations
            there = self._branch(found) if found else branch
            if careful > SHORTEST and any({a, b} == {"+", "-"} for a, b in zip(branch, there, strict=True)):
                careful = 0.5 * farthest  # this may be a jump to another branch: try a shorter step
                continue
            left = float(np.linalg.norm(self._ahead(found.q)))
            if found and length <= farthest and (left <= THERE or not self.held):
                return self.closer.signed(replace(found, iterations=count), self.held)
            # limits stop a joint, and so do loops where no joint leads: then the steps come no nearer to the goal
            if found and left < np.linalg.norm(ahead) - 1e-3 * min(length, farthest):
                went = np.asarray(difference(self.robot, now.q, found.q))
                self.trend = went / max(float(np.linalg.norm(went[self.drawn])), 1e-12)
                now, branch, careful = found, there, 2.0 * careful
            elif longest > SHORTEST:
                longest *= 0.5  # the end of the path is near
            else:
                return self._stopped(replace(now, iterations=count), found)
        message = f"the goal is not reached after {MOST_STEPS} steps. Start nearer to it, or give goals in between."
        return replace(now, iterations=count, converged=False, message=message)

    def _ahead(self, q: Array) -> Array:
        """The displacement (nv,) from q to the goal, for the joints that lead; 0 for the others."""
        return np.where(self.drawn, difference(self.robot, q, self.goal), 0.0)

    def _next(self, q: Array, step: Array) -> Closed:
        if self.held:
            step = np.where(self.drawn, step, self.trend * np.linalg.norm(step))
        return self.closer.near(self.closer.ranges.inside(np.asarray(integrate(self.robot, q, step))), self.held)

    def _branch(self, at: Closed) -> str:
        return self.closer.signs(at.q, self.held) if self.held else ""

    def _stopped(self, last: Closed, found: Closed) -> Closed:
        """The result at the last closed configuration, after the step `found` failed or came no nearer to the goal."""
        if found and not self.held:
            return self.closer.signed(last, ())
        reason = f"joints at a limit: {listed(self.closer.ranges.at_limits(found.q))}." if found else found.message
        return replace(last, converged=False, message=f"the loops cannot be closed farther along the path; {reason}")


def signature(signs: Sequence[int]) -> str:
    """The branch as text, `+-0`: a sign for each block of planar loops, 0 where a block is singular."""
    return "".join({1: "+", -1: "-"}.get(sign, "0") for sign in signs)
