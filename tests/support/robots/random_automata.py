"""Seeded random hybrid automata on robots with loops, and derivatives of their motions by differences of runs.

A robot has a base that moves in the plane or in space, and two limbs of equal geometry, left and right, each a four-bar
or two links in series. It goes round a cycle of phases that hold a foot, lock a joint or do neither. Edges have guards
of the state and of the time, exchange left and right, reset velocities by formulas with parameters, and end in plastic
impacts. With `rough`, no phase holds a foot, and all edges end in impacts with a law and friction: points of one limb
or of both, which fall, collide with a floor there, and bounce, slide or stick. The same seed gives the same automaton.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinemorph.algebra.groups import translation
from kinemorph.algebra.scalar import sin
from kinemorph.elements import Automaton, Coulomb, Edge, Energetic, Hold, Newton, Phase, Plastic, Poisson
from kinemorph.model.body import Body, diagonal
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import difference, integrate
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.simulate import simulate

Array = np.ndarray
BASES = ("axes", "planar", "free")
PARAMETERS = ("m_left", "level", "e")
ROUGH_PARAMETERS = ("m_left", "e", "mu")
E, MU = Parameter("e", 0.6), Parameter("mu", 0.4)
FAR = 0.03  # of coordinates, velocities and times
EXACT = {"rtol": 1e-12, "atol": 1e-13}
Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class RandomAutomaton:
    """A random automaton, its plant, and an initial state."""

    seed: int
    base: str
    looped: bool
    rough: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that stay inputs of the plant."""
        return ROUGH_PARAMETERS if self.rough else PARAMETERS

    @cached_property
    def chance(self) -> np.random.Generator:
        """The random numbers of the initial state."""
        return np.random.default_rng([self.seed, 1])

    @cached_property
    def robot(self) -> Robot:
        """A base with two limbs of the same geometry, and other masses."""
        chance = np.random.default_rng([self.seed, 2])
        builder = RobotBuilder(f"automaton_{self.seed}", gravity=(0.0, -1.0, 0.0))
        builder.add(Body("base", 2.0, (0.05, 0.02, 0.0), diagonal(0.2, 0.25, 0.3)))
        if self.base == "axes":
            builder.add(Body("slide", 0.1), Body("lift", 0.1))
            builder.joint("x", "prismatic", "world", "slide", axis=(1.0, 0.0, 0.0))
            builder.joint("y", "prismatic", "slide", "lift", axis=(0.0, 1.0, 0.0))
            builder.joint("turn", "revolute", "lift", "base", axis=Z)
        else:
            builder.joint("base", self.base, "world", "base")
        sizes = (0.2, 0.5, 0.4, 0.45)  # crank, coupler, rocker, and the distance of their hinges
        for side, at in (("left", 0.3), ("right", -0.3)):
            masses = [Parameter("m_left", 0.8, "kg") if side == "left" else 0.7, *chance.uniform(0.2, 0.5, size=2)]
            for name, mass, length in zip(("crank", "coupler", "rocker"), masses, sizes, strict=False):
                if name != "rocker" or self.looped:
                    middle = (0.5 * length, 0.0, 0.0)
                    builder.add(Body(f"{side}_{name}", mass, middle, diagonal(0.01, 0.02, 0.02)))
            builder.joint(f"{side}1", "revolute", "base", f"{side}_crank", axis=Z, translation=(at, 0.0, 0.0))
            end = (sizes[0], 0.0, 0.0)
            builder.joint(f"{side}2", "revolute", f"{side}_crank", f"{side}_coupler", axis=Z, translation=end)
            if self.looped:
                hinge = (at + sizes[3], 0.0, 0.0)
                builder.joint(f"{side}3", "revolute", "base", f"{side}_rocker", axis=Z, translation=hinge)
                builder.joint(
                    f"{side}_closure",
                    "spherical",
                    f"{side}_coupler",
                    f"{side}_rocker",
                    translation=(sizes[1], 0.0, 0.0),
                    child_placement=translation((sizes[2], 0.0, 0.0)),
                )
        return builder.build()

    @cached_property
    def system(self) -> System:
        """The robot with its automaton."""
        chance = np.random.default_rng([self.seed, 3])
        if self.rough:
            return self._rough_system(chance)
        known = {"level": Parameter("level", 0.1), "e": E}
        axes = "xyz" if self.base == "free" else "xy"
        holds = [Hold(f"{side} foot", f"{side}_coupler", (0.3, -0.2, 0.0), axes) for side in ("left", "right")]
        kinds = [str(kind) for kind in chance.permutation(["left foot", "right foot", "lock", "free"])]
        kinds = kinds[: chance.integers(2, 5)]
        phases = [
            Phase(kind, () if kind in ("lock", "free") else kind, ("right1",) if kind == "lock" else ())
            for kind in kinds
        ]
        names = [phase.name for phase in phases]
        edges = [self._edge(chance, f"edge {k}", name, names[(k + 1) % len(names)]) for k, name in enumerate(names)]
        holds = [hold for hold in holds if hold.name in kinds]  # a hold that no phase names would act in all of them
        return System(self.robot, tuple(holds), automaton=Automaton(tuple(phases), tuple(edges), known=known))

    def _rough_system(self, chance: np.random.Generator) -> System:
        axes = "xyz" if self.base == "free" else "xy"
        holds = [
            Hold(f"{side} touch", f"{side}_coupler", (0.3, float(chance.uniform(-0.3, -0.1)), 0.0), axes, normal="y")
            for side in ("left", "right")
        ]
        touches = [
            Phase("left touches", "left touch"),
            Phase("right touches", "right touch"),
            Phase("both touch", ("left touch", "right touch")),
            Phase("locked touch", "left touch", "right1"),
        ]
        phases = [Phase("free"), Phase("lock", (), "right1"), Phase("again")][: chance.integers(2, 4)]
        names = [phase.name for phase in phases]
        edges = []
        for k, source in enumerate(names):
            target = names[(k + 1) % len(names)]
            plain = self._edge(chance, f"edge {k}", source, target)
            during = "locked touch" if target == "lock" else touches[chance.integers(3)].name
            law = [Plastic, Newton, Poisson, Energetic][chance.integers(4)]
            at_once = bool(chance.random() < 0.7)
            edges.append(
                replace(
                    plain,
                    reset={} if target == "lock" else plain.reset,
                    impact=Plastic(not at_once) if law is Plastic else law(E, not at_once),
                    friction=Coulomb(MU),
                    during=during,
                )
            )
        known = {"level": 0.1, "e": E}
        used = {edge.during for edge in edges}
        phases += [phase for phase in touches if phase.name in used]
        named = {name for phase in phases for name in phase.elements}
        holds = [hold for hold in holds if hold.name in named]
        return System(self.robot, tuple(holds), automaton=Automaton(tuple(phases), tuple(edges), known=known))

    def _edge(self, chance: np.random.Generator, name: str, source: str, target: str) -> Edge:
        w, phase, c = chance.uniform(4.0, 7.0), chance.uniform(0.0, 6.0), chance.uniform(0.1, 0.3)
        guards: list[Any] = [
            f"cos({w} * t + {phase}) + {c} * q.left1 + level",
            f"cos({w} * t) - level * v.right1 + {c} * q.right1",
            lambda t, q, v: sin(w * t + phase) + c * q[-1] * v[-1] - 0.1,
        ]
        last = 3 if self.looped else 2
        exchanged = [f"{side}{k}" for side in ("left", "right") for k in range(1, last + 1)]
        others = [*exchanged[last:], *exchanged[:last]]
        resets = [{}, {"v.left1": "-e * v.left1"}, {"v.right2": "v.right2 + 0.3 * e", "v.left1": "0.8 * v.left1"}]
        return Edge(
            name,
            source,
            target,
            guard=guards[chance.integers(len(guards))],
            relabel=dict(zip(exchanged, others, strict=True)) if chance.random() < 0.6 else {},
            reset=resets[chance.integers(len(resets))],
        )

    @cached_property
    def plant(self) -> Plant:
        """The plant, with springs and drives at the cranks, and damping of the base."""
        first = self.robot.nv - (6 if self.looped else 4)
        cranks = [first, first + (3 if self.looped else 2)]
        angles = [k + self.robot.nq - self.robot.nv for k in cranks]

        def forces(t: Any, q: Any, v: Any) -> list[Any]:
            tau = [-1.0 * rate for rate in v]
            for k, place, rest in zip(cranks, angles, (1.2, 1.5), strict=True):
                tau[k] = 3.0 * (rest - q[place]) - 0.1 * v[k] + sin(3.0 * t + rest)
            return tau

        return plant(self.system, parameters=list(self.parameters), forces=forces)

    @cached_property
    def named(self) -> tuple[dict[str, float], dict[str, float]]:
        """Independent coordinates and velocities of the initial state, by name; the others follow."""
        robot, chance = self.robot, self.chance
        joints = ["left1", "right1"] if self.looped else ["left1", "left2", "right1", "right2"]
        base = [name for name in robot.q_names if not name.startswith(("left", "right"))]
        q = integrate(robot, np.array(self.plant.start["q"]), 0.2 * chance.normal(size=robot.nv))
        at = {name: float(q[robot.q_names.index(name)]) for name in base}
        at |= {name: float(1.3 + 0.2 * chance.normal()) for name in joints}
        moving = [name for name in robot.v_names if not name.startswith(("left", "right"))]
        speeds = {name: float(0.5 * chance.normal()) for name in [*moving, *joints]}
        phase = self.system.automaton.phases[0]  # type: ignore[union-attr]
        held = 0 if not phase.elements else 3 if self.base == "free" else 2
        for name in (*phase.locked, *moving[:held]):  # these follow from the others
            speeds.pop(name, None)
        return at, speeds

    def moved(self, name: str, h: float) -> dict[str, Any]:
        """The arguments of a run whose initial value or parameter `name` is larger by h."""
        q, v = (dict(values) for values in self.named)
        p = dict(zip(self.parameters, self.plant.start["p"], strict=True))
        if name in p:
            p[name] += h
        elif name.startswith("v."):
            v[name[2:]] += h
        elif name[2:] in q:
            q[name[2:]] += h
        else:  # a turn of the base
            step = np.zeros(self.robot.nv)
            step[self.robot.v_names.index(name[2:])] = h
            whole = np.array(self.plant.start["q"])
            for one, value in q.items():
                whole[self.robot.q_names.index(one)] = value
            turned = integrate(self.robot, whole, step)
            q = {one: float(turned[self.robot.q_names.index(one)]) for one in q}
        return {"q": q, "v": v, "p": p}

    def end(self, given: Mapping[str, Any], until: float, **options: Any) -> tuple[Array, Array, Array, Any]:
        """(q, [v, x, m], times of edges, run) at the end of a run."""
        run = simulate(self.plant, until, output_step=[0.0, until], **given, **options, **EXACT)
        assert run.outcome.kind in ("finished", "stopped"), run.outcome.message
        last = run.segments[-1]
        return (
            last.q[-1],
            np.concatenate([last.v[-1], last.x[-1], last.m[-1]]),
            np.array([e.t for e in run.events]),
            run,
        )


