"""The cockroach of Nelson & Quinn: 19 bodies with 36 degrees of freedom, standing on its feet; and one of its legs.

The trunk is the body "body", on a free joint "body_root"; its frame has x forward, y left and z up, with the origin at
the center of mass of the trunk. Legs are called front_left, middle_left, hind_left, front_right, middle_right and
hind_right. Each leg has

    bodies    <leg>_coxa, <leg>_femur, <leg>_tibia; all have x along the segment, from its joint to the next
    joints    <leg>_body_coxa, a gimbal (or spherical); <leg>_coxa_femur and <leg>_femur_tibia, hinges about z
    frame     <leg>_foot, at the tip of the tibia
    element   <leg>_ground, the contact of the foot with the ground

and the PD "posture" holds all joints of the legs at their angles of standing. Where all angles of a leg are 0, the leg
points straight outward, with y up. The gimbal turns in the order gamma-beta-alpha of the paper, about z, y and x of the
coxa (`.first`, `.second`, `.third`):

    gamma > 0    raises the leg, about the long axis of the animal
    beta         swings it, backward on the left and forward on the right where it is positive
    alpha        rotates the plane of femur and tibia about the coxa

The hinges raise femur and tibia where their angles are positive. The mirror image of a leg (gamma, beta, alpha, femur,
tibia) on the other side has the angles (gamma, -beta, -alpha, femur, tibia).

Coxae are half ellipsoids, femora and tibiae are round rods, the trunk is made of ellipsoids for head, thorax and
abdomen, or a box. All numbers are parameters from the table of `cockroach_data`; the file names their sources, and most
are assumptions. The damping of the ground grows with the depth, so that a foot lands without a jump of its force; at
the depth of standing it is that of the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal, get_args

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.quaternions import rotation_to_quat
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.algebra.vectors import matmul
from kinemorph.errors import ModelError
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.contact_laws import Anchor, EasyDynNormal
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.elements.forces.bushings import Bushing
from kinemorph.model.elements.forces.joint_forces import TorsionSpring
from kinemorph.model.library.animals.cockroach_data import PAIRS, SEGMENTS, number, parameter
from kinemorph.model.library.bars import positive
from kinemorph.model.parameter import Parameter, evaluate
from kinemorph.model.shapes import Color, Line
from kinemorph.model.system import Element, Settings, System

Hip = Literal["gimbal", "spherical"]
Trunk = Literal["rigid", "box", "jointed"]

LEGS = tuple(f"{pair}_{side}" for side in ("left", "right") for pair in PAIRS)
ANGLES = ("first", "second", "third")  # gamma, beta and alpha of a gimbal
SOLIDS = ("head", "prothorax", "mesothorax", "metathorax", "abdomen")
THORAX = SOLIDS[1:4]
PITCH_AND_YAW = (("pitch", "first"), ("yaw", "second"))  # the axes of neck and waist
# axes of the body-coxa joint in the trunk, as columns: outward, up, and forward (left) or backward (right)
OUTWARD = {
    "left": ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "right": ((0.0, 0.0, -1.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
}
STIFFNESS, DAMPING = number("posture_stiffness"), number("posture_damping")
HEIGHT = number("stance_height")

COLORS: dict[str, Color] = {
    **{"head": (0.24, 0.13, 0.07), "prothorax": (0.55, 0.33, 0.14), "abdomen": (0.42, 0.24, 0.11)},
    **{"mesothorax": (0.47, 0.27, 0.12), "metathorax": (0.45, 0.26, 0.12)},
    **{
        "coxa": (0.62, 0.40, 0.18),
        "femur": (0.52, 0.30, 0.13),
        "tibia": (0.36, 0.20, 0.09),
        "tarsus": (0.2, 0.12, 0.06),
    },
}


def cockroach(
    hip: Hip = "gimbal",
    trunk: Trunk = "rigid",
    *,
    stiffness: float = STIFFNESS,
    damping: float = DAMPING,
    height: float = HEIGHT,
    tarsus: bool = False,
    passive: bool = False,
) -> System:
    """A cockroach that stands on six feet: 19 bodies, 36 degrees of freedom; see the top of the file for all names.

    `hip`          the body-coxa joints: "gimbal", three angles; or "spherical", which has no singular angle. Spherical
                   joints are held by a bushing "<leg>_posture" each
    `trunk`        "rigid": head, thorax and abdomen are one body of five ellipsoids; "box": a box; "jointed": bodies
                   "head" and "abdomen" on elastic universal joints "neck" and "waist"
    `stiffness`    [N m/rad] and `damping` [N m s/rad] of the posture
    `height`       of the middle of the trunk above the ground where the animal stands [m]
    `tarsus`       a further segment <leg>_tarsus on an elastic hinge <leg>_tibia_tarsus; the foot is at its tip
    `passive`      springs in all joints of the legs beside the PD, <leg>_passive_<axis>, at rest in the stance
    """
    _check("cockroach", hip=(hip, Hip), trunk=(trunk, Trunk))
    _check_posture("cockroach", stiffness=stiffness, damping=damping, height=height)
    builder = RobotBuilder("cockroach")
    springs = list(_add_trunk(builder, trunk))
    return _system(builder, LEGS, hip, springs, (stiffness, damping, height), tarsus, passive)


def cockroach_leg(
    leg: str = "front_left",
    hip: Hip = "gimbal",
    *,
    stiffness: float = STIFFNESS,
    damping: float = DAMPING,
    height: float = HEIGHT,
    tarsus: bool = False,
    passive: bool = False,
) -> System:
    """One leg of the cockroach on the trunk as a box that moves freely: 4 bodies, 11 degrees of freedom.

    The arguments are those of `cockroach`, and `leg` is the name of the leg. On one leg the animal falls over.
    """
    if leg not in LEGS:
        raise ModelError(f"cockroach_leg: leg is {leg!r}, expected one of {', '.join(LEGS)}.")
    _check("cockroach_leg", hip=(hip, Hip))
    _check_posture("cockroach_leg", stiffness=stiffness, damping=damping, height=height)
    builder = RobotBuilder("cockroach_leg")
    springs = list(_add_trunk(builder, "box"))
    return _system(builder, (leg,), hip, springs, (stiffness, damping, height), tarsus, passive)


def _check_posture(owner: str, **numbers: float) -> None:
    """Raises ModelError for a number of the posture that is not above 0, by its name."""
    for name, value in numbers.items():
        positive(owner, name, (value,), 1)


def _check(owner: str, **choices: tuple[Any, Any]) -> None:
    """Raises ModelError for an argument that is not one of the values of its Literal."""
    for name, (given, kind) in choices.items():
        if given not in get_args(kind):
            expected = ", ".join(map(repr, get_args(kind)))
            raise ModelError(f"{owner}: {name} is {given!r}, expected one of {expected}.")


def _system(
    builder: RobotBuilder,
    legs: tuple[str, ...],
    hip: Hip,
    springs: list[Element],
    posture: tuple[float, float, float],
    tarsus: bool,
    passive: bool,
) -> System:
    """The System of a trunk with these legs in their stance; `posture` is (stiffness, damping, height)."""
    stiffness, damping, height = posture
    kp = Parameter("posture_stiffness", stiffness, "N m/rad")
    kd = Parameter("posture_damping", damping, "N m s/rad")
    elements: list[Element] = []
    axes: list[str] = []
    reference: list[float] = []
    q = [0.0, 0.0, height - number("ground_depth"), 1.0, 0.0, 0.0, 0.0]
    q += [0.0] * len(springs)  # neck and waist have a spring for each coordinate
    for leg in legs:
        angles = stance(leg, height, tarsus=tarsus)
        _add_leg(builder, leg, hip, tarsus)
        hinges = (f"{leg}_coxa_femur", f"{leg}_femur_tibia")
        turns = tuple(f"{leg}_body_coxa.{angle}" for angle in ANGLES)
        if hip == "gimbal":
            axes += [*turns, *hinges]
            reference += angles
            q += angles
        else:
            R = hip_rotation(angles)
            axes += hinges
            reference += angles[3:]
            q += [*rotation_to_quat(R), *angles[3:]]
            elements.append(_bushing(leg, R, kp, kd))
        if passive and hip == "gimbal":
            springs += _passive_springs(leg, (*turns, *hinges), angles)
        elif passive:
            soft, slow = parameter("passive_stiffness"), parameter("passive_damping")
            springs.append(replace(_bushing(leg, R, soft, slow), name=f"{leg}_passive_hip"))
            springs += _passive_springs(leg, hinges, angles[3:])
        if tarsus:
            q.append(0.0)
            soft, slow = parameter("tarsus_stiffness"), parameter("tarsus_damping")
            springs.append(TorsionSpring(f"{leg}_tarsus_spring", f"{leg}_tibia_tarsus", soft, 0.0, slow))
        elements.append(_contact(leg))
    elements.append(PD("posture", tuple(axes), kp, kd, tuple(reference)))
    return System(builder.build(), (*elements, *springs), Settings(q=tuple(q), time=0.5, sample=0.002))


# ── the stance ────────────────────────────────────────────────────────────────────────────────────────────────────────


LegAngles = tuple[float, float, float, float, float]  # gamma, beta, alpha, femur, tibia [rad]


def stance(leg: str, height: float = HEIGHT, *, tarsus: bool = False) -> LegAngles:
    """The angles (gamma, beta, alpha, femur, tibia) [rad] at which a leg stands, with the trunk at `height` [m].

    The foot is at the place of the table; see `leg_angles`.
    """
    pair = leg.partition("_")[0]
    return leg_angles(leg, (number(f"{pair}_foot_x"), number(f"{pair}_foot_out"), -height), tarsus=tarsus)


def leg_angles(leg: str, foot: tuple[float, float, float], *, tarsus: bool = False) -> LegAngles:
    """The angles (gamma, beta, alpha, femur, tibia) [rad] of a leg whose foot is at (x, out, z) [m] in the trunk.

    Five angles reach three coordinates. Two of them are free, and are chosen as follows: the plane of the leg is
    vertical, and the coxa slopes down by the angle of the table. The knee is above the line to the foot. A tarsus
    continues the tibia.
    """
    pair, side = leg.split("_")
    coxa, femur, tibia = (number(f"{pair}_{segment}_length") for segment in SEGMENTS)
    tibia += number(f"{pair}_tarsus_length") if tarsus else 0.0
    forward = foot[0] - number(f"{pair}_hip_x")
    out = foot[1] - number(f"{pair}_hip_out")
    slope = number(f"{pair}_coxa_depression")
    # from the coxa-femur joint to the foot, within the plane of the leg: away from the trunk, and up
    away = math.hypot(forward, out) - coxa * math.cos(slope)
    up = foot[2] - number(f"{pair}_hip_z") + coxa * math.sin(slope)
    far = math.hypot(away, up)
    if not abs(femur - tibia) < far < femur + tibia:
        place = ", ".join(f"{1e3 * x:.3g}" for x in foot)
        raise ModelError(
            f"cockroach: the foot of leg '{leg}' at ({place}) mm is {1e3 * far:.3g} mm away from its femur; expected "
            f"between {1e3 * abs(femur - tibia):.3g} and {1e3 * (femur + tibia):.3g} mm. Choose another height of the "
            "trunk, or another place of the foot."
        )
    raised = math.atan2(up, away) + math.acos((femur**2 + far**2 - tibia**2) / (2.0 * femur * far))
    bent = math.acos((femur**2 + tibia**2 - far**2) / (2.0 * femur * tibia)) - math.pi
    # the coxa is turned about the vertical by the azimuth and then lowered: as angles in the order of the gimbal
    azimuth, mirrored = math.atan2(forward, out), -1.0 if side == "right" else 1.0
    gamma = math.atan2(-math.sin(slope), math.cos(azimuth) * math.cos(slope))
    beta = math.asin(-math.sin(azimuth) * math.cos(slope))
    alpha = math.atan2(math.sin(azimuth) * math.sin(slope), math.cos(azimuth))
    return gamma, mirrored * beta, mirrored * alpha, raised + slope, bent


def hip_rotation(angles: Sequence[float]) -> Any:
    """The rotation Rz(gamma) Ry(beta) Rx(alpha) of a coxa in the frame of its body-coxa joint, for angles of a leg."""
    gamma, beta, alpha = angles[:3]
    return rotation_of_angles(alpha, beta, gamma)


# ── bodies and joints ─────────────────────────────────────────────────────────────────────────────────────────────────


def _add_trunk(builder: RobotBuilder, trunk: Trunk) -> Iterator[Element]:
    """Adds the trunk, with its free joint; yields the springs of neck and waist where it has them."""
    if trunk == "box":
        size = tuple(parameter(f"body_{side}") for side in ("length", "width", "height"))
        builder.add(_colored(Body.box("body", parameter("body_mass"), size), "abdomen")).root("body", "free")
        return
    own = SOLIDS if trunk == "rigid" else THORAX
    builder.add(Body.joined("body", [_solid(name) for name in own])).root("body", "free")
    if trunk == "rigid":
        return
    for joint, name in (("neck", "head"), ("waist", "abdomen")):
        place = parameter(f"{joint}_x")
        builder.add(Body.joined(name, [(_solid(name), Pose(IDENTITY.R, (-place, 0.0, 0.0)))]))
        builder.joint(joint, "universal", "body", name, translation=(place, 0.0, 0.0), axis=(0, 1, 0), axis2=(0, 0, 1))
        for what, axis in PITCH_AND_YAW:
            stiffness, damping = parameter("trunk_stiffness"), parameter("trunk_damping")
            yield TorsionSpring(f"{joint}_{what}_spring", f"{joint}.{axis}", stiffness, 0.0, damping)


def _solid(name: str) -> Body:
    """An ellipsoid of the trunk in the axes of the trunk; the head has antennae, which are only drawn."""
    radii = tuple(parameter(f"{name}_radius_{axis}") for axis in "xyz")
    body = Body.ellipsoid(name, parameter(f"{name}_mass"), radii, (parameter(f"{name}_x"), 0.0, 0.0))
    body = _colored(body, name)
    if name != "head":
        return body
    x, y, z = (evaluate(value) for value in (body.com[0] + 0.8 * radii[0], 0.4 * radii[1], 0.3 * radii[2]))
    feelers = tuple(
        Line((x, side * y, z), (x + 0.014, side * (y + 0.012), z + 0.006), color=COLORS["tibia"])
        for side in (1.0, -1.0)
    )
    return replace(body, shapes=(*body.shapes, *feelers))


def _add_leg(builder: RobotBuilder, leg: str, hip: Hip, tarsus: bool) -> None:
    """Adds the segments, joints and the foot of a leg."""
    pair = leg.partition("_")[0]
    names = (*SEGMENTS, "tarsus") if tarsus else SEGMENTS
    lengths = {name: parameter(f"{pair}_{name}_length") for name in names}
    masses = {name: parameter(f"{pair}_{name}_mass") for name in names}
    across = (parameter("coxa_radius_z"), parameter("coxa_radius_y"))
    coxa = Body.half_ellipsoid(f"{leg}_coxa", masses["coxa"], (*across, lengths["coxa"]), axis="x")
    builder.add(_colored(coxa, "coxa"))
    builder.joint(f"{leg}_body_coxa", hip, "body", f"{leg}_coxa", placement=_hip_pose(leg), order="zyx")
    for before, name in pairwise(names):
        length = lengths[name]
        rod = Body.cylinder(
            f"{leg}_{name}", masses[name], parameter(f"{name}_radius"), length, (0.5 * length, 0, 0), axis="x"
        )
        builder.add(_colored(rod, name))
        start = (lengths[before], 0.0, 0.0)
        builder.joint(f"{leg}_{before}_{name}", "revolute", f"{leg}_{before}", f"{leg}_{name}", translation=start)
    builder.frame(f"{leg}_foot", f"{leg}_{names[-1]}", translation=(lengths[names[-1]], 0.0, 0.0))


def _hip_pose(leg: str) -> Pose:
    """The frame of a body-coxa joint in the trunk."""
    pair, side = leg.split("_")
    out = parameter(f"{pair}_hip_out")
    return Pose(
        OUTWARD[side], (parameter(f"{pair}_hip_x"), out if side == "left" else -out, parameter(f"{pair}_hip_z"))
    )


def _colored(body: Body, name: str) -> Body:
    return replace(body, shapes=tuple(replace(shape, color=COLORS[name]) for shape in body.shapes))


# ── elements ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _contact(leg: str) -> Contact:
    """The contact of a foot with the ground: a spring up, and static and kinetic friction along the ground."""
    c = parameter("ground_damping")
    normal = EasyDynNormal(parameter("ground_stiffness"), c / parameter("ground_depth"))
    grip = Anchor(parameter("static_friction"), parameter("kinetic_friction"), parameter("ground_lateral_stiffness"), c)
    return Contact(f"{leg}_ground", f"{leg}_foot", normal, grip)


def _bushing(leg: str, R: Any, stiffness: Parameter, damping: Parameter) -> Bushing:
    """The spring and damper that hold a spherical body-coxa joint at the rotation R of the coxa."""
    at = _hip_pose(leg)
    turned: Any = matmul(at.R, R)
    return Bushing(
        f"{leg}_posture",
        "body",
        f"{leg}_coxa",
        stiffness=(0.0, 0.0, 0.0),
        turning_stiffness=(stiffness, stiffness, stiffness),
        turning_damping=(damping, damping, damping),
        placement_a=Pose(turned, at.p),
    )


def _passive_springs(leg: str, axes: tuple[str, ...], angles: Any) -> Iterator[TorsionSpring]:
    """Springs in the joints of a leg that are at rest in the stance."""
    stiffness, damping = parameter("passive_stiffness"), parameter("passive_damping")
    for axis, angle in zip(axes, angles, strict=True):
        name = axis.removeprefix(f"{leg}_").replace(".", "_")
        yield TorsionSpring(f"{leg}_passive_{name}", axis, stiffness, angle, damping)
