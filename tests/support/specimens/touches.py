"""Contacts, constraints and phases."""

from __future__ import annotations

from typing import Any

from kinemorph import System
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.elements import (
    Automaton,
    Constraint,
    Contact,
    Coulomb,
    DistanceConstraint,
    EasyDynNormal,
    Edge,
    Energetic,
    HeightFunction,
    HeightMap,
    Hold,
    HuntCrossley,
    ImpedanceNormal,
    KnifeEdge,
    Newton,
    PairContact,
    Phase,
    Plane,
    PointOnCurve,
    PointOnLine,
    PointOnPlane,
    PointOnSurface,
    Poisson,
    PrescribedMotion,
    Regularized,
    Rigid,
    RollingDisc,
    RollingSphere,
    Sinusoid,
    SpringLeg,
    VelocityConstraint,
)
from kinemorph.model import shapes
from support.specimens.specimen import (
    FLYING,
    Specimen,
    arm,
    flyer,
    hills,
    puck,
)


def held(*elements: Any) -> Specimen:
    """Constraints on the arm: of the initial state q1 is given, as far as it can be, and the others follow."""
    return Specimen(lambda: System(arm(), elements), 0.3, {"q": {"q2": 0.4}, "v": {"q2": -0.7}})


def on_flying(*elements: Any) -> Specimen:
    """Constraints on the flyer: the hinge is given, and the pose of the hull follows."""
    return Specimen(lambda: System(flyer(), elements), 0.3, {"q": {"hinge": 0.3}, "v": {"hinge": 0.7}})


def on_ground(element: Any, *only: str) -> Specimen:
    """A puck that touches during the whole run and slides fast, so that no force has a kink."""
    return Specimen(lambda: System(puck(), (element,)), 0.02, SLIDING, only=only)


SLIDING = {
    "q": {
        "root.x": 0.05,
        "root.y": 0.02,
        "root.z": 0.2,
        "root.qw": 1.0,
        "root.qx": 0.04,
        "root.qy": -0.05,
        "root.qz": 0.1,
    },
    "v": {"root.vx": 1.2, "root.vy": 0.7, "root.vz": -0.2, "root.wx": 0.3, "root.wy": -0.4, "root.wz": 0.2},
}


BOUNCING = {"q": {"root.z": 0.4, "root.qw": 1.0}, "v": {"root.vx": 0.7, "root.vy": 0.2, "root.wy": 2.0}}


STRIKING = {
    "q": {"root.z": 0.1, "root.qw": 0.8, "root.qy": 0.6, "hinge": 0.3},
    "v": {"root.wx": 0.5, "root.wy": -0.8, "root.vx": 3.0, "root.vz": -0.6, "hinge": 0.7},
}


def collision(law: Any) -> System:
    """A body in flight strikes with a point that is held in a phase of its own: it bounces, slides, and flies on."""
    edge = Edge(
        "strikes", "flies", "flies", "q.root.z - low", "late - t", impact=law, friction=Coulomb(0.05), during="meets"
    )  # fmt: skip
    automaton = Automaton((Phase("flies"), Phase("meets", "d")), (edge,), known={"low": 0.05, "late": 0.15})
    return System(flyer(), (Hold("d", "hull", (0.1, 0.2, 0.05)),), automaton=automaton)


def hop() -> System:
    """A body lands on a spring leg, which an automaton puts down."""
    leg = SpringLeg(
        "leg", "puck", 900.0, 0.6, (0.2, 0.05, -1.0), Plane((0.0, 0.0, 0.05), (0.03, 0.02, 1.0)), (0.02, 0.01, -0.03)
    )
    lands = Edge("lands", "flies", "stands", "q.root.z - low", impact="none")
    automaton = Automaton((Phase("flies"), Phase("stands", "leg")), (lands,), known={"low": 0.61})
    return System(puck(), (leg,), automaton=automaton)


HERE = Pose(IDENTITY.R, (0.01, 0.02, 0.03))


SOLIDS = {
    "box": shapes.Box((0.4, 0.3, 0.2), HERE),
    "ellipsoid": shapes.Ellipsoid((0.2, 0.25, 0.3), HERE),
    "sphere": shapes.Sphere(0.2, HERE),
    "capsule": shapes.Capsule(0.1, 0.2, HERE),
    "cylinder": shapes.Cylinder(0.2, 0.3, HERE),
    "frustum": shapes.Frustum(0.2, 0.15, 0.3, HERE),
    "frustum, turned": shapes.Frustum(
        0.15, 0.2, 0.3, Pose(((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)), HERE.p)
    ),
    "half ellipsoid": shapes.HalfEllipsoid((0.2, 0.25, 0.3), Pose(IDENTITY.R, (0.01, 0.02, -0.1))),
    "mesh": shapes.Mesh(((0.1, 0.1, -0.15), (-0.1, 0.1, -0.14), (0.0, -0.1, -0.16)), ((0, 1, 2),), placement=HERE),
}


