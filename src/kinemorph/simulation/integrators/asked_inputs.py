"""Inputs of a plant that foreign functions give: code of a user, which a program calls and Python never sees.

The last inputs u of such a plant (`Plant.asked`) are what the user's functions return: forces, rates of states, sampled
memory. Methods and the march need not know: they write their code with a `LoopBuilder` whose `call` first asks the
functions on whose results a program depends, at the very time and state of that call,

    bodies     (t, base, s, m, u, p) -> q and the motion of all bodies        a program of the plant
    function   (t, q, v, x, m, u, p, position, rotation, velocity, turning) -> its inputs        foreign

and then calls the program with all inputs. Newton's matrices have exact derivatives of the model, and differences of
what the functions return: with the exact derivative R_w of the residual by these inputs w,

    R_s = exact part + R_w dw/ds,        dw/ds by central differences, one column for each entry of s
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinemorph.codegen.derivatives.differentiate import forward
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import Shape
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, LoopProgram, View
from kinemorph.plants.laws import Asked
from kinemorph.plants.programs import AT, Plant

SHIFT = 2.0**-17  # of a central difference, relative to 1 + |s|: the cube root of the rounding error
MOTION = {"position": 3, "rotation": 9, "velocity": 3, "turning": 3}  # numbers of each body


def loop_builder(plant: Plant, name: str, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> LoopBuilder:
    """The builder of a loop program that calls programs of a plant; its input "u" are the inputs that a run gives."""
    given = {**inputs, "u": (plant.given,)}
    return AskingLoop(plant, name, given, outputs) if plant.asked else LoopBuilder(name, given, outputs)


def all_inputs(loop: LoopBuilder) -> View:
    """The view of all inputs u of the plant, for calls of its programs."""
    return loop.inputs if isinstance(loop, AskingLoop) else loop["u"]


def used(program: Program | LoopProgram, plant: Plant) -> tuple[Asked, ...]:
    """The functions of the user on whose results a program depends."""
    if isinstance(program, LoopProgram) or "u" not in [port.name for port in program.inputs]:
        return ()
    first = 0
    for port in program.inputs:
        if port.name == "u":
            break
        first += port.size
    nodes = program.graph.nodes
    read = {nodes[i][1] - first for i in program.order if nodes[i][0] == "input"}
    return tuple(one for one in plant.asked if read & set(range(one.first, one.first + one.size)))


class AskingLoop(LoopBuilder):
    """Writes a loop program in which foreign functions give the last inputs of a plant, before every call that needs
    them.
    """

    def __init__(self, plant: Plant, name: str, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> None:
        super().__init__(name, inputs, outputs)
        self.plant = plant
        self.inputs = self.buffer("all_inputs", (plant.nu,))
        if plant.given:
            self.copy(self.inputs.part(0, plant.given), self["u"])
        self._motion = {
            "q": self.buffer("seen_q", (plant.nq,)),
            **{name: self.buffer(f"seen_{name}", (plant.sizes["nb"], count)) for name, count in MOTION.items()},
        }

    def call(self, program: Program | LoopProgram, outs: Sequence[View], ins: Sequence[View]) -> None:
        """Adds a call of a program, after calls of the functions on whose results it depends."""
        at, functions = dict(zip((port.name for port in program.inputs), ins, strict=True)), used(program, self.plant)
        if functions and {*AT.split()} <= {*at}:
            self.ask(functions, at)
        super().call(program, outs, ins)

    def ask(self, functions: Sequence[Asked], at: Mapping[str, View]) -> None:
        """Adds calls of the user's functions at the instant (t, base, s, m, u, p) that `at` views."""
        plant, seen = self.plant, self._motion
        assert plant.bodies is not None
        super().call(plant.bodies, list(seen.values()), [at[name] for name in AT.split()])
        v, x = at["s"].part(plant.nv, plant.nv), at["s"].part(2 * plant.nv, plant.nx)
        given = at["u"].part(0, plant.given)
        now = [at["t"], seen["q"], v, x, at["m"], given, at["p"], *(seen[name] for name in MOTION)]
        for one in functions:
            self.foreign(one.function, now, [self.inputs.part(one.first, one.size)])

    def add_differences(self, residual: Program, ins: Sequence[View], Ru: View, Rs: View, Rt: View) -> None:
        """Adds code for Rs (n, ns) and Rt (n,) plus the derivatives by way of the user's functions.

        `Ru` (n, nu) is the derivative of the residual with respect to all inputs u, at its inputs `ins`.
        """
        plant, functions = self.plant, used(residual, self.plant)
        at = dict(zip((port.name for port in residual.inputs), ins, strict=True))
        if not functions:
            return
        before, there, back = (self.scratch(f"asked_{when}", (plant.nu,)) for when in ("before", "there", "back"))
        start, *ends = (self.scratch(f"moved_{where}") for where in ("from", "there", "back"))
        moved, time = self.scratch("moved_state", (plant.ns,)), self.scratch("moved_time")
        self.copy(before, self.inputs)

        def differ(number: View, moving: Mapping[str, View], column: Affine | None) -> None:
            """Adds the code for one column: the inputs at both sides of a number, which `moving` contains."""
            self.copy(start, number)
            for found, end, shift in ((there, ends[0], SHIFT), (back, ends[1], -SHIFT)):
                self.let(number, lambda x, shift=shift: x + shift * (1.0 + abs(x)), start)
                self.copy(end, number)
                self.ask(functions, {**at, **moving})
                self.copy(found, self.inputs)
            self.copy(number, start)
            with self.repeat(Ru.shape[0]) as i, self.repeat(plant.given, plant.nu) as k:
                out = Rt[i] if column is None else Rs[i, column]
                self.let(
                    out,
                    lambda total, slope, new, old, end, begin: total + slope * ((new - old) / (end - begin)),
                    *(out, Ru[i, k], there[k], back[k], *ends),
                )

        self.copy(moved, at["s"])
        with self.repeat(plant.ns) as j:
            differ(moved[j], {"s": moved}, j)
        self.copy(time, at["t"])
        differ(time, {"t": time}, None)
        self.copy(self.inputs, before)

    def instant(self, y: View, inputs: View, p: View) -> dict[str, View]:
        """Views of (t, base, s, m, u, p) at y = [q, v, x]; adds code that copies v and x into a new array s."""
        s = self.buffer(f"state_of_{y.array}", (self.plant.ns,))
        self.copy_state(s, y)
        return {"t": self["t"], "base": y.part(0, self.plant.nq), "s": s, "m": self["m"], "u": inputs, "p": p}

    def copy_state(self, s: View, y: View) -> None:
        """Adds code that copies v and x of y = [q, v, x] to s = [0, v, x]."""
        nq, nv, nx = self.plant.nq, self.plant.nv, self.plant.nx
        self.copy(s.part(nv, nv + nx), y.part(nq, nv + nx))


