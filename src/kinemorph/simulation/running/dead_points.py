"""Dead points that a method does not notice: a dependent that comes to the end of its domain, and turns back.

Where the argument of acos or asin comes to 1 or -1, its distance from there falls as the square of the time left, and
the formula has no finite derivative. Methods that evaluate rates there stop. Newmark's methods solve for accelerations
at the ends of steps, and may step over the dead point to the mirrored motion on its other side, which the formula does
not describe. So where the distance of such an argument turns between samples, and its root, extrapolated, comes to 0,
the motion there is computed again by another method, which does stop.
"""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import StepError
from kinemorph.simulation.integrators.newmark import Newmark
from kinemorph.simulation.stepping.domains import NEAR
from kinemorph.simulation.stepping.plant_stepper import PlantStepper
from kinemorph.simulation.stepping.step_options import MIN_STEP, UNBOUNDED, StepOptions
from kinemorph.simulation.stepping.stepper import Stepper

EXACT = StepOptions("dop853", None, 1e-9, 1e-12, UNBOUNDED, MIN_STEP)  # of the motion that is computed again
PARTS = 64  # samples of that motion


def has_dead_points(stepper: PlantStepper) -> bool:
    """Whether a run may step over dead points, so that its samples have to be checked many at once."""
    return bool(stepper.domains.domains) and isinstance(stepper.method, Newmark)


def dead_point(stepper: PlantStepper, t: Array, rows: Array) -> tuple[float, str] | None:
    """(time [s] of the sample after it, message) of the first dead point that samples have stepped over, else None.

    The samples are t (n,) [s] and rows (n, :) of q, v, x and m. Only Newmark's methods are checked.
    """
    if not has_dead_points(stepper):
        return None
    nq, nv, nx = stepper.plant.nq, stepper.plant.nv, stepper.plant.nx
    for k in stepper.domains.turns(t, rows[:, :nq], stepper.p):
        q, v, x, m = np.split(rows[k], [nq, nq + nv, nq + nv + nx])
        again = Stepper.made(stepper.plant, EXACT)
        again.begin(float(t[k]), q, v, x, u=stepper.u, p=stepper.p, m=m, tick=False)
        for time in np.linspace(t[k], t[k + 2], PARTS)[1:]:
            try:
                state = again.advance(float(time))
            except StepError:
                state = again.state
            left = stepper.domains.left(np.array([state.t]), state.q[None], stepper.p, NEAR)
            if left is not None:
                return float(t[k + 1]), left[1]
    return None
