"""The sets of loops of a robot that are closed independently, and the closed configurations of each.

Loops that share joints are one set, and sets are independent of each other. Held joints keep their coordinates. A
planar set with as many held joints as it has degrees of freedom is solved completely (`planar_equations`,
`planar_solutions`); any other set is solved by Newton's method from many random configurations, which may miss some
solutions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops import planar_solutions
from kinemorph.analysis.loops.constraint_rows import FLAT, RobotRows
from kinemorph.analysis.loops.planar_equations import Equations, PlanarLoops, components, planar_loops
from kinemorph.analysis.loops.ranges import Ranges
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import difference, integrate, random_configuration
from kinemorph.model.couplings import Follower, followers

Mask = npt.NDArray[np.bool_]

STARTS, ROUNDS = 96, 40  # initial guesses and steps of Newton's method where loops are not planar
FULL_TURN = 2.0 * np.pi
SAME = 1e-6  # [rad or m], configurations that differ by less are the same


class LoopSet(NamedTuple):
    """A set of loops that share joints: the names of its loops and joints, and the joints' indices in q and v."""

    loops: tuple[str, ...]
    joints: tuple[str, ...]
    places: tuple[int, ...]
    velocities: tuple[int, ...]
    planar: PlanarLoops | None


class ClosedSet(NamedTuple):
    """A closed configuration of a set of loops: q (nq,) of the whole robot, and its branch as signs.

    `signs` has 1, -1 or 0 (singular) for each block of equations, see `planar_solutions`; it is () where the
    set is not planar.
    """

    q: Array
    signs: tuple[int, ...]


class Listing(NamedTuple):
    """The closed configurations `ways` of a set of loops; `complete` tells whether these are all.

    `most` is the largest number of closed configurations that any link lengths allow, 0 where it is not known. `short`
    has the reasons why there are fewer.
    """

    ways: list[ClosedSet]
    complete: bool
    most: int
    short: list[str]


