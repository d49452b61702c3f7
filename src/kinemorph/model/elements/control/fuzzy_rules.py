"""A controller of Sugeno fuzzy rules: near given values of its inputs, its output is linear in them.

Such a controller is trained on a model by `train_rules` (kinemorph.analysis.trained_rules), which makes it an adaptive
neuro-fuzzy inference system (ANFIS).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from kinemorph.errors import ModelError
from kinemorph.model.elements.control.controllers import PID
from kinemorph.model.elements.control.references import as_rows
from kinemorph.model.elements.control.wiring import Names, Numbers, Targets, as_names, as_numbers
from kinemorph.model.elements.declared import declared
from kinemorph.model.parameter import Value
from kinemorph.words import quoted

OWN_INPUTS = ("error", "integral", "rate")  # computed by the controller; all other inputs are signals


@dataclass(frozen=True)
class FuzzyRules:
    """A controller of first-order Sugeno rules (Takagi, Sugeno and Kang), with inputs x_j and one output u:

        rule i:   if x_1 is about c_1 and x_2 is about c_2 ... then  u_i = sum of p_ij x_j + r_i
        u = (sum of w_i u_i) / (sum of w_i),     w_i = product over j of exp(-((x_j - c_j) / s_j)^2 / 2)

    `inputs`        names of the x_j: signals such as "v.hip", and "error" (reference - measured signal), "integral" (of
                    the error) and "rate" (of the error), which the controller computes as `PID` does
    `centers`       for each input, the centers c of its membership functions, in the unit of the input; an empty row
                    for an input that only the consequents use
    `widths`        for each input, the widths s of its membership functions, all above 0
    `rules`         for each rule, the numbers (from 0) of the membership functions in its premise, one for each input
                    that has some; empty for all combinations, in which the last input changes fastest
    `consequents`   for each rule, the coefficients p of all inputs, then the constant r
    `filter`        the time constant Tf [s] of the filter of "rate"
    `anti_windup`   "clamp" stops the integral while the output is at a limit and the integral drives it further

    It has one channel: one joint, or one name in each of `reads` (the measured signal) and `drives`. All numbers may be
    parameters. See the top of `controllers` for the other fields.
    """

    name: str
    joints: Names = ()
    inputs: Names = ("error",)
    centers: tuple[tuple[Value, ...], ...] = declared((), unit="{input}", rows=True)
    widths: tuple[tuple[Value, ...], ...] = declared((), unit="{input}", rows=True, above=0.0)
    consequents: tuple[tuple[Value, ...], ...] = declared((), unit="{out}/{input}")
    rules: tuple[tuple[Value, ...], ...] = declared((), "number")
    reads: Names = ()
    drives: Names = ()
    reference: Targets = declared((0.0,), unit="{in}")
    filter: float = declared(0.0, "time", least=0.0)
    lower: Numbers = declared((-math.inf,), unit="{out}")
    upper: Numbers = declared((math.inf,), unit="{out}")
    anti_windup: Literal["none", "clamp"] = "none"
    every: float | None = declared(None, "time", above=0.0)
    phase: float = declared(0.0, "time", least=0.0)
    delay: float = declared(0.0, "time", least=0.0)
    quantum: float = declared(0.0, unit="{out}", least=0.0)

    def __post_init__(self) -> None:
        as_names(self, "joints", "inputs", "reads", "drives")
        as_numbers(self, "reference", "lower", "upper")
        for name in ("centers", "widths", "consequents", "rules"):
            as_rows(self, name)

    @classmethod
    def from_pid(
        cls,
        name: str,
        pid: PID,
        joint: str = "",
        *,
        inputs: Names = (),
        centers: Sequence[Sequence[Any]],
        widths: Sequence[Sequence[Any]],
    ) -> FuzzyRules:
        """The rules whose output is that of one channel of a PID, the channel of `joint`: a start for training.

        The inputs are "error", "integral" and "rate", then `inputs`. All combinations of the membership functions have
        the same consequent: kp, ki, kd, and 0 for the other inputs and the constant. The low-pass filter of the PID
        (`bandwidth`) and its feedforward are left out.
        """
        names = pid.joints or pid.drives or pid.reads
        if not (joint in names or (not joint and len(names) == 1)):
            raise ModelError(
                f"element '{name}': joint is '{joint}'; expected a channel of the PID '{pid.name}': {quoted(names)}."
            )
        k = names.index(joint) if joint else 0

        def own(values: Any) -> Any:
            return values[k] if len(values) > 1 else values[0] if values else ()

        more = (inputs,) if isinstance(inputs, str) else tuple(inputs)
        rules = math.prod(len(row) for row in centers if len(row))
        return cls(
            name,
            joints=own(pid.joints),
            inputs=(*OWN_INPUTS, *more),
            centers=tuple(map(tuple, centers)),
            widths=tuple(map(tuple, widths)),
            consequents=((own(pid.kp), own(pid.ki), own(pid.kd), *(0.0,) * (len(more) + 1)),) * rules,
            reads=own(pid.reads),
            drives=own(pid.drives),
            reference=own(pid.reference),
            filter=pid.filter,
            lower=own(pid.lower),
            upper=own(pid.upper),
            anti_windup="clamp" if pid.anti_windup == "clamp" else "none",
            every=pid.every,
            phase=pid.phase,
            delay=pid.delay,
            quantum=pid.quantum,
        )


def premises(element: FuzzyRules) -> list[dict[int, int]]:
    """For each rule, the number of the membership function in its premise by the index of the input."""
    fuzzy = [j for j, row in enumerate(element.centers) if len(row)]
    sizes = [len(element.centers[j]) for j in fuzzy]
    rows: Any = element.rules or list(product(*map(range, sizes)))
    return [{j: int(k) for j, k in zip(fuzzy, row, strict=True)} for row in rows]
