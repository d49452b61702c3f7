"""State feedback that spends much of a run at the limits of what it drives, where its gains do not act."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from kinemorph.errors import LimitWarning, users_level
from kinemorph.mechanics.elements.control.channels import each
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.elements.control.state_feedback import StateFeedback
from kinemorph.model.elements.control.wiring import below
from kinemorph.model.elements.drives.actuators import Actuator
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.parameter import evaluate_all
from kinemorph.simulation.results.trajectory import Trajectory

SHARE = 0.2  # of the time of a run: feedback that is longer at its limits gets a warning
NEAR = 1e-9  # relative: an output this near to its limit is at it


def warn_of_saturation(run: Trajectory) -> bool:
    """Warns where state feedback is at limits for a large share of a run, for the worst output; whether it did."""
    plant, spans = run.segments[-1].plant, np.diff(run.t)
    parts = {element.name: element for element in plant.elements}
    values = dict(zip([column.name for column in plant.p], run.segments[-1].p.tolist(), strict=True))
    worst: tuple[Any, ...] = (SHARE,)
    for element in (part for part in plant.elements if isinstance(part, StateFeedback) and spans.any()):
        drives = law_of(element).drives(element)
        own = [each(evaluate_all(ends, values), len(drives)) for ends in (element.lower, element.upper)]
        for (target, channel), *limits in zip(drives.items(), *own, strict=True):
            lows, highs = zip(limits, _limits(parts.get(target)), strict=True)
            lower, upper, signal = max(lows), min(highs), below(element.name, channel).removesuffix(".")
            u = run[signal][:-1]  # each sample stands for the time until the next one
            at = (u >= upper - NEAR * abs(upper)) | (u <= lower + NEAR * abs(lower))
            worst = max(worst, (float(spans[at].sum() / spans.sum()), element.name, target, signal, lower, upper))
    if len(worst) == 1:
        return False
    share, name, target, signal, lower, upper = worst
    unit = run.columns[signal].unit
    limits = f"{' and '.join(f'{end:.4g}' for end in (lower, upper) if math.isfinite(end))} {unit}".rstrip()
    warnings.warn(
        f"'{name}' drives '{target}' of '{plant.name}' at its limits ({limits}) for {share:.0%} of the run: its gains "
        "do not act there. Begin nearer to the point or motion that it keeps, design it with larger weights R, or "
        "allow more.",
        LimitWarning,
        stacklevel=users_level(),
    )
    return True


def _limits(part: Any) -> tuple[float, float]:
    """The limits of what the input of a driven part can be."""
    if isinstance(part, DCMotor):
        return -part.voltage_limit, part.voltage_limit
    if isinstance(part, Actuator):
        forced = part.control == "effort" and part.activation is None  # the input is the force
        weakest, strongest = part.efforts if forced else (-math.inf, math.inf)
        return max(part.lower, weakest), min(part.upper, strongest)
    return -math.inf, math.inf
