"""Whipple's bicycle here and in SymPy, in one run: the time to derive and compile it, operations, time per evaluation.

    KINEMORPH_CACHE=off python tests/tables/bicycle_beside_sympy.py

SymPy's model is the one of its own tests (sympy.physics.mechanics, test_kane3): Kane's method with named parameters,
four coordinates and six speeds. An evaluation solves for the accelerations with NumPy. Here the accelerations of nine
velocities under six constraint rows are one compiled function. Linearization is not timed: SymPy's takes minutes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

STATES = 500


def best(call: Callable[[Any], Any], states: Any) -> float:
    """The least mean time of a call [s], over several rounds of calls at different states."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for state in states:
            call(state)
        times.append((time.perf_counter() - start) / len(states))
    return min(times)


def ours(form: str) -> dict[str, float]:
    """The bicycle of the library, from its data to the first accelerations."""
    from kinemorph import library
    from kinemorph.codegen.building.compile import build
    from kinemorph.plants import plant

    start = time.perf_counter()
    system = library.whipple_bicycle(form=form)
    model = plant(system)
    rate = build(model.rate)
    q, v = system.initial_state()
    others = (np.zeros(len(model.m)), np.zeros(model.nu), np.zeros(len(model.p)))
    rate(0.0, q, np.concatenate([np.zeros(model.nv), v]), *others)
    made = time.perf_counter() - start
    noise = np.random.default_rng(1).normal(size=(STATES, 2 * model.nv))
    states = [*(np.concatenate([np.zeros(model.nv), v]) + 0.05 * noise)]
    seconds = best(lambda s: rate(0.0, q, s, *others), states)
    return {"ready": made, "operations": float(model.rate.ops), "evaluation": seconds}


class Derived(Exception):
    """Ends SymPy's test after its equations; it has the KanesMethod."""


def theirs() -> dict[str, float]:
    """SymPy's bicycle, from the start of its test to the first accelerations."""
    import sympy.physics.mechanics.tests.test_kane3 as model
    from sympy import count_ops, cse, lambdify

    class Watched(model.KanesMethod):  # type: ignore[misc, name-defined, unused-ignore]
        def kanes_equations(self, *args: Any, **others: Any) -> Any:
            super().kanes_equations(*args, **others)
            raise Derived(self)

    original, model.KanesMethod = model.KanesMethod, Watched
    start = time.perf_counter()
    try:
        model.test_bicycle()
        raise AssertionError("SymPy's bicycle has no equations")
    except Derived as found:
        (kane,) = found.args
    finally:
        model.KanesMethod = original
    M, forcing = kane.mass_matrix_full, kane.forcing_full
    symbols = sorted(M.free_symbols | forcing.free_symbols, key=str)
    states = [*kane.q, *kane.u]
    symbols = [one for one in symbols if str(one) != "t"]
    function = lambdify([*states, *symbols], [M, forcing], cse=True)
    rows = [*np.random.default_rng(1).uniform(0.5, 1.0, size=(STATES, len(states) + len(symbols)))]

    def accelerations(numbers: Any) -> Any:
        matrix, right = function(*numbers)
        return np.linalg.solve(matrix, right)

    accelerations(rows[0])
    made = time.perf_counter() - start
    shared, outputs = cse([M, forcing])
    ops = sum(count_ops(part) for _, part in shared) + sum(count_ops(entry) for one in outputs for entry in one)
    return {"ready": made, "operations": float(ops), "evaluation": best(accelerations, rows)}


if __name__ == "__main__":
    rows = {"SymPy": theirs(), "joints": ours("joints"), "matrices": ours("matrices")}
    for name, row in rows.items():
        print(f"{name:10} {row['ready']:8.2f} s  {row['operations']:7.0f} ops  {1e6 * row['evaluation']:9.2f} us")
    print(json.dumps(rows))
