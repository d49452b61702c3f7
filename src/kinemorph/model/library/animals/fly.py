"""A fruit fly that walks: a thorax on a free base with six legs of seven hinges. x is forward, y left, z up.

The hinges of a leg, from the thorax: yaw (x), pitch (y) and roll (z) between thorax and coxa (ThC), pitch (y) and roll
(z) between coxa and trochanter (CTr), pitch (y) between femur and tibia (FTi), pitch (y) between tibia and tarsus
(TiTa). At zero angles a leg hangs straight down, along -z. Frames have the names of the points that are tracked in
videos: lf_ThC, lf_CTr, lf_FTi, lf_TiTa and lf_claw on the left front leg; lm, lh, rf, rm and rh for the other legs.
Limits make the angles of a posture unique: ThC pitch is between -90 and 90 deg, CTr folds backwards and FTi forwards.
Without them, half a turn of the hinge before and the opposite angle would be the same posture.

Lengths of segments and the order of hinges are those with which the recording 20250613-fly1b-012 of FlyGym
(github.com/NeLy-EPFL/flygym, Apache-2.0) was analyzed; the places of the hips are the means of its 660 frames, in axes
of the thorax. Masses are assumed: 1 mg in all, of which 2 % is in each leg.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.joint import Axis
from kinemorph.model.robot import Robot

X: Axis = (1.0, 0.0, 0.0)
Y: Axis = (0.0, 1.0, 0.0)
Z: Axis = (0.0, 0.0, 1.0)
MM = 1e-3  # [m]

# [mm]: coxa, femur with trochanter, tibia, tarsus with claw; f is front, m middle, h hind
LENGTHS = {"f": (0.354, 0.606, 0.488, 0.513), "m": (0.181, 0.676, 0.621, 0.539), "h": (0.198, 0.740, 0.662, 0.631)}
# [mm]: thorax-coxa joints in axes of the thorax, about the middle of all six
HIPS = {
    "lf": (0.304, 0.142, 0.167),
    "lm": (-0.054, 0.109, -0.074),
    "lh": (-0.250, 0.077, -0.083),
    "rf": (0.304, -0.151, 0.157),
    "rm": (-0.054, -0.104, -0.080),
    "rh": (-0.250, -0.072, -0.087),
}
MASS, LEG_MASS = 1e-6, 2e-8  # [kg], assumed: of the whole fly, of one leg
# of each segment: its hinges with their axes, the name of the point at its upper end, its share of the leg's mass
SEGMENTS: tuple[tuple[str, tuple[tuple[str, Axis], ...], str, float], ...] = (
    ("coxa", (("yaw", X), ("pitch", Y), ("roll", Z)), "ThC", 0.3),
    ("femur", (("pitch", Y), ("roll", Z)), "CTr", 0.4),
    ("tibia", (("pitch", Y),), "FTi", 0.2),
    ("tarsus", (("pitch", Y),), "TiTa", 0.1),
)
HALF = math.pi / 2.0
LIMITS = {"ThC_pitch": (-HALF, HALF), "CTr_pitch": (-math.pi, 0.0), "FTi_pitch": (0.0, math.pi)}  # [rad]
KNUCKLE = 1e-3  # share of a segment's mass in each body between two of its hinges


def fly(scale: float = 1.0, hips: Mapping[str, tuple[float, float, float]] | None = None) -> Robot:
    """A fruit fly: a thorax on a free base with six legs of seven hinges; 48 dof. See the head of this file.

    `scale`   multiplies all lengths
    `hips`    places of thorax-coxa joints [mm] in axes of the thorax, by leg, instead of those of the recording
    """
    size = MM * scale
    thorax = Body.ellipsoid(
        "thorax", MASS - 6.0 * LEG_MASS, (0.5 * size, 0.3 * size, 0.3 * size), (0.0, 0.0, 0.2 * size)
    )
    builder = RobotBuilder("fly").add(thorax).root("thorax", "free")
    for leg, place in {**HIPS, **(hips or {})}.items():
        _add_leg(builder, leg, tuple(size * x for x in place), tuple(size * x for x in LENGTHS[leg[1]]))
    return builder.build()


def _add_leg(builder: RobotBuilder, leg: str, hip: tuple[float, ...], lengths: tuple[float, ...]) -> None:
    """Adds the seven hinges, four segments and five frames of one leg; `hip` and `lengths` in [m]."""
    parent, place = "thorax", hip
    for (segment, hinges, point, share), length in zip(SEGMENTS, lengths, strict=True):
        mass, radius = share * LEG_MASS, 0.05 * lengths[1]
        builder.frame(f"{leg}_{point}", parent, translation=place)
        for turn, axis in hinges:
            last = turn == hinges[-1][0]
            body = f"{leg}_{segment}" if last else f"{leg}_{segment}_{turn}"
            center = (0.0, 0.0, -0.5 * length)
            rest = mass * (1.0 - KNUCKLE * (len(hinges) - 1))
            builder.add(
                Body.cylinder(body, rest, radius, length, center) if last else Body.sphere(body, KNUCKLE * mass, radius)
            )
            hinge = f"{point}_{turn}"
            lower, upper = LIMITS.get(hinge, (None, None))
            builder.joint(
                f"{leg}_{hinge}", "revolute", parent, body, axis=axis, translation=place, lower=lower, upper=upper
            )
            parent, place = body, (0.0, 0.0, 0.0)
        place = (0.0, 0.0, -length)
    builder.frame(f"{leg}_claw", parent, translation=place)
