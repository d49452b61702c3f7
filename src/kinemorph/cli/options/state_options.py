"""Options for a state, inputs and locked joints, and the configuration that verbs take where none is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from kinemorph.cli.application import option
from kinemorph.cli.options import option_values
from kinemorph.cli.options.option_values import Values
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.words import listed

LISTED = 6  # coordinates of an initial state that a note lists


@dataclass(frozen=True)
class StateOptions:
    """A state of a robot, its inputs, and the joints that are locked."""

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

    def values(self, name: Literal["q", "v", "torque"]) -> Values | None:
        """The numbers of the option `name`: a list, or a dictionary by name; None where it is not given."""
        return option_values.values(getattr(self, name), f"--{name}")


def shown_configuration(system: System, q: Values | None) -> tuple[list[float], str]:
    """(q, note): the configuration in which a model is shown, shape (nq,): the given one, the initial one of its
    settings, or a typical one.

    Loops are closed while the given coordinates are kept. The note says why a loop stays open; otherwise it is empty.
    """
    from kinemorph.display.looks.postures import stance
    from kinemorph.plants.robot_plant import plant

    robot, model = system.robot, plant(system)
    usual = [float(value) for value in system.settings.q or stance(robot)]
    if not robot.loops:
        return usual if q is None else [float(value) for value in model.initial("q", q)], ""
    from kinemorph.analysis.loops.close_loops import close_loops, follow_loops

    found = close_loops(system, usual)
    if q is not None:
        model.initial("q", q)  # raises an error for wrong names and numbers
        given = q if isinstance(q, dict) else dict(zip(robot.q_names, q, strict=True))
        goal = [given.get(name, float(value)) for name, value in zip(robot.q_names, found.q, strict=True)]
        held = [joint.name for joint in robot.joints if any(name in given for name in joint.q_names)]
        found = follow_loops(system, found.q, goal, held=held)
        if not found:
            return goal, found.message
    return [float(value) for value in found.q], "" if found else found.message


def initial_configuration(system: System, q: Values | None, v: Values | None) -> tuple[Values | None, str]:
    """(q, note): the initial configuration of a run, or None to take that of the system's settings.

    Where neither the user nor the system gives an initial state, a configuration is chosen in which the robot does not
    stay at rest, and the note names it. Otherwise the note is empty.
    """
    robot = system.robot
    if q is not None or v is not None or system.settings.q or system.settings.v:
        return q, ""
    from kinemorph.display.looks.postures import stance

    pose = [float(value) for value in stance(robot)]
    if robot.loops:  # the typical configuration closes them only for the default parameters
        from kinemorph.analysis.loops.close_loops import close_loops

        pose = [float(value) for value in close_loops(system, pose).q]
    moved = [
        f"{name} = {value:g}" for name, value in zip(robot.q_names, pose, strict=True) if value and name[-2:] != "qw"
    ]
    where = listed(moved, LISTED) if moved else "the neutral configuration"
    return pose, f"starts at rest at {where}; --q and --v choose another initial state"


def is_free(robot: Robot) -> bool:
    """Whether the robot floats: it has a free joint."""
    return any(joint.kind == "free" for joint in robot.joints)
