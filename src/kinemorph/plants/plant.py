"""A plant: what a run advances, as programs of its state.

    state      q (nq) on its manifold, v (nv), x (nx) continuous extra states, m (nm) discrete memory
    inputs     t, u (nu) held between calls, p (np) parameters

A step is taken in local coordinates about the configuration `base` where it begins (mechanics.trees.charts):
integrators see one vector s = [w, v, x], shape (2 nv + nx,), and never a manifold.

    rate       (t, base, s, m, u, p) -> rate            ds/dt
    residual   (t, base, s, z, m, u, p) -> residual     zero where z = [a, dx/dt], shape (nv + nx,), is right
    place      (base, s) -> q                           the configuration that s means; quaternions of length 1
    efforts    (t, base, s, m, u, p) -> supplied, damping       generalized forces that act on a robot, (nv,) each
    stored     (t, base, s, m, u, p) -> energy          that elements hold
    reactions  (t, base, s, a, m, u, p) -> wrenches     through joints
    sampling, settling, switching       (t, base, s, m, u, p) -> m, x      how memory changes
    flow       (t, y, m, u, p) -> dy/dt                 y = [q, v, x], for methods that know of no manifold
    unmet      (t, y, dy, rows, m, u, p) -> unmet       likewise with multipliers as unknowns, zero where all are right
    drift      (s, h) -> w                              where w is after the time h when v is held
    discrete   see `variational`                        the balance of a whole step, for variational integrators
    implicit_step   see `implicit_step`                      a whole step with stiff forces at its end

Every program has all of these inputs, of length 0 where there is nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import where
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import Shape, trace
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.mechanics.recursions.kinematics import tangent_of
from kinemorph.model.robot import Robot
from kinemorph.model.system import Element
from kinemorph.plants.instants import Instants, instants
from kinemorph.plants.loop_methods import LoopMethod, Projection
from kinemorph.plants.user_laws import LEVEL, Column, Law, of_groups, one_number, split
from kinemorph.plants.variational import Discrete, DiscreteLaws, discrete_programs
from kinemorph.shown import Shown
from kinemorph.words import did_you_mean

if TYPE_CHECKING:
    from kinemorph.model.modules.assembly import Assembly


class Place(NamedTuple):
    """An elementary joint: a row of mechanics.trees.charts.CHARTS, and where it stands in q and v."""

    kind: str
    q: int
    v: int


class Stage(NamedTuple):
    """Elements that sample one after the other, each by its index and the number of its clock; compiled, or Python."""

    samplers: tuple[tuple[int, int], ...]
    python: bool


class Tick(NamedTuple):
    """Sample instants phase + k period [s], what is done there, and the memory that is written then, by name."""

    period: float
    phase: float
    stages: tuple[Stage, ...]
    writes: tuple[str, ...] = ()

    @property
    def instants(self) -> Instants:
        """When it ticks."""
        return instants(self.period, self.phase)

    @property
    def compiled(self) -> bool:
        """Whether no Python function takes part."""
        return not any(stage.python for stage in self.stages)


@dataclass(frozen=True)
class Jumps:
    """How memory changes: laws of some choice first, then of the inputs of `rate`."""

    sample: Law  # (samplers, ...) -> m
    read: Law  # (sampler, ...) -> the signals that a Python function is given
    decide: Law  # (sampler, t, signals, m) -> m, in plain numbers
    settle: Law  # (members, ...) -> m, x
    guards: Law  # (...) -> the guards' values
    switch: Law  # (guard, ...) -> m, x


@dataclass(frozen=True)
class Laws:
    """What a plant is made of: functions over any scalar, one for each of its programs."""

    rate: Law  # (t, base, s, m, u, p)
    residual: Law  # (t, base, s, z, m, u, p)
    place: Law  # (base, s), finished=: whether quaternions have to be of length 1
    drift: Law  # (s, h)
    efforts: Law | None = None  # (t, base, s, m, u, p); none where forces have no name
    discrete: DiscreteLaws | None = None
    jumps: Jumps | None = None
    stored: Law | None = None  # (t, base, s, m, u, p): energy that elements hold [J]
    reactions: Law | None = None  # (t, base, s, a, m, u, p): wrenches through joints
    implicit: Law | None = None  # (t, base, s, h, guess, m, u, p, passes, centered); see `implicit_step`
    stiff: Law | None = None  # (t, q, v, x, m, u, p) -> tree, and its stiff forces by name at points and at joints
    # (program, law of laws and its inputs, groups that its outputs are made of): adds loops that suit one state
    for_one: Callable[[Program, Law, Mapping[str, Sequence[str]]], Program] | None = None
    constraints: Law | None = None  # (t, base, s, m, u, p) -> phi, rate, J, sizes; none where the motion is free
    held: Law | None = None  # (t, base, s, m, u, p) -> s with constraints kept better, and the error before
    dependence: Law | None = None  # (t, base, s, m, u, p) -> margin of the dependent velocities, and J scaled
    flat: Law | None = None  # (t, base, s, m, u, p): 1 where a fast motion would not know where to go
    bound: Law | None = None  # (t, base, s, z, forces, pushes, m, u, p) -> moving, left, phi, rate: see `robot_laws`


@dataclass(frozen=True, eq=False, repr=False)
class Plant(Shown):
    """Programs of a state, and the names of its numbers. See this module's text for the programs' inputs."""

    name: str
    q: tuple[Column, ...]
    v: tuple[Column, ...]
    x: tuple[Column, ...]
    m: tuple[Column, ...]
    u: tuple[Column, ...]
    p: tuple[Column, ...]
    laws: Laws
    start: Mapping[str, tuple[float, ...]]  # the values of q, v, x, m, u, p where nothing else is said
    dynamics: Dynamics | None = None
    locked: tuple[int, ...] = ()  # velocity indices that do not move
    outputs: Mapping[str, Law] = field(default_factory=dict)  # further columns, each a law that gives one number
    output_units: Mapping[str, str] = field(default_factory=dict)
    manifold: tuple[Place, ...] = ()  # the elementary joints that make up q
    ticks: tuple[Tick, ...] = ()  # when memory is sampled
    guards: tuple[str, ...] = ()  # of elements, by name
    touches: bool = False  # whether there are stiff contacts
    settlers: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # elements that settle: after any step; and those of
    # them that do so even where events are located
    elements: tuple[Element, ...] = ()  # what acts on the robot, as data
    assembly: Assembly | None = None  # of modules, where the robot is made of some
    constraint_names: tuple[str, ...] = ()  # of all rows: loops, coupled joints, elements
    position_rows: int = 0  # how many of them, the first, have a position level
    loops: LoopMethod = field(default_factory=Projection)  # how they are kept

    def __repr__(self) -> str:
        sizes = f"{self.nv} dof, {self.nx} states, {self.nu} inputs"
        return f"<Plant '{self.name}': {sizes}>"

    @property
    def nq(self) -> int:
        """Number of configuration coordinates."""
        return len(self.q)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.v)

    @property
    def nx(self) -> int:
        """Number of continuous extra states."""
        return len(self.x)

    @property
    def nu(self) -> int:
        """Number of inputs."""
        return len(self.u)

    @property
    def ns(self) -> int:
        """Length of s = [w, v, x]."""
        return 2 * self.nv + self.nx

    @property
    def robot(self) -> Robot | None:
        """The robot, where it is one."""
        return self.dynamics.robot if self.dynamics else None

    @cached_property
    def rate(self) -> Program:
        """ds/dt from (t, base, s, m, u, p)."""
        program = trace(self.laws.rate, self.ports, name=f"{self.name}.rate", outputs={"out": (self.ns,)})
        return self._for_one(program, lambda laws, *state: {"out": laws.rate(*state)}, {"out": ("s",)})

    def _for_one(self, program: Program, law: Law, outputs: Mapping[str, Sequence[str]]) -> Program:
        """The program, with loops over limbs that are alike for one state; see `limbs`."""
        return self.laws.for_one(program, law, outputs) if self.laws.for_one else program

    @cached_property
    def residual(self) -> Program:
        """What is left over at z = [a, dx/dt], from (t, base, s, z, m, u, p); zero at the right z."""
        ports = self.ports
        names = ("t", "base", "s", "z", "m", "u", "p")
        shapes = {name: (self.nv + self.nx,) if name == "z" else ports[name] for name in names}
        return trace(self.laws.residual, shapes, name=f"{self.name}.residual", outputs={"out": shapes["z"]})

    @cached_property
    def place(self) -> Program:
        """q, shape (nq,), from (base, s)."""
        shapes = {name: self.ports[name] for name in ("base", "s")}
        return trace(self.laws.place, shapes, name=f"{self.name}.place", outputs={"out": (self.nq,)})

    @cached_property
    def efforts(self) -> Program | None:
        """(supplied, damping) generalized forces, (nv,) each, from the inputs of `rate`; None where it is no robot."""
        if self.laws.efforts is None:
            return None
        shapes = {"supplied": (self.nv,), "damping": (self.nv,)}
        return trace(self.laws.efforts, self.ports, name=f"{self.name}.efforts", outputs=shapes)

    @cached_property
    def flow(self) -> Program:
        """dy/dt from (t, y, m, u, p) with y = [q, v, x], shape (nq + nv + nx,). Quaternions may be of any length."""
        nq, nv = self.nq, self.nv

        def law(t: Any, y: Any, m: Any, u: Any, p: Any) -> list[Any]:
            q, v, x = y[:nq], y[nq : nq + nv], y[nq + nv :]
            rates = self.laws.rate(t, q, [*[0.0] * nv, *v, *x], m, u, p)
            moving = [Dual(0.0, rate, level=LEVEL) for rate in rates[:nv]]
            placed = self.laws.place(q, [*moving, *v, *x], finished=False)
            return [*(tangent_of(entry, LEVEL) for entry in placed), *rates[nv:]]

        size = (nq + nv + self.nx,)
        shapes = {"t": (), "y": size, **{name: self.ports[name] for name in ("m", "u", "p")}}
        return trace(law, shapes, name=f"{self.name}.flow", outputs={"out": size})

    @cached_property
    def unmet(self) -> Program:
        """What is left over, as many numbers as y has, at y = [q, v, x, forces (nc,), pushes (nh,)] and at the rates of
        its first part, `dy` (nq + nv + nx,), from (t, y, dy, rows, m, u, p). Quaternions may be of any length.

        The last are the constraints: rates, then errors. Of those that are not among `rows` (nc,), 1 or 0, multipliers
        are zero instead. See `robot_laws` for the form.
        """
        nq, nv, nx, nc, nh = self.nq, self.nv, self.nx, len(self.constraint_names), self.position_rows
        ends = (nq, nq + nv, nq + nv + nx, nq + nv + nx + nc)

        def law(t: Any, y: Any, dy: Any, rows: Any, m: Any, u: Any, p: Any) -> list[Any]:
            q, v, x, forces, pushes = (y[a:b] for a, b in zip((0, *ends), (*ends, None), strict=True))
            s, z = [*[0.0] * nv, *v, *x], dy[nq:]
            if self.laws.bound is None:
                found = {"moving": v, "left": self.laws.residual(t, q, s, z, m, u, p), "phi": [], "rate": []}
            else:
                found = self.laws.bound(t, q, s, z, forces, pushes, m, u, p)
            moving = [Dual(0.0, rate, level=LEVEL) for rate in found["moving"]]
            placed = self.laws.place(q, [*moving, *v, *x], finished=False)
            moved = [rate - tangent_of(entry, LEVEL) for rate, entry in zip(dy, placed, strict=False)]
            kept = [*zip(rows, found["rate"], forces, strict=True), *zip(rows, found["phi"], pushes, strict=False)]
            return [*moved, *found["left"], *(where(*choice) for choice in kept)]

        shapes: dict[str, Shape] = {"t": (), "y": (ends[-1] + nh,), "dy": (ends[2],), "rows": (nc,)}
        shapes |= {name: self.ports[name] for name in ("m", "u", "p")}
        return trace(law, shapes, name=f"{self.name}.unmet", outputs={"out": (ends[-1] + nh,)})

    @cached_property
    def drift(self) -> Program:
        """w, shape (nv,), after the time h at the velocity v of s, from (s, h)."""
        shapes = {"s": self.ports["s"], "h": ()}
        return trace(self.laws.drift, shapes, name=f"{self.name}.drift", outputs={"out": (self.nv,)})

    @cached_property
    def discrete(self) -> Discrete:
        """The programs of a variational step. Raises UnsupportedError where there is no Lagrangian to begin with."""
        if self.robot is None:
            raise UnsupportedError(
                f"plant '{self.name}' is made of equations, and a variational method starts from kinetic and potential "
                "energy. Use method='leapfrog', or make the plant of a robot."
            )
        if self.constraint_names:
            raise UnsupportedError(
                f"robot '{self.robot.name}' has loops or coupled joints, and the variational method is for open trees. "
                "Use method='dop853', or 'leapfrog' with a step."
            )
        if self.laws.discrete is None:
            raise UnsupportedError(
                f"plant '{self.name}' has states besides the motion that no variational method advances. "
                "Use method='dop853', or 'leapfrog' with a step."
            )
        return discrete_programs(self.name, self.laws.discrete, self.ports, self.nv)

    def implicit_step(self, passes: int, shares: tuple[float, ...] = (1.0,), *, centered: bool = False) -> Program:
        """(out, a): s = [w, v, x] after a step and its accelerations, from (t, base, s, h, guess, m, u, p).

        s is [0, v, x], `guess` (nv,) the accelerations of the step before. Shapes (shares, ns) and (shares, nv): a row
        for each share of h that the step may take, each beginning with the accelerations of the one before; they have
        much in common. See `implicit_step`, for `centered`, too. Raises UnsupportedError where there is no such step.
        """
        if self.laws.implicit is None:
            raise UnsupportedError(
                f"plant '{self.name}' has no step with forces at its end, which is for robots. "
                "Use method='rodas' or 'radau'."
            )

        def steps(laws: Laws, t: Any, base: Any, s: Any, h: Any, guess: Any, m: Any, u: Any, p: Any) -> dict[str, Any]:
            assert laws.implicit is not None
            rows = []
            for share in shares:
                rows.append(laws.implicit(t, base, s, share * h, guess, m, u, p, passes, centered))
                guess = rows[-1][1]
            return {"out": [row[0] for row in rows], "a": [row[1] for row in rows]}

        made, key = self._implicit_steps, (passes, shares, centered)
        if key not in made:
            ports, n = self.ports, len(shares)
            inputs: dict[str, Shape] = {"t": (), "base": ports["base"], "s": ports["s"], "h": (), "guess": (self.nv,)}
            inputs |= {group: ports[group] for group in ("m", "u", "p")}
            outputs = {"out": (n, self.ns), "a": (n, self.nv)}
            name = f"{self.name}.{'centered' if centered else 'implicit'}_step_{passes}"
            program = trace(partial(steps, self.laws), inputs, name=name, outputs=outputs)
            made[key] = self._for_one(program, steps, {"out": ("s",) * n, "a": ("v",) * n})
        return made[key]

    @cached_property
    def _implicit_steps(self) -> dict[tuple[int, tuple[float, ...], bool], Program]:
        return {}

    # ── constraints ───────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def constraints(self) -> Program | None:
        """(phi (nh,), rate (nc,), J (nc, nv), sizes (nc,)) from the inputs of `rate`; None where the motion is free.

        Errors of the first nh rows, the rates of all nc, their slopes by the velocities, and what a turn by 1 rad could
        do to each at most.
        """
        if self.laws.constraints is None:
            return None
        nc = len(self.constraint_names)
        shapes: dict[str, Shape] = {"phi": (self.position_rows,), "rate": (nc,), "J": (nc, self.nv), "sizes": (nc,)}
        return trace(self.laws.constraints, self.ports, name=f"{self.name}.constraints", outputs=shapes)

    @cached_property
    def holding(self) -> Program | None:
        """(out (ns,), error ()): s nearer to the constraints, and the error that it had, good up to 1; from the inputs
        of `rate`. None where nothing is done after steps.
        """
        if self.laws.held is None:
            return None
        return trace(self.laws.held, self.ports, name=f"{self.name}.holding", outputs={"out": (self.ns,), "error": ()})

    @cached_property
    def dependence(self) -> Program | None:
        """(J (nc, nv), margin ()) of the choice of dependent velocities that ends the memory; None where there is none.

        From the inputs of `rate`; see `robot_laws`.
        """
        if self.laws.dependence is None:
            return None
        shapes: dict[str, Shape] = {"J": (len(self.constraint_names), self.nv), "margin": ()}
        return trace(self.laws.dependence, self.ports, name=f"{self.name}.dependence", outputs=shapes)

    @cached_property
    def flatness(self) -> Program | None:
        """1 near singular configurations, else 0, from the inputs of `rate`; None where no fast motion closes loops."""
        if self.laws.flat is None:
            return None
        return trace(self.laws.flat, self.ports, name=f"{self.name}.flatness", outputs={"out": ()})

    # ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────

    def sampling(self, samplers: tuple[tuple[int, int], ...]) -> Program:
        """m, shape (nm,), after elements have sampled, from the inputs of `rate`."""
        return self._jump("sample", samplers, {"m": (len(self.m),)})

    def reading(self, sampler: tuple[int, int]) -> Program:
        """The signals that a Python function is given, one output "out", from the inputs of `rate`."""
        assert self.laws.jumps is not None
        law = self.laws.jumps.read
        return trace(lambda *given: list(law(sampler, *given)), self.ports, name=f"{self.name}.read")

    def settling(self, *, located: bool) -> Program | None:
        """(m, x) after an accepted step; None where none changes. `located`: guards of elements are events."""
        members = self.settlers[located]
        return self._jump("settle", members, self._changing) if members else None

    def switching(self, guard: int) -> Program:
        """(m, x) where a guard of an element has fallen through zero."""
        return self._jump("switch", guard, self._changing)

    @property
    def _changing(self) -> dict[str, Shape]:
        return {"m": (len(self.m),), "x": (self.nx,)}

    def _jump(self, what: str, choice: Any, outputs: dict[str, Shape]) -> Program:
        assert self.laws.jumps is not None
        law = getattr(self.laws.jumps, what)

        def chosen(t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> Any:
            found = law(choice, t, base, s, m, u, p)
            return found if isinstance(found, dict) else {"m": found}

        return trace(chosen, self.ports, name=f"{self.name}.{what}", outputs=outputs)

    @cached_property
    def stored(self) -> Program | None:
        """Energy that elements hold [J], from the inputs of `rate`; None where there are no elements."""
        if self.laws.stored is None:
            return None
        law = self.laws.stored
        return trace(lambda *given: [law(*given)], self.ports, name=f"{self.name}.stored", outputs={"out": (1,)})

    @cached_property
    def reactions(self) -> Program:
        """Wrenches through all joints, loops last, shape (joints + loops, 6), from (t, base, s, a, m, u, p)."""
        assert self.laws.reactions is not None and self.robot is not None
        ports = self.ports
        shapes = {name: (self.nv,) if name == "a" else ports[name] for name in ("t", "base", "s", "a", "m", "u", "p")}
        size = (len(self.robot.joints) + len(self.robot.loops), 6)
        return trace(self.laws.reactions, shapes, name=f"{self.name}.reactions", outputs={"out": size})

    @property
    def ports(self) -> dict[str, Shape]:
        """Shapes of the inputs of `rate`."""
        sizes = {"base": self.nq, "s": self.ns, "m": len(self.m), "u": self.nu, "p": len(self.p)}
        return {"t": (), **{name: (size,) for name, size in sizes.items()}}

    def observed(self, laws: Mapping[str, Law], name: str = "observed", *, switches: bool = False) -> Program:
        """Numbers that are read off: a program of the inputs of `rate` with one output "out", a number for each law.

        `switches`: the guards of elements follow.
        """

        def values(t: Any, base: Any, s: Any, m: Any, u: Any, p: Any) -> list[Any]:
            _, v, x = split(s, self.nv)
            q = self.laws.place(base, s)
            given = {"t": t, "q": q, "v": v, "x": x, "m": m, "u": u, "p": p}
            read = [one_number(of_groups(law, given, f"'{key}'"), key) for key, law in laws.items()]
            return [*read, *(self.laws.jumps.guards(t, base, s, m, u, p) if switches and self.laws.jumps else ())]

        count = len(laws) + (len(self.guards) if switches else 0)
        return trace(values, self.ports, name=f"{self.name}.{name}", outputs={"out": (count,)})

    def initial(self, group: str, given: Any = None) -> Array:
        """The values of a group ("q", "v", "x", "m", "u", "p"): those given, in order or by name, else the start's.

        Raises ShapeError with a sentence for a wrong length, an unknown name or a number that is not finite.
        """
        columns: tuple[Column, ...] = getattr(self, group)
        values = np.array(self.start[group], dtype=float)
        if given is None:
            return values
        if isinstance(given, Mapping):
            for name, value in given.items():
                values[self.index(group, name)] = value
        else:
            try:
                values = np.array(given, dtype=float)
            except (TypeError, ValueError):
                raise ShapeError(f"{group}: {given!r} is given; expected {len(columns)} numbers.") from None
        if values.shape != (len(columns),):
            listed = ", ".join(column.name for column in columns) or "none"
            raise ShapeError(f"{group} has shape {values.shape}; expected ({len(columns)},), in this order: {listed}.")
        for column, value in zip(columns, values, strict=True):
            if not np.isfinite(value):
                raise ShapeError(f"{group} '{column.name}' is {value}; expected a finite number. See where it is from.")
        return self._finished(values) if group == "q" else values

    def named(self, group: str, given: Any) -> tuple[str, ...]:
        """The names of a group for which values are given: some, all, or none."""
        if given is None:
            return ()
        return tuple(given) if isinstance(given, Mapping) else tuple(column.name for column in getattr(self, group))

    def _finished(self, q: Array) -> Array:
        """A configuration with its quaternions of length 1; raises ShapeError where one has none."""
        for joint in self.manifold:
            first = {"spherical": joint.q, "free": joint.q + 3}.get(joint.kind)
            if first is not None and not q[first : first + 4].any():
                named = self.q[first].name.rpartition(".")[0]
                raise ShapeError(f"q: the quaternion of '{named}' is zero; expected a rotation, as (1, 0, 0, 0).")
        return np.array(self.laws.place(q.tolist(), [0.0] * self.ns), dtype=float)

    def index(self, group: str, name: str) -> int:
        """The place of a name in a group."""
        names = [column.name for column in getattr(self, group)]
        if name not in names:
            listed = ", ".join(f"'{one}'" for one in names) or "there are none"
            raise ShapeError(
                f"plant '{self.name}' has no {group} '{name}'.{did_you_mean(name, names)} Known: {listed}."
            )
        return names.index(name)
