"""The table of scale: how the stages from a grid of cells to a run grow with the number of modules.

    assemble    from the text of a grid to an assembly: cells, dockings, all checks
    robot       `assembly.robot()`: 2 bodies and 4 frames for each module, checked
    tables      the traversal of the modules, and the paper's tables DTL and AIM
    IDTL        the rows of the paper's table IDTL: pairs of modules of which one carries the other indirectly
    trace       forward dynamics as a graph
    forward     forward dynamics as machine code for one state, with its graph, without the cache
    first       `simulate` for one step: the plant, the march, their machine code, without the cache
    step        a step of RK4: four evaluations of forward dynamics with damping of hinges [µs]
    closed      the stacked matrices of the paper: operations of its inverse dynamics, and the time to trace it

Times are CPU times, the least of several, because other processes only add to them. The exponent of a stage is
log(time ratio) / log(size ratio) between the last two sizes: 1 is linear, 2 quadratic. IDTL and the closed form are
quadratic on a chain, in which one module of each pair carries the other; a tree has fewer such pairs.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from kinemorph.bench.modules.models import GRIDS
from kinemorph.bench.timing import Pace, Row, Say, samples_in_turns, timed
from kinemorph.codegen.building.self_test import self_test
from kinemorph.deriving.dynamics import derive
from kinemorph.disk_cache import switched_off
from kinemorph.formats.assemble import assemble
from kinemorph.model.modules import assembly_incidence, traverse
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.stepper import Stepper

T = TypeVar("T")
STEP = 1e-4  # [s]
STEPS = 50  # steps in one sample
MANY, FEW = 9, 3  # repeats; FEW for stages that take seconds
# stage -> the largest exponent that counts as near linear; None for a stage that is quadratic on a chain
STAGES: dict[str, float | None] = {
    "assemble_ms": 1.2,
    "robot_ms": 1.2,
    "tables_ms": 1.2,
    "trace_ms": 1.2,
    "forward_ms": 1.2,
    "first_ms": 1.2,
    "step_us": 1.2,
    "idtl_rows": None,
    "idtl_ms": None,
    "closed_ops": None,
    "closed_ms": None,
}


def scale(sizes: Sequence[int], pace: Pace, *, say: Say = lambda message: None) -> Iterator[Row]:
    """Yields, for each shape of assembly, one row per size and then one row with the exponents of its stages."""
    self_test()  # loads LLVM
    _measured(GRIDS["chain"](4), pace)  # imports modules that are imported when they are first used
    for kind, grid in GRIDS.items():
        rows = []
        for count in sizes:
            say(f"{kind} of {count} modules")
            rows.append({"kind": "scale", "shape": kind, "modules": count, **_measured(grid(count), pace)})
            yield rows[-1]
        if len(rows) > 1:
            yield {"kind": "growth", "shape": kind, **exponents(*rows[-2:])}


def exponents(small: Row, large: Row) -> Row:
    """How the time of each stage grows from a small to a large assembly: the exponent e of time ~ size^e, by stage.

    `steep` lists the stages whose exponent is clearly above 1.
    """
    ratio = math.log(large["modules"] / small["modules"])
    found = {stage: math.log(large[stage] / small[stage]) / ratio for stage in STAGES}
    steep = [stage for stage, most in STAGES.items() if most is not None and found[stage] > most]
    return {"from": small["modules"], "to": large["modules"], **found, "steep": steep}


def _measured(grid: str, pace: Pace) -> Row:
    """The times and counts of all stages for the assembly of one grid."""
    assemble_ms, assembly = _least(lambda: assemble(grid), MANY)
    robot_ms, robot = _least(assembly.robot, MANY)
    tables_ms, _ = _least(lambda: (traverse(assembly), assembly_incidence(assembly)), MANY)
    idtl_ms, idtl = _least(lambda: traverse(assembly).indirect, MANY)
    run: Row = {"method": "rk4", "step": STEP, "output_step": STEP}
    with switched_off():
        trace_ms, _ = _least(lambda: derive(robot, backend="interpreter").forward_dynamics, FEW)
        forward_ms, function = _least(lambda: derive(robot).forward_dynamics, FEW)
        system = assembly.system()
        first_ms, _ = _least(lambda: simulate(system, STEP, **run), FEW)
        stepper = Stepper(system, method="rk4", step=STEP)
        closed_ms, closed_ops = _least(
            lambda: derive(robot, formulation="closed_form", backend="interpreter").inverse_dynamics.ops, 2
        )

    def steps() -> None:
        stepper.restart(0.0)
        stepper.advance(STEPS * STEP)

    (taken,) = samples_in_turns([steps], pace)
    return {
        "nv": robot.nv,
        "assemble_ms": assemble_ms,
        "robot_ms": robot_ms,
        "tables_ms": tables_ms,
        "trace_ms": trace_ms,
        "forward_ms": forward_ms,
        "ops": function.ops,
        "first_ms": first_ms,
        "step_us": 1e6 * min(taken) / STEPS,
        "idtl_rows": len(idtl),
        "idtl_ms": idtl_ms,
        "closed_ops": closed_ops,
        "closed_ms": closed_ms,
    }


def _least(work: Callable[[], T], repeats: int) -> tuple[float, T]:
    """(least CPU time [ms] of several calls, result of the last); garbage is collected before each call."""
    taken = []
    for _ in range(repeats):
        gc.collect()
        seconds, result = timed(work)
        taken.append(1e3 * seconds)
    return min(taken), result
