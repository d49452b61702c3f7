"""A plant: a dynamic system that a run can advance, as programs of its state.

    state      q (nq) on its manifold, v (nv), x (nx) continuous extra states, m (nm) discrete memory
    inputs     t, u (nu) held between calls, p (np) parameters

A step is taken in local coordinates w about the configuration `base` at its start (mechanics.trees.charts): integrators
see one vector s = [w, v, x], shape (2 nv + nx,), and never a manifold.

    rate       (t, base, s, m, u, p) -> rate            ds/dt
    residual   (t, base, s, z, m, u, p) -> residual     zero where z = [a, dx/dt], shape (nv + nx,), is right
    place      (base, s) -> q                           the configuration of s about base; quaternions of length 1
    efforts    (t, base, s, m, u, p) -> supplied, damping       generalized forces that act on a robot, (nv,) each
    stored     (t, base, s, m, u, p) -> energy          that elements store
    bodies     (t, base, s, m, u, p) -> q, position, rotation, velocity, turning        of all bodies of a robot
    reactions  (t, base, s, a, m, u, p) -> wrenches     through joints
    sampling, settling, switching       (t, base, s, m, u, p) -> m, x      how memory changes
    flow       (t, y, m, u, p) -> dy/dt                 y = [q, v, x], for methods that do not handle manifolds
    unmet      (t, y, dy, rows, m, u, p) -> unmet       residual with multipliers as unknowns too, for IDA
    drift      (s, h) -> w                              w after the time h at constant v
    flying, flown   see mechanics.steps.free_flight     motion where no force acts
    discrete   see `variational`                        the balance of a whole step, for variational integrators
    implicit_step   see `implicit_step`                 a whole step with stiff forces at its end

Every program has all of these inputs, with length 0 for groups that the plant does not have. Programs are traced at
their first use. `compiled` gives them as machine code; a plant that is made of plain data has a recipe, by which
machine code that was compiled before is found without tracing anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Program, Runnable
from kinemorph.codegen.graphs.tracing import Shape, trace
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.codegen.storing.recipes import recalled
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import UnsupportedError
from kinemorph.frozen import Fixed
from kinemorph.mechanics.constraints.wrench_views import IN_JOINT, WrenchView
from kinemorph.mechanics.elements.ensemble import instead
from kinemorph.model.importable import check_importable
from kinemorph.model.robot import Robot
from kinemorph.model.system import Element, System
from kinemorph.plants import manifold_free
from kinemorph.plants.initial_values import initial_values, unknown_name
from kinemorph.plants.instant import LocalInstant, at_instant
from kinemorph.plants.jumps.guard_programs import observed
from kinemorph.plants.laws import Asked, DiscreteLaws, Laws
from kinemorph.plants.loop_methods import LoopMethod, Projection
from kinemorph.plants.sample_instants import Tick
from kinemorph.plants.user_laws import Column, Law
from kinemorph.plants.variational import Discrete, discrete_programs
from kinemorph.shown import Shown

if TYPE_CHECKING:
    from kinemorph.model.elements.phases.automaton import Automaton
    from kinemorph.model.modules.assembly import Assembly


class Place(NamedTuple):
    """An elementary joint: its `kind`, a row of mechanics.trees.charts.CHARTS, and where it begins in q and in v."""

    kind: str
    q: int
    v: int


# ── the table of programs ─────────────────────────────────────────────────────────────────────────────────────────────

AT = "t base s m u p"  # the inputs of `rate`
AT_A = "t base s a:nv m u p"  # and with accelerations
READ_ONLY = ("start", "stated", "outputs", "output_units")  # fields of a plant that are mappings
SIZES = {"t": "", "h": "", "guard": "", "base": "nq", "s": "ns", "m": "nm", "u": "nu", "p": "np"}  # of inputs


def _optional(name: str, inputs: str, **outputs: str) -> cached_property[Program | None]:
    """An attribute of Plant: the program of the law of that name, traced at its first use, or None without that law.

    `inputs` are names, or "name:size"; sizes of inputs and outputs are those of `Plant.sizes`, one for each axis.
    """

    def program(plant: Plant) -> Program | None:
        law = getattr(plant.laws, name)
        return None if law is None else plant.traced(name, law, inputs, outputs)

    return cached_property(program)


def _program(name: str, inputs: str, composed: Law | None = None, **outputs: str) -> cached_property[Program]:
    """An attribute of Plant: the program of a law that every plant has, traced at its first use.

    `inputs` are names, or "name:size"; sizes of inputs and outputs are those of `Plant.sizes`, one for each axis.
    `composed` is a law that is made of the plant's laws: its first arguments are these laws and the plant's sizes.
    """

    def program(plant: Plant) -> Program:
        law = partial(composed, plant.laws, plant.sizes) if composed else getattr(plant.laws, name)
        assert law is not None
        return plant.traced(name, law, inputs, outputs)

    return cached_property(program)


@dataclass(frozen=True, eq=False, repr=False)
class Plant(Fixed, Shown):
    """A dynamic system as programs of its state, with the names of its variables. This file's docstring lists them."""

    name: str
    q: tuple[Column, ...]
    v: tuple[Column, ...]
    x: tuple[Column, ...]
    m: tuple[Column, ...]
    u: tuple[Column, ...]
    p: tuple[Column, ...]
    laws: Laws
    start: Mapping[str, tuple[float, ...]]  # the default initial values of q, v, x, m, u, p
    # the names of those initial values of q and v that are stated; None or no entry where all of them are
    stated: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    settles: bool = False  # whether the default q is moved onto constraints that it violates
    dynamics: Dynamics | None = None
    locked: tuple[int, ...] = ()  # velocity indices that do not move
    asked: tuple[Asked, ...] = ()  # the last inputs, which foreign functions give in a program; 0 in a run in Python
    outputs: Mapping[str, Law] = field(default_factory=dict)  # further columns, each a law that returns one number
    output_units: Mapping[str, str] = field(default_factory=dict)
    manifold: tuple[Place, ...] = ()  # the elementary joints that make up q
    ticks: tuple[Tick, ...] = ()  # when memory is sampled
    guards: tuple[str, ...] = ()  # the names of guards of elements
    contact_guards: tuple[int, ...] = ()  # the indices of those of rigid contacts, at which the state jumps
    contact_modes: tuple[int, ...] = ()  # the indices in m of the modes of rigid contacts
    optional: int = 0  # the number of last parameters, those of rigid contacts, that p in order may leave out
    touches: bool = False  # whether there are stiff contacts
    stiff: bool = False  # whether runs take implicit steps by default: there are stiff contacts, or dry friction
    steady: bool = False  # whether nothing depends on time, and what its state determines is all that acts
    settlers: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # elements that settle: without, with located events
    elements: tuple[Element, ...] = ()  # the elements that act on the robot
    automaton: Automaton | None = None  # the phases of a hybrid motion; its edges are among the guards
    assembly: Assembly | None = None  # the modules that the robot is made of, if it is
    constraint_names: tuple[str, ...] = ()  # the names of all constraint rows: loops, coupled joints, elements
    position_rows: int = 0  # the number of constraint rows that have a position level; they come first
    loops: LoopMethod = field(default_factory=Projection)  # how constraints are kept
    system: System | None = None  # the model that it is made from; None where laws of the user belong to it, too
    # all data that the programs are made from, if it is plain data; `replace` drops it: other laws, other programs
    recipe: str | None = field(default=None, init=False)

    def __repr__(self) -> str:
        return f"<Plant '{self.name}': {self.nv} dof, {self.nx} states, {self.nu} inputs>"

    def __getstate__(self) -> dict[str, Any]:
        check_importable((self.laws, self.outputs, self.elements), f"plant '{self.name}'", (Dynamics,))
        return super().__getstate__() | {name: dict(getattr(self, name)) for name in READ_ONLY}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {name: MappingProxyType(state[name]) for name in READ_ONLY})

    @property
    def nq(self) -> int:
        """The number of configuration coordinates."""
        return len(self.q)

    @property
    def nv(self) -> int:
        """The number of velocities."""
        return len(self.v)

    @property
    def nx(self) -> int:
        """The number of further continuous states x."""
        return len(self.x)

    @property
    def nu(self) -> int:
        """The number of inputs."""
        return len(self.u)

    @property
    def given(self) -> int:
        """The number of inputs that a run gives: all but the last ones, which foreign functions give."""
        return len(self.u) - sum(one.size for one in self.asked)

    @property
    def ns(self) -> int:
        """The length 2 nv + nx of the state s = [w, v, x]: local coordinates, velocities, further states."""
        return 2 * self.nv + self.nx

    @property
    def robot(self) -> Robot | None:
        """The robot; None where the plant is made of user equations."""
        return self.dynamics.robot if self.dynamics else None

    # ── the programs ──────────────────────────────────────────────────────────────────────────────────────────────

    residual = _program("residual", "t base s z:nz m u p", out="nz")
    """The residual at z = [a, dx/dt], shape (nv + nx,), from (t, base, s, z, m, u, p); zero at the right z."""
    place = _program("place", "base s", out="nq")
    """The configuration q, shape (nq,), from (base, s)."""
    drift = _program("drift", "s h", out="nv")
    """The local coordinates w, shape (nv,), after the time h [s] at the velocity v of s, from (s, h)."""
    chained = _optional("chained", "s moved:nv", out="nv")
    """The local coordinates w, shape (nv,), after a displacement from s on, (s, moved); None without a robot."""
    aligned = _optional("aligned", "s", out="nv")
    """v (nv,) of s with its linear velocities in the axes of the base; None without a robot. See `charts`."""
    turned = _optional("turned", "s", out="nv")
    """v (nv,) of s, whose linear velocities are in the axes of the base; None without a robot. See `charts`."""
    flying = _optional("flying", AT, out="nv")
    """The accelerations of free flight, shape (nv,), from the inputs of `rate`; None without a robot."""
    flown = _optional("flown", "t base s h m u p", out="ns")
    """s after free flight over the time h [s], from (t, base, s, h, m, u, p); None without a robot."""
    efforts = _optional("efforts", AT, supplied="nv", damping="nv")
    """The generalized forces `supplied` and `damping`, (nv,) each, from the inputs of `rate`; None without a robot."""
    stored = _optional("stored", AT, out="1")
    """The energy that elements store [J], from the inputs of `rate`; None without elements."""
    bodies = _optional("bodies", AT, q="nq", position="nb 3", rotation="nb 9", velocity="nb 3", turning="nb 3")
    """q (nq,), and a row for each body, from the inputs of `rate`; see `forces.bodies`. None without a robot."""
    flow = _program("flow", "t y:ny m u p", manifold_free.flow, out="ny")
    """dy/dt from (t, y, m, u, p) with y = [q, v, x], shape (nq + nv + nx,). Quaternions may be of any length."""
    unmet = _program("unmet", "t y:unknowns dy:ny rows:nc m u p", manifold_free.unmet, out="unknowns")
    """The residual with multipliers as unknowns, from (t, y, dy, rows, m, u, p); it has the length of y.

    The unknowns are y = [q, v, x, forces (nc,), pushes (nh,)], and `dy` (nq + nv + nx,) are the rates of q, v and x.
    Quaternions may be of any length. The last entries are the constraints: rates, then errors. `rows` (nc,) is 1 for
    constraints that are used; for the others, 0, these entries are their multipliers, which have to be zero. See
    `constrained_motion.stabilized`.
    """
    constraints = _optional("constraints", AT, phi="nh", rate="nc", J="nc nv", sizes="nc")
    """The constraints (phi (nh,), rate (nc,), J (nc, nv), sizes (nc,)) from the inputs of `rate`; None without any.

    These are the errors of the first nh rows, the rates of all nc rows, their Jacobian with respect to the velocities,
    and the largest change of each row by a turn of 1 rad.
    """
    holding = _optional("holding", AT, out="ns", error="")
    """(out (ns,), error ()) from the inputs of `rate`: s nearer to the constraints, and the error before, acceptable up
    to 1. None where the constraint method does not correct states after steps.
    """
    dependence = _optional("dependence", AT, J="nc nv", margin="")
    """(J (nc, nv), margin ()) of the present choice of dependent velocities, which is at the end of the memory, from
    the inputs of `rate`. None where no velocity depends on others. See `constrained_motion.dependence`.
    """
    time_step = _optional("time_step", "t base s h m u p", out="ns", m="nm")
    """(s, m) after a step of Moreau and Jean, from (t, base, s, h, m, u, p); None without rigid contacts."""
    flatness = _optional("flatness", AT, out="")
    """1 near singular configurations, else 0, from the inputs of `rate`; None where no fast motion closes loops."""

    @cached_property
    def rate(self) -> Program:
        """The program (t, base, s, m, u, p) -> ds/dt, shape (ns,); `LocalInstant` explains these letters."""
        program = self.traced("rate", self.laws.rate, AT, {"out": "ns"})
        return self._for_one(program, lambda laws, at: {"out": laws.rate(at)}, {"out": ("s",)})

    @cached_property
    def energy(self) -> Program:
        """The program of kinetic, potential and stored energy [J] in one sum, where the plant `tells` of contacts."""
        assert self.laws.energy is not None
        program = self.traced("energy", self.laws.energy, AT, {"out": ""})
        return self._for_one(program, lambda laws, at: {"out": laws.energy(at)}, {"out": ("h",)})

    def reactions(self, view: WrenchView = IN_JOINT) -> Program:
        """The program (t, base, s, a, m, u, p) -> wrenches through all joints, loops last, shape (joints + loops, 6).

        `view` says in which frame the wrenches are, and which part of them.
        """
        assert self.laws.reactions is not None
        return self.traced("reactions", partial(self.laws.reactions, view=view), AT_A, {"out": "joints 6"})

    def _for_one(self, program: Program, law: Law, outputs: Mapping[str, Sequence[str]]) -> Program:
        """The program, with loops over similar limbs for calls with one state; see `limb_folding`."""
        return self.laws.for_one(program, law, outputs) if self.laws.for_one else program

    @property
    def discrete_laws(self) -> DiscreteLaws:
        """The laws of a variational step; raises UnsupportedError where the plant has no Lagrangian."""
        if self.robot is None:
            raise UnsupportedError(
                f"plant '{self.name}' is made of equations, and a variational method needs kinetic and potential "
                "energy. Use method='leapfrog', or the plant of a robot."
            )
        if self.constraint_names:
            raise UnsupportedError(
                f"robot '{self.robot.name}' has loops or coupled joints, and the variational method is for open trees. "
                "Use method='dop853', or 'leapfrog' with a step."
            )
        if self.laws.discrete is None:
            raise UnsupportedError(
                f"plant '{self.name}' has states besides q and v that no variational method can integrate. "
                "Use method='dop853', or 'leapfrog' with a step."
            )
        return self.laws.discrete

    @cached_property
    def discrete(self) -> Discrete:
        """The programs of a variational step; raises UnsupportedError as `discrete_laws` does."""
        return discrete_programs(self.name, self.discrete_laws, self.ports, self.nv)

    @property
    def implicit_law(self) -> Law:
        """The law of a step with stiff forces at its end; raises UnsupportedError where there is none."""
        if self.laws.implicit is None:
            raise UnsupportedError(
                f"plant '{self.name}' is made of equations, and methods for contact are for robots only. "
                "Use method='rodas' or 'radau'."
            )
        if self.contact_guards:
            raise UnsupportedError(
                f"plant '{self.name}' has rigid contacts, and methods for contact are for soft contacts. Use "
                "method='dop853', which locates their events, or 'moreau' with a step."
            )
        return self.laws.implicit

    def implicit_step(self, passes: int, shares: tuple[float, ...] = (1.0,), *, centered: bool = False) -> Program:
        """The program (t, base, s, h, guess, m, u, p) -> (out, a) of steps with stiff forces at their ends.

        All steps start at the state s = [0, v, x] about `base` (see `LocalInstant`); step k has the size shares[k] h.
        Row k of `out` (n, ns) is the state s = [w, v, x] at its end, row k of `a` (n, nv) its accelerations. `guess`
        (nv,) is the first guess of the accelerations for step 0; each further step uses those of the step before it.
        `passes` is the number of linearizations of stiff forces in a step. With `centered`, other forces are evaluated
        at the middle of a step, not at its start. Raises UnsupportedError where the plant is not a robot.

        Where the plant accounts for the energy of contacts (`laws.tells`), there are two more outputs (n,). If an entry
        of `missing` [N] is above 0, contacts made energy in that step, and it should be repeated with `a` as guess.
        `pressing` [N] is the sum of the normal forces of all contacts.
        """
        _ = self.implicit_law

        told = ("missing", "pressing") if self.laws.tells else ()

        def steps(laws: Laws, at: LocalInstant, h: Any, guess: Any) -> dict[str, Any]:
            assert laws.implicit is not None
            rows = []
            for share in shares:
                rows.append(laws.implicit(at, share * h, guess, passes, centered))
                guess = rows[-1][1]
            found = {"out": [row[0] for row in rows], "a": [row[1] for row in rows]}
            return found | {name: [row[2 + k] for row in rows] for k, name in enumerate(told)}

        made, key, n = self._implicit_steps, (passes, shares, centered), len(shares)
        if key not in made:
            name = f"{'centered' if centered else 'implicit'}_step_{passes}"
            outputs = {"out": f"{n} ns", "a": f"{n} nv"} | dict.fromkeys(told, f"{n}")
            program = self.traced(name, partial(steps, self.laws), "t base s h guess:nv m u p", outputs)
            groups = {"out": ("s",) * n, "a": ("v",) * n} | dict.fromkeys(told, ("h",) * n)  # plain numbers, as h is
            made[key] = self._for_one(program, steps, groups)
        return made[key]

    @cached_property
    def _implicit_steps(self) -> dict[tuple[int, tuple[float, ...], bool], Program]:
        return {}

    # ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────

    def sampling(self, samplers: tuple[tuple[int, int], ...]) -> Program:
        """The program (values of a LocalInstant) -> m: memory after `samplers` (element, clock) have sampled."""
        return self._jump("sample", samplers, m="nm")

    def reading(self, sampler: tuple[int, int]) -> Program:
        """The program (values of a LocalInstant) -> out: signals for the user function of a sampler."""
        return self._jump("read", sampler)

    def settling(self, *, located: bool) -> Program | None:
        """The program (values of a LocalInstant) -> (m, x): memory and further states after an accepted step.

        It is None where no element changes its memory after steps. If the run locates events (`located`), elements with
        guards change their memory at these events, and not here.
        """
        members = self.settlers[located]
        return self._jump("settle", members, m="nm", x="nx") if members else None

    def switching(self, guard: int) -> Program:
        """The program (t, base, s, m, u, p) -> (q, v, x, m, lost, impulses): the state after a guard fell below 0.

        `guard` is the index of a guard of elements or of an edge, `lost` is the energy lost [J], and `impulses` (nc,)
        are those of all constraints [N s or N m s].
        """
        return self._jump("switch", guard, q="nq", v="nv", x="nx", m="nm", lost="", impulses="nc")

    def switching_of(self, count: int) -> Program:
        """As `switching` for the first `count` guards, which are those of elements: its last input is the index."""
        assert self.laws.jumps is not None
        outputs = {"q": "nq", "v": "nv", "x": "nx", "m": "nm", "lost": "", "impulses": "nc"}
        return self.traced("switch_one", partial(self.laws.jumps.switch_one, count), f"{AT} guard", outputs)

    @property
    def switching_contacts(self) -> Program:
        """As `switching` for the guards of rigid contacts, which share a jump: its last input is the guard's index."""
        assert self.laws.jumps is not None
        outputs = {"q": "nq", "v": "nv", "x": "nx", "m": "nm", "lost": "", "impulses": "nc"}
        return self.traced("switch_contacts", self.laws.jumps.switch_contacts, f"{AT} guard", outputs)

    @property
    def entering(self) -> Program:
        """The program (t, base, s, m, u, p) -> m: the memory of elements at the start of a run."""
        assert self.laws.jumps is not None and self.laws.jumps.enter is not None
        return self.traced("enter", self.laws.jumps.enter, AT, {"out": "nm"})

    def _jump(self, what: str, choice: Any, **outputs: str) -> Program:
        return self.traced(what, partial(getattr(self.laws.jumps, what), choice), AT, outputs)

    def observed(self, laws: Mapping[str, Law], name: str = "observed", *, switches: Sequence[int] = ()) -> Program:
        """The program (t, base, s, m, u, p) -> out: the values of the laws, then of the elements' guards `switches`."""
        return observed(self, laws, name, switches)

    # ── from laws to programs and functions ───────────────────────────────────────────────────────────────────────

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The lengths of arrays by name, as the table of programs uses them: "nq", "nv", "ns", ..."""
        nc, nh, ny = len(self.constraint_names), self.position_rows, self.nq + self.nv + self.nx
        of_state = {"nq": self.nq, "nv": self.nv, "nx": self.nx, "ns": self.ns, "nz": self.nv + self.nx, "ny": ny}
        of_inputs, robot = {"nm": len(self.m), "nu": self.nu, "np": len(self.p)}, self.robot
        joints, bodies = (len(robot.joints) + len(robot.loops), len(robot.body_names)) if robot else (0, 0)
        return {**of_state, **of_inputs, "nb": bodies, "nc": nc, "nh": nh, "unknowns": ny + nc + nh, "joints": joints}

    def _shape(self, words: str) -> Shape:
        """The shape that a text describes: a size for each axis, by name or as a number, as "nc nv"."""
        return tuple(self.sizes[word] if word in self.sizes else int(word) for word in words.split())

    @cached_property
    def ports(self) -> dict[str, Shape]:
        """The shapes by name of t, base, s, m, u and p, the inputs of `rate`; `LocalInstant` explains the letters."""
        return {name: self._shape(SIZES[name]) for name in AT.split()}

    def traced(self, name: str, law: Law, inputs: str, outputs: Mapping[str, str]) -> Program:
        """The program of a law, a function over any scalar type, traced under the name `name`.

        `inputs` are the names of its inputs, separated by spaces, or "name:size"; `outputs` maps the names of its
        outputs to their sizes. Sizes are names of `Plant.sizes`, one for each axis, as "nc nv". A law with all inputs
        of `rate` gets them as one LocalInstant.
        """
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
        """The program that `make` traces, or only its outline, without tracing, where it was compiled before.

        `what` is plain data that distinguishes this program from all others of this plant.
        """
        return make() if self.recipe is None else recalled((self.recipe, what), make)

    def compiled(self, name: str, *choice: Any, **options: Any) -> CompiledFunction:
        """The program of that name as machine code, compiled once; `choice` and `options` go to the method `name`."""
        key = (name, choice, tuple(options.items()))
        if key not in self.kept:

            def make() -> Program:
                found = getattr(self, name)
                return found if isinstance(found, Program) else found(*choice, **options)

            self.kept[key] = build(self.recalled(key, make), few_calls=True)
        function: CompiledFunction = self.kept[key]
        return function

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """The cache of objects made for this plant, such as machine code. It lives as long as the plant.

        Its objects may refer to the plant, as functions do whose program is traced only when it is needed.
        """
        return {}

    # ── values ────────────────────────────────────────────────────────────────────────────────────────────────────

    def initial(self, group: str, given: Any = None) -> Array:
        """The values of a group ("q", "v", "x", "m", "u", "p"); see `initial_values.initial_values`."""
        return initial_values(self, group, given)

    def named(self, group: str, given: Any) -> tuple[str, ...]:
        """The names of the values of a group that are given: all of them for a sequence, the keys of a dict."""
        if given is None:
            return ()
        return tuple(given) if isinstance(given, Mapping) else tuple(column.name for column in getattr(self, group))

    def index(self, group: str, name: str) -> int:
        """The index of a name in a group, also one that its file gives it (`instead`); else raises ShapeError."""
        names = [column.name for column in getattr(self, group)]
        name = name if name in names else instead(name) if instead(name) in names else name
        if name not in names:
            raise unknown_name(self, group, name)
        return names.index(name)
