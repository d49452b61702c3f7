"""A script for a Python that has Siconos: time steps of Moreau and Jean, theta = 1/2.

It reads {"problem": ..., "steps": [s], "repeats": n} as JSON and prints, for each step size, the configurations at the
sample times and the least CPU time of a run [s]. The relations of the contacts are compiled (`touch_relation.c`).
"""

import json
import sys
import time
from typing import Any

import numpy as np


def run(problem: Any, h: float) -> tuple[list[list[float]], float]:
    """(configurations at the samples, CPU time [s])."""
    import siconos.kernel as sk

    systems = []
    for k, (mass, inertia) in enumerate(problem["bodies"]):
        own = slice(3 * k, 3 * k + 3)
        body = sk.LagrangianLinearTIDS(problem["q"][own], problem["v"][own], np.diag([mass, mass, inertia]))
        body.setFExtPtr([0.0, -problem["g"] * mass, 0.0])
        systems.append(body)
    model = sk.NonSmoothDynamicalSystem(0.0, problem["times"][-1])
    for body in systems:
        model.insertDynamicalSystem(body)
    law = sk.NewtonImpactFrictionNSL(0.0, 0.0, problem["mu"], 2)
    for k, (own, below) in enumerate(problem["links"]):
        relation = sk.LagrangianScleronomousR(f"touchPlugin:h{k}", f"touchPlugin:g{k}")
        model.link(sk.Interaction(law, relation), systems[own], *([] if below is None else [systems[below]]))
    solver = sk.FrictionContact(2)
    solver.numericsSolverOptions().dparam[0] = 1e-12
    steps = sk.TimeStepping(model, sk.TimeDiscretisation(0.0, h), sk.MoreauJeanOSI(0.5), solver)
    found: list[list[float]] = []
    wanted, count = [round(t / h) for t in problem["times"]], 0
    began = time.process_time()
    while steps.hasNextEvent() and len(found) < len(wanted):
        steps.computeOneStep()
        steps.nextStep()
        count += 1
        if count == wanted[len(found)]:
            found.append([float(x) for body in systems for x in body.q()])
    return found, time.process_time() - began


if __name__ == "__main__":
    given = json.loads(sys.stdin.read())
    results = []
    for step in given["steps"]:
        runs = [run(given["problem"], step) for _ in range(given["repeats"])]
        results.append({"step": step, "rows": runs[0][0], "seconds": min(seconds for _, seconds in runs)})
    sys.stdout.write("\n" + json.dumps(results) + "\n")
