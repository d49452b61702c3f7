"""The mobility of a robot with loops: degrees of freedom, redundant constraint rows, singular configurations.

    freedom = mobility(robot)
    freedom.dof, freedom.redundant, freedom.independent

J is the Jacobian of the constraint rows. Its rank at one configuration is not enough: a flat parallelogram has one more
degree of freedom there than nearby, and a triangle of bars with its corners in line has one along which it cannot move.
So J is examined nearby as well. From q a short step is taken along each motion that J allows, the loops are closed
again, and the motions that remain are counted:

    instantaneous   nv - rank J(q), the motions that J allows at q
    dof             the motions that remain at a regular configuration nearby: those that really continue

Where the two differ, q is singular. Rows and velocities are scaled to one unit (`constraint_rows`); masses have no
influence. Bricard's linkage has no degree of freedom by counting rows, and yet it has one: its rows depend on each
other in every closed configuration, and only there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.close_loops import Closed, Closer
from kinemorph.analysis.loops.constraint_rows import FLAT, RobotRows, rows_of
from kinemorph.analysis.loops.named_coordinates import Configuration
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.mechanics.constraints.independent_columns import independent_columns
from kinemorph.model.configuration import difference, integrate, neutral
from kinemorph.model.couplings import followers
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.sheet import Facts, Field, Sheet, Table, Verdict, fields, hidden
from kinemorph.shown import Shown
from kinemorph.words import counted

FREE = Field("dof", "degrees of freedom with loops closed")
FACTS = (
    FREE,
    Field("independent", "independent joints", form="name"),
    Field("condition", "condition of the others", form=3),
    Field("rows", "constraint rows"),
    Field("rank", "independent rows"),
    Field("smallest", "smallest singular value, without units", form=4),
    Field("singular", "singular"),
)
CONSTRAINT = (
    Field("name", "constraint", form="name"),
    Field("rows", "rows"),
    Field("redundant", "redundant rows", form="name"),
)
POOR = 1e-4  # a smallest singular value below this, relative to the one nearby, counts as zero
FAR, NEAR = 0.25, 0.05  # [rad], steps to a regular configuration nearby, and steps along its motions
KEPT = 0.5  # a motion continues where this share of a step remains after loops are closed again
AROUND = 3  # configurations nearby that are examined
TOLERANCE = 1e-11  # [m or rad], the largest gap of a closed loop
LEADING = 30.0  # the weight of a coupled joint against its leader when dependent velocities are chosen
SAYS = 1e-6  # a row is independent where its part that no earlier row explains is above this
FAIR = 0.5  # a pivot is good enough from this share of the largest
TRIED = 4  # random motions that are tried first; each motion of the basis is tried only where one of them fails


@dataclass(frozen=True)
class Mobility(Shown):
    """The degrees of freedom of a robot at one closed configuration.

    `dof`            degrees of freedom: the number of motions that really continue from q
    `instantaneous`  the number of motions that J allows at q; more than `dof` where q is singular
    `rank`, `rows`   the rank and the number of rows of the constraint Jacobian J at q
    `constraints`    loop, coupled joint or element -> how many rows it has
    `redundant`      loop, coupled joint or element -> the names of its rows that follow from earlier rows, "point.z"
    `smallest`       the smallest singular value of the scaled J that is not always zero; None where there are no rows
    `singular`       whether q is singular: there are more motions than nearby, or no motion continues
    `motions`        (nv, instantaneous), a basis of the velocities with J v = 0, unit columns in rad/s and m/s
    `independent`    the names of velocities from which all others follow; `dependent`, the names of the others
    `condition`      the condition number of the scaled columns of J of dependent velocities: near 1 is good
    `q`              (nq,), the configuration examined: the given one, closed where it was open, or a chosen one
    `closed`         whether the loops could be closed; if not, the numbers are those of an open configuration
    `message`        the outcome in sentences
    `robot`          the robot
    """

    dof: int
    instantaneous: int
    rank: int
    rows: int
    constraints: Mapping[str, int]
    redundant: Mapping[str, tuple[str, ...]]
    smallest: float | None
    singular: bool
    motions: Array
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    condition: float
    q: Array
    closed: bool
    message: str
    robot: Robot = field(repr=False)

    def sheet(self) -> Sheet:
        """The degrees of freedom, the independent joints, and the redundant rows of every loop and coupled joint."""
        values = (self.dof, self.independent, self.condition, self.rows, self.rank, self.smallest, self.singular)
        rows = [(name, count, self.redundant.get(name, ())) for name, count in self.constraints.items()]
        places = [*zip(self.robot.q_names, self.q, self.robot.q_units, strict=True)]
        return Sheet(
            "Mobility of",
            self.robot.name,
            (
                Verdict(self.closed, self.message, "closed"),
                hidden(message=self.message, instantaneous=self.instantaneous),
                Facts([*zip(FACTS, values, strict=True)]),
                Table("constraints", CONSTRAINT, rows, "Constraints"),
                Table("q", fields("name value unit"), places, "Where this was found"),
            ),
        )


def mobility(model: Robot | System | Dynamics, q: Configuration | None = None) -> Mobility:
    """The degrees of freedom of a robot with loops or coupled joints, and its redundant constraint rows.

    `model`   a robot, or a system with its constraints; or Dynamics, whose compiled functions are used again
    `q`       (nq,), or coordinates by name; its loops are closed first. By default a regular configuration is chosen
    """
    dynamics = model if isinstance(model, Dynamics) else derive(model, backend="interpreter")
    return _Seeker(rows_of(model, dynamics)).mobility(q, model.settings.q if isinstance(model, System) else ())


class _Seeker:
    """The computation of `mobility` for one robot, from its constraint rows."""

    def __init__(self, rows: RobotRows) -> None:
        self.robot = rows.robot
        self.rows = rows
        self.closer = Closer(rows.dynamics, limits=False, tolerance=TOLERANCE, rows=rows)
        self.rng = np.random.default_rng(0)

    def mobility(self, q: Configuration | None, settings: Sequence[float]) -> Mobility:
        """The mobility at q. Without q, a regular configuration is chosen near `settings`, or near the neutral one.

        `settings` (nq,) is the initial configuration of a system; it is empty for a robot.
        """
        robot = self.robot
        if q is None:
            found = self.closer.close(settings or neutral(robot))
        else:
            held = self.closer.names.joints_of(q) if isinstance(q, Mapping) else ()
            found = self.closer.near(self.closer.ranges.inside(self.closer.names.configuration(q)), held)
            found = found or self.closer.close(q)
        at = found.q
        around = self._around(at) if found else []
        if q is None and found and around:  # any configuration is allowed, so take one that is far from singular
            at = self._best([at, *around, *self._around(around[0])])
            around = self._around(at)
        return self._result(at, around, found)

    def _best(self, known: Sequence[Array]) -> Array:
        """The first of the configurations `known` that is nearly as far from singular as the best one.

        They are compared by the smallest nonzero singular value of the constraint Jacobian, which has to be at least
        FAIR times the largest.
        """
        values = [self._values(x) for x in known]
        rank = max(int((S > FLAT).sum()) for S in values)
        if not rank:
            return known[0]
        most = max(S[rank - 1] for S in values)
        return next(x for x, S in zip(known, values, strict=True) if S[rank - 1] >= FAIR * most)

    # ── the neighborhood ──────────────────────────────────────────────────────────────────────────────────────────

    def _around(self, q: Array) -> list[Array]:
        """Up to AROUND closed configurations some distance from q, in random directions that the constraint Jacobian
        allows.
        """
        motions = self.motions(q)
        found = []
        for _ in range(AROUND if motions.shape[1] else 0):
            there = self._gone(q, motions @ self.rng.normal(size=motions.shape[1]), FAR)
            if there is not None:
                found.append(there)
        return found

    def _gone(self, q: Array, way: Array, length: float) -> Array | None:
        """The closed configuration (nq,) after a step of this length [rad] from q along the velocity `way` (nv,).

        The loops are closed again after the step. The result is None where that moves the robot back to q.
        """
        step = way * (length / max(float(np.abs(self._turned(way)).max()), 1e-12))
        for _ in range(3):
            closed = self.closer.near(self.closer.ranges.moved(q, step))
            went = self._turned(np.asarray(difference(self.robot, q, closed.q)))
            if closed and went @ self._turned(step) > KEPT * float(self._turned(step) @ self._turned(step)):
                return closed.q
            step = 0.4 * step
        return None

    def _real(self, q: Array) -> int:
        """The number of independent motions that continue from q.

        The constraint Jacobian allows them at q, and closing the loops after a short step does not undo them.
        """
        motions = self.motions(q)
        mixed = motions @ self.rng.normal(size=(motions.shape[1], TRIED))
        if all(self._gone(q, way, NEAR) is not None for way in mixed.T):
            return int(motions.shape[1])
        ways = []
        for column in motions.T:
            for side in (NEAR, -NEAR):
                step = column * (side / max(float(np.abs(self._turned(column)).max()), 1e-12))
                closed = self.closer.near(self.closer.ranges.moved(q, step))
                if closed:
                    went = self._turned(np.asarray(difference(self.robot, q, closed.q)))
                    ways.append(went / np.linalg.norm(self._turned(step)))
        if not ways:
            return 0
        return int((np.linalg.svd(np.array(ways), compute_uv=False) > KEPT).sum())

    def _turned(self, v: Array) -> Array:
        """A velocity (nv,) with its sliding components divided by the lever arm, so that all are in rad/s."""
        return np.where(self.rows.slides, v / self._lever, v)

    # ── linear algebra ────────────────────────────────────────────────────────────────────────────────────────────

    def scaled(self, q: Array) -> Array:
        """The constraint Jacobian J (nc, nv), scaled so that its entries have no unit; it also sets the lever arm."""
        J = self.rows.slopes(q)
        self._lever = self.rows.lever(J)
        return self.rows.scaled(J, self._lever)

    def _values(self, q: Array) -> Array:
        return np.asarray(np.linalg.svd(self.scaled(q), compute_uv=False))

    def motions(self, q: Array) -> Array:
        """A basis of the velocities with J v = 0, shape (nv, degrees of freedom), with columns of length 1."""
        J = self.scaled(q)
        _, S, Vt = np.linalg.svd(J)
        basis = Vt[int((S > FLAT).sum()) :].T * np.where(self.rows.slides, self._lever, 1.0)[:, None]
        return np.asarray(basis / np.maximum(np.linalg.norm(basis, axis=0), 1e-300))

    def chosen(self, q: Array) -> tuple[list[int], float]:
        """(indices of independent velocities, condition number of the columns of J of the other velocities).

        They are chosen by elimination with column pivots.
        """
        J = self.scaled(q)
        coupled = list(followers(self.robot.couplings))
        weight = np.ones(self.robot.nv)
        for name in coupled:
            weight[self.robot.v_slice(name)] = LEADING
        rank = int((np.linalg.svd(J, compute_uv=False) > FLAT).sum())
        late_first = range(self.robot.nv)[::-1]  # late joints follow early ones where the pivots are nearly as good
        dependent = independent_columns(J * weight, late_first, fair=FAIR, count=rank)
        free = [k for k in range(self.robot.nv) if k not in dependent]
        return free, self._condition(J, sorted(dependent), rank)

    def _condition(self, J: Array, dependent: Sequence[int], rank: int) -> float:
        if not rank:
            return 1.0
        S = np.linalg.svd(J[:, list(dependent)], compute_uv=False)
        return float(S[0] / S[rank - 1]) if S[rank - 1] > 0.0 else float("inf")

    def parted(self, free: Sequence[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(the names of the velocities with indices `free`, the names of the others)."""
        names = self.robot.v_names
        return tuple(names[k] for k in free), tuple(name for k, name in enumerate(names) if k not in free)

    # ── the result ────────────────────────────────────────────────────────────────────────────────────────────────

    def _result(self, q: Array, around: Sequence[Array], found: Closed) -> Mobility:
        """The mobility at q with closed configurations `around` it; `found` tells whether the loops could be closed."""
        values = self._values(q)
        beside = [self._values(x) for x in around]
        rank = int((values > FLAT).sum())
        regular_rank = max([rank, *(int((S > FLAT).sum()) for S in beside)])
        motions = self.motions(q)
        usual = float(np.median([S[regular_rank - 1] for S in beside])) if beside and regular_rank else 0.0
        smallest = float(values[regular_rank - 1]) if regular_rank else None
        jammed = bool(found) and motions.shape[1] > 0 and not around
        singular = rank < regular_rank or jammed or (smallest is not None and smallest < POOR * usual)
        regular = self._best(around) if singular and around else q
        if not found:  # no configuration is closed: use random open ones
            regular = self._best(
                [integrate(self.robot, q, 0.3 * self.rng.normal(size=self.robot.nv)) for _ in range(3)]
            )
            regular_rank = int((self._values(regular) > FLAT).sum())
        dof = 0
        if not found:
            dof = self.robot.nv - regular_rank
        elif motions.shape[1] and not jammed:
            dof = self._real(regular)
        redundant = self.rows.by_owner(self._redundant(regular))
        free, condition = self.chosen(regular)
        independent, dependent = self.parted(free)
        parts = [self._counted(dof, regular_rank), *self._repeated(redundant)]
        if singular:
            parts.append(self._singular(dof, motions.shape[1], smallest, usual))
        if not found:
            parts.append(f"But its loops cannot be closed: {found.message}")
        return Mobility(
            dof=dof,
            instantaneous=motions.shape[1],
            rank=rank,
            rows=len(self.rows.names),
            constraints={owner: self.rows.owners.count(owner) for owner in dict.fromkeys(self.rows.owners)},
            redundant=redundant,
            smallest=smallest,
            singular=singular,
            motions=motions,
            independent=independent,
            dependent=dependent,
            condition=condition,
            q=q,
            closed=bool(found),
            message=" ".join(parts),
            robot=self.robot,
        )

    def _redundant(self, q: Array) -> list[int]:
        """Indices of rows that depend on earlier rows, or, where rounding hides this, on larger rows."""
        J = self.scaled(q)
        rank = int((np.linalg.svd(J, compute_uv=False) > FLAT).sum())
        kept = independent_columns(J.T, least=SAYS * np.maximum(1.0, np.linalg.norm(J, axis=1)), fair=0.0)
        if len(kept) != rank:
            kept = independent_columns(J.T, count=rank)
        return [k for k in range(len(J)) if k not in kept]

    def _counted(self, dof: int, rank: int) -> str:
        total, nv = len(self.rows.names), self.robot.nv
        freedom = counted(dof, "degree of freedom", "degrees of freedom")
        if not total:
            return f"Robot '{self.robot.name}' has {freedom}: it is an open tree."
        rows = counted(rank, "independent row")
        return f"Robot '{self.robot.name}' has {freedom}: {nv} of the cut tree minus {rows} (of {total})."

    def _repeated(self, redundant: Mapping[str, tuple[str, ...]]) -> list[str]:
        """A sentence for each owner of redundant rows, as `Loop 'closure': 1 of 5 rows redundant: point.z.`"""
        planar = {name for part in self.closer.sets.all if part.planar for name in part.loops}
        loops, coupled = {joint.name for joint in self.robot.loops}, {c.joint for c in self.robot.couplings}
        sentences = []
        for owner, rows in redundant.items():
            word = "Loop" if owner in loops else "Coupling of" if owner in coupled else "Constraint"
            count = self.rows.owners.count(owner)
            kind = "; planar mechanism" if owner in planar else ""
            sentences.append(f"{word} '{owner}': {len(rows)} of {count} rows redundant: {', '.join(rows)}{kind}.")
        return sentences

    def _singular(self, dof: int, instantaneous: int, smallest: float | None, usual: float) -> str:
        size = f"the smallest singular value is {smallest:.2g}" if smallest is not None else ""
        beside = f"{size}, {usual:.2g} nearby" if usual else size
        allowed = f"the constraint Jacobian allows {counted(instantaneous, 'motion')}"
        if not usual:
            return f"This configuration is singular: {allowed}, and none continues."
        if instantaneous > dof:
            return f"This configuration is singular: {allowed}, of which {dof} continue; {beside}."
        return f"This configuration is singular within rounding: {beside}."
