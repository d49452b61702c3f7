"""How soft the limits, frictions and equalities of a compiled MuJoCo model are: by `solref`, `solimp` and `margin`.

In MuJoCo the acceleration a of a constraint row is the mean of what it would be without the constraint and of the
reference  -B r' - K i r,  weighted by the impedance i. With the inertia m that MuJoCo finds in the neutral pose
(`dof_invweight0` and the like are 1/m), the force on the row is

    F = m i/(1 - i) (K i r + B r' - a),    K = 1/(d time ratio)^2,  B = 2/(d time)    for solref = (time, ratio)
                                           K = k/d^2,               B = b/d           for solref = (-k, -b)

with the depth r, i = i(r) by solimp and its largest value d. At rest this is the stiffness m K i^2/(1 - i), with which
joint limits act (`ImpedanceStop`). In motion the term of a adds the inertia M = m i/(1 - i) to the row, which is no
force and left out. The damping is  B M sqrt(1 - d)  in place of B M, so that what hits a stop has MuJoCo's damping
ratio: it returns with the same velocity, sooner, and from a smaller depth, both by the factor sqrt(1 - d).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinemorph.algebra.arrays import Array
from kinemorph.formats.mjcf.compiler import Compiled
from kinemorph.formats.xml_writing import numbers
from kinemorph.model.joint import ImpedanceStop

SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
EXACT = "They hold exactly; load(..., soft_equalities=True) (--soft-equalities) makes them as soft as the file says."
LEAST, MOST = 1e-4, 0.9999  # impedances and midpoints are clipped to this range
JOINT, TENDON = 2, 3  # mjtEq
THINNEST = 1e-5  # [m or rad]: least width of an impedance
NO_WEIGHT = 1e-15  # smaller numbers count as 0


class Softness(NamedTuple):
    """A pair of solref and solimp as MuJoCo takes it: K [1/s^2], B [1/s], and the shape of the impedance."""

    K: float
    B: float
    start: float
    end: float
    width: float
    midpoint: float
    power: float


def softness(solref: Sequence[float], solimp: Sequence[float], quickest: float) -> Softness:
    """The numbers of a solref and a solimp. Times of solref below `quickest` [s] are raised to it, as MuJoCo does."""
    time, ratio = solref if (solref[0] > 0.0) == (solref[1] > 0.0) else SOLREF
    start, end, width, midpoint, power = solimp
    start, end, midpoint = (min(max(x, LEAST), MOST) for x in (start, end, midpoint))
    if width <= NO_WEIGHT:  # then MuJoCo takes the mean at all depths, and still the end for K and B
        start = end = 0.5 * (start + end)
    largest = min(max(solimp[1], LEAST), MOST)
    if time > 0.0:
        time = max(time, quickest)
        K, B = 1.0 / (largest * time * max(ratio, 1e-6)) ** 2, 2.0 / (largest * time)
    else:
        K, B = -time / largest**2, -ratio / largest
    return Softness(K, B, start, end, max(width, THINNEST), midpoint, max(power, 1.0))


def stop_of(
    solref: Sequence[float], solimp: Sequence[float], margin: float, weight: float, quickest: float
) -> ImpedanceStop | None:
    """The stop of a limit whose inertia is 1/weight; None where the file gives it no stiffness or no inertia."""
    soft = softness(solref, solimp, quickest)
    if not (soft.K > 0.0 and weight > NO_WEIGHT):
        return None
    rate = math.sqrt(soft.K) * soft.end
    ratio = 0.5 * soft.B * soft.end / rate
    return ImpedanceStop(1.0 / rate, ratio, *soft[2:], margin, 1.0 / weight)


def stop_attributes(stop: ImpedanceStop | None) -> dict[str, str]:
    """The attributes of a limit with this stop; those that are MuJoCo's defaults are left out."""
    if stop is None:
        return {}
    solref = (stop.time / stop.ratio, stop.ratio) if stop.ratio else (-(stop.time**-2), 0.0)
    solimp = (stop.start, stop.end, stop.width, stop.midpoint, stop.power)
    rows = (("solreflimit", solref, SOLREF), ("solimplimit", solimp, SOLIMP), ("margin", (stop.margin,), (0.0,)))
    return {key: numbers(own) for key, own, usual in rows if not np.allclose(own, usual, rtol=1e-14, atol=0.0)}


def springs_of(model: Compiled, e: int, weights: Sequence[float], scale: float) -> tuple[tuple[float, ...], ...]:
    """Stiffness and damping, each for three axes, of equality number e where it is more than its width violated.

    1/`weights` are the inertias of its bodies; `scale` is the violation in solref for a unit of the coordinate.
    """
    soft = softness(model.eq_solref[e].tolist(), model.eq_solimp[e].tolist(), float(model.quickest))
    strength = scale**2 * soft.end / ((1.0 - soft.end) * sum(weights))
    return (strength * soft.K * soft.end,) * 3, (strength * soft.B * math.sqrt(1.0 - soft.end),) * 3


def softened(model: Compiled, joints: list[str], tendons: list[str], *, soft: bool) -> dict[str, tuple[list[str], str]]:
    """The names of joints, tendons and equalities with softness that does not act, and the remedy, by what it is."""
    equalities = [name or f"equality{e}" for e, name in enumerate(model.names["eq"])]
    of_dof = np.repeat(np.arange(len(joints)), np.diff([*model.jnt_dofadr.tolist(), len(model.dof_solref)]))
    loose = _changed(model.dof_solref, model.dof_solimp) & (model.dof_frictionloss > 0.0)
    tendons_slip = _changed(model.tendon_solref_fri, model.tendon_solimp_fri) & (model.tendon_frictionloss > 0.0)
    bound = _changed(model.eq_solref, model.eq_solimp) & (model.eq_active0 != 0)
    if soft:  # all but polynomials of higher order act
        bound &= np.isin(model.eq_type, (JOINT, TENDON)) & np.any(model.eq_data[:, 2:5] != 0.0, axis=1)
    rows = ((joints, model.jnt_limited, model.jnt_solref), (tendons, model.tendon_limited, model.tendon_solref_lim))
    weak = [own[k] for own, limited, ref in rows for k in np.flatnonzero((limited != 0) & np.all(ref == 0.0, axis=1))]
    slipping = [*dict.fromkeys(joints[j] for j in of_dof[loose]), *(tendons[i] for i in np.flatnonzero(tendons_slip))]
    return {
        "limits without stiffness": (weak, "Expect the stops of elements.JointLimits."),
        "softness (solref, solimp) of friction": (slipping, "Expect the friction of elements.JointFriction."),
        "softness (solref, solimp) of equalities": (
            [equalities[e] for e in np.flatnonzero(bound)],
            "Those of higher order hold exactly." if soft else EXACT,
        ),
    }


def _changed(solref: Array, solimp: Array) -> NDArray[np.bool_]:
    """Whether the softness of each part differs from MuJoCo's default."""
    found: NDArray[np.bool_] = np.any(solref != SOLREF, axis=1) | np.any(solimp != SOLIMP, axis=1)
    return found
