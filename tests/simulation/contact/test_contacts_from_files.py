"""Contacts from collision shapes: solids on the ground beside MuJoCo, closed forms, and what contacts are made of."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, load, load_text, scaled, simulate
from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.elements import (
    Anchor,
    Contact,
    Coulomb,
    HeightMap,
    HuntCrossley,
    ImpedanceNormal,
    Plane,
    Regularized,
    Rigid,
    contacts,
)
from kinemorph.errors import GroundWarning, ModelError, ModelWarning
from kinemorph.formats.loading import save
from kinemorph.mechanics.elements.contact.normal_forces import normal_law
from kinemorph.mechanics.elements.contact.touching_points import _from_row, _table, spots
from kinemorph.mechanics.scaling.scaled_bodies import scaled_bodies
from kinemorph.model.shapes import (
    Box,
    Cylinder,
    Ellipsoid,
    Frustum,
    HalfEllipsoid,
    HalfSpace,
    Mesh,
    Shape,
    Sphere,
    Surface,
)
from kinemorph.simulation.planned_run import prepared_run

G = 9.81
CUBE = "".join(f"{x} {y} {z} " for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1))
MESH = f'<asset><mesh name="cube" vertex="{CUBE}"/></asset>'
SOLIDS = {  # geom, and the height of its center where it stands
    "ball": ('size="0.1"', 0.1),
    "box": ('type="box" size="0.1 0.15 0.2"', 0.2),
    "standing cylinder": ('type="cylinder" size="0.05 0.1"', 0.1),
    "lying cylinder": ('type="cylinder" size="0.05 0.1" quat="1 0 1 0"', 0.05),
    "capsule": ('type="capsule" size="0.05 0.1" quat="1 0 1 0"', 0.05),
    "ellipsoid": ('type="ellipsoid" size="0.1 0.08 0.05"', 0.05),
    "mesh": ('type="mesh" mesh="cube"', 0.1),
}
FALL = 0.05  # [m]


def loaded(text: str) -> System:
    """The system of an MJCF text with the contacts of its file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        system = load_text(text, "mjcf")
    return replace(system, elements=(*system.elements, *contacts(system)))


def falling(names: list[str], geom: str = "") -> str:
    """An MJCF model of solids that fall on a plane, each a meter from the next; `geom` are attributes of all."""
    bodies = "".join(
        f'<body name="{name}" pos="{k} 0 {SOLIDS[name][1] + FALL}"><freejoint/><geom {SOLIDS[name][0]} {geom}/></body>'
        for k, name in enumerate(names)
    )
    return f'<mujoco>{MESH}<worldbody><geom type="plane" size="0 0 1" {geom}/>{bodies}</worldbody></mujoco>'


def beside_mujoco(names: list[str], geom: str = "", raised: float = 0.0) -> None:
    """Solids fall and come to rest as deep as in MuJoCo, where the ground carries their weight.

    `raised` [m] is the height at which forces begin.
    """
    mujoco = pytest.importorskip("mujoco")
    text = falling(names, geom)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(round(1.5 / model.opt.timestep)):
        mujoco.mj_step(model, data)
    system = loaded(text)
    run = simulate(system, 1.5)
    assert run.outcome.ok
    for k, name in enumerate(names):
        (contact,) = (one for one in system.elements if getattr(one, "body", "") == name)
        depth = SOLIDS[name][1] + raised - data.qpos[7 * k + 2]
        assert 0.0 < depth < 5e-3
        assert run.q[-1, 7 * k + 2] == pytest.approx(data.qpos[7 * k + 2], abs=0.02 * depth)
        assert run[f"{contact.name}.normal"][-1] == pytest.approx(G * model.body_mass[k + 1], rel=1e-3)


