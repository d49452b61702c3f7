"""The speed of forward dynamics of assemblies in Kinemorph, Pinocchio and MuJoCo.

Our functions are made for three kinds of docking poses:

    folded      poses on the grid are constants in the code: quarter turns, most of whose entries are zero
    measured    every docking is slightly away from its grid pose, like a measured one: no entry is zero
    inputs      the offset of every docking is an input of seven parameters

All contestants take turns in one run. Pinocchio runs in C++ if that can be built, with the faster of its conventions
that agree with our results; MuJoCo runs `mj_forward` of a model without contacts and constraints whose fixed bodies are
fused, called from Python, which costs less than a microsecond. MuJoCo factorizes the mass matrix, whose condition
number grows with the length of a chain, and so does the error of its accelerations; so `AGREE` is larger for MuJoCo.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose, exp_so3
from kinemorph.bench.modules.models import grown, organism
from kinemorph.bench.peers.pinocchio_twin import twin_of_robot
from kinemorph.bench.speed.contest import ALGORITHMS, Contest, farthest_body, random_states
from kinemorph.bench.speed.evaluation_times import Arena, disagreement
from kinemorph.bench.timing import Pace, Row, Say, Work, scalar_loop, take_turns, timed
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import derive
from kinemorph.disk_cache import switched_off
from kinemorph.model.modules import Assembly
from kinemorph.model.robot import Robot

AGREE = {"pinocchio": 1e-10, "mujoco": 1e-7}  # largest relative difference of accelerations that agree
ROBOTS = (("organism", 9), ("tree", 50), ("tree", 200), ("chain", 50), ("chain", 200))
STATES, CHECKED = 128, 8
CALLS = 16  # calls of MuJoCo in a sweep


def forward(robots: Sequence[tuple[str, int]], pace: Pace, library: Path | None, *, say: Say) -> Iterator[Row]:
    """Yields one row per assembly; times per evaluation [µs] are None if a peer is not installed or does not agree."""
    arena = Arena(pace, library)
    for kind, count in robots:
        say(f"{kind} of {count} modules: forward dynamics")
        yield _row(organism() if kind == "organism" else grown(kind, count), arena)


def _row(assembly: Assembly, arena: Arena) -> Row:
    robot = assembly.robot()
    free = assembly.robot(inputs=[docking.name for docking in assembly.dockings])
    made = {name: _made(each) for name, each in (("", robot), ("measured_", off(assembly).robot()), ("inputs_", free))}
    folded, posed = made[""][1], made["inputs_"][1]
    contest = Contest(twin_of_robot(robot), ALGORITHMS["ABA"], derive(robot), farthest_body(robot))
    differences = {}
    for variant in ALGORITHMS["ABA"].peer:
        contest.algorithm = replace(ALGORITHMS["ABA"], peer=(variant,))
        differences[variant] = disagreement(contest, arena.peer(contest))
    agreeing = [variant for variant, difference in differences.items() if difference <= AGREE["pinocchio"]]
    states = contest.states(STATES)
    states["p"] = np.tile([parameter.value for parameter in free.parameters], (STATES, 1))
    peer = arena.peer(contest)
    works: dict[str, Work] = {}
    for name, (_, function) in made.items():
        ins = [states[port.name] for port in function.program.inputs]
        out = np.empty((STATES, robot.nv))
        works[f"{name}scalar_us"] = scalar_loop(function, [out], ins, keep=False)
        once = [states["p"][0] if port.name == "p" else states[port.name] for port in function.program.inputs]
        works[f"{name}batched_us"] = partial(function.raw, out, *once)
    works |= {variant: peer.work(variant, *contest.peer_states(states)) for variant in agreeing}
    mujoco_difference, work = _mujoco(robot, folded)
    if work is not None and mujoco_difference <= AGREE["mujoco"]:
        works["mujoco_us"] = work
    counts = {name: CALLS if name == "mujoco_us" else STATES for name in works}
    taken = take_turns([*works.values()], arena.pace)
    found = {name: 1e6 * s / counts[name] for name, s in zip(works, taken, strict=True)}
    ours = {name: us for name, us in found.items() if name not in (*differences, "mujoco_us")}
    return {
        "kind": "forward",
        "robot": assembly.name,
        "modules": len(assembly.modules),
        "nv": robot.nv,
        **{f"{name}ops": function.ops for name, (_, function) in made.items()},
        **{f"{name}made_ms": taken_ms for name, (taken_ms, _) in made.items()},
        **ours,
        "pinocchio_us": min((found[variant] for variant in agreeing), default=None),
        "mujoco_us": found.get("mujoco_us"),
        "difference": min(differences.values()),
        "mujoco_difference": mujoco_difference,
        "inputs_difference": _relative(posed(*_states(posed, states)), folded(*_states(folded, states))),
        "peer": peer.label,
        "agreed": bool(agreeing) and (work is None or "mujoco_us" in found),
    }


def off(assembly: Assembly, angle: float = 0.02, distance: float = 0.002) -> Assembly:
    """The assembly with every docking moved away from its grid pose by a random rotation and displacement.

    `angle` [rad] and `distance` [m] are standard deviations; the random numbers are the same in each call.
    """
    chance = random.Random(0)
    dockings = []
    for docking in assembly.dockings:
        turn = exp_so3([chance.gauss(0.0, angle) for _ in range(3)])
        x, y, z = (chance.gauss(0.0, distance) for _ in range(3))
        dockings.append(replace(docking, offset=Pose(turn, (x, y, z))))
    modules = tuple(module if module.name == assembly.base else replace(module, at=None) for module in assembly.modules)
    return replace(assembly, modules=modules, dockings=tuple(dockings))


def _made(robot: Robot) -> tuple[float, CompiledFunction]:
    """(CPU time to compile [ms], forward dynamics), compiled without the cache, with all parameters as inputs."""
    parameters: Any = "all" if robot.parameters else None
    with switched_off():
        seconds, function = timed(lambda: derive(robot, parameters=parameters).forward_dynamics)
    return 1e3 * seconds, function


def _states(function: CompiledFunction, states: dict[str, Array]) -> list[Array]:
    return [states[port.name] for port in function.program.inputs]


def _relative(ours: Array, theirs: Array) -> float:
    """The largest relative difference over all states: of each state, relative to its largest acceleration."""
    return float((np.abs(ours - theirs).max(axis=1) / np.abs(theirs).max(axis=1)).max())


def _mujoco(robot: Robot, function: CompiledFunction) -> tuple[float, Work | None]:
    """(relative difference of MuJoCo's accelerations from ours, a function that makes CALLS calls of MuJoCo).

    The function is None if MuJoCo is not installed.
    """
    try:
        import mujoco
    except ImportError:
        return 0.0, None
    from kinemorph.bench.peers.mujoco_twin import MujocoTwin

    def fused(spec: Any) -> None:
        spec.compiler.fusestatic = True
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT

    twin, states = MujocoTwin(robot, fused), random_states(robot, CHECKED, seed=1)
    each = zip(states["q"], states["v"], states["tau"], strict=True)
    theirs = np.array([twin.forward_dynamics(*state) for state in each])
    ours = function(*_states(function, states))

    def sweep() -> None:
        deque(map(mujoco.mj_forward, repeat(twin.model, CALLS), repeat(twin.data)), maxlen=0)

    return _relative(ours, theirs), sweep
