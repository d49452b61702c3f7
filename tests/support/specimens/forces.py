"""Forces in joints, between points and on bodies."""

from __future__ import annotations

from kinemorph import System
from kinemorph.algebra.groups import Pose
from kinemorph.algebra.rotations import rotation
from kinemorph.elements import (
    AppliedEffort,
    AppliedWrench,
    Bumper,
    Bushing,
    CentralGravity,
    Damper,
    DragBox,
    DragEllipsoid,
    Fluid,
    Gravity,
    HeightFunction,
    JointFriction,
    JointLimits,
    Plane,
    Pull,
    Rope,
    Spring,
    Tire,
    TorsionSpring,
    WeightSupport,
)
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from support.specimens.specimen import (
    JOINTS,
    Specimen,
    hills,
    on_arm,
    on_flyer,
    slider,
)


def turned(angle: str, value: float, axis: tuple[float, float, float], p: tuple[float, float, float]) -> Pose:
    return Pose(rotation(axis, Parameter(angle, value)), p)


def wheel() -> Robot:
    builder = RobotBuilder("wheel").add(Body.box("rim", 20.0, (0.4, 0.1, 0.5)))
    return builder.joint("root", "free", "world", "rim").build()


ROLLING = {
    "q": {
        "root.x": 0.1,
        "root.y": 0.2,
        "root.z": 0.28,
        "root.qw": 1.0,
        "root.qx": 0.03,
        "root.qy": 0.02,
        "root.qz": 0.1,
    },
    "v": {"root.vx": 1.0, "root.vy": 0.05, "root.vz": 0.0, "root.wx": 0.1, "root.wy": 3.6, "root.wz": 0.2},
}


FORCES: dict[str, Specimen] = {
    # forces
    "torsion spring": on_arm(TorsionSpring("s", "q1", 12.0, 0.2, 0.7, (3.0, 5.0), (0.3, 0.1))),
    "joint friction": on_arm(JointFriction("f", JOINTS, 0.3, 0.2, 1.5, 0.2, 0.05)),
    "joint friction, slides too": Specimen(
        lambda: System(slider(), (JointFriction("f", ("x", "swing"), 0.4, 0.2, 1.5, (0.3, 0.2), (0.04, 0.05)),)),
        0.3,
        {"v": {"x": 0.5, "swing": 1.0}},
    ),
    "joint limits": on_arm(JointLimits("l", ("q1",), 900.0, 20.0, onset=0.02)),
    "joint limits, slide too": Specimen(
        lambda: System(slider(), (JointLimits("l", (), 900.0, 20.0, onset=(0.01, 0.02)),)), 0.3, {"v": {"x": 1.0}}
    ),
    "spring": on_arm(Spring("s", "world", "c", 90.0, 0.3, 2.0, (0.7, 0.4, 0.9), (0.2, 0.05, 0.1))),
    "damper": on_arm(Damper("d", "world", "c", 9.0, (0.7, 0.4, 0.9), (0.2, 0.05, 0.1))),
    "rope": on_arm(Rope("r", "world", "c", 90.0, 0.8, 3.0, 0.9, (0.3, 0.4, 1.0), (0.2, 0.05, 0.1))),
    "bumper": on_arm(Bumper("b", "world", "c", 90.0, 1.4, 3.0, 0.9, (1.2, 0.4, -0.6), (0.2, 0.05, 0.1))),
    "bushing": on_flyer(
        Bushing(
            "b",
            "world",
            "hull",
            (90.0, 120.0, 150.0),
            (3.0, 2.0, 1.0),
            (5.0, 6.0, 7.0),
            (0.3, 0.2, 0.1),
            (2.0, 1.0, 3.0),
            (0.3, 0.2, 0.1),
            placement_a=turned("turn a", 0.3, (0.0, 0.0, 1.0), (0.1, 0.2, 0.3)),
            placement_b=turned("turn b", 0.2, (1.0, 0.0, 0.0), (0.1, 0.05, 0.02)),
        )
    ),
    "bushing, angles": on_flyer(
        Bushing(
            "b",
            "world",
            "hull",
            (90.0, 120.0, 150.0),
            turning_stiffness=(5.0, 6.0, 7.0),
            turning="zyx",
            turning_damping=(0.3, 0.2, 0.1),
        )
    ),
    "applied wrench": on_flyer(
        AppliedWrench("w", "hull", (1.0, 2.0, 3.0), (0.1, 0.2, -0.3), (0.1, 0.2, 0.05)),
        AppliedWrench("b", "hull", (1.0, 2.0, 3.0), (0.1, 0.2, -0.3), (0.1, 0.2, 0.05), "body"),
    ),
    "applied effort": on_arm(AppliedEffort("e", "q2", 1.3)),
    "gravity": on_flyer(Gravity("g", (0.5, -0.3, 1.2))),
    "central gravity": on_flyer(CentralGravity("g", 30.0, "fin", (0.1, 2.0, -1.5))),
    "weight support": on_arm(WeightSupport("w", 0.7, ("b",))),
    "fluid": on_flyer(
        Fluid(
            "f",
            (
                DragBox("hull", (0.2, 0.15, 0.1), turned("turn a", 0.3, (0.0, 0.0, 1.0), (0.1, 0.2, 0.3))),
                DragEllipsoid(
                    "fin",
                    (0.15, 0.05, 0.02),
                    turned("turn b", 0.4, (1.0, 0.0, 0.0), (0.1, 0.02, 0.03)),
                    added_mass=(0.001, 0.002, 0.003),
                    added_inertia=(1e-4, 2e-4, 3e-4),
                ),
            ),
            900.0,
            0.1,
            (0.4, 0.3, -0.2),
        )
    ),
    "pull": on_arm(
        Pull("p", 300.0, "c", 4.0, (0.2, 0.05, 0.1)), u={"p.x": 0.9, "p.y": 0.3, "p.z": 0.1, "p.share": 0.7}
    ),
    "tire": Specimen(
        lambda: System(
            wheel(),
            (
                Tire(
                    "wheel",
                    "rim",
                    0.3,
                    2e4,
                    300.0,
                    4000.0,
                    3000.0,
                    500.0,
                    300.0,
                    0.1,
                    1.1,
                    0.7,
                    0.85,
                    0.75,
                    0.65,
                    0.01,
                    (0.02, 1.0, 0.03),
                    (0.01, 0.02, 0.005),
                    Plane((0.0, 0.0, 0.001), (0.02, 0.01, 1.0)),
                ),
            ),
        ),
        0.003,
        ROLLING,
    ),
    "tire, slow": Specimen(
        lambda: System(wheel(), (Tire("wheel", "rim", 0.3, 2e4, 300.0, 4000.0, 3000.0, 500.0, 300.0, 0.1, slow=3.0),)),
        0.02,
        {"q": ROLLING["q"], "v": {"root.vx": 0.3, "root.wy": 0.9, "root.vy": 0.05}},
        only=("Tire.slow",),
    ),
    "tire on hills": Specimen(
        lambda: System(
            wheel(),
            (
                Tire(
                    "wheel",
                    "rim",
                    0.3,
                    2e4,
                    300.0,
                    4000.0,
                    3000.0,
                    500.0,
                    300.0,
                    0.1,
                    ground=HeightFunction(lambda x, y: 0.2 * hills(x, y)),
                ),
            ),
        ),
        0.0005,
        ROLLING,
    ),
}
