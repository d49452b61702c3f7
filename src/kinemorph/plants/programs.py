"""A plant: what a run advances, as programs of its state.

    state      q (nq) on its manifold, v (nv), x (nx) continuous extra states, m (nm) discrete memory
    inputs     t, u (nu) held between calls, p (np) parameters

A step is taken in local coordinates about the configuration `base` where it begins (mechanics.trees.charts):
integrators see one vector s = [w, v, x], shape (2 nv + nx,), and never a manifold.

    rate       (t, base, s, m, u, p) -> rate            ds/dt
    residual   (t, base, s, z, m, u, p) -> residual     zero where z = [a, dx/dt], shape (nv + nx,), is right
    place      (base, s) -> q                           the configuration that s means; quaternions of length 1
    efforts    (t, base, s, m, u, p) -> supplied, damping       generalized forces that act on a robot, (nv,) each
    stored     (t, base, s, m, u, p) -> energy          that elements store
    reactions  (t, base, s, a, m, u, p) -> wrenches     through joints
    sampling, settling, switching       (t, base, s, m, u, p) -> m, x      how memory changes
    flow       (t, y, m, u, p) -> dy/dt                 y = [q, v, x], for methods that know of no manifold
    unmet      (t, y, dy, rows, m, u, p) -> unmet       multipliers are unknowns, too; zero where all are right
    drift      (s, h) -> w                              where w is after the time h at constant v
    discrete   see `variational`                        the balance of a whole step, for variational integrators
    implicit_step   see `implicit_step`                 a whole step with stiff forces at its end

Every program has all of these inputs, of length 0 where there is nothing. Programs are traced when they are first asked
for. `compiled` gives them as machine code; a plant that is made of plain data has a recipe, by which code that was made
before is found without tracing anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Program, Runnable
from kinemorph.codegen.graphs.tracing import Shape, trace
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.codegen.storing.recipes import recalled
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.frozen import Fixed
from kinemorph.model.robot import Robot
from kinemorph.model.system import Element
from kinemorph.plants import manifold_free
from kinemorph.plants.instant import Instant, LocalInstant, at_instant
from kinemorph.plants.laws import DiscreteLaws, Laws
from kinemorph.plants.loop_methods import LoopMethod, Projection
from kinemorph.plants.sample_instants import Instants, instants
from kinemorph.plants.user_laws import Column, Law, check_importable, of_groups, one_number, split
from kinemorph.plants.variational import Discrete, discrete_programs
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
    """Elements that sample one after the other, each by its index and the number of its clock; compiled or Python."""

    samplers: tuple[tuple[int, int], ...]
    python: bool


class Tick(NamedTuple):
    """Sample instants phase + k period [s], what is done at them, and the names of the memory that is written."""

    period: float
    phase: float
    stages: tuple[Stage, ...]
    writes: tuple[str, ...] = ()

    @property
    def instants(self) -> Instants:
        """The instants at which it ticks."""
        return instants(self.period, self.phase)

    @property
    def compiled(self) -> bool:
        """Whether no Python function takes part."""
        return not any(stage.python for stage in self.stages)


# ── the table of programs ─────────────────────────────────────────────────────────────────────────────────────────────

AT = "t base s m u p"  # the inputs of `rate`
READ_ONLY = ("start", "outputs", "output_units")  # fields of a plant that are mappings
SIZES = {"t": "", "h": "", "base": "nq", "s": "ns", "m": "nm", "u": "nu", "p": "np"}  # of inputs that say none


def _optional(name: str, inputs: str, **outputs: str) -> cached_property[Program | None]:
    """The program of the law of that name as an attribute of a plant, traced when it is first asked for; None where the
    plant has no such law.

    `inputs` are names, or "name:size"; sizes of inputs and outputs are those of `Plant.sizes`, one for each axis.
    """

    def program(plant: Plant) -> Program | None:
        law = getattr(plant.laws, name)
        return None if law is None else plant.traced(name, law, inputs, outputs)

    return cached_property(program)


def _program(name: str, inputs: str, composed: Law | None = None, **outputs: str) -> cached_property[Program]:
    """The program of a law that every plant has, as an attribute; see `_optional`.

    `composed` is a law that is made of the plant's laws: its first arguments are these and the plant's sizes.
    """

    def program(plant: Plant) -> Program:
        law = partial(composed, plant.laws, plant.sizes) if composed else getattr(plant.laws, name)
        assert law is not None
        return plant.traced(name, law, inputs, outputs)

    return cached_property(program)


@dataclass(frozen=True, eq=False, repr=False)
class Plant(Fixed, Shown):
    """Programs of a state, and the names of its numbers. See this file's docstring for the programs' inputs."""

    name: str
    q: tuple[Column, ...]
    v: tuple[Column, ...]
    x: tuple[Column, ...]
    m: tuple[Column, ...]
    u: tuple[Column, ...]
    p: tuple[Column, ...]
    laws: Laws
    start: Mapping[str, tuple[float, ...]]  # the values of q, v, x, m, u, p where no others are given
    dynamics: Dynamics | None = None
    locked: tuple[int, ...] = ()  # velocity indices that do not move
    outputs: Mapping[str, Law] = field(default_factory=dict)  # further columns, each a law that gives one number
    output_units: Mapping[str, str] = field(default_factory=dict)
    manifold: tuple[Place, ...] = ()  # the elementary joints that make up q
    ticks: tuple[Tick, ...] = ()  # when memory is sampled
    guards: tuple[str, ...] = ()  # the names of guards of elements
    touches: bool = False  # whether there are stiff contacts
    settlers: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # elements that settle after any step; and elements
    # that settle even where events are located
    elements: tuple[Element, ...] = ()  # what acts on the robot, as data
    assembly: Assembly | None = None  # the modules that the robot is made of, if it is
    constraint_names: tuple[str, ...] = ()  # the names of all rows: loops, coupled joints, elements
    position_rows: int = 0  # the number of rows that have a position level; they come first
    loops: LoopMethod = field(default_factory=Projection)  # how they are kept
    # all that the programs are made of, where that is plain data; `replace` leaves it out: other laws, other programs
    recipe: str | None = field(default=None, init=False)

    def __repr__(self) -> str:
        sizes = f"{self.nv} dof, {self.nx} states, {self.nu} inputs"
        return f"<Plant '{self.name}': {sizes}>"

    def __getstate__(self) -> dict[str, Any]:
        check_importable((self.laws, self.outputs, self.elements), f"plant '{self.name}'")
        return super().__getstate__() | {name: dict(getattr(self, name)) for name in READ_ONLY}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {name: MappingProxyType(state[name]) for name in READ_ONLY})

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
        """The robot; None where the plant is made of equations."""
        return self.dynamics.robot if self.dynamics else None

    # ── the programs ──────────────────────────────────────────────────────────────────────────────────────────────

    residual = _program("residual", "t base s z:nz m u p", out="nz")
    """What is left over at z = [a, dx/dt], from (t, base, s, z, m, u, p); zero at the right z."""
    place = _program("place", "base s", out="nq")
    """q, shape (nq,), from (base, s)."""
    drift = _program("drift", "s h", out="nv")
    """w, shape (nv,), after the time h at the velocity v of s, from (s, h)."""
    efforts = _optional("efforts", AT, supplied="nv", damping="nv")
    """(supplied, damping) generalized forces, (nv,) each, from the inputs of `rate`; None where it is no robot."""
    stored = _optional("stored", AT, out="1")
    """Energy that elements store [J], from the inputs of `rate`; None where there are no elements."""
    reactions = _program("reactions", "t base s a:nv m u p", out="joints 6")
    """Wrenches through all joints, loops last, shape (joints + loops, 6), from (t, base, s, a, m, u, p)."""
    flow = _program("flow", "t y:ny m u p", manifold_free.flow, out="ny")
    """dy/dt from (t, y, m, u, p) with y = [q, v, x], shape (nq + nv + nx,). Quaternions may be of any length."""
    unmet = _program("unmet", "t y:unknowns dy:ny rows:nc m u p", manifold_free.unmet, out="unknowns")
    """What is left over, as many numbers as y has, at y = [q, v, x, forces (nc,), pushes (nh,)] and at the rates of its
    first part, `dy` (nq + nv + nx,), from (t, y, dy, rows, m, u, p). Quaternions may be of any length.

    The last numbers are the constraints: rates, then errors. For constraints that are not among `rows` (nc,), 1 or 0,
    they are the multipliers, which have to be zero. See `constrained_motion.stabilized` for the form.
    """
    constraints = _optional("constraints", AT, phi="nh", rate="nc", J="nc nv", sizes="nc")
    """(phi (nh,), rate (nc,), J (nc, nv), sizes (nc,)) from the inputs of `rate`; None where the motion is free.

    Errors of the first nh rows, the rates of all nc, their slopes by the velocities, and the largest change that a turn
    by 1 rad can make to each.
    """
    holding = _optional("holding", AT, out="ns", error="")
    """(out (ns,), error ()): s nearer to the constraints, and the error that it had, acceptable up to 1, from the
    inputs of `rate`; None where nothing is done after steps.
    """
    dependence = _optional("dependence", AT, J="nc nv", margin="")
    """(J (nc, nv), margin ()) of the choice of dependent velocities that ends the memory, from the inputs of `rate`;
    None where no velocity depends on others. See `constrained_motion.dependence`.
    """
    flatness = _optional("flatness", AT, out="")
    """1 near singular configurations, else 0, from the inputs of `rate`; None where no fast motion closes loops."""

    @cached_property
    def rate(self) -> Program:
        """ds/dt from (t, base, s, m, u, p)."""
        program = self.traced("rate", self.laws.rate, AT, {"out": "ns"})
        return self._for_one(program, lambda laws, at: {"out": laws.rate(at)}, {"out": ("s",)})

    def _for_one(self, program: Program, law: Law, outputs: Mapping[str, Sequence[str]]) -> Program:
        """The program, with loops over limbs that are alike for one state; see `limb_folding`."""
        return self.laws.for_one(program, law, outputs) if self.laws.for_one else program

    @property
    def discrete_laws(self) -> DiscreteLaws:
        """The laws of a variational step. Raises UnsupportedError where there is no Lagrangian to begin with."""
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
        return self.laws.discrete

    @cached_property
    def discrete(self) -> Discrete:
        """The programs of a variational step; see `discrete_laws` for what is refused."""
        return discrete_programs(self.name, self.discrete_laws, self.ports, self.nv)

    @property
    def implicit_law(self) -> Law:
        """The law of a step with stiff forces at its end. Raises UnsupportedError where there is none."""
        if self.laws.implicit is None:
            raise UnsupportedError(
                f"plant '{self.name}' has no step with forces at its end, which is for robots. "
                "Use method='rodas' or 'radau'."
            )
        return self.laws.implicit

    def implicit_step(self, passes: int, shares: tuple[float, ...] = (1.0,), *, centered: bool = False) -> Program:
        """(out, a): s = [w, v, x] after a step and its accelerations, from (t, base, s, h, guess, m, u, p).

        s is [0, v, x], `guess` (nv,) the accelerations of the step before. Shapes (shares, ns) and (shares, nv): a row
        for each share of h that the step may take, each beginning with the accelerations of the one before; they have
        much in common. See `implicit_step`, for `centered`, too. Raises UnsupportedError where there is no such step.
        """
        _ = self.implicit_law

        def steps(laws: Laws, at: LocalInstant, h: Any, guess: Any) -> dict[str, Any]:
            assert laws.implicit is not None
            rows = []
            for share in shares:
                rows.append(laws.implicit(at, share * h, guess, passes, centered))
                guess = rows[-1][1]
            return {"out": [row[0] for row in rows], "a": [row[1] for row in rows]}

        made, key, n = self._implicit_steps, (passes, shares, centered), len(shares)
        if key not in made:
            name = f"{'centered' if centered else 'implicit'}_step_{passes}"
            outputs = {"out": f"{n} ns", "a": f"{n} nv"}
            program = self.traced(name, partial(steps, self.laws), "t base s h guess:nv m u p", outputs)
            made[key] = self._for_one(program, steps, {"out": ("s",) * n, "a": ("v",) * n})
        return made[key]

    @cached_property
    def _implicit_steps(self) -> dict[tuple[int, tuple[float, ...], bool], Program]:
        return {}

    # ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────

    def sampling(self, samplers: tuple[tuple[int, int], ...]) -> Program:
        """m, shape (nm,), after elements have sampled, from the inputs of `rate`."""
        return self._jump("sample", samplers, m="nm")

    def reading(self, sampler: tuple[int, int]) -> Program:
        """The signals that a Python function is given, one output "out", from the inputs of `rate`."""
        return self._jump("read", sampler)

    def settling(self, *, located: bool) -> Program | None:
        """(m, x) after an accepted step; None where no element settles. `located`: guards of elements are events."""
        members = self.settlers[located]
        return self._jump("settle", members, m="nm", x="nx") if members else None

    def switching(self, guard: int) -> Program:
        """(m, x) where a guard of an element has fallen through zero."""
        return self._jump("switch", guard, m="nm", x="nx")

    def _jump(self, what: str, choice: Any, **outputs: str) -> Program:
        return self.traced(what, partial(getattr(self.laws.jumps, what), choice), AT, outputs)

    def observed(self, laws: Mapping[str, Law], name: str = "observed", *, switches: bool = False) -> Program:
        """A program of the inputs of `rate` with one output "out": a number for each law.

        `switches`: the guards of elements follow.
        """

        def values(at: LocalInstant) -> list[Any]:
            _, v, x = split(at.s, self.nv)
            now = Instant(at.t, self.laws.place(at.base, at.s), v, x, at.m, at.u, at.p)
            read = [one_number(of_groups(law, now._asdict(), f"'{key}'"), key) for key, law in laws.items()]
            return [*read, *(self.laws.jumps.guards(at) if switches and self.laws.jumps else ())]

        count = len(laws) + (len(self.guards) if switches else 0)
        return self.traced(name, values, AT, {"out": str(count)})

    # ── from laws to programs and functions ───────────────────────────────────────────────────────────────────────

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The lengths of arrays, by the names that the programs' tables give them."""
        nc, nh, ny = len(self.constraint_names), self.position_rows, self.nq + self.nv + self.nx
        of_state = {"nq": self.nq, "nv": self.nv, "nx": self.nx, "ns": self.ns, "nz": self.nv + self.nx, "ny": ny}
        of_inputs = {"nm": len(self.m), "nu": self.nu, "np": len(self.p)}
        joints = len(self.robot.joints) + len(self.robot.loops) if self.robot else 0
        return {**of_state, **of_inputs, "nc": nc, "nh": nh, "unknowns": ny + nc + nh, "joints": joints}

    def _shape(self, words: str) -> Shape:
        """The shape that a text means: a size for each axis, by name or as a number."""
        return tuple(self.sizes[word] if word in self.sizes else int(word) for word in words.split())

    @cached_property
    def ports(self) -> dict[str, Shape]:
        """Shapes of the inputs of `rate`."""
        return {name: self._shape(SIZES[name]) for name in AT.split()}

    def traced(self, name: str, law: Law, inputs: str, outputs: Mapping[str, str]) -> Program:
        """The program of a law, with sizes as in `_program`; a law at an instant gets that as one record."""
        named = [text.partition(":") for text in inputs.split()]
        shapes = {port: self._shape(size or SIZES[port]) for port, _, size in named}

        def at_ports(*given: Any) -> Any:
            return at_instant(law, dict(zip(shapes, given, strict=True)))

        return trace(
            at_ports if set(AT.split()) <= set(shapes) else law,
            shapes,
            name=f"{self.name}.{name}",
            outputs={port: self._shape(size) for port, size in outputs.items()},
        )

    def recalled(self, what: object, make: Callable[[], Program | LoopProgram]) -> Runnable:
        """The program that `make` traces and that `what`, plain data, tells from all others of this plant; only its
        outline, and nothing traced, where it was made before.
        """
        return make() if self.recipe is None else recalled((self.recipe, what), make)

    def compiled(self, name: str, *choice: Any, **options: Any) -> CompiledFunction:
        """The program of that name as machine code, made once; `choice` and `options` are arguments of its method."""
        key = (name, choice, tuple(options.items()))
        if key not in self.kept:

            def make() -> Program:
                found = getattr(self, name)
                return found if isinstance(found, Program) else found(*choice, **options)

            self.kept[key] = build(self.recalled(key, make))
        function: CompiledFunction = self.kept[key]
        return function

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What was made for this plant so far, machine code above all. It lives as long as the plant, and may refer to
        it: a function that was recalled knows how to trace its program.
        """
        return {}

    # ── values ────────────────────────────────────────────────────────────────────────────────────────────────────

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
        """The names of those numbers of a group for which values are given."""
        if given is None:
            return ()
        return tuple(given) if isinstance(given, Mapping) else tuple(column.name for column in getattr(self, group))

    def _finished(self, q: Array) -> Array:
        """A configuration with its quaternions of length 1; raises ShapeError where a quaternion is zero."""
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