def test_solids_rest_as_deep_as_in_mujoco() -> None:
    beside_mujoco(["ball", "box", "standing cylinder"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "geom",
    ["", 'friction="0.6"', 'condim="1"', 'solref="0.01 1.5" solimp="0.8 0.99 0.003 0.3 3"', 'solref="-5000 -200"',
     'margin="0.003"', 'solimp="0.9 0.95 0.001 0.5 1"'],
)  # fmt: skip
def test_all_solids_rest_as_deep_as_in_mujoco(geom: str) -> None:
    beside_mujoco([*SOLIDS], geom, raised=0.006 if "margin" in geom else 0.0)


def test_shapes_inside_their_rigid_part_get_no_contact_with_a_plane() -> None:
    """Neither a ball in the box of a fixed body, nor the corners of a mesh that a box hides; but all touch terrain."""
    inner = Body("inner", 1.0, inertia=(0.1, 0.1, 0.1), collisions=(Sphere(0.04), Sphere(0.06)))
    points = tuple((x, y, z) for x in (-0.03, 0.03) for y in (-0.03, 0.03) for z in (0.0, 0.2))
    outer = Body("outer", 1.0, inertia=(0.1, 0.1, 0.1), collisions=(Box((0.1, 0.1, 0.1)), Mesh(points, ())))
    builder = RobotBuilder("r").add(outer, inner).root("outer", "free").joint("j", "fixed", "outer", "inner")
    robot = builder.build()
    box, mesh, ball = contacts(robot)
    assert (box.name, mesh.name, ball.name, ball.radius) == ("outer box", "outer mesh", "inner sphere", 0.06)
    assert isinstance(mesh.shape, Mesh)
    assert sorted(mesh.shape.vertices) == sorted(point for point in points if point[2] > 0.1)
    hills = HeightMap(tuple((0.0,) * 4 for _ in range(4)), corner=(-1.5, -1.5))
    assert len(contacts(robot, ground=hills)) == 4
    small = replace(inner, collisions=(Box((0.06, 0.06, 0.06)),))
    for x, count in ((0.0, 2), (0.2, 3)):
        beside = RobotBuilder("r").add(outer, small).root("outer", "free")
        beside.joint("j", "fixed", "outer", "inner", placement=Pose(IDENTITY.R, (x, 0.0, 0.0)))
        assert len(contacts(beside.build())) == count


def test_the_impedance_is_a_force_with_a_potential() -> None:
    """The force is that of its formula, its slope that of its differences, and its work at rest the stored energy."""
    normal = ImpedanceNormal(2e4, 30.0, 0.8, 0.97, 2e-3, 0.4, 3.0)
    law = normal_law(normal)
    for d in (1e-4, 7e-4, 9e-4, 1.9e-3, 3e-3):
        i = normal.impedance(d)
        assert float(law(d, 0.0).force) == pytest.approx(i * i / (1.0 - i) * 2e4 * d, rel=1e-12)
        grown = min(d / 2e-4, 1.0)
        assert float(law(d, 0.01).force - law(d, 0.0).force) == pytest.approx(grown * i / (1.0 - i) * 0.3, rel=1e-9)
        slope = (float(law(d + 1e-9, 0.02).force) - float(law(d - 1e-9, 0.02).force)) / 2e-9
        assert float(law(d, 0.02).by_depth) == pytest.approx(slope, rel=1e-5)
        way = np.linspace(1e-12, d, 2001)
        work = np.trapezoid([float(law.at_rest(x)) for x in way], way)
        assert float(law(d, 0.0).stored) == pytest.approx(work, rel=1e-5)
    assert float(law(-1e-3, 1.0).force) == 0.0 and float(law(1e-5, -1e6).force) == 0.0


# ── closed forms ──────────────────────────────────────────────────────────────────────────────────────────────────────

NORMAL, RUBBER = HuntCrossley(1e5, 1.0), Regularized(0.8, 1e-3)
STANDING: dict[
    str, tuple[Shape, float]
] = {  # solids that stand on the face or corners at this depth below their frames
    "box": (Box((0.2, 0.2, 0.2)), 0.1),
    "cylinder": (Cylinder(0.1, 0.2), 0.1),
    "cone": (Frustum(0.1, 0.0, 0.2), 0.1),
    "half ellipsoid": (HalfEllipsoid((0.1, 0.08, 0.05)), 0.0),
    "mesh": (Mesh(tuple((x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)), ()), 0.1),
}


def free(shape: Shape, **laws: object) -> System:
    """A free body of 1 kg that touches z = 0 with a shape."""
    body = Body("b", 1.0, inertia=(0.01, 0.01, 0.01))
    robot = RobotBuilder("free").add(body).root("b", "free").build()
    return System(robot, (Contact("ground", "b", **{"normal": NORMAL, "friction": RUBBER, **laws}, shape=shape),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name",
    ["cylinder", *(pytest.param(name, marks=pytest.mark.slow) for name in STANDING if name != "cylinder")],
)
def test_a_tilted_solid_comes_to_stand_on_its_face(name: str) -> None:
    """It falls with a tilt, rocks, and stands upright in the end; the energy balance closes."""
    shape, height = STANDING[name]
    tilt = [0.0, 0.0, height + 0.03, math.cos(0.05), 0.6 * math.sin(0.05), 0.8 * math.sin(0.05), 0.0]
    run = simulate(free(shape, normal=HuntCrossley(1e5, 5.0)), 1.5, q=tilt, rtol=1e-9, atol=1e-11, method="rodas")
    assert run["ground.normal"][-1] == pytest.approx(G, rel=1e-2)
    assert np.abs(run.q[-1, 4:6]).max() < 1e-3 and abs(run.q[-1, 2] - height) < 3e-3
    assert np.abs(run["energy.balance"]).max() < 1e-6


@pytest.mark.parametrize(
    "shape", [Cylinder(0.1, 0.3), pytest.param(Ellipsoid((0.1, 0.1, 0.2)), marks=pytest.mark.slow)]
)
def test_a_cylinder_rolls_down_a_slope_as_its_closed_form_says(shape: Shape) -> None:
    """a = g sin(slope)/(1 + I/(m r^2)): the axis lies along y, across the slope."""
    slope, I = math.radians(10.0), 0.01
    plane = Plane(normal=(math.sin(slope), 0.0, math.cos(slope)))
    rest = (G * math.cos(slope) / (2.0 if isinstance(shape, Cylinder) else 1.0) / 1e5) ** (1.0 / 1.5)
    up = (0.1 - rest) * np.array([math.sin(slope), 0.0, math.cos(slope)])
    lying = [*up, math.cos(math.pi / 4.0), math.sin(math.pi / 4.0), 0.0, 0.0]
    run = simulate(free(shape, ground=plane), 1.0, q=lying, rtol=1e-10, atol=1e-12, method="rodas")
    speed = np.linalg.norm(run.v[-1, :3])
    expected = G * math.sin(slope) / (1.0 + I / 0.01) * 1.0
    assert speed == pytest.approx(expected, rel=2e-3)
    assert np.abs(run["energy.balance"]).max() < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize(
    "laws",
    [
        {"normal": Rigid(), "friction": Coulomb(0.8)},
        {"friction": Anchor(0.8, 0.7, 1e5, 300.0)},
        {"ground": HeightMap(tuple((0.0,) * 4 for _ in range(4)), corner=(-1.5, -1.5))},
    ],
)
def test_all_laws_and_grounds_hold_a_box(laws: dict[str, object]) -> None:
    soft = {"normal": HuntCrossley(1e5, 20.0), **laws}
    run = simulate(free(Box((0.2, 0.2, 0.2)), **soft), 1.0, q=[0, 0, 0.12, 1, 0, 0, 0])
    assert run.outcome.ok and abs(run.q[-1, 2] - 0.1) < 1e-3
    assert run["ground.normal"][-1] == pytest.approx(G, rel=1e-2)


# ── files of other formats ────────────────────────────────────────────────────────────────────────────────────────────

SPRING = ImpedanceNormal(2e6, 10.0, 0.5, 0.5)  # 1e6 N/m and 10 N s/m


def test_sdf_surfaces_and_planes_make_contacts() -> None:
    """The friction of the body counts, or that of slippery ground; mu2 is told where it differs."""
    surface = """<surface><friction><ode><mu>0.6</mu><mu2>{}</mu2></ode></friction>
        <contact><ode><kp>1e6</kp><kd>10</kd></ode></contact></surface>"""
    text = """<sdf version="1.7"><world name="w"><model name="floor"><static>true</static><link name="floor">
        <collision name="c"><geometry><plane><normal>0 1 1</normal></plane></geometry>
        <surface><friction><ode><mu>{ground}</mu></ode></friction></surface></collision></link></model>
        <model name="m"><link name="b"><collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry>
        {surface}</collision></link></model></world></sdf>"""
    for ground, friction in ((100.0, 0.6), (0.2, 0.2)):
        with pytest.warns(ModelWarning):
            system = load_text(text.format(ground=ground, surface=surface.format(0.6)), "sdf")
        (contact,) = contacts(system)
        assert contact.friction == Regularized(friction) and contact.normal == SPRING
        assert isinstance(contact.ground, Plane)
        assert np.array(contact.ground.normal) == pytest.approx(np.array([0.0, 1.0, 1.0]) / math.sqrt(2.0))
    with pytest.warns(ModelWarning, match=r"<mu2> \(0.3\), which differs from <mu> \(0.6\)"):
        load_text(text.format(ground=1.0, surface=surface.format(0.3)), "sdf")


@pytest.mark.parametrize(
    ("contact", "gazebo"),
    [
        ("", '<gazebo reference="b"><mu1>0.6</mu1><mu2 value="0.6"/><kp>1e6</kp><kd>10</kd></gazebo>'),
        ('<contact><lateral_friction value="0.6"/><stiffness value="1e6"/><damping value="10"/></contact>', ""),
    ],
)
def test_urdf_tags_of_gazebo_and_bullet_make_contacts(contact: str, gazebo: str) -> None:
    text = f"""<robot name="r"><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
        ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.1"/></geometry></collision>{contact}</link>
        {gazebo}</robot>"""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (made,) = contacts(load_text(text, "urdf", base="free"))
    assert made.friction == Regularized(0.6) and made.normal == SPRING and made.ground == Plane()


def test_height_fields_of_mujoco_are_ground(tmp_path: Path) -> None:
    """The middle of the grid is at the geom; columns go along x and rows along y."""
    mujoco = pytest.importorskip("mujoco")
    heights = "0 0 0 0 0.5 0 0 0 0 0 0 1"
    text = f"""<mujoco><asset><hfield name="h" nrow="3" ncol="4" size="3 2 0.4 0.1" elevation="{heights}"/></asset>
        <worldbody><geom type="hfield" hfield="h" pos="1 2 3"/>
        <body name="b" pos="0 0 5"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
    system = loaded(text)
    (contact,) = (one for one in system.elements if isinstance(one, Contact))
    ground = contact.ground
    assert isinstance(ground, HeightMap)
    assert (ground.spacing, ground.corner) == ((2.0, 2.0), (-2.0, 0.0))
    data = mujoco.MjModel.from_xml_string(text).hfield_data.reshape(3, 4)
    assert np.asarray(ground.heights) == pytest.approx(3.0 + 0.4 * data.T, abs=1e-6)
    assert data[0, 3] == 1.0 and data[2, 3] == 0.0
    (raised,) = contacts(loaded(text.replace("<geom size", '<geom margin="0.02" size')).robot)
    assert isinstance(raised.ground, HeightMap)
    assert np.asarray(raised.ground.heights) == pytest.approx(np.asarray(ground.heights) + 0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        save(system, tmp_path / "hills.xml")
    again = loaded((tmp_path / "hills.xml").read_text())
    (same,) = (one for one in again.elements if isinstance(one, Contact))
    assert isinstance(same.ground, HeightMap)
    assert np.asarray(same.ground.heights) == pytest.approx(np.asarray(ground.heights), abs=1e-6)


def test_a_robot_saved_as_toml_touches_the_ground_as_before(tmp_path: Path) -> None:
    """Saved in the native format, it fell through the floor of its own file."""
    text = falling(["box", "ball"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = load_text(text, "mjcf")
        save(before, tmp_path / "robot.toml")
    after = load(tmp_path / "robot.toml")
    made, again = ([e for e in prepared_run(one).system.elements if isinstance(e, Contact)] for one in (before, after))
    assert [one.name for one in made] == [one.name for one in again] and len(again) == 2
    assert not any(isinstance(e, Contact) for e in prepared_run(after, {"contacts": False}).system.elements)


# ── what contacts are made of ─────────────────────────────────────────────────────────────────────────────────────────


def legged(*shapes: Shape, root: str = "free") -> System:
    robot = RobotBuilder("r").add(Body("b", 1.0, inertia=(0.1, 0.1, 0.1), collisions=shapes)).root("b", root)
    return System(robot.build())


def test_contacts_take_the_laws_of_the_file_or_the_defaults() -> None:
    hard = HuntCrossley(1e6)
    own = Surface(0.3, hard)
    first, second = contacts(legged(Sphere(0.1, surface=own), Box((0.3, 0.1, 0.1))))
    assert (first.name, first.radius, first.normal, first.friction) == ("b sphere", 0.1, hard, Regularized(0.3))
    assert isinstance(second.shape, Box) and second.shape.surface is None and second.friction == Regularized(1.0)
    rest = float(normal_law(second.normal).at_rest(1e-4))
    assert rest == pytest.approx(G / 4.0) and second.ground == Plane()
    (given,) = contacts(legged(Sphere(0.1, surface=own)), Rigid(0.2), 0.5, ground=Plane((0, 0, 1.0)))
    assert (given.normal, given.friction, given.ground) == (Rigid(0.2), Coulomb(0.5), Plane((0, 0, 1.0)))
    assert contacts(legged(Sphere(0.1), root="fixed")) == () == contacts(legged(Sphere(0.1), root="revolute"))
    assert len(contacts(legged(Sphere(0.1), root="revolute"), ground=Plane())) == 1


def test_groups_priorities_and_margins_decide_who_touches_and_how() -> None:
    floor = Body("floor", collisions=(HalfSpace(surface=Surface(0.9, None, 2, 4, margin=0.01)),))
    touching = {  # of a ball: the friction and the height of the ground, or None if it touches nothing
        Surface(0.5, None, 4, 0): (0.9, 0.01),
        Surface(0.5, None, 0, 2, priority=1, margin=0.02): (0.5, 0.03),
        Surface(0.5, None, 0, 2, priority=-1): (0.9, 0.01),
        Surface(0.5, None, 1, 1): None,
    }
    for own, expected in touching.items():
        builder = RobotBuilder("r").add(floor, Body("b", 1.0, collisions=(Sphere(0.1, surface=own),)))
        robot = builder.root("floor", "fixed").joint("z", "prismatic", "world", "b").build()
        found = [(c.friction.coefficient, c.ground.point[2]) for c in contacts(robot)]  # type: ignore[union-attr]
        assert found == ([] if expected is None else [pytest.approx(expected)])


def test_bodies_with_contacts_are_left_out_and_unknown_names_refused() -> None:
    system = legged(Sphere(0.1))
    own = replace(system, elements=contacts(system))
    with pytest.warns(GroundWarning, match="have contacts already"):
        assert contacts(own) == ()
    with pytest.raises(ModelError, match="'c' is no body"):
        contacts(system, bodies=["c"])
    assert contacts(system, bodies=["b"]) == contacts(system)


def test_margins_and_soft_laws_keep_what_is_inside_and_raise_planes_of_any_normal() -> None:
    """A ball inside a box touches first by its margin, or later where its law sinks in by more than it is hidden."""
    box, soft = Box((0.1, 0.1, 0.1)), ImpedanceNormal(1e4, width=0.05)
    for own, count in ((None, 1), (Surface(margin=0.03), 2), (Surface(normal=soft), 2)):
        made = contacts(legged(box, Sphere(0.04, surface=own)), ground=Plane(normal=(0.0, 0.0, 2.0)))
        assert len(made) == count
    raised = contacts(legged(Sphere(0.04, surface=Surface(margin=0.03))), ground=Plane(normal=(0.0, 0.0, 2.0)))
    assert raised[0].ground.point == pytest.approx((0.0, 0.0, 0.03))  # type: ignore[union-attr]


def test_parts_of_a_mesh_touch_at_the_same_point_in_a_table() -> None:
    """Also on a face, where the mean of several corners touches: those that fill a row of the table do not count."""
    grid = np.linspace(-0.1, 0.1, 5)
    mesh = Mesh(tuple((float(x), float(y), z) for x in grid for y in grid for z in (-0.1, 0.1)), ())
    parts = spots(Contact("ground", "b", NORMAL, shape=mesh))
    rows = _table([(part, ()) for part in parts], max(len(part.corners) for part in parts) + 1)
    assert rows is not None and len({len(part.corners) for part in parts}) > 1
    for part, row in zip(parts, rows, strict=True):
        for normal in ((0.0, 0.0, 1.0), (0.6, 0.0, -0.8)):
            assert _from_row(part, row).deepest(normal) == pytest.approx(part.deepest(normal), abs=1e-15)


def test_ground_lies_where_both_placements_of_its_joint_put_it() -> None:
    ball = Body("b", 1.0, inertia=(0.1, 0.1, 0.1), collisions=(Sphere(0.1),))
    builder = RobotBuilder("r").add(Body("floor", collisions=(HalfSpace(),)), ball).root("b", "free")
    near, far = (Pose(IDENTITY.R, (0.0, 0.0, z)) for z in (1.0, 0.3))
    robot = builder.joint("f", "fixed", "world", "floor", placement=near, child_placement=far).build()
    (contact,) = contacts(robot)
    assert contact.ground.point == pytest.approx((0.0, 0.0, 0.7))  # type: ignore[union-attr]


def test_ground_that_moves_is_told() -> None:
    with pytest.warns(GroundWarning, match="body 'b' moves, so that its half space is no ground"):
        contacts(legged(HalfSpace()))


def test_shapes_of_contacts_are_scaled_with_their_robot_and_with_their_body() -> None:
    own = Surface(0.4, ImpedanceNormal(1e4, 10.0), margin=0.01)
    system = legged(Box((0.1, 0.2, 0.3), surface=own))
    system = replace(system, elements=contacts(system))
    (shape,) = (one.shape for one in scaled_bodies(system, {"b": 2.0}).elements if isinstance(one, Contact))
    assert shape == Box((0.2, 0.4, 0.6))
    larger = scaled(system, length=2.0, mass=8.0)
    (contact,) = (one for one in larger.elements if isinstance(one, Contact))
    (collision,) = larger.robot.body("b").collisions
    assert contact.shape == Box((0.2, 0.4, 0.6)) and isinstance(contact.normal, ImpedanceNormal)
    assert collision.surface == Surface(0.4, contact.normal, margin=0.02)  # type: ignore[union-attr]
    assert contact.normal.width == 0.002 and contact.normal.start == 0.9


def support(points: Array, directions: Array) -> Array:
    """How far points (n, 3) reach in directions (m, 3)."""
    return np.asarray((points @ directions.T).max(axis=0))


@pytest.mark.parametrize("tolerance", [1e-3, 5e-3, 0.02])
def test_a_hull_differs_by_no_more_than_its_tolerance(tolerance: float) -> None:
    """The support functions of a hull and of its few points differ by their Hausdorff distance."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(150, 3))
    points *= 0.1 / np.linalg.norm(points, axis=1, keepdims=True) * np.array([1.0, 0.7, 0.3])
    mesh = Mesh(tuple(map(tuple, points.tolist())), ())
    (contact,) = contacts(legged(mesh), tolerance=tolerance)
    assert isinstance(contact.shape, Mesh)
    kept = np.array(contact.shape.vertices)
    directions = rng.normal(size=(20000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    missing = support(points, directions) - support(kept, directions)
    assert missing.min() >= 0.0 and missing.max() <= tolerance
    assert len(kept) < {1e-3: 120, 5e-3: 60, 0.02: 20}[tolerance]


@pytest.mark.parametrize(
    ("points", "count"),
    [([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0)], 4), ([(0, 0, 0), (1, 1, 1), (3, 3, 3)], 2),
     ([(1, 2, 3), (1, 2, 3)], 1)],
)  # fmt: skip
def test_flat_and_thin_meshes_keep_their_corners(points: list[tuple[float, ...]], count: int) -> None:
    (contact,) = contacts(legged(Mesh(tuple(points), ())))  # type: ignore[arg-type]
    assert isinstance(contact.shape, Mesh) and len(contact.shape.vertices) == len(spots(contact)) == count


def test_a_mesh_touches_with_the_deepest_vertex_of_each_of_its_parts() -> None:
    rng = np.random.default_rng(5)
    points = rng.normal(size=(60, 3))
    shape = Mesh(tuple(map(tuple, points.tolist())), ())
    (contact,) = contacts(legged(shape), tolerance=0.0)
    parts = spots(contact)
    assert isinstance(contact.shape, Mesh)
    assert len(parts) == 8 and sum(max(len(one.corners), 1) for one in parts) == len(contact.shape.vertices)
    for normal in rng.normal(size=(50, 3)):
        deepest = min(float(np.dot(one.deepest(normal), normal)) for one in parts)
        assert deepest == pytest.approx((points @ normal).min(), abs=1e-4)


@pytest.mark.slow
def test_a_mesh_of_many_vertices_stands_still_on_a_flat_face() -> None:
    """A prism of 24 sides tilts, falls on its face, and rests there without flicker."""
    angles = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    rim = tuple((0.1 * math.cos(a), 0.1 * math.sin(a), z) for a in angles for z in (-0.1, 0.1))
    tilt = [0.0, 0.0, 0.13, math.cos(0.05), 0.6 * math.sin(0.05), 0.8 * math.sin(0.05), 0.0]
    run = simulate(free(Mesh(rim, ()), normal=ImpedanceNormal(2770.0, 105.0)), 2.0, q=tilt)
    assert run["ground.normal"][-20:] == pytest.approx(np.full(20, G), rel=1e-3)
    assert np.abs(run.v[-20:]).max() < 1e-6 and abs(run.q[-1, 2] - 0.1) < 1e-3


@pytest.mark.slow
def test_a_humanoid_that_is_pushed_over_lies_on_the_floor() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    path = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "humanoid.xml"
    system = loaded(path.read_text(encoding="utf-8"))
    feet = [one for one in system.elements if isinstance(one, Contact)]
    pushed = np.zeros(system.robot.nv)
    pushed[0] = 1.0
    run = simulate(system, 3.0, v=pushed)
    assert run.outcome.ok and len(feet) == 17
    assert max(run[f"{contact.name}.depth"].max() for contact in feet) < 5e-3
    weight = G * sum(float(body.mass) for body in system.robot.bodies)  # type: ignore[arg-type]
    assert sum(run[f"{contact.name}.force_z"][-30:].mean() for contact in feet) == pytest.approx(weight, rel=0.05)
    assert run.q[-1, 2] < 0.3


@pytest.mark.parametrize(
    ("laws", "said"),
    [
        ({"shape": Box((0.1, 0.0, 0.1))}, "shape: size is"),
        ({"shape": Sphere(0.1), "radius": 0.1}, "also a point, radius or end"),
        ({"shape": HalfSpace()}, r"shape is HalfSpace.*; expected one of Box, Cylinder, Capsule, Sphere"),
        (
            {"normal": ImpedanceNormal(1e4, start=0.9, end=1.0)},
            "normal: end is 1; expected a number above 0 and below 1",
        ),
        (
            {"normal": ImpedanceNormal(1e4, midpoint=1.0)},
            "normal: midpoint is 1; expected a number above 0 and below 1",
        ),
        ({"normal": ImpedanceNormal(1e4, width=0.0)}, r"normal: width is 0; expected a finite number above 0 \[m\]"),
    ],
)
def test_wrong_shapes_and_laws_are_refused(laws: dict[str, object], said: str) -> None:
    robot = RobotBuilder("free").add(Body("b", 1.0, inertia=(1, 1, 1))).root("b", "free").build()
    with pytest.raises(ModelError, match=said):
        simulate(System(robot, (Contact("ground", "b", **{"normal": NORMAL, **laws}),)), 0.01)  # type: ignore[arg-type]