# ── for other integrators ─────────────────────────────────────────────────────────────────────────────────────────────


def at_state(plant: Plant, program: Program) -> Program | LoopProgram:
    """A program (t, y, m, u, p) at y = [q, v, x], such as `Plant.flow`, with the inputs u that a run gives."""
    functions = used(program, plant)
    if not plant.asked:
        return program
    ports, outputs = ({port.name: port.shape for port in ports} for ports in (program.inputs, program.outputs))
    loop = AskingLoop(plant, program.name, ports | {"u": (plant.given,)}, outputs)
    if functions:
        loop.ask(functions, loop.instant(loop["y"], loop.inputs, loop["p"]))
    known = {"u": loop.inputs}
    loop.call(program, [loop[name] for name in outputs], [known.get(name, loop[name]) for name in ports])
    return loop.program()


def slope_at_state(plant: Plant, program: Program) -> Program | LoopProgram:
    """The directional derivative of the program of `at_state` along (d_y, d_u, d_p), its last inputs.

    What functions of the user return changes by a central difference along that direction.
    """
    slope, functions = forward(program, ("y", "u", "p")), used(program, plant)
    if not plant.asked:
        return slope
    ports, outputs = ({port.name: port.shape for port in ports} for ports in (slope.inputs, slope.outputs))
    given = {name: (plant.given,) for name in ("u", "d_u")}
    loop = AskingLoop(plant, slope.name, ports | given, outputs)
    step, size = loop.buffer("step"), loop.buffer("size")
    before, there, along = (loop.buffer(name, (plant.nu,)) for name in ("asked_before", "asked_there", "along_inputs"))
    loop.copy(along.part(0, plant.given), loop["d_u"])
    loop.copy(before, loop.inputs)
    if functions:
        loop.ask(functions, loop.instant(loop["y"], loop.inputs, loop["p"]))
        loop.copy(before, loop.inputs)
        for name in ("d_y", "d_u", "d_p"):
            with loop.repeat(loop[name].size) as i:
                loop.let(size, lambda most, x: most.maximum(abs(x)), size, loop[name][i])
        loop.let(step, lambda size: (size > 0.0).where(SHIFT / size.maximum(1e-300), 1.0), size)
        moved = {name: loop.buffer(f"moved_{name}", (loop[name].size,)) for name in ("y", "p")} | {"u": loop.inputs}
        at = loop.instant(moved["y"], loop.inputs, moved["p"])
        for sign in (1.0, -1.0):
            for name, to in moved.items():
                with loop.repeat(loop[name].size) as i:
                    loop.let(
                        to[i],
                        lambda x, d, step, sign=sign: x + sign * step * d,
                        *(loop[name][i], loop[f"d_{name}"][i], step),
                    )
            loop.copy_state(at["s"], moved["y"])
            loop.ask(functions, at)
            if sign > 0.0:
                loop.copy(there, loop.inputs)
        with loop.repeat(plant.given, plant.nu) as i:
            loop.let(along[i], lambda a, b, step: (a - b) / (2.0 * step), there[i], loop.inputs[i], step)
    known = {"u": before, "d_u": along}
    loop.call(slope, [loop[name] for name in outputs], [known.get(name, loop[name]) for name in ports])
    return loop.program()
