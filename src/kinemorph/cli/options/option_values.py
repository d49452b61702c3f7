"""What is written after options: numbers, values by name, windows of frequency; and the start that a run gets without.

Angles are radians; `30deg` is written for degrees. Every mistake is a sentence with the option's name.
"""

from __future__ import annotations

import math
from pathlib import Path

from kinemorph.errors import KinemorphError
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

Values = list[float] | dict[str, float]
PICTURES = (".png", ".svg", ".pdf")
FREE_TIME = 1.0  # [s] that a robot which nothing holds is watched falling
TOLD = 6  # coordinates of a start that are told


def values(text: str | None, option: str) -> Values | None:
    """`0.1,0.2` in order, or `elbow=0.1,wrist=30deg` by name."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise KinemorphError(f"{option} is empty. Write numbers, 0.1,0.2, or values by name, elbow=0.1.")
    named = ["=" in part for part in parts]
    if not any(named):
        return [number(part, option) for part in parts]
    if not all(named):
        bare = parts[named.index(False)]
        raise KinemorphError(f"{option}: '{bare}' has no name though others have. Name all of them, or none.")
    found: dict[str, float] = {}
    for part in parts:
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name in found:
            raise KinemorphError(f"{option}: '{name}' is given twice. Give it once.")
        found[name] = number(value, f"{option} {name}")
    return found


def number(text: str, option: str) -> float:
    """A finite number; `30deg` in radians."""
    try:
        value = math.radians(float(text.removesuffix("deg"))) if text.endswith("deg") else float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise KinemorphError(f"{option}: '{text}' is no finite number. Write 0.5, or 30deg for an angle.")
    return value


def above_zero(value: float | None, option: str, unit: str = "") -> float | None:
    """A number above zero, where one is given."""
    if value is not None and not (value > 0.0 and math.isfinite(value)):
        raise KinemorphError(f"{option} is {f'{value:g} {unit}'.strip()}; expected a finite number above 0.")
    return value


def window(text: str | None) -> tuple[float, float] | None:
    """`0.5:20` [Hz]; a side may be left open."""
    if text is None:
        return None
    low, colon, high = text.partition(":")
    found = (number(low or "0", "--window"), number(high, "--window") if high else math.inf)
    if not colon or not 0.0 <= found[0] < found[1]:
        raise KinemorphError(f"--window is '{text}'; expected two frequencies in Hz, the lower one first: 0.5:20.")
    return found


def picture(path: Path | None, option: str, endings: tuple[str, ...] = PICTURES) -> Path | None:
    """The path of a picture, where one is given: its ending is known, and its folder can be had."""
    if path is None:
        return None
    if path.suffix.lower() not in endings:
        raise KinemorphError(f"{option} '{path}': use a name that ends in {', '.join(endings)}.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KinemorphError(f"{option} '{path}': cannot be written: {error.strerror}. Choose another place.") from None
    if path.is_dir():
        raise KinemorphError(f"{option} '{path}' is a folder. Name a file in it.")
    return path


def names(text: str | None) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def camera(text: str | None) -> str | tuple[float, float] | None:
    """`left`, or `20,-60`: elevation and azimuth in degrees. Words are checked by whoever looks from there."""
    if text is None or "," not in text:
        return text
    parts = [part.strip().removesuffix("deg") for part in text.split(",")]
    if len(parts) != 2:
        raise KinemorphError(f"--camera is '{text}'; expected a word, left, or two angles in degrees, 20,-60.")
    return number(parts[0], "--camera"), number(parts[1], "--camera")


def posture(system: System, q: Values | None) -> tuple[list[float], str]:
    """(q, note): the configuration in which a model is shown: the one given, or that of its settings, or one that shows
    it well. Loops are closed about the coordinates that are given; the note says why they stay open.
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
        model.initial("q", q)  # a sentence on wrong names and numbers
        given = q if isinstance(q, dict) else dict(zip(robot.q_names, q, strict=True))
        goal = [given.get(name, float(value)) for name, value in zip(robot.q_names, found.q, strict=True)]
        held = [joint.name for joint in robot.joints if any(name in given for name in joint.q_names)]
        found = follow_loops(system, found.q, goal, held=held)
        if not found:
            return goal, found.message
    return [float(value) for value in found.q], "" if found else found.message


def start(system: System, q: Values | None, v: Values | None) -> tuple[Values | None, str]:
    """(q, note): where a run begins, and what was chosen where nothing was said: a pose from which the robot moves.

    None leaves it to the system, whose settings say it.
    """
    robot = system.robot
    if q is not None or v is not None or system.settings.q or system.settings.v:
        return q, ""
    from kinemorph.display.looks.postures import stance

    pose = [float(value) for value in stance(robot)]
    if robot.loops:  # data other than the default ones close them elsewhere
        from kinemorph.analysis.loops.close_loops import close_loops

        pose = [float(value) for value in close_loops(system, pose).q]
    moved = [
        f"{name} = {value:g}" for name, value in zip(robot.q_names, pose, strict=True) if value and name[-2:] != "qw"
    ]
    listed = ", ".join(moved[:TOLD]) + (", ..." if len(moved) > TOLD else "")
    return pose, f"starts at rest at {listed or 'the neutral configuration'}; --q and --v choose another start"


def is_free(robot: Robot) -> bool:
    """Whether nothing holds a robot."""
    return any(joint.kind == "free" for joint in robot.joints)