def differences(automaton: RandomAutomaton, names: Sequence[str], until: float, h: float, **options: Any) -> Any:
    """Derivatives of (displacement, [v, x, m]) at the end of runs, and of times of edges, by differences of order 4.

    The runs go through the same edges. The step h is divided by 8, at most three times, where a contact sticks in one
    of them and slides or opens in another, or where their ends are farther apart than `FAR`: differences over such a
    distance are no derivatives.
    """
    middle, _, _, plain = automaton.end(automaton.moved(names[0], 0.0), until, **options)
    taken, columns, times = pattern(plain), [], []
    for name in names:
        for step in (h, h / 8.0, h / 64.0, h / 512.0):
            runs = {k: automaton.end(automaton.moved(name, k * step), until, **options) for k in (-2, -1, 1, 2)}
            more = step if name == "mu" else 0.0
            ends = {
                k: np.concatenate([difference(automaton.robot, middle, q), *rest]) for k, (q, *rest, _) in runs.items()
            }
            alike = all(pattern(run[-1], MU.value + k * more) == taken for k, run in runs.items())
            if alike and np.abs(ends[1] - ends[-1]).max() < 2.0 * FAR:
                break
        else:
            raise AssertionError(f"{name}: runs are not close to each other, steps of {step} notwithstanding")
        slope = (8.0 * (ends[1] - ends[-1]) - (ends[2] - ends[-2])) / (12.0 * step)
        columns.append(slope[: len(slope) - len(taken)])
        times.append(slope[len(slope) - len(taken) :])
    return np.array(columns).T, np.array(times).T, plain


def pattern(run: Any, mu: float = MU.value) -> list[Any]:
    """The edges of a run, each with the modes of its contacts, from their impulses: open, sliding, or neither."""
    found = []
    for event in run.events:
        modes, known = {}, {number.name: number.value for number in event.numbers}
        for side in ("left", "right"):
            y, *along = (known.get(f"impulse.{side} touch.{axis}", 0.0) for axis in "yxz")
            rubbing = float(np.hypot(*along))
            modes[side] = "open" if y < 1e-9 else "slides" if rubbing > mu * y * (1.0 - 1e-9) else "sticks"
        found.append((event.name, modes))
    return found
