"""Forces of least effort by Clarabel: the convex program of `least_effort` with the friction cones themselves."""

from __future__ import annotations

import numpy as np

from kinemorph.analysis.legs.force_program import NO_FORCES, Distribution, ForceProgram, balanced, scaled

CLOSE = (1e-11, 1e-8)  # tolerances of Clarabel: the second one where it does not reach the first


def solved_by_clarabel(program: ForceProgram, sides: int | None) -> Distribution:
    """The unknowns of least effort by Clarabel; `sides` of pyramids, or None for cones."""
    import clarabel
    from scipy import sparse

    x0, N, why = balanced(program)
    if why:
        return Distribution(x0, np.inf, why)
    count = len(program.mu)
    if sides is None:
        slopes = np.zeros((count, 3, len(x0)))
        for k in range(count):
            slopes[k, 0, 3 * k : 3 * k + 3] = program.mu[k] * program.normals[k]
            slopes[k, 1:, 3 * k : 3 * k + 3] = program.along[k]
        rows = np.concatenate([slopes.reshape(-1, len(x0)), program.pressing()])
        cones = [*[clarabel.SecondOrderConeT(3)] * count, clarabel.NonnegativeConeT(count)]
    else:
        rows = program.around(sides)
        cones = [clarabel.NonnegativeConeT(len(rows))]
    E, d, size, unit = scaled(program, x0, N)
    P, q = sparse.csc_matrix(np.triu(E.T @ E)), -E.T @ d
    G, h = sparse.csc_matrix(-(rows @ N)), rows @ x0 / size
    status = ""
    for tolerance in CLOSE:
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        found = clarabel.DefaultSolver(P, q, G, h, cones, settings).solve()
        status = str(found.status)
        if "Infeasible" in status:
            return Distribution(x0, np.inf, NO_FORCES)
        if status == "Solved":
            break
    else:
        return Distribution(x0, np.inf, f"Clarabel ended with '{status}'")
    x = x0 + size * (N @ np.array(found.x))
    dual = (2.0 * found.obj_val_dual + float(d @ d)) * (size * unit) ** 2
    return Distribution(x, min(dual, program.effort(x)), "")
