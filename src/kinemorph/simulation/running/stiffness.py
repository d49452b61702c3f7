"""Whether a run takes many steps because its system is stiff, or because its motion is fast and the run is long.

Small deviations from a motion follow d(ds)/dt = A ds, where A is the slope of the rate. A motion of A that decays by
the rate k bounds the steps of an explicit method to a few 1/k, also after it has decayed. Where steps are near this
bound, the system is stiff for this method: an implicit method takes longer steps. Where they are far below the bound,
accuracy decides, and an implicit method would need as many steps.
"""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.running.chatter import step_matrix
from kinemorph.simulation.stepping.plant_stepper import ForeignMethod, PlantStepper

NEAR = 0.4  # of the stability bound: steps that are at least as long on average are bounded by stability
DECAYS = 0.5  # of the magnitude of an eigenvalue: a larger negative real part is a decay, not an oscillation
SHIFT = 1e-7  # of a state variable, or of 1 where it is smaller, for differences of the rate


def is_bounded_by_stability(stepper: PlantStepper, step: float) -> bool:
    """Whether steps of the mean size `step` [s] are near the stability bound of the stepper's method.

    The docstring of this file explains the bound. Only explicit methods have one.
    """
    bound = stability_bound(stepper.method)
    return bound is not None and step * fastest_decay(stepper) >= NEAR * bound


def fastest_decay(stepper: PlantStepper) -> float:
    """The fastest rate [1/s] at which small deviations from the present state decay; 0 where none do."""
    A = _slope(stepper)
    if not np.isfinite(A).all():
        return 0.0
    values = np.linalg.eigvals(A)
    decaying = values[-values.real >= DECAYS * np.abs(values)]
    return float(np.abs(decaying).max(initial=0.0))


def stability_bound(method: Method | ForeignMethod) -> float | None:
    """The largest h k for which steps of h [s] do not amplify a decay of the rate k [1/s]; None without a bound."""

    def growth(z: float) -> float:
        step = None if isinstance(method, ForeignMethod) else step_matrix(method, np.diag([0.0, -z]), 1.0)
        return -1.0 if step is None else float(np.abs(np.linalg.eigvals(step)).max())

    if growth(1.0) < 0.0:
        return None
    z = 0.0
    while growth(z + 0.1) <= 1.0 + 1e-9 and z < 100.0:
        z += 0.1
    return z


def _slope(stepper: PlantStepper) -> Array:
    """The derivative of ds/dt with respect to the state s, in local coordinates, shape (ns, ns), by central
    differences.
    """
    t, base, s, *others = stepper.inputs
    rate, s = build(stepper.plant.rate), np.array(s, dtype=float)
    A = np.zeros((len(s), len(s)))
    for k in range(len(s)):
        shift = np.zeros(len(s))
        shift[k] = SHIFT * max(1.0, abs(s[k]))
        sides = np.zeros((2, len(s)))
        for out, moved in zip(sides, (s + shift, s - shift), strict=True):
            rate.raw(out, np.array(float(t)), np.ascontiguousarray(base), moved, *others)
        A[:, k] = (sides[0] - sides[1]) / (2.0 * shift[k])
    return A
