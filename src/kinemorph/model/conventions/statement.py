"""The conventions of Kinemorph as text; the command `kinemorph info` prints it, and tests check the code against it."""

from __future__ import annotations

from kinemorph.sheet import Table, shown

CONVENTIONS = """\
units          SI: m, kg, s, N, rad
world          z up, gravity (0, 0, -9.81) m/s^2 unless the model says otherwise; "world" is the ground, never a body
poses          T_ab maps coordinates of frame b to frame a; T_ab T_bc = T_ac
twists         [linear; angular]; body twists are in the moving body's own frame
wrenches       [force; moment], dual to twists: power = wrench . twist
quaternions    wxyz, unit length
free joint     q = [x y z qw qx qy qz], v = body twist [vx vy vz wx wy wz]
spherical      q = [qw qx qy qz], v = body rate [wx wy wz]
planar         q = [x y theta] in the x-y plane of the joint frame, v = body twist [vx vy wz]
joint motion   T_parent_child = placement * motion(q) * inverse(child_placement); axes are in the joint frame
layout         q and v follow the declared order of the tree joints; a joint that closes a loop has no coordinates
inertia        about the center of mass, in body axes
"""
TOPIC = 15  # characters before the text of a line


def conventions() -> dict[str, str]:
    """The conventions by their topics, as {"units": "SI: m, kg, s, N, rad", ...}."""
    return {line[:TOPIC].strip(): line[TOPIC:] for line in CONVENTIONS.splitlines() if line.strip()}


def convention_table() -> Table:
    """The conventions as a table, by their topics."""
    return Table(
        "",
        shown("topic", "convention", form="sentence"),
        list(conventions().items()),
        "Conventions of all equations and tables",
    )