class ClosureSets:
    """The sets of loops of one robot and their closed configurations."""

    def __init__(self, rows: RobotRows, ranges: Ranges) -> None:
        self.rows = rows
        self.robot = rows.robot
        self.ranges = ranges

    @cached_property
    def all(self) -> list[LoopSet]:
        """All sets of loops that share joints."""
        tree, robot = resolve(self.robot), self.robot
        joint_at = {place: joint for joint in robot.joints for place in range(*_bounds(robot.q_slice(joint.name)))}
        coupled = self._followers
        found = []
        for loops, links in components(tree):
            joints = list(dict.fromkeys(joint_at[tree.links[i].q].name for i in links))
            led = {coupled[name].leader for name in joints if name in coupled}
            joints += [name for name in led if name not in joints]
            planar = planar_loops(tree, loops, links) if not led else None
            q = [place for name in joints for place in range(*_bounds(robot.q_slice(name)))]
            v = [place for name in joints for place in range(*_bounds(robot.v_slice(name)))]
            found.append(LoopSet(tuple(robot.loops[i].name for i in loops), tuple(joints), tuple(q), tuple(v), planar))
        return found

    # ── leading joints ────────────────────────────────────────────────────────────────────────────────────────────

    def leading(self, part: LoopSet, held: Collection[str]) -> tuple[str, ...] | None:
        """The joints to hold so that a planar set of loops has finitely many closed configurations.

        These are the held joints and the first other joints that suffice. They depend on the robot alone, not on its
        configuration, so that the names of branches keep their meaning. None where the set is not planar or too many
        joints are held.
        """
        if part.planar is None:
            return None
        mine = [name for name in part.joints if name in held]
        free = [name for name in part.joints if name not in held]
        equations = part.planar.equations(self._known(part, mine, np.ones(self.robot.nq)))
        missing = -1 if equations is None else equations.unknowns - 2 * len(equations.C)
        if missing < 0:
            return None
        for more in combinations(free, missing):
            if self._decided(part, (*mine, *more), np.ones(self.robot.nq)) is not None:
                return (*mine, *more)
        return None

    def _known(self, part: LoopSet, held: Collection[str], q: Array) -> dict[int, float]:
        return {self.robot.q_slice(name).start: float(q[self.robot.q_slice(name).start]) for name in held}

    def _decided(
        self, part: LoopSet, held: Collection[str], q: Array
    ) -> tuple[Equations, list[planar_solutions.Block]] | None:
        """(loop equations of a planar set, the blocks in which they are solved), with held joints as in q (nq,).

        None where the equations do not determine all unknowns.
        """
        assert part.planar is not None
        equations = part.planar.equations(self._known(part, held, q))
        if equations is None or equations.unknowns != 2 * len(equations.C):
            return None
        blocks = planar_solutions.blocks(equations, part.planar.size)
        return None if blocks is None else (equations, blocks)

    # ── listing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def listing(self, part: LoopSet, q: Array, held: Collection[str], *, starts: bool = True) -> Listing:
        """The closed configurations of one set of loops with held joints as in q (nq,).

        Angles are chosen within half a turn of q, where limits allow. A set that is not planar is solved from many
        initial guesses if `starts` is true; otherwise its listing is empty.
        """
        mine = [name for name in part.joints if name in held]
        decided = self._decided(part, mine, q) if part.planar is not None else None
        if decided is not None and part.planar is not None:
            equations, blocks = decided
            try:
                found, short = planar_solutions.solutions(equations, blocks, part.planar.size)
            except planar_solutions.Undecided:
                pass
            else:
                most = int(np.prod([(2 if len(block.rows) == 1 else 6) if block.turns else 1 for block in blocks]))
                ways = [self._way(equations, one, q) for one in found]
                ways = sorted(ways, key=lambda way: (tuple(-sign for sign in way.signs), tuple(way.q)))
                return Listing(self._different(ways, part.places), True, most, short)
        return self._from_many_starts(part, q, held) if starts else Listing([], False, 0, [])

    def _way(self, equations: Equations, solution: planar_solutions.Solution, q: Array) -> ClosedSet:
        """A solution of the loop equations as a configuration, with angles within limits and as near q as possible."""
        at = q.copy()
        lower, upper = self.ranges.bounds
        for place, sign, mine, factor, parent, other in equations.angles:
            turn = factor * solution.turns[mine] / (other * solution.turns[parent])
            angle = sign * float(np.angle(turn))
            angle += FULL_TURN * round((q[place] - angle) / FULL_TURN)
            if not lower[place] - SAME <= angle <= upper[place] + SAME:
                inside = [angle + k * FULL_TURN for k in (-2, -1, 1, 2)]
                inside = [x for x in inside if lower[place] - SAME <= x <= upper[place] + SAME]
                angle = min(inside, key=lambda x: abs(x - q[place]), default=angle)
            at[place] = angle
        for place, slide in equations.travels:
            at[place] = solution.travels[slide]
        return ClosedSet(at, solution.signs)

    def within(self, part: LoopSet, q: Array) -> bool:
        """Whether the coordinates of the joints of a set are within their limits."""
        lower, upper = self.ranges.bounds
        places = list(part.places)
        return bool(((lower[places] - SAME <= q[places]) & (q[places] <= upper[places] + SAME)).all())

    def signs(self, part: LoopSet, q: Array, held: Collection[str]) -> tuple[int, ...]:
        """The branch of a planar set of loops at a closed configuration q (nq,), as signs.

        There is one sign for each block of loop equations that are solved together: 1, -1, or 0 where the block is
        singular. For a dyad, 1 and -1 are its two closed configurations (elbow up or down); see `planar_solutions`. The
        coordinates of the joints in `held` are given. The result is () where the set is not planar, or where the
        equations do not determine all unknowns.
        """
        mine = [name for name in part.joints if name in held]
        decided = self._decided(part, mine, q) if part.planar is not None else None
        if decided is None or part.planar is None:
            return ()
        equations, blocks = decided
        turns = np.zeros(equations.C.shape[1], dtype=complex)
        turns[0] = 1.0
        for place, sign, one, factor, parent, other in equations.angles:  # parents first
            if not turns[one] and turns[parent]:
                turns[one] = np.exp(1j * sign * q[place]) * other * turns[parent] / factor
        travels = np.zeros(equations.D.shape[1])
        for place, slide in equations.travels:
            travels[slide] = q[place]
        closing = [k for k in range(len(travels)) if k not in {slide for _, slide in equations.travels}]
        if closing:
            D = equations.D * turns[list(equations.carriers)]
            rest = equations.C @ turns + D @ travels
            stacked = np.vstack([D[:, closing].real, D[:, closing].imag])
            travels[closing] = np.linalg.lstsq(stacked, -np.concatenate([rest.real, rest.imag]), rcond=None)[0]
        return planar_solutions.signs_at(equations, blocks, turns, travels, part.planar.size)

    # ── loops of any kind ─────────────────────────────────────────────────────────────────────────────────────────

    def _from_many_starts(self, part: LoopSet, q: Array, held: Collection[str]) -> Listing:
        """The different closed configurations that damped Newton steps from random configurations find."""
        free = self.free(part, held)
        rng = np.random.default_rng(0)
        moved = np.zeros(self.robot.nq, dtype=bool)
        for name in part.joints:
            moved[self.robot.q_slice(name)] = bool(free[self.robot.v_slice(name)].any())
        starts = [q, *(np.where(moved, random_configuration(self.robot, rng), q) for _ in range(STARTS - 1))]
        at = np.array([self.ranges.inside(start) for start in starts])
        leading = self.ranges.leading[:, free]
        rows = [i for i, owner in enumerate(self.rows.owners) if owner in part.loops]
        for _ in range(ROUNDS):
            e = self.rows.error(at)[:, rows]
            J = (self.rows.jacobian(at) @ leading)[:, rows]
            normal = np.swapaxes(J, 1, 2) @ J
            size = np.einsum("ki,ki->k", e, e)
            damping = 1e-2 * size + 1e-14 * np.trace(normal, axis1=1, axis2=2)
            normal += damping[:, None, None] * np.eye(normal.shape[1])
            push = -np.swapaxes(J, 1, 2) @ e[:, :, None]
            step = np.linalg.solve(normal, push)[:, :, 0]
            step *= np.minimum(1.0, 0.7 / np.maximum(np.abs(step).max(axis=1, initial=0.0), 1e-300))[:, None]
            at = np.array(integrate(self.robot, at, step @ leading.T))
        closed = [
            x for x in at if max(max(gap) for name, gap in self.rows.gaps(x).items() if name in part.loops) < 1e-9
        ]
        ways = []
        for x in closed:
            for place in part.places:
                if place in self._turning:
                    x[place] += FULL_TURN * round((q[place] - x[place]) / FULL_TURN)
            ways.append(ClosedSet(self.ranges.inside(x) if not self.within(part, x) else x, ()))
        ways = [way for way in ways if np.abs(self.rows.error(way.q)[rows]).max() < 1e-9]
        ways.sort(key=lambda way: float(np.linalg.norm(difference(self.robot, q, way.q))))
        return Listing(self._different(ways, part.places), False, 0, [])

    def free(self, part: LoopSet, held: Collection[str]) -> Mask:
        """A mask (nv,) of the velocities of a set that may change: its joints that are neither held nor followers."""
        free = np.zeros(self.robot.nv, dtype=bool)
        free[list(part.velocities)] = True
        for name in (*held, *self._followers):
            free[self.robot.v_slice(name)] = False
        return free

    def freedom(self, part: LoopSet, q: Array, held: Collection[str]) -> int:
        """The degrees of freedom of a set of loops at a closed configuration, with joints held."""
        J = self.rows.jacobian(q)
        rows = [i for i, owner in enumerate(self.rows.owners) if owner in part.loops]
        J = self.rows.scaled(J, self.rows.lever(J))[rows] @ self.ranges.leading[:, self.free(part, held)]
        return int(J.shape[1] - (np.linalg.svd(J, compute_uv=False) > FLAT).sum())

    def _different(self, ways: Sequence[ClosedSet], places: Sequence[int]) -> list[ClosedSet]:
        """The configurations without repetitions; configurations that differ by whole turns count as the same."""
        kept: list[ClosedSet] = []
        turning = np.array([place in self._turning for place in places])
        for way in ways:
            off = [way.q[list(places)] - other.q[list(places)] for other in kept]
            off = [np.where(turning, x - FULL_TURN * np.round(x / FULL_TURN), x) for x in off]
            if not any(np.abs(x).max() < SAME for x in off):
                kept.append(way)
        return kept

    @cached_property
    def _turning(self) -> set[int]:
        """Indices in q of angles that may change by a whole turn without effect; the angle of a screw may not."""
        robot, found = self.robot, set()
        for joint in robot.joints:
            start = robot.q_slice(joint.name).start
            units = joint.table.q_units if joint.kind != "helical" else ()
            found |= {start + k for k, unit in enumerate(units) if unit == "rad"}
        return found

    @cached_property
    def _followers(self) -> Mapping[str, Follower]:
        return dict(followers(self.robot.couplings))


def _bounds(places: slice) -> tuple[int, int]:
    return places.start, places.stop


def products(listings: Sequence[Listing], q: Array, parts: Sequence[LoopSet]) -> Iterator[ClosedSet]:
    """All combinations of one closed configuration for each set of loops; the last set varies fastest.

    Coordinates of joints in no set are those of q (nq,).
    """
    if not listings:
        yield ClosedSet(q, ())
        return
    for way in listings[0].ways:
        at = q.copy()
        at[list(parts[0].places)] = way.q[list(parts[0].places)]
        for rest in products(listings[1:], at, parts[1:]):
            yield ClosedSet(rest.q, (*way.signs, *rest.signs))
