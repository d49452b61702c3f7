"""Names the limits, frictions and equalities of a compiled MuJoCo model that the file itself makes softer or harder.

In MuJoCo all of these are soft, by `solref`, `solimp` and `margin`. Here equalities are exact, and limits and friction
have laws of their own; so numbers other than MuJoCo's defaults have no counterpart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinemorph.algebra.arrays import Array
from kinemorph.formats.mjcf.compiler import Compiled

SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)


def softened(model: Compiled, joints: list[str], tendons: list[str]) -> dict[str, list[str]]:
    """The names of joints, tendons and equalities with softness of their own, by what it is the softness of."""
    equalities = [name or f"equality{e}" for e, name in enumerate(model.names["eq"])]
    of_dof = np.repeat(np.arange(len(joints)), np.diff([*model.jnt_dofadr.tolist(), len(model.dof_solref)]))
    loose = _changed(model.dof_solref, model.dof_solimp) & (model.dof_frictionloss > 0.0)
    tendons_slip = _changed(model.tendon_solref_fri, model.tendon_solimp_fri) & (model.tendon_frictionloss > 0.0)
    stops = _changed(model.jnt_solref, model.jnt_solimp, model.jnt_margin) & (model.jnt_limited != 0)
    ends = _changed(model.tendon_solref_lim, model.tendon_solimp_lim, model.tendon_margin) & (model.tendon_limited != 0)
    bound = _changed(model.eq_solref, model.eq_solimp) & (model.eq_active0 != 0)
    return {
        "softness (solref, solimp, margin) of limits": [
            *(joints[j] for j in np.flatnonzero(stops)),
            *(tendons[i] for i in np.flatnonzero(ends)),
        ],
        "softness (solref, solimp) of friction": [
            *dict.fromkeys(joints[j] for j in of_dof[loose]),
            *(tendons[i] for i in np.flatnonzero(tendons_slip)),
        ],
        "softness (solref, solimp) of equalities": [equalities[e] for e in np.flatnonzero(bound)],
    }


def _changed(solref: Array, solimp: Array, margin: Array | None = None) -> NDArray[np.bool_]:
    """Whether the softness of each part differs from MuJoCo's default."""
    found: NDArray[np.bool_] = np.any(solref != SOLREF, axis=1) | np.any(solimp != SOLIMP, axis=1)
    return found if margin is None else found | (margin != 0.0)
