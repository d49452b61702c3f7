"""Options for a state, inputs and locked joints, and the configuration that verbs take where none is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from kinemorph.cli.application import option
from kinemorph.cli.options import option_values
from kinemorph.cli.options.option_values import Values
from kinemorph.model.system import System


@dataclass(frozen=True)
class StateOptions:
    """A state of a robot, its inputs, and the joints that are locked."""

    start: Annotated[
        str | None,
        option("Start of the model by name, such as a keyframe; --q, --v and --torque override it.", "NAME"),
    ] = None
    q: Annotated[
        str | None,
        option(
            "Configuration: numbers in order (0.1,0.2) or by name (elbow=30deg); coordinates not named are neutral.",
            "VALUES",
            default=False,
        ),
    ] = None
    v: Annotated[str | None, option("Velocities, written like --q.", "VALUES")] = None
    torque: Annotated[
        str | None,
        option(
            "Constant inputs: torques or forces of joints, or inputs of elements that nothing else drives (motor=6).",
            "VALUES",
            names=(
                "--torque",
                "--u",
            ),
        ),
    ] = None
    lock: Annotated[list[str] | None, option("Lock this joint. May be repeated.", "JOINT")] = None

    def given(self) -> dict[str, Any]:
        """The options as fields of a RunPlan; None where one is not given."""
        values = {"q": self.values("q"), "v": self.values("v"), "inputs": self.values("torque")}
        return {"start": self.start, **values, "locked": self.lock}

    def begun(self, system: System) -> System:
        """The system, with the initial state of --start where it is given."""
        return system if self.start is None else system.starting_at(self.start)

    def inputs(self, system: System) -> Values | None:
        """The inputs of --torque, or those of --start; None where neither is given."""
        given = self.values("torque")
        return system.start(self.start).numbers("u") if given is None and self.start is not None else given

    def values(self, name: Literal["q", "v", "torque"]) -> Values | None:
        """The numbers of the option `name`: a list, or a dictionary by name; None where it is not given."""
        return option_values.values(getattr(self, name), f"--{name}")


def shown_configuration(system: System, q: Values | None) -> tuple[list[float], str]:
    """(q, note): the configuration in which a model is shown, shape (nq,): the given one, the initial one of its
    settings, or a typical one.

    Loops are closed while the given coordinates are kept. The note says why a loop stays open; otherwise it is empty.
    """
    from kinemorph.display.looks.postures import posture
    from kinemorph.mechanics.constraints.stances import stance
    from kinemorph.model.configuration import neutral

    robot = system.robot  # no plant is made of it: a robot without masses is shown, too
    usual = [float(value) for value in system.settings.q or stance(robot)]
    asked = usual if q is None else posture(robot, q, system.settings.q or tuple(neutral(robot))).tolist()
    if not robot.loops:
        return asked, ""
    from kinemorph.analysis.loops.close_loops import close_loops, follow_loops

    found = close_loops(system, usual)
    if q is not None:
        given = q if isinstance(q, dict) else dict(zip(robot.q_names, q, strict=True))
        goal = [given.get(name, float(value)) for name, value in zip(robot.q_names, found.q, strict=True)]
        held = [joint.name for joint in robot.joints if any(name in given for name in joint.q_names)]
        found = follow_loops(system, found.q, goal, held=held)
        if not found:
            return goal, found.message
    return [float(value) for value in found.q], "" if found else found.message
