"""Options of the analyses of motions that repeat: how a cycle ends, and over what it is analyzed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from kinemorph.cli.application import option
from kinemorph.cli.options import option_values
from kinemorph.cli.options.state_options import StateOptions
from kinemorph.errors import KinemorphError
from kinemorph.model.system import System


class Range(NamedTuple):
    """A range `name=low:high:count` of a parameter or a coordinate; `number` is the count, or None without one."""

    name: str
    low: float
    high: float
    number: int | None


@dataclass(frozen=True)
class OrbitOptions:
    """How a cycle ends, how an orbit is searched for, and the parameters or coordinates that are varied."""

    period: Annotated[float | None, option("orbits: the period of what drives the system, in seconds.", "S")] = None
    section: Annotated[
        str | None, option("orbits of systems without drive: a column that is zero once per cycle: v.elbow.", "COLUMN")
    ] = None
    edges: Annotated[
        int | None,
        option("orbits of automata: edges in a cycle.", default="as many as their names take to repeat", min=1),
    ] = None
    cycles: Annotated[
        int | None,
        option("orbit: cycles after which the motion repeats; basin: cycles of each run.", default="1; 30", min=1),
    ] = None
    nodes: Annotated[int, option("orbit, continuation: pieces of a cycle (multiple shooting).", min=1)] = 1
    over: Annotated[
        list[str] | None,
        option(
            "continuation, diagram: a parameter and its range, slope=3deg:5deg, for a diagram with the number of "
            "values, slope=3deg:5deg:100; basin: a coordinate, at most two of them, v.left=-1.3:-0.9:64; static: a "
            "joint, crank_joint=0:360deg:73.",
            "NAME=LOW:HIGH[:COUNT]",
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """The options by name that have other values than their defaults, for checks."""
        found = {name: getattr(self, name) for name in ("period", "section", "edges", "cycles", "over")}
        return found | {"nodes": self.nodes if self.nodes > 1 else None}

    def motion(self, system: System, state: StateOptions) -> dict[str, Any]:
        """The keyword arguments of `return_map` for these options and a state of a system."""
        found: dict[str, Any] = {"period": self.period, "section": self.section, "edges": self.edges}
        found |= {"q": state.values("q"), "v": state.values("v"), "u": state.inputs(system), "locked": state.lock}
        option_values.above_zero(self.period, "--period", "s")
        return {name: value for name, value in found.items() if value is not None}

    def ranges(self, what: str, least: int, most: int) -> list[Range]:
        """The ranges of --over. Raises KinemorphError where they are not between `least` and `most`."""
        found = [_range(text) for text in self.over or ()]
        if not least <= len(found) <= most:
            number = "one range" if most == 1 else f"{least} or {most} ranges"
            example = "slope=3deg:5deg" if most == 1 else "q.right=-0.3:-0.2:64"
            raise KinemorphError(
                f"--over is given {len(found)} times; 'analyze {what}' expects {number}. Write for example --over "
                f"{example}."
            )
        return found


def _range(text: str) -> Range:
    """The range in a text `name=low:high:count`."""
    name, equals, values = (part.strip() for part in text.partition("="))
    parts = values.split(":")
    count = parts[2] if len(parts) == 3 else None
    fine = bool(name) and bool(equals) and len(parts) in (2, 3) and (count is None or count.isdecimal())
    if not fine or count in ("0", "1"):
        raise KinemorphError(
            f"--over is '{text}'; expected a name with two numbers, and a count above 1 where one is needed. Write for "
            "example slope=3deg:5deg:100."
        )
    low, high = (option_values.number(part, f"--over {name}") for part in parts[:2])
    if not low < high:
        raise KinemorphError(f"--over is '{text}'; expected the lower number first. Exchange them.")
    return Range(name, low, high, None if count is None else int(count))
