"""Benchmark mechanisms with springs for multibody codes: Andrews' squeezer and a flyball governor.

They are Systems, and the initial configuration of the benchmark problems is q = 0. The data are those of the IFToMM
library of computational benchmark problems, A03 and A05, and of the test set for initial value problems of the
University of Bari.
"""

from __future__ import annotations

import math

from kinemorph.algebra.groups import Pose, translation
from kinemorph.algebra.inertia import Inertia, added
from kinemorph.model.body import NO_INERTIA, STANDING, Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.forces.applied import AppliedEffort
from kinemorph.model.elements.forces.springs import Spring
from kinemorph.model.library.bars import HINGE, SLENDER, Link, Point, arm, at_angle, bar_shapes, size
from kinemorph.model.shapes import ORANGE, Cylinder, Shape, Sphere
from kinemorph.model.system import Settings, System

# Andrews' squeezer with the names of the Bari test set: lengths [m], masses [kg], moments [kg m^2]
SQUEEZER_LENGTHS = {
    "xa": -0.06934, "ya": -0.00227, "xb": -0.03635, "yb": 0.03273, "xc": 0.014, "yc": 0.072, "d": 0.028, "da": 0.0115,
    "e": 0.02, "ea": 0.01421, "rr": 0.007, "ra": 0.00092, "ss": 0.035, "sa": 0.01874, "sb": 0.01043, "sc": 0.018,
    "sd": 0.02, "ta": 0.02308, "tb": 0.00916, "u": 0.04, "ua": 0.01228, "ub": 0.00449, "zf": 0.02, "zt": 0.04,
    "fa": 0.01421,
}  # fmt: skip
SQUEEZER_MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
SQUEEZER_MOMENTS = (2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
SQUEEZER_START = {
    "beta": -0.06171389001427645, "Theta": 0.0, "gamma": 0.45527981916307037, "Phi": 0.22266839016588588,
    "delta": 0.48736497954384256, "Omega": -0.22266839016588588, "epsilon": 1.2305474445498212,
}  # fmt: skip


def andrews_squeezer(torque: float = 0.033, stiffness: float = 4530.0, rest: float = 0.07785) -> System:
    """Andrews' squeezing mechanism: seven bodies K1 to K7 in three loops that meet in one point, a motor and a spring.

    The motor drives K1 with `torque` [N m]; a spring of `stiffness` [N/m] and free length `rest` [m] acts on K3. There
    is no gravity. The joints have the names of the published angles; a joint coordinate is the published angle minus
    its initial value in SQUEEZER_START, so that q = 0 initially.
    """
    L = SQUEEZER_LENGTHS
    angles = SQUEEZER_START
    b, g, d, ep = (angles[name] for name in ("beta", "gamma", "delta", "epsilon"))
    bt, pd, oe = b + angles["Theta"], angles["Phi"] + d, angles["Omega"] + ep
    O, A, B, C = (0.0, 0.0), (L["xa"], L["ya"]), (L["xb"], L["yb"]), (L["xc"], L["yc"])
    P = at_angle(O, b, L["rr"])  # K1 and K2
    G = at_angle(A, d, L["zt"])  # K5 and K4
    H = at_angle(A, ep, 0.0, -L["u"])  # K7 and K6
    E = at_angle(P, bt, -L["d"])  # where K2, K3, K4 and K6 meet
    D = at_angle(B, g, L["sd"], -L["sc"])  # the spring on K3
    points = {"O": O, "A": A, "B": B, "C": C, "D": D, "E": E, "G": G, "H": H, "P": P}
    # name: bars to draw, center of mass
    bodies: dict[str, tuple[str, Point]] = {
        "K1": ("O-P", at_angle(O, b, L["ra"])),
        "K2": ("P-E", at_angle(P, bt, -L["da"])),
        "K3": ("B-E-D-B", at_angle(B, g, L["sb"], -L["sa"])),
        "K4": ("G-E", at_angle(G, pd, 0.0, -(L["e"] - L["ea"]))),
        "K5": ("A-G", at_angle(A, d, L["ta"], L["tb"])),
        "K6": ("H-E", at_angle(H, oe, L["zf"] - L["fa"])),
        "K7": ("A-H", at_angle(A, ep, -L["ub"], -L["ua"])),
    }
    builder = RobotBuilder("andrews_squeezer", gravity=(0.0, 0.0, 0.0))
    radius = SLENDER * size(points.values())
    for (name, (bars, center)), m, J in zip(bodies.items(), SQUEEZER_MASSES, SQUEEZER_MOMENTS, strict=True):
        origin = points[bars[0]]
        shapes: tuple[Shape, ...] = bar_shapes(Link(name, bars, m), points, radius)
        if name == "K1":  # most of it is the motor's flywheel
            shapes += (Cylinder(0.01, 0.01, Pose(STANDING["y"], (0.0, 0.01, 0.0))),)
        builder.body(name, m, com=arm(origin, center), inertia=(J, J, J), shapes=shapes)
    hinges = (
        ("beta", "world", "K1", "O"), ("Theta", "K1", "K2", "P"), ("gamma", "world", "K3", "B"),
        ("Phi", "K5", "K4", "G"), ("delta", "world", "K5", "A"), ("Omega", "K7", "K6", "H"),
        ("epsilon", "world", "K7", "A"),
        ("K2_K3", "K2", "K3", "E"), ("K2_K4", "K2", "K4", "E"), ("K2_K6", "K2", "K6", "E"),
    )  # fmt: skip
    origins = {"world": O} | {name: points[bars[0]] for name, (bars, _) in bodies.items()}
    for name, parent, child, point in hinges:
        end = translation(arm(origins[child], points[point]))
        way = arm(origins[parent], points[point])
        builder.joint(name, "revolute", parent, child, translation=way, child_placement=end, axis=HINGE)
    elements = (
        AppliedEffort("motor", "beta", torque),
        Spring("spring", "world", "K3", stiffness, rest, point_a=arm(O, C), point_b=arm(B, D)),
    )
    return System(builder.build(), elements, Settings(time=0.03, sample=1e-4))


def flyball_governor(
    stiffness: float = 8e5, damping: float = 4e4, ball: float = 5.0, speed: float = 2.0 * math.pi
) -> System:
    """A governor: two rods with balls of mass `ball` [kg] on a rotating shaft, and springs to a sliding collar.

    The springs of `stiffness` [N/m] and `damping` [N s/m] replace two further rods, so there are no loops, but the
    system is stiff: run it with method="radau". Initially the shaft rotates at `speed` [rad/s], and the rods are 30
    degrees below the horizontal.
    """
    builder = RobotBuilder("flyball_governor")
    builder.add(Body.box("shaft", 0.3, (0.01, 0.01, 1.0), (0.0, 0.0, 0.5)), Body.box("collar", 3.0, (0.1, 0.1, 0.1)))
    builder.joint("shaft_joint", "revolute", "world", "shaft", axis=(0.0, 0.0, 1.0))
    builder.joint("collar_joint", "prismatic", "shaft", "collar", translation=(0.0, 0.0, 0.5), axis=(0.0, 0.0, 1.0))
    # both rods are along the x axis of their frames, lowered by 30 degrees, one on each side
    bar, end = Body.box("bar", 0.3, (1.0, 0.01, 0.01), (0.5, 0.0, 0.0)), (1.0, 0.0, 0.0)
    whole = added(Inertia(bar.mass, bar.com, bar.inertia), Inertia(ball, end, NO_INERTIA))
    c, s = math.cos(math.pi / 6), math.sin(math.pi / 6)
    springs = []
    for name, side in (("right", 1.0), ("left", -1.0)):
        lowered = ((side * c, 0.0, side * s), (0.0, side, 0.0), (-s, 0.0, c))
        hinge = (0.05 * side, 0.0, 0.0)
        shapes = (*bar.shapes, Sphere(0.08, translation(end), ORANGE))
        builder.body(name, whole.mass, com=whole.com, inertia=whole.moment, shapes=shapes)
        builder.joint(
            f"{name}_joint",
            "revolute",
            "shaft",
            name,
            translation=(hinge[0], 0.0, 1.0),
            rotation=lowered,
            axis=(0.0, 1.0, 0.0),
        )
        springs.append(Spring(f"{name}_spring", "collar", name, stiffness, 0.5, damping, hinge, bar.com))
    return System(builder.build(), tuple(springs), Settings(v=(speed, 0.0, 0.0, 0.0), time=10.0))