CONTACTS: dict[str, Specimen] = {
    # contacts
    "contact": on_ground(
        Contact(
            "c",
            "puck",
            EasyDynNormal(5000.0, 40.0, 1.3, 1.2),
            Regularized(0.4, 0.1),
            Plane((0.0, 0.0, 0.02), (0.1, 0.05, 1.0)),
            (0.1, 0.02, -0.1),
            0.15,
        )
    ),
    "contact, creeping": on_ground(
        Contact(
            "c",
            "puck",
            HuntCrossley(5000.0, 0.3, 1.4),
            Regularized(0.4, 9.0),
            HeightFunction(hills),
            (0.1, 0.02, -0.1),
            0.15,
        )
    ),
    "contact, capsule": on_ground(
        Contact("c", "puck", HuntCrossley(5000.0, 0.3), None, Plane(), (0.1, 0.02, -0.1), 0.15, (-0.15, 0.03, -0.16)),
        *(f"Contact.{field}" for field in ("point", "end", "radius")),
    ),
    "contact, impedance": on_ground(
        Contact(
            "c",
            "puck",
            ImpedanceNormal(500.0, 40.0, width=0.2),
            None,
            HeightMap(((0.03, 0.02, 0.01), (0.02, 0.04, 0.02), (0.01, 0.03, 0.02)), (1.0, 1.1), (-0.9, -1.2)),
            (0.1, 0.02, -0.1),
            0.15,
        )
    ),
    **{
        f"shape, {name}": on_ground(
            Contact("c", "puck", HuntCrossley(5000.0, 0.3, 1.5), ground=Plane((0.0, 0.0, 0.15)), shape=shape),
            "HuntCrossley.exponent",
            *(
                f"{type(shape).__name__}.{field}"
                for field in ("size", "radius", "length", "radii", "bottom", "top", "height", "vertices", "placement")
            ),
        )
        for name, shape in SOLIDS.items()
    },
    "pair contact": on_ground(
        PairContact(
            "p",
            "world",
            "puck",
            HuntCrossley(5000.0, 0.3, 1.4),
            0.15,
            0.1,
            Regularized(0.4, 0.1),
            (-0.3, 0.0, -0.06),
            (0.05, -0.3, -0.05),
            (0.5, 0.1, -0.09),
            (-0.02, 0.4, -0.02),
        )
    ),
    **{
        f"rigid contact, {law}": Specimen(
            lambda law=law: System(
                puck(), (Contact("c", "puck", Rigid(0.6, law), Coulomb(0.3), point=(0.03, 0.0, 0.02), radius=0.1),)
            ),
            0.4,
            BOUNCING,
            only=("Rigid.restitution", "Contact.radius", *(["Coulomb.coefficient"] * (law == "energetic"))),
        )
        for law in ("energetic", "newton", "poisson")
    },
    "rigid pair": Specimen(
        lambda: System(
            puck(),
            (
                PairContact(
                    "c", "world", "puck", Rigid(0.6), 0.3, 0.1, Coulomb(0.2), (0.02, 0.03, -0.3), (0.01, 0.0, 0.0)
                ),
            ),
        ),
        0.4,
        BOUNCING,
        only=("Rigid.restitution", "Coulomb.coefficient", "PairContact.radius_a"),
    ),
    # constraints
    "distance": held(DistanceConstraint("d", "world", "c", 0.7, (0.6, 0.3, 0.5), (0.2, 0.05, 0.1))),
    "point on plane": held(PointOnPlane("d", "c", (0.2, 0.05, 0.1), origin=(0.7, 0.3, 0.1), normal=(0.2, 0.3, 1.0))),
    "point on line": on_flying(
        PointOnLine("d", "fin", (0.2, 0.05, 0.1), origin=(0.3, -0.2, 0.1), direction=(1.0, 0.3, 0.2))
    ),
    "point on surface": held(
        PointOnSurface("d", "c", "x**2 + y**2 + w * z**2 - r**2", (0.2, 0.05, 0.1), known={"r": 0.9, "w": 1.3})
    ),
    "point on curve": held(
        PointOnCurve(
            "d",
            "c",
            ((0.0, 0.0, 0.1), (0.5, 0.1, 0.2), (1.0, 0.0, -0.1), (1.5, 0.2, 0.1)),
            (0.2, 0.05, 0.1),
            planar=True,
        )
    ),
    "constraint": held(
        Constraint("d", ("q.q1 + k * sin(q.q2) - wish",), known={"k": 0.7}), Sinusoid("wish", 0.2, 1.1, 0.3, 0.4)
    ),
    "velocity constraint": held(VelocityConstraint("d", ("v.q1 + k * cos(q.q2) * v.q2 - 0.1",), known={"k": 0.7})),
    "prescribed motion": held(
        PrescribedMotion("d", "q1", "a * sin(w * t) + wish", known={"a": 0.3, "w": 4.0}),
        Sinusoid("wish", 0.2, 1.1, 0.3, 0.4),
    ),
    "prescribed position": held(PrescribedMotion("d", "q1", 0.3)),
    "knife edge": on_flying(KnifeEdge("d", "hull", (0.1, 1.0, 0.2), (0.1, 0.02, -0.05), normal=(0.1, 0.05, 1.0))),
    "rolling disc": on_flying(
        RollingDisc(
            "d", "hull", 0.3, (0.02, 0.01, 0.03), (0.1, 1.0, 0.05), origin=(0.0, 0.0, 0.1), normal=(0.1, 0.05, 1.0)
        )
    ),
    "rolling sphere": on_flying(
        RollingSphere("d", "hull", 0.3, (0.02, 0.01, 0.03), origin=(0.0, 0.0, 0.1), normal=(0.1, 0.05, 1.0))
    ),
    "hold": Specimen(
        lambda: System(flyer(), (Hold("d", "hull", (0.1, 0.2, 0.05)),)),
        0.3,
        {"q": FLYING["q"], "v": {"hinge": 0.7, "root.wx": 0.5, "root.wy": -0.8, "root.wz": 0.6}},
    ),
    **{
        f"impact, {type(law).__name__}": Specimen(lambda law=law: collision(law), 0.2, STRIKING)
        for law in (Energetic(0.5), Newton(0.4), Poisson(0.6))
    },
    "edge": Specimen(lambda: hop(), 0.35, {"q": {"root.z": 0.72, "root.x": 0.0}, "v": {"root.vx": 0.8}}),
}
